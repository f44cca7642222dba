"""Texts of the language run by PyTorch: whole programs, and the formulas of answers.

A function goes by PyTorch's name of it, a list is an array where PyTorch takes no list, and what PyTorch has no word
for raises one of ``REFUSED``.
"""

import ast
import contextlib
import functools
import math
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from gradcli.ops import SPELLINGS

REFUSED = (RuntimeError, IndexError, ValueError, TypeError, AttributeError, NameError, KeyError)
LIBRARIES = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
OPTIONS = {"axis": "dim", "keepdims": "keepdim"}
ALONG = {"softmax", "log_softmax", "softmin", "cumsum", "cumprod", "logcumsumexp", "logsumexp"}
"""Functions along an axis, which the language lets a vector leave out."""
OTHERWISE: dict[str, Callable[..., Any]] = {
    "where": lambda condition, *others: torch.where(lifted(condition).bool(), *(lifted(x).double() for x in others)),
    "expand": lambda x, shape: lifted(x).expand(shape),
    "repeat": lambda x, times: x.repeat(times),
    "float": float,
    "len": len,
    "range": range,
}
"""What PyTorch has as a method alone, and Python."""


AS_HERE = {"new_empty": "new_zeros", "cuda": "cpu", "torch.FloatTensor": "torch.DoubleTensor"}
"""What PyTorch leaves to chance, to the machine or to float32, by what gradcli reads it as."""


class Display(list):
    """A list: an array in arithmetic and for methods."""

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # PyTorch asks whether it is a tensor by such a name
            raise AttributeError(name)
        return getattr(lifted(self), name)

    def __getitem__(self, key: Any) -> Any:
        return lifted(self)[key]

    def __neg__(self) -> Any:
        return -lifted(self)


def of_arrays(rule: Callable[[Any, Any], Any], *, turned: bool = False) -> Callable[[Any, Any], Any]:
    """Return an operator of two displays or numbers, with its sides changed over where it is ``turned``."""
    return lambda a, b: rule(lifted(b), lifted(a)) if turned else rule(lifted(a), lifted(b))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    setattr(Display, f"__{_name}__", of_arrays(getattr(operator, _name)))
    setattr(Display, f"__r{_name}__", of_arrays(getattr(operator, _name), turned=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Display, f"__{_name}__", of_arrays(getattr(operator, _name)))


def lifted(x: Any, whole: bool = True) -> Any:
    """Return numbers and lists of them as tensors; integers as such where they are left ``whole``."""
    if isinstance(x, list):
        parts = [lifted(item, whole) for item in x]
        kind = functools.reduce(torch.promote_types, [part.dtype for part in parts], torch.bool)
        return torch.stack(torch.broadcast_tensors(*(part.to(kind) for part in parts))) if parts else torch.zeros(0)
    if isinstance(x, bool | int) and (whole or isinstance(x, bool)):
        return torch.tensor(x)
    return torch.tensor(x, dtype=torch.float64) if isinstance(x, int | float) else x


class Words(ast.NodeTransformer):
    """Puts PyTorch's functions in the place of the language's, and a ``Display`` in that of each list."""

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        return node if isinstance(node.ctx, ast.Store) else ast.Call(ast.Name("Display", ast.Load()), [node], [])

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        """Leave lists of positions as they are."""
        self.generic_visit(node)
        for part in ast.walk(node.slice):
            if isinstance(part, ast.Tuple):
                part.elts = [plain(item) for item in part.elts]
        node.slice = plain(node.slice)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        node.attr = AS_HERE.get(node.attr, node.attr)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        name = torch_name(ast.unparse(node.func))
        if name is None:
            return node
        return ast.Call(ast.Name("called", ast.Load()), [ast.Constant(name), *node.args], node.keywords)


def plain(node: ast.expr) -> ast.expr:
    """Return the list that a display is made of, and so for the lists in it; another expression as it is."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Display"):
        return node
    [made] = node.args
    assert isinstance(made, ast.List)
    made.elts = [plain(item) for item in made.elts]
    return made


def torch_name(spelling: str) -> str | None:
    """Return PyTorch's name of a function of the language; None for a method, or what only other libraries have."""
    if spelling in OTHERWISE:
        return spelling
    function = SPELLINGS.get(spelling)
    ours = () if function is None else [AS_HERE.get(name, name) for name in function.spellings]
    return next((name for name in ours if name.startswith(("torch.", "F.")) and found(name)), None)


def found(name: str) -> Any:
    """Return PyTorch's function of a name; None for what this version does not have."""
    library, _, path = name.partition(".")
    try:
        return operator.attrgetter(path)(LIBRARIES[library])
    except AttributeError:
        return None


def called(name: str, *values: Any, **options: Any) -> Any:
    """Call a function of PyTorch: with lists and numbers as they are, else as tensors."""
    rule = OTHERWISE.get(name) or found(name)
    options = {OPTIONS.get(key, key): value for key, value in options.items()}
    last = name.rpartition(".")[2]
    if last in ALONG and len(values) == 1 and "dim" not in options:
        options["dim"] = tuple(range(lifted(values[0]).dim())) if last == "logsumexp" else 0
    ways: list[Callable[[Any], Any]] = [
        lambda value: value,
        lambda value: lifted(value) if isinstance(value, list) else value,
        lambda value: lifted(value, whole=False) if isinstance(value, list) else value,
    ]
    for way in ways:
        with contextlib.suppress(TypeError, RuntimeError):
            return rule(*map(way, values), **options)
    return rule(*(lifted(value, whole=False) for value in values), **options)


CONSTANTS = SimpleNamespace(pi=math.pi, e=math.e, inf=math.inf, nan=math.nan, newaxis=None, float64=torch.float64)
NAMES: dict[str, Any] = {
    **LIBRARIES, "np": CONSTANTS, "numpy": CONSTANTS, "math": CONSTANTS,
    "pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan,
    "Display": Display, "called": called, **{name: functools.partial(called, name) for name in OTHERWISE},
}  # fmt: skip


def with_output(text: str) -> ast.Module:
    """Return the syntax of a program that leaves the value of its last statement as ``output_``."""
    tree = ast.parse(text)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("output_", ast.Store())], last.value)
        return tree
    target = last.targets[0] if isinstance(last, ast.Assign) else last.target  # type: ignore[attr-defined]
    while isinstance(target, ast.Subscript):
        target = target.value
    tree.body.append(ast.Assign([ast.Name("output_", ast.Store())], ast.Name(target.id, ast.Load())))
    return tree


def run(text: str, names: Mapping[str, Any], own: bool = False) -> Any:
    """Return the value of a program; raises one of ``REFUSED`` where PyTorch does not take it.

    ``own`` says that the text is PyTorch's own, not the language's.
    """
    scope = {**NAMES, **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = with_output(text) if own else Words().visit(with_output(text))
        ast.fix_missing_locations(tree)
        exec(compile(tree, "<program>", "exec"), scope)  # noqa: S102 - a text of the generator, or a formula
    return lifted(scope["output_"])


@contextlib.contextmanager
def doubles() -> Iterator[None]:
    """Let PyTorch compute in double precision for a while."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def derivatives(y: Any, leaves: Sequence[Any], v: Any) -> list[Any]:
    """Return the gradient of v·y by each leaf, zeros where it is none."""
    back = torch.as_tensor(v, dtype=torch.float64).reshape(y.shape)
    found = torch.autograd.grad(y, leaves, back, retain_graph=True, allow_unused=True)
    return [np.zeros(x.shape) if g is None else g.numpy() for x, g in zip(leaves, found, strict=True)]
