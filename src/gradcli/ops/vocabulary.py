"""What users write: functions with their spellings and signatures, and the registers that they are entered in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from gradcli.ops.declare import Op, Pair, Parts
from gradcli.ops.signatures import Tensor
from gradcli.ops.values import as_builder
from gradcli.records import dataclass

Builder = Callable[..., Tensor | Pair | Parts | tuple[Tensor, ...]]
"""``build(f, *arguments)``: what a function gives, made by applying ops with ``f``."""
B = TypeVar("B", bound=Builder)


class Kinds(NamedTuple):
    """What a function makes of ``masks``, of ``integers``, and of either ``beside`` floats.

    Each of the first two is the kind that comes out, after who answers where that is not both libraries alike:

    - ``same`` is the kind that came, ``mask``, ``integer`` and ``float`` are that kind;
    - ``numpy-…`` says that PyTorch refuses, ``torch-…`` that NumPy does, ``other-…`` that NumPy has other numbers;
    - ``no`` says that both refuse; NumPy may not have the function.

    ``beside`` is ``yes``; ``numpy`` where PyTorch refuses; ``floats``, as ``numpy`` and with floats for masks beside
    integers; ``no``; ``target`` where the first argument has to be floats, ``integers`` where it has and no other may
    be a mask, ``unmasked`` where none may be a mask; ``first`` where all become what the first argument is, which cuts
    fractions off; ``plain``, as ``yes``, where plain integers and truth values are of their kind as arrays are.
    """

    masks: str = "float"
    integers: str = "float"
    beside: str = "yes"


FLOATS = Kinds()
"""Those of a function that makes floats of all."""


def kinds(words: str) -> Kinds:
    """Return kinds given as three words, or as none."""
    return Kinds(*words.split()) if words else FLOATS


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """What users write: ``build(apply, ...)`` with an annotated signature, under every name in ``spellings``.

    Without a builder it is ``op`` of each entry of its one argument. ``kinds`` is what it makes of masks and integers,
    ``typed`` says that it takes ``dtype=``, ``tensors`` that PyTorch refuses a plain number in the place of an array,
    ``shares`` that the result may show the memory of an argument, in PyTorch and here; that of any other function is a
    new array. What people look up about it stands in ``facts.toml``.
    """

    name: str
    build: Builder | None
    spellings: tuple[str, ...]
    methods: tuple[str, ...]
    summary: str
    family: str
    op: Op | None = None
    kinds: Kinds = FLOATS
    typed: bool = False
    tensors: bool = False
    shares: bool = False


FUNCTIONS: dict[str, Function] = {}
SPELLINGS: dict[str, Function] = {}
METHODS: dict[str, Function] = {}

LIBRARIES = {
    "torch": ("torch",),
    "numpy": ("np", "numpy", "jnp"),
    "math": ("math",),
    "functional": ("F", "nn.functional", "torch.nn.functional"),
    "linalg": ("linalg", "torch.linalg", "np.linalg", "numpy.linalg"),
    "special": ("special", "torch.special"),
}
METHOD, NOT_BARE, TYPED, TENSORS, SHARES = "method", "not-bare", "dtype", "tensors", "shares"
SHARING = ("shaping", "making")
"""Families whose functions may give an argument itself, or a view of it."""


def spellings(names: Iterable[str], where: str) -> tuple[str, ...]:
    """Return every way to write ``names``: bare, unless ``where`` holds ``not-bare``, and under each library of it."""
    words = where.split()
    prefixes = [
        prefix for word in words if word not in (METHOD, NOT_BARE, TYPED, TENSORS, SHARES) for prefix in LIBRARIES[word]
    ]
    bare = [] if NOT_BARE in words else [name for name in names if "." not in name]
    dotted = [name for name in names if "." in name]
    return (*bare, *dotted, *(f"{prefix}.{name}" for name in names if "." not in name for prefix in prefixes))


def register(function: Function) -> None:
    """Enter a function in the vocabulary."""
    FUNCTIONS[function.name] = function
    for spelling in function.spellings:
        if SPELLINGS.setdefault(spelling, function) is not function:
            raise ValueError(f"{spelling!r} is spelled twice")
    for method in function.methods:
        if METHODS.setdefault(method, function) is not function:
            raise ValueError(f".{method}() is spelled twice")


class Spelled(NamedTuple):
    """How a function is spelled: the libraries ``where`` it is found, ``also`` its other names, and a line on it.

    ``where`` holds words of ``LIBRARIES``, ``method`` for methods too, ``not-bare`` where it is no function by itself,
    ``dtype`` where it takes a type of numbers, ``tensors`` where PyTorch takes no plain number in an array's place,
    ``shares`` where the result may show the memory of an argument, as that of a function of ``SHARING`` may.
    """

    where: str = "torch numpy method"
    also: str = ""
    doc: str = ""
    family: str = "elementwise"
    kinds: str = ""


def enter(
    names: str,
    spelled: Spelled,
    *,
    op: Op | None = None,
    build: Builder | None = None,
) -> None:
    """Enter a function under ``names``, of which the first is its own."""
    own, *others = f"{names} {spelled.also}".split()
    plain = [name for name in (own, *others) if "." not in name]
    methods = tuple(plain) if METHOD in spelled.where.split() else ()
    found = spellings((own, *others), spelled.where)
    words, treated = spelled.where.split(), kinds(spelled.kinds)
    flags = TYPED in words, TENSORS in words, SHARES in words or spelled.family in SHARING
    register(Function(own, build, found, methods, spelled.doc, spelled.family, op, treated, *flags))


def function(names: str, where: str, family: str, *, op: Op | None = None, kinds: str = "") -> Callable[[B], B]:
    """Enter the decorated builder as ``enter`` does, with the first line of its docstring."""

    def decorate(build: B) -> B:
        lines = (build.__doc__ or names).strip().splitlines()
        enter(names, Spelled(where, "", lines[0], family, kinds), op=op, build=as_builder(build))
        return build

    return decorate
