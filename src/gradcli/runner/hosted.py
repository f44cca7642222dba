"""Objects of classes that are derived from Python's own: ``class Config(dict)``, ``class Celsius(float)``."""

from __future__ import annotations

from typing import Any

from gradcli.runner.objects import UNBOUND, Class


class Hosted:
    """What all of them have: their class, and attributes of their own."""

    kind: Class
    fields: dict[str, Any]

    @property
    def script_class(self) -> Class:
        """The class of the script that it is an object of."""
        return self.kind


class HostedList(Hosted, list):  # type: ignore[type-arg]
    """A list."""


class HostedDict(Hosted, dict):  # type: ignore[type-arg]
    """A dictionary."""

    def missing(self, run: Any, key: Any) -> Any:
        """Return what ``__missing__`` gives of a key that is not there."""
        from gradcli.runner.containers import raise_key

        member = self.kind.find("__missing__")
        return raise_key(key) if member is UNBOUND else run.call(member, [self, key])


class HostedSet(Hosted, set):  # type: ignore[type-arg]
    """A set."""


class HostedTuple(Hosted, tuple):  # type: ignore[type-arg]
    """A tuple."""


class HostedText(Hosted, str):
    """A text."""


class HostedInt(Hosted, int):
    """An integer."""


class HostedFloat(Hosted, float):
    """A float."""


HOSTS: dict[str, Any] = {
    "list": HostedList,
    "dict": HostedDict,
    "set": HostedSet,
    "tuple": HostedTuple,
    "str": HostedText,
    "int": HostedInt,
    "float": HostedFloat,
    "OrderedDict": HostedDict,
    "defaultdict": HostedDict,
    "Counter": HostedDict,
}
"""The classes of the host, by what Python calls theirs."""
MUTABLE = (list, dict, set)


def host_of(kind: Class) -> Class | None:
    """Return the class of Python's that another one is derived from, None where there is none."""
    return next(
        (
            one
            for one in kind.order[1:]
            if one.make is not None and one.name in HOSTS and one.find("__members__") is UNBOUND
        ),
        None,
    )


def new_hosted(run: Any, kind: Class, base: Class, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Return a new object of such a class: one that can be changed is filled by ``__init__``."""
    host = HOSTS[base.name]
    own = kind.find("__init__") is not UNBOUND
    given, options = (
        ([], {}) if own and issubclass(host, MUTABLE) else (arguments[:1] if own else arguments, {} if own else named)
    )
    value = run.call(base, given, options)
    made = host(value)
    made.kind, made.fields = kind, {}
    return made


def fill(run: Any, me: Any, *arguments: Any, **named: Any) -> None:
    """Do what ``list.__init__`` and its like do."""
    base = host_of(me.kind)
    if base is None or not isinstance(me, MUTABLE):
        return
    value = run.call(base, list(arguments), named)
    me.clear()
    if isinstance(me, list):
        me.extend(value)
    else:
        me.update(value)


def raw_get(run: Any, me: Any, key: Any) -> Any:
    """Return an item past the class's own ``__getitem__``."""
    from gradcli.runner.containers import item_of, raise_key
    from gradcli.runner.operators import hashable

    if isinstance(me, dict):
        found = dict.get(me, hashable(run, key), UNBOUND)
        return raise_key(key) if found is UNBOUND else found
    return item_of(run, me, key)


def raw_put(run: Any, me: Any, key: Any, value: Any) -> None:
    """Assign an item past the class's own ``__setitem__``."""
    from gradcli.runner.containers import whole
    from gradcli.runner.operators import hashable

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
    from gradcli.runner.strings import to_repr

    return to_repr(run, plain_value(me))


def plain_value(me: Any) -> Any:
    """Return the value as Python's own class has it."""
    return next(kind for kind in (list, dict, set, tuple, str, int, float) if isinstance(me, kind))(me)


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
    from gradcli.runner.host_attributes import DUNDERS, KINDS
    from gradcli.runner.objects import Bound

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
    from gradcli.runner.attributes import bound
    from gradcli.runner.calls import no_attribute
    from gradcli.runner.objects import Property

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


def own(me: Any, name: str) -> Any:
    """Return a method that the script's class defines, UNBOUND for any other value."""
    return me.kind.find(name) if isinstance(me, Hosted) else UNBOUND
