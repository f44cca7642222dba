"""Derivative calls of a script: sweeps, what they leave in ``.grad``, PyTorch's ``grad_fn`` and its errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import LARGE, NODES, Input, Node, Operation, swept
from gradcli.engine.reverse import cotangents
from gradcli.errors.hints import short_array
from gradcli.language.memory import looks_on
from gradcli.language.torch_refusals import kept_for, saved_places
from gradcli.ops.declare import Keeps, value_of
from gradcli.records import dataclass
from gradcli.runner.events import Event
from gradcli.runner.printing import grad_fn_name
from gradcli.runner.state import Run, Written, memory_key
from gradcli.runner.values import TITLES, Class, Size, Tensor, kind_of

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

    def reaching(self, x: Tensor) -> Any:
        """Return the cotangent of an input, None where nothing has reached it."""
        return self.captured.get(x.node.index, self.totals.get(x.node.index))


def is_finite(g: Any) -> bool:
    """Return whether a gradient has neither nan nor infinities; None is no gradient."""
    return g is None or bool(np.all(np.isfinite(np.asarray(g, dtype=np.float64))))


def own_array(g: Any, shape: tuple[int, ...], order: Any = "K") -> Any:
    """Return a cotangent as a node, or as numbers in an array of their own, by rows or columns in memory."""
    return g if type(g) in NODES else np.array(g, order=order).reshape(shape)


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
    if type(node) in NODES:
        return node
    return np.asarray(node, dtype=np.float64 if value_of(node).dtype != object else object)


def usual_gradients(run: Run, y: Tensor) -> str | None:
    """Return what the sum and the mean of an output would leave in the first leaf; None where that is no short text."""
    name, nodes = run.name_of(y), nodes_of([y.node], None)
    totals = cotangents(run.graph, y.node, np.ones(y.shape), visit=lambda _: nodes)
    owners = {node.index: node.owner for node in nodes if type(node) is Input and node.owner}
    leaf = next((leaf for index, leaf in owners.items() if index in totals and run.name_of(leaf)), None)
    if name is None or leaf is None or leaf.node.index not in totals or np.size(leaf.value) > MOST_SPELLED:
        return None
    grad = np.asarray(totals[leaf.node.index], dtype=np.float64).reshape(leaf.shape)
    ways = (("sum", grad), ("mean", grad / np.size(y.value)))
    texts = [f"{short_array(g)} by {name}.{way}().backward()" for way, g in ways]
    return f"{run.name_of(leaf)}.grad would be {' and '.join(texts)}"


def check_nodes(run: Run, nodes: Sequence[Node]) -> None:
    """Refuse a sweep over what another one has freed, then one that needs a value which was written to since."""
    operations = [node for node in nodes if type(node) is Operation]
    for node in operations:
        if node.links == () and node.op.torch.raises:
            run.fail("RuntimeError", f"derivative for aten::{node.op.name} is not implemented")
        if type(node.links) is Freed and kept_for(node, set()):
            run.fail_as("second time", about=node.links.line)
    for node in operations if run.writes else ():
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
    shows = looks_on(value) and tensor.active
    made_by = grad_fn_name(Tensor(value)) if output else "AsStridedBackward0" if shows else grad_fn_name(tensor)
    name = "torch::autograd::CopySlices" if made_by == "CopySlices" else (made_by or "").partition("Backward")[0]
    made = f", which is output 0 of {name}," if name else ""
    array, version = value_of(value), tensor.writes
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
    reached: dict[int, Node] = {}
    for output in outputs:
        if output.index not in reached:
            reached |= {node.index: node for node in swept(output)}
    needed: set[int] = set()
    for index in sorted(reached):
        node = reached[index]
        leads = type(node) is Operation and any(node.arguments[k].index in needed for k in node.links)
        if targets is None or index in targets or leads:
            needed.add(index)
    return [reached[index] for index in sorted(needed, reverse=True)]


def free(run: Run, nodes: list[Node]) -> None:
    """Free the graph that a sweep went over: another one over it is an error, which names this line."""
    freed: dict[tuple[int, ...], Freed] = {}
    for node in nodes:
        if type(node) is Operation and type(node.links) is not Freed:
            if node.links not in freed:
                freed[node.links] = Freed(node.links)
                freed[node.links].line = run.line
            node.links = freed[node.links]


def sweep(
    run: Run, outputs: list[Node], seeds: list[Any], targets: set[int] | None, retain: bool, create: bool
) -> Swept:
    """Walk back from outputs and return what reaches the leaves."""
    former = former_nodes(run, outputs, targets) if targets else {}
    targets = targets if targets is None else targets | former.keys()
    nodes = nodes_of(outputs, targets)
    check_nodes(run, nodes)
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
        given, seeds = seeds, [np.asarray(value_of(seed)) for seed in seeds]
        totals = cotangents(run.graph, outputs[0], seeds[0], visit=visit)
        seeds = given if any(type(seed) in NODES for seed in given) else seeds
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
    inputs = [node for node in (nodes_of(outputs, None) if now else ()) if type(node) is Input]
    return {node.index: now[id(node.owner)] for node in inputs if id(node.owner) in now and node.index not in targets}


def hooked_visit(
    run: Run, nodes: list[Node], totals: dict[int, Any], captured: dict[int, Any], targets: set[int]
) -> Iterator[Node]:
    """Yield the nodes of a sweep, and before each of them call the hooks of its value with what has reached it."""
    dtype = "float32" if run.default_dtype == "float32" else "float64"
    for node in nodes:
        index = node.index
        if index in totals:
            owner = node.owner if type(node) is Input else None
            of_leaf = owner.extra.hooks if owner is not None and owner.extra is not None else ()
            for number, hook in list(run.hooks.get(index) or of_leaf):
                g = Tensor(own_array(totals[index], node.shape), dtype if owner is None else owner.dtype)
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


def retain(run: Run, tensor: Tensor, g: Any) -> None:
    """Add a cotangent to the ``.grad`` of an inner value."""
    made = Tensor(g if type(g) in NODES else np.asarray(value_of(g)).reshape(tensor.shape), tensor.dtype)
    tensor.grad = made if tensor.grad is None else run.operate("+", tensor.grad, made)


def second_name(outputs: list[Node], index: int) -> str | None:
    """Return what PyTorch calls the function that gave a cotangent in a sweep with a graph, None where that shows."""
    nodes = [node for node in nodes_of(outputs, None) if type(node) is Operation]
    users = [node for node in nodes if any(node.arguments[k].index == index for k in node.links)]
    if len(users) != 1:
        return None
    from gradcli.runner.backward_names import second_names

    name = grad_fn_name(Tensor(users[0])) or ""
    readers = [node for node in nodes if any(users[0] is argument for argument in node.arguments)]
    turned = name == "PermuteBackward0" and any(grad_fn_name(Tensor(node)) == "MmBackward0" for node in readers)
    return "TBackward0" if turned else second_names().get(name)


# ---- the calls
def call_sweep(
    run: Run, outputs: list[Tensor], gradients: list[Any], inputs: Sequence[Tensor] | None, retain_graph: Any,
    create_graph: bool, differentiated: bool = False,
) -> Swept:  # fmt: skip
    """Return what the sweep of a call gives; all of its inputs must be ``differentiated`` where the call asks so."""
    seeds = [seed_of(run, y, v, place) for place, (y, v) in enumerate(zip(outputs, gradients, strict=True))]
    if differentiated and not all(t.active for t in inputs or ()):
        run.fail("RuntimeError", "One of the differentiated Tensors does not require grad")
    targets = None if inputs is None else {t.node.index for t in inputs if type(t.node) in NODES}
    keeps = bool(create_graph if retain_graph is None else retain_graph)
    return run.swept(outputs, seeds, targets, keeps, create_graph, inputs)  # type: ignore[no-any-return]


def backward(
    run: Run, outputs: list[Tensor], gradients: list[Any], retain_graph: Any, create_graph: bool, inputs: Any = None
) -> None:
    """Do what ``y.backward(v)`` does: add vᵀ·J to the ``.grad`` of each leaf."""
    done = call_sweep(run, outputs, gradients, inputs, retain_graph, create_graph)
    asked = None if inputs is None else {t.node.index for t in inputs if type(t.node) in NODES}
    event = derivative_event(run, "backward", outputs, gradients, inputs or ())
    reached: dict[int, tuple[Tensor, Any]] = {}
    for index, g in done.totals.items():
        leaf = done.leaves.get(index)
        if leaf is None or not leaf.leaf or not leaf.active or (asked is not None and leaf.node.index not in asked):
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


def derivative_event(
    run: Run, kind: str, outputs: list[Tensor], gradients: list[Any], inputs: Sequence[Tensor]
) -> Event:
    """Return the event of a derivative call, without what it gives; several outputs are one, end to end."""
    event = Event(kind, run.line)
    if run.quiet:
        return event
    vs = [None if v is None else np.asarray(v.value) for v in gradients]
    event.sweep = run.sweeps - 1
    if len(outputs) > 1:
        event.value = np.concatenate([np.ravel(np.asarray(y.value)) for y in outputs])
        rows = [np.ones(y.shape) if v is None else v for y, v in zip(outputs, vs, strict=True)]
        event.v = np.concatenate(list(map(np.ravel, rows)))
    else:
        [output], [event.v] = outputs, vs
        event.node = output.node.index if type(output.node) in NODES else -1
        event.output, event.value = run.name_of(output), output.value
    event.of = [run.name_of(t) or "" for t in inputs]
    event.inner = len(inputs) == 1 and not inputs[0].leaf
    return event


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
    event.finite = event.finite and is_finite(event.adds[name])


def accumulate_grad(run: Run, leaf: Tensor, g: Any) -> None:
    """Add a cotangent to the ``.grad`` of a leaf, in place where there is one."""
    order = "F" if np.asarray(leaf.value).flags.fnc else "C"
    made, before = own_array(g, leaf.shape, order), leaf.grad
    if before is None:
        if type(made) not in NODES and made.size >= LARGE:
            run.meter.hold(made)
        leaf.grad = Tensor(made, leaf.dtype, "torch", "CopyBackwards")
    elif type(made) in NODES:
        leaf.grad = run.operate("+", before, Tensor(made, leaf.dtype))
    elif type(before.node) in NODES:
        before.made_by = grad_fn_name(before)
        before.node = run.overwritten(before.node, value_of(before.node) + made)
        before.version += 1
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
    done = call_sweep(run, outputs, gradients, inputs, retain_graph, create_graph, differentiated=True)
    results: list[Tensor | None] = []
    for place, t in enumerate(inputs):
        g = done.reaching(t)
        if g is None:
            if not allow_unused and not materialize:
                run.fail_as("unused", place, about=run.name_of(t))
            results.append(Tensor(np.zeros(t.shape), t.dtype) if materialize else None)
            continue
        by_node = create_graph and type(g) in NODES
        made_by = second_name(done.outputs, t.node.index) if by_node else None
        made = Tensor(own_array(g, t.shape), t.dtype, "torch", made_by)
        if create_graph and not by_node:
            run.noting.constant[made] = run.line
        results.append(made)
    event = derivative_event(run, "grad", outputs, gradients, inputs)
    event.returns = [None if t is None else t.value for t in results]
    event.finite = all(map(is_finite, event.returns))
    run.event(event)
    return results


# ---- PyTorch's graph of functions
OWN = ((Keeps.OWN,),)
"""What an op keeps that keeps neither arguments nor output: a function of the user's, which runs only once."""
DERIVATIVES = {"MarginLoss": 1, "Loss": 2, "CrossEntropy": 2}
"""How many arguments functions have derivatives by, of those that have not by all, by a part of their names."""


