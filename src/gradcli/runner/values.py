"""The values of a script that are no plain Python: tensors with an identity, a type of numbers, and views.

Tuples whose items have names: results of functions, and ``collections.namedtuple``.
What can be called and has attributes: functions of a script, classes and their instances, natives of libraries.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from itertools import count
from sys import intern
from typing import Any
from weakref import WeakSet, ref

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError, Span
from gradcli.language import compiling
from gradcli.ops.declare import value_of
from gradcli.records import dataclass, field

Look = Callable[[Any], Any]
"""What a view shows of the node of its base."""


class Weak(str):
    """The name of a type of numbers that gives way to any other of its kind: JAX's of Python's numbers."""

    __slots__ = ()


FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
SHORTER = ("float16", "bfloat16", "float32")
"""Types of fewer digits than doubles have."""


class Tensor:
    """An array of PyTorch, NumPy or JAX, or a number of Python's that is differentiated.

    ``node`` is a node of the graph, or an array where no derivative flows. ``version`` counts the writes in place.
    ``made_by`` is what PyTorch calls the function that made it, ``output`` one of several results, ``hooks`` are the
    user's, ``retains`` says that an inner value keeps its ``.grad``.
    """

    __slots__ = ("__weakref__", "dtype", "extra", "grad", "leaf", "library", "made_by", "node", "version")
    base: Any = None
    look: Look | None = None

    def __init__(self, node: Any, dtype: str = "float32", library: str = "torch", made_by: Any = None) -> None:
        self.node = node
        self.dtype = dtype
        self.library = library
        self.made_by = made_by
        self.grad: Tensor | None = None
        self.leaf = False
        self.version = 0
        self.extra: Extra | None = None

    @property
    def active(self) -> bool:
        """Whether derivatives flow to it: ``requires_grad``."""
        return type(self.node) in NODES and self.node.active

    @property
    def value(self) -> Any:
        """The numbers as an array, or one number."""
        return value_of(self.node)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return np.shape(value_of(self.node))

    @property
    def writes(self) -> int:
        """How many writes PyTorch counts: not those past the record."""
        extra = self.root.extra
        return self.version - (0 if extra is None else extra.unseen)

    @property
    def root(self) -> Tensor:
        """The tensor whose memory it shows: itself where it is no view."""
        return self if self.base is None else self.base.root

    def __repr__(self) -> str:
        return f"<Tensor {self.library} {self.dtype} {self.shape}>"

    def __lt__(self, other: Any) -> bool:
        return NotImplemented if isinstance(other, str) else bool(self.value < getattr(other, "value", other))

    def __gt__(self, other: Any) -> bool:
        return NotImplemented if isinstance(other, str) else bool(self.value > getattr(other, "value", other))


class View(Tensor):
    """A tensor that shows a part of another's memory: worked out anew after a write to that one.

    ``part`` is its number where one function gave several views, which PyTorch lets nobody write to. ``renew`` gives
    one that is a leaf other numbers.
    """

    __slots__ = ("base", "look", "part", "renew", "seen", "shown")

    def __init__(self, base: Tensor, look: Look, shown: Any, dtype: str, made_by: Any = None) -> None:
        self.base = base
        self.look = look
        self.part = -1
        self.renew: Any = None
        self.shown = shown
        self.seen = base.version
        super().__init__(None, dtype, base.library, made_by)

    @property
    def version(self) -> int:
        """The version of the memory that it shows."""
        return self.base.version  # type: ignore[no-any-return]

    @version.setter
    def version(self, count: int) -> None:
        """Leave the version to the memory."""

    @property
    def node(self) -> Any:
        """What the base shows there now."""
        if self.seen != self.base.version:
            self.show_anew()
        return self.shown

    @node.setter
    def node(self, node: Any) -> None:
        if node is not None:
            self.shown = node
            self.seen = self.base.version

    def show_anew(self) -> None:
        """Look at the base after a write to it."""
        self.seen, now = self.base.version, self.look(self.base.node)  # type: ignore[misc]
        if self.leaf and self.active:
            self.renew(self, now)
        else:
            self.shown = self.as_shown(now)

    def as_shown(self, now: Any) -> Any:
        """Return what it shows of a node with the numbers of the memory: the memory's history is its own."""
        self.made_by = "AsStridedBackward0"
        return now


class Rest(Tensor):
    """What is left of a tensor when only those that show its memory refer to it: its numbers, without history.

    ``source`` refers to the tensor, for as long as it lives.
    """

    __slots__ = ("source",)

    def __init__(self, source: Tensor, node: Any) -> None:
        super().__init__(node, source.dtype, source.library)
        self.source = ref(source)
        self.version = source.version


