"""Formulas held against the numbers of this point: forms that keep their digits where an activation is saturated."""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.explanation.explained import Explained
from gradcli.explanation.rereading import NEAR, evaluate
from gradcli.formulas.expression import read_node
from gradcli.formulas.index_rules import IndexRule, renamed
from gradcli.ops.declare import Array, Indices
from gradcli.records import replace

INDEX = re.compile(r"\[[\d, ]+\]")


def saturated(formula: str, definitions: Mapping[str, str]) -> str:
    """Return a formula without the differences that lose all digits in saturation; itself where it has none.

    ``definitions`` are the names that it may use.

    >>> saturated("W[0,1]*(1 - tanh(x[1])**2)", {})
    'W[0,1]/cosh(x[1])**2'
    >>> saturated("s[0]*(1 - s[0])", {"s": "sigmoid(z)"})
    's[0]*sigmoid(-z[0])'
    """
    tree = ast.parse(formula, mode="eval").body
    exchange = Complements({name: ast.parse(text, mode="eval").body for name, text in definitions.items()})
    other = exchange.visit(tree)
    if not exchange.found:
        return formula
    return INDEX.sub(lambda index: index[0].replace(" ", ""), read_node(other, {}).text)


class Complements(ast.NodeTransformer):
    """Writes what is left of 1 beside tanh(x)**2 or sigmoid(x) without a difference; ``found`` says whether any was."""

    def __init__(self, definitions: Mapping[str, ast.expr]) -> None:
        self.definitions = definitions
        self.found = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Return ``1/cosh(x)**2`` for ``1 - tanh(x)**2``, and ``sigmoid(-x)`` for ``1 - sigmoid(x)``."""
        self.generic_visit(node)
        if not (isinstance(node.op, ast.Sub) and is_number(node.left, 1)):
            return node
        right = node.right
        squared = isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow) and is_number(right.right, 2)
        inner = right.left if squared and isinstance(right, ast.BinOp) else right
        x = self.argument_of("tanh" if squared else "sigmoid", inner)
        if x is None:
            return node
        self.found = True
        if not squared:
            return call("sigmoid", ast.UnaryOp(ast.USub(), x))
        return ast.BinOp(ast.Constant(1), ast.Div(), ast.BinOp(call("cosh", x), ast.Pow(), ast.Constant(2)))

    def argument_of(self, function: str, node: ast.expr) -> ast.expr | None:
        """Return what a function is applied to, there or in the definition of a name or of its entries."""
        if isinstance(node, ast.Subscript):
            whole = self.argument_of(function, node.value)
            return None if whole is None else ast.Subscript(whole, node.slice, ast.Load())
        if isinstance(node, ast.Name) and node.id in self.definitions:
            node = self.definitions[node.id]
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
        return copy.deepcopy(node.args[0]) if named and isinstance(node, ast.Call) and len(node.args) == 1 else None


def call(function: str, argument: ast.expr) -> ast.Call:
    """Return a function of one argument."""
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def is_number(node: ast.expr, number: int) -> bool:
    """Return whether a part of a formula is this number."""
    return isinstance(node, ast.Constant) and node.value == number


MOST_TUPLES = 20_000
"""Places of a rule that are looked at; of more, so many spread over all."""
READ = 64
"""Places at which a rule is read: those of the smallest entries, where saturation shows, and as many between."""
LOST = "by numbers alone, as rounding makes the formula another number here"


def true_rules(answer: Explained, name: str) -> list[IndexRule]:
    """Return the rules of a Jacobian; one that is another number here has a form that keeps its digits, or words."""
    names = {n: value for n, value in answer.definition_values.items() if np.all(np.isfinite(value))} | answer.inputs
    with np.errstate(all="ignore"):
        rules = answer.jacobian[name].index_rules
        return [true_form(answer, name, rule, names) if rule.formula else rule for rule in rules]


def true_form(answer: Explained, name: str, rule: IndexRule, names: Mapping[str, Any]) -> IndexRule:
    """Return a rule that holds here."""
    chosen, numbers = places_to_read(answer, name, rule)
    if not len(numbers) or holds(rule.formula, chosen, numbers, names):
        return rule
    other = saturated(rule.formula, answer.source.formulas.definitions)
    if other != rule.formula and holds(other, chosen, numbers, names):
        return replace(rule, formula=other)
    return replace(rule, formula="", words=LOST)


def places_to_read(answer: Explained, name: str, rule: IndexRule) -> tuple[dict[str, Indices], Array]:
    """Return some places of a rule, an array of integers for each of its letters, and the numbers there."""
    from gradcli.formulas.readback import entries_of, flat_places, lengths_of, numbers_at  # large answers need it

    entries = entries_of(answer, rule, name)
    if entries is None:
        return {}, np.zeros(0)
    lengths = lengths_of(answer, rule)
    total = math.prod(lengths.values())
    flat = np.unique(np.linspace(0, total - 1, min(total, MOST_TUPLES)).astype(np.intp))
    letters = dict(zip(lengths, np.unravel_index(flat, tuple(lengths.values())), strict=True)) if lengths else {}
    values = numbers_at(flat_places(answer, rule, letters, len(flat)), *entries)
    usable = np.flatnonzero((values != 0) & np.isfinite(values))
    smallest = usable[np.argsort(np.abs(values[usable]), kind="stable")[:READ]]
    between = usable[np.linspace(0, len(usable) - 1, min(READ, len(usable))).astype(np.intp)]
    chosen = np.union1d(smallest, between)
    return {letter: places[chosen] for letter, places in letters.items()}, values[chosen]


def holds(formula: str, chosen: Mapping[str, Indices], numbers: Array, names: Mapping[str, Any]) -> bool:
    """Return whether a formula with these integers for its letters gives the numbers; so does what cannot be read.

    A sum along an axis is read one entry at a time, any other formula at all places at once.
    """
    some = (
        np.linspace(0, len(numbers) - 1, min(8, len(numbers))).astype(int).tolist() if ":" in formula else [slice(None)]
    )
    for at in some:
        read = evaluate(renamed(formula, {letter: places[at].tolist() for letter, places in chosen.items()}), names)
        if read is None or (":" not in formula and read.shape not in ((), numbers.shape)):
            continue
        if not np.all(np.abs(read - numbers[at]) <= NEAR * np.abs(numbers[at])):
            return False
    return True
