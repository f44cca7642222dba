"""What PyTorch says of a program, and where gradcli says otherwise: y, J, the gradient, formulas, ``check``."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import gradcli
from live.kit import SCOPE

RTOL = 1e-9
"""Of the largest entry: a few dozen operations, some of them badly conditioned."""
REFUSED = ("of no entries", "draws entries at random")
"""What is refused on purpose, where PyTorch gives nan or another answer at each run."""
FEW = 400
"""Entries of J that are compared one by one."""


@dataclass(frozen=True)
class Program:
    """A program with a point and v, and what PyTorch says: y, the gradient by each input, and J where it is small."""

    text: str
    inputs: dict[str, Any]
    v: Any
    value: Any
    grad: dict[str, Any]
    jacobian: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={np.asarray(value).tolist()}" for name, value in self.inputs.items())
        return f"{self.text}\n  at {given}, v={np.asarray(self.v).tolist()}"


def in_torch(text: str, inputs: dict[str, Any], v_of: Callable[[tuple[int, ...]], Any]) -> Program:
    """Return what PyTorch says of a program; raises what it raises."""
    scope = {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in inputs.items()}
    leaves = dict(scope)
    *lines, last = text.split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("\n".join(lines), {**SCOPE}, scope)  # noqa: S102 - a text of the generator
        y = eval(last, {**SCOPE}, scope)  # noqa: S307
    v = v_of(tuple(y.shape))
    given = list(leaves.values())

    def pull(seed: Any) -> list[Any]:
        back = torch.tensor(seed, dtype=torch.float64).reshape(y.shape)
        found = torch.autograd.grad(y, given, back, retain_graph=True, allow_unused=True)
        return [np.zeros(x.shape) if g is None else g.numpy() for x, g in zip(given, found, strict=True)]

    grad = dict(zip(leaves, pull(v), strict=True))
    jacobian = {}
    if y.numel() * max(x.numel() for x in given) <= FEW and y.numel():
        rows = [pull(one) for one in np.eye(y.numel())]
        for j, (name, x) in enumerate(leaves.items()):
            jacobian[name] = np.stack([row[j] for row in rows]).reshape(*y.shape, *x.shape)
    return Program(text, inputs, v, y.detach().numpy(), grad, jacobian)


SINGLE = ("hardsigmoid", "hardswish", "celu")
"""Functions whose derivative PyTorch works out with a constant in single precision."""


def near(found: Any, want: Any, rtol: float, scale: float = 0.0) -> bool:
    """Return whether two arrays have one shape and the same entries, to ``rtol`` of the largest.

    What is not finite in one is not finite in the other.
    """
    found, want = np.asarray(found, dtype=float), np.asarray(want, dtype=float)
    if found.shape != want.shape:
        return False
    finite = np.isfinite(want)
    bound = rtol * max(np.max(np.abs(want[finite]), initial=0.0), scale) + 1e-13
    with np.errstate(all="ignore"):
        return bool(np.all(np.where(finite, np.abs(found - want) <= bound, ~np.isfinite(found))))


def faults(program: Program, *, confirmed: bool = False, edge: bool = False) -> list[tuple[str, str]]:
    """Return what is wrong in gradcli's answer: a kind and a sentence for each.

    ``confirmed`` asks ``check`` too. An answer that says that digits are lost is right, and so is one at the ``edge``
    that is not sure of itself (exit 1).
    """
    try:
        found = gradcli.explain(program.text, inputs=program.inputs, v=program.v)
    except gradcli.GradcliError as error:
        refused = any(words in error.message for words in REFUSED)
        return [] if refused else [("refusal", f"{error.kind}: {error.message}")]
    rtol = 1e-6 if edge or any(name in program.text for name in SINGLE) else RTOL
    sizes = [np.max(np.abs(x), initial=0.0, where=np.isfinite(x)) for x in (*program.inputs.values(), program.value)]
    scale = max(sizes) if edge else 0.0
    if not near(found.output, program.value, rtol):
        return [("value", f"{found.output.tolist()} is {program.value.tolist()} in PyTorch")]
    if not found.agreement.agree:
        honest = edge or found.agreement.verdict == "digits-lost"
        return [] if honest else [("verdict", str(found.agreement))]
    wrong = []
    for name, want in program.grad.items():
        for what, got in (("grad", found.grad[name]), ("vjp", found.vjp[name])):
            if not near(got, want, rtol, scale):
                wrong.append((what, f"{name}: {got.tolist()} is {want.tolist()} in PyTorch"))
    for name, want in program.jacobian.items():
        wrong += jacobian_faults(found, program, name, want, (rtol, scale))
    if confirmed and not edge and not wrong:
        verdict = gradcli.check(program.text, inputs=program.inputs, v=program.v)
        wrong += [] if verdict.agree else [("check", str(verdict))]
    return wrong


def jacobian_faults(
    found: Any, program: Program, name: str, want: Any, bounds: tuple[float, float]
) -> list[tuple[str, str]]:
    """Compare J by one input, by its numbers and by its formulas."""
    held, wrong = found.jacobian[name], []
    if held.numeric is not None and not near(np.where(np.isnan(want), np.nan, held.numeric), want, *bounds):
        wrong.append(("jacobian", f"{name}: {np.asarray(held.numeric).tolist()} is {want.tolist()} in PyTorch"))
    return wrong if held.formulas is None else wrong + formula_faults(found, program, name, want, bounds[0])


class Names(dict):
    """The functions that formulas call, each found in PyTorch by its last name; numbers go in as tensors."""

    def __missing__(self, name: str) -> Any:
        for module in (torch, torch.nn.functional, torch.special, torch.linalg):
            if hasattr(module, name):
                rule = getattr(module, name)
                return lambda *a, **kw: called(rule, a, kw)
        raise KeyError(name)


def called(rule: Any, values: Any, options: Any) -> Any:
    try:
        return rule(*values, **options)
    except TypeError:
        return rule(*map(as_tensor, values), **options)


def chosen(condition: Any, x: Any, other: Any) -> Any:
    return torch.where(as_tensor(condition).bool(), as_tensor(x), as_tensor(other))


def as_array(items: Any) -> Any:
    if items and all(isinstance(item, bool) or getattr(item, "dtype", None) == torch.bool for item in items):
        return torch.stack([torch.as_tensor(item) for item in items])
    return torch.stack(torch.broadcast_tensors(*map(as_tensor, items))) if items else torch.zeros(0)


def along(name: str) -> Any:
    """Return a function that takes a dim, which formulas leave out for vectors, or for all entries."""

    def found(x: Any, dim: Any = None, **options: Any) -> Any:
        every = tuple(range(x.dim())) if name == "logsumexp" else 0
        return getattr(torch, name)(x, dim=every if dim is None else dim, **options)

    return found


PLAIN = {
    "math": math,
    "where": chosen,
    "pi": np.pi,
    "e": np.e,
    "inf": np.inf,
    "nan": np.nan,
    "as_array": as_array,
    "as_index": torch.tensor,
    "expand": lambda x, shape: as_tensor(x).expand(shape),
    "bce": torch.nn.functional.binary_cross_entropy,
    "bce_with_logits": torch.nn.functional.binary_cross_entropy_with_logits,
    "solve": torch.linalg.solve,
    "repeat": lambda x, reps: x.repeat(reps),
    "tile": lambda x, reps: x.tile(reps),
    "mean": lambda x, dim=None, keepdim=False: x.mean(
        dim=tuple(range(x.dim())) if dim is None else dim, keepdim=keepdim
    ),
    "sum": lambda x, dim=None, keepdim=False: as_tensor(x).sum(dim=dim, keepdim=keepdim),
    **{
        name: along(name)
        for name in ("softmax", "log_softmax", "logsumexp", "cumsum", "cumprod", "softmin", "logcumsumexp")
    },
}
"""What formulas call otherwise than PyTorch does."""


def as_tensor(x: Any) -> Any:
    return torch.tensor(x, dtype=torch.float64) if isinstance(x, int | float) and not isinstance(x, bool) else x


def formula_faults(found: Any, program: Program, name: str, want: Any, rtol: float) -> list[tuple[str, str]]:
    """Evaluate each entry of J's formulas in PyTorch, from the definitions on."""
    scope = Names(
        {**PLAIN, **SCOPE, **{key: torch.tensor(x, dtype=torch.float64) for key, x in program.inputs.items()}}
    )
    wrong = []
    for key, text in found.definitions.items():
        try:
            scope[key] = evaluated(text, scope)
        except Exception as error:  # noqa: BLE001
            return [("unread", f"{key} = {text}: {type(error).__name__}: {error}")]
    held, want = found.jacobian[name], want.reshape(found.jacobian[name].matrix_shape)
    scale = float(np.max(np.abs(want), initial=0, where=np.isfinite(want)))
    for row, column, text in zip(held.rows, held.columns, held.formulas, strict=True):
        try:
            number = float(evaluated(text, scope))
        except Exception as error:  # noqa: BLE001
            return [*wrong, ("unread", f"{text}: {type(error).__name__}: {error}")]
        if not np.isnan(want[row, column]) and not near(number, want[row, column], rtol, scale):
            wrong.append(
                ("formula", f"row {row}, column {column} by {name}: {text} = {number}, not {want[row, column]}")
            )
    return wrong[:2]


JOINS = {"stack", "cat", "hstack", "vstack", "dstack", "column_stack", "multi_dot", "concat"}


class Lists(ast.NodeTransformer):
    """Lists are arrays in the language of formulas, but where they are positions, dims or what a function joins."""

    def visit_List(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("as_array", ast.Load()), [node], [])

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in JOINS and isinstance(node.args[0], ast.List):
            node.args[0].elts = [self.visit(item) for item in node.args[0].elts]
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node):
        node.value = self.visit(node.value)
        node.slice = (
            ast.Call(ast.Name("as_index", ast.Load()), [node.slice], [])
            if isinstance(node.slice, ast.List)
            else node.slice
        )
        return node

    def visit_keyword(self, node):
        return node if isinstance(node.value, ast.List) else self.generic_visit(node)


def evaluated(text: str, scope: Names) -> Any:
    tree = ast.fix_missing_locations(Lists().visit(ast.parse(text, mode="eval")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(compile(tree, text, "eval"), scope)  # noqa: S307 - a formula


__all__ = ["Program", "faults", "in_torch", "near"]
