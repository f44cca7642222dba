"""What deserves a sentence beside the numbers: kinks, shapes made to fit, integers, where the routes part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import called_by, flat_by, place_text
from gradcli.engine.reach import reaches
from gradcli.errors import GradcliError
from gradcli.errors.counting import listed
from gradcli.explanation.explained import Note
from gradcli.language.inputs import Cotangent
from gradcli.ops.declare import Indices, Op, value_of
from gradcli.ops.making import DATA, DETACH
from gradcli.ops.signatures import Doubles


def note_v(v: Cotangent, called: str) -> list[Note]:
    """Say how a v was made to fit the output that is ``called`` so."""
    if v.source == "reshaped":
        message = (
            f"v was reshaped from {v.came} to {v.seed.shape}, the shape of {called}; PyTorch wants it in that shape."
        )
        return [Note("v-reshaped", message)]
    if v.source == "broadcast":
        return [
            Note(
                "v-broadcast",
                f"{called} has one entry and v has {v.shown.size:,}: each is one call of backward, so "
                'x.grad is sum(v)*J. PyTorch raises "Mismatch in shape".',
            )
        ]
    return []


def note_run(graph: Graph) -> list[Note]:
    """Return what the run itself remarked: where PyTorch and NumPy do not answer alike."""
    return [Note(kind, message) for kind, message in graph.remarks]


def note_integers(given: Sequence[str], graph: Graph, leaves: Mapping[str, Node]) -> list[Note]:
    """Say which inputs were given in integers, with the first of these numbers."""
    names = wanting_floats(given, graph, leaves)
    return [Note("integers-as-floats", f"{integers_text(names, leaves)}.")] if names else []


def refuse_integers(given: Sequence[str], graph: Graph, leaves: Mapping[str, Node]) -> None:
    """Raise ``integers-as-floats`` for inputs that were given in integers, as PyTorch does."""
    names = wanting_floats(given, graph, leaves)
    if names:
        hint = f"write {first_number(leaves[names[0]])}.0, or leave out --strict"
        raise GradcliError("integers-as-floats", integers_text(names, leaves), hint=hint)


def wanting_floats(given: Sequence[str], graph: Graph, leaves: Mapping[str, Node]) -> list[str]:
    """Return those of the inputs ``given`` in integers that are more than positions or classes.

    Those are integers in PyTorch too, where nothing can be differentiated by them.
    """
    held, moved = set[int](), set[int]()
    for node in graph.nodes if given else ():
        if isinstance(node, Operation):
            arguments = {argument.index for argument in node.arguments if isinstance(argument, Node)}
            (held if holds_integers(node.op) else moved).update(arguments)
    return [name for name in given if leaves[name].index not in held - moved]


def holds_integers(op: Op) -> bool:
    """Return whether an op takes its argument for positions or classes: no ``.detach()``, which holds any number."""
    return op.pieces is not None and op.pieces.held and op is not DETACH and op is not DATA


def integers_text(names: Sequence[str], leaves: Mapping[str, Node]) -> str:
    """Return what is done with integers, and what PyTorch does."""
    given = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} given in integers, read as floats"
    first = first_number(leaves[names[0]])
    return f"{given}: PyTorch wants {first}.0 for a gradient"


def first_number(leaf: Node) -> int:
    """Return the first entry of an input of integers, 0 where it has none."""
    return int(np.ravel(leaf.value)[0]) if np.size(leaf.value) else 0


def note_graph(graph: Graph, nodes: Iterable[Node]) -> list[Note]:
    """Say where the graph has a kink or a flat op, among the ``nodes`` that the output depends on."""
    return list(dict.fromkeys([note for node in nodes for note in note_node(graph, node)]))


def note_node(graph: Graph, node: Node) -> list[Note]:
    """Say whether an op stands at a kink, is flat although it depends on a variable, or loses digits in PyTorch."""
    if not isinstance(node, Operation):
        return []
    if node.op.torch_doubles is not None and node.active:
        return note_lost_digits(graph, node)
    if node.op.step and any(isinstance(a, Node) and a.active for a in node.arguments):
        flat = f"{flat_by(graph, node)} is flat: its derivative is 0 wherever it has one."
        return [Note("flat", flat), *note_kink(graph, node)]
    return note_kink(graph, node)


def note_kink(graph: Graph, node: Operation) -> list[Note]:
    """Say where an operation has no derivative at this point, and which number is taken."""
    kink = node.op.kink
    if kink is None or not node.active:
        return []
    values = [value_of(a) for a in node.arguments]
    with np.errstate(all="ignore"):
        where = np.asarray(kink.at(*values, **node.static))
    if not where.any():
        return []
    shape = np.shape(node.value)
    where = where.reshape(shape) if where.size == np.size(node.value) else np.broadcast_to(where, shape)
    at = entries_text(np.flatnonzero(np.ravel(where)), shape)
    whose = "" if "PyTorch" in kink.says else ", as in PyTorch"
    return [Note("kink", f"{called_by(graph, node)} has a kink{at} at this point; there {kink.says}{whose}.")]


def note_lost_digits(graph: Graph, node: Operation) -> list[Note]:
    """Say where PyTorch's own formula loses the digits of a value or a derivative that is right here."""
    calls = [name for name, first, end in graph.functions if first <= node.index < end]
    if not all(name.rpartition(".")[2].endswith(node.op.name) for name in calls):
        return note_kink(graph, node)  # what a function makes of it may be right in PyTorch all the same
    values = [value_of(a) for a in node.arguments]
    ones = np.ones(np.shape(node.value))
    with np.errstate(all="ignore"):
        value, slope = cast("Doubles", node.op.torch_doubles)(node.value, *values, **node.static)
        pairs = [("value", value, node.value)]
        if slope is not None:
            pairs.append(("derivative", slope, node.op.vjp_along(0)(ones, node.value, *values, **node.static)))
        return [*note_kink(graph, node), *filter(None, [lost_digits(graph, node, *pair) for pair in pairs])]


