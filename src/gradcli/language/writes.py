"""What PyTorch refuses of writes in place that gradcli answers.

PyTorch keeps the arguments and outputs that a derivative needs and counts the writes to each; backward raises where a
value has been written to since. Here a write makes a new value, so the derivative is right, and a note says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, TENSORS, Graph, Node, Operation, Write
from gradcli.errors import GradcliError, Span
from gradcli.language.kinds import is_tensor
from gradcli.language.picking import as_view, basic
from gradcli.language.storage import in_part, may_share, root, storage_of, views_under, window_of
from gradcli.ops.declare import value_of
from gradcli.ops.making import DATA
from gradcli.ops.saved import kept
from gradcli.ops.signatures import Indices

OWN = ("own",)
"""What an op keeps that keeps neither arguments nor output; the user's own functions see to what they keep."""


def saved_places(node: Operation) -> tuple[int, ...]:
    """Return the numbers of the arguments that PyTorch saves for the derivative of a node, and -1 for its output."""
    if node.op.torch_saves == OWN:
        return ()
    active = tuple([type(a) in NODES and a.active for a in node.arguments])
    arrays = tuple([type(a) in TENSORS or isinstance(a, np.ndarray) for a in node.arguments])
    reads = kept(node.op, active, arrays)
    places = tuple([k for k, read in enumerate(reads.arguments) if read])
    return (*places, -1) if reads.output else places


def broken_nodes(graph: Graph) -> dict[int, Write]:
    """Return the nodes whose derivative needs a value that a later write changed: a write by index."""
    writes: dict[Any, list[Write]] = defaultdict(list)
    for write in graph.writes:
        if (place := storage_of(graph, write.before)) is not None:
            writes[place].append(write)
    changed = {index for write in graph.writes for index in write.inplace}
    operations = [node for node in graph.nodes if isinstance(node, Operation) and node.active] if writes else []
    first = {node.index: next(written_later(graph, node, writes, changed), None) for node in operations}
    return {index: write for index, write in first.items() if write is not None}


def written_later(graph: Graph, node: Operation, writes: dict[Any, list[Write]], changed: Set[int]) -> Iterator[Write]:
    """Yield the writes that change what PyTorch has kept for the derivative of a node.

    For ``a *= b`` itself it keeps a copy of a, and its output as it is after the write; ``changed`` are such nodes.
    """
    for k in saved_places(node):
        value = node if k < 0 else node.arguments[k]
        if not is_tensor(value) or root(graph, value) not in writes or (k == 0 and node.index in changed):
            continue
        for write in writes.get(storage_of(graph, value), ()):
            if write.mark > node.index and (k > 0 or node.index not in write.inplace):
                yield write


def remark_write(
    f: Graph, name: str, span: Span, before: object, written: object, key: object = ..., copied: bool = False
) -> None:
    """Look at a write in place to ``before[key]``: refuse and remark as PyTorch does.

    ``copied`` says that ``written`` is what is assigned, and not an operand of what changes the entries.
    Raises ``in-place`` where one place of the memory shows as several entries.
    """
    differentiated = any(isinstance(value, Node) and value.active for value in (before, written))
    if differentiated and any(view.op.several for view in views_under(before)):
        f.remark(
            "torch-refuses",
            f"'{name}' is one of several views that were made at once: PyTorch lets nothing be written to them in "
            "place, only to what they are views of.",
            span,
        )
    if not isinstance(before, Node | np.ndarray) or not before.ndim:
        return
    x = value_of(before)
    if isinstance(before, Node) and before.index in f.windows:
        x = f.windows[before.index].places
    if 0 in x.strides and any(step == 0 and length > 1 for step, length in zip(x.strides, x.shape, strict=True)):
        raise GradcliError(
            "in-place",
            f"'{name}' shows one number as several entries: neither PyTorch nor NumPy can write to one of them",
            hint=f"write {name} = {name}.clone() first",
        )
    if not (basic(key) and may_share(f, before, written)):
        return
    target, source = window_of(f, before), window_of(f, written)
    if target.key != source.key:
        return
    to = target.places[as_view(key)]
    if reads_in_part(to, source.places, copied):
        f.remark(
            "torch-refuses",
            f"The write to '{name}' in place reads a part of what it writes: PyTorch refuses it and asks for a clone. "
            "Here all is read before anything is written.",
            span,
        )
    elif reads_what_is_written(to, source.places, copied):
        f.remark(
            "overlapping-write",
            f"The write to '{name}' in place reads entries that it also writes: in PyTorch the numbers depend on the "
            "order in which it does so. Here all is read before anything is written; a clone makes both the same.",
            span,
        )


def reads_past(graph: Graph, node: Operation, write: Write) -> bool:
    """Return whether an operation reads by ``.data`` what is written to."""
    return any(
        may_share(graph, argument, write.before)
        for argument in node.arguments
        if any(view.op is DATA for view in views_under(argument))
    )


def reads_in_part(to: Indices, read: Indices, copied: bool) -> bool:
    """Return whether PyTorch refuses to read these places in a write to those: they are the same only in part.

    What is assigned in another shape it expands first, and does not look at what has a stride of 0.
    """
    return not (copied and read.shape != to.shape) and in_part(to, read)


def reads_what_is_written(to: Indices, read: Indices, copied: bool) -> bool:
    """Return whether an entry is read that the write to another has changed, or changes later.

    ``copied`` entries are only lost where they are overwritten by others.
    """
    try:
        read = np.broadcast_to(read, to.shape)
    except ValueError:
        return False
    written = dict(zip(to.ravel().tolist(), read.ravel().tolist(), strict=True))
    if copied:
        return any(written.get(place, place) != place for place in read.ravel().tolist())
    return any(place in written and place != own for own, place in written.items())