class Detached(View):
    """A tensor that shows the memory of another and nothing of what made it: what is written to it is its own history.

    So it does not keep that history: of a tensor that is no view it holds the ``rest``. ``keep`` gives a node other
    numbers, and the history that it had.
    """

    __slots__ = ("keep", "rest")

    def __init__(self, base: Tensor, look: Look, shown: Any, dtype: str, keep: Callable[[Any, Any], Any]) -> None:
        self.keep = keep
        super().__init__(base, look, shown, dtype)

    @property
    def base(self) -> Any:
        """The tensor whose memory it shows, or what is left of it."""
        rest = self.rest
        return rest if type(rest) is not Rest else rest.source() or rest

    @base.setter
    def base(self, base: Tensor) -> None:
        self.rest = base

    def as_shown(self, now: Any) -> Any:
        """Return the numbers of the memory, with the history of what was written here."""
        return self.keep(self.shown, now) if type(self.shown) in NODES and self.shown.active else now


class Data(Detached):
    """The memory of a tensor, past all records: backward reads there what was written to it."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Extra:
    """What few tensors have; those that were given one memory have one list of ``twins``."""

    hooks: list[tuple[int, Any]] = field(default_factory=list)
    followed: list[Any] = field(default_factory=list)
    twins: list[ref[Tensor]] = field(default_factory=list)
    rest: Rest | None = None
    retains: bool = False
    parameter: bool = False
    several: bool = False
    views: WeakSet[Detached] | None = None
    unseen: int = 0
    name: str | None = None
    fields: dict[str, Any] | None = None


def is_scalar(tensor: Tensor) -> bool:
    """Return whether NumPy would have a number of its own here, ``np.float64(2.0)``, and not an array of no axes."""
    return not tensor.shape and not (tensor.extra is not None and tensor.extra.several)


def extra_of(tensor: Tensor) -> Extra:
    """Return what a tensor has that few have, to be changed."""
    if tensor.extra is None:
        tensor.extra = Extra()
    return tensor.extra


PYTHONS = {"float": "float64", "int": "int64", "bool": "bool"}
"""Python's types, each with NumPy's."""
TORCHS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "bool": "bool", "byte": "uint8", "char": "int8",
}  # fmt: skip
"""PyTorch's short names of types, which are methods too."""
TITLES = {
    "float32": ("Float", "float"), "float64": ("Double", "double"), "float16": ("Half", "c10::Half"),
    "bfloat16": ("BFloat16", "c10::BFloat16"), "int64": ("Long", "long int"), "int32": ("Int", "int"),
    "int16": ("Short", "short int"), "int8": ("Char", "signed char"), "uint8": ("Byte", "unsigned char"),
    "bool": ("Bool", "bool"),
}  # fmt: skip
"""What PyTorch calls types in messages: as its own, and as those of C++."""


class DType:
    """A type of numbers, such as ``torch.float32``; ``library`` is whose name it is."""

    __slots__ = ("library", "name")

    def __init__(self, name: str, library: str = "torch") -> None:
        self.name = name
        self.library = library

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other == self.name
        name = getattr(other, "name", None)
        return name == self.name or (not isinstance(other, DType) and PYTHONS.get(str(name)) == self.name)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        if self.library == "torch":
            return f"torch.{self.name}"
        if self.library == "array":
            return f"dtype('{self.name}')"
        return f"<class '{self.library}.{self.name}'>" if self.library == "numpy" else self.name


