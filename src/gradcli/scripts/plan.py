"""What a script has to say, taken from an answer: what ran, line by line, and the rules of the backward pass."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.explanation.events import Value
from gradcli.explanation.explained import Explained
from gradcli.explanation.rules import Rule
from gradcli.language.calls import Bound, resolve
from gradcli.language.members import special_call
from gradcli.ops import Function
from gradcli.ops.declare import Array

MOST_NUMBERS = 10_000
"""Numbers of inputs, v and constants that a script writes out."""


@dataclass(frozen=True, slots=True)
class Line:
    """``name = text``, the text in the language, and the number that it has."""

    name: str
    text: str
    value: Array


def refusal(library: str, why: str, hint: str | None = None) -> GradcliError:
    """Return the error of an answer that a script cannot tell."""
    return GradcliError("code", f"--code {library} cannot write this program: {why}", hint=hint)


def forward_lines(found: Explained, library: str) -> list[Line]:
    """Return the values of the program in order, y the last; raises ``code`` where turns of a loop were not kept."""
    lines = list(recorded(found, library))
    if not any(line.name == found.name for line in lines) and found.name not in found.inputs:
        raise refusal(library, "its last value is not in the record of what ran")
    return lines


def recorded(found: Explained, library: str) -> Iterator[Line]:
    """Yield the values of the program; each text mentions earlier names alone."""
    ahead = {value.name for value in found.values} - found.inputs.keys()
    for value in found.values:
        if value.role == "input":
            continue
        text = text_of(value)
        if text is None or not ahead.isdisjoint(names_in(text)):
            why = f"of its loops the first and the last turns are kept, and '{value.name}' needs one between them"
            raise refusal(library, why, "fewer turns are kept as a whole")
        ahead.discard(value.name)
        yield Line(value.name, text, value.value)


def text_of(value: Value) -> str | None:
    """Return how a value is made; truth values are told as the user wrote them, for their formula says 1 and 0."""
    if value.value.dtype == bool and value.text and not value.target:
        return value.text
    if value.role == "constant" and value.formula is None and value.value.size <= MOST_NUMBERS:
        return repr(value.value.astype(float).tolist())  # an array of the script's own
    return value.formula


def names_in(text: str) -> set[str]:
    """Return the names that a text mentions."""
    return {node.id for node in ast.walk(tree_of(text)) if isinstance(node, ast.Name)}


def tree_of(text: str) -> ast.expr:
    """Return the syntax of an expression of the language."""
    return ast.parse(text.strip(), mode="eval").body


def backward_rules(found: Explained, library: str) -> list[Rule]:
    """Return the rules of the backward pass, that of y first; raises ``code`` where one has no text."""
    passed, hint = found.lookup.backward_by_any_v, "--code torch needs no rules"
    if passed.left_out:
        raise refusal(library, f"its backward pass has {counted(passed.left_out, 'line')} more than are kept", hint)
    unknown = next((rule.name for rule in passed.rules if rule.text is None), None)
    if unknown is not None:
        raise refusal(library, f"the rule of {unknown}.grad has no text", hint)
    return passed.rules


def made_lines(found: Explained) -> list[Line]:
    """Return the names that rules give to values which the program does not name, in the order of the run."""
    made = [rule for rule in reversed(found.lookup.backward_by_any_v.rules) if rule.made]
    return [Line(rule.name, rule.made or "", np.zeros(rule.value.shape)) for rule in made]


def refuse_long(arrays: list[Array], library: str) -> None:
    """Raise ``code`` where a script would be numbers and little else."""
    count = sum(np.size(array) for array in arrays)
    if count > MOST_NUMBERS:
        why = f"the script would hold {count:,} numbers, and {MOST_NUMBERS:,} are the most"
        raise refusal(library, why, "smaller inputs show the same lines")


PLACES = {"nonzero", "np.nonzero", "np.tril_indices", "np.triu_indices"}


def values_of(function: Function, bound: list[Bound]) -> str | None:
    """Return the template of the values that a call gives beside their places; None where it gives one array."""
    told = str(inspect.signature(function.build).return_annotation) if function.build is not None else ""
    if "Pair" not in told:
        return None
    if told == "Pair":
        return "x.values"
    given = {one.parameter.name: one for one in bound}
    if "return_indices" in given:
        return "x[0]"
    along = given.get("dim")
    return None if along is None or is_none(along) or is_other(along) else "x.values"


def is_none(one: Bound) -> bool:
    """Return whether an argument is None."""
    return isinstance(one.nodes[0], ast.Constant) and one.nodes[0].value is None


def is_other(one: Bound) -> bool:
    """Return whether ``dim`` is the second array of ``max(x, y)``, and no axis."""
    node = one.nodes[0].operand if isinstance(one.nodes[0], ast.UnaryOp) else one.nodes[0]
    return one.parameter.kind == "Static | Tensor" and not isinstance(node, ast.Constant)


def is_mask(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """Return whether an expression is truth values; ``values`` are the numbers of names."""
    match node:
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert()):
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return is_mask(node.left, values)
        case ast.Name():
            return node.id in values and values[node.id].dtype == bool
        case ast.Call():
            plain = special_call(node, values) is not None
            return not plain and resolve(node, values)[0].kinds.integers == "mask"
    return False


def is_places(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """Return whether an expression is a tuple of positions, an array for each axis."""
    if not isinstance(node, ast.Call) or special_call(node, values) is not None:
        return False
    return resolve(node, values)[0].name in PLACES
