"""What to call the values of a run and their entries: the program's own names, numbered where one has several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import chain, count

from gradcli.engine.graph import Graph, Operation
from gradcli.errors.hints import index_of
from gradcli.ops import RESERVED
from gradcli.ops.declare import op_name


def call_assigned(graph: Graph) -> list[str]:
    """Return what to call the value of each assignment of a run, in order.

    ``y1, y2 …`` are the values of a name that is assigned again, or is an input's; numbers skip names that are taken.
    """
    if len(graph.called) == len(graph.bindings):
        return graph.called
    names = [name for name, _ in graph.bindings]
    taken = {*graph.inputs, *names, *graph.variables, *RESERVED}
    times, turn = Counter(names), dict.fromkeys(names, 0)
    graph.called = []
    for name in names:
        called = name
        if times[name] > 1 or name in graph.inputs:
            turn[name] += 1
            while (called := f"{name}{turn[name]}") in taken:
                turn[name] += 1
        graph.called.append(called)
    return graph.called


def numbered(graph: Graph) -> list[tuple[str, Operation]]:
    """Return what the program computed from its inputs under a name, in order, as ``call_assigned`` calls it."""
    called = zip(call_assigned(graph), graph.bindings, strict=True)
    return [(name, node) for name, (_, node) in called if isinstance(node, Operation)]


def taken_names(graph: Graph) -> set[str]:
    """Return the names that no helper may have: those of inputs and variables, and what values are called."""
    return {*graph.inputs, *graph.variables, *(name for name, _ in graph.bindings), *call_assigned(graph)}


def output_name(graph: Graph, output: object) -> str:
    """Return what to call the output: the program's own name for it, else ``y``, else ``f`` where y is taken."""
    called = call_assigned(graph)
    chosen = graph.result
    for place in range(len(called) - 1, -1, -1):
        given, node = graph.bindings[place]
        if given == graph.result or node is output:
            chosen = called[place]
            break
    if chosen is not None and chosen not in graph.inputs:
        return chosen
    taken = taken_names(graph)
    return next(name for name in chain(("y", "f", "out", "y_"), map("y_{}".format, count(1))) if name not in taken)


def place_text(position: int, shape: tuple[int, ...]) -> str:
    """Return the index of an entry given its place in flat order: ``[1,0]``, and nothing for a scalar."""
    return f"[{','.join(map(str, index_of(position, shape)))}]" if shape else ""


Label = Callable[[int], str]
"""What to call an entry, from its place in flat order."""


def label_entries(name: str, shape: tuple[int, ...]) -> Label:
    """Return what calls each entry of an array by the array's name and its place."""
    return lambda position: name + place_text(position, shape)


ATOM = r"[\w.]+"
"""A text that no operator can take a part of."""
NAME = r"""(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<dot>\.\s*)?(?<!\w)(?P<name>[A-Za-z_]\w*)(?!\w|\s*(\(|=(?!=)))"""
"""A variable, unless it is an attribute, the name of a function or of a keyword, or in quotes."""


def tight(text: str) -> str:
    """Return a text as it stands beside an operator: in brackets, but for a name or a number."""
    return text if re.fullmatch(ATOM, text) else f"({text})"


def called_by(graph: Graph, node: Operation) -> str:
    """Return what the user wrote for an operation: the function that it is a part of, else its own sign or name."""
    written = [name for name, first, end in graph.functions if first <= node.index < end]
    return written[-1] if written else op_word(node)


def flat_by(graph: Graph, node: Operation) -> str:
    """Return what is flat where an operation is: the function that it ends, else the operation within its function."""
    written = [(name, end) for name, first, end in graph.functions if first <= node.index < end]
    called, word = called_by(graph, node), op_word(node)
    goes_on = written and node.index + 1 < written[-1][1] and word != called
    return f"{word} in {called}" if goes_on else called


def op_word(node: Operation) -> str:
    """Return the sign of an operation, or the function that it is called by."""
    sign = (node.op.text.template or "").replace("{}", "").strip()
    return sign if sign and not sign[0].isalpha() else op_name(node.op, node.static)
