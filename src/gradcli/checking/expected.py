"""A derivative that the user wrote by hand, held against J or against vᵀ·J."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.agreement import tolerance
from gradcli.checking.replay import SHAKES, ULP, distances, recorded
from gradcli.checking.routes import EXPECTED, SYMBOLS, Derivative, Table, combined, entries
from gradcli.errors import Budget, GradcliError, Place
from gradcli.evaluation import Function
from gradcli.inputs import Cotangent
from gradcli.ops.declare import Array

SHAKEN = 4.0
"""Times the spread of six shaken runs of a formula: how far its own rounding may put it from the truth."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the user expects: numbers, or a formula in the variables of the program, and by which variable."""

    variable: str
    formula: str | None
    numbers: Array | None


def expectations(expect: Any, names: Sequence[str]) -> list[Expected]:
    """Return what is expected by which variable; raises ``option`` where that is not clear."""
    if isinstance(expect, str):
        return [Expected(only(names), expect, None)]
    if isinstance(expect, Mapping):
        expect = [
            Expected(name, item, None) if isinstance(item, str) else Expected(name, None, np.asarray(item, np.float64))
            for name, item in expect.items()
        ]
    for item in expect:
        if item.variable not in names:
            raise GradcliError(
                "option", f"'{item.variable}' is not differentiated", hint=f"there is {', '.join(names) or 'nothing'}"
            )
    return list(expect)


def only(names: Sequence[str]) -> str:
    """Return the one variable that is differentiated; raises ``option`` where what is expected must name its own."""
    if len(names) == 1:
        return names[0]
    raise GradcliError(
        "option",
        f"--expect must say by which variable: {', '.join(names) or 'the program has none'}",
        hint=f"--expect '{names[0]}=FORMULA', or --wrt {names[0]}" if names else None,
    )


def evaluated(expected: Expected, values: dict[str, Any], budget: Budget) -> tuple[Array, Array]:
    """Return the expected numbers and how far rounding may have moved them; raises what the formula raises."""
    if expected.formula is None:
        numbers = np.asarray(expected.numbers)
        return numbers, ULP * np.abs(numbers)
    place = Place(expected.formula, "--expect")
    try:
        formula = Function(expected.formula, None, budget, values)
        run = formula.evaluate({name: value for name, value in values.items() if name in formula.inputs})
    except GradcliError as error:
        error.place = place
        if error.kind == "missing-input":
            error.hint = f"it may use {', '.join(values)}"
        raise
    leaves = {leaf.index: leaf.value for leaf in run.leaves.values()}
    moved = list(distances(recorded(run), lambda y: np.asarray(y, dtype=np.float64), leaves))
    # At an edge of the formula's domain some shaken runs have no value: they say nothing, and must not excuse anything.
    widest = np.maximum.reduce(np.where(np.isfinite(moved), moved, 0.0))
    return run.value, SHAKEN * widest + SHAKES * ULP * np.abs(run.value)


def held_against(
    expected: Expected, values: dict[str, Any], sought: Derivative, seed: Cotangent | None, budget: Budget
) -> Table:
    """Return J, or vᵀ·J where there is a v, beside what is expected.

    Without v the shape is ``y.shape + x.shape``, or that of both where y = f(x) entry by entry: then it is the
    diagonal. Raises ``shape`` for anything else.
    """
    jacobian, output_shape, input_shape = sought.jacobian, sought.output.shape, sought.leaf.shape
    found, moved = evaluated(expected, values, budget)
    if seed is not None:
        left, sizes = combined(jacobian, np.ravel(seed.seed)[None])
        fits = found.shape == input_shape
    else:
        left, sizes = entries(jacobian)
        fits = found.shape == output_shape + input_shape
        if not fits and output_shape == input_shape == found.shape and np.all(jacobian.rows == jacobian.columns):
            found, moved, fits = np.diag(np.ravel(found)), np.diag(np.ravel(moved)), True
    if not fits:
        raise misfit(expected, found.shape, (output_shape, input_shape), seed is not None)
    return Table(
        expected.variable,
        (SYMBOLS, EXPECTED),
        left,
        found.reshape(left.shape),
        tolerance(sizes) + np.where(np.isfinite(moved), moved, np.inf).reshape(left.shape),
        sought.labels.row if seed is None else lambda _: "",
        sought.labels.column,
        seed is None,
    )


def misfit(
    expected: Expected, found: tuple[int, ...], shapes: tuple[tuple[int, ...], tuple[int, ...]], with_v: bool
) -> GradcliError:
    """Return the error for an expected derivative of the wrong shape."""
    output_shape, input_shape = shapes
    if with_v:
        wanted, hint = input_shape, f"with --v it is the gradient, in the shape of {expected.variable}"
    else:
        wanted = output_shape + input_shape
        hint = "it is J, in the shape of y and then of x"
        hint += f", or its diagonal, in the shape {input_shape}" if output_shape == input_shape else ""
        hint += "; with --v it is the gradient" if found == input_shape else ""
    return GradcliError("shape", f"--expect has shape {found}, and not {wanted}", hint=hint)


def likely(table: Table) -> str:
    """Return what an expected derivative that differs may have gone wrong with: a factor, a sign, a transposition."""
    left, right = table.left, table.right
    if left.ndim == 2 and left.shape[0] == left.shape[1] and left.size > 1 and np.allclose(left.T, right, rtol=1e-9):
        return "it is the transpose"
    counts = (left != 0) & np.isfinite(left)
    if not np.any(counts) or np.any(right[~counts] != left[~counts]):
        return ""
    ratios = right[counts] / left[counts]
    if np.ptp(ratios) > 1e-9 * np.max(np.abs(ratios)):
        return ""
    ratio = float(ratios.flat[0])
    return "its sign is wrong" if abs(ratio + 1) < 1e-9 else f"it is {ratio:.6g} times J"
