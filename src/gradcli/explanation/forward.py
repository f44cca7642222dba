"""What ran: the values of a program in order, as the user wrote them, with the turns and branches they stand in."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node, Operation, reaches
from gradcli.engine.naming import call_assigned, output_name, place_text, tight
from gradcli.explanation.evaluation import Run
from gradcli.explanation.parts import BranchTaken, Decision, Event, LoopEnded, TurnBegun, Value
from gradcli.formulas.texts import array_text, nested
from gradcli.language.arithmetic import Listed
from gradcli.language.compiling import Assigned, Branch, Chosen, Condition, Ended, Loop, Turn, Written
from gradcli.ops import Pair
from gradcli.ops.declare import Array, value_of
from gradcli.ops.writing import number_text
from gradcli.records import dataclass, field

MOST_LISTED = 64
"""Entries of a value that was written to up to which its formula lists them."""


class Story(NamedTuple):
    """What ran, in order, and the names that it has for values without one of the program's, by node index."""

    events: list[Event]
    names: Mapping[int, str] = {}


def tell_values(graph: Graph, output: Any, made: Mapping[str, int], taken: Collection[str]) -> Story:
    """Return what ran, in order: values, and between them the branches and turns.

    ``made`` are the nodes that formulas of the answer gave a name, ``taken`` all names that stand for anything there.

    >>> [type(event).__name__ for event in gradcli.explain("y = x if x > 0 else -x", x=1.0).forward]
    ['Value', 'BranchTaken', 'Value']
    """
    if graph.story is not None:
        return Story(list(Teller(graph, output).events()))
    inputs: list[Event] = [
        Value(name, None, None, np.asarray(leaf.value), "input") for name, leaf in graph.inputs.items()
    ]
    if type(output) is not Operation:
        if type(output) not in NODES:
            inputs.append(Value(output_name(graph, output), None, None, np.asarray(value_of(output)), "output"))
        return Story(inputs)
    from gradcli.explanation.steps_of_graph import write_steps  # a formula tells its own story

    steps = write_steps(graph, output, {index: name for name, index in made.items()}, taken)
    return Story([*inputs, *steps.values], steps.names)


def has_steps(run: Run) -> bool:
    """Return whether the program names a value between the inputs and y, or uses an input as a whole twice."""
    if not isinstance(run.output, Operation):
        return False
    operations = [node for node in reaches(run.output) if node.active and isinstance(node, Operation)]
    used = [node.arguments[k].index for node in operations if not node.op.entries.moves for k in node.links]
    twice = any(used.count(leaf.index) > 1 for leaf in run.leaves.values())
    return twice or any(node is not run.output and node.index in run.named for node in operations)


