"""What PyTorch refuses of writes in place that gradcli answers.

What PyTorch refuses of a run that gradcli answers: an output without a derivative, ops and values without one.
What PyTorch keeps for backward, and frees in it: a second backward raises where any of it is needed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, TENSORS, Graph, Input, Node, Operation, Write
from gradcli.engine.naming import called_by, numbered
from gradcli.errors import GradcliError, Span
from gradcli.errors.hints import listed
from gradcli.language.arithmetic import is_tensor
from gradcli.language.memory import in_part, may_share, storage_of, storage_root, views_under, window_of
from gradcli.language.picking import as_view, basic
from gradcli.ops.declare import Keeps, keeps_own, saved_by_torch, value_of
from gradcli.ops.links import Indices
from gradcli.ops.making import DATA

OWN = ((Keeps.OWN,),)
"""What an op keeps that keeps neither arguments nor output; the user's own functions see to what they keep."""


def saved_places(node: Operation) -> tuple[int, ...]:
    """Return the numbers of the arguments that PyTorch saves for the derivative of a node, and -1 for its output."""
    if node.op.torch.saves == OWN:
        return ()
    active = tuple([type(a) in NODES and a.active for a in node.arguments])
    arrays = tuple([type(a) in TENSORS or isinstance(a, np.ndarray) for a in node.arguments])
    reads = saved_by_torch(node.op, active, arrays)
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
        if not is_tensor(value) or storage_root(graph, value) not in writes or (k == 0 and node.index in changed):
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
    if differentiated and any(view.op.torch.several for view in views_under(before)):
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
    how = overlap(target.places[as_view(key)], source.places, copied, copied)
    if how == "refused":
        f.remark(
            "torch-refuses",
            f"The write to '{name}' in place reads a part of what it writes: PyTorch refuses it and asks for a clone. "
            "Here all is read before anything is written.",
            span,
        )
    elif how:
        f.remark("overlapping-write", IN_TURN.format(f" to '{name}'"), span)


IN_TURN = (
    "The write{} in place reads entries that it also writes: in PyTorch the numbers depend on the order in which it "
    "does so. Here all is read before anything is written; a clone makes both the same."
)


def overlap(to: Indices, read: Indices, copied: bool, expanded: bool) -> str:
    """Return how a write to places in memory reads them: "refused" by PyTorch, "in turn", or each for itself alone.

    ``copied`` says that what is read is written as it is. What is ``expanded`` first PyTorch does not look at: it has
    a stride of 0.
    """
    if not (expanded and read.shape != to.shape) and in_part(to, read):
        return "refused"
    return "in turn" if reads_what_is_written(to, read, copied) else ""


def reads_past(graph: Graph, node: Operation, write: Write) -> bool:
    """Return whether an operation reads by ``.data`` what is written to."""
    return any(
        may_share(graph, argument, write.before)
        for argument in node.arguments
        if any(view.op is DATA for view in views_under(argument))
    )


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
    return any(place in written and place != target for target, place in written.items())


def remark_backward(graph: Graph, output: object) -> None:
    """Remark on all that makes ``output.backward()`` raise in PyTorch."""
    spoiled_by: dict[int, Write] = {}
    if graph.writes:
        spoiled_by = broken_nodes(graph)
    if not (spoiled_by or graph.broken or graph.torn):
        return
    nodes = differentiated(output)
    read = {argument.index for node in nodes for argument in differentiable_arguments(node)} if graph.torn else set()
    if graph.torn & (read | ({output.index} if isinstance(output, Node) else set())):
        graph.remark("torch-refuses", TORN)
    for node in nodes:
        if node.op.torch.raises:
            graph.remark(
                "torch-refuses",
                f"PyTorch has no derivative of {called_by(graph, node)}: backward raises. Here it is 0.",
            )
        elif node.index in spoiled_by:
            write = spoiled_by[node.index]
            if reads_past(graph, node, write):
                what = f"'{write.name}' is written to after its numbers were read by .data"
                message, hint = f"{what}: PyTorch goes back with the new ones", "read them by .detach().clone()"
                raise GradcliError("in-place", message, span=write.span, hint=hint)
            graph.remark(
                "torch-refuses",
                f"'{write.name}' is written to in place, and the derivative of {called_by(graph, node)} needs what "
                "stood there: backward of PyTorch raises. Here the gradient is that of the values as they were used.",
                write.span,
            )


TORN = (
    "One of several views that were made at once is read after a write to what it is a view of: PyTorch refuses that. "
    "Here it shows what was written."
)


