"""What a script computed, a line for each value that it gave a name: by the values before it, in the names of the script.

A function that is several operations stands in a line as it was called, where the language reads that as the same
number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Called, Graph, Node, Operation
from gradcli.engine.naming import numbered, output_name
from gradcli.engine.reach import reaches
from gradcli.explanation.backward import constants_of, is_same
from gradcli.explanation.events import Value
from gradcli.explanation.rereading import Reader
from gradcli.explanation.writer import ConstantTexts
from gradcli.formulas.texts import ATOM, TooLarge
from gradcli.ops.declare import Array
from gradcli.ops.writing import option_text

LONG = 60
"""Characters of a value without a name of the script, beyond which it has a line where a name is at hand."""
LONGEST = 2_000
"""Characters of a formula of a value."""
DEAREST = 100_000
"""Entries of a value up to which a call is read back."""


def write_steps(graph: Graph, output: Operation, spare: Mapping[int, str]) -> Iterator[Value]:
    """Yield the constants that formulas mention, and then the values that have a name, in the order of the run.

    ``spare`` has names for nodes without one, which they get where their text is long.
    """
    nodes, constants = reaches(output), constants_of(graph)
    texts = ConstantTexts(graph, nodes, {id(value): name for name, value in constants.items()})
    names = {node.index: name for name, node in reversed(numbered(graph))} | {output.index: output_name(graph, output)}
    values: list[Value] = []
    reader = Reader({**constants, **{name: leaf.value for name, leaf in graph.inputs.items()}}, {})
    for node in nodes:
        if node.op is None:
            texts.text[node.index] = (str(node.name), ATOM)
            continue
        written = text_of(texts, node, reader)
        name = names.get(node.index)
        if name is None and written is not None and len(written[0]) > LONG:
            name = spare.get(node.index)
        if name is not None:
            formula = None if written is None else written[0]
            role = "output" if node is output else "inner"
            values.append(Value(name, formula, formula, np.asarray(node.value, dtype=np.float64), role))
            reader.add(name, node.value)
            written = (name, ATOM)
        if written is not None:
            texts.text[node.index] = written
    for node in nodes:  # what lines of the backward pass may mention
        for argument in node.arguments:
            texts.expression(argument)
    for name in texts.used:
        yield Value(name, None, None, np.asarray(constants[name]), "constant")
    yield from values


def text_of(texts: ConstantTexts, node: Node, reader: Reader) -> tuple[str, int] | None:
    """Return the text of a node, the shorter of its operation and of the call that ended in it; None for none."""
    written = None
    with suppress(TooLarge, KeyError):
        written = texts.written(node, node.op)  # type: ignore[arg-type]
    call = texts.graph.calls.get(node.index)
    if call is not None and np.size(node.value) <= DEAREST:
        text = call_text(texts, call)
        shorter = text is not None and (written is None or len(text) < len(written[0]))
        if text is not None and shorter and is_read_as(reader, text, node.value):
            return text, ATOM
    return None if written is None or len(written[0]) > LONGEST else written


def is_read_as(reader: Reader, text: str, value: Array) -> bool:
    """Return whether the language reads a text as a value."""
    read = reader.evaluate(text)
    return read is not None and read.shape == np.shape(value) and is_same(read, np.asarray(value))


def call_text(texts: ConstantTexts, call: Called) -> str | None:
    """Return a call as a program of the language; None where an argument has no text."""
    parts = [argument_text(texts, argument) for argument in call.arguments]
    options = {name: argument_text(texts, value) for name, value in call.named.items()}
    if any(part is None for part in (*parts, *options.values())):
        return None
    return f"{call.name}({', '.join([*map(str, parts), *(f'{name}={text}' for name, text in options.items())])})"


def argument_text(texts: ConstantTexts, argument: Any) -> str | None:
    """Return an argument of a call as text, None where it has none."""
    if type(argument) in NODES:
        return texts.text[argument.index][0] if argument.index in texts.text else None
    if isinstance(argument, np.ndarray):
        with suppress(TooLarge):
            return texts.argument(argument)[0]
        return None
    return option_text(argument)
