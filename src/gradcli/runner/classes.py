"""Classes of a script: made of a body, of fields (dataclasses), of members (enums)."""

from __future__ import annotations

from typing import Any

from gradcli.runner.objects import UNBOUND, Bound, Class, ClassMethod, Closure, Foreign, Property, StaticMethod, ask
from gradcli.runner.state import Run
from gradcli.runner.torch_names import refuse_theirs
from gradcli.runner.values import DType


def note_abstract(made: Class, members: dict[str, Any], options: dict[str, Any]) -> None:
    """Note which methods of a class are abstract, where it is one that has such."""
    enforced = made.find("__abc__") is not UNBOUND or getattr(options.get("metaclass"), "name", "") == "ABCMeta"
    if enforced:
        members["__abc__"] = made.members["__abc__"] = True
    abstract = [] if not enforced else [n for n in abstract_names(made) if is_abstract(made.find(n))]
    if abstract:
        made.members["__abstract__"] = abstract
    elif made.find("__abstract__") is not UNBOUND:
        made.members["__abstract__"] = ()


def make_class(
    run: Run, name: str, bases: list[Any], members: dict[str, Any], annotated: dict[str, str], options: dict[str, Any]
) -> Class:
    """Return a class of a body's members; ``annotated`` has the types that are written there, by name.

    A base may have a native ``__body__`` that makes classes of its own kind: enums, tuples with names. A metaclass of
    the script is called as Python calls it.
    """
    for base in bases:
        if not isinstance(base, Class | Foreign) and not getattr(base, "shows", False):
            run.fail("TypeError", f"bases of {name} must be classes")
    kinds = [base for base in bases if isinstance(base, Class)]
    metaclass = options.get("metaclass")
    if not isinstance(metaclass, Class) or metaclass.run is None:
        metaclass = next((kind.metaclass for kind in kinds if kind.metaclass is not None), None)
    if metaclass is not None:
        new, start = metaclass.find("__new__"), metaclass.find("__init__")
        given = [name, tuple(bases), dict(members)]
        if new is not UNBOUND:
            made: Class = run.call(new, [metaclass, *given])
        else:
            made = built(run, name, kinds, members, annotated, options)
            made.metaclass = metaclass
        if start is not UNBOUND:
            run.call(start, [made, *given])
        return made
    return built(run, name, kinds, members, annotated, options)


def built(
    run: Run, name: str, kinds: list[Class], members: dict[str, Any], annotated: dict[str, str], options: dict[str, Any]
) -> Class:
    """Return a class of a body's members, as ``type`` makes it."""
    if annotated:
        members = members | {"__annotations__": annotated}
    if "__eq__" in members:
        members.setdefault("__hash__", None)
    body = next((found for kind in kinds if (found := kind.find("__body__")) is not UNBOUND), None)
    if body is not None:
        return body(run, name, kinds, members)  # type: ignore[no-any-return]
    try:
        made = Class(name, kinds, members, qualified=f"__main__.{name}")
    except ValueError as error:
        return run.fail("TypeError", str(error))  # type: ignore[no-any-return]
    made.run = run
    run.meter.watch(len(made.order) // 64)
    note_abstract(made, members, options)
    for key, value in list(members.items()):
        ask(run, value, "__set_name__", made, key)
    hook = next(
        (one.members["__init_subclass__"] for one in made.order[1:] if "__init_subclass__" in one.members), UNBOUND
    )
    if hook is not UNBOUND:
        run.call(
            hook.function if isinstance(hook, ClassMethod) else hook,
            [made],
            {k: v for k, v in options.items() if k != "metaclass"},
        )
    return made


def is_abstract(member: Any) -> bool:
    """Return whether a member is one that a derived class has to define."""
    if isinstance(member, Property):
        member = member.getter
    if isinstance(member, StaticMethod | ClassMethod):
        member = member.function
    return isinstance(member, Closure) and "__isabstractmethod__" in member.attributes


def abstract_names(kind: Class) -> list[str]:
    """Return the members that are abstract in a class or in one that it is derived from."""
    own = [name for name, member in kind.members.items() if is_abstract(member)]
    return sorted({*own, *(name for base in kind.order[1:] for name in base.members.get("__abstract__", ()))})


def bound(run: Run, owner: Any, kind: Class, member: Any) -> Any:
    """Return a member of a class as an object of it has it."""
    if isinstance(member, Closure) or (callable(member) and not isinstance(member, Class | DType)):
        return Bound(member, owner)
    if isinstance(member, Property):
        return run.call(member.getter, [owner])
    return described(run, owner, kind, member)


def described(run: Run, owner: Any, kind: Class, member: Any) -> Any:
    """Return what a member is by its own descriptor: ``owner`` is None where it is read of the class."""
    if isinstance(member, StaticMethod):
        return member.function
    if isinstance(member, ClassMethod):
        return Bound(member.function, kind)
    made = ask(run, member, "__get__", owner, kind)
    return member if made is UNBOUND else made


def no_attribute(run: Run, owner: Any, name: str) -> Any:
    """Raise the exception for an attribute that is not there; one that PyTorch has is refused."""
    refuse_theirs(run, owner, name)
    return run.fail("AttributeError", f"'{run.type_name(owner)}' object has no attribute '{name}'")