class GradFn:
    """What ``grad_fn`` is: the function that made a tensor."""

    def __init__(self, node: Any, name: str) -> None:
        self.node, self.name = node, name
        of_script = type(node) in NODES and "call" in node.static  # a Function that the script has written
        self.text = f"<{'torch.autograd.function.' * of_script}{name} object at 0x7f0000000000>"
        self.script_class = Class(name, [], {})

    attributes = {  # noqa: RUF012
        "next_functions": lambda run, me: next_functions(run, me),  # noqa: PLW0108 - it stands below
        "name": lambda run, me: lambda run: f"torch::autograd::{me.name}" if "Backward" not in me.name else me.name,
        "variable": lambda run, me: run.by_leaf.get(me.node.index),
        "saved_tensors": lambda run, me: (),
    }


def grad_fn_of(run: Run, node: Any, name: str) -> Any:
    """Return the function that gave a node, the same one for as long as a script has it."""
    return run.grad_fns.setdefault((node.index, name), GradFn(node, name))


def next_functions(run: Run, fn: GradFn) -> Any:
    """Return the functions that made the arguments."""
    parts: list[Any] = []
    fused = run.fused.get(fn.node)
    turned = fused is not None and fused.made_by[0].endswith("linear")
    for argument in arguments_of(run, fn.node, fn.name):
        if type(argument) in NODES and argument.active:
            name = function_name(run, argument)
            name = "TBackward0" if turned and name == "PermuteBackward0" else name
            parts.append((grad_fn_of(run, argument, name), 0))
        elif isinstance(argument, np.ndarray) or type(argument) in NODES:
            parts.append((None, 0))
    return tuple(parts)


