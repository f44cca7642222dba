"""What can be called and has attributes: functions of a script, classes and their instances, natives of libraries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

from gradcli.errors import Span
from gradcli.language import compiling
from gradcli.records import dataclass, field

UNBOUND = compiling.UNBOUND
Frame = compiling.Frame
Evaluate = compiling.Evaluate
Native = Callable[..., Any]
"""A function of a library: ``native(run, *arguments, **named)``."""


@dataclass(slots=True, eq=False)
class Code:
    """A function as it is compiled; some of its variables are cells that inner functions share.

    ``frees`` has for each variable of a function round it the place here and there. ``listed`` says that it is the
    user's own text, whose lines and names are told; a library's are not. ``loops`` are the variables of its loops.
    """

    name: str
    qualified: str = ""
    places: dict[str, int] = field(default_factory=dict)
    template: Frame = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    frees: list[tuple[int, int]] = field(default_factory=list)
    block: list[Any] = field(default_factory=list)
    positional: list[str] = field(default_factory=list)
    by_position_alone: int = 0
    by_name: list[str] = field(default_factory=list)
    rest: str | None = None
    options: str | None = None
    generator: bool = False
    loops: set[str] = field(default_factory=set)
    listed: bool = True
    doc: str | None = None
    span: Span = (0, 0)
    text: Any = None
    run: Callable[[Frame], Any] = field(default=lambda frame: None)


@dataclass(slots=True, eq=False)
class Closure:
    """A function of a script: its code, the cells that it shares, defaults, and the frame of its module."""

    code: Code
    cells: list[Any]
    defaults: list[Any]
    named_defaults: dict[str, Any]
    module: Frame
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.code.name


class Class:
    """A class: of a script, of a library's text, or native; ``order`` is its resolution order, itself first.

    ``metaclass`` is the class of the script that it is an object of, None for ``type``.
    """

    __slots__ = ("bases", "make", "members", "metaclass", "name", "order", "qualified", "run")

    def __init__(
        self, name: str, bases: list[Class], members: dict[str, Any], make: Native | None = None, qualified: str = ""
    ) -> None:
        self.name = name
        self.bases = bases
        self.members = members
        self.make = make
        self.qualified = qualified or name
        self.run: Any = None
        self.metaclass: Class | None = next((base.metaclass for base in bases if base.metaclass is not None), None)
        self.order = linearized(self, bases)

    def find(self, name: str) -> Any:
        """Return the member of this name, UNBOUND where no class of the order has one."""
        for one in self.order:
            if name in one.members:
                return one.members[name]
        return UNBOUND

    @property
    def its_run(self) -> Any:
        """The run that made it, or one that it is derived from."""
        return next((one.run for one in self.order if one.run is not None), None)

    def is_a(self, other: Class) -> bool:
        """Return whether it is another class, or derived from it."""
        return other in self.order

    def __repr__(self) -> str:
        if "__members__" in self.members:
            return f"<enum '{self.name}'>"
        return f"<class '{self.qualified}'>"


def linearized(kind: Class, bases: list[Class]) -> list[Class]:
    """Return the resolution order of a class (C3), itself first; raises ``ValueError`` where there is none."""
    chains = [list(base.order) for base in bases] + [list(bases)]
    places = [0] * len(chains)
    behind = Counter(one for chain in chains for one in chain[1:])
    heads: dict[Class, list[int]] = {}
    for k, chain in enumerate(chains):
        heads.setdefault(chain[0], []).append(k) if chain else None
    order, first = [kind], 0
    while heads:
        while places[first] == len(chains[first]):
            first += 1
        left = (k for k in range(first, len(chains)) if places[k] < len(chains[k]))
        chosen = next((one for k in left if not behind[one := chains[k][places[k]]]), None)
        if chosen is None:
            names = ", ".join(base.name for base in bases)
            raise ValueError(f"Cannot create a consistent method resolution\norder (MRO) for bases {names}")
        order.append(chosen)
        for k in heads.pop(chosen):
            places[k] += 1
            if places[k] < len(chains[k]):
                head = chains[k][places[k]]
                behind[head] -= 1
                heads.setdefault(head, []).append(k)
    return order


ORDINALS = count()
"""Numbers of objects as they are made: sets have them in the same order in every run."""


class Instance:
    """An object of a class, with its own attributes in order."""

    __slots__ = ("__weakref__", "fields", "kind", "ordinal")

    def __init__(self, kind: Class) -> None:
        self.kind = kind
        self.ordinal = next(ORDINALS)
        self.fields: dict[str, Any] = {}

    def __hash__(self) -> int:
        return self.ordinal

    def __repr__(self) -> str:
        return f"<{self.kind.qualified} object>"


class Keyed(Instance):
    """An object whose class says what it equals: as a key of a dictionary or a set it is found by that."""

    __slots__ = ()

    def __hash__(self) -> int:
        run, member = self.kind.its_run, self.kind.find("__hash__")
        return self.ordinal if member is UNBOUND else hash(run.call(member, [self]))

    def __eq__(self, other: object) -> bool:
        if self is other or self.kind.find("__eq__") is UNBOUND:
            return self is other
        run = self.kind.its_run
        return bool(run.operate("==", self, other) is True)


class Hosted:
    """What objects of classes have that are derived from Python's own: their class, and attributes of their own."""

    kind: Class
    fields: dict[str, Any]

    @property
    def script_class(self) -> Class:
        """The class of the script that it is an object of."""
        return self.kind


