"""The picture of the graph: its values, and that each derivative beside an edge is the one that it says."""

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.explanation.rereading import Reader
from gradcli.explanation.tape import MOST_VERTICES
from oracles import cases, portion

PICTURES = cases("pictures.json")["PICTURES"]
"""A program, inputs, what is differentiated, its edges: below, above, derivative (None: constant)."""


def explained(program, inputs, wrt):
    v = [1.0, 10.0] if program.startswith("[") else None
    return gradcli.explain(program, inputs=inputs, wrt=wrt, v=v)


@pytest.mark.parametrize(("program", "inputs", "wrt", "wanted"), PICTURES)
def test_the_edges_by_hand(program, inputs, wrt, wanted):
    found = explained(program, inputs, wrt)
    assert [[edge.below, edge.above, edge.text] for edge in found.picture.edges] == wanted
    assert [edge.flows for edge in found.picture.edges] == [text is not None for _, _, text in wanted]


def holds_the_graph(found):
    """Hold the picture of an answer against its numbers; return how many derivatives its edges have.

    What all edges send to a value is its cotangent: the derivative beside the edge, times what has arrived above it.
    """
    picture = found.picture
    values = {vertex.name: vertex.value for vertex in picture.vertices}
    arrived = {vertex.name: vertex.cotangent for vertex in picture.vertices if vertex.cotangent is not None}
    constants = {value.name: value.value for value in found.values} | found.constants
    reader, sent, count = Reader({**constants, **values}, arrived), {}, 0
    untold = {edge.below for edge in picture.edges if edge.flows and edge.text is None}
    for edge in picture.edges:
        if edge.flows and edge.text is not None:
            part = reader.evaluate(edge.text)
            assert part is not None, edge
            if np.any(part) and ".grad" not in edge.text:
                part = part * arrived[edge.above]
            shape = values[edge.below].shape
            sent[edge.below] = sent.get(edge.below, np.zeros(shape)) + np.broadcast_to(part, shape)
            count += 1
    for name, total in [(name, total) for name, total in sent.items() if name not in untold]:
        size = np.max(np.abs(arrived[name][np.isfinite(arrived[name])]), initial=0.0)
        finite = np.isfinite(arrived[name])
        assert np.all(np.abs(total[finite] - arrived[name][finite]) <= 1e-8 * size + 1e-10), (found.program, name)
    return count


@pytest.mark.long
@pytest.mark.parametrize("number", portion(range(120), 40))
def test_what_the_edges_send_is_what_arrives(number):
    program = random_program(4, number)
    found = gradcli.explain(program.text, inputs=program.inputs, v=program.v, wrt=list(program.wrt))
    drawn = {vertex.name: vertex for vertex in found.picture.vertices}
    assert {name.partition("[")[0] for name in drawn} >= set(found.differentiated)
    if not found.picture.left_out:
        assert holds_the_graph(found) == sum(edge.flows and edge.text is not None for edge in found.picture.edges)


@pytest.mark.parametrize(("program", "inputs", "wrt", "wanted"), PICTURES)
def test_what_the_edges_of_small_programs_send_is_what_arrives(program, inputs, wrt, wanted):
    assert holds_the_graph(explained(program, inputs, wrt)) == sum(text is not None for *_, text in wanted)


def test_the_middle_of_a_long_program_is_one_vertex():
    found = gradcli.explain("x = 1.5*w\nfor i in range(300):\n    x = x*1.01\nx", w=2.0)
    picture = found.picture
    assert (len(picture.vertices), picture.left_out) == (2 + MOST_VERTICES, 301 - MOST_VERTICES)
    [place] = [k for k, vertex in enumerate(picture.vertices) if vertex.role == "gap"]
    around = [picture.vertices[place + side].name for side in (-1, 0, 1)]
    assert [(edge.below, edge.above, edge.text) for edge in picture.edges if "…" in (edge.below, edge.above)] == [
        (around[0], "…", None),
        ("…", around[2], "1.01"),
    ]