def function_name(run: Run, node: Any) -> str:
    """Return what PyTorch calls the function that gave a node."""
    if node.op is None:
        return "AccumulateGrad"
    fused = run.fused.get(node)
    return grad_fn_name(Tensor(node, made_by=None if fused is None else fused.made_by)) or ""


def arguments_of(run: Run, node: Any, name: str) -> Sequence[Any]:
    """Return the arguments of a function of PyTorch's, in its order."""
    arguments = node.arguments
    if node.op is None:
        return ()
    if name == "AddmmBackward0" and node.op.text.operator == "+" and len(arguments[0].arguments) == 2:
        product, bias = arguments
        return (bias, *product.arguments)
    fused = run.fused.get(node)
    if fused is not None and name != grad_fn_name(Tensor(node)):
        floats = [a for a in fused.arguments if np.asarray(value_of(a)).dtype.kind in "fO"]
        apart = [inner for inner in within(node, fused.first) if is_apart(inner)]
        if name.startswith("Native"):
            floats += [np.zeros(())] * (3 - len(floats))
        return apart[:1] or floats[: next((count for word, count in DERIVATIVES.items() if word in name), None)]
    if node.op.text.operator in ("+", "-", "*", "/") and name != "RsubBackward1" and len(arguments) == 2:
        numbers = [a for a in arguments if type(a) not in NODES and not isinstance(a, np.ndarray)]
        return (*[a for a in arguments if not any(a is n for n in numbers)], *[np.zeros(())] * len(numbers))
    return arguments  # type: ignore[no-any-return]


