"""Local Jacobians: for each op and argument, which output depends on which entry, by which formula and how much.

A formula is differentiated once for all nodes of a kind, in symbols of its own. An op that works entry by entry is the
same op on one long array: the numbers of many nodes, as a loop of 10,000 steps leaves them, are laid side by side, and
numpy is asked once.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from sympy import Add, Dummy, Expr, Mul, Pow, Symbol, powsimp

from gradcli.engine.graph import NODES, Node, Operation
from gradcli.errors import over_budget
from gradcli.errors.hints import counted
from gradcli.jacobian import functions as s
from gradcli.jacobian.evaluate import Rule, evaluator, magnitude
from gradcli.jacobian.sparse import FEW, SHORT, Diagonals, rising, same
from gradcli.ops.declare import Array, Op, holds_somewhere, value_of
from gradcli.ops.links import (
    OUT,
    At,
    Auxiliary,
    Bound,
    Contraction,
    Formula,
    Implicit,
    Indices,
    Links,
    Partial,
    Slot,
    auxiliary_of,
    listed,
)
from gradcli.records import dataclass

Constant = float | None
"""A plain number among the arguments of an op, which stands in its formulas as it is; None for a node or an array."""


def constant_of(argument: Any) -> Constant:
    """Return the one number that an argument is, None for a node or an array."""
    if isinstance(argument, float | int):  # most are; numpy's double is a float too
        number = float(argument)
    elif type(argument) in NODES or np.size(argument) != 1:
        return None
    else:
        number = float(np.reshape(argument, ()))
    return number if math.isfinite(number) else None


def kind_of(node: Operation, of: Callable[[Any], Hashable] | None = None) -> Hashable:
    """Return what the local Jacobians of a node depend on, but for the numbers of nodes and arrays.

    ``of`` says what they depend on of an argument; ``argument_kind`` where nothing is given.
    """
    op = node.op
    arguments = tuple([(of or argument_kind)(a) for a in node.arguments])
    return op.local_jacobian, op.digits, node.value.shape, arguments, frozen(node.static) if node.static else ()


def argument_kind(argument: Any) -> Hashable:
    """Return the shape of an argument, or the constant that it is; the two zeros are told apart."""
    if type(argument) in NODES:
        return argument.value.shape  # type: ignore[no-any-return]
    constant = constant_of(argument)
    return np.shape(argument) if constant is None else constant or str(constant)


def free_kind(argument: Any) -> Hashable:
    """Return the shape of an argument, a constant as an array of one, or the zero that it is."""
    kind = argument_kind(argument)
    return np.shape(argument) if isinstance(kind, float) else kind


def frozen(value: Any) -> Hashable:
    """Return a plain argument of an op as a key: equal ones have equal keys, and others have others."""
    if isinstance(value, dict):
        return tuple([(name, frozen(item)) for name, item in value.items()])
    if isinstance(value, tuple | list):
        return tuple([frozen(item) for item in value])
    if isinstance(value, slice):
        return slice, frozen((value.start, value.stop, value.step))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return type(value), value


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A formula in ``symbols``, one for each bound item; ``used`` are the places of those that it holds.

    ``value`` and ``size`` work it out and the size of the terms that it adds up, None where that is its absolute
    value. ``adds`` says that it adds up terms at all, which may cancel.
    """

    expression: Expr
    symbols: tuple[Symbol, ...]
    used: tuple[int, ...]
    value: Rule
    size: Rule | None
    adds: bool


def template(expression: Expr, symbols: tuple[Symbol, ...]) -> Template:
    """Return a formula with what works it out."""
    places = {symbol: k for k, symbol in enumerate(symbols)}
    used = tuple(k for k, symbol in enumerate(symbols) if symbol in expression.free_symbols)
    adds = bool(expression.has(Add))
    value, size = evaluator(expression, places), magnitude(expression, places)
    return Template(s.written_out(expression), symbols, used, value, size, adds)


