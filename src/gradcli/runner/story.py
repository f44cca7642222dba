"""What a recorded run tells of its assignments: names of values, inputs that are traced, other values of leaves."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.errors.suggest import did_you_mean
from gradcli.ops.declare import value_of
from gradcli.runner.objects import Frame, Instance
from gradcli.runner.state import Run, constant
from gradcli.runner.values import Tensor, extra_of

LAST = "_last_value"
"""The variable that has the value of a script's last expression."""


MOST_VERSIONS = 400
"""Values of one variable that are kept: the last ones."""


class Version(NamedTuple):
    """What a variable was given, as which assignment of all, and the node that it had then."""

    order: int
    value: Any
    node: Any


class Story:
    """Takes down what the script calls the values of a recorded run: the first name of each, or that of the outermost.

    ``traced`` are variables whose values are inputs, ``last`` is what each variable was given last, and ``others`` are
    values that leaves have in place of the script's own. ``texts`` are those that show traced numbers, each with its
    number. ``versions`` has what the variables of ``watched`` were given, in order, each with its node at that time.
    Of a variable of the module, which ``module`` are, a function's own of the same name is no input. ``origins`` are
    the ordinals of the leaves that each variable of ``traced`` was.
    """

    def __init__(
        self,
        traced: frozenset[str] = frozenset(),
        others: Mapping[str, Any] | None = None,
        watched: frozenset[str] = frozenset(),
        module: frozenset[str] = frozenset(),
    ) -> None:
        self.places: dict[int, tuple[int, int]] = {}
        self.traced = traced
        self.others = others or {}
        self.last: dict[str, Any] = {}
        self.makers: dict[str, int] = {}
        self.texts: dict[str, Tensor] = {}
        self.computed: set[str] = set()
        self.seen: set[str] = set()
        self.origins: dict[str, list[str]] = {}
        self.watched = watched
        self.module = module
        self.versions: dict[str, deque[Version]] = {}
        self.assignments = 0

    def makes(self, run: Run, name: str, leaf: Tensor) -> bool:
        """Return whether an assignment makes a leaf: it is the first of its name, or the same line with a new one."""
        return self.last.get(name) is not leaf and self.makers.setdefault(name, run.line) == run.line

    def see(self, value: Any, name: str) -> None:
        """Note of a variable that is traced whether its first value is computed from others which are."""
        if name not in self.seen and isinstance(value, Tensor) and value.active and not value.leaf:
            self.computed.add(name)
        self.seen.add(name)

    def tell(self, regs: Frame, name: str, value: Any) -> Any:
        """Note an assignment, and return what is assigned: an input of its own where that is asked for."""
        inside = name in self.module and len(regs[0].frames) > 1
        if name in self.traced and not inside:
            self.see(value, name)
            value = as_leaf(regs[0], value, name)
        for way in () if inside else self.traced:
            if way != name and way.startswith(name) and way[len(name)] in ".[":
                trace_inside(regs[0], value, way)
        if name in self.others and isinstance(value, Tensor) and value.leaf and self.makes(regs[0], name, value):
            give(regs[0], value, self.others[name])
        self.last[name] = value
        if name in self.watched:
            self.assignments += 1
            version = Version(self.assignments, value, value.node if isinstance(value, Tensor) else None)
            self.versions.setdefault(name, deque(maxlen=MOST_VERSIONS)).append(version)
        if isinstance(value, Tensor) and type(value.node) is np.ndarray and value.shape and name.isidentifier():
            name_constant(regs[0].graph.constants, name, value.node)
        if (
            isinstance(value, Tensor)
            and type(value.node) in NODES
            and value.node.op is not None
            and name.isidentifier()
            and name != LAST
        ):
            run: Run = regs[0]
            node, depth = value.node, len(run.frames)
            there = self.places.get(node.index)
            bindings = run.graph.bindings
            if there is None:
                self.places[node.index] = len(bindings), depth
                bindings.append((name, node))
            elif there[1] > depth:
                bindings[there[0]] = (name, node)
                self.places[node.index] = there[0], depth
        return value