def lost_digits(graph: Graph, node: Operation, what: str, theirs: Any, own: Any) -> Note | None:
    """Return the note for entries of which PyTorch has fewer than six digits; None where it has them."""
    if theirs is None:
        return None
    shape, theirs, own = np.shape(own), np.ravel(theirs), np.ravel(own)
    lost = np.flatnonzero(np.isfinite(own) & (np.abs(own) > NORMAL) & ~(np.abs(theirs - own) <= CLOSE * np.abs(own)))
    if not lost.size:
        return None
    at, first = entries_text(lost, shape), lost[0]
    message = f"PyTorch's {what} of {called_by(graph, node)} has lost its digits{at}: it is {theirs[first]:.6g} there, "
    return Note("torch-loses-digits", f"{message}and {own[first]:.6g} is right.")


CLOSE, NORMAL = 1e-6, 1e-300
"""Relative distance of six digits, and numbers below which doubles have fewer."""


def entries_text(positions: Indices, shape: tuple[int, ...]) -> str:
    """Return `` in entry [0]`` or `` in entries [0], [1] and 3 others``; nothing for a single number."""
    if not shape:
        return ""
    first = [place_text(int(i), shape) for i in positions[:SHOWN]]
    return f" in {'entry' if len(positions) == 1 else 'entries'} {listed(first, len(positions))}"


SHOWN = 3
"""Entries that a note names."""


def note_unheld(name: str, shape: tuple[int, int]) -> Note:
    """Say that the entries of J by a variable are too many, and what was taken instead."""
    rows, columns = shape
    return Note(
        "rows-alone",
        f"J by {name} has {rows:,} rows and {columns:,} columns, too many entries to compute all of them: "
        "only vᵀ·J is computed, in one pass. --row and --column show parts of J.",
    )


def oddities(nodes: Iterable[Node]) -> Iterator[Note]:
    """Yield what PyTorch's backward does at single nodes that is not the derivative."""
    for node in nodes:
        if isinstance(node, Operation) and node.op.oddity is not None and node.active:
            active = tuple(isinstance(a, Node) and a.active for a in node.arguments)
            said = node.op.oddity.says(active, node.value, *map(value_of, node.arguments), **node.static)
            if said:
                yield Note(node.op.oddity.kind, said)


def note_backward(nodes: Iterable[Node], output: Any) -> list[Note]:
    """Say where reverse mode alone, over the recorded ``nodes``, is not the derivative, as PyTorch's is not."""
    if not isinstance(output, Node) or not any(isinstance(node, Operation) and node.op.oddity for node in nodes):
        return []
    return [
        Note(note.kind, f"The gradient is PyTorch's, and not the derivative: {note.message}.")
        for note in dict.fromkeys(oddities(reaches(output)))
    ]


def note_disagreement(output: Any, infinite: str) -> Note:
    """Say why the routes differ; ``infinite`` is which of them is not finite where they do: grad, J, or neither."""
    return Note("routes-differ", reason(reaches(output) if isinstance(output, Node) else [], infinite))


def reason(nodes: list[Node], infinite: str) -> str:
    """Return why the routes differ on a graph."""
    odd = next(oddities(nodes), None)
    if odd is not None:
        return f"J is the mathematical derivative, and reverse mode PyTorch's, which is another one: {odd.message}."
    for node in nodes:
        if not isinstance(node, Operation) or node.op.differs is None:
            continue
        if np.any(node.op.differs(node.value, *map(value_of, node.arguments))):
            return (
                f"J is the mathematical derivative, and reverse mode PyTorch's, which is another one: {node.op.says}."
            )
    if infinite == "grad":
        choice = any(isinstance(node, Operation) and node.op.chooses for node in nodes)
        branch = (
            ", in a part of the program that does not count here, such as the branch that where did not take"
            if choice
            else ""
        )
        return (
            f"J is finite but reverse mode gives nan: it multiplies 0 by inf, as PyTorch does{branch}. In J the 0 wins."
        )
    if any(not np.all(np.isfinite(node.value)) for node in nodes):
        return (
            "A value on the way is not finite. J and reverse mode carry it on to different entries, and neither is a "
            "derivative."
        )
    from gradcli.explanation.script_notes import own_derivatives  # few answers differ

    own = own_derivatives(nodes)
    if own:
        names = listed(own, len(own))
        return f"The backward of {names}, which the script wrote, is not linear in v: it is no product of v with a J."
    return "J and reverse mode differ by more than rounding explains. Please report this."
