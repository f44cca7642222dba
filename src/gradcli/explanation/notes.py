"""Where a program has no derivative: kinks of its operations, ties, jumps, edges of the domain, and what is said.

What deserves a sentence: of v and integers, where PyTorch differs, of inputs that do not matter, of scripts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.naming import called_by, flat_by, place_text
from gradcli.errors import GradcliError
from gradcli.errors.hints import listed
from gradcli.explanation.results import Note, agree_within
from gradcli.language.values import Cotangent
from gradcli.ops.declare import Array, Indices, Op, holds_somewhere, op_name, value_of
from gradcli.ops.making import DATA, DETACH

if TYPE_CHECKING:
    from gradcli.exact.slopes import Side
    from gradcli.ops.declare import Piecewise


SHOWN = 3
"""Entries that a note names."""
NOTHING = 1e-20
"""A slope that is smaller than this beside the other side's is 0."""


def entries_text(positions: Indices, shape: tuple[int, ...]) -> str:
    """Return `` in entry [0]`` or `` in entries [0], [1] and 3 others``; nothing for a single number."""
    if not shape:
        return ""
    first = [place_text(int(i), shape) for i in positions[:SHOWN]]
    return f" in {'entry' if len(positions) == 1 else 'entries'} {listed(first, len(positions))}"


def note_kink(graph: Graph, node: Operation) -> list[Note]:
    """Say where an operation has no derivative at this point and which number is taken, and whether it is flat."""
    notes, kink = [], node.op.kink
    if node.op.step and any(isinstance(a, Node) and a.active for a in node.arguments):
        notes.append(Note("flat", f"{flat_by(graph, node)} is flat: its derivative is 0 wherever it has one."))
    if kink is None or not node.active:
        return notes
    with np.errstate(all="ignore"):
        where = np.asarray(kink.at(*map(value_of, node.arguments), **node.static))
    if where.any():
        shape = np.shape(node.value)
        where = where.reshape(shape) if where.size == np.size(node.value) else np.broadcast_to(where, shape)
        at = entries_text(np.flatnonzero(np.ravel(where)), shape)
        whose = "" if "PyTorch" in kink.says else ", as in PyTorch"
        notes.append(Note("kink", f"{called_by(graph, node)} has a kink{at} at this point; there {kink.says}{whose}."))
    return notes


def tell_bend(bends: dict[str, str], side: Side, row: str, at: str, takes: str) -> None:
    """Note a kink, a jump, an infinite slope or an edge of the domain, the first of its kind.

    ``takes`` is a sentence, or none, that says which slope is printed.
    """
    if not side.kind or side.kind in bends:
        return
    left, right = slope_text(side.left, side.right), slope_text(side.right, side.left)
    edge = "left" if side.left.is_nan() else "right"
    bends[side.kind] = {
        "kink": f"{row} has a kink at this point: by {at} its slope is {left} on the left and {right} on the right.",
        "jump": f"{row} jumps at this point, as {at} passes it.",
        "infinite-slope": f"{row} is infinitely steep at this point, by {at}.",
        "edge": f"{row} has no value on the {edge} of this point, by {at}: this is an edge of its domain.",
    }[side.kind] + takes


def slope_text(slope: Any, other: Any) -> str:
    """Return a slope to read: 0 where it is what a step leaves of 0, next to that of the other side."""
    return "0" if abs(float(slope)) < NOTHING * abs(float(other)) < math.inf else f"{float(slope) + 0.0:.6g}"


def is_edgy(operations: Sequence[Operation]) -> bool:
    """Return whether pieces of the program may meet here: kinks and ties, and sides of comparisons that are equal."""
    with np.errstate(all="ignore"):
        return any(map(stands_on_an_edge, operations))


def stands_on_an_edge(node: Operation) -> bool:
    """Return whether an operation stands at a kink, a step, a tie or a power of 0, or takes a wave of a large x."""
    op = node.op
    at, pieces = op.edge if op.kink is None else op.kink.at, op.exact.pieces
    if at is not None:
        return holds_somewhere(at(*map(value_of, node.arguments), **node.static))
    if pieces is None or pieces.held or pieces.open or op.chooses:
        return False
    return differs_nearby(pieces, [value_of(argument) for argument in node.arguments], node.static)


