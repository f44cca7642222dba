"""Entries picked by their order along an axis: topk, kthvalue, mode, running extremes, and positions."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis, require_entries
from gradcli.ops.declare import Apply, Op, Pair, declare, no_links
from gradcli.ops.exactly import decided
from gradcli.ops.links import Links
from gradcli.ops.parts import Kink, Picked, Piecewise
from gradcli.ops.picking import pick_indices
from gradcli.ops.putting_back import axis_text
from gradcli.ops.reductions import all_entries
from gradcli.ops.selection import PICK
from gradcli.ops.shaping import RESHAPE, whole
from gradcli.ops.signatures import Array, Indices, Mask, Options, Static, Tensor
from gradcli.ops.tied import kth_place, sorted_places, top_places
from gradcli.ops.vocabulary import function


def top_of(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return the places of the first k of a line, from the largest or smallest on."""
    return top_places(line, k, largest)


def kth_of(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return the place of the k-th smallest of a line."""
    del largest
    return [kth_place(line, k - 1)]


def mode_of(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return the place of the entry that a line has most often, of several the smallest; its last one when sorted."""
    del k, largest
    runs = [list(run) for _, run in groupby(sorted_places(line), key=line.__getitem__)]
    return [max(runs, key=len)[-1]]


def middle_of(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return the place of the lower median of what is no nan; that of the first nan where all are."""
    del k, largest
    kept = sorted((i for i, x in enumerate(line) if x == x), key=line.__getitem__)  # noqa: PLR0124
    return [kept[(len(kept) - 1) // 2] if kept else 0]


def running(line: list[Any], k: int, largest: bool) -> list[int]:
    """Return for each place that of the extreme so far: the last of equal ones, and the last nan from the first on."""
    del k
    places = [0] * len(line)
    for i, x in enumerate(line):
        best = line[places[i - 1]] if i else x
        further = x >= best if largest else x <= best
        places[i] = i if further or x != x else places[i - 1]  # noqa: PLR0124 - nan alone differs from itself
    return places


RULES = {
    "topk": top_of,
    "kthvalue": kth_of,
    "mode": mode_of,
    "nanmedian": middle_of,
    "cummax": running,
    "cummin": running,
}
"""The places that each function picks of one line."""
SINGLE = ("kthvalue", "mode", "nanmedian")


def places(x: Array, kind: str, dim: int, keepdim: bool = True, k: int = 1, largest: bool = True) -> Indices:
    """Return along ``dim`` the positions that are picked, ``dim`` kept."""
    del keepdim
    lines = np.moveaxis(np.asarray(x), dim, -1)
    *outer, length = np.shape(lines)
    found = [RULES[kind](lines[line].tolist(), k, largest and kind != "cummin") for line in np.ndindex(*outer)]
    width = k if kind == "topk" else 1 if kind in SINGLE else length
    return np.moveaxis(np.array(found, dtype=np.intp).reshape(*outer, width), -1, dim)


def picked_on(piece: Indices, x: Array, kind: str, dim: int, keepdim: bool = True, **_how: Any) -> Array:
    """Return the entries at positions along ``dim``."""
    del kind
    found = np.take_along_axis(x, piece, axis=dim)
    return found if keepdim else np.squeeze(found, axis=dim)


def order(x: Array, **how: Any) -> Array:
    """Return the picked entries."""
    return picked_on(places(x, **how), x, **how)


def order_vjp(g: Array, _y: Array, x: Array, *, dim: int, keepdim: bool = True, **how: Any) -> Array:
    """Return g added where each entry was picked: a running extreme picks one again and again."""
    where = places(x, dim=dim, **how)
    index: list[Indices] = list(np.indices(where.shape, sparse=True))
    index[dim] = where
    back = np.zeros_like(x)
    np.add.at(back, tuple(index), g if keepdim else np.expand_dims(g, dim))
    return back


def order_local(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link each output to the one entry that it is."""
    del argument
    index = all_entries(values[0]).reshape(np.shape(values[0]))
    columns = np.take_along_axis(index, places(values[0], **static), axis=static["dim"])
    return [Links(all_entries(out), np.ravel(columns))]


def has_twin(x: Array, kind: str, dim: int, keepdim: bool = True, **how: Any) -> Mask:
    """Return for each picked entry whether another one that it was picked from is equal to it."""
    found = picked_on(places(x, kind, dim, **how), x, kind, dim)
    same = np.expand_dims(found, dim) == np.expand_dims(x, dim + 1)
    if kind in ("cummax", "cummin"):
        length = np.shape(x)[dim]
        earlier = np.tri(length, dtype=bool).T
        same = same & earlier.reshape([length if axis in (dim, dim + 1) else 1 for axis in range(np.ndim(same))])
    twins = np.count_nonzero(same, axis=dim) > 1
    return twins if keepdim else np.squeeze(twins, axis=dim)


def order_text(x: str, kind: str, dim: int, keepdim: bool = True, k: int = 1, largest: bool = True) -> str:
    """Write the call whose values and indices are picked."""
    asked = f", {k}" if kind in ("topk", "kthvalue") else ""
    kept = ", keepdim=True" if keepdim and kind in SINGLE else ""
    return f"{kind}({x}{asked}, dim={dim}{kept}{'' if largest else ', largest=False'})"


def order_text_back(_k: int, _out: Array, x: Array, *, dim: int, keepdim: bool = True, **how: Any) -> str:
    """Return the text of g added up where each entry was picked."""
    del keepdim
    shape = np.shape(x)
    picked = f"{order_text('{0}', dim=dim, **how)}.indices"
    if how["kind"] in SINGLE:
        return f"where({picked} == {axis_text(shape[dim], dim, len(shape))}, {{G}}, 0)"
    where = f"unsqueeze({picked}, {dim + 1})"
    along = axis_text(shape[dim], dim + 1, len(shape) + 1)
    return f"sum(where({where} == {along}, unsqueeze({{G}}, {dim + 1}), 0), dim={dim})"


ORDER = declare(
    Op(
        "order",
        order,
        (order_vjp,),
        order_local,
        pieces=Piecewise(places, picked_on),
        kink=Kink(has_twin, "the entry at the index that is given gets all"),
        index=Picked(
            lambda x, **how: f"{order_text(x, **how)}.indices",
            kept=lambda keepdim=True, **how: keepdim,
            whole=lambda kind, **how: kind not in SINGLE,
        ),
        size=lambda x, kind, dim, keepdim=True, k=1, largest=True: np.size(x),
        moves=True,
        torch_saves=("own",),
        backward_text=order_text_back,
        write=lambda call: f"{order_text(call.texts[0], **call.static)}.values",
    )
)


def ordered(f: Apply, x: Tensor, kind: str, dim: Static, keepdim: bool = True, **how: Any) -> Pair:
    """Return what is picked along an axis together with its indices, as PyTorch's named pair."""
    if not x.ndim:
        one_axis(dim, 0)
        return Pair(x, np.zeros((), dtype=np.intp))
    axis = one_axis(dim, x.ndim)
    if kind not in ("topk", "cummax", "cummin"):
        require_entries(x, (axis,), kind)
    values = f(ORDER, x, kind=kind, dim=axis, keepdim=keepdim, **how)
    where = f.piece(ORDER, x, kind=kind, dim=axis, **how)
    return Pair(values, where if keepdim else np.squeeze(where, axis=axis))


def rank(k: Static, x: Tensor, dim: Static, name: str, least: int) -> int:
    """Return how many entries are asked for, or which; raises ``value`` beyond the length of the axis."""
    count, length = whole(k, "k"), x.shape[one_axis(dim, x.ndim)] if x.ndim else 1
    if not least <= count <= length:
        raise GradcliError("value", f"{name}: k={count} is not between {least} and the length of the axis, {length}")
    return count


@function("topk", "torch method", "reductions", op=ORDER, kinds="no same yes")
def build_topk(
    f: Apply,
    x: Tensor,
    k: Static,
    dim: Static = -1,
    largest: Static = True,
    sorted: Static = True,  # noqa: ARG001 - they come in order
) -> Pair:
    """the k largest entries along dim in order, or the smallest for largest=False, and where they stand"""
    return ordered(f, x, "topk", dim, k=rank(k, x, dim, "topk", 0), largest=bool(largest))


@function("kthvalue", "torch method", "reductions", op=ORDER, kinds="no same yes")
def build_kthvalue(f: Apply, x: Tensor, k: Static, dim: Static = -1, keepdim: Static = False) -> Pair:
    """the k-th smallest entry along dim, and where it stands"""
    return ordered(f, x, "kthvalue", dim, bool(keepdim), k=rank(k, x, dim, "kthvalue", 1))


@function("mode", "torch method", "reductions", op=ORDER, kinds="no same yes")
def build_mode(f: Apply, x: Tensor, dim: Static = -1, keepdim: Static = False) -> Pair:
    """the entry that occurs most often along dim, of several the smallest, and where it stands last"""
    return ordered(f, x, "mode", dim, bool(keepdim))


def extreme_so_far(name: str, word: str) -> None:
    """Enter a running extreme."""

    def build(f: Apply, x: Tensor, dim: Static) -> Pair:
        return ordered(f, x, name, dim)

    build.__doc__ = f"the {word} entry so far along dim, and where it stands"
    function(name, "torch method", "reductions", op=ORDER, kinds="no same yes")(build)


extreme_so_far("cummax", "largest")
extreme_so_far("cummin", "smallest")


@function("msort", "torch method", "reductions", op=PICK, kinds="same same yes")
def build_msort(f: Apply, x: Tensor) -> Tensor:
    """the entries in order along the first axis"""
    return f(PICK, x, kind="sort", dim=0, descending=False) if x.ndim else x


# --- positions ---


def positions(x: Array, dim: int, descending: bool, stable: bool) -> Indices:
    """Return the positions of the entries in order."""
    return pick_indices(x, "sort", dim, descending, stable)


ARGSORT = declare(
    Op(
        "argsort", positions, (None,), no_links, pieces=decided(positions),
        defaults={"descending": False, "stable": False},
    )
)  # fmt: skip


@function("argsort", "torch method", "reductions", op=ARGSORT, kinds="numpy-integer integer yes")
def build_argsort(f: Apply, x: Tensor, dim: Static = -1, descending: Static = False, stable: Static = False) -> Tensor:
    """the positions of the entries in order along dim; they have no derivative"""
    if not x.ndim:
        return np.zeros((), dtype=np.intp)
    return f(ARGSORT, x, dim=one_axis(dim, x.ndim), descending=bool(descending), stable=bool(stable))


@function("np.argsort numpy.argsort jnp.argsort", "", "reductions", kinds="integer integer yes")
def build_numpy_argsort(
    f: Apply,
    x: Tensor,
    dim: Static = -1,
    kind: Static = None,  # noqa: ARG001 - another way to the same order
) -> Tensor:
    """the positions of the entries in order, of the flattened array where axis is None"""
    return build_argsort(f, f(RESHAPE, x, shape=(-1,)) if dim is None else x, 0 if dim is None else dim)