class Size(tuple):  # type: ignore[type-arg]
    """The lengths of a tensor's axes, as PyTorch shows them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"


def kind_of(array: Any) -> str:
    """Return the letter of the kind of numbers: ``f``, ``i`` or ``b``; many digits are floats."""
    kind = getattr(array, "dtype", None)
    if kind is None:
        return "b" if type(array) is bool else "i" if type(array) is int else "f"
    return "i" if kind.kind in "iu" else "b" if kind.kind == "b" else "f"


def rounded(array: Any, dtype: str) -> Any:
    """Return the doubles that a float type has for these; half types get theirs by way of a single, as in PyTorch."""
    if dtype not in SHORTER:
        return array
    with np.errstate(all="ignore"):
        single = np.asarray(array).astype(np.float32)
        if dtype == "bfloat16":  # the first 8 of 24 binary digits, a tie to even
            bits = single.view(np.uint32)
            even = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
            single = np.where(np.isnan(single), single, even.astype(np.uint32).view(np.float32))
        return (single.astype(np.float16) if dtype == "float16" else single).astype(np.float64)[()]


def as_dtype(array: Any, dtype: str) -> Any:
    """Return numbers as a type has them: floats in doubles, integers as int64 that have wrapped round, truth values."""
    array = np.asarray(array)
    if array.dtype == object and dtype in FLOATS:
        return array
    if dtype == "bool":
        return array.astype(np.bool_)
    if array.dtype == object:
        array = array.astype(np.float64)
    if dtype in INTEGERS:
        with np.errstate(all="ignore"):
            return array.astype(np.int64).astype(dtype).astype(np.int64)
    return np.asarray(rounded(array.astype(np.float64), dtype))


RANK = {name: rank for rank, name in enumerate(("bool", *INTEGERS, *FLOATS))}


def strong(dtype: str) -> str:
    """Return a type of numbers as one that does not give way."""
    return intern(str(dtype)) if isinstance(dtype, Weak) else dtype


def category(dtype: str) -> int:
    """Return 0 for truth values, 1 for integers, 2 for floats."""
    return 2 if dtype in FLOATS else 1 if dtype in INTEGERS else 0


def promoted(left: str, right: str) -> str:
    """Return the type that two arrays of one rank make together."""
    if left == right:
        return right if isinstance(left, Weak) else left
    if {left, right} == {"float16", "bfloat16"}:
        return "float32"
    if {left, right} == {"uint8", "int8"}:
        return "int16"
    return max(left, right, key=RANK.__getitem__)


# ---- tuples whose items have names


class Named(tuple):  # type: ignore[type-arg]
    """A tuple with names; it is shown under its own name."""

    name: str
    fields: tuple[str, ...]
    kind: Any
    """The class of the script that it is an object of, None for a result of a library's function."""

    def __new__(cls, name: str, fields: dict[str, Any], kind: Any = None) -> Named:
        """Return a tuple of these values."""
        made = super().__new__(cls, fields.values())
        made.name = name
        made.fields = tuple(fields)
        made.kind = kind
        return made


class Union(tuple):  # type: ignore[type-arg]
    """Several types of which a value may be any: ``int | None``."""

    __slots__ = ()

    def shown(self, _quoted: Any) -> str:
        """Return how it is shown."""
        return " | ".join("None" if kind is None else str(kind.name) for kind in self)


# ---- what can be called and has attributes

PARTS = ("keys", "values", "items")
VIEWS: dict[type, str] = {
    **{type(getattr(OrderedDict[str, int](), name)()): f"odict_{name}" for name in PARTS},
    **{type(getattr(dict[str, int](), name)()): f"dict_{name}" for name in PARTS},
}
"""What shows the parts of a dictionary, and what Python calls it."""
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


def new_frame(code: Code, regs: Frame) -> Frame:
    """Return the frame of a class's body or of a comprehension, which stands in a frame that runs."""
    frame = code.template.copy()
    frame[0], frame[1] = regs[0], regs if regs[1] is None else regs[1]
    for here, there in code.frees:
        frame[here] = regs[there]
    for place in code.cells:
        frame[place] = [UNBOUND]
    return frame


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


OBJECT = Class("object", [], {"__init__": lambda run, me, *a, **k: None})
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

    def __lt__(self, other: object) -> bool:
        return bool(self.kind.its_run.operate("<", self, other))

    def __gt__(self, other: object) -> bool:  # asked by Python where what is on the left has no answer
        return bool(self.kind.its_run.operate("<", other, self))


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

    def needed(self) -> GradcliError:
        """Return the error for where its numbers are needed."""
        rows = ", such as torch.utils.data.TensorDataset(torch.rand(64, 1, 28, 28), torch.randint(10, (64,)))"
        hint = f"write the numbers into the script{rows * self.name.startswith('torchvision.')}"
        what = f"'{self.name}' is not part of gradcli, and its numbers are needed here"
        return GradcliError("not-allowed", what, hint=hint)


@dataclass(slots=True, eq=False)
class Progress(Foreign):
    """What shows how far a walk has come: it is walked as what it was given."""

    items: Any


@dataclass(slots=True, eq=False)
class Factory:
    """What a ``defaultdict`` makes of a key that is not there: a call of the script's."""

    run: Any
    make: Any

    def __call__(self) -> Any:
        """Return a new value."""
        return self.run.call(self.make)


class Context:
    """What ``with`` enters; this one gives a value, and changes nothing. As a decorator it gives the function."""

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def enter(self, run: Any) -> Any:
        """Begin, and return what ``as`` names."""
        return self.value

    def leave(self, run: Any) -> None:
        """End."""

    def __call__(self, run: Any, function: Any) -> Any:
        """Return a function as it runs within."""
        return function

    def leave_by(self, run: Any, error: Any) -> bool:
        """End after an exception, or after none; return whether it ends here."""
        self.leave(run)
        return self.swallows(error)

    def swallows(self, error: Any) -> bool:
        """Return whether an exception that left the block ends here."""
        del error
        return False