def differs_nearby(parts: Piecewise, values: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Return whether a piecewise op is on another piece where each entry is moved by about a billionth; ties break."""
    from gradcli.exact.run import same

    def moved(value: Any, share: float) -> Any:
        x = np.asarray(value, dtype=np.float64)
        shares = share * np.cos(np.arange(x.size)).reshape(x.shape)
        return x + shares * (1e-9 * np.abs(x) + 1e-100)

    here = parts.piece(*map(np.asarray, values), **static)
    around = [[moved(value, sign * (0.5 + 0.3 * k)) for k, value in enumerate(values)] for sign in (1.0, -1.0)]
    return any(not same(here, parts.piece(*beside, **static)) for beside in around)


# ---- what deserves a sentence


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


def note_integers(integers: Sequence[str], graph: Graph, leaves: Mapping[str, Node]) -> list[Note]:
    """Say which inputs were given in integers, and what PyTorch does, with the first of these numbers."""
    names = wanting_floats(integers, graph, leaves)
    if not names:
        return []
    are = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} given in integers, read as floats"
    first = next(iter(np.ravel(leaves[names[0]].value).tolist()), 0)
    return [Note("integers-as-floats", f"{are}: PyTorch wants {int(first)}.0 for a gradient.")]


def refuse_integers(integers: Sequence[str], graph: Graph, leaves: Mapping[str, Node]) -> None:
    """Raise ``integers-as-floats`` for inputs that were given in integers, as PyTorch does."""
    for note in note_integers(integers, graph, leaves):
        hint = f"write {note.message.rpartition(' wants ')[2].partition(' ')[0]}, or leave out --strict"
        raise GradcliError(note.kind, note.message.removesuffix("."), hint=hint)


def wanting_floats(integers: Sequence[str], graph: Graph, leaves: Mapping[str, Node]) -> list[str]:
    """Return those of the inputs ``integers`` in integers that are more than positions or classes.

    Those are integers in PyTorch too, where nothing can be differentiated by them. ``.detach()`` takes any number.
    """
    fixed, moved = set[int](), set[int]()
    for node in graph.nodes if integers else ():
        if isinstance(node, Operation):
            arguments = {argument.index for argument in node.arguments if isinstance(argument, Node)}
            (fixed if is_held(node.op) and node.op not in (DETACH, DATA) else moved).update(arguments)
    return [name for name in integers if leaves[name].index not in fixed - moved]


def note_graph(graph: Graph, nodes: Iterable[Node]) -> list[Note]:
    """Say where operations among the ``nodes`` have a kink or are flat, and where PyTorch's formulas lose digits."""
    operations = [node for node in nodes if isinstance(node, Operation)]
    return list(dict.fromkeys([note for node in operations for note in note_node(graph, node)]))


def note_node(graph: Graph, node: Operation) -> list[Note]:
    """Return the notes on one operation."""
    if node.op.torch.rounding is None or not node.active:
        return note_kink(graph, node)
    kinks = [note for note in note_kink(graph, node) if note.kind == "kink"]
    calls = [name for name, first, end in graph.functions if first <= node.index < end]
    if not all(name.rpartition(".")[2].endswith(node.op.name) for name in calls):
        return kinks  # what a function makes of it may be right in PyTorch all the same
    values, ones = [value_of(a) for a in node.arguments], np.ones(np.shape(node.value))
    with np.errstate(all="ignore"):
        value, slope = node.op.torch.rounding(node.value, *values, **node.static)
        pairs = [("value", value, node.value)]
        if slope is not None:
            pairs.append(("derivative", slope, node.op.vjp_along(0)(ones, node.value, *values, **node.static)))
        return [*kinks, *filter(None, [lost_digits(graph, node, *pair) for pair in pairs])]


CLOSE, NORMAL = 1e-6, 1e-300
"""Relative distance of six digits, and numbers below which doubles have fewer."""


def lost_digits(graph: Graph, node: Operation, what: str, theirs: Any, ours: Any) -> Note | None:
    """Return the note for entries of which PyTorch has fewer than six digits; None where it has them."""
    if theirs is None:
        return None
    shape, theirs, ours = np.shape(ours), np.ravel(theirs), np.ravel(ours)
    lost = np.flatnonzero(
        np.isfinite(ours) & (np.abs(ours) > NORMAL) & ~(np.abs(theirs - ours) <= CLOSE * np.abs(ours))
    )
    if not lost.size:
        return None
    at, first = entries_text(lost, shape), lost[0]
    message = f"PyTorch's {what} of {called_by(graph, node)} has lost its digits{at}: it is {theirs[first]:.6g} there, "
    return Note("torch-loses-digits", f"{message}and {ours[first]:.6g} is right.")


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
        if isinstance(node, Operation) and node.op.torch.oddity is not None and node.active:
            active = tuple(isinstance(a, Node) and a.active for a in node.arguments)
            said = node.op.torch.oddity.says(active, node.value, *map(value_of, node.arguments), **node.static)
            if said:
                yield Note(node.op.torch.oddity.kind, said)


def note_backward(nodes: Iterable[Node], output: Any) -> list[Note]:
    """Say where reverse mode alone, over the recorded ``nodes``, is not the derivative, as PyTorch's is not."""
    if not isinstance(output, Node) or not any(isinstance(node, Operation) and node.op.torch.oddity for node in nodes):
        return []
    return [
        Note(note.kind, f"The gradient is PyTorch's, and not the derivative: {note.message}.")
        for note in dict.fromkeys(oddities(reaches(output)))
    ]


def note_disagreement(output: Any, infinite: str) -> Note:
    """Say why the routes differ; ``infinite`` is which of them is not finite where they do: grad, J, or neither."""
    return Note("routes-differ", why_routes_differ(reaches(output) if isinstance(output, Node) else [], infinite))


def why_routes_differ(nodes: list[Node], infinite: str) -> str:
    """Return why the routes differ on a graph."""
    operations = [node for node in nodes if isinstance(node, Operation)]
    other = (
        node.op.torch.says
        for node in operations
        if node.op.torch.differs is not None
        and np.any(node.op.torch.differs(node.value, *map(value_of, node.arguments)))
    )
    said = next((note.message for note in oddities(nodes)), None) or next(other, None)
    if said is not None:
        return f"J is the mathematical derivative, and reverse mode PyTorch's, which is another one: {said}."
    if infinite == "grad":
        choice = any(node.op.chooses for node in operations)
        branch = ", in a part of the program that does not count here, such as the branch that where did not take"
        nan = (
            f"J is finite but reverse mode gives nan: it multiplies 0 by inf, as PyTorch does{branch if choice else ''}"
        )
        return f"{nan}. In J the 0 wins."
    if any(not np.all(np.isfinite(node.value)) for node in nodes):
        return (
            "A value on the way is not finite. J and reverse mode carry it on to different entries, and neither is a "
            "derivative."
        )

    functions = own_derivatives(nodes)
    if functions:
        names = listed(functions, len(functions))
        return f"The backward of {names}, which the script wrote, is not linear in v: it is no product of v with a J."
    return "J and reverse mode differ by more than rounding explains. Please report this."


LARGEST, SMALLEST = 3.4028235e38, 7e-46
"""What float32 has no number beyond, and no number but 0 below."""


HOOK = "hook"
"""What a hook that changes gradients is called among functions with a backward pass of their own."""
CURVED = " It is not linear in the gradient that arrives, so that no J gives its numbers."


def own_derivatives(nodes: Sequence[Node]) -> list[str]:
    """Return the names of functions whose derivative the script itself has written."""
    return list(
        dict.fromkeys(node.static["call"].name for node in nodes if node.op is not None and "call" in node.static)
    )


def note_script(program: Any, nodes: Sequence[Node], bent: bool) -> list[Note]:
    """Return the notes on a call of a script.

    ``bent`` says that the script's own backward is not linear.
    """
    notes = [Note(kind, message) for kind, message in (program.ended.run.notes if program.ended is not None else ())]
    return notes + note_own(program, nodes, bent) + note_float32(program, nodes)


def note_own(program: Any, nodes: Sequence[Node], bent: bool = False) -> list[Note]:
    """Say which backward passes of the script's own, and hooks, an answer follows: in earlier derivatives too."""
    notes = []
    followed = [] if program.forwards else [call.name for call in program.customs]
    functions = list(dict.fromkeys([*own_derivatives(nodes), *followed]))
    if HOOK in functions:
        functions.remove(HOOK)
        said = "A hook of the script changes the gradient on the way: both routes follow it."
        notes.append(Note("hook", said + (CURVED if bent and not functions else "")))
    if functions:
        names = listed(functions, len(functions))
        text = (
            f"The backward of {names} is used as the script wrote it: gradcli check compares it with the derivative of "
        )
        notes.append(Note("custom-backward", f"{text}its forward.{CURVED if bent else ''}"))
    return notes


def note_float32(program: Any, nodes: Sequence[Node]) -> list[Note]:
    """Say where a value leaves the range of float32."""
    if not program.single:
        return []
    for node in nodes:
        sizes = np.abs(np.asarray(node.value, dtype=np.float64))
        finite = sizes[np.isfinite(sizes)]
        beyond = "inf" if np.any(finite > LARGEST) else "0" if np.any((finite > 0) & (finite < SMALLEST)) else ""
        if beyond and node.op is not None:
            what = f"In float32 {op_name(node.op, node.static)} is {beyond} here"
            text = f"{what}: this answer is computed in float64, and PyTorch may give inf, nan or 0."
            return [Note("float32", text)]
    return []


"""Entries, or operations, that a note names."""


def note_dependence(
    graph: Graph, output: object, called: str, leaves: Mapping[str, Node], columns: Mapping[str, Indices]
) -> list[Note]:
    """Say which differentiated inputs, or which entries of one, the output that is ``called`` so does not depend on.

    ``columns`` are the entries of each that J has derivatives by, in flat order; an input that is left out is
    looked at as a whole.
    Where the program chooses by values, what is not used here may be used elsewhere. PyTorch leaves ``.grad`` None
    where no operation with a derivative leads to an input, and gives zeros where one does.
    """
    if not isinstance(output, Node) or not output.active:
        return []
    reached = reached_backward(output)
    idle = {name: idle_entries(leaf, columns[name]) for name, leaf in leaves.items() if name in columns}
    unused = [name for name, leaf in leaves.items() if leaf.index not in reached or len(idle.get(name, ()))]
    if not unused:
        return []
    nodes = reaches(output)
    here = " at this point" if chooses_by_value(graph) else ""
    notes = []
    for name in unused:
        leaf = leaves[name]
        if leaf.index in reached:
            text = unused_entries(called, name, leaf.shape, idle[name], Flat.of(graph, nodes), here)
        elif leaf in nodes:
            text = (
                f"{called} depends on {name} only through {stopped_at(graph, nodes, leaf)}, which passes no gradient "
                f"on: PyTorch leaves {name}.grad None, and it counts as 0 here."
            )
        else:
            text = (
                f"{called} does not depend on {name}{here}: its gradient is 0, and PyTorch leaves {name}.grad None; "
                "grad() raises there without allow_unused=True."
            )
        notes += [Note("unused-input", text)] if text else []
    return notes


class Flat(NamedTuple):
    """Through what an input may still count that passes no derivative on.

    - ``words``: operations by name, after a comma; empty where there is none.
    - ``noted``: whether each of them has a note of its own, as a step has.
    """

    words: str
    noted: bool

    @classmethod
    def of(cls, graph: Graph, nodes: Sequence[Node]) -> Flat:
        """Return the flat operations among those that lead to an output."""
        flat = [node for node in nodes if isinstance(node, Operation) and (node.op.step or is_held(node.op))]
        names = dict.fromkeys(flat_by(graph, node) for node in flat)
        arbitrary = any(kind == "arbitrary-vectors" for kind, _ in graph.remarks)
        names |= {"vectors without a derivative": None} if arbitrary else {}
        words = f", or only through {' and '.join(names)}" if names else ""
        return cls(words, bool(flat) and not arbitrary and all(node.op.step for node in flat))


def is_held(op: Op) -> bool:
    """Return whether an op gives its argument's numbers without their derivative, as ``detach`` does."""
    return op.exact.pieces is not None and op.exact.pieces.held


def idle_entries(leaf: Node, columns: Indices) -> Indices:
    """Return the entries of an input that are not among ``columns``, in flat order."""
    idle = np.ones(leaf.value.size, dtype=bool)
    idle[columns] = False
    return np.flatnonzero(idle)


def unused_entries(called: str, name: str, shape: tuple[int, ...], idle: Indices, flat: Flat, here: str) -> str:
    """Return the sentence on the ``idle`` entries of an input of this shape; ``here``: they may count elsewhere."""
    if len(idle) == math.prod(shape):
        return "" if flat.noted else f"{called} does not depend on {name}{flat.words or here}: its gradient is 0."
    first = [f"{name}{place_text(int(i), shape)}" for i in idle[:SHOWN]]
    return f"{called} does not depend on {listed(first, len(idle))}{flat.words or here}."


def chooses_by_value(graph: Graph) -> bool:
    """Return whether values decide what is used: by a branch, a comparison, a choice, or an order of entries."""
    return graph.branches or any(isinstance(node, Operation) and is_choice(node) for node in graph.nodes)


def is_choice(node: Operation) -> bool:
    """Return whether values are picked by numbers of this run, or told to what picks by them; a list is always so."""
    op = node.op
    if op.chooses:
        return isinstance(node.arguments[0], Node)
    picks = op.entries.moves or (isinstance(op.vjps, tuple) and not any(op.vjps))
    return op.exact.pieces is not None and not op.exact.pieces.held and picks


def reached_backward(output: Node) -> set[int]:
    """Return the indices of the nodes that a cotangent of the output is handed to."""
    result = {output.index}
    stack: list[Node] = [output]
    while stack:
        node = stack.pop()
        for k in node.links if isinstance(node, Operation) else ():
            argument = node.arguments[k]
            if argument.index not in result:
                result.add(argument.index)
                stack.append(argument)
    return result


def stopped_at(graph: Graph, nodes: Sequence[Node], leaf: Node) -> str:
    """Return the operations at which every way back to an input ends."""
    below, ends = {leaf.index}, []
    for node in nodes:
        if not isinstance(node, Operation):
            continue
        if any(isinstance(argument, Node) and argument.index in below for argument in node.arguments):
            if any(node.arguments[k].index in below for k in node.links):
                below.add(node.index)
            else:
                ends.append(called_by(graph, node))
    return " and ".join(list(dict.fromkeys(ends))[:SHOWN])


NEAR = 1e-5
"""How far what a sweep of the script added may be from the answer, of the largest: its numbers went through float32."""


def given_by(event: Any) -> dict[str, Array]:
    """Return what a call added, or what it returned; a jvp gives J·u, and no gradient."""
    if event.tangents:
        return {}
    if event.kind == "backward":
        return dict(event.adds)
    return {name: g for name, g in zip(event.of, event.returns, strict=False) if name and g is not None}


def added_together(calls: Sequence[Any]) -> dict[str, Array]:
    """Return what calls gave by the label of each leaf, added up."""
    total: dict[str, Array] = {}
    for event in calls:
        for label, g in given_by(event).items():
            total[label] = np.asarray(g) if label not in total else total[label] + np.asarray(g)
    return total


def note_before(first: Any) -> list[Note]:
    """Say what had a gradient of calls before the first one, which this answer is without."""
    names = [
        name
        for name, g in first.adds.items()
        if first.grad.get(name) is not None and not is_near_in_float32(first.grad[name], g)
    ]
    if not names:
        return []
    listing = listed([f"{name}.grad" for name in names], len(names))
    text = f"Earlier calls had left numbers in {listing}, and this answer is without them: it is what this call adds."
    return [Note("accumulated", text)]


def note_past(program: Any, changed: Sequence[str]) -> Note:
    """Return the note on gradients that are not vᵀ·J: what has changed them."""
    names = listed([f"{name}.grad" for name in changed], len(changed))
    shown = f"What the call added to {names} is shown, and is not vᵀ·J"
    if program.ended.run.changing:
        return Note("hook", f"A hook of the script changes the gradient on the way. {shown}.")
    return Note(
        "past-the-record",
        f"{shown}: between the forward pass and this call the script wrote to a value that backward still needed, past "
        "the record (.data, .detach() or .numpy()), and backward took the new numbers.",
    )


def is_near_in_float32(left: Any, right: Any) -> bool:
    """Return whether two gradients are the same but for the rounding of float32."""
    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    largest = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return agree_within(a, b, NEAR * (np.abs(b) + max(largest, 1e-300)))
