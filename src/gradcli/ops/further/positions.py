"""Positions: integers that say which entries are meant, and functions that give them. They have no derivative."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import without_slope
from gradcli.ops.declare import Apply, Piecewise, Text, value_of
from gradcli.ops.exactly import decided, true
from gradcli.ops.further.casting import as_array, cut_exactly, kind_of
from gradcli.ops.links import Array, Indices, Integers, Mask, Raw, Static, Tensor
from gradcli.ops.making import lengths
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.values import require, whole
from gradcli.ops.vocabulary import function

indexed = partial(function, family="indices")


def whole_places(x: Array) -> Integers:
    """Return numbers of an input that are whole as positions; raises ``type`` for others."""
    require(np.all(x == np.trunc(x)), "type", "positions are integers", hint="idx.long() cuts fractions off")
    return np.asarray(x).astype(np.int64)[()]


PLACES = without_slope(
    "places",
    whole_places,
    pieces=Piecewise(cut_exactly, lambda piece, x: piece, held=True),
    text=Text(write=lambda call: f"{call.tight[0]}.long()"),
)
"""An input as positions: given as doubles, as all inputs are, it does not move."""
KINDS = {"mask": "truth values", "float": "floats", "integer": "integers"}


def positions(f: Apply, index: Raw, name: str = "index") -> Indices:
    """Return positions as an array of integers; raises ``type`` for truth values and for numbers that are computed."""
    places = as_array(index)
    kind = kind_of(places)
    fits, what = kind == "integer" or (kind == "float" and f.is_input(places)), KINDS[kind]
    require(fits, "type", f"{name} holds positions, which are integers, not {what}", hint="idx.long()")
    return np.asarray(value_of(f(PLACES, places) if kind == "float" else places), dtype=np.intp)


def within(places: Indices, length: int, name: str, lowest: int = 0) -> Indices:
    """Return positions along an axis; raises ``index`` for one outside of it."""
    wrong = (places < lowest) | (places >= length)
    if np.any(wrong):
        place = int(places[wrong].flat[0])
        raise GradcliError("index", f"{name}: position {place} is out of range for an axis of length {length}")
    return places


def truths(condition: Raw, name: str) -> Mask:
    """Return truth values as an array; raises ``type`` for numbers."""
    mask = as_array(condition)
    hint = "write (...) != 0, or mask.bool()"
    require(kind_of(mask) == "mask", "type", f"{name} takes truth values, not numbers", hint)
    return np.asarray(value_of(mask))


# --- where a condition holds ---

NONZERO = without_slope("nonzero", np.argwhere, pieces=decided(lambda x: np.argwhere(true(x))))


@indexed("nonzero", "torch method", op=NONZERO)
def build_nonzero(f: Apply, x: Raw, as_tuple: Static = False) -> Any:
    """the places of the entries that are not 0: a row for each, or an array for each axis"""
    array = as_array(x)
    places = f(NONZERO, array)
    if not as_tuple:
        return places
    rows = np.asarray(value_of(places))  # a number has one axis
    return tuple(rows[:, axis] for axis in range(array.ndim)) or (np.zeros(len(rows), dtype=np.intp),)


@indexed("np.nonzero numpy.nonzero jnp.nonzero", "")
def build_numpy_nonzero(f: Apply, x: Raw) -> Any:
    """the places of the entries that are not 0, an array for each axis"""
    return build_nonzero(f, x, as_tuple=True)


@indexed("argwhere", "torch numpy")
def build_argwhere(f: Apply, x: Raw) -> Tensor:
    """the places of the entries that are not 0, as rows"""
    return build_nonzero(f, x)


def places_where(f: Apply, condition: Tensor, alone: bool) -> Any:
    """Return the places where a condition holds, for each axis; raises ``arguments`` where it is not given alone."""
    require(alone, "arguments", "where takes a condition alone, or two values with it")
    return build_nonzero(f, condition, as_tuple=True)


# --- where values would be inserted in order ---


def below(edges: Array, values: Array, right: bool) -> Integers:
    """Return how many edges each value is above, those equal to it too where ``right``; nan is above all."""
    beyond = edges[..., None, :] > values[..., :, None] if right else edges[..., None, :] >= values[..., :, None]
    return np.sum(~np.asarray(beyond, dtype=bool), axis=-1)


def comparisons(edges: Array, values: Array, right: bool) -> int:
    """Return with how many edges all values are compared."""
    del right
    return int(np.size(edges)) * int(np.size(values)) // max(int(np.prod(np.shape(edges)[:-1])), 1)


SEARCHSORTED = without_slope("searchsorted", below, 2, size=comparisons)


def searched(f: Apply, edges: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return how many edges are below each value, which may be one number."""
    steps = np.diff(np.asarray(value_of(edges)), axis=-1)
    # In many digits the order is that of x: beside it, edges that are equal at x may change places.
    rising = steps.dtype == object or not np.any(steps < 0)
    require(rising, "value", "the edges are not in rising order", hint="edges.sort().values")
    row = values if values.ndim else f(RESHAPE, values, shape=(1,))
    counts = f(SEARCHSORTED, edges, row, right=right)
    return counts if values.ndim else f(RESHAPE, counts, shape=())


