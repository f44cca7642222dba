"""J where its entries are too many to be composed: applied to vectors by passes over the graph.

A local Jacobian is a linear map here, which is never listed where subscripts say it: then vectors are contracted with
arrays over named axes, two at a time, and a zero wins over inf and nan. The entries of J are held where that is cheap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.reverse import accumulate
from gradcli.errors import GradcliError
from gradcli.errors.hints import OverBudget
from gradcli.jacobian.composition import Composition, compose, links_between
from gradcli.jacobian.local import (
    Link,
    Part,
    PartNumbers,
    Reading,
    Template,
    constant_of,
    links_of,
    part_of,
    reading_of,
    require_few,
    separated,
    slot_array,
    template_of,
    worked_out,
)
from gradcli.jacobian.sparse import Sparse, summing, times
from gradcli.ops.declare import Array, value_of
from gradcli.ops.links import ONE, Contraction, Links, Mask, Order, listed
from gradcli.records import dataclass, field

einsum: Any = np.einsum
"""Its types know no floats beside lists of axes."""


@dataclass(frozen=True, slots=True)
class Named:
    """An array with a letter for each axis, each letter once."""

    array: Array
    letters: str

    @property
    def lengths(self) -> dict[str, int]:
        """The length of the axis of each letter."""
        return dict(zip(self.letters, self.array.shape, strict=True))

    def blocks(self, *groups: str) -> Array:
        """Return the array with one axis for each group of letters."""
        order, lengths = [self.letters.index(letter) for group in groups for letter in group], self.lengths
        shape = [math.prod([lengths[letter] for letter in group]) for group in groups]
        return np.transpose(self.array, order).reshape(shape)

    def summed(self, keep: str) -> Named:
        """Return the sums over all axes whose letters are not to be kept."""
        axes = tuple([axis for axis, letter in enumerate(self.letters) if letter not in keep])
        if not axes:
            return self
        return Named(self.array.sum(axis=axes), "".join(letter for letter in self.letters if letter in keep))


def named(array: Any, subscripts: str) -> Named:
    """Return an array by its subscripts: an axis of length 1 goes, and a letter that stands twice is a diagonal."""
    kept = [letter for letter in subscripts if letter != ONE]
    shape = [n for n, letter in zip(array.shape, subscripts, strict=True) if letter != ONE]
    letters = "".join(dict.fromkeys(kept))
    array = array.reshape(shape)
    if len(letters) < len(kept):
        array = einsum(array, [letters.index(letter) for letter in kept], list(range(len(letters))))
    return Named(array, letters)


def arranged(part: Named, subscripts: str, lengths: Mapping[str, int]) -> Array:
    """Return an array in the order of subscripts, the same along axes that it lacks, and 0 beside diagonals."""
    letters = "".join(dict.fromkeys(subscripts.replace(ONE, "")))
    order = [part.letters.index(letter) for letter in letters if letter in part.letters]
    shape = [lengths[letter] if letter in part.letters else 1 for letter in letters]
    whole = np.transpose(part.array, order).reshape(shape)
    whole = np.broadcast_to(whole, [lengths[letter] for letter in letters])
    shape = [1 if letter == ONE else lengths[letter] for letter in subscripts]
    if len(letters) == len(subscripts.replace(ONE, "")):
        return whole.reshape(shape)
    back = np.zeros([lengths[letter] for letter in subscripts if letter != ONE])
    axes = [letters.index(letter) for letter in subscripts if letter != ONE]
    einsum(back, axes, list(range(len(letters))))[...] = whole
    return back.reshape(shape)


def contract(first: Named, factors: Sequence[Named], keep: str) -> Named:
    """Return the sum of the products of all arrays over the letters that are not to be kept.

    The factors are taken one by one, always the one that leaves the smallest array.
    """
    result, left = first, list(factors)
    while left:
        results = [result_letters(result, factor, keep, [f for f in left if f is not factor]) for factor in left]
        lengths = result.lengths | {letter: n for factor in left for letter, n in factor.lengths.items()}
        best = min(range(len(left)), key=lambda k: math.prod([lengths[letter] for letter in results[k]]))
        result = multiply(result, left.pop(best), results[best])
    return result.summed(keep)


def result_letters(a: Named, b: Named, keep: str, others: Sequence[Named]) -> str:
    """Return the letters of a product that are needed further on."""
    wanted = keep + "".join(other.letters for other in others)
    return "".join(letter for letter in dict.fromkeys(a.letters + b.letters) if letter in wanted)


def multiply(a: Named, b: Named, keep: str) -> Named:
    """Return the sum of the products of two arrays over the letters that are not to be kept."""
    a, b = a.summed(keep + b.letters), b.summed(keep + a.letters)
    both = [letter for letter in a.letters if letter in b.letters]
    shared, inner = ("".join(c for c in both if (c in keep) == kept) for kept in (True, False))
    left, right = ("".join(c for c in x.letters if c not in both) for x in (a, b))
    lengths = a.lengths | b.lengths
    product = dotted(a.blocks(shared, left, inner), b.blocks(shared, inner, right))
    letters = shared + left + right
    return Named(product.reshape([lengths[letter] for letter in letters]), letters)


def dotted(a: Array, b: Array) -> Array:
    """Return ``a @ b``, where a term with a zero is 0 although the other factor is inf or nan."""
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    if finite_a.all() and finite_b.all():
        return np.asarray(np.matmul(a, b))
    result = np.matmul(np.where(finite_a, a, 0.0), np.where(finite_b, b, 0.0))
    sign_a, sign_b = (np.where(np.isnan(x), 0.0, np.sign(x)) for x in (a, b))
    lost = count_lost(a != 0, b != 0, finite_a, finite_b)
    signed = count_lost(np.abs(sign_a), np.abs(sign_b), finite_a, finite_b)
    balance = count_lost(sign_a, sign_b, finite_a, finite_b)
    infinite = np.where((lost == signed) & (np.abs(balance) == lost), np.copysign(np.inf, balance), np.nan)
    return np.where(lost > 0, infinite, result)


def count_lost(a: Array, b: Array, finite_a: Array, finite_b: Array) -> Array:
    """Return how the counts ``a @ b`` change by what is not finite in either."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return np.asarray(np.matmul(a, b) - np.matmul(a * finite_a, b * finite_b))


