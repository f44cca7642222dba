"""What a mutant does to a number, a truth value, a place or a formula."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from mpmath import isnan, mpf
from sympy import Expr, Float

from gradcli.engine.graph import Node
from gradcli.exact.real import Real
from gradcli.formulas.entries import Entries
from gradcli.formulas.expression import Expression, multiply, number
from gradcli.formulas.index_rules import IndexRule
from gradcli.formulas.vjps import Written
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import PartNumbers
from gradcli.jacobian.passes import Named, Vectors
from gradcli.jacobian.sparse import Diagonals, Small, Sparse
from gradcli.language.values import Cotangent
from gradcli.ops.declare import Pair
from gradcli.ops.links import Contraction, Explicit, Implicit, Links, Partial

SLIGHTLY = 1 + 1e-9
NEARLY_ONE = Float(SLIGHTLY, 17)
VISIBLY = 1.001
"""What texts are multiplied by: they may be off by rounding, of which sums can have much."""


class Spoiled:
    """Counts what a mutant has changed: a test that fails although nothing changed says nothing of the rule.

    ``asked`` counts the values that it was given: a rule that was read and gave no number but 0 is silent.
    """

    count = 0
    asked = 0


def same(a, b):
    if isinstance(a, Real):
        return a.d == b.d  # as numbers they are equal where rounding alone tells them apart
    if isinstance(a, mpf):
        return a == b or (isnan(a) and isnan(b))
    return np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True)


def counted(before, after):
    """Return ``after``, and note that something changed if it did."""
    Spoiled.count += not same(before, after)
    return after


def spoiled(value, by=SLIGHTLY):
    """Return a number times ``by``, a truth value turned round, places moved on by one, and so inside of containers.

    What is none of these, such as a shape or a text, is left as it is.
    """
    Spoiled.asked += 1
    if isinstance(value, bool | np.bool_):
        return counted(value, not value)
    if isinstance(value, float | np.floating | Real | mpf):
        return counted(value, value * by)
    if isinstance(value, np.integer):
        return counted(value, value + 1)
    if isinstance(value, np.ndarray):
        return array(value, by)
    if isinstance(value, Expr | Written | Expression):
        return expression(value, by)
    if isinstance(value, Small | Diagonals):
        return value._replace(values=spoiled(value.values, by))
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(spoiled(item, by) for item in value)
    if isinstance(value, dict):
        return {key: spoiled(item, by) for key, item in value.items()}
    return container(value, by)


def spoiled_branch(k, condition, a, b):
    """Return ``np.where`` with the entries changed that are taken from one branch: others count for nothing."""
    found, before = np.where(condition, a, b), Spoiled.count
    wrong = spoiled(found)
    Spoiled.count = before
    taken = np.asarray(condition, dtype=bool)
    return counted(found, np.where(~taken if k else taken, wrong, found))


def array(value, by):
    if value.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return counted(value, value * by)
    if value.dtype.kind == "b":
        return counted(value, ~value)
    if value.dtype == object:
        items = [counted(item, item + 1) if type(item) is int else spoiled(item, by) for item in value.ravel()]
        return np.array(items, dtype=object).reshape(value.shape)
    if value.size == 1:
        return counted(value, value + 1)
    return counted(value, np.roll(value, 1 + Spoiled.count))  # each by another step: together they would stay in place


def expression(value, by):
    """Return a formula times a number: of sympy, of the language, or an array that is written in it."""
    if isinstance(value, Written):
        return Written(expression(value.expression, by), value.value, value.stands)
    if isinstance(value, Expression):
        Spoiled.count += value.value != 0
        return multiply(number(VISIBLY), value)
    if value.is_zero:
        return value
    Spoiled.count += 1
    return value * (NEARLY_ONE if by == SLIGHTLY else Float(by, 17))


def container(value, by):
    """Return one of the project's own containers with its numbers changed, or a rule whose answers are.

    The text of an index rule is multiplied.
    """
    if isinstance(value, Links | Contraction):
        return replace(value, weight=spoiled(np.asarray(value.weight, dtype=np.float64), by))
    if isinstance(value, Named):
        return replace(value, array=spoiled(value.array, by))
    if isinstance(value, Sparse | PartNumbers | Vectors):
        return replace(value, values=spoiled(value.values, by))
    if isinstance(value, Composition):
        return replace(value, of=spoiled(value.of, by))
    if isinstance(value, Cotangent):
        return value._replace(seed=spoiled(value.seed, by))
    if isinstance(value, IndexRule):
        return replace(value, formula=text(value.formula, VISIBLY)) if value.formula else value
    if isinstance(value, Entries):
        return replace(value, texts=[text(entry, VISIBLY) for entry in value.texts])
    if isinstance(value, Pair):
        return replace(value, values=spoiled(value.values, by))
    if isinstance(value, Node):
        value.value = spoiled(value.value, by)
        return value
    return ruled(value, by) if callable(value) and not isinstance(value, type) else value


def text(formula, by):
    """Return the text of a formula times a number."""
    Spoiled.count += formula != "0"
    return f"({formula})*{by!r}"


def ruled(rule, by=SLIGHTLY):
    """Return a rule whose answers are changed."""

    @functools.wraps(rule, updated=())
    def wrong(*values, **static):
        return spoiled(rule(*values, **static), by)

    return wrong


def added(rule):
    """Return a rule of zeros that sends back a little of the cotangent."""

    def wrong(g, *values, **static):
        return counted(rule(g, *values, **static), rule(g, *values, **static) + g * 1e-9)

    return wrong


def factored(links):
    """Return links whose factor is changed: the formula, or the outer formula of an implicit one."""
    factor = links.factor
    if isinstance(factor, Partial):
        return replace(links, factor=Partial(ruled(factor.formula), factor.argument))
    if isinstance(factor, Explicit):
        return replace(links, factor=Explicit(ruled(factor.formula)))
    return replace(links, factor=Implicit(factor.inner, ruled(factor.outer))) if factor is not None else links
