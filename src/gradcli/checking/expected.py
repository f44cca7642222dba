"""A derivative that the user wrote by hand, held against the true J or vᵀ·J."""

from __future__ import annotations

import ast
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from gradcli.checking.comparing import Derivative, Judged, Table, compare_entries
from gradcli.checking.located import Claim, in_doubles, locate
from gradcli.checking.truth import Truth, sizes_beside
from gradcli.errors import GradcliError, Place
from gradcli.exact.decimals import digits
from gradcli.exact.judge import TINIEST, is_zero, right_digits, weighed
from gradcli.exact.limits import finite, settled
from gradcli.exact.real import Real, array, lifted
from gradcli.exact.run import Decision, decisions_in_doubles, first_difference, run
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import ALL, CLOSE, MEASURED, NOTHING, RIGHT, ROUNDING
from gradcli.exact.work import Spent, paid_from
from gradcli.explanation.checked import EXPECTED, Comparison
from gradcli.explanation.evaluation import Function
from gradcli.language.inputs import Cotangent, as_input
from gradcli.language.names import MODULES
from gradcli.language.program import Program
from gradcli.ops.declare import Array

THREE = Decimal("0.0005")
"""Relative distance that three digits leave."""
OF_DOUBLES = 15
"""Digits from which a number was printed by a program, which computed it in double precision."""
MOST = 1e300
"""Size of a typed number from which it is read as any formula is: no derivative in double precision is as large."""


@dataclass(frozen=True, slots=True)
class ExpectedNumbers:
    """Expected numbers in their shape, and how far each may be from the truth; a bound below 0 asks for 15 digits.

    ``measured`` says that they were computed in double precision, with rounding of their own.
    """

    values: list[Decimal]
    bounds: list[Decimal]
    shape: tuple[int, ...]
    measured: bool = False


