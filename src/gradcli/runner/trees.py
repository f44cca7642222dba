"""Nests of lists, tuples, dictionaries and registered objects: what transformations take and give as one value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradcli.records import dataclass
from gradcli.runner.objects import Instance
from gradcli.runner.operators import truth
from gradcli.runner.state import Run
from gradcli.runner.tuples import Named
from gradcli.runner.values import Tensor


@dataclass(slots=True, eq=False)
class Spec:
    """How leaves are put together: ``kind`` is ``leaf``, ``none``, ``list``, ``tuple``, ``dict`` or ``object``.

    ``made_of`` are the keys of a dictionary, a tuple with names as it came, or an object's class with what is no leaf.
    """

    kind: str
    parts: list[Spec]
    made_of: Any = None

    attributes = {  # noqa: RUF012
        "num_leaves": lambda run, me: me.count,
        "unflatten": lambda run, me: lambda run, leaves: unflatten(run, me, leaves),
    }

    @property
    def count(self) -> int:
        """How many leaves there are."""
        return 1 if self.kind == "leaf" else sum(part.count for part in self.parts)

    @property
    def text(self) -> str:
        """What JAX shows."""
        return f"PyTreeDef({self.inner()})"

    def inner(self) -> str:
        """Return the structure as JAX writes it."""
        parts = [part.inner() for part in self.parts]
        if self.kind in ("leaf", "none"):
            return "*" if self.kind == "leaf" else "None"
        if self.kind == "list":
            return f"[{', '.join(parts)}]"
        if self.kind == "tuple":
            return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
        if self.kind == "dict":
            return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(self.made_of, parts, strict=True)) + "}"
        return f"CustomNode({self.made_of[0].name}[{self.made_of[1]!r}], [{', '.join(parts)}])"

    def same(self, other: Spec) -> bool:
        """Return whether another nest is built in the same way."""
        own, its = self.made_of, other.made_of
        names = own == its if self.kind == "dict" else True
        return (
            self.kind == other.kind
            and names
            and len(self.parts) == len(other.parts)
            and all(a.same(b) for a, b in zip(self.parts, other.parts, strict=True))
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.same(other)

    def __hash__(self) -> int:
        return hash(self.kind)


LEAF = Spec("leaf", [])


def children(run: Run, tree: Any, ordered: bool) -> tuple[str, list[Any], Any] | None:
    """Return the kind of a nest, what it consists of, and what else it is made of; None for a leaf.

    ``ordered`` sorts the keys of dictionaries, as JAX does.
    """
    if tree is None:
        return "none", [], None
    if isinstance(tree, list):
        return "list", list(tree), None
    if isinstance(tree, tuple):
        return "tuple", list(tree), tree if isinstance(tree, Named) else None
    if isinstance(tree, dict):
        keys = list(tree)
        if ordered:
            try:
                keys.sort()
            except TypeError:
                run.fail("ValueError", "Comparator raised exception while sorting pytree dictionary keys.")
        return "dict", [tree[key] for key in keys], keys
    if isinstance(tree, Instance) and tree.kind in run.tree_nodes:
        inner, rest = run.call(run.tree_nodes[tree.kind][0], [tree])
        return "object", list(inner), (tree.kind, rest)
    return None


def flatten(
    run: Run, tree: Any, ordered: bool = True, none_is_leaf: bool = False, is_leaf: Any = None
) -> tuple[list[Any], Spec]:
    """Return the leaves of a nest in order, and how they are put together; a function may say what is a leaf."""
    whole = (tree is None and none_is_leaf) or (is_leaf is not None and truth(run, run.call(is_leaf, [tree])))
    found = None if whole else children(run, tree, ordered)
    if found is None:
        return [tree], LEAF
    run.meter.turn(1, "the parts of a tree do not end")
    kind, items, made_of = found
    leaves: list[Any] = []
    parts: list[Spec] = []
    for item in items:
        inner, part = flatten(run, item, ordered, none_is_leaf, is_leaf)
        leaves += inner
        parts.append(part)
    return leaves, Spec(kind, parts, made_of)


def unflatten(run: Run, spec: Spec, leaves: Sequence[Any] | Iterator[Any]) -> Any:
    """Return leaves put together."""
    rest = iter(leaves)
    if spec.kind == "leaf":
        return next(rest)
    if spec.kind == "none":
        return None
    parts = [unflatten(run, part, rest) for part in spec.parts]
    if spec.kind == "list":
        return parts
    if spec.kind == "tuple":
        made = spec.made_of
        return Named(made.name, dict(zip(made.fields, parts, strict=True))) if made is not None else tuple(parts)
    if spec.kind == "dict":
        return dict(zip(spec.made_of, parts, strict=True))
    kind, aux = spec.made_of
    return run.call(run.tree_nodes[kind][1], [aux, tuple(parts)])


def ravelled(run: Run, spec: Spec, arrays: list[Tensor], library: str) -> tuple[Any, Any]:
    """Return arrays as one row, and the function that gives a nest of them from a row."""
    from gradcli.runner.containers import entry  # a level of modules above

    row = run.function(f"{library}.concatenate", [run.function(f"{library}.reshape", x, (-1,)) for x in arrays])

    def unravel(run: Run, flat: Tensor) -> Any:
        start, parts = 0, []
        for x in arrays:
            end = start + math.prod(x.shape)
            parts.append(run.function(f"{library}.reshape", entry(run, flat, slice(start, end)), x.shape))
            start = end
        return unflatten(run, spec, parts)

    return row, unravel


def mapped(run: Run, function: Callable[[Any], Any], tree: Any, ordered: bool = True) -> Any:
    """Return a nest whose leaves a function of the host has changed."""
    leaves, spec = flatten(run, tree, ordered)
    return unflatten(run, spec, [function(leaf) for leaf in leaves])


def spread(run: Run, prefix: Any, spec: Spec) -> list[Any] | None:
    """Return for each leaf what a nest that is cut off above it says there; None where they do not fit."""
    if spec.kind == "leaf":
        return [prefix]
    found = None if prefix is None or isinstance(prefix, int) else children(run, prefix, True)
    if found is None:
        return [prefix] * spec.count
    if len(found[1]) != len(spec.parts):
        return None
    spread_out: list[Any] = []
    for item, part in zip(found[1], spec.parts, strict=True):
        inner = spread(run, item, part)
        if inner is None:
            return None
        spread_out += inner
    return spread_out