def own(value: Any, name: str) -> Any:
    """Return a member of the class that an object is of, UNBOUND where it has none and for any other value."""
    return value.kind.find(name) if isinstance(value, Instance | Hosted) else UNBOUND


def ask(run: Any, value: Any, name: str, *arguments: Any) -> Any:
    """Return what a method of an object's class gives; UNBOUND for any value whose class has no such method."""
    method = own(value, name)
    return UNBOUND if method is UNBOUND else run.call(method, [value, *arguments])


@dataclass(slots=True, eq=False)
class Bound:
    """A function with what it is a method of."""

    function: Any
    owner: Any


@dataclass(slots=True, eq=False)
class Method:
    """A method of a tensor by its name, bound to it."""

    name: str
    owner: Any


@dataclass(slots=True, eq=False)
class TableFunction:
    """A function of gradcli's table under the name by which a script calls it."""

    function: Any
    library: str
    name: str


@dataclass(slots=True, eq=False)
class Super:
    """What ``super()`` gives: the members of the classes after one."""

    owner: Any
    after: Class


@dataclass(slots=True, eq=False)
class Property:
    """An attribute that is computed."""

    getter: Any
    setter: Any = None
    deleter: Any = None


@dataclass(slots=True, eq=False)
class StaticMethod:
    """A function of a class that is given no object."""

    function: Any


@dataclass(slots=True, eq=False)
class ClassMethod:
    """A function of a class that is given the class."""

    function: Any


@dataclass(slots=True, eq=False)
class Module:
    """An imported module, by its full name."""

    name: str


@dataclass(slots=True, eq=False)
class Foreign:
    """What gradcli does not have, and what only shows: its attributes and calls give more of it."""

    name: str


@dataclass(slots=True, eq=False)
class Progress(Foreign):
    """What shows how far a walk has come: it is walked as what it was given."""

    items: Any


class Context:
    """What ``with`` enters; this one gives a value, and changes nothing. As a decorator it gives the function."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def enter(self, run: Any) -> Any:
        """Begin, and return what ``as`` names."""
        del run
        return self.value

    def leave(self, run: Any) -> None:
        """End."""

    def __call__(self, run: Any, function: Any) -> Any:
        """Return a function as it runs within."""
        del run
        return function

    def leave_by(self, run: Any, error: Any) -> bool:
        """End after an exception, or after none; return whether it ends here."""
        self.leave(run)
        return self.swallows(error)

    def swallows(self, error: Any) -> bool:
        """Return whether an exception that left the block ends here."""
        del error
        return False
