"""What is expected of a derivative, read: numbers as they were typed, formulas in many digits, a script's gradients."""

from __future__ import annotations

import ast
import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors import GradcliError, Place
from gradcli.errors.hints import did_you_mean
from gradcli.exact.real import Real, array, digits, lifted
from gradcli.exact.run import decisions_in_doubles, first_difference, run
from gradcli.exact.slopes import Exact, settled
from gradcli.exact.work import CLOSE, EPS, MEASURED, paid_from
from gradcli.explanation.checked import Expectation, FunctionVerdict
from gradcli.explanation.results import Note
from gradcli.language.calls import MODULES
from gradcli.language.program import Program, assigned_names, compile_program, continue_by, names_text
from gradcli.language.values import as_input, detached
from gradcli.ops.declare import Array, value_of
from gradcli.ops.making import CONSTANTS

if TYPE_CHECKING:
    from gradcli.checking.claims import Claims

SPACINGS = 64
"""Times the spacing of an array's numbers and the largest entry of a gradient: what rounding may leave in any entry.

1 - h² of a saturated tanh is rounded beside 1: entries far below the largest one of a gradient have no digits.
"""
LEAST, MOST = 1, 15
"""Digits that can be asked for: the truth is known to a few more."""
OF_TYPES = {"float32": 5.0, "float16": 2.0}
"""Digits of numbers that were computed with fewer than doubles have: what some hundred roundings in a row leave."""


@dataclass(frozen=True, slots=True)
class Standard:
    """How many digits an expected number must have, and what they are called.

    ``spacing`` is the relative distance of two numbers of an array's type, 0 for numbers that were not computed in it,
    and ``floor`` the part of the largest entry of a gradient by which every entry of an array may be off.
    """

    digits: float
    text: str
    spacing: float = 0.0
    floor: float = 0.0

    @property
    def share(self) -> Decimal:
        """The part of an entry by which it may be off."""
        return Decimal(10) ** Decimal(-self.digits)


def standard_of(digits: float | None, numbers: Array | None) -> Standard | None:
    """Return the standard that the user asks for, or that of an array of few digits; None for the usual one."""
    dtype = None if numbers is None else np.asarray(numbers).dtype
    few = dtype is not None and dtype.name in OF_TYPES
    if not few and digits is None:
        return None
    spacing = float(np.finfo(dtype).eps) if few else 0.0  # type: ignore[arg-type]
    text = f"the digits of {dtype.name}" if dtype is not None else ""
    if digits is not None:
        text = "1 digit" if digits == 1 else f"{digits:.3g} digits"
    count = digits or OF_TYPES[dtype.name]  # type: ignore[union-attr]
    floor = 0.0 if dtype is None else min(SPACINGS * (spacing or EPS), 10.0**-count)
    return Standard(count, text, spacing, floor)


def read_digits(digits: object) -> float | None:
    """Return how many digits are asked for, None for the default; raises ``option`` out of range."""
    if digits is None:
        return None
    if isinstance(digits, bool) or not isinstance(digits, int | float) or not LEAST <= digits <= MOST:
        raise GradcliError("option", f"digits must be from {LEAST} to {MOST}, and not {digits!r}")
    return float(digits)


def digits_asked(digits: float | None, tolerance: float | None) -> float | None:
    """Return the digits that are asked for, those that a tolerance stands for; raises ``option`` for both."""
    if tolerance is None:
        return digits
    if digits is not None:
        raise GradcliError("option", "digits and tolerance are both given", hint="give one of them")
    return digits_of_tolerance(tolerance)


def digits_of_tolerance(tolerance: float) -> float:
    """Return the digits that a relative tolerance stands for, ``1e-5`` for 5; raises ``option`` out of range."""
    if not 10.0**-MOST <= tolerance <= 10.0**-LEAST:
        hint = f"it is relative: 1e-5 is the same as --digits 5, and it goes from 1e-{MOST} to 0.1"
        raise GradcliError("option", f"--tolerance {tolerance:g} is not from 1e-{MOST} to 0.1", hint=hint)
    return -math.log10(tolerance)