def bucketed(f: Apply, edges: Raw, values: Raw, right: bool, name: str) -> Tensor:
    """Return which of the stretches between sorted edges each value lies in."""
    row = as_array(edges)
    require(row.ndim == 1, "shape", f"the {name} are a vector, not of shape {row.shape}")
    return searched(f, row, as_array(values), right)


@indexed("searchsorted", "torch", op=SEARCHSORTED)
def build_searchsorted(
    f: Apply, sorted_sequence: Raw, values: Raw, right: Static = False, side: Static = None, out_int32: Static = False
) -> Tensor:
    """where values would be inserted in order: before entries that are equal, or behind them where right"""
    del out_int32
    fits = side in (None, "left", "right") and not (side == "left" and right)
    require(fits, "value", f"side is 'left' or 'right', not {side!r}")
    edges, wanted = as_array(sorted_sequence), as_array(values)
    fits = edges.ndim and edges.shape[:-1] in ((), wanted.shape[:-1])
    require(fits, "shape", f"searchsorted: shapes {edges.shape} and {wanted.shape} differ before the last axis")
    return searched(f, edges, wanted, bool(right) or side == "right")


@indexed("np.searchsorted numpy.searchsorted jnp.searchsorted", "")
def build_numpy_searchsorted(f: Apply, a: Raw, v: Raw, side: Static = "left") -> Tensor:
    """where values would be inserted in order: before entries that are equal, or behind them where side is right"""
    return build_searchsorted(f, a, v, side=side)


@indexed("bucketize", "torch")
def build_bucketize(f: Apply, input: Raw, boundaries: Raw, right: Static = False, out_int32: Static = False) -> Tensor:
    """which of the stretches between sorted edges each value lies in"""
    del out_int32
    return bucketed(f, boundaries, input, bool(right), "boundaries")


@indexed("np.digitize numpy.digitize jnp.digitize", "")
def build_digitize(f: Apply, x: Raw, bins: Raw, right: Static = False) -> Tensor:
    """which of the stretches between rising edges each value lies in"""
    return bucketed(f, bins, x, not right, "edges")


# --- places in a matrix ---


def enter_triangle(name: str, side: str, ones_of: Any) -> None:
    """Enter the places in a triangle of a matrix, as PyTorch and as NumPy give them."""
    words = f"the places in the {side} triangle of a matrix: rows"

    def places(f: Apply, shape: tuple[Static, ...], offset: int) -> Indices:
        rows, columns = lengths(shape)
        f.charge(rows * columns)
        return np.array(np.nonzero(ones_of(np.ones((rows, columns), dtype=bool), offset)))

    @function(name, "torch dtype", "making", doc=f"{words}, and columns below them")
    def build(f: Apply, row: Static, col: Static, offset: Static = 0) -> Tensor:
        return places(f, (row, col), whole(offset, "offset"))

    @function(f"np.{name} numpy.{name} jnp.{name}", "", "making", doc=f"{words} and columns, as a tuple")
    def build_numpy(f: Apply, n: Static, k: Static = 0, m: Static = None) -> Any:
        return tuple(places(f, (n, n if m is None else m), whole(k, "k")))


enter_triangle("tril_indices", "lower", np.tril)
enter_triangle("triu_indices", "upper", np.triu)


@indexed("one_hot", "functional")
def build_one_hot(f: Apply, tensor: Raw, num_classes: Static = -1) -> Integers:
    """rows that are 1 at the class and 0 elsewhere; as many as the largest class needs unless said otherwise"""
    classes, count = positions(f, tensor, "one_hot"), whole(num_classes, "num_classes")
    require(classes.size or count > 0, "value", "one_hot of no classes needs num_classes")
    many = int(np.max(classes, initial=-1)) + 1 if count == -1 else count
    fits = not np.any((classes < 0) | (classes >= many))
    require(fits, "value", f"one_hot: classes are integers from 0 to {many - 1}")
    f.charge(classes.size * many)
    return np.eye(many, dtype=np.int64)[classes]
