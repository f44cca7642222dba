"""What PyTorch refuses of a run that gradcli answers: writes to values that backward needs, ops without a derivative.

PyTorch keeps the arguments and outputs that a derivative needs and counts the writes to each; backward raises where a
value has been written to since. Here a write makes a new value, so the derivative is right, and a note says so.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from gradcli.errors import GradcliError, Span
from gradcli.graph import Graph, Node, Write
from gradcli.language.runtime import owner
from gradcli.ops.declare import Op
from gradcli.ops.saved import kept

Places = Any
"""An array of numbers whose memory is laid out as that of a value in PyTorch."""


def remark_backward(graph: Graph, output: Any) -> None:
    """Remark on all that makes ``output.backward()`` raise in PyTorch."""
    spoiled_by = broken_nodes(graph)
    if not (spoiled_by or graph.broken):
        return
    for node in differentiated(output):
        op = node.op
        assert op is not None  # noqa: S101
        if op.torch_raises:
            name = shown(op)
            graph.remark("torch-refuses", f"PyTorch has no derivative of {name}: backward raises. Here it is 0.")
        elif node.index in spoiled_by:
            write = spoiled_by[node.index]
            graph.remark("torch-refuses", spoiled(write, op), write.span)


def broken_nodes(graph: Graph) -> dict[int, Write]:
    """Return the nodes whose derivative needs a value that a later write changed: a write by index."""
    writes: dict[Any, list[Write]] = defaultdict(list)
    for write in graph.writes:
        if (place := storage(write.before)) is not None:
            writes[place].append(write)
    found = {}
    for node in graph.nodes if writes else ():
        if node.op is None or not node.active:
            continue
        near = node.index in writes or any(
            a.index in writes or (a.op is not None and a.op.view) if type(a) is Node else type(a) is np.ndarray
            for a in node.arguments
        )
        if near and (later := written_later(node, node.op, writes)):
            found[node.index] = later[0]
    return found


def shown(op: Op) -> str:
    """Return an op as a message names it."""
    return op.text.replace("{}", "").strip() if op.text else op.name


def spoiled(write: Write, op: Op) -> str:
    """Return the sentence on a write to what the derivative of ``op`` needs."""
    return (
        f"'{write.name}' is written to in place, and the derivative of {shown(op)} needs what stood there: backward of "
        "PyTorch raises. Here the gradient is that of the values as they were used."
    )


def differentiated(output: Any) -> list[Node]:
    """Return the operations that PyTorch's backward goes through from ``output``, those without a derivative too."""
    below: dict[int, Node] = {}
    stack = [output] if type(output) is Node else []
    while stack:
        node = stack.pop()
        if node.index not in below:
            below[node.index] = node
            stack.extend(sources(node))
    needs = {node.index for node in below.values() if node.op is None and node.active}
    found = []
    for index in sorted(below):
        if any(argument.index in needs for argument in sources(below[index])):
            needs.add(index)
            found.append(below[index])
    return found


def sources(node: Node) -> list[Node]:
    """Return the arguments to which PyTorch sends, or tries to send, a cotangent."""
    op = node.op
    if op is None:
        return []
    return [
        argument
        for k, argument in enumerate(node.arguments)
        if type(argument) is Node and (op.torch_raises or op.vjp(k) is not None)
    ]


def written_later(node: Node, op: Op, writes: dict[Any, list[Write]]) -> list[Write]:
    """Return the writes that change what PyTorch has kept for the derivative of a node.

    For ``a *= b`` itself it keeps a copy of a, and its output as it is after the write.
    """
    active = tuple(type(a) is Node and a.active for a in node.arguments)
    reads = kept(op, active, tuple(isinstance(a, Node | np.ndarray) for a in node.arguments))
    needed = [(k, a) for k, (a, read) in enumerate(zip(node.arguments, reads.arguments, strict=True)) if read]
    if reads.output:
        needed.append((0, node))
    return [
        write
        for k, value in needed
        for write in writes.get(storage(value), ())
        if write.mark > node.index and (k or write.inplace != node.index)
    ]


def storage(value: Any) -> Any:
    """Return what tells the memory of a value from all others in PyTorch."""
    if type(value) is Node:
        return owner(value).index
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return ("array", id(value)) if isinstance(value, np.ndarray) else None


def remark_write(f: Graph, name: str, span: Span, before: Any, written: Any, key: Any = ...) -> None:
    """Look at a write in place to ``before[key]``: refuse and remark as PyTorch does.

    Raises ``in-place`` where one place of the memory shows as several entries.
    """
    if type(before) is not Node or not before.ndim:
        return
    base = np.arange(owner(before).value.size)
    places = memory(before, base)
    if any(step == 0 and length > 1 for step, length in zip(places.strides, places.shape, strict=True)):
        raise GradcliError(
            "in-place",
            f"'{name}' shows one number as several entries: neither PyTorch nor NumPy can write to one of them",
            hint=f"write {name} = {name}.clone() first",
        )
    shared = type(written) is Node and storage(written) == storage(before) and basic(key)
    if shared and in_part(places[as_view(key)], memory(written, base)):
        f.remark(
            "torch-refuses",
            f"The write to '{name}' in place reads a part of what it writes: PyTorch refuses it and asks for a clone. "
            "Here all is read before anything is written.",
            span,
        )


def basic(key: Any) -> bool:
    """Return whether an index takes a view: of integers and slices alone."""
    return not any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,)))


def as_view(key: Any) -> Any:
    """Return an index that gives an array even where it picks one entry."""
    parts = key if isinstance(key, tuple) else (key,)
    return parts if ... in parts else (*parts, ...)


def memory(node: Node, base: Places) -> Places:
    """Return the part of ``base`` that stands for a view of its owner, whose entries in a row are ``base``."""
    chain = [node]
    while chain[-1] is not owner(node):
        chain.append(chain[-1].arguments[0])
    places = base.reshape(chain[-1].shape)
    for view in reversed(chain[:-1]):
        assert view.op is not None  # noqa: S101
        key = view.static.get("key")
        places = view.op.forward(places, **view.static) if key is None else places[as_view(key)]
    return places


def in_part(target: Places, source: Places) -> bool:
    """Return whether two places have entries in common and are not the same; PyTorch looks at those without gaps."""
    if not (without_gaps(target) and without_gaps(source)) or not np.shares_memory(target, source):
        return False
    same = target.__array_interface__["data"] == source.__array_interface__["data"] and target.size == source.size
    return not (same and target.strides == source.strides)


def without_gaps(places: Places) -> bool:
    """Return whether entries fill a stretch of the memory, in any order of the axes."""
    size = places.itemsize
    for step, length in sorted(zip(places.strides, places.shape, strict=True)):
        if length > 1:
            if step != size:
                return False
            size *= length
    return True
