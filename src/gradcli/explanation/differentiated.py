"""The gradient as values of the graph: the sweep back carried out by operations, to be differentiated once more.

Each operation hands on what the text of its vjp says (``formulas/vjps.py``), evaluated by the language on the graph
itself. What a text gives is held against the number that the engine's own rule gives there, and where it is another,
the next way to write the rule is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import accumulate
from gradcli.errors import GivenUp, GradcliError
from gradcli.explanation.backward import CHOICES
from gradcli.explanation.rereading import compiled
from gradcli.formulas.recorder import Unwritable, Written, lift, settle, write
from gradcli.formulas.vjps import undo_broadcast, write_vjp
from gradcli.language.runtime import as_tensor
from gradcli.ops.arithmetic import ADD
from gradcli.ops.axes import unbroadcast
from gradcli.ops.declare import Array, value_of

ROUNDING = 1e-9
"""How far what a text gives may be from the engine's number, relative to the largest of its array."""
UNITS = 1e-12
"""How far it may be, relative to the sizes of what a rule multiplies and adds up."""
GIVEN = "g", "y", "x"
"""What the texts of rules call the cotangent and the value of an operation, and, with numbers, its arguments."""


def record_gradient(graph: Graph, output: Operation, seed: Array) -> dict[int, Any]:
    """Return ∂(seed·output)/∂x for the inputs that derivatives reach, by node index: nodes, or numbers.

    The nodes are entered in ``graph``. Raises ``second`` where an operation's rule cannot be written.
    """
    nodes = [node for node in reversed(reaches(output)) if node.active]
    with np.errstate(all="ignore"):
        return accumulate(
            {output.index: np.asarray(seed)[()]}, nodes, along(graph), lambda a, b, _own: graph(ADD, a, b)
        )


def along(graph: Graph):  # type: ignore[no-untyped-def]
    """Return what hands a cotangent on to one argument of an operation, as an operation."""

    def handed_on(node: Operation, k: int, g: Any) -> Any:
        graph.meter.watch()
        wanted, slack = numbers(node, k, value_of(g))
        for choice, short in product(range(CHOICES), (True, False)):
            found = write_on(graph, node, k, g, choice, short)
            if found is not None and is_near(np.asarray(value_of(found)), wanted, slack):
                return found
        raise GradcliError(
            "second",
            f"the derivative of {node.op.name} cannot be differentiated once more: its rule is not written in the "
            "language",
        )

    return handed_on


def numbers(node: Operation, k: int, g: Array) -> tuple[Array, float]:
    """Return what the engine hands on, and how far rounding may move it: its sums may cancel."""
    values = [value_of(a) for a in node.arguments]
    part = np.asarray(node.op.vjp_along(k)(g, node.value, *values, **node.static))
    sizes = [np.max(np.abs(x), initial=0.0) for x in (part, g, *values) if np.asarray(x).dtype.kind == "f"]
    slack = UNITS * max([float(sizes[0]), float(np.prod(sizes[1:]))])
    return np.asarray(unbroadcast(part, node.arguments[k].shape)), slack if np.isfinite(slack) else 0.0


def write_on(graph: Graph, node: Operation, k: int, g: Any, choice: int, short: bool) -> Any:
    """Return what the text of a rule gives on the graph, in the shape of the argument; None where there is none.

    With ``short`` a constant of equal entries stands in the text as one number, which few rules cannot take.
    """
    bound: dict[str, Any] = {}

    def written(name: str, value: Any) -> Any:
        if not isinstance(value, Node) and (np.ndim(value) == 0 or (short and is_uniform(value))):
            return value
        bound[name] = value
        return write(name, value_of(value))

    of_g, of_y = GIVEN[:2]
    try:
        arguments = [written(f"{GIVEN[2]}{k}", value) for k, value in enumerate(node.arguments)]
        part = write_vjp(node, k, lift(written(of_g, g)), written(of_y, node), arguments, choice)
        part = undo_broadcast(part, node.arguments[k].shape)
        return run_text(graph, settled(part), bound)
    except GivenUp:
        raise
    except (Unwritable, GradcliError):
        return None


def is_uniform(value: Any) -> bool:
    """Return whether an array of doubles has one entry many times."""
    array = np.asarray(value)
    return array.dtype == np.float64 and bool(array.size) and bool(np.all(array == array.flat[0]))


def settled(part: Written) -> str:
    """Return the text that gives an array in its whole shape."""
    return settle(part).text


def run_text(graph: Graph, text: str, bound: Mapping[str, Any]) -> Any:
    """Return what an expression gives where its names stand for these nodes and arrays; None for what is none."""
    program = compiled(text, frozenset(bound))
    if program is None or not program.inputs.keys() <= bound.keys():
        return None
    frame = program.frame(graph)
    for name in program.inputs:
        frame[program.variables[name]] = bound[name]
    return as_tensor(program.run(frame))


def is_near(found: Array, wanted: Array, slack: float) -> bool:
    """Return whether numbers are the engine's, but for rounding; where that is not finite, nor may they be."""
    if found.shape != wanted.shape:
        return False
    finite = np.isfinite(wanted)
    largest = np.max(np.abs(wanted), initial=0.0, where=finite)
    near = np.abs(found - wanted) <= ROUNDING * largest + slack
    return bool(np.all(np.where(finite, near, ~np.isfinite(found))))
