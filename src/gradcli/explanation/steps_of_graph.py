"""What a script computed, a line for each value that has a name: by the values before it, in the names of the script.

A function that is several operations stands in a line as it was called, where the language reads that as the same
number. A part of a long line has a line of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import NODES, Called, Graph, Node, Operation, reaches
from gradcli.engine.naming import numbered, output_name
from gradcli.explanation.backward import ConstantTexts, constants_of
from gradcli.explanation.parts import Value
from gradcli.explanation.rereading import NAME, Reader, is_same
from gradcli.formulas.texts import ATOM, TooLarge
from gradcli.ops import Function
from gradcli.ops.writing import option_text

LONG = 72
"""Characters of a line, beyond which parts of it that the script gives no name get a line."""
PARTS = range(16, 61)
"""Characters of a part that is worth a line."""
ARGUMENT = 24
"""Characters of an argument of a function, beyond which it has a line."""
LONGEST = 2_000
"""Characters of a formula of a value."""
PLAIN = (bool, int, float, str, type(None))
"""The types of arguments that may be what a function takes by itself."""
DEAREST = 100_000
"""Entries of a value up to which a call is read back."""


class Steps(NamedTuple):
    """The values of a run in order, and the names that parts of long lines got, by the number of the node."""

    values: list[Value]
    names: dict[int, str]


def write_steps(graph: Graph, output: Operation, spare: Mapping[int, str], taken: Collection[str]) -> Steps:
    """Return the constants that formulas mention and then the values that have a name, in the order of the run.

    ``spare`` are the names that nodes have elsewhere in the answer, ``taken`` all that stand for anything there.
    """
    steps = StepWriter(graph, output, spare, taken)
    for node in steps.nodes:
        steps.write(node)
    mentioned = steps.mentioned()
    constants = [
        Value(name, None, None, np.asarray(value), "constant")
        for name, value in steps.constants.items()
        if name in mentioned
    ]
    return Steps([*constants, *steps.values], steps.made)


class StepWriter:
    """Writes the values of a run, each by those before it; ``made`` are the names that parts of long lines got."""

    def __init__(self, graph: Graph, output: Operation, spare: Mapping[int, str], taken: Collection[str]) -> None:
        self.output, self.nodes, self.spare, self.calls = output, reaches(output), spare, graph.calls
        self.constants = constants_of(graph)
        self.texts = ConstantTexts(graph, self.nodes, self.constants)
        self.texts.taken |= {*taken, *self.constants}
        self.names = {node.index: name for name, node in reversed(numbered(graph))}
        self.names[output.index] = output_name(graph, output)
        self.made: dict[int, str] = {}
        self.values: list[Value] = []
        self.inputs = {name: leaf.value for name, leaf in graph.inputs.items()}
        self.reader = Reader({**self.constants, **self.inputs}, {})
        self.inside = {k for last, call in self.calls.items() for k in range(call.first, last)}

    def write(self, node: Node) -> None:
        """Write a node whose arguments are written: as a line where it has a name, else as a part of others."""
        if node.op is None:
            self.texts.text[node.index] = (str(node.name), ATOM)
            return
        written = self.text_of(node)
        if written is not None and node.index not in self.inside:
            written = self.shorten(node, written)
        if written is None or len(written[0]) > LONGEST:
            self.texts.text.pop(node.index, None)
        else:
            self.texts.text[node.index] = written
        if node.index in self.names:
            self.add_line(node, self.names[node.index])

    def mentioned(self) -> set[str]:
        """Return the names in formulas, and in what stands for constants in lines of the backward pass."""
        texts = {value.formula for value in self.values if value.formula is not None}
        expressions = (self.texts.expression(argument) for node in self.nodes for argument in node.arguments)
        texts |= {expression[0] for expression in expressions if expression is not None}
        return {name for text in texts for name in NAME.findall(text)}

    def add_line(self, node: Node, name: str) -> None:
        """Write the line of a node, whose name stands for it from then on."""
        formula = self.texts.text[node.index][0] if node.index in self.texts.text else None
        role = "output" if node is self.output else "inner"
        self.values.append(Value(name, formula, formula, np.asarray(node.value, dtype=np.float64), role))
        self.reader.add(name, node.value)
        self.texts.text[node.index] = (name, ATOM)

    def shorten(self, node: Node, written: tuple[str, int]) -> tuple[str, int] | None:
        """Return the text of a node with names for long arguments of a call, and for parts of it while it is long."""
        text: tuple[str, int] | None = written
        call = self.calls.get(node.index)
        if call is not None and written[0].startswith(f"{call.function.name}("):
            for argument in call.arguments:
                if self.is_part(argument) and len(self.texts.of(argument)) > ARGUMENT:
                    text = self.name(argument, node)
        while text is not None and len(text[0]) > LONG:
            lengths = {part: len(self.texts.of(part)) for part in self.parts_of(node)}
            fitting = [part for part, length in lengths.items() if length in PARTS and part.index not in self.inside]
            if not fitting:
                return text
            text = self.name(max(fitting, key=lengths.__getitem__), node)
        return text

    def name(self, part: Node, node: Node) -> tuple[str, int] | None:
        """Give a part of a node a name and a line, and return the text that the node has then."""
        above = [other for other in self.parts_of(node) if other.index > part.index]
        name = self.made[part.index] = self.spare.get(part.index) or self.texts.fresh(None)
        self.names[part.index] = name
        self.add_line(part, name)
        for other in above:
            if (again := self.text_of(other)) is not None:
                self.texts.text[other.index] = again
        return self.text_of(node)

    def is_part(self, value: Any) -> bool:
        """Return whether a value is an operation without a name that has a text."""
        return type(value) is Operation and value.index not in self.names and value.index in self.texts.text

    def parts_of(self, node: Node) -> list[Node]:
        """Return the operations without a name that stand in the text of a node, in the order of the run."""
        parts: dict[int, Node] = {}
        stack = list(self.arguments_of(node))
        while stack:
            part = stack.pop()
            if self.is_part(part) and part.index not in parts:
                parts[part.index] = part
                stack += self.arguments_of(part)
        return [parts[index] for index in sorted(parts)]

    def arguments_of(self, node: Node) -> Iterator[Any]:
        """Yield the arguments of a node, and those of the call that it ends."""
        yield from node.arguments
        call = self.calls.get(node.index)
        if call is not None:
            yield from (*call.arguments, *call.named.values())

    def text_of(self, node: Node) -> tuple[str, int] | None:
        """Return the text of a node, the shorter of its operation and of the call that ended in it; None for none."""
        written = None
        with suppress(TooLarge, KeyError):
            written = self.texts.written(node, node.op)  # type: ignore[arg-type]
        call = self.calls.get(node.index)
        if call is None or np.size(node.value) > DEAREST:
            return written
        text = call_text(self.texts, call)
        if text is None or (written is not None and len(text) >= len(written[0])):
            return written
        read, value = self.reader.evaluate(text), np.asarray(node.value)
        return (text, ATOM) if read is not None and read.shape == value.shape and is_same(read, value) else written


def call_text(texts: ConstantTexts, call: Called) -> str | None:
    """Return a call as a program of the language, without what functions take by themselves; None for no text."""
    shown: list[str] = []
    names, defaults = signature_of(call.function)
    by_name = False
    arguments = [*zip(names, call.arguments, strict=False), *call.named.items()]
    if len(call.arguments) > len(names):
        return None
    for place, (name, argument) in enumerate(arguments):
        by_name = by_name or place >= len(call.arguments)
        default = defaults.get(name, inspect.Parameter.empty)
        if isinstance(argument, PLAIN) and isinstance(default, PLAIN) and argument == default:
            by_name = True
            continue
        text = argument_text(texts, argument)
        if text is None:
            return None
        shown.append(f"{name}={text}" if by_name else text)
    return f"{call.function.name}({', '.join(shown)})"


def signature_of(function: Function) -> tuple[list[str], dict[str, Any]]:
    """Return the parameters of a function that go by their places, and what it takes where one is not given."""
    if function.build is None:
        return ["x"], {}
    parameters = list(inspect.signature(function.build).parameters.values())[1:]
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in placed], {p.name: p.default for p in parameters}


def argument_text(texts: ConstantTexts, argument: Any) -> str | None:
    """Return an argument of a call as text, None where it has none."""
    if type(argument) in NODES:
        return texts.text[argument.index][0] if argument.index in texts.text else None
    if isinstance(argument, np.ndarray):
        with suppress(TooLarge):
            return texts.argument(argument)[0]
        return None
    return option_text(argument)