def read_numbers(text: str) -> ExpectedNumbers | None:
    """Return a number, or nested lists of numbers, as they were typed; None for anything else.

    A number with a point or an exponent is held to half a unit of its last digit and to at least three digits, an
    integer exactly; one with all digits of a double may have the rounding of one.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level, shape = [tree], []
    while any(isinstance(node, ast.List | ast.Tuple) for node in level):
        lengths = {len(node.elts) if isinstance(node, ast.List | ast.Tuple) else -1 for node in level}
        if len(lengths) != 1:
            return None
        shape.append(lengths.pop())
        level = [item for node in level for item in node.elts]  # type: ignore[attr-defined]
    found = [read_number(text.strip(), node) for node in level]
    if any(number is None for number in found):
        return None
    pairs = [number for number in found if number is not None]
    printed = any(bound and len(value.as_tuple().digits) >= OF_DOUBLES for value, bound in pairs)
    return ExpectedNumbers([value for value, _ in pairs], [bound for _, bound in pairs], tuple(shape), printed)


def read_number(text: str, node: ast.expr) -> tuple[Decimal, Decimal] | None:
    """Return a number and how far it may be from the truth, None for what is no number."""
    digits_of = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd) else node
    if not isinstance(digits_of, ast.Constant) or type(digits_of.value) not in (int, float):
        return None
    if not -MOST < digits_of.value < MOST:  # type: ignore[operator]
        return None
    whole = type(digits_of.value) is int
    written = str(digits_of.value) if whole else (ast.get_source_segment(text, digits_of) or "0").replace("_", "")
    size, bound = Decimal(written), Decimal(0)
    if size and not whole:
        half = Decimal(10) ** int(size.as_tuple().exponent) / 2
        bound = min(half, THREE * Decimal(10) ** (size.adjusted() + 1))
    return (-size if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else size), bound


MEANT = {"pi": "4*atan(1)", "e": "exp(1)"}
"""Constants as they are in mathematics: in the language they are doubles."""


class AllDigits(ast.NodeTransformer):
    """Writes constants so that they have all digits, but for names that are variables."""

    def __init__(self, variables: Container[str]) -> None:
        self.variables = variables

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Write a constant out."""
        meant = MEANT.get(node.id)
        return node if meant is None or node.id in self.variables else ast.parse(meant, mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Write a constant of a module out, as ``math.pi``."""
        of_module = isinstance(node.value, ast.Name) and node.value.id in MODULES
        meant = MEANT.get(node.attr) if of_module else None
        return self.generic_visit(node) if meant is None else ast.parse(meant, mode="eval").body


def with_all_digits(text: str, variables: Container[str]) -> str:
    """Return a formula with π and e as the functions that give them, and as it stands where it has neither.

    >>> with_all_digits("2*pi*x", {"x"})
    '2 * (4 * atan(1)) * x'
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    before = ast.dump(tree)
    changed = AllDigits(variables).visit(tree)
    return text if ast.dump(changed) == before else ast.unparse(changed)


@dataclass(frozen=True, slots=True)
class Expected:
    """What the user expects: numbers, or a formula in the variables of the program, and by which variable."""

    variable: str
    formula: str | None
    numbers: Array | None


def read_expectations(expect: object, names: Sequence[str]) -> list[Expected]:
    """Return what is expected by which variable; raises ``option`` where that is not clear."""
    if isinstance(expect, str):
        return [Expected(only(names), expect, None)]
    if isinstance(expect, Mapping):
        expect = [
            Expected(name, item, None) if isinstance(item, str) else Expected(name, None, as_input(name, item))
            for name, item in expect.items()
        ]
    if not isinstance(expect, Sequence) or not all(isinstance(item, Expected) for item in expect):
        raise GradcliError("option", "what is expected must be a formula, or formulas or arrays by variable")
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


def read_expected(
    expected: Expected, exact: Exact, known: Mapping[str, object], output: str
) -> Iterator[ExpectedNumbers]:
    """Yield the expected numbers; ``known`` are y, called ``output``, and v. Raises what a formula raises.

    A formula with π or e in it has two readings: they are the doubles, as in a program, or the numbers.
    """
    if expected.formula is None:
        numbers = np.asarray(expected.numbers)
        values = [Decimal(float(number)) for number in numbers.ravel()]
        yield ExpectedNumbers(values, [MEASURED * abs(value) for value in values], numbers.shape, measured=True)
        return
    typed = read_numbers(expected.formula)
    if typed is not None:
        yield typed
        return
    variables = {*known, output, *exact.point}
    for text in dict.fromkeys((expected.formula, with_all_digits(expected.formula, variables))):
        yield formula_numbers(text, exact, known, output)


def formula_numbers(text: str, exact: Exact, known: Mapping[str, object], output: str) -> ExpectedNumbers:
    """Return the numbers of a formula, in so many digits that two settings agree."""
    place = Place(text, "--expect")
    given = {**known, output: exact.point, **exact.point}
    try:
        program = Function(text, None, exact.program.budget, given).program
        require_known(program, given)
        in_doubles = {name: np.asarray({**known, **exact.point}[name])[()] for name in program.inputs}
        doubles = decisions_in_doubles(program, in_doubles, frozenset())
        first, *others = dict.fromkeys(count for count, _ in exact.settings)
        earlier, shape = formula_at(program, doubles, exact, known, output, first)
        # Two settings agree on 0 where both are too few: 1 - sigmoid(400) is 1e-174.
        for count in others if len(earlier) > FEW else [count for count in others if count >= FAR]:
            found, shape = formula_at(program, doubles, exact, known, output, count)
            if len(found) == len(earlier) and all(settled(a, b) for a, b in zip(earlier, found, strict=True)):
                break
            earlier = found
    except GradcliError as error:
        error.place = place
        raise
    return ExpectedNumbers(found, [Decimal(-1)] * len(found), shape)


FEW, FAR = 64, 400
"""Numbers of a formula whose digits are many from the start, and how many."""


def require_known(program: Program, given: Mapping[str, object]) -> None:
    """Refuse a formula with other variables than those that are given."""
    missing = next((name for name in program.inputs if name not in given), None)
    if missing is not None:
        raise GradcliError(
            "missing-input",
            f"no value for the variable {missing}",
            span=program.inputs[missing],
            hint=f"it may use {', '.join(given)}",
        )


def formula_at(
    program: Program, doubles: Sequence[Decision], exact: Exact, known: Mapping[str, Any], output: str, count: int
) -> tuple[list[Decimal], tuple[int, ...]]:
    """Return the numbers of a formula in so many digits, decided as in ``doubles``, and their shape."""
    with digits(count), paid_from(exact.work):
        values = {name: lifted(np.asarray(value, dtype=np.float64)) for name, value in known.items() if name != output}
        values[output] = array([Real(entry) for entry in exact.base(count)[0]], np.shape(known[output]))
        values |= exact.inputs
        inputs = {name: values[name] for name in program.inputs}
        found = run(program, inputs, frozenset(), doubles=doubles)
        if first_difference(doubles, found.decisions) is not None:  # rounding decides, as it does in the program
            found = run(program, inputs, frozenset(), doubles, follow=True)
    return found.numbers, found.output.shape


def hold_expected(
    readings: Iterable[ExpectedNumbers],
    sought: Derivative,
    truth: Truth,
    seed: Cotangent | None,
    point: dict[str, Array],
    exact: Exact,
) -> tuple[Comparison, str]:
    """Return how what is expected compares with the truth in the reading that is right, else in the first.

    Raises what the reading of a formula raises, and ``Spent`` where there is no work left for one.
    """
    held: list[tuple[Comparison, str]] = []
    try:
        for wants in readings:
            held.append(hold_reading(wants, sought, truth, seed, point, exact))
            if not held[-1][0].wrong:
                return held[-1]
    except Spent:
        if not held:
            raise
    return held[0]


def hold_reading(
    wants: ExpectedNumbers,
    sought: Derivative,
    truth: Truth,
    seed: Cotangent | None,
    point: dict[str, Array],
    exact: Exact,
) -> tuple[Comparison, str]:
    """Return how what is expected compares with the true J, or vᵀ·J where there is a v, and a likely mistake.

    Without v the shape is ``y.shape + x.shape``, or that of both where y = f(x) entry by entry: then it is the
    diagonal. Where J is too large to be asked for entry by entry, both are held against each other along a direction,
    and the entries alone that double precision finds wrong. Raises ``shape`` for anything else.
    """
    values, bounds = fit(wants, sought, with_v=seed is not None)
    columns = math.prod(sought.leaf.shape)
    table = [values[k : k + columns] for k in range(0, len(values), columns)] if columns else []
    limits = [bounds[k : k + columns] for k in range(0, len(values), columns)] if columns else []
    claim = Claim(table, limits, seed)
    if truth.direction is not None:
        table = [[weighed(truth.direction, row)] for row in table]
        limits = [[weighed(np.abs(truth.direction), row)] for row in limits]
    true, terms = truth.values, truth.sizes
    if seed is not None:
        weights = np.ravel(seed.seed)
        true = [[weighed(weights, column) for column in zip(*true, strict=True)]]
        terms = terms.weighed(weights[None])
    sizes = sizes_beside(terms, table, true)
    if wants.measured or truth.rounded:
        limits = [list(map(widen, *rows)) for rows in zip(limits, true, sizes.tolist(), strict=True)]
    row = sought.row if seed is None else lambda _: ""  # a gradient has no rows
    held = Table(sought.variable, EXPECTED, table, true, sizes, row, truth.column)

    def judge(i: int, j: int, value: Any, true: Any) -> Judged:
        return judge_expected(value, true, limits[i][j], float(sizes[i, j]))

    comparison = compare_entries(held, judge, 10.0**-RIGHT, point)
    if truth.direction is None:
        return comparison, guess_mistake(table, true) if comparison.wrong else ""

    def judge_alone(value: Decimal, true: Decimal, bound: Decimal, size: float) -> Judged:
        return judge_expected(value, true, widen(bound, true, size) if wants.measured else bound, size)

    comparison = locate(exact, sought, claim, judge_alone, comparison, point)
    return comparison, guess_mistake(claim.table, in_doubles(sought, seed)[0].tolist()) if comparison.wrong else ""


def fit(wants: ExpectedNumbers, sought: Derivative, with_v: bool) -> tuple[list[Decimal], list[Decimal]]:
    """Return what is expected as all entries of J, or of a gradient, and their bounds; raises ``shape``."""
    output_shape, input_shape = sought.run.value.shape, sought.leaf.shape
    if wants.shape == (input_shape if with_v else output_shape + input_shape):
        return wants.values, wants.bounds
    entrywise = output_shape == input_shape == wants.shape
    if with_v or not entrywise or np.any(sought.jacobian.rows != sought.jacobian.columns):
        raise misfit_error(wants.shape, (output_shape, input_shape), with_v)
    count = len(wants.values)
    return diagonal_matrix(wants.values, count), diagonal_matrix(wants.bounds, count)


def widen(bound: Decimal, truth: Decimal, size: float) -> Decimal:
    """Return the bound of a number that was computed in double precision: rounding of its terms, 10⁻⁶ of it at most."""
    rounding = Decimal(ROUNDING) * finite(size)
    return bound if truth.is_nan() else max(bound, rounding if is_zero(truth) else min(rounding, CLOSE * abs(truth)))


def diagonal_matrix(diagonal: Sequence[Decimal], count: int) -> list[Decimal]:
    """Return the entries of a square matrix with this diagonal."""
    return [diagonal[i] if i == j else Decimal(0) for i in range(count) for j in range(count)]


def judge_expected(value: Decimal, truth: Decimal, bound: Decimal, size: float) -> Judged:
    """Return how many digits of an expected number are right, and whether that is enough."""
    if truth.is_nan():
        return Judged(math.nan, right=False)
    if not value.is_finite():
        return Judged(0.0, right=False, finite=False)
    error = abs(value - truth)
    if error <= TINIEST:
        return Judged(ALL, right=True)
    if bound >= 0:
        right = error <= max(bound, NOTHING * abs(truth))
        return Judged(right_digits(float(value), truth, size) if right or not is_zero(truth) else 0.0, right)
    if is_zero(truth):
        within = error <= NOTHING * finite(size)
        return Judged(ALL if within else 0.0, within)
    found = ALL if not error else min(max(0.0, -float((error / abs(truth)).log10())), ALL)
    return Judged(found, found >= RIGHT)


def misfit_error(found: tuple[int, ...], shapes: tuple[tuple[int, ...], tuple[int, ...]], with_v: bool) -> GradcliError:
    """Return the error for an expected derivative of the wrong shape."""
    output_shape, input_shape = shapes
    if with_v:
        fits, hint = input_shape, "with --v it is the gradient, in the shape of the variable"
    else:
        fits = output_shape + input_shape
        hint = "it is J, in the shape of y and then of x"
        hint += f", or its diagonal, in the shape {input_shape}" if output_shape == input_shape else ""
        hint += "; with --v it is the gradient" if found == input_shape else ""
    return GradcliError("shape", f"--expect has shape {found}, and not {fits}", hint=hint)


def guess_mistake(table: Sequence[Sequence[Any]], true: Sequence[Sequence[Any]]) -> str:
    """Return what an expected derivative that differs may have gone wrong with: a factor, a sign, a transposition."""
    left, right = (np.array([[float(entry) for entry in row] for row in rows]) for rows in (true, table))
    if left.shape[0] == left.shape[1] and np.allclose(left.T, right, rtol=1e-9) and not np.allclose(left, left.T):
        return "it is the transpose"
    counts = (left != 0) & np.isfinite(left)
    if not np.any(counts) or np.any(right[~counts] != left[~counts]):
        return ""
    with np.errstate(all="ignore"):
        ratios = right[counts] / left[counts]
        if not np.all(np.isfinite(ratios)) or not np.ptp(ratios) <= 1e-9 * np.max(np.abs(ratios)):
            return ""
    ratio = float(ratios.flat[0])
    simple = Fraction(ratio).limit_denominator(12)
    if simple in (0, 1) or abs(ratio - float(simple)) > 1e-9 * abs(ratio):
        return ""
    return "its sign is wrong" if simple == -1 else f"it is {ratio:.6g} times J"
