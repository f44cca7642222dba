"""What objects of classes have that are derived from Python's own: their members, and those of Python's class."""

from __future__ import annotations

from typing import Any

from gradcli.runner.classes import bound, no_attribute
from gradcli.runner.containers import item_of, whole
from gradcli.runner.exceptions import raise_key
from gradcli.runner.host_attributes import DUNDERS, KINDS
from gradcli.runner.hosted import fill, plain_value
from gradcli.runner.objects import UNBOUND, Bound, Property
from gradcli.runner.operators import hashable
from gradcli.runner.strings import to_repr


def raw_get(run: Any, me: Any, key: Any) -> Any:
    """Return an item past the class's own ``__getitem__``."""
    if isinstance(me, dict):
        found = dict.get(me, hashable(run, key), UNBOUND)
        return raise_key(key) if found is UNBOUND else found
    return item_of(run, me, key)


def raw_put(run: Any, me: Any, key: Any, value: Any) -> None:
    """Assign an item past the class's own ``__setitem__``."""
    if isinstance(me, dict):
        dict.__setitem__(me, hashable(run, key), value)
    elif isinstance(me, list):
        try:
            list.__setitem__(me, whole(run, key), value)
        except IndexError:
            run.fail("IndexError", "list assignment index out of range")


def raw_delete(run: Any, me: Any, key: Any) -> None:
    """Delete an item past the class's own ``__delitem__``."""
    raw_get(run, me, key)
    if isinstance(me, dict):
        dict.__delitem__(me, key)
    elif isinstance(me, list):
        list.__delitem__(me, key)


def plain_text(run: Any, me: Any) -> str:
    """Return how Python shows the value."""
    return to_repr(run, plain_value(me))


RAW: dict[str, Any] = {
    "__init__": fill,
    "__getitem__": raw_get,
    "__setitem__": raw_put,
    "__delitem__": raw_delete,
    "__repr__": plain_text,
    "__str__": lambda run, me: me if isinstance(me, str) else plain_text(run, me),
    "__len__": lambda run, me: plain_value(me).__len__(),
    "__iter__": lambda run, me: iter(plain_value(me)),
    "__contains__": lambda run, me, item: run.call(
        run.builtin("any"), [[run.operate("==", item, one) for one in plain_value(me)]]
    ),
    "__eq__": lambda run, me, other: run.operate("==", plain_value(me), other),
    "__hash__": lambda run, me: hash(plain_value(me)),
    "__setattr__": lambda run, me, name, value: me.fields.__setitem__(name, value),
}
"""What ``super()`` gives of Python's own class."""


def raw_member(run: Any, me: Any, name: str) -> Any:
    """Return a method of Python's own class, past those of the script's; UNBOUND where it has none."""
    if name in RAW:
        return Bound(RAW[name], me)
    for kind, table in KINDS:
        if isinstance(me, kind) and name in table:
            return Bound(table[name], me)
    if name in DUNDERS and hasattr(plain_value(me), name):
        return Bound(lambda run, me, *a: DUNDERS[name](run, plain_value(me), *a), me)
    return UNBOUND


def hosted_attribute(run: Any, me: Any, name: str) -> Any:
    """Return an attribute of such an object: its own, its class's, or one of Python's own class."""
    member = me.kind.find(name)
    if isinstance(member, Property):
        return run.call(member.getter, [me])
    if name in me.fields:
        return me.fields[name]
    if member is not UNBOUND:
        return bound(run, me, me.kind, member)
    if name in ("__class__", "__dict__"):
        return me.kind if name == "__class__" else me.fields
    found = raw_member(run, me, name)
    if found is not UNBOUND:
        return found
    fallback = me.kind.find("__getattr__")
    return no_attribute(run, me, name) if fallback is UNBOUND else run.call(fallback, [me, name])
