"""Classes of a script: made of a body, of fields (dataclasses), of members (enums)."""

from __future__ import annotations

from typing import Any

from gradcli.runner.objects import UNBOUND, Class, Foreign, Instance
from gradcli.runner.state import Run


def make_class(run: Run, name: str, bases: list[Any], members: dict[str, Any], annotated: list[str]) -> Class:
    """Return a class of a body's members; ``annotated`` are the names that have a type there, in order."""
    kinds: list[Class] = []
    for base in bases:
        if isinstance(base, Class):
            kinds.append(base)
        elif not isinstance(base, Foreign) and not getattr(base, "shows", False):
            run.fail("TypeError", f"bases of {name} must be classes")
    if annotated:
        members = members | {"__annotations__": annotated}
    try:
        made = Class(name, kinds, members, qualified=f"__main__.{name}")
    except ValueError as error:
        return run.fail("TypeError", str(error))  # type: ignore[no-any-return]
    if any("__enum__" in kind.members for kind in made.order):
        entries: dict[str, Any] = {}
        for key, value in list(members.items()):
            if key.startswith("_") or callable(value) or hasattr(value, "code"):
                continue
            entry = Instance(made)
            entry.fields = {"name": key, "value": value}
            entries[key] = made.members[key] = entry
        made.members["__members__"] = entries
    if "__dataclass__" in {k for kind in kinds for k in kind.members}:
        pass
    hook = next((one.members["__init_subclass__"] for one in made.order[1:] if "__init_subclass__" in one.members), UNBOUND)
    if hook is not UNBOUND:
        run.call(hook, [made])
    return made