@dataclass(frozen=True, slots=True)
class ScriptValue:
    """What a variable of a script is at the end, at one point: in doubles, and in the digits that are asked for."""

    doubles: Array
    exact: Exact

    def at(self, count: int) -> Array:
        """Return the value in so many digits."""
        return array([Real(entry) for entry in self.exact.base(count)[0]], self.doubles.shape)


def variables_of(program: Any) -> list[str]:
    """Return the variables of a script, which a formula may use; a formula and a function of Python's have none."""
    if not program.is_script:
        return []
    from gradcli.explanation.scripts import is_whole_script  # a formula has none

    return [name for name in program.variables if name not in MODULES] if is_whole_script(program) else []


def values_in(exact: Exact, formula: str, inputs: Mapping[str, object]) -> dict[str, ScriptValue]:
    """Return the variables of a script that a formula uses beside those that are given.

    Raises what is wrong with the formula, and ``type`` for a variable that is no number.
    """
    variables = set(variables_of(exact.program)) - inputs.keys()
    if not variables:
        return {}
    names = frozenset(inputs) | (variables & CONSTANTS.keys())
    used = compile_program(formula, exact.program.budget, names).inputs
    return {name: value_of_variable(exact, name) for name in used if name in variables}


def value_of_variable(exact: Exact, name: str) -> ScriptValue:
    """Return one variable of a script at the point of ``exact``, whose work it takes."""
    script: Any = exact.program
    program = replace(script, of=name, stop=-1, last_output=None, stops=False, sweeps=list(script.sweeps))
    point = {key: value[()] for key, value in exact.point.items()}
    doubles = np.asarray(value_of(program.evaluate(point, exact.wrt)[1]), dtype=np.float64)
    beside = Exact(program, exact.point, sorted(exact.wrt))
    beside.work = exact.work
    return ScriptValue(doubles, beside)


THREE = Decimal("0.0005")
"""Relative distance that three digits leave."""
OF_DOUBLES = 15
"""Digits from which a number was printed by a program, which computed it in double precision."""
LARGEST = 1e300
"""Size of a typed number from which it is read as any formula is: no derivative in double precision is as large."""


@dataclass(frozen=True, slots=True)
class ExpectedNumbers:
    """Expected numbers in their shape, and how far each may be from the truth; a bound below 0 asks for 15 digits.

    ``measured`` says that they were computed in double precision, with rounding of their own, and ``computed`` that
    this was the rounding of a whole backward pass, beside the largest entry. A ``standard`` stands in for the bounds.
    """

    values: list[Decimal]
    bounds: list[Decimal]
    shape: tuple[int, ...]
    measured: bool = False
    standard: Standard | None = None
    computed: bool = False

    @property
    def share(self) -> float:
        """The part of an entry by which it may be off by a standard; 0 without one."""
        return 0.0 if self.standard is None else float(self.standard.share)

    @property
    def floor(self) -> float:
        """The part of the largest entry by which every entry may be off."""
        if self.standard is not None:
            return self.standard.floor
        return SPACINGS * EPS if self.computed else 0.0


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
    numbers = [read_number(text.strip(), node) for node in level]
    if any(number is None for number in numbers):
        return None
    pairs = [number for number in numbers if number is not None]
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
    """What the user expects: numbers, a formula in the variables of the program, or a claim, and by which variable.

    Numbers of float32 and float16 stay in their type, which says how many digits they have; ``digits`` are those that
    are asked for in place of the usual ones. ``called`` is what the script's own calls leave it in: such numbers are
    held to the digits of every route. ``source`` is what the user calls numbers: the name of their file.
    """

    variable: str
    formula: str | None
    numbers: Array | None
    digits: float | None = None
    claims: Claims | None = None
    called: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        """What is expected, as the user would name it."""
        if self.claims is not None:
            return self.claims.by_input[self.variable].gradient
        return self.called or self.formula or self.source or "--expect"

    @property
    def fixed(self) -> bool:
        """Whether these are numbers, which are those of one point."""
        return self.claims is None and (self.formula is None or read_numbers(self.formula) is not None)


LOST = "each backward is the derivative of its forward: rounding in it, or its own derivative, has cost these digits"
"""What is wrong with a gradient whose functions are right."""


