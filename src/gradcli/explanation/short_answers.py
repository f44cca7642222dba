"""One line for each question that beginners ask of a gradient: why a sum, which shape, where it goes, why none."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reverse import cotangents
from gradcli.errors.counting import listed, short_array
from gradcli.explanation.dependence import chooses_by_value
from gradcli.explanation.effect import Broadcast
from gradcli.explanation.explained import Note
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.rereading import NAME
from gradcli.language.writes import saved_places
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.explanation.readings import Point
    from gradcli.explanation.timeline import Timeline

MOST = 2
"""Lines of this kind that one answer has."""
MOST_NAMED = 3
"""Variables that a line names."""
MOST_ENTRIES = 6
"""Numbers of an array that a line spells out."""
MOST_NODES = 500
"""Operations that are looked at."""
MOST_READ = 200
"""Entries of J whose formulas are searched for a variable."""
BENDS = {"kink", "jump", "infinite-slope", "edge", "custom-backward", "hook"}
"""Kinds of notes on points and functions whose formulas do not hold around them."""


def note_questions(
    point: Point, nodes: Sequence[Node], jacobians: Mapping[str, Jacobian], definitions: Collection[str],
    notes: Sequence[Note],
) -> list[Note]:  # fmt: skip
    """Return the lines that a beginner most likely needs, two at the most; ``notes`` are those that come before them.

    ``nodes`` are those that y depends on, ``definitions`` the names that formulas use beyond the variables.
    """
    said = [
        *note_inner(point),
        *note_call(point.timeline),
        *note_broadcasts(find_broadcasts(nodes, point.leaves)),
        *note_shape(point),
        *note_linear(point, nodes, jacobians, definitions, notes),
    ]
    return said[:MOST]


def find_broadcasts(nodes: Sequence[Node], leaves: Mapping[str, Node]) -> list[Broadcast]:
    """Return the differentiated inputs that an elementwise operation repeats, with all uses of each counted.

    An input counts under what it became entry by entry, as ``-b``. One that is used in any other way is left out, as
    nobody can say how many terms that adds, and so is a long run.
    """
    behind = {leaf.index: (name, leaf) for name, leaf in leaves.items()}
    uses: dict[str, list[Operation]] = {}
    uncounted: set[str] = set()
    operations = [node for node in nodes if isinstance(node, Operation)] if len(nodes) <= MOST_NODES else []
    for node in operations:
        for k in node.links:
            one = behind.get(node.arguments[k].index)
            if one is None:
                continue
            name, leaf = one
            is_entrywise = node.op.formula is not None
            if (is_entrywise or node.op.moves) and len(node.links) == 1 and leaf.value.size == node.value.size:
                behind[node.index] = one
            elif is_entrywise and 0 < leaf.value.size <= node.value.size:
                uses.setdefault(name, []).append(node)
            else:
                uncounted.add(name)
    return [
        Broadcast(name, leaf.shape, wider[0].shape, sum(node.value.size // leaf.value.size for node in uses[name]))
        for name, leaf in leaves.items()
        if name in uses
        and name not in uncounted
        and (wider := [node for node in uses[name] if node.value.size > leaf.value.size])
    ]


def note_broadcasts(found: Sequence[Broadcast]) -> list[Note]:
    """Say how often the entries of repeated inputs are used, and so how many terms their gradients are sums of."""
    if not found:
        return []
    first = found[0]
    same = [one.name for one in found if one.times == first.times]
    once = first.times * math.prod(first.shape) == math.prod(first.to)
    shape = f" to {first.to}" if len(same) == 1 and once else ""
    subject = f"{listed(same[:MOST_NAMED], len(same))} {'is' if len(same) == 1 else 'are'} broadcast{shape}"
    whole = len(same) == 1 and first.shape == ()
    used = f"used {first.times:,} times" if whole else f"each entry is used {first.times:,} times"
    grad = f"{same[0]}.grad adds" if len(same) == 1 else "its gradient adds"
    return [Note("broadcast", f"{subject}: {used}, so {grad} {first.times:,} terms.")]


def note_shape(point: Point) -> list[Note]:
    """Say that the gradient of a single output is a column, or a row, where its input is one."""
    if point.value.size != 1:
        return []
    for name, leaf in point.leaves.items():
        if len(leaf.shape) == 2 and 1 in leaf.shape and leaf.value.size > 1:
            kind = "column" if leaf.shape[1] == 1 else "row"
            return [Note("grad-shape", f"{name}.grad has the shape of {name}, {leaf.shape}: it is a {kind} too.")]
    return []


def note_call(timeline: Timeline | None) -> list[Note]:
    """Say what ``torch.autograd.grad`` returns, and what ``.grad`` is after it."""
    if timeline is None or timeline.explained is None:
        return []
    event = timeline.events[timeline.explained]
    if event.kind != "grad" or not AUTOGRAD.search(timeline.title) or not any(event.of):
        return []
    names = [name for name in event.of if name][:MOST_NAMED]
    grads = listed([f"{name}.grad" for name in names], sum(map(bool, event.of)))
    added = {name for before in timeline.events[: timeline.explained] for name in before.grad}
    verb = "stays" if len(names) == 1 else "stay"
    after = f"{verb} None" if added.isdisjoint(names) else f"{verb} as before"
    return [
        Note(
            "grad-returns",
            f"torch.autograd.grad returns a tuple with what is {grads} here; in PyTorch {grads} {after}.",
        )
    ]


AUTOGRAD = re.compile(r"autograd\.grad\(|(?<![.\w])grad\(")
"""A call of ``torch.autograd.grad``, under its whole name or imported."""


def note_inner(point: Point) -> list[Note]:
    """Say why a script finds None in ``h.grad`` of a value that it computes, and what would stand there."""
    program = point.function.program
    asked = program.ended.run.noting.inner if program.is_script and program.ended is not None else ()
    found = []
    for name in asked:
        node = dict(point.run.graph.bindings).get(program.identifier(name))
        if not isinstance(node, Operation):
            continue
        here = cotangent_at(point, node)
        if here is not None:
            kept = f"after {name}.retain_grad() it is {numbers_text(here)}"
            found.append(Note("inner-grad", f"{name}.grad is None, as {name} is computed and no leaf: {kept}."))
    return found[:1]


def cotangent_at(point: Point, node: Operation) -> Array | None:
    """Return the cotangent of a value on the way for the v of an answer; None where none reaches it."""
    run, kept = point.run, dict[int, Any]()
    if isinstance(run.output, Node) and run.output.active:
        cotangents(run.graph, run.output, point.seed, kept)
    return None if node.index not in kept else np.asarray(kept[node.index], dtype=np.float64)


def numbers_text(array: Array) -> str:
    """Return a small array as a list, and of a large one its shape."""
    return short_array(array) if array.size <= MOST_ENTRIES else f"an array of shape {array.shape}"


def note_linear(
    point: Point, nodes: Sequence[Node], jacobians: Mapping[str, Jacobian], definitions: Collection[str],
    notes: Sequence[Note],
) -> list[Note]:  # fmt: skip
    """Say what PyTorch does where a function without a second derivative is differentiated twice."""
    bends = len(nodes) > MOST_NODES or any(note.kind in BENDS for note in notes)
    if point.value.size != 1 or bends or not is_linear(jacobians, definitions) or keeps_variables(nodes):
        return []
    names = [name for name, j in jacobians.items() if np.any(j.values)]
    by = listed([*names[:MOST_NAMED]], len(names))
    here = " around this point" if chooses_by_value(point.run.graph) else ""
    raises = f"differentiating {names[0]}.grad raises in PyTorch"
    return [Note("linear", f"{point.name} is linear in {by}{here}: second derivatives are 0, and {raises}.")]


def is_linear(jacobians: Mapping[str, Jacobian], definitions: Collection[str]) -> bool:
    """Return whether no entry of J, which is not 0 everywhere, has a variable in its formula."""
    moves, entries = {*jacobians, *definitions}, [j.values for j in jacobians.values()]
    if sum(map(len, entries)) > MOST_READ or not any(map(np.any, entries)):
        return False
    return all(
        j.formulas is not None and all(moves.isdisjoint(NAME.findall(formula)) for formula in j.formulas)
        for j in jacobians.values()
    )


def keeps_variables(nodes: Sequence[Node]) -> bool:
    """Return whether PyTorch keeps a value that depends on a variable, so that the gradient has a graph of its own."""
    return any(
        k < 0 or (isinstance(node.arguments[k], Node) and node.arguments[k].active)
        for node in nodes
        if isinstance(node, Operation) and node.active
        for k in saved_places(node)
    )