def remark_constant(graph: Graph) -> None:
    """Remark on an output that no derivative leads from, at which backward of PyTorch raises."""
    raises = "" if graph.broken else "; backward of PyTorch raises, as the output does not require grad"
    graph.remark(
        "constant-output",
        f"No derivative leads from the output to a differentiated variable: every gradient is 0{raises}.",
    )


def differentiated(output: object) -> list[Operation]:
    """Return the operations that PyTorch's backward goes through from ``output``, those without a derivative too."""
    below: dict[int, Node] = {}
    stack = [output] if isinstance(output, Node) else []
    while stack:
        node = stack.pop()
        if node.index not in below:
            below[node.index] = node
            stack.extend(differentiable_arguments(node))
    needs = {node.index for node in below.values() if isinstance(node, Input) and node.active}
    result = []
    for index in sorted(below):
        node = below[index]
        if isinstance(node, Operation) and any(argument.index in needs for argument in differentiable_arguments(node)):
            needs.add(index)
            result.append(node)
    return result


def differentiable_arguments(node: Node) -> list[Node]:
    """Return the arguments to which PyTorch sends, or tries to send, a cotangent."""
    if not isinstance(node, Operation):
        return []
    return [
        argument
        for k, argument in enumerate(node.arguments)
        if isinstance(argument, Node) and (node.op.torch.raises or node.op.vjp(k) is not None)
    ]


MOST_NAMED = 3
"""Operations that the remark names."""


def remark_second_backward(graph: Graph, output: object) -> None:
    """Remark on values that the first backward frees, and which a second one needs: what is kept, and for what."""
    names = {node.index: name for name, node in numbered(graph)}
    changed = {index for write in graph.writes for index in write.inplace}
    kept_by: dict[str, str] = {}
    for node in differentiated(output):
        places = kept_for(node, changed)
        if places:
            kept_by.setdefault(called_by(graph, node), kept_text(node, places, names))
    if not kept_by:
        return
    words = [f"{word} saves {what}" for word, what in kept_by.items()]
    graph.remark(
        "torch-refuses",
        "A second backward raises in PyTorch without retain_graph=True, since the first one frees the values saved for "
        f"it: {listed(words[:MOST_NAMED], len(words))}.",
    )


OUTPUT, OWN_VALUES = -1, -2
"""What is kept beside arguments, which have their numbers."""


def kept_for(node: Operation, changed: Set[int]) -> list[int]:
    """Return what PyTorch keeps for the derivative of an operation: numbers of arguments, ``OUTPUT`` and ``OWN``.

    ``changed`` are the operations of augmented assignments.
    """
    active = tuple([isinstance(argument, Node) and argument.active for argument in node.arguments])
    arrays = tuple([isinstance(argument, Node | np.ndarray) for argument in node.arguments])
    result = [*saved_places(node)]
    key = node.static.get("key", ())
    if any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,))):
        return [*result, OWN_VALUES]
    if keeps_own(node.op, active, arrays) and not (key != () and is_whole_write(node, key, changed)):
        return [*result, OWN_VALUES]
    return result


def is_whole_write(node: Operation, key: Any, changed: Set[int]) -> bool:
    """Return whether a write is to a whole array by its own name, which PyTorch takes for one without a view."""
    x, value = node.arguments
    if isinstance(value, Node) and value.index in changed:
        return False
    parts = key if isinstance(key, tuple) else (key,)
    return all(part is Ellipsis or is_whole_slice(part, length) for part, length in zip(parts, x.shape, strict=False))


def is_whole_slice(part: object, length: int) -> bool:
    """Return whether a part of an index is a slice that PyTorch sees to take the whole axis; it counts no ``-3:``."""
    return (
        isinstance(part, slice)
        and part.start in (None, 0)
        and part.step in (None, 1)
        and (part.stop is None or part.stop >= length)
    )


def kept_text(node: Operation, places: list[int], names: dict[int, str]) -> str:
    """Return what is kept, by the names of the program where it has any."""
    unnamed = {OUTPUT: names.get(node.index, "its result"), OWN_VALUES: "what it needs"}
    values = [k for k in places if k < 0 or isinstance(node.arguments[k], Node)]
    words = list(dict.fromkeys(unnamed.get(k) or value_name(node.arguments[k], names) for k in values or places))
    return listed(words, len(words))


def value_name(value: Any, names: dict[int, str]) -> str:
    """Return what the program calls a value that an operation was given."""
    if isinstance(value, Input):
        return value.name
    if isinstance(value, Node):
        return names.get(value.index, "an inner value")
    return "a constant" if np.ndim(value) else f"{float(value):g}"