ONE = template(s.number(1), ())


def template_of(links: Links | Contraction, constants: tuple[Constant, ...]) -> Template:
    """Return the formula of a link's factor; ``constants`` has the arguments that are plain numbers."""
    factor = links.factor
    if factor is None:
        return ONE
    if isinstance(factor, Partial):
        return derivative(factor.formula, factor.argument, constants)
    if isinstance(factor, Implicit):
        return recalled(quotient, factor.inner, factor.outer)
    return recalled(explicit, factor.formula, len(links.bound))


@lru_cache(maxsize=4096)
def derivative(formula: Formula, argument: int, constants: tuple[Constant, ...]) -> Template:
    """Return the derivative of a formula by one argument, the constants among the others written out."""
    symbols = tuple(Dummy(f"a{k}", real=True) for k in range(len(constants)))
    arguments = [x if c is None else s.number(c) for x, c in zip(symbols, constants, strict=True)]
    arguments[argument] = symbols[argument]
    return template(s.as_expression(formula(s, *arguments)).diff(symbols[argument]), symbols)


@lru_cache(maxsize=1024)
def separated(whole: Template) -> tuple[float, list[Template]] | None:
    """Return a number and one formula for each symbol, whose product a formula is; None where it is none."""
    number, each = s.number(1), [s.number(1)] * len(whole.symbols)
    for factor in Mul.make_args(whole.expression):
        used = [k for k, symbol in enumerate(whole.symbols) if symbol in factor.free_symbols]
        if len(used) > 1:
            return None
        if used:
            each[used[0]] *= factor
        else:
            number *= factor
    return float(number), [template(part, (symbol,)) for part, symbol in zip(each, whole.symbols, strict=True)]


def quotient(inner: Formula, outer: Formula) -> Template:
    """Return inner'(x) / outer'(y)."""
    x, y = Dummy("x", real=True), Dummy("y", real=True)
    result = s.as_expression(inner(s, x)).diff(x) / s.as_expression(outer(s, y)).diff(y)
    # exp(x - y) and not exp(x)*exp(-y), which overflows where the whole does not.
    return template(powsimp(result, combine="exp") if result.has(s.exp) else result, (x, y))


def explicit(formula: Formula, count: int) -> Template:
    """Return a formula as it stands, in ``count`` symbols."""
    symbols = tuple(Dummy(f"b{k}", real=True) for k in range(count))
    return template(s.as_expression(formula(s, *symbols)), symbols)


def is_plain(expression: Expr) -> bool:
    """Return whether a formula is made of products and whole powers alone, so that numbers may stand for its symbols.

    Elsewhere a constant that is written out gives another formula: the derivative of x**2 is 2*x, and not 2*x**(2 - 1).
    """
    if isinstance(expression, Mul):
        return all(map(is_plain, expression.args))
    if isinstance(expression, Pow):
        return bool(expression.args[1].is_Integer) and is_plain(expression.args[0])
    return bool(expression.is_Symbol or expression.is_Integer)


@lru_cache(maxsize=1024)
def has_plain_derivative(formula: Formula, argument: int, count: int) -> bool:
    """Return whether the derivative of a formula by one of ``count`` arguments is plain."""
    return is_plain(derivative(formula, argument, (None,) * count).expression)


MOST_RECALLED = 4096
_RECALLED: dict[Hashable, Template] = {}


def recalled(make: Callable[..., Template], *parts: Any) -> Template:
    """Return ``make(*parts)``, made once for functions that are the same text over the same values.

    The local reading of an op makes its formulas anew whenever it is asked.
    """
    try:
        key = (make, *map(text_of, parts))
        result = _RECALLED.get(key)
    except TypeError:  # a value that has no hash
        return make(*parts)
    if result is None:
        if len(_RECALLED) >= MOST_RECALLED:
            _RECALLED.clear()
        result = _RECALLED[key] = make(*parts)
    return result