@dataclass(slots=True)
class OwnBackward:
    """What a script's own backward passes are worth.

    ``functions`` are the verdicts by the name of each function, ``expected`` what the script's calls gave by each
    leaf, and ``unknown`` says why the derivative of a forward was not found; empty where it was. ``followed`` says that
    the routes follow the script's own, since a forward was not recorded.
    """

    functions: dict[str, FunctionVerdict] = field(default_factory=dict)
    expected: list[Expected] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    unknown: str = ""
    followed: bool = False

    def explained(self, one: Expectation) -> Expectation:
        """Return what is said of an expected derivative, with the functions that are to blame where it is wrong."""
        if one.verdict != "wrong":
            return one
        lost = LOST if any(one.text == item.text for item in self.expected) else one.mistake
        return replace(one, mistake=self.blamed or lost)

    @property
    def blamed(self) -> str:
        """Which functions are wrong; empty where none is."""
        return "; ".join(f.sentence for f in self.functions.values() if f.verdict == "wrong")


def read_expectations(expect: object, names: Sequence[str], digits: float | None = None) -> list[Expected]:
    """Return what is expected by which variable, to so many digits; raises ``option`` where that is not clear."""
    if isinstance(expect, str) or is_array(expect):
        expect = {only(names): expect}
    if isinstance(expect, Mapping):
        expect = [expected_by(name, item) for name, item in expect.items()]
    if not isinstance(expect, Sequence) or not all(isinstance(item, Expected) for item in expect):
        raise GradcliError("option", "what is expected must be a formula, or formulas or arrays by variable")
    for item in expect:
        if item.variable not in names:
            raise GradcliError(
                "option", f"'{item.variable}' is not differentiated", hint=f"there is {', '.join(names) or 'nothing'}"
            )
    return [replace(item, digits=item.digits if digits is None else digits) for item in expect]


def expected_by(name: str, item: object) -> Expected:
    """Return what is expected by a variable: a formula, or numbers with or without what the user calls them."""
    if isinstance(item, Expected):
        return replace(item, variable=name)
    return Expected(name, item, None) if isinstance(item, str) else Expected(name, None, as_expected(name, item))


def is_array(expect: object) -> bool:
    """Return whether what is expected is one array: of a library, a number, or lists of numbers."""
    if isinstance(expect, list | tuple):
        return bool(expect) and not isinstance(expect[0], str | Expected)
    return isinstance(expect, int | float) or hasattr(expect, "__array__")


def as_expected(name: str, value: object) -> Array:
    """Return numbers that are expected by a variable, in their type where that has fewer digits than doubles have.

    Raises ``value``.
    """
    checked = as_input(f"what is expected of {name}", value)
    dtype = np.asarray(detached(value)).dtype
    return np.asarray(checked, dtype=dtype) if dtype.name in OF_TYPES else checked


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
    expected: Expected, exact: Exact, names: Mapping[str, object], output: str
) -> Iterator[ExpectedNumbers]:
    """Yield the expected numbers; ``names`` are y, called ``output``, and v. Raises what a formula raises."""
    standard = standard_of(expected.digits, expected.numbers)
    for numbers in readings_of(expected, exact, names, output):
        yield numbers if standard is None else replace(numbers, standard=standard)


def readings_of(
    expected: Expected, exact: Exact, names: Mapping[str, object], output: str
) -> Iterator[ExpectedNumbers]:
    """Yield the expected numbers in every reading.

    A formula with π or e in it has two readings: they are the doubles, as in a program, or the numbers.
    """
    if expected.claims is not None:
        yield claimed_numbers(expected.claims, expected.variable, exact.point)
        return
    if expected.formula is None:
        numbers = np.asarray(expected.numbers)
        values = [Decimal(float(number)) for number in numbers.ravel()]
        bound = CLOSE if expected.called else MEASURED
        bounds = [bound * abs(value) for value in values]
        yield ExpectedNumbers(values, bounds, numbers.shape, measured=True, computed=True)
        return
    typed = read_numbers(expected.formula)
    if typed is not None:
        yield typed
        return
    variables = {*names, output, *exact.point, *names_of(exact.program), *variables_of(exact.program)}
    for text in dict.fromkeys((expected.formula, with_all_digits(expected.formula, variables))):
        yield formula_numbers(text, exact, names, output)


