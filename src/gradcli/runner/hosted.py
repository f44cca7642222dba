"""Objects of classes that are derived from Python's own: ``class Config(dict)``, ``class Celsius(float)``."""

from __future__ import annotations

from typing import Any

from gradcli.runner.exceptions import raise_key
from gradcli.runner.values import UNBOUND, Class, Hosted, ask


class HostedDict(Hosted, dict):  # type: ignore[type-arg]
    """A dictionary."""

    def missing(self, run: Any, key: Any) -> Any:
        """Return what ``__missing__`` gives of a key that is not there."""
        made = ask(run, self, "__missing__", key)
        return raise_key(key) if made is UNBOUND else made


HOSTS: dict[str, Any] = {
    **{
        kind.__name__: type(f"Hosted{kind.__name__}", (Hosted, kind), {})
        for kind in (list, set, tuple, str, int, float)
    },
    **dict.fromkeys(("dict", "OrderedDict", "defaultdict", "Counter"), HostedDict),
}
"""The classes of the host, by what Python calls theirs."""
MUTABLE = (list, dict, set)


def host_of(kind: Class) -> Class | None:
    """Return the class of Python's that another one is derived from, None where there is none."""
    natives = (one for one in kind.order[1:] if one.make is not None and one.name in HOSTS)
    return next((one for one in natives if one.find("__members__") is UNBOUND), None)


def new_hosted(run: Any, kind: Class, base: Class, arguments: Any, named: dict[str, Any]) -> Any:
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


def plain_value(me: Any) -> Any:
    """Return the value as Python's own class has it."""
    return next(kind for kind in (list, dict, set, tuple, str, int, float) if isinstance(me, kind))(me)
