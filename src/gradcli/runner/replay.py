"""A script run again as far as one of its derivative calls: recorded with its names, or in another arithmetic.

A leaf is known by its ordinal: each write to a leaf makes a new one. Calls before the one in question return what they
returned when they were recorded, but for those that left a graph: these are walked again, as values of the new graph.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from itertools import count
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Input, Node, reaches, swept
from gradcli.errors import Budget, GradcliError, Place, Span
from gradcli.language.values import settle_integers
from gradcli.ops.joining import CAT
from gradcli.ops.shaping import RESHAPE
from gradcli.records import dataclass, field, replace
from gradcli.runner import backward
from gradcli.runner.backward import Swept, sweep
from gradcli.runner.events import name_of
from gradcli.runner.exceptions import Raised
from gradcli.runner.names import free_value
from gradcli.runner.script import LAST, Assigned, ScriptError, Story, compile_text, run_code, tell, value_at
from gradcli.runner.state import BOUNDS, Run
from gradcli.runner.values import Code, Tensor


class Stopped(Exception):
    """The call that a run was to stop at: its outputs, v and inputs."""

    def __init__(self, outputs: list[Tensor], seeds: list[Any], inputs: list[Tensor] | None) -> None:
        super().__init__("stopped")
        self.outputs = outputs
        self.seeds = seeds
        self.inputs = inputs


@dataclass(slots=True)
class Recorded:
    """What a sweep gave: by the ordinal of each leaf, and for each input that was asked for.

    ``ordinal`` is that of the next leaf: a backward of the script's own may have made some.
    """

    by_leaf: dict[str, Any]
    asked: list[Any]
    ordinal: int
    hooked: list[tuple[int, Any]] = field(default_factory=list)
    kept: list[tuple[int, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Replay:
    """Leads a run: gives leaves other values, sweeps what was recorded, and stops at sweep number ``stop``.

    ``created`` are the outputs of the sweeps that left a graph, each with the nodes that it gave. ``answers`` are what
    was worked out ``once``, by the number of the question, with the next ordinal and the draws that were left then.
    """

    stop: int
    values: Mapping[str, Any] = field(default_factory=dict)
    sweeps: list[Recorded] = field(default_factory=list)
    changing: frozenset[int] = frozenset()
    failed: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    created: list[tuple[list[Node], list[Node]]] = field(default_factory=list)
    answers: dict[int, tuple[Any, int, Any]] = field(default_factory=dict)
    questions: int = 0

    def leaf(self, ordinal: int, value: Any) -> Any:
        """Return the value of a leaf: another one where that is given."""
        return self.values.get(f"leaf{ordinal}", value)

    def sweep(
        self, run: Run, number: int, outputs: list[Tensor], seeds: list[Any], targets: Any, retain: bool, create: bool,
        inputs: list[Tensor] | None,
    ) -> Swept:  # fmt: skip
        """Return what a sweep gives; raises ``Stopped`` at the one that is to be explained."""
        if number == self.stop:
            raise Stopped(outputs, seeds, inputs)
        if number in self.failed:
            run.fail(*self.failed[number])
        nodes = [y.node for y in outputs]
        if create or number >= len(self.sweeps):
            run.hooked, run.kept = [], []
            done = sweep(run, nodes, seeds, targets, True, create)
            if create:
                made = [g for g in (*done.totals.values(), *done.captured.values()) if type(g) in NODES]
                self.created.append((nodes, made))
            if number >= len(self.sweeps):
                leaves = {k: run.graph.nodes[k] for k, g in done.totals.items() if type(g) not in NODES}
                by_leaf = {str(node.name): done.totals[k] for k, node in leaves.items() if type(node) is Input}
                asked = [done.captured.get(t.node.index, done.totals.get(t.node.index)) for t in inputs or ()]
                self.sweeps.append(Recorded(by_leaf, asked, run.ordinal, run.hooked, run.kept))
            run.ordinal = self.sweeps[number].ordinal
            return done
        before = self.sweeps[number]
        run.ordinal = before.ordinal
        for hook, g in before.hooked:
            run.call(run.all_hooks[hook], [Tensor(np.array(g))])
        inner = list(run.retained.values())
        for place, g in before.kept:
            backward.retain(run, inner[place], g)
        entered = [node for name in before.by_leaf if (node := run.entered.get(name)) is not None]
        totals = {node.index: before.by_leaf[node.name] for node in entered}
        captured = {t.node.index: g for t, g in zip(inputs or (), before.asked, strict=False) if g is not None}
        return Swept(nodes, seeds, totals, captured, {node.index: node.owner for node in entered})

    def once(self, run: Run, work: Callable[[], Any]) -> Any:
        """Return what ``work`` gives, or what it gave in another run, which is left as that was."""
        number = self.questions
        self.questions += 1
        if number not in self.answers:
            answer = work()
            self.answers[number] = answer, run.ordinal, deepcopy(run.generators)
            return answer
        answer, run.ordinal, generators = self.answers[number]
        run.generators = deepcopy(generators)
        return answer


@dataclass(slots=True)
class Reached:
    """One call of a script, as a run reached it: its graph, output, v and leaves under the names of the script."""

    graph: Graph
    output: Any
    name: str
    seeds: list[Any]
    leaves: dict[str, Input]
    run: Run


@dataclass(slots=True)
class ScriptProgram:
    """One call of a script as a program: its inputs are the leaves that the output reaches.

    It is evaluated as a ``Program`` is, by running the script again as far as that call. ``forwards`` says that its
    functions with a backward of their own are recorded as what their forward computes, and that no hook is followed:
    the derivative is then that of the output, whatever the script says. ``customs`` are the calls of such functions
    that the output is computed from, ``used`` their numbers among all such calls, the same in every run. ``notes`` and
    ``left_out`` are those of the last run. ``traced`` are the variables that the output is differentiated by,
    ``changing`` the numbers of the hooks that change gradients, ``failed`` the calls that raised, ``watched`` variables
    of which all values are kept, ``gradients`` what inputs are updated by. ``always`` records what PyTorch is told not
    to, ``scoped`` lets a function have variables of its own by the names of the module's. ``whole`` are the inputs that
    are taken as integers.
    """

    text: str
    place: Place
    stop: int
    budget: Budget
    vs: list[Any]
    resets: list[bool]
    code: Code
    seed: int = 0
    given: dict[str, Any] = field(default_factory=dict)
    free: dict[str, Span] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    of: str | None = None
    traced: frozenset[str] = frozenset()
    inputs: dict[str, Span] = field(default_factory=dict)
    ordinals: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    sweeps: list[Recorded] = field(default_factory=list)
    wrt: tuple[str, ...] | None = None
    result: str | None = None
    truths: bool = False
    is_script: bool = True
    single: bool = False
    ended: Any = None
    explained: int = -1
    calls: list[Any] = field(default_factory=list)
    computed: frozenset[str] = frozenset()
    failed: dict[int, tuple[str, str]] = field(default_factory=dict)
    changing: frozenset[int] = frozenset()
    settings: frozenset[str] = frozenset()
    asked: dict[str, str] = field(default_factory=dict)
    watched: frozenset[str] = frozenset()
    gradients: tuple[str, ...] = ()
    always: bool = False
    whole: frozenset[str] = frozenset()
    scoped: bool = True
    last_output: tuple[str, int] | None = None
    stops: bool = True
    joined: tuple[str, ...] = ()
    origins: dict[str, list[str]] = field(default_factory=dict)
    forwards: bool = False
    customs: list[Any] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    answers: dict[int, tuple[Any, int, Any]] = field(default_factory=dict)
    notes: dict[tuple[str, str], None] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def of_values(self, names: Iterable[str]) -> ScriptProgram:
        """Return the program whose output is several values of the script, end to end."""
        return replace(self, joined=tuple(names), stops=False, last_output=None)

    def input_of(self, way: str) -> str | None:
        """Return the name of the input that a traced value is, of several the last; None where the output has none."""
        if way in self.free and way in self.ordinals:
            return way
        made = self.origins.get(way, ())
        names = {ordinal: name for name, ordinal in self.ordinals.items()}
        return next((names[ordinal] for ordinal in reversed(made) if ordinal in names), None)

    def evaluate(
        self, values: Mapping[str, object], wrt: frozenset[str], record: bool = True, strict: bool = False,
        graph: Graph | None = None,
    ) -> tuple[Graph, Any, dict[str, Node]]:  # fmt: skip
        """Run the script as far as the call, with other values of its leaves, and return graph, output and inputs."""
        del wrt, record
        if graph is None:
            graph = Graph(self.budget, strict)
        by_ordinal = {self.ordinals[name]: value for name, value in values.items() if name in self.ordinals}
        reached = self.reach(graph, by_ordinal)
        return reached.graph, reached.output, dict(reached.leaves)

    def reach(self, graph: Graph, by_ordinal: Mapping[str, Any]) -> Reached:
        """Run the script as far as the call."""
        if type(graph) is Graph:
            graph.origins = {}
        run = Run(graph)
        run.seed, run.always, run.forwards, run.place = self.seed, self.always, self.forwards, self.place
        changing = frozenset() if self.forwards else self.changing
        replay = run.replay = Replay(self.stop, by_ordinal, self.sweeps, changing, self.failed, answers=self.answers)
        run.story = Story(
            self.traced, self.others, self.watched, frozenset(self.code.places if self.scoped else ()), self.gradients
        )
        self.enter_given(run)
        run.story.stop = None if self.joined else self.last_output
        try:
            ended = run_code(self.code, self.place, run)
        except Stopped as stopped:
            return self.as_reached(run, replay, stopped)
        except Assigned as assigned:
            return self.as_reached(run, replay, Stopped([as_tensor(run, assigned.value)], [], None))
        if ended.refused is not None:
            raise ended.refused
        if ended.raised is not None and type(graph) is Graph:
            raise ScriptError(ended)
        self.computed = frozenset(run.story.computed)
        inputs = [node for node in graph.nodes if type(node) is Input]
        self.origins = {
            way: [str(node.name) for node in inputs if id(node.owner) in tensors]
            for way, tensors in run.story.leaves.items()
        }
        if self.joined:
            rows = [as_tensor(run, value_at(run.story.last, name)).node for name in self.joined]
            row = run.graph(CAT, *[run.graph(RESHAPE, node, shape=(-1,)) for node in rows], dim=0)
            return self.as_reached(run, replay, Stopped([Tensor(row, "float64", "numpy")], [], None))
        if self.of is not None:
            output = value_at(run.story.last, self.of)
            if type(output) in (int, float):
                output = Tensor(np.asarray(float(output)), "float64", "python")
            if not isinstance(output, Tensor):
                raise GradcliError("type", f"'{self.of}' is no number and no array")
            self.last_output = run.story.last_of(self.of, output) if self.stops else None
            return self.as_reached(run, replay, Stopped([output], [], None))
        why = f": {ended.raised.name}: {ended.raised.text}" if ended.raised is not None else ""
        raise GradcliError("exact", f"the script takes another way in many digits, and does not come to this call{why}")

    def settle(self, values: Mapping[str, Any], wrt: Iterable[str] | None) -> bool:
        """Decide which inputs in integers the script takes as such, which no gradient is by, and return if any."""
        inputs = {name: value for name, value in {**self.values, **values}.items() if name in self.inputs}

        def attempt(arrays: dict[str, Any]) -> str | None:
            self.whole = frozenset(name for name, array in arrays.items() if array.dtype.kind == "i")
            try:
                self.evaluate(arrays, frozenset(arrays) - self.whole)
            except GradcliError as error:
                return error.message
            return None

        settled = settle_integers(inputs, frozenset(wrt or ()), attempt) if inputs.keys() == self.inputs.keys() else {}
        self.whole = frozenset(name for name, array in settled.items() if array.dtype.kind == "i")
        self.wrt = self.wrt and tuple(name for name in self.wrt if name not in self.whole)
        return bool(self.whole)

    def enter_given(self, run: Run) -> None:
        """Give the run the variables that the script leaves free."""
        for name in self.free:
            value = np.asarray(self.given.get(name, 0.0))
            run.given[name] = free_value(run, name, value.astype(np.int64) if name in self.whole else value)

    def as_reached(self, run: Run, replay: Replay, stopped: Stopped) -> Reached:
        """Return the call as it was reached, with its leaves under their names."""
        graph, output = run.graph, one_output(run, stopped.outputs)
        live = {str(leaf.node.name): leaf for leaf in list(run.by_leaf.values()) if type(leaf.node) is Input}
        if not self.ordinals:
            self.name_leaves(run, stopped, output)
        leaves: dict[str, Input] = {}
        for name, ordinal in self.ordinals.items():
            node = next((n for n in graph.nodes if type(n) is Input and n.name == ordinal), None)
            if node is None:
                raise GradcliError("exact", "the script takes another way in many digits, and has other leaves")
            leaves[name] = node
        if type(graph) is Graph:
            self.notes, self.left_out = run.notes, run.left_out
            if not self.forwards:
                self.used = on_the_way(run.customs, output.node, replay.created)
            self.customs = [run.customs[k] for k in self.used if k < len(run.customs)]
        used = {node.index for node in ancestors(output.node)} if len(live) > len(leaves) else set()
        for leaf in [leaf for leaf in live.values() if leaf.node.index in used and leaf.node not in leaves.values()]:
            leaves[self.name_leaf(name_of(run, leaf), dict.fromkeys(leaves, ""))] = leaf.node
        for name, node in leaves.items():
            node.name = name
        graph.inputs = dict(leaves)
        graph.variables, graph.result = self.variables, self.result
        return Reached(graph, output.node, self.result or "y", stopped.seeds, leaves, run)

    def identifier(self, label: str) -> str:
        """Return the name in formulas of what the script calls so."""
        return next((name for name, one in self.labels.items() if one == label), label)

    def name_leaf(self, label: str | None, taken: Mapping[str, str]) -> str:
        """Return the identifier of a leaf, and keep what the script calls it where that is none."""
        name = as_identifier(label, taken)
        if label is not None and len(name) == len(label) and name != label and name not in self.text:
            self.labels[name] = label
        return name

    def name_leaves(self, run: Run, stopped: Stopped, output: Tensor) -> None:
        """Settle what the leaves that the output reaches are called, on the first run."""
        node = output.node
        reached = [n for n in reversed(swept(node)) if type(n) is Input] if type(node) in NODES and node.active else []
        given = [n for n in run.graph.nodes[: len(self.free)] if type(n) is Input]
        reached = [*given, *(n for n in reached if all(n is not one for one in given))]  # what is given is an input
        asked = {id(t) for t in stopped.inputs or ()}
        owners = [n.owner for n in reached]
        rest = [t for t in stopped.inputs or () if type(t.node) is Input and all(t is not owner for owner in owners)]
        reached += [t.node for t in rest if all(t.node is not n for n in reached)]  # nothing flows to these
        for tensors in run.story.leaves.values():  # of several values of a variable the last has its name
            places = [k for k, n in enumerate(reached) if id(n.owner) in tensors]
            latest = sorted((reached[k] for k in places), key=lambda n: n.index, reverse=True)
            for k, node in zip(places, latest, strict=True):
                reached[k] = node
        names: dict[str, str] = {}
        chosen: list[str] = []
        for node in reached:
            leaf = node.owner
            name = self.name_leaf(name_of(run, leaf) if leaf is not None else None, names)
            names[name] = str(node.name)
            self.values[name] = np.asarray(node.value)
            if node.active and (not asked or id(leaf) in asked):
                chosen.append(name)
        self.ordinals = names
        self.inputs = dict.fromkeys(names, (0, 0))
        self.variables = {**dict.fromkeys(self.code.places, 0), **dict.fromkeys(names, 0)}
        self.wrt = tuple(chosen or names)
        self.single = output.library == "torch" and output.dtype == "float32"
        result = None if self.of == LAST else self.of or name_of(run, output)
        self.result = result if result is not None and result.isidentifier() and result not in names else None


def one_output(run: Run, outputs: list[Tensor]) -> Tensor:
    """Return the output of a call; several outputs are one, end to end."""
    if len(outputs) == 1:
        return outputs[0]
    several = any(y.shape for y in outputs)
    rows = [run.function("reshape", y, (-1,)) for y in outputs] if several else outputs
    return run.function("cat" if several else "stack", rows)  # type: ignore[no-any-return]


def as_tensor(run: Run, value: Any) -> Tensor:
    """Return numbers, also those of nested lists, as an array; raises ``type`` for anything else."""
    try:
        made = run.array_of(value, "numpy")
    except Raised:
        made = None
    if not isinstance(made, Tensor) or made.dtype.startswith(("bool", "complex")):
        raise GradcliError("type", f"this is no number and no array: it is of type {run.type_name(value)}")
    return made


def ancestors(output: Any) -> list[Node]:
    """Return the nodes that a value is computed from, those among them that no derivative flows to."""
    return reaches(output) if type(output) in NODES else []


def on_the_way(calls: list[Any], output: Any, created: list[tuple[list[Node], list[Node]]]) -> list[int]:
    """Return which calls of functions with a backward of their own took part in an output, by earlier sweeps too."""
    used = {node.index for node in ancestors(output)}
    for outputs, made in reversed(created):
        if any(node.index in used for node in made):
            used |= {node.index for one in outputs for node in ancestors(one)}
    nodes = [call.ctx.fields.get("_node") for call in calls]
    return [k for k, node in enumerate(nodes) if type(node) in NODES and node.index in used]


def as_identifier(name: str | None, taken: Mapping[str, str]) -> str:
    """Return a way to a leaf as one word of the same length: ``net_fc1_weight`` for ``net.fc1.weight``."""
    word = re.sub(r"\W", "_", name or "leaf")
    return word if word not in taken else next(one for k in count(2) if (one := f"{word}{k}") not in taken)


def program_of(
    text: str, stop: int, vs: list[Any], resets: list[bool], *, given: Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None, of: str | None = None, asked: Mapping[str, str] | None = None,
    budget: Budget = BOUNDS, **settings: Any,
) -> ScriptProgram:  # fmt: skip
    """Return one call of a script, or its last value, as a program; where it can be run its leaves have their names.

    ``given`` are values of the variables that the script leaves free, ``others`` those of leaves in place of its own,
    ``of`` the variable that is the output, ``asked`` expressions that are evaluated at the end, by their variables.
    ``settings`` are other fields of the program.
    """
    last = LAST if stop < 0 and of is None else None
    code, place = compile_text(text, budget=budget, note=tell, last=last, asked=asked)
    free = code.text.free(given or ())
    program = ScriptProgram(
        text, place, stop, budget, vs, resets, code, given=dict(given or {}), free=free, others=dict(others or {}),
        of=of if of is not None or stop >= 0 else code.text.last, asked=dict(asked or {}), **settings,
    )  # fmt: skip
    if free.keys() <= program.given.keys():
        program.reach(Graph(budget), {})
        program.inputs = {name: free.get(name, (0, 0)) for name in program.inputs}
    else:
        program.ordinals = {name: f"leaf{k}" for k, name in enumerate(free)}
        program.inputs = dict(free)
        program.variables = {**dict.fromkeys(code.places, 0), **dict.fromkeys(free, 0)}
    return program