def claimed_numbers(
    claims: Claims, variable: str, point: Mapping[str, Any], as_computed: bool = False
) -> ExpectedNumbers:
    """Return a gradient that a script computes, in many digits where the script can be run so, or as it has it."""
    from gradcli.runner.values import SHORTER  # a formula has none

    gradient = claims.tensor(point, variable)
    doubles = np.asarray(gradient.value, dtype=np.float64)
    exact = None if as_computed else claims.in_many_digits(point, variable)
    values = [Decimal(float(number)) for number in doubles.ravel()] if exact is None else exact
    bound = Decimal(10) ** -int(OF_TYPES["float32"]) if gradient.dtype in SHORTER else MEASURED
    bounds = [bound * abs(value) for value in values]
    return ExpectedNumbers(values, bounds, doubles.shape, measured=True, computed=exact is None)


def names_of(program: Program) -> list[str]:
    """Return the names that a formula assigns, which what is expected may use; a script and a function have none."""
    return list(assigned_names(program)) if type(program) is Program else []


def formula_numbers(text: str, exact: Exact, names: Mapping[str, Any], output: str) -> ExpectedNumbers:
    """Return the numbers of a formula, in so many digits that two settings agree."""
    inputs = {**names, **exact.point}
    begin = 0
    try:
        usable = names_of(exact.program) or variables_of(exact.program)
        beside = values_in(exact, text, inputs)
        inputs |= {name: value.doubles for name, value in beside.items()}
        program, begin, meant = continue_by(exact.program, text, inputs, names_of(exact.program))
        require_known(program, inputs, usable, begin)
        point = {
            name: np.asarray(value)[()] for name, value in as_inputs(inputs, meant).items() if name in program.inputs
        }
        doubles = decisions_in_doubles(program, point, frozenset())

        def formula_at(count: int) -> tuple[list[Decimal], tuple[int, ...]]:
            """Return the numbers in so many digits, decided as in ``doubles``, and their shape."""
            with digits(count), paid_from(exact.work):
                values = {key: lifted(np.asarray(x, dtype=np.float64)) for key, x in names.items() if key != output}
                values[output] = array([Real(entry) for entry in exact.base(count)[0]], np.shape(names[output]))
                values |= {name: value.at(count) for name, value in beside.items()}
                values = as_inputs(values | exact.inputs, meant)
                point = {name: values[name] for name in program.inputs}
                result = run(program, point, frozenset(), doubles=doubles)
                if first_difference(doubles, result.decisions) is not None:  # rounding decides, as it does there
                    result = run(program, point, frozenset(), doubles, follow=True)
            return result.numbers, result.output.shape

        first, *others = dict.fromkeys(count for count, _ in exact.settings)
        earlier, shape = formula_at(first)
        # Two settings agree on 0 where both are too few: 1 - sigmoid(400) is 1e-174.
        for count in others if len(earlier) > FEW else [count for count in others if count >= FAR]:
            numbers, shape = formula_at(count)
            if len(numbers) == len(earlier) and all(settled(a, b) for a, b in zip(earlier, numbers, strict=True)):
                break
            earlier = numbers
    except GradcliError as error:
        error.place = Place(text, "--expect")
        error.span = (
            None if error.span is None or error.span[0] < begin else (error.span[0] - begin, error.span[1] - begin)
        )
        raise
    return ExpectedNumbers(numbers, [Decimal(-1)] * len(numbers), shape)


FEW, FAR = 64, 400
"""Numbers of a formula whose digits are many from the start, and how many."""


def as_inputs(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return values under the names that they have as inputs too, where the program has others under theirs."""
    return {**values, **{other: values[name] for name, other in names.items()}}


def require_known(program: Program, inputs: Mapping[str, object], assigned: Sequence[str], begin: int) -> None:
    """Refuse a formula with other variables than those that are given or that the program assigns."""
    unknown = next((name for name, (at, _) in program.inputs.items() if at >= begin and name not in inputs), None)
    if unknown is not None:
        names = list(dict.fromkeys((*inputs, *assigned)))
        near = did_you_mean(unknown, names)
        raise GradcliError(
            "missing-input",
            f"no value for the variable {unknown}",
            span=program.inputs[unknown],
            hint=(f"{near} It may use " if near else "it may use ") + names_text(names),
        )