@dataclass
class Teller:
    """Reads the story of one run.

    ``current`` is what each variable of the program is called where the reading stands, or an integer's text;
    ``plain`` is what stands in formulas for a value that is no array of doubles, ``unsaid`` are such values that a
    write has changed through another name: nothing says what they hold.
    """

    graph: Graph
    output: Any
    called: list[str] = field(init=False)
    name: str = field(init=False)
    current: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)
    read: int = 0
    plain: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    unsaid: set[str] = field(default_factory=set)
    turns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.called = call_assigned(self.graph)
        self.name = output_name(self.graph, self.output)

    @cached_property
    def nodes(self) -> dict[str, Node | None]:
        """The nodes of all values by name, also those that the story has let go."""
        return {name: node for name, (_, node) in zip(self.called, self.graph.bindings, strict=True)}

    def events(self) -> Iterator[Event]:
        """Yield what ran."""
        for name, node in self.graph.inputs.items():
            self.seen.add(name)
            yield Value(name, None, None, np.asarray(node.value), "input")
        counts = self.count_turns()
        for number, (record, what, position) in enumerate(self.graph.story or ()):
            self.advance(position - (record.place if isinstance(record, Assigned) else 0))
            if isinstance(record, Assigned):
                yield from self.assigned(record, what, position)
            elif isinstance(record, Branch):
                yield from self.branch(record, what)
            elif isinstance(what, Turn):
                yield self.turn(record, what, counts[number])
            else:
                yield from self.ended(record, what)

    def count_turns(self) -> dict[int, int]:
        """Return how many turns the loop has of each turn in the story, by its place there."""
        counts: dict[int, int] = {}
        running: list[list[int]] = []
        for number, (_, what, _) in enumerate(self.graph.story or ()):
            if isinstance(what, Turn):
                if what.number == 1:
                    running.append([])
                running[-1].append(number)
            elif isinstance(what, Ended) and what.turns:
                counts.update(dict.fromkeys(running.pop(), what.turns))
        return counts

    def advance(self, position: int) -> None:
        """Take note of what variables are called after so many assignments."""
        for place in range(self.read, position):
            self.current[self.graph.bindings[place][0]] = self.called[place]
        self.read = max(self.read, position)

    def call(self, name: str) -> str:
        """Return what a variable is called now."""
        return self.current.get(name, name)

    def formula_of(self, name: str) -> str:
        """Return what stands for a variable in a formula whose names are arrays of doubles."""
        called = self.call(name)
        return self.plain.get(called, called)

    def assigned(self, record: Assigned, value: Any, position: int) -> Iterator[Value]:
        """Yield a value that was assigned, and before it those that it mentions and that nobody has told."""
        name = self.called[position] if record.name else self.name
        if not record.name and name in self.seen:
            return
        if record.count > 1:
            self.current, later = (
                (dict(self.current), self.current) if not record.place else (self.before, self.current)
            )
            self.before = self.current
        yield from self.mentioned(record)
        turn = self.turns[-1] if self.turns else 0
        text, formula = (self.written(record, turn, call) for call in (self.call, self.formula_of))
        unsaid = not record.value.text or any(self.call(name) in self.unsaid for name in names_in(record))
        if record.count > 1:
            self.current = later
        numbers = numbers_of(value)
        if numbers is None or numbers.dtype != np.float64 or isinstance(value, Pair):
            self.plain[name] = plain_text(value, formula)
            self.unsaid |= {name} if unsaid else set()
        if record.index is not None:
            formula = self.spelled_out(record, value, formula)
        if numbers is not None and numbers.dtype == bool:
            formula = f"where({formula}, 1, 0)"
        if numbers is not None:
            target = f"{name}[{record.index.put(self.call)}]" if record.index else ""
            said = None if unsaid else formula
            yield Value(
                name, text if record.value.text else None, said, numbers, self.role(name, value), target, self.turns
            )
        self.seen.add(name)

    def written(self, record: Assigned, turn: int, call: Callable[[str], str]) -> str:
        """Return what a value is as the user wrote it, or entry by entry where a write to another changed it."""
        if record.chosen is None:
            return assigned_text(record, turn, call)
        old, new, (chosen, shape) = call(record.name), call(record.value.text), record.chosen
        texts = [
            tight(new) + place_text(k, shape) if k >= 0 else tight(old) + place_text(i, chosen.shape)
            for i, k in enumerate(chosen.ravel().tolist())
        ]
        return nested(texts, chosen.shape)

    def role(self, name: str, value: Any) -> str:
        """Return the role of a value that is no input."""
        if name == self.name:
            return "output"
        return "inner" if type(value) in NODES else "constant"

    def mentioned(self, record: Assigned) -> Iterator[Value]:
        """Yield the values of turns that the story has let go, where an assignment mentions them."""
        for name in dict.fromkeys(map(self.call, names_in(record))):
            node = self.nodes.get(name)
            if name not in self.seen and node is not None:
                self.seen.add(name)
                yield Value(name, None, None, np.asarray(node.value), self.role(name, node))

    def spelled_out(self, record: Assigned, value: Any, change: str) -> str:
        """Return what an indexed write made: the list of its entries where they are few, else a program."""
        before, numbers = self.formula_of(record.name), np.asarray(value_of(value))
        if numbers.size > MOST_LISTED:
            index = record.index.put(self.formula_of) if record.index else ""
            return f"{record.name} = {before}.clone(); {record.name}[{index}] = {change}; {record.name}"
        if not isinstance(value, Operation):
            return array_text(numbers)
        base, written = (np.shape(value_of(argument)) for argument in value.arguments)
        entries = np.arange(math.prod(base) + math.prod(written))
        parts = entries[: math.prod(base)].reshape(base), entries[math.prod(base) :].reshape(written)
        origins = np.ravel(value.op.forward(*parts, **value.static)).tolist()
        texts = [tight(before) + place_text(k, base) for k in range(math.prod(base))]
        texts += [tight(change) + place_text(k, written) if written else change for k in range(math.prod(written))]
        return nested([texts[k] for k in origins], numbers.shape)

    def branch(self, record: Branch, what: Chosen) -> Iterator[BranchTaken]:
        """Yield which branch ran."""
        choices = tuple(choice.put(self.call) for choice in record.choices)
        decision = self.decide(record.condition, what.held, what.sides)
        yield BranchTaken(record.word, decision, record.other, choices, self.turns)

    def decide(self, condition: Condition, is_true: bool, sides: tuple[Any, ...]) -> Decision:
        """Return a condition with its numbers."""
        values = [numbers_of(side) for side in sides]
        text = condition.text.put(self.call)
        if not values or any(value is None for value in values):
            return Decision(text, is_true)
        shown = tuple(map(self.side, condition.sides))
        return Decision(text, is_true, shown, tuple(v for v in values if v is not None), condition.signs)

    def side(self, text: Written) -> str:
        """Return one side of a comparison; the integer of a loop keeps its name there."""
        shown = text.put(self.call)
        return text.text if text.text.isidentifier() and shown.lstrip("-").isdigit() else shown

    def turn(self, loop: Loop, what: Turn, count: int) -> TurnBegun:
        """Return the beginning of a turn."""
        self.turns = (*(self.turns if what.number == 1 else self.turns[:-1]), what.number)
        if what.item is not None:
            self.current[loop.name] = number_text(what.item)
        return TurnBegun(loop.name, what.item, self.turns, count)

    def ended(self, loop: Loop, what: Ended) -> Iterator[LoopEnded]:
        """Yield the end of a loop."""
        self.turns = self.turns[:-1] if what.turns else self.turns
        decision = None
        if loop.condition is not None and not what.broken:
            decision = self.decide(loop.condition, False, what.sides)
        yield LoopEnded(what.turns, what.broken, decision, self.turns, loop.name)


