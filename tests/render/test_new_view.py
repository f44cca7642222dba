"""A new view is one function that makes a section: every voice shows it, without a line of its own."""

import numpy as np
import pytest

import gradcli
from gradcli.document import views
from gradcli.document.model import Cell, Column, Derivative, Equation, Equations, Prose, Section, Table
from gradcli.explanation.results import View
from gradcli.records import replace
from gradcli.render.layout import Layout
from gradcli.render.plain import plain
from gradcli.render.terminal import tables


def norms(answer, content, _settings):
    """A view that nobody has yet: how long the gradient is, with a number in each kind of part."""
    by = Derivative("y", ("x[0]",))
    length = Equation("norm(x.grad)", ("sqrt(sum(x.grad**2))",), float(np.linalg.norm(answer.grad["x"])))
    table = Table(("x",), ((Column("largest", (Cell(content),)), Column("where", (Cell(text="x[1]"),), False)),))
    yield Section("norms", "The length of the gradient", (Equations((length, Equation(by, ("2*x[0]",)))), table,
                                                          Prose(("It is 5 & no_more.",))))  # fmt: skip


@pytest.fixture
def answer(monkeypatch):
    monkeypatch.setitem(views.VIEWS, "norms", ("v", norms))
    found = gradcli.explain("sum(x**2)", x=[1.5, 2.0])
    return replace(found, views={"norms": View(4.0)})


VOICES = {
    "terminal": (lambda answer: tables(answer.document(), Layout()).plain, "∂y/∂x[0] = 2*x[0]", "It is 5 & no_more."),
    "ascii": (lambda answer: tables(answer.document(), Layout(unicode=False)).plain, "dy/dx[0] = 2*x[0]", "5 & no_m"),
    "plain": (plain, "dy/dx[0] = 2*x[0]", "It is 5 & no_more."),
    "markdown": (lambda answer: answer.to_markdown(), "∂y/∂x[0] = 2*x[0]", r"It is 5 \& no\_more."),
    "html": (lambda answer: answer._repr_html_(), "∂y/∂x[0] = 2*x[0]", "It is 5 &amp; no_more."),
    "latex": (lambda answer: answer.to_latex(), r"\frac{\partial y}{\partial {x}_{0}} &= 2\,{x}_{0}", r"5 \& no\_more"),
}


@pytest.mark.parametrize("voice", VOICES)
def test_every_voice_shows_a_new_view(answer, voice):
    shown, derivative, sentence = VOICES[voice]
    text = shown(answer)
    for part in ("The length of the gradient", "5", "largest", "4", derivative, sentence):
        assert part in text, part
