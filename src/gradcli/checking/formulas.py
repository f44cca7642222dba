"""Every formula of an answer, read back by the language in many digits and held against the number beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Operation
from gradcli.errors import Budget, GradcliError
from gradcli.exact.decimals import digits
from gradcli.exact.judge import right_digits
from gradcli.exact.real import lifted
from gradcli.exact.run import run
from gradcli.exact.slopes import Exact, Spent
from gradcli.exact.thresholds import CLOSE, FEWEST, ROUNDING, SAME
from gradcli.explanation.evaluation import Function
from gradcli.explanation.explained import Explained
from gradcli.explanation.explaining import Ask, explain_run
from gradcli.explanation.readings import Point, stand
from gradcli.explanation.suspicion import fits_a_check, largest
from gradcli.formulas.readback import Mismatch, read_back
from gradcli.language.program import compile_program
from gradcli.ops.declare import value_of

FEW, MANY = 100, 800
"""Digits in which formulas are evaluated, and in which those are that differ in the first."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How many formulas were read back, and what is said of each that is not the number beside it.

    ``backward_lines`` are the lines of the backward pass, ``backward_read`` those that give the engine's number.
    """

    count: int
    misprints: list[str]
    backward_lines: int
    backward_read: int


def read_formulas(
    function: Function, point: dict[str, Any], v: object, output: tuple[int, ...], dust: float
) -> Reading:
    """Read back every formula that ``explain`` prints at a point; ``output`` is the shape of y, for a missing v.

    A number that has lost its digits is no fault of the formula beside it, which gives the same in double precision.
    ``dust`` is the size of the terms of what rounding has left of true zeros, 0 where there are none.
    """
    seed = np.ones(output) if v is None else v
    at = stand(function, point, [seed], strict=False)
    answer = explain_run(at, Ask.NEVER, Explained)
    budget = replace(function.program.budget, text=64_000, syntax=1_000_000, depth=1_000)
    with np.errstate(all="ignore"):
        often = readings(at.run.graph, answer)
        if not fits_a_check(at.run.graph, often):
            count, wrong = read_back(
                answer, partial(in_doubles, budget), float(CLOSE)
            )  # more digits would take minutes
            return reading_of(answer, count, wrong, dust, ROUNDING)
        count, wrong = read_twice(answer, budget, partial(true_output, at))
        return reading_of(answer, count, wrong, dust, ROUNDING if dust else float(SAME))


def readings(graph: Graph, answer: Explained) -> int:
    """Return how often the work of a run is done as its formulas are read: once, or in each where one has a whole op.

    Such are decompositions, which are found step by step: each entry of J calls them again.
    """
    done = [node.op for node in graph.nodes if isinstance(node, Operation)]
    whole = any(op.digits is not None and op.work is not None for op in done)
    return sum(len(j.formulas or ()) for j in answer.jacobian.values()) * CALLS if whole else 1


CALLS = 10
"""Calls of a decomposition in the formula of an entry."""


def read_twice(answer: Explained, budget: Budget, output: Callable[[], list[Decimal]]) -> tuple[int, list[Mismatch]]:
    """Read the formulas of an answer back: in many digits, and in doubles those that differ.

    Returns how many there are, and which of them are not the numbers beside them. Where one is not, the ``output`` is
    asked for: a formula that gives it is right beside a number that rounding lost.
    """
    count, wrong = read_in(answer, budget, FEW)
    if wrong:
        wrong = read_in(answer, budget, MANY)[1]
        rounded = {found.stands for found in read_back(answer, partial(in_doubles, budget), float(CLOSE))[1]}
        wrong = [found for found in wrong if found.stands in rounded]
    truths = output() if wrong else []
    if truths:
        wrong = [found for found in wrong if not gives_output(found, answer, truths)]
    return count, wrong


def true_output(at: Point) -> list[Decimal]:
    """Return the output at a point in many digits, in flat order; nothing where that cannot be found."""
    try:
        return Exact(at.function.program, at.inputs, at.names).values()
    except (GradcliError, Spent):
        return []


def gives_output(found: Mismatch, answer: Explained, truths: list[Decimal]) -> bool:
    """Return whether a formula has the true value of an entry of the output where the number beside it has not."""
    if not found.stands.startswith("forward") or isinstance(found.found, str):
        return False
    if np.ndim(found.found) or np.ndim(found.number):
        return False
    beside = [truth for truth, y in zip(truths, np.ravel(answer.output), strict=True) if y == found.number]
    return any(right_digits(float(np.asarray(found.found)), truth) >= FEWEST for truth in beside)


def reading_of(answer: Explained, count: int, wrong: list[Mismatch], dust: float, least: float) -> Reading:
    """Return what was read, with what is wrong beyond rounding; a formula is 0 from ``least`` of the terms down.

    The terms of a derivative are those of J, those of a value may be as large as the inputs.
    """
    size = max((float(np.max(j.sizes, initial=0.0)) for j in answer.jacobian.values()), default=0.0)
    terms = max(size if np.isfinite(size) else 0.0, dust)
    inputs = max(map(largest, answer.inputs.values()), default=0.0)
    misprints = [
        misprint(found)
        for found in wrong
        if not is_rounding(found, max(terms, inputs) if found.stands.startswith(VALUES) else terms, least)
    ]
    return Reading(count, misprints, len(answer.rules), sum(rule.text is not None for rule in answer.rules))


VALUES = ("definition ", "forward ")
"""Where formulas of values stand."""


def read_in(answer: Explained, budget: Budget, count: int) -> tuple[int, list[Mismatch]]:
    """Read back the formulas of an answer in so many digits."""

    known: dict[str, tuple[Any, Any]] = {}

    def exact(name: str, value: object) -> Any:
        if name not in known or known[name][0] is not value:
            known[name] = value, lifted(np.asarray(value))
        return known[name][1]

    def evaluate(formula: str, names: Mapping[str, object]) -> Any:
        program = replace(compile_program(formula, budget, frozenset(names)), truths=True)
        return run(program, {name: exact(name, names[name]) for name in program.inputs}, frozenset()).output

    with digits(count):
        return read_back(answer, evaluate, float(CLOSE))


def in_doubles(budget: Budget, formula: str, names: Mapping[str, object]) -> Any:
    """Return what the language makes of a formula in double precision."""
    program = replace(compile_program(formula, budget, frozenset(names)), truths=True)
    return np.asarray(value_of(program.evaluate({name: names[name] for name in program.inputs}, frozenset())[1]))


def is_rounding(found: Mismatch, terms: float, least: float) -> bool:
    """Return whether a formula is 0 where rounding has left a number, or has a number where the answer has none.

    ``terms`` is the size of the largest term that the number may be a sum of.
    """
    number = np.asarray(found.number, dtype=np.float64)
    if isinstance(found.found, str) or np.shape(found.found) != number.shape:
        return False
    truth = np.asarray(found.found, dtype=np.float64)
    zero = (np.abs(truth) <= least * terms) & (np.abs(number) <= ROUNDING * terms)
    with np.errstate(all="ignore"):
        near = np.abs(truth - number) <= float(CLOSE) * np.abs(number)
    return bool(np.all(zero | near | ~np.isfinite(number)))


def misprint(found: Mismatch) -> str:
    """Return what is wrong with a formula."""
    if isinstance(found.found, str):
        return f"{found.stands}: '{found.formula}' cannot be read back: {found.found}"
    return f"{found.stands}: '{found.formula}' is {shown(found.found)}, and not {shown(found.number)} as beside it"


def shown(number: object) -> str:
    """Return a number, or the first of several, to read."""
    entries = np.asarray(number, dtype=np.float64).ravel()
    first = repr(float(entries[0])) if entries.size else ""
    return first if entries.size == 1 else f"[{first}, ...]"
