"""Derivative calls of a script: sweeps, what they leave in ``.grad``, and the errors that PyTorch raises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Input, Node, Operation, swept
from gradcli.engine.meter import LARGE
from gradcli.engine.reverse import cotangents
from gradcli.errors.hints import short_array
from gradcli.language.memory import looks_on
from gradcli.language.torch_refusals import saved_places
from gradcli.ops.declare import value_of
from gradcli.records import dataclass
from gradcli.runner.events import Event
from gradcli.runner.grad_fns import watched
from gradcli.runner.printing import grad_fn_name
from gradcli.runner.state import Run, Written, memory_key
from gradcli.runner.values import TITLES, Size, Tensor, kind_of, shown_version

MOST_SPELLED = 6
"""Entries of a gradient that advice spells out."""


class Freed(tuple):  # type: ignore[type-arg]
    """The links of an operation whose saved values a sweep has freed, which the script made in this line."""

    line: int


@dataclass(slots=True, eq=False)
class Swept:
    """One sweep: the outputs with their cotangents, and what reached the leaves and the inputs that were asked for.

    ``totals`` has the cotangent of each leaf by its node's index, ``captured`` that of inner values, ``leaves`` whose
    node each was: a leaf that was written to since has another one now.
    """

    outputs: list[Node]
    seeds: list[Any]
    totals: dict[int, Any]
    captured: dict[int, Any]
    leaves: dict[int, Tensor]


# ---- checks
def seed_of(run: Run, y: Tensor, gradient: Any, place: int) -> Any:
    """Return v for an output; raises what PyTorch raises where it is missing or does not fit."""
    if not y.active and not run.forwards:  # a forward such as rounding is flat, whatever its backward says
        run.fail_as("no grad_fn", place, about=run.noting.constant.get(y))
    if gradient is None:
        if np.size(y.value) != 1:
            run.fail("RuntimeError", "grad can be implicitly created only for scalar outputs")
        return np.ones(y.shape)
    if not isinstance(gradient, Tensor):
        run.fail("TypeError", f"gradients can be either Tensors or None, but got {run.type_name(gradient)}")
    if gradient.shape != y.shape:
        two = usual_gradients(run, y) if np.size(gradient.value) == 1 else None
        run.fail_as("v shape", place, Size(gradient.shape), Size(y.shape), about=two)
    node = gradient.node
    return (
        node
        if type(node) in NODES
        else np.asarray(node, dtype=np.float64 if value_of(node).dtype != object else object)
    )


def usual_gradients(run: Run, y: Tensor) -> str | None:
    """Return what the sum and the mean of an output would leave in the first leaf; None where that is no short text."""
    name = run.name_of(y)
    totals = cotangents(run.graph, y.node, np.ones(y.shape), visit=lambda _: nodes_of([y.node], None))
    owners = {node.index: node.owner for node in nodes_of([y.node], None) if type(node) is Input and node.owner}
    leaf = next((leaf for index, leaf in owners.items() if index in totals and run.name_of(leaf)), None)
    if name is None or leaf is None or leaf.node.index not in totals or np.size(leaf.value) > MOST_SPELLED:
        return None
    grad = np.asarray(totals[leaf.node.index], dtype=np.float64).reshape(leaf.shape)
    ways = (("sum", grad), ("mean", grad / np.size(y.value)))
    texts = [f"{short_array(g)} by {name}.{way}().backward()" for way, g in ways]
    return f"{run.name_of(leaf)}.grad would be {' and '.join(texts)}"


def check_freed(run: Run, nodes: Sequence[Node]) -> None:
    """Refuse a sweep over what another one has freed."""
    for node in nodes:
        if type(node) is not Operation:
            continue
        if node.links == () and node.op.torch.raises:
            run.fail("RuntimeError", f"derivative for aten::{node.op.name} is not implemented")
        if type(node.links) is Freed and saved_places(node):
            run.fail_as("second time", about=node.links.line)


def check_versions(run: Run, nodes: Sequence[Node]) -> None:
    """Refuse a sweep that needs a value which was written to since."""
    for node in nodes:
        if type(node) is not Operation:
            continue
        for k in saved_places(node):
            value: Any = node if k < 0 else node.arguments[k]
            if type(value) not in NODES and not isinstance(value, np.ndarray):
                continue
            write = run.writes.get(memory_key(value))
            if write is None or write.mark <= node.index or (k <= 0 and write.by <= node.index < write.mark):
                continue
            run.fail("RuntimeError", version_text(write, value, k < 0), write.line)


def version_text(write: Written, value: Any, output: bool) -> str:
    """Return what PyTorch says of a value that was written to before backward needed it.

    An operation's own output is called by that operation, and an argument by what has made it what it is now.
    """
    tensor = write.tensor()
    if tensor is None:  # it is gone: as it was after the write
        tensor = Tensor(value)
        tensor.version, tensor.made_by = write.version, write.name
    if output:
        made_by = grad_fn_name(Tensor(value))
    else:
        made_by = "AsStridedBackward0" if looks_on(value) and tensor.active else grad_fn_name(tensor)
    name = "torch::autograd::CopySlices" if made_by == "CopySlices" else (made_by or "").partition("Backward")[0]
    made = f", which is output 0 of {name}," if name else ""
    array, version = value_of(value), shown_version(tensor)
    expected = write.version - 1 - (tensor.root.version - version)
    kind = {"i": "Long", "b": "Bool"}.get(kind_of(array)) or TITLES[tensor.dtype][0]
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{kind}Tensor {list(np.shape(array))}]{made} is at version {version}; expected version "
        f"{expected} instead. Hint: enable anomaly detection to find the operation that failed to compute its "
        "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


# ---- sweeps
def nodes_of(outputs: Sequence[Node], targets: set[int] | None) -> list[Node]:
    """Return the nodes of a sweep, the last first; with ``targets`` only those on the way to them."""
    if targets is None and len(outputs) == 1:
        return swept(outputs[0])
    found: dict[int, Node] = {}
    for output in outputs:
        if output.index not in found:
            found |= {node.index: node for node in swept(output)}
    if targets is None:
        return [found[index] for index in sorted(found, reverse=True)]
    needed: set[int] = set()
    for index in sorted(found):
        node = found[index]
        if index in targets or (type(node) is Operation and any(node.arguments[k].index in needed for k in node.links)):
            needed.add(index)
    return [found[index] for index in sorted(needed, reverse=True)]


def free(run: Run, nodes: list[Node]) -> None:
    """Free the graph that a sweep went over: another one over it is an error, which names this line."""
    freed: dict[tuple[int, ...], Freed] = {}
    for node in nodes:
        if type(node) is Operation and type(node.links) is not Freed:
            links = freed.get(node.links)
            if links is None:
                links = freed[node.links] = Freed(node.links)
                links.line = run.line
            node.links = links


def sweep(
    run: Run, outputs: list[Node], seeds: list[Any], targets: set[int] | None, retain: bool, create: bool
) -> Swept:
    """Walk back from outputs and return what reaches the leaves."""
    former = former_nodes(run, outputs, targets) if targets else {}
    targets = targets if targets is None else targets | former.keys()
    nodes = nodes_of(outputs, targets)
    check_freed(run, nodes)
    if run.writes:
        check_versions(run, nodes)
    captured: dict[int, Any] = {}
    hooked = run.hooks or run.retained or targets

    def visit(totals: dict[int, Any]) -> Iterator[Node] | list[Node]:
        for output, seed in zip(outputs[1:], seeds[1:], strict=True):
            totals[output.index] = totals[output.index] + seed if output.index in totals else seed
        walk = hooked_visit(run, nodes, totals, captured, targets or set()) if hooked else nodes
        return watched(run, nodes, walk, totals) if run.anomaly else walk

    if create:
        from gradcli.engine.again import differentiable_cotangents

        totals = differentiable_cotangents(run.graph, outputs[0], seeds[0], visit=visit)
    else:
        held, seeds = seeds, [np.asarray(value_of(seed)) for seed in seeds]
        totals = cotangents(run.graph, outputs[0], seeds[0], visit=visit)
        seeds = held if any(type(s) in NODES for s in held) else seeds
    if not retain:
        free(run, nodes)
    for old, now in former.items():
        if old in captured:
            captured[now] = captured[now] + captured[old] if now in captured else captured[old]
    leaves = {node.index: node.owner for node in nodes if type(node) is Input and node.owner is not None}
    return Swept(outputs, seeds, totals, captured, leaves)


def former_nodes(run: Run, outputs: list[Node], targets: set[int]) -> dict[int, int]:
    """Return nodes that leaves which are asked for had before they were written to, with those that they have now."""
    now = {id(leaf): index for index in targets if (leaf := run.by_leaf.get(index)) is not None and leaf.version}
    inputs = (
        [node for node in nodes_of(outputs, None) if type(node) is Input and node.index not in targets] if now else []
    )
    return {node.index: now[id(node.owner)] for node in inputs if id(node.owner) in now}


def hooked_visit(
    run: Run, nodes: list[Node], totals: dict[int, Any], captured: dict[int, Any], targets: set[int]
) -> Iterator[Node]:
    """Yield the nodes of a sweep, and before each of them call the hooks of its value with what has reached it."""
    for node in nodes:
        index = node.index
        if index in totals:
            for number, hook in list(run.hooks.get(index) or hooks_of_leaf(node)):
                g = as_gradient(run, totals[index], node)
                if run.replay is not None:
                    run.hooked.append((number, g.value))
                made = run.call(hook, [g])
                if isinstance(made, Tensor):
                    run.changing.add(number)
                    if made.shape != g.shape:
                        run.fail_as("hook shape", getattr(hook, "name", "<lambda>"))
                    totals[index] = made.node if type(made.node) in NODES else np.asarray(made.value)[()]
            if index in run.retained:
                retain(run, run.retained[index], totals[index])
                if run.replay is not None:
                    run.kept.append((list(run.retained).index(index), np.array(value_of(totals[index]))))
            if index in targets:
                captured[index] = totals[index]
        yield node


def hooks_of_leaf(node: Node) -> list[tuple[int, Any]]:
    """Return the hooks of a leaf that has other numbers by now."""
    owner = node.owner if type(node) is Input else None
    return [] if owner is None or owner.extra is None else owner.extra.hooks


def as_gradient(run: Run, g: Any, node: Node) -> Tensor:
    """Return a cotangent as a tensor of its own."""
    owner = node.owner if type(node) is Input else None
    dtype = "float32" if run.default_dtype == "float32" else "float64"
    return Tensor(
        g if type(g) in NODES else np.array(g, copy=True).reshape(node.shape), dtype if owner is None else owner.dtype
    )


def retain(run: Run, tensor: Tensor, g: Any) -> None:
    """Add a cotangent to the ``.grad`` of an inner value."""
    made = np.asarray(value_of(g)).reshape(tensor.shape) if type(g) not in NODES else g
    tensor.grad = (
        Tensor(made, tensor.dtype) if tensor.grad is None else run.operate("+", tensor.grad, Tensor(made, tensor.dtype))
    )


def second_name(outputs: list[Node], index: int) -> str | None:
    """Return what PyTorch calls the function that gave a cotangent in a sweep with a graph, None where that shows."""
    nodes = [node for node in nodes_of(outputs, None) if type(node) is Operation]
    users = [node for node in nodes if any(node.arguments[k].index == index for k in node.links)]
    if len(users) != 1:
        return None
    from gradcli.runner.backward_names import second_names

    name = grad_fn_name(Tensor(users[0])) or ""
    if name == "PermuteBackward0" and any(
        grad_fn_name(Tensor(n)) == "MmBackward0" for n in nodes if users[0] in n.arguments
    ):
        return "TBackward0"
    return second_names().get(name)


# ---- the calls
def backward(
    run: Run, outputs: list[Tensor], gradients: list[Any], retain_graph: Any, create_graph: bool, inputs: Any = None
) -> None:
    """Do what ``y.backward(v)`` does: add vᵀ·J to the ``.grad`` of each leaf."""
    seeds = [seed_of(run, y, v, place) for place, (y, v) in enumerate(zip(outputs, gradients, strict=True))]
    targets = None if inputs is None else {t.node.index for t in inputs if type(t.node) in NODES}
    given = [None if v is None else np.asarray(v.value) for v in gradients]
    retain_it = bool(create_graph if retain_graph is None else retain_graph)
    done = run.swept(outputs, seeds, targets, retain_it, create_graph, inputs)
    event = derivative_event(run, "backward", outputs, given)
    note_inputs(run, event, inputs or ())
    reached: dict[int, tuple[Tensor, Any]] = {}
    for index, g in done.totals.items():
        leaf = done.leaves.get(index)
        if leaf is None or not leaf.leaf or not leaf.active or (targets is not None and leaf.node.index not in targets):
            continue
        before = reached.get(id(leaf))
        reached[id(leaf)] = leaf, g if before is None else before[1] + g
    for leaf, g in reached.values():
        accumulate_grad(run, leaf, g)
        if create_graph and type(g) not in NODES and leaf.grad is not None:
            run.noting.constant[leaf.grad] = run.line
        record(run, event, leaf, g)
    for index, g in done.captured.items():
        if index not in done.totals and inputs is not None:
            inner = next(t for t in inputs if type(t.node) in NODES and t.node.index == index)
            if id(inner) not in reached:
                accumulate_grad(run, inner, g)
    run.event(event)
    for leaf, _ in reached.values():  # what these do to leaves comes after the call that they answer
        for hook in run.post_hooks.get(id(leaf), ()):
            run.call(hook, [leaf])


def derivative_event(run: Run, kind: str, outputs: list[Tensor], vs: list[Any]) -> Event:
    """Return the event of a derivative call, before it is known what it gives; several outputs are one, end to end."""
    if run.quiet:
        return Event(kind, run.line)
    if len(outputs) > 1:
        whole = np.concatenate([np.ravel(np.asarray(y.value)) for y in outputs])
        seeds = [np.ones(y.shape) if v is None else v for y, v in zip(outputs, vs, strict=True)]
        return Event(kind, run.line, value=whole, v=np.concatenate(list(map(np.ravel, seeds))), sweep=run.sweeps - 1)
    [output], [v] = outputs, vs
    index = output.node.index if type(output.node) in NODES else -1
    name = run.name_of(output)
    return Event(kind, run.line, output=name, value=output.value, v=v, sweep=run.sweeps - 1, node=index)


def note_inputs(run: Run, event: Event, inputs: Sequence[Tensor]) -> None:
    """Note in an event what a call asks for the gradients of."""
    if run.quiet:
        return
    event.of = [run.name_of(t) or "" for t in inputs]
    event.inner = len(inputs) == 1 and not inputs[0].leaf


def record(run: Run, event: Event, leaf: Tensor, g: Any) -> None:
    """Note in an event what a leaf got, and what it has now."""
    if run.quiet:
        return
    name = run.name_of(leaf) or run.noting.called.get(leaf) or f"leaf{len(event.grad) + 1}"
    while name in event.grad:
        name += "'"
    run.noting.called[leaf] = name
    event.grad[name] = leaf.grad.value if leaf.grad is not None else None
    event.adds[name] = np.asarray(value_of(g)).reshape(leaf.shape)
    event.finite = event.finite and bool(np.all(np.isfinite(np.asarray(event.adds[name], dtype=np.float64))))


def accumulate_grad(run: Run, leaf: Tensor, g: Any) -> None:
    """Add a cotangent to the ``.grad`` of a leaf, in place where there is one."""
    made = g if type(g) in NODES else np.array(g).reshape(leaf.shape)
    before = leaf.grad
    if before is None:
        if type(made) not in NODES and made.size >= LARGE:
            run.meter.hold(made)
        leaf.grad = Tensor(made, leaf.dtype, "torch", "CopyBackwards")
    elif type(made) not in NODES and type(before.node) in NODES:
        before.made_by = grad_fn_name(before)
        before.node = run.overwritten(before.node, value_of(before.node) + made)
        before.version += 1
    elif type(made) in NODES:
        leaf.grad = run.operate("+", before, Tensor(made, leaf.dtype))
    else:
        before.node = np.asarray(before.value) + made
        before.version += 1
        if before.extra is not None and before.extra.rest is not None:
            run.leave_rest(before)


def gradients_of(
    run: Run, outputs: list[Tensor], inputs: list[Tensor], gradients: list[Any], retain_graph: Any, create_graph: bool,
    allow_unused: bool, materialize: bool = False,
) -> list[Tensor | None]:  # fmt: skip
    """Do what ``torch.autograd.grad`` does: return vᵀ·J by each input, and leave ``.grad`` alone."""
    seeds = [seed_of(run, y, v, place) for place, (y, v) in enumerate(zip(outputs, gradients, strict=True))]
    for t in inputs:
        if not t.active:
            run.fail("RuntimeError", "One of the differentiated Tensors does not require grad")
    targets = {t.node.index for t in inputs}
    given = [None if v is None else np.asarray(v.value) for v in gradients]
    retain_it = bool(create_graph if retain_graph is None else retain_graph)
    done = run.swept(outputs, seeds, targets, retain_it, create_graph, inputs)
    found: list[Tensor | None] = []
    for place, t in enumerate(inputs):
        g = done.captured.get(t.node.index, done.totals.get(t.node.index))
        made_by = second_name(done.outputs, t.node.index) if create_graph and type(g) in NODES else None
        if g is None and not allow_unused and not materialize:
            run.fail_as("unused", place, about=run.name_of(t))
        if g is None:
            found.append(Tensor(np.zeros(t.shape), t.dtype) if materialize else None)
        else:
            made = Tensor(g if type(g) in NODES else np.array(g).reshape(t.shape), t.dtype, "torch", made_by)
            if create_graph and type(g) not in NODES:
                run.noting.constant[made] = run.line
            found.append(made)
    event = derivative_event(run, "grad", outputs, given)
    event.returns = [None if t is None else t.value for t in found]
    note_inputs(run, event, inputs)
    event.finite = all(g is None or bool(np.all(np.isfinite(np.asarray(g, dtype=np.float64)))) for g in event.returns)
    run.event(event)
    return found
