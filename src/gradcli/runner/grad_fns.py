"""PyTorch's graph of functions: what ``grad_fn`` is, what is behind it, and which of them gave nan.

A function of PyTorch's may be several operations of gradcli's: ``run.fused`` has for the last of these what was called.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import NODES, Node, Operation
from gradcli.ops.declare import Keeps, value_of
from gradcli.runner.printing import grad_fn_name
from gradcli.runner.state import Run
from gradcli.runner.values import Class, Tensor

OWN = ((Keeps.OWN,),)
"""What an op keeps that keeps neither arguments nor output: a function of the user's, which runs only once."""
DERIVATIVES = {"MarginLoss": 1, "Loss": 2, "CrossEntropy": 2}
"""How many arguments functions have derivatives by, of those that have not by all, by a part of their names."""


class Fused(NamedTuple):
    """A call that was several operations: the number of the first, what was called and the nodes it was given."""

    first: int
    made_by: Any
    arguments: list[Any]


class GradFn:
    """What ``grad_fn`` is: the function that made a tensor."""

    def __init__(self, run: Run, node: Any, name: str) -> None:
        self.node, self.name = node, name
        self.text = f"<{name} object at 0x7f0000000000>"
        self.script_class = Class(name, [], {})

    attributes = {  # noqa: RUF012
        "next_functions": lambda run, me: next_functions(run, me),  # noqa: PLW0108 - it stands below
        "name": lambda run, me: lambda run: f"torch::autograd::{me.name}" if "Backward" not in me.name else me.name,
        "variable": lambda run, me: run.by_leaf.get(me.node.index),
        "saved_tensors": lambda run, me: (),
    }


def next_functions(run: Run, fn: GradFn) -> Any:
    """Return the functions that made the arguments."""
    parts: list[Any] = []
    fused = run.fused.get(fn.node)
    turned = fused is not None and fused.made_by[0].endswith("linear")
    for argument in arguments_of(run, fn.node, fn.name):
        if type(argument) in NODES and argument.active:
            name = function_name(run, argument)
            name = "TBackward0" if turned and name == "PermuteBackward0" else name
            parts.append((GradFn(run, argument, name), 0))
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
    """Return what a function of PyTorch's was given, in its order."""
    arguments = node.arguments
    if node.op is None:
        return ()
    if name == "AddmmBackward0" and node.op.text.operator == "+" and len(arguments[0].arguments) == 2:
        product, bias = arguments
        return (bias, *product.arguments)
    fused = run.fused.get(node)
    if fused is not None and name != grad_fn_name(Tensor(node)):
        given = [a for a in fused.arguments if np.asarray(value_of(a)).dtype.kind in "fO"]
        apart = [inner for inner in within(node, fused.first) if is_apart(inner)]
        if name.startswith("Native"):
            given += [np.zeros(())] * (3 - len(given))
        return apart[:1] or given[: next((count for word, count in DERIVATIVES.items() if word in name), None)]
    if node.op.text.operator in ("+", "-", "*", "/") and name != "RsubBackward1" and len(arguments) == 2:
        numbers = [a for a in arguments if type(a) not in NODES and not isinstance(a, np.ndarray)]
        return (*[a for a in arguments if not any(a is n for n in numbers)], *[np.zeros(())] * len(numbers))
    return arguments  # type: ignore[no-any-return]


def is_apart(node: Any) -> bool:
    """Return whether an operation within a call is a function of PyTorch's itself."""
    from gradcli.ops.neural import LOG_SOFTMAX  # who asks has called it

    return node.op is LOG_SOFTMAX


def within(node: Any, first: int) -> Iterator[Any]:
    """Yield the operations of a call that ends with a node, that one first, and after each what it was given."""
    waiting, seen = [node], {node}
    while waiting:
        one = waiting.pop()
        yield one
        for argument in one.arguments if not is_apart(one) else ():
            if type(argument) in NODES and argument.op is not None and argument.index >= first and argument not in seen:
                seen.add(argument)
                waiting.append(argument)


# ---- anomalies
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
        part = np.asarray(totals.get(argument.index) if node.op.torch.saves == OWN else handed_on(node, k, g))
        if part.dtype.kind == "f" and np.isnan(part).any():
            name = function_name(run, end)
            places = [j for j, one in enumerate(arguments_of(run, end, name)) if one is argument]
            place = places[0 if len(places) < 2 or k == node.links[0] else 1] if places else 0
            run.fail("RuntimeError", f"Function '{name}' returned nan values in its {place}th output.")


def handed_on(node: Operation, k: int, g: Any) -> Any:
    """Return what an operation hands on to one argument."""
    vjp: Any = node.op.vjps[k] if type(node.op.vjps) is tuple else node.op.vjps(k)  # type: ignore[operator]
    with np.errstate(all="ignore"):
        return vjp(np.asarray(value_of(g))[()], node.value, *map(value_of, node.arguments), **node.static)