def along_line(array: Array, axis: int, order: Order, back: bool) -> Array:
    """Return for each entry of a line the sum of those that it is linked with.

    On the way ``back`` from outputs to arguments that is the sum of those no earlier, else of those no later.
    """
    if order is Order.OTHER:
        return np.moveaxis(sums_of_others(np.moveaxis(array, axis, -1)), -1, axis)
    return np.flip(np.cumsum(np.flip(array, axis), axis=axis), axis) if back else np.cumsum(array, axis=axis)


def sums_of_others(x: Array) -> Array:
    """Return for each entry the sum of all others along the last axis: nothing is taken away, so nothing cancels.

    The others of an entry are its neighbour in a pair, and the others of the pair.
    """
    count = x.shape[-1]
    if count < 2:
        return np.zeros_like(x)
    padded = np.concatenate([x, np.zeros((*x.shape[:-1], count % 2))], axis=-1)
    pairs = padded.reshape(*x.shape[:-1], -1, 2)
    result = sums_of_others(pairs.sum(axis=-1))[..., None] + pairs[..., ::-1]
    return np.asarray(result.reshape(padded.shape)[..., :count])


@dataclass(frozen=True, slots=True)
class Vectors:
    """Several vectors, one in each row of ``values``; ``sizes`` and ``reached`` belong to their entries."""

    values: Array
    sizes: Array
    reached: Mask

    def __add__(self, other: Vectors) -> Vectors:
        """Return the sums, vector by vector."""
        return Vectors(self.values + other.values, self.sizes + other.sizes, self.reached | other.reached)

    def through(
        self, numbers: Callable[[Array], Array], sizes: Callable[[Array], Array], places: Callable[[Array], Array]
    ) -> Vectors:
        """Return what three linear maps make of values, sizes and places."""
        return Vectors(numbers(self.values), sizes(self.sizes), places(self.reached.astype(np.float64)) > 0)

    def sparse(self) -> Sparse:
        """Return the vectors as the rows of a matrix of the entries that can be other than 0."""
        rows, columns = np.nonzero(self.reached)
        shape = (len(self.values), self.values.shape[1])
        return Sparse(rows, columns, self.values[rows, columns], self.sizes[rows, columns], shape)