def steps_of(way: str) -> list[tuple[str, Any]]:
    """Return dots and brackets of a way such as ``net.fc1.weight`` or ``params['W1']``: ``.`` or ``[`` and a key."""
    steps: list[tuple[str, Any]] = []
    node = ast.parse(way, mode="eval").body
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.append((".", node.attr))
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            steps.append(("[", node.slice.value))
            node = node.value
        else:
            raise GradcliError("unknown-name", f"'{way}' is no variable, attribute or item of the script")
    return steps[::-1]


def inside(value: Any, step: tuple[str, Any]) -> Any:
    """Return what holds the value of one step: the attributes of an object, or a container; None where it is none."""
    sign, key = step
    held = value.fields if sign == "." and isinstance(value, Instance) else value if sign == "[" else None
    there = (isinstance(held, dict) and key in held) or (
        isinstance(held, list) and isinstance(key, int) and -len(held) <= key < len(held)
    )
    return held if there else None


def trace_inside(run: Run, value: Any, way: str) -> None:
    """Make what is at the end of a way an input of its own, where it is there."""
    *first, last = steps_of(way)
    for step in first:
        held = inside(value, step)
        if held is None:
            return
        value = held[step[1]]
    held = inside(value, last)
    if held is not None and not (isinstance(held[last[1]], Tensor) and held[last[1]].leaf):
        run.story.see(held[last[1]], way)
        held[last[1]] = as_leaf(run, held[last[1]], way)


def value_at(values: Mapping[str, Any], way: str) -> Any:
    """Return what is at the end of a way; raises ``unknown-name``."""
    if way in values:
        return values[way]
    root = re.split(r"[.\[]", way)[0]
    value = values.get(root)
    for step in steps_of(way) if root in values else ():
        held = inside(value, step)
        if held is None:
            value = None
            break
        value = held[step[1]]
    if value is None:
        raise GradcliError("unknown-name", f"the script gives '{way}' no value", hint=did_you_mean(way, values))
    return value


def name_constant(constants: dict[str, Any], name: str, array: Any) -> None:
    """Note what a script calls an array that depends on no input; another one of the same name gets a number."""
    called, number = name, 1
    while called in constants and constants[called] is not array:
        number += 1
        called = f"{name}{number}"
    constants[called] = array


def as_leaf(run: Run, value: Any, name: str) -> Any:
    """Return a value as an input of its own: an array, a number of Python's, or a tensor, which derivatives end in."""
    made = made_leaf(run, value, name)
    if isinstance(made, Tensor) and made.leaf:
        run.story.origins.setdefault(name, []).append(str(made.node.name))
    return made


def made_leaf(run: Run, value: Any, name: str) -> Any:
    """Return a value as a leaf; what is one already, and what is no float, as it is."""
    if type(value) in (int, float):
        return named_leaf(run, Tensor(np.float64(value), "float64", "python"), name)
    if isinstance(value, Tensor) and not value.leaf and value.dtype.startswith(("float", "bfloat")):
        leaf = named_leaf(run, Tensor(np.array(value_of(constant(run, value.node))), value.dtype, value.library), name)
        if value.library != "torch" or not value.active:
            return leaf
        value.node = leaf.node  # whatever else has the tensor sees it too
    return value


def named_leaf(run: Run, leaf: Tensor, name: str) -> Tensor:
    """Return a tensor as a leaf that has its name even where the variable has another value by then."""
    extra_of(leaf).name = name
    return run.enter_leaf(leaf)


def give(run: Run, leaf: Tensor, value: Any) -> None:
    """Give a leaf another value."""
    array = np.asarray(value, dtype=np.float64)
    run.by_leaf.pop(leaf.node.index, None)
    leaf.node = array
    run.enter_leaf(leaf)


def free_leaf(run: Run, value: Any) -> Tensor:
    """Return a variable that the script leaves free: a leaf."""
    return run.enter_leaf(Tensor(np.asarray(value, dtype=np.float64), "float32", "torch"))


def tell(regs: Frame, name: str, value: Any) -> Any:
    """Note an assignment in the story of the run."""
    return regs[0].story.tell(regs, name, value)
