"""The values of a script that are no plain Python: tensors with an identity, a type of numbers, and views.

Every name, list and object that holds a tensor sees a write to it. Floats are computed in doubles, whatever their type:
``dtype`` says how they are shown, and what a tensor that is made from numbers holds.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import intern
from typing import Any
from weakref import WeakSet, ref

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.declare import value_of

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
    def root(self) -> Tensor:
        """The tensor whose memory it shows: itself where it is no view."""
        return self.base or self

    def __repr__(self) -> str:
        return f"<Tensor {self.library} {self.dtype} {self.shape}>"


class View(Tensor):
    """A tensor that shows a part of another's memory: worked out anew after a write to that one.

    ``part`` is its number where one function gave several views, which PyTorch lets nobody write to.
    """

    __slots__ = ("base", "look", "part", "seen", "shown")

    def __init__(self, base: Tensor, look: Look, shown: Any, dtype: str, made_by: Any = None) -> None:
        self.base = base
        self.look = look
        self.part = -1
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
        self.shown = self.look(self.base.node)  # type: ignore[misc]
        self.seen = self.base.version
        self.made_by = "AsStridedBackward0"


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

    def show_anew(self) -> None:
        """Take the numbers that the memory has now, with the history of what was written here."""
        now = self.look(self.base.node)  # type: ignore[misc]
        self.shown = self.keep(self.shown, now) if type(self.shown) in NODES and self.shown.active else now
        self.seen = self.base.version


class Data(Detached):
    """The memory of a tensor, past all records: backward reads there what was written to it."""

    __slots__ = ()


class Extra:
    """What few tensors have."""

    __slots__ = ("fields", "followed", "hooks", "name", "parameter", "rest", "retains", "several", "unseen", "views")

    def __init__(self) -> None:
        self.hooks: list[tuple[int, Any]] = []
        self.followed: list[Any] = []
        self.rest: Rest | None = None
        self.retains = False
        self.parameter = False
        self.several = False
        self.views: WeakSet[Detached] | None = None
        self.unseen = 0
        self.name: str | None = None
        self.fields: dict[str, Any] | None = None


def shown_version(tensor: Tensor) -> int:
    """Return how many writes PyTorch counts: not those past the record."""
    root = tensor.root
    return root.version - (0 if root.extra is None else root.extra.unseen)


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