def text_of(formula: Formula) -> Hashable:
    """Return what makes two functions the same: their code, and the values that they close over."""
    if type(formula) is not FunctionType or formula.__kwdefaults__:
        return type(formula), formula
    cells = formula.__closure__ or ()
    return (
        formula.__module__,
        formula.__code__,
        formula.__defaults__,
        tuple(text_of(cell.cell_contents) for cell in cells),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Entries of a local Jacobian that share one formula.

    ``d out[rows] / d argument[columns] = weight * template``, where symbol k of the template is bound to item k of
    ``most``.
    """

    rows: Indices
    columns: Indices
    weight: Array | float
    template: Template
    bound: tuple[tuple[Slot, Indices], ...]
    auxiliary: Auxiliary | None = None
    second: Auxiliary | None = None

    @property
    def weights(self) -> Array:
        """The weight of each entry."""
        return np.broadcast_to(np.asarray(self.weight, dtype=np.float64), np.shape(self.rows))

    @property
    def has_zeros(self) -> bool:
        """Whether a weight is 0: there the derivative is 0 by convention."""
        return bool(np.any(self.weights == 0))


@dataclass(frozen=True, slots=True, eq=False)
class PartNumbers:
    """A part with its numbers: ``sizes`` are the sizes of the terms that the ``values`` are differences of."""

    part: Part
    values: Array
    sizes: Array


class Reading(NamedTuple):
    """What a local Jacobian is read from: an op at the numbers of its arguments."""

    op: Op
    out: Any
    values: tuple[Any, ...]
    static: dict[str, Any]


def reading_of(node: Operation) -> Reading:
    """Return what the local Jacobians of a node are read from."""
    return Reading(node.op, node.value, tuple([value_of(a) for a in node.arguments]), node.static)


MOST_KEPT = 4096
_KEPT: dict[Hashable, tuple[int, list[Part]]] = {}


def parts_of(node: Operation, argument: int, reading: Reading, most: int) -> list[Part]:
    """Return the parts of a local Jacobian; raises ``budget`` for more than ``most`` entries.

    Short ones that depend on shapes alone are kept for the next node of the kind.
    """
    key = (kind_of(node), argument) if np.size(reading.out) <= FEW and is_shaped(reading, argument) else None
    count, parts = (0, None) if key is None else _KEPT.get(key, (0, None))
    if parts is not None:
        require_few(reading, count, most)
        return parts
    if reading.op.terms is not None:
        count = int(reading.op.terms(*reading.values, **reading.static))
        require_few(reading, count, most)
    links = links_of(reading, argument)
    count = max(count, np.size(reading.out), sum([item.count for item in links if isinstance(item, Contraction)]))
    require_few(reading, count, most)
    constants = tuple([constant_of(a) for a in node.arguments])
    parts = [part_of(listed(item), template_of(item, constants)) for item in links]
    if key is not None and sum([len(part.rows) for part in parts]) <= FEW:
        keep(key, count, parts)
    return parts


def links_of(reading: Reading, argument: int) -> Sequence[Links | Contraction]:
    """Return the links of an op by one argument, as its declaration has them."""
    return reading.op.local_jacobian(At(argument, reading.out, reading.values, reading.static))


def require_few(reading: Reading, count: int, most: int) -> None:
    """Refuse more than ``most`` entries of a local Jacobian."""
    if count > most:
        raise over_budget("jacobian", most, f"the derivative of {reading.op.name} has {counted(count, 'entry')}")


def is_shaped(reading: Reading, argument: int) -> bool:
    """Return whether a local Jacobian has the same parts for all numbers: none of these is 0 by convention."""
    op = reading.op
    return op.entries.shaped and (op.zero_at is None or not holds_somewhere(op.zero_at(argument, *reading.values)))


def keep(key: Hashable, count: int, parts: list[Part]) -> None:
    """Keep the parts of local Jacobians, from here on safe from changes."""
    for part in parts:
        for places in (part.rows, part.columns, *(where for _, where in part.bound)):
            places.flags.writeable = False
    if len(_KEPT) >= MOST_KEPT:
        _KEPT.clear()
    _KEPT[key] = count, parts


def read(reading: Reading, argument: int, constants: tuple[Constant, ...]) -> list[Part]:
    """Return the parts of the local Jacobian of an op by one argument.

    ``constants`` are the numbers among the arguments, which stand in the formulas as they are.
    """
    return [part_of(listed(item), template_of(item, constants)) for item in links_of(reading, argument)]


def part_of(links: Links, template: Template) -> Part:
    """Return links with their formula."""
    weight = 1.0 if type(links.weight) is np.ndarray and np.all(links.weight == 1) else links.weight
    return Part(links.rows, links.columns, weight, template, links.bound, links.auxiliary, links.second)


def worked_out(reading: Reading, part: Part) -> PartNumbers:
    """Return a part with its numbers."""
    values, sizes = numbers(reading, part)
    return PartNumbers(part, repeated(values, len(part.rows)), repeated(sizes, len(part.rows)))


def numbers(reading: Reading, part: Part) -> tuple[Any, Any]:
    """Return the values and the sizes of a part, each an array or one number for all entries."""
    template = part.template
    chosen: list[Any] = [None] * len(template.symbols)
    for k in template.used:
        chosen[k] = numbers_of(reading, part, *part.bound[k])
    factor = template.value(chosen)
    size = abs(factor if template.size is None else template.size(chosen))
    if not (factor if type(factor) is np.float64 else np.all(factor)):
        unsure: Any = False  # a 0 that came of a number which is not finite, as 1/inf does, is no true zero
        for slot, where in part.bound:
            unsure = unsure | ~np.isfinite(numbers_of(reading, part, slot, where))
        factor = np.where(unsure & (factor == 0), np.nan, factor)
    weight: Any = part.weight
    values, sizes = weighed(weight, factor), weighed(abs(weight), size)
    if reading.op.digits is not None:
        digits = reading.op.digits(reading.out, *reading.values, **reading.static)
        sizes = np.maximum(sizes, entries(np.broadcast_to(digits, np.shape(reading.out)), part.rows))
    return values, sizes


def numbers_of(reading: Reading, part: Part, slot: int, where: Indices) -> Any:
    """Return the numbers that a symbol stands for: of an argument, the output, or the auxiliary value."""
    return entries(slot_array(reading, part, slot), where)


def slot_array(reading: Reading, links: Bound, slot: Slot) -> Any:
    """Return the array that a slot stands for."""
    if slot >= 0:
        return reading.values[slot]
    return reading.out if slot == OUT else auxiliary_of(links, slot)[1]


def entries(array: Any, where: Indices) -> Any:
    """Return the entries at flat indices; a single number as it is, and all in their order without a copy."""
    if type(array) is np.float64 and len(where):
        return array
    flat = np.ravel(array)
    if len(flat) == 1 and len(where):
        return flat[0]
    return flat if len(where) == len(flat) > SHORT and rising(where) else flat[where]


def weighed(weight: Array | float, factor: Any) -> Any:
    """Return ``weight * factor``, where a weight of 0 wins over inf and nan."""
    if type(weight) is float and weight:
        return factor if weight == 1.0 else weight * factor
    return np.where(np.equal(weight, 0), 0.0, weight * factor)


def repeated(numbers: Any, count: int) -> Array:
    """Return an array of ``count`` numbers, which may be one number for all."""
    if np.shape(numbers) == (count,):
        return numbers  # type: ignore[no-any-return]
    full = np.empty(count)
    full[:] = numbers
    return full


WIDEST = 1024
"""Entries of a node up to which numpy takes longer to be asked than to answer."""
MANY = 8
"""Nodes of a kind from which it is worth while to lay their numbers side by side."""

Link = tuple[Operation, int, Node]
"""A node, the number of one of its arguments, and that argument."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The local Jacobians by their argument number ``argument`` of ``nodes``, the output's first, all diagonal.

    ``local`` has them one behind the other; ``places`` says where the nodes stand in the list of all links.
    """

    nodes: list[Operation]
    argument: int
    places: list[int]
    local: PartNumbers

    @property
    def width(self) -> int:
        """The entries of one node."""
        return len(self.local.values) // len(self.nodes)

    def diagonals(self) -> Diagonals:
        """Return the matrix of each node, those of a few entries as lists."""
        values, sizes, where = self.local.values, self.local.sizes, self.local.part.rows[: self.width]
        return (
            Diagonals(values, sizes, where) if self.width > FEW else Diagonals(values.tolist(), sizes.tolist(), where)
        )

    def holds(self, node: Node, argument: int) -> bool:
        """Return whether the local Jacobian of a node by an argument is one of these."""
        place = bisect_left(self.nodes, -node.index, key=lambda other: -other.index)
        return argument == self.argument and place < len(self.nodes) and self.nodes[place] is node


def batches(links: Sequence[Link], widest: int) -> list[Batch]:
    """Return the batches of all links that work entry by entry on ``widest`` entries at most."""
    by_op: dict[Hashable, list[int]] = {}
    for place, (node, k, argument) in enumerate(links):
        few = 0 < node.value.size <= widest and argument.value.shape == node.value.shape
        if few and node.op.formula is not None:
            by_op.setdefault((id(node.op), k), []).append(place)
    groups = [group for many in by_op.values() if len(many) >= MANY for group in of_one_kind(links, many)]
    return [result for group in groups if (result := batch(links, group)) is not None]


def of_one_kind(links: Sequence[Link], places: list[int]) -> list[list[int]]:
    """Return the places of links of one op and argument by kind, where these are many."""
    node, k, _ = links[places[0]]
    kind = free_kind if takes_numbers(node, k) else argument_kind
    groups: dict[Hashable, list[int]] = {}
    for place in places:
        groups.setdefault(kind_of(links[place][0], kind), []).append(place)
    return [group for group in groups.values() if len(group) >= MANY]


def takes_numbers(node: Operation, argument: int) -> bool:
    """Return whether the constants of an op may be taken as numbers are, each its own: ``x/1``, ``x/2``, ``x/3`` …"""
    return not node.static and has_plain_derivative(node.op.formula, argument, len(node.arguments))


def batch(links: Sequence[Link], places: list[int]) -> Batch | None:
    """Return one batch; None where the local reading of the op is not one of all entries, as in pieces of a formula."""
    nodes, argument = [links[place][0] for place in places], links[places[0]][1]
    first = nodes[0]
    free = takes_numbers(first, argument)
    constants = tuple([constant_of(a) for a in first.arguments])
    fixed = tuple([None if free and c else c for c in constants])
    values = tuple(
        a if c is not None else side_by_side([value_of(node.arguments[k]) for node in nodes], first.ndim)
        for k, (a, c) in enumerate(zip(first.arguments, fixed, strict=True))
    )
    reading = Reading(first.op, side_by_side([node.value for node in nodes], first.ndim), values, first.static)
    parts = read(reading, argument, fixed)
    whole = len(parts) == 1 and len(parts[0].rows) == np.size(reading.out)
    if not whole or not rising(parts[0].rows) or not same(parts[0].rows, parts[0].columns):
        return None
    if fixed != constants and not is_plain(parts[0].template.expression):
        return None
    return Batch(nodes, argument, places, worked_out(reading, parts[0]))


def side_by_side(arrays: list[Any], ndim: int) -> Any:
    """Return arrays of one shape along a new first axis, so that the others broadcast as they did."""
    stacked = np.asarray(arrays[0])[None] if len(arrays) == 1 else np.array(arrays)
    shape = stacked.shape[1:]
    return stacked.reshape(len(arrays), *(1,) * (ndim - len(shape)), *shape)