def vectors(values: Array) -> Vectors:
    """Return vectors as they are given: no entry is the result of a sum, and one that is 0 counts as out of reach."""
    return Vectors(values, np.abs(values), values != 0)


def nowhere(count: int, length: int) -> Vectors:
    """Return vectors of zeros that nothing reaches."""
    return Vectors(np.zeros((count, length)), np.zeros((count, length)), np.zeros((count, length), dtype=bool))


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a local Jacobian by its entries."""

    local: PartNumbers
    shape: tuple[int, int]

    def carry(self, vectors: Vectors, back: bool) -> Vectors:
        """Return rows of ∂y/∂out times this part, or, not ``back``, this part times columns of ∂argument/∂x."""
        part = self.local.part
        source, target = (part.rows, part.columns) if back else (part.columns, part.rows)
        sums = summing(target, self.shape[back])

        def weighed(by: Array | float) -> Callable[[Array], Array]:
            return lambda array: np.stack([sums(times(each[source], by)) for each in array])

        return vectors.through(weighed(self.local.values), weighed(self.local.sizes), weighed(1.0))


@dataclass(frozen=True, slots=True)
class Contracted:
    """A part of a local Jacobian by its subscripts: ``factors`` are arrays, ``sizes`` those of their terms.

    ``digits`` is by how much rounding grows in each entry of the output, if that is more.
    """

    links: Contraction
    weight: float
    factors: list[Named]
    sizes: list[Named]
    digits: Named | None

    def carry(self, vectors: Vectors, back: bool) -> Vectors:
        """Return rows of ∂y/∂out times this part, or, not ``back``, this part times columns of ∂argument/∂x."""

        def sizes(array: Array) -> Array:
            result = abs(self.weight) * self._sum(array, self.sizes, back)
            return result if self.digits is None else result + self._sum(array, [self.digits], back)

        return vectors.through(
            lambda array: self.weight * self._sum(array, self.factors, back),
            sizes,
            lambda array: self._sum(array, [], back),
        )

    def _sum(self, array: Array, factors: Sequence[Named], back: bool) -> Array:
        """Return vectors times the factors, summed."""
        count, links = len(array), self.links
        source, target = (links.rows, links.columns) if back else (links.columns, links.rows)
        result = named(array.reshape(count, *links.shape_of(source)), EACH + source)
        line, left = self.links.line, list(factors)
        if line is not None:
            near, far = (line.row, line.column) if back else (line.column, line.row)
            here = [factor for factor in left if far not in factor.letters]
            left = [factor for factor in left if far in factor.letters]
            result = contract(result, here, EACH + near + target + "".join(factor.letters for factor in left))
            turned = along_line(result.array, result.letters.index(near), line.order, back)
            result = Named(turned, result.letters.replace(near, far))
        result = contract(result, left, EACH + target)
        whole = arranged(result, EACH + target, {EACH: count, **self.links.lengths})
        return whole.reshape(count, -1)


EACH = "*"
"""The letter of the axis along which vectors stand side by side."""
Map = Listed | Contracted


@dataclass(frozen=True, slots=True)
class LocalJacobian:
    """∂node/∂argument as a linear map between flat vectors: the sum of its ``parts``."""

    parts: list[Map]
    shape: tuple[int, int]

    def carry(self, vectors: Vectors, back: bool) -> Vectors:
        """Return rows of ∂y/∂node times this, or, not ``back``, this times columns of ∂argument/∂x."""
        start = nowhere(len(vectors.values), self.shape[back])
        return sum([part.carry(vectors, back) for part in self.parts], start)


def local_jacobian(node: Operation, argument: int, most: int) -> LocalJacobian:
    """Return the local Jacobian of a node by one argument, with its numbers.

    Raises ``budget`` where it takes more than ``most`` operations to read it.
    """
    reading, constants = reading_of(node), tuple([constant_of(a) for a in node.arguments])
    shape = (node.value.size, node.arguments[argument].value.size)
    parts: list[Map] = []
    for links in affordable_links(reading, argument, most):
        if isinstance(links, Contraction) and (factors := separated(template_of(links, ()))):
            parts.append(contracted(reading, links, *factors))
        else:
            part = part_of(listed(links), template_of(links, constants))
            parts.append(Listed(worked_out(reading, part), shape))
    return LocalJacobian(parts, shape)


def count_listed(node: Operation, argument: int, most: int) -> int:
    """Return how many entries of a local Jacobian are listed, without their numbers; raises ``budget`` as that does."""
    return sum(
        len(listed(links).rows)
        for links in affordable_links(reading_of(node), argument, most)
        if isinstance(links, Links) or separated(template_of(links, ())) is None
    )


def affordable_links(reading: Reading, argument: int, most: int) -> Sequence[Links | Contraction]:
    """Return the links of an op by one argument; raises ``budget`` for more than ``most`` operations to read them."""
    if reading.op.terms is not None:
        require_few(reading, int(reading.op.terms(*reading.values, **reading.static)), most)
    return links_of(reading, argument)


def contracted(reading: Reading, links: Contraction, weight: float, templates: Sequence[Template]) -> Contracted:
    """Return a contraction with its numbers, whose factor is ``weight`` times a template of one symbol each."""
    factors, sizes = [], []
    for (slot, subscripts), template in zip(links.bound, templates, strict=True):
        array = np.asarray(slot_array(reading, links, slot)).reshape(links.shape_of(subscripts))
        value = np.broadcast_to(template.value([array]), array.shape)
        size = np.abs(value) if template.size is None else np.broadcast_to(template.size([array]), array.shape)
        factors.append(named(value, subscripts))
        sizes.append(named(size, subscripts))
    digits = None
    if reading.op.digits is not None:
        grown = reading.op.digits(reading.out, *reading.values, **reading.static)
        summed = math.prod(n for letter, n in links.lengths.items() if letter not in links.rows + links.columns)
        digits = named(summed * np.broadcast_to(grown, np.shape(reading.out)), links.rows)
    line = links.line
    if line is not None and (line.row not in links.rows or line.column not in links.columns):
        allowed = named(line.allowed(links.lengths[line.row]), line.letters)
        links, factors, sizes = replace(links, line=None), [*factors, allowed], [*sizes, allowed]
    return Contracted(links, float(links.weight) * weight, factors, sizes, digits)


MOST_PASSED = 20_000_000
"""Numbers that go through the graph, all rows together, up to which every row of J is asked for."""


@dataclass(frozen=True, slots=True)
class Applied(Composition):
    """Jacobians by inputs alone, as far as they are held; local ones are read when they are asked for.

    ``links`` has their names alone. A local Jacobian that subscripts say is not listed.
    """

    refusal: GradcliError = field(kw_only=True)

    def parts(self, node: Operation, argument: int) -> list[Part] | None:
        """Return the parts of the local Jacobian of a node by one argument, None where none took part."""
        if (node.index, argument) not in self.links:
            return None
        constants = tuple([constant_of(a) for a in node.arguments])
        return [outline(links, constants) for links in links_of(reading_of(node), argument)]

    def read(self, node: Operation, argument: int) -> list[PartNumbers]:
        """Return the local Jacobian of a node by one argument with its numbers, as far as it is listed."""
        reading = reading_of(node)
        with np.errstate(all="ignore"):
            return [worked_out(reading, part) for part in self.parts(node, argument) or () if len(part.rows)]

    def link(self, node: Operation, argument: Node) -> Sparse:
        """Refuse the entries of a local Jacobian: they are as many as those of J."""
        del node, argument
        raise self.refusal


def outline(links: Links | Contraction, constants: tuple[Any, ...]) -> Part:
    """Return links with their formula, without a list of those that subscripts say."""
    template = template_of(links, constants)
    if isinstance(links, Links):
        return part_of(links, template)
    none = np.zeros(0, dtype=np.intp)
    return Part(none, none, links.weight, template, (), links.auxiliary, links.second)


def derive(output: Any, wrt: Sequence[Node], most: int, graph: Graph) -> Composition:
    """Return the Jacobian of ``output`` by entries, and where these are more than ``most``, by passes.

    Then ``of`` has the Jacobians by ``wrt`` where ``output`` has one entry, or where all their rows are affordable.
    """
    try:
        return compose(output, wrt, most, graph)
    except GradcliError as error:
        if not isinstance(error.facts, OverBudget) or error.facts.name not in ("jacobian", "total"):
            raise
        refusal = error.with_traceback(None)  # which holds all that was composed
    return apply(output, wrt, most, graph, refusal)


def apply(output: Node, wrt: Sequence[Node], most: int, graph: Graph, refusal: GradcliError) -> Applied:
    """Return the Jacobian of ``output`` by passes; ``refusal`` says why it is not composed."""
    nodes, passes = reaches(output), Passes(output, wrt, graph)
    first = min(leaf.index for leaf in wrt)
    links = links_between(output, [node for node in reversed(nodes) if node.index >= first])
    rows, columns = int(output.value.size), max(int(leaf.value.size) for leaf in wrt)
    numbers = sum(int(np.size(value_of(node))) for node in nodes)
    cheap = rows * columns <= most and rows * numbers <= MOST_PASSED and rows * passes.listed(links) <= MOST_PASSED
    entries = passes.all_rows() if rows == 1 or cheap else {}
    return Applied(entries, nodes, 0, {(node.index, k): () for node, k, _ in links}, refusal=refusal)


Read = TypeVar("Read")
BLOCK = 2**20
"""Numbers of one node that go through the graph side by side."""


@dataclass(frozen=True, slots=True)
class Passes:
    """∂output/∂leaves as a linear map. Its vectors are flat; those of the output are rows, those of a leaf columns.

    ``output`` depends on a leaf that is differentiated: other Jacobians have no entries, which are composed.
    """

    output: Node
    leaves: Sequence[Node]
    graph: Graph

    def back(self, rows: Array) -> dict[int, Vectors]:
        """Return each row times J, by the index of each leaf."""
        first = min(leaf.index for leaf in self.leaves)
        nodes = [node for node in reversed(reaches(self.output)) if node.index >= first]
        with np.errstate(all="ignore"):
            result = accumulate(
                {self.output.index: vectors(rows)},
                nodes,
                lambda node, k, rows: self._within(local_jacobian, node, k).carry(rows, back=True),
                lambda a, b, _own: a + b,
            )
        return {
            leaf.index: result.get(leaf.index) or nowhere(len(rows), int(np.size(leaf.value))) for leaf in self.leaves
        }

    def forth(self, leaf: Node, columns: Array) -> Vectors:
        """Return J by one leaf times each column, which are the rows of ``columns``."""
        result = self.tangents({leaf.index: columns})
        if self.output.index in result:
            return result[self.output.index]
        return nowhere(len(columns), int(np.size(self.output.value)))

    def tangents(self, moved: Mapping[int, Array]) -> dict[int, Vectors]:
        """Return what each node gets of leaves that move, by node index; those that nothing reaches are left out.

        ``moved`` has as many rows for each of these leaves, by its index: the directions that go side by side.
        """
        result = {index: vectors(rows) for index, rows in moved.items()}
        with np.errstate(all="ignore"):
            for node in reaches(self.output):
                if isinstance(node, Operation):
                    for k in node.links:
                        self._forth(node, k, result)
        return result

    def all_rows(self) -> dict[int, Sparse]:
        """Return J by each leaf, a block of rows at a time, by the entries that can be other than 0."""
        size = int(np.size(self.output.value))
        widest = max(int(np.size(node.value)) for node in reaches(self.output))
        step = max(BLOCK // widest, 1)
        blocks = [self.back(np.eye(min(step, size - start), size, start)) for start in range(0, size, step)]
        return {leaf.index: stacked([block[leaf.index] for block in blocks]) for leaf in self.leaves}

    def listed(self, links: Iterable[Link]) -> int:
        """Return how many entries of local Jacobians each row goes through one by one."""
        return sum(self._within(count_listed, node, k) for node, k, _ in links)

    def _forth(self, node: Operation, k: int, tangents: dict[int, Vectors]) -> None:
        """Add what a node gets of one of its arguments to what it has."""
        columns = tangents.get(node.arguments[k].index)
        if columns is not None:
            moved = self._within(local_jacobian, node, k).carry(columns, back=False)
            tangents[node.index] = tangents[node.index] + moved if node.index in tangents else moved

    def _within(self, read: Callable[[Operation, int, int], Read], node: Operation, k: int) -> Read:
        """Return what is read of a local Jacobian, while there is time."""
        self.graph.meter.watch()
        return read(node, k, self.graph.budget.elements)


def stacked(blocks: Sequence[Vectors]) -> Sparse:
    """Return blocks of vectors as the rows of one matrix."""
    parts = [np.concatenate(arrays) for arrays in zip(*[(b.values, b.sizes, b.reached) for b in blocks], strict=True)]
    return Vectors(*parts).sparse()
