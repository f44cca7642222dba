"""What PyTorch says of a program, and where gradcli says otherwise: y, J, the gradient, formulas, ``check``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import gradcli
from generator import in_torch

RTOL = 1e-9
"""Of the largest entry: a few dozen operations, some of them badly conditioned."""
REFUSED = ("of no entries", "draws entries at random")
"""What is refused on purpose, where PyTorch gives nan or another answer at each run."""
FEW = 400
"""Entries of J that are compared one by one."""
SINGLE = ("hardsigmoid", "hardswish", "celu")
"""Functions whose derivative PyTorch works out with a constant in single precision."""
Numbers = Mapping[str, Any]


@dataclass(frozen=True)
class Truth:
    """A program with a point and v, and what PyTorch says: y, the gradient by each input, and J where it is small."""

    text: str
    inputs: Numbers
    v: Any
    value: Any
    grad: Numbers
    jacobian: Numbers

    def __str__(self) -> str:
        given = ", ".join(f"{name}={np.asarray(value).tolist()}" for name, value in self.inputs.items())
        return f"{self.text}\n  at {given}, v={np.asarray(self.v).tolist()}"


def of_pytorch(
    text: str,
    inputs: Numbers,
    v_of: Callable[[tuple[int, ...]], Any],
    wrt: Sequence[str] | None = None,
    own: bool = True,
) -> Truth:
    """Return what PyTorch says of a program; raises one of ``in_torch.REFUSED`` where it says nothing.

    ``v_of`` gives v for the shape of y; ``own`` says that the text is PyTorch's own, not the language's.
    """
    names = tuple(inputs) if wrt is None else tuple(wrt)
    scope = {name: torch.tensor(x, dtype=torch.float64, requires_grad=name in names) for name, x in inputs.items()}
    y, leaves = in_torch.run(text, scope, own=own), [scope[name] for name in names]
    v = v_of(tuple(y.shape))
    grad = dict(zip(names, in_torch.derivatives(y, leaves, v), strict=True))
    jacobian = {}
    if y.numel() * max(x.numel() for x in leaves) <= FEW and y.numel():
        rows = [in_torch.derivatives(y, leaves, one) for one in np.eye(y.numel())]
        for j, (name, x) in enumerate(zip(names, leaves, strict=True)):
            jacobian[name] = np.stack([row[j] for row in rows]).reshape(*y.shape, *x.shape)
    return Truth(text, inputs, v, y.detach().numpy(), grad, jacobian)


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


def faults(program: Truth, *, confirmed: bool = False) -> list[tuple[str, str]]:
    """Return what is wrong in gradcli's answer: a kind and a sentence for each.

    ``confirmed`` asks ``check`` too. An answer that says that digits are lost is right.
    """
    try:
        found = gradcli.explain(program.text, inputs=program.inputs, v=program.v, wrt=tuple(program.grad))
    except gradcli.GradcliError as error:
        refused = any(words in error.message for words in REFUSED)
        return [] if refused else [("refusal", f"{error.kind}: {error.message}")]
    rtol = 1e-6 if any(name in program.text for name in SINGLE) else RTOL
    if not near(found.output, program.value, rtol):
        return [("value", f"{found.output.tolist()} is {program.value.tolist()} in PyTorch")]
    if not found.agreement.agree:
        return [] if found.agreement.verdict == "digits-lost" else [("verdict", str(found.agreement))]
    wrong = []
    for name, want in program.grad.items():
        for what, got in (("grad", found.grad[name]), ("vjp", found.vjp[name])):
            if not near(got, want, rtol):
                wrong.append((what, f"{name}: {got.tolist()} is {want.tolist()} in PyTorch"))
    for name, want in program.jacobian.items():
        wrong += jacobian_faults(found, program, name, want, rtol)
    if confirmed and not wrong:
        verdict = gradcli.check(program.text, inputs=program.inputs, v=program.v, wrt=tuple(program.grad))
        wrong += [] if verdict.agree else [("check", str(verdict))]
    return wrong


def jacobian_faults(found: Any, program: Truth, name: str, want: Any, rtol: float) -> list[tuple[str, str]]:
    """Compare J by one input, by its numbers and by its formulas."""
    held, wrong = found.jacobian[name], []
    if held.numeric is not None and not near(np.where(np.isnan(want), np.nan, held.numeric), want, rtol):
        wrong.append(("jacobian", f"{name}: {np.asarray(held.numeric).tolist()} is {want.tolist()} in PyTorch"))
    return wrong if held.formulas is None else wrong + formula_faults(found, program, name, want, rtol)


def formula_faults(found: Any, program: Truth, name: str, want: Any, rtol: float) -> list[tuple[str, str]]:
    """Evaluate each entry of J's formulas in PyTorch, from the definitions on."""
    scope = {key: torch.tensor(x, dtype=torch.float64) for key, x in program.inputs.items()}
    wrong = []
    for key, text in found.definitions.items():
        try:
            scope[key] = in_torch.run(text, scope)
        except Exception as error:  # noqa: BLE001
            return [("unread", f"{key} = {text}: {type(error).__name__}: {error}")]
    held, want = found.jacobian[name], want.reshape(found.jacobian[name].matrix_shape)
    scale = float(np.max(np.abs(want), initial=0, where=np.isfinite(want)))
    for row, column, text in zip(held.rows, held.columns, held.formulas, strict=True):
        try:
            number = float(in_torch.run(text, scope))
        except Exception as error:  # noqa: BLE001
            return [*wrong, ("unread", f"{text}: {type(error).__name__}: {error}")]
        if not np.isnan(want[row, column]) and not near(number, want[row, column], rtol, scale):
            wrong.append(
                ("formula", f"row {row}, column {column} by {name}: {text} = {number}, not {want[row, column]}")
            )
    return wrong[:2]
