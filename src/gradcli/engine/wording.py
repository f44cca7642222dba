"""What messages call an operation: as the user wrote it, where that is known."""

from __future__ import annotations

from gradcli.engine.graph import Graph, Operation
from gradcli.ops.declare import Op


def called_by(graph: Graph, node: Operation) -> str:
    """Return what the user wrote for an operation: the function that it is a part of, else its own sign or name."""
    written = [name for name, first, end in graph.functions if first <= node.index < end]
    return written[-1] if written else op_word(node.op)


def flat_by(graph: Graph, node: Operation) -> str:
    """Return what is flat where an operation is: the function that it ends, else the operation within its function."""
    written = [(name, end) for name, first, end in graph.functions if first <= node.index < end]
    called, word = called_by(graph, node), op_word(node.op)
    goes_on = written and node.index + 1 < written[-1][1] and word != called
    return f"{word} in {called}" if goes_on else called


def op_word(op: Op) -> str:
    """Return the sign of an op, or the function that it is called by."""
    sign = (op.text or "").replace("{}", "").strip()
    return sign if sign and not sign[0].isalpha() else op.spelled or op.name