def names_in(record: Assigned) -> list[str]:
    """Return the variables that an assignment reads."""
    texts = [record.value, *([record.index] if record.index else [])]
    names = [gap.name for text in texts for gap in text.gaps[0]]
    return names + ([record.name] if record.operator or record.index else [])


def assigned_text(record: Assigned, turn: int, call: Callable[[str], str]) -> str:
    """Return what is assigned as the user wrote it, with variables as ``call`` says."""
    text = record.value.put(call)
    if record.row:
        return f"{text}[{turn - 1}]"
    if record.taken:
        return f"{text}[{record.place}]"
    if not record.operator:
        return text
    left = call(record.name) + (f"[{record.index.put(call)}]" if record.index else "")
    space = "" if record.operator in ("*", "/", "**") else " "
    return f"{left}{space}{record.operator}{space}{text}"


def numbers_of(value: Any) -> Array | None:
    """Return the numbers of a value of a program: those of a pair's values, and None for a text or ``None``."""
    raw = value_of(value.values if isinstance(value, Pair) else value)
    if isinstance(raw, tuple) and all(type(item) is int for item in raw):
        return np.array(raw, dtype=np.int64)
    if not isinstance(raw, bool | int | float | np.ndarray | np.generic):
        return None
    numbers = np.asarray(raw)
    return numbers.astype(np.float64) if numbers.dtype == object or isinstance(raw, Listed) else numbers


def plain_text(value: Any, formula: str) -> str:
    """Return what stands in a formula for a value that an array of doubles cannot stand for: itself, or its formula."""
    plain = value is None or isinstance(value, bool | int | str)
    lengths = isinstance(value, tuple) and all(type(item) is int for item in value)
    return repr(value) if plain or lengths else formula
