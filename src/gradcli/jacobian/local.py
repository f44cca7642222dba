"""Local Jacobians: for each op and argument, which output depends on which entry, by which formula and how much."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.errors import over_budget
from gradcli.errors.counting import counted
from gradcli.jacobian.factors import Template, template_of
from gradcli.jacobian.kinds import Constant, constant_of, kind_of
from gradcli.jacobian.matrix import FEW
from gradcli.jacobian.sparse import SHORT, rising
from gradcli.ops.declare import Array, Op, holds_somewhere, value_of
from gradcli.ops.links import OUT, Auxiliary, Bound, Contraction, Indices, Links, Slot, auxiliary_of, listed
from gradcli.records import dataclass


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
    return reading.op.local(argument, reading.out, reading.values, reading.static)


def require_few(reading: Reading, count: int, most: int) -> None:
    """Refuse more than ``most`` entries of a local Jacobian."""
    if count > most:
        raise over_budget("jacobian", most, f"the derivative of {reading.op.name} has {counted(count, 'entry')}")


def is_shaped(reading: Reading, argument: int) -> bool:
    """Return whether a local Jacobian has the same parts for all numbers: none of these is 0 by convention."""
    op = reading.op
    return op.shaped and (op.zero_at is None or not holds_somewhere(op.zero_at(argument, *reading.values)))


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
        factor = without_false_zeros(factor, reading, part)
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


def without_false_zeros(factor: Any, reading: Reading, part: Part) -> Any:
    """Return the factors with nan where a 0 came of a number that is not finite: 1/inf is not a true zero."""
    unsure: Any = False
    for slot, where in part.bound:
        unsure = unsure | ~np.isfinite(numbers_of(reading, part, slot, where))
    return np.where(unsure & (factor == 0), np.nan, factor)
