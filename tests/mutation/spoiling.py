"""What a mutant does to a number, a truth value, a place or a formula."""

import functools
from dataclasses import fields, is_dataclass, replace

import numpy as np
from mpmath import isnan, mpf
from sympy import Expr, Float

from gradcli.engine.graph import Node
from gradcli.exact.real import Real
from gradcli.formulas.expression import Expression, multiply, number
from gradcli.formulas.vjps import Written
from gradcli.ops.links import Explicit, Implicit, Partial

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


FIELDS = ("weight", "array", "values", "of", "seed", "formula", "texts")
"""Where the project's own containers hold their numbers, or texts of formulas: the first that one has is changed."""


def container(value, by):
    """Return one of the project's own containers with its numbers changed, or a rule whose answers are.

    The text of an index rule is multiplied.
    """
    if isinstance(value, Node):
        value.value = spoiled(value.value, by)
        return value
    names = getattr(value, "_fields", None) or [item.name for item in fields(value)] if is_container(value) else []
    name = next((name for name in FIELDS if name in names), None)
    if name is not None:
        return replaced(value, name, shown(getattr(value, name), by))
    return ruled(value, by) if callable(value) and not isinstance(value, type) else value


def is_container(value):
    """Return whether a value is a record of the project's own."""
    ours = type(value).__module__.startswith("gradcli.")
    return ours and not isinstance(value, type) and (is_dataclass(value) or hasattr(value, "_fields"))


def replaced(value, name, field):
    return value._replace(**{name: field}) if hasattr(value, "_replace") else replace(value, **{name: field})


def shown(field, by):
    """Return a field changed: a number, a formula, or texts of formulas."""
    if isinstance(field, str):
        return text(field, VISIBLY) if field else field
    if isinstance(field, list) and field and all(isinstance(item, str) for item in field):
        return [text(item, VISIBLY) for item in field]
    return spoiled(np.asarray(field, dtype=np.float64) if isinstance(field, int) else field, by)


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