def is_apart(node: Any) -> bool:
    """Return whether an operation within a call is a function of PyTorch's itself."""
    from gradcli.ops.neural import LOG_SOFTMAX  # who asks has called it

    return node.op is LOG_SOFTMAX


def within(node: Any, first: int) -> Iterator[Any]:
    """Yield the operations of a call that ends with a node, that one first, and after each its arguments."""
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        yield one
        for argument in one.arguments if not is_apart(one) else ():
            if type(argument) in NODES and argument.op is not None and argument.index >= first and argument not in seen:
                seen.add(argument)
                waiting.append(argument)


def watched(run: Run, nodes: Sequence[Node], walk: Iterable[Node], totals: dict[int, Any]) -> Iterator[Node]:
    """Yield the nodes of a walk; raises what PyTorch raises where one of them has handed on nan."""
    ends: dict[Node, Node] = {}
    for node in reversed(nodes):
        fused = run.fused.get(node)
        if fused is not None and function_name(run, node) != grad_fn_name(Tensor(node)):
            ends |= {one: node for one in within(node, fused.first) if one is node or not is_apart(one)}
    for node in walk:
        g = totals.get(node.index)
        yield node
        if g is not None and type(node) is Operation:
            refuse_nan(run, node, g, totals, ends)


def refuse_nan(run: Run, node: Operation, g: Any, totals: dict[int, Any], ends: dict[Node, Node]) -> None:
    """Raise what PyTorch raises where an operation hands on nan to what another function made."""
    end = ends.get(node, node)
    for k in node.links:
        argument = node.arguments[k]
        if node in ends and ends.get(argument) is end:
            continue
        if node.op.torch.saves == OWN:
            part = np.asarray(totals.get(argument.index))
        else:
            vjp: Any = node.op.vjps[k] if type(node.op.vjps) is tuple else node.op.vjps(k)  # type: ignore[operator]
            values = [np.asarray(value_of(g))[()], node.value, *map(value_of, node.arguments)]
            with np.errstate(all="ignore"):
                part = np.asarray(vjp(*values, **node.static))
        if part.dtype.kind == "f" and np.isnan(part).any():
            name = function_name(run, end)
            places = [j for j, one in enumerate(arguments_of(run, end, name)) if one is argument]
            place = places[0 if len(places) < 2 or k == node.links[0] else 1] if places else 0
            run.fail("RuntimeError", f"Function '{name}' returned nan values in its {place}th output.")
