"""What PyTorch refuses of a run that gradcli answers: an output without a derivative, ops and values without one."""

from __future__ import annotations

from gradcli.engine.graph import Graph, Input, Node, Operation, Write
from gradcli.engine.naming import called_by
from gradcli.errors import GradcliError


def remark_backward(graph: Graph, output: object) -> None:
    """Remark on all that makes ``output.backward()`` raise in PyTorch."""
    spoiled_by: dict[int, Write] = {}
    if graph.writes:
        from gradcli.language.writes import broken_nodes, reads_past

        spoiled_by = broken_nodes(graph)
    if not (spoiled_by or graph.broken or graph.torn):
        return
    if torn_views(graph, output):
        graph.remark("torch-refuses", TORN)
    for node in differentiated(output):
        if node.op.torch_raises:
            graph.remark(
                "torch-refuses",
                f"PyTorch has no derivative of {called_by(graph, node)}: backward raises. Here it is 0.",
            )
        elif node.index in spoiled_by:
            write = spoiled_by[node.index]
            if reads_past(graph, node, write):
                raise written_past(write)
            graph.remark("torch-refuses", spoiled(write, called_by(graph, node)), write.span)


TORN = (
    "One of several views that were made at once is read after a write to what it is a view of: PyTorch refuses that. "
    "Here it shows what was written."
)


def torn_views(graph: Graph, output: object) -> set[int]:
    """Return the views that the output reads, or is, after a write that PyTorch does not let them see."""
    if not graph.torn:
        return set()
    read = {argument.index for node in differentiated(output) for argument in sources(node)}
    read |= {output.index} if isinstance(output, Node) else set()
    return graph.torn & read


def spoiled(write: Write, word: str) -> str:
    """Return the sentence on a write to what the derivative of the operation called ``word`` needs."""
    return (
        f"'{write.name}' is written to in place, and the derivative of {word} needs what stood there: backward of "
        "PyTorch raises. Here the gradient is that of the values as they were used."
    )


def written_past(write: Write) -> GradcliError:
    """Return the error for a write to numbers that were read by ``.data``."""
    message = f"'{write.name}' is written to after its numbers were read by .data: PyTorch goes back with the new ones"
    return GradcliError("in-place", message, span=write.span, hint="read them by .detach().clone()")


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
            stack.extend(sources(node))
    needs = {node.index for node in below.values() if isinstance(node, Input) and node.active}
    found = []
    for index in sorted(below):
        node = below[index]
        if isinstance(node, Operation) and any(argument.index in needs for argument in sources(node)):
            needs.add(index)
            found.append(node)
    return found


def sources(node: Node) -> list[Node]:
    """Return the arguments to which PyTorch sends, or tries to send, a cotangent."""
    if not isinstance(node, Operation):
        return []
    return [
        argument
        for k, argument in enumerate(node.arguments)
        if isinstance(argument, Node) and (node.op.torch_raises or node.op.vjp(k) is not None)
    ]
