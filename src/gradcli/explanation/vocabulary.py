"""The functions and operators of the language, looked up: how they are written, their derivatives, an example."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors import Budget, GradcliError
from gradcli.explanation.parts import Example, Known
from gradcli.language.calls import near_function
from gradcli.ops import OPERATORS, load, methods, rows, spellings
from gradcli.ops.declare import Op
from gradcli.ops.vocabulary import Facts, facts_of

if TYPE_CHECKING:
    from gradcli.ops.vocabulary import Row

SIGNS = {
    "+": ("x + other", "the sum, entry by entry"),
    "-": ("x - other", "the difference, entry by entry"),
    "*": ("x*other", "the product, entry by entry; @ is that of matrices"),
    "/": ("x/other", "the quotient, entry by entry"),
    "//": ("x//other", "the quotient, rounded down; flat"),
    "%": ("x % other", "what is left of a division, with the sign of other"),
    "**": ("x**other", "x to the power other"),
    "@": ("A @ B", "the product of matrices and vectors"),
    "[...]": ("x[0], x[-1], x[1:3], x[x > 0], x[[0, 2]], x[..., None]", "entries that an index picks, as in NumPy"),
}
"""How each operator is written, and what it does."""
INDEX = ("[]", "x[0]", "index", "slice")
"""Other names under which ``[...]`` is looked up."""


def all_functions() -> list[Known]:
    """Return every function by its own name, those of one library that have a namesake left out."""
    return [listed(row) for row in rows() if "." not in row.name]


def look_up(name: str) -> list[Known]:
    """Return the function that a name means, with all its facts, or those whose names begin with it.

    Raises ``unknown-function``, with what may have been meant.
    """
    name = re.sub(r"(?<=\w)\(.*\)\Z", "", name)  # a call of it
    sign = "[...]" if name in INDEX else name
    if sign in SIGNS:
        return [operator(sign)]
    named = next((row for row in rows() if row.name == name), None)
    row = named or spellings().get(name) or methods().get(name.removeprefix("."))
    if row is not None:
        return [described(row)]
    begun = [row for row in rows() if name and begins(row, name)]
    if not begun:
        raise GradcliError("unknown-function", f"unknown function '{name}'", hint=near_function(name))
    return [described(begun[0])] if len(begun) == 1 else [listed(row) for row in begun]


def begins(row: Row, name: str) -> bool:
    """Return whether a function has a name that begins with this text."""
    return any(spelling.startswith(name) for spelling in (row.name, *row.spellings, *row.methods))


def listed(row: Row) -> Known:
    """Return a function without what is to be looked up."""
    return Known(row.name, row.signature, row.summary, row.family, row.spellings, row.methods)


def described(row: Row) -> Known:
    """Return a function with all that is known of it."""
    return with_facts(listed(row), load(row).op)


def operator(sign: str) -> Known:
    """Return an operator with all that is known of it."""
    written, summary = SIGNS[sign]
    known = Known(
        sign, written, summary, "operators", tuple(written.split(", x")[:1]) if sign != "[...]" else (written,)
    )
    return with_facts(known, OPERATORS.get((sign, 2)))


def with_facts(known: Known, op: Op | None) -> Known:
    """Return a record with its facts, and what its example leaves in ``.grad``."""
    facts = facts_of(known.name)
    return replace(
        known,
        formula=facts.formula,
        derivatives=facts.derivatives,
        vjp=vjp_lines(facts, op),
        kink=op.kink.says if op is not None and op.kink is not None else "",
        example=example_of(facts),
    )


def vjp_lines(facts: Facts, op: Op | None) -> tuple[str, ...]:
    """Return what reverse mode does for the example of a function, as the engine applies it; nothing without a rule.

    The example of a flat op multiplies it by x: the lines are those of the op alone.
    """
    from gradcli.engine.graph import Operation
    from gradcli.engine.naming import output_name
    from gradcli.explanation.backward import write_backward
    from gradcli.explanation.evaluation import Function as Program

    given, v = values_of(facts)
    run = Program(facts.program).evaluate(given)
    output, seed = run.output, v
    if not any(" = " in text for text in facts.derivatives):
        return ()
    if all(text.endswith(" = 0") for text in facts.derivatives):
        output, seed = next((node for node in run.graph.nodes if op is not None and node.op is op), None), None
    if not isinstance(output, Operation):
        return ()
    called = {leaf.index: name for name, leaf in run.leaves.items()} | {output.index: output_name(run.graph, output)}
    seed = np.ones(np.shape(output.value)) if seed is None else seed
    result = write_backward(run.graph, output, seed, called, shows_one=True)
    made = [f"{rule.name} = {rule.made}" for rule in reversed(result.rules) if rule.made]
    return (*made, *(f"{rule.name}.grad = {rule.text}" for rule in result.rules[1:]))


def values_of(facts: Facts) -> tuple[dict[str, Any], Any]:
    """Return the inputs of the example of a function, and its v if it has one."""
    from gradcli.language.values import read_value

    given = {name: read_value(text, name, Budget()) for name, text in facts.inputs.items()}
    return given, read_value(facts.v, "v", Budget()) if facts.v else None


def example_of(facts: Facts) -> Example:
    """Return the example of a function as words of a command line, with its result."""
    from gradcli.explanation.evaluation import Function as Program

    given, v = values_of(facts)
    flags = [word for name, text in facts.inputs.items() for word in (f"--{name}", text)]
    words = ("gradcli", "grad", facts.program, *flags, *(("--v", facts.v) if facts.v else ()))
    return Example(words, Program(facts.program).grad(v, **given))
