"""``--reveal`` at a terminal, and ``--figure``: what a teacher shows, step by step and on a slide."""

import io
import re
from xml.etree import ElementTree

import pytest

import gradcli
from conftest import Terminal
from gradcli.cli.app import run
from gradcli.cli.output import Environment
from gradcli.document.model import Settings
from gradcli.document.sections import document_of, figure_of, steps_of
from oracles import cases

TABLES = cases("lecture.toml")

THREE = ("explain", "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "--x", "1,2", "--v", "1,10,100")
LOSS = ("explain", "h = tanh(W @ x)\nloss = sum(h**2)", "--W", "1.,2.;3.,4.", "--x", ".1,.2")


def revealed(*words, keys="\n" * 40, stdin=Terminal, stdout=Terminal, term="dumb"):
    """Return the exit code, what the screen shows, and the errors of a lecture at which ``keys`` are pressed."""
    out, err = stdout(), io.StringIO()
    variables = {"TERM": term, "COLUMNS": "80"}
    code = run([*words, "--reveal", "--color", "never"], Environment(stdin(keys), out, err, variables))
    return code, out.getvalue(), err.getvalue()


def parts_of(*words, **how):
    code, out, err = revealed(*words, **how)
    assert (code, err) == (0, "")
    return [part.strip("\n ") for part in out.split("Enter goes on, q ends")]


def test_the_answer_comes_part_by_part_with_j_asked_for_before_it_is_shown():
    program, forward, asked, shown, gradient, sums, *rest = parts_of(*THREE)
    assert program.endswith("x.grad = ?")
    assert forward.startswith("Forward")
    assert {"6*x[0] = ?", "6*x[1]**2 = ?"} <= set(re.findall(r"6\S+ = \S+", asked))
    assert all(re.search(rf"{name} +│ +\? +\?$", asked, re.MULTILINE) for name in ("vᵀ·J", "x.grad"))
    assert "reverse mode" not in asked
    assert not re.search(r"\b(26|1240|24)\b", program + asked)
    assert "6*x[1]**2 = 24" in shown
    assert "✓ reverse mode" in shown
    assert gradient == "x.grad = [26, 1240]"
    assert sums.startswith("x.grad[0] = ")
    assert rest[-1].startswith("note: ")


def test_a_loss_asks_for_the_numbers_of_backward():
    program, _, asked, shown, gradient, *_ = parts_of(*LOSS)
    assert program.endswith("x.grad = ?")
    assert "h.grad    = 2*h" in asked
    assert not re.search(r"\d\.\d", asked)
    assert "[0.924234, 1.601]" in shown
    assert gradient.startswith("W.grad = ")


@pytest.mark.parametrize(("keys", "parts"), [("q\n", 1), ("\nq", 2), ("\n\n", 3), ("", 1), (" Quit\n", 1)])
def test_q_and_the_end_of_input_end_it(keys, parts):
    assert len(list(filter(None, parts_of(*THREE, keys=keys)))) == parts


def test_the_parts_together_are_the_answer_and_a_prompt_goes_away():
    code, out, _ = revealed(*THREE, term="xterm")
    assert code == 0
    assert out.count("Enter goes on") == out.count("\x1b[1A\x1b[2K\r") == 7
    lines = re.sub(r"   Enter goes on, q ends \x1b\[1A\x1b\[2K\r", "", out).splitlines()
    whole = Terminal()
    run([*THREE, "--color", "never"], Environment(io.StringIO(), whole, io.StringIO(), {"COLUMNS": "80"}))
    assert set(whole.getvalue().splitlines()) <= set(lines)


def test_no_step_has_the_gradient_before_its_turn():
    steps = steps_of(document_of(gradcli.explain("[x**2, x*y]", x=3.0, y=7.0, v=[1, 10]), Settings()))
    before = [part for step in steps[:3] for section in step.sections for part in section.parts]
    assert not re.search(r"\b(76|30)\b", str(before))
    names = [section.name for step in steps for section in step.sections]
    assert names[:6] == ["program", "gradient", "forward", "backward", "backward", "jacobian"]


@pytest.mark.parametrize(("words", "how", "says"), [
    ((), {"stdin": io.StringIO}, "--reveal waits for a person at a terminal"),
    ((), {"stdout": io.StringIO}, "--reveal waits for a person at a terminal"),
    (("-o", "a.txt"), {}, "--reveal and -o a.txt do not go together"),
    (("--json",), {}, "--reveal and another format"),
    (("--all",), {}, "--reveal and --all do not go together"),
    (("--figure", "dark"), {}, "--reveal and another format"),
])  # fmt: skip
def test_where_nobody_looks_on_it_is_refused(words, how, says):
    code, out, err = revealed(*THREE, *words, **how)
    assert code == 2
    assert says in err
    assert "x.grad" not in out


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_a_figure_is_the_table_alone(cli, tmp_path, ground):
    answer = cli(*THREE, "--figure", ground)
    assert (answer.code, answer.err) == (0, "")
    root = ElementTree.fromstring(answer.out)  # noqa: S314 - our own
    words = " ".join("".join(root.itertext()).replace("\xa0", " ").split())
    assert all(text in words for text in ("6*x[0] = 6", "vᵀ·J", "1240"))
    assert "Forward" not in words
    assert not re.search(r"(href|src|@import|script)\b|circle", answer.out)
    target = tmp_path / "answer.svg"
    assert cli(*THREE, "--figure", ground, "-o", str(target)).out == ""
    assert target.read_text(encoding="utf-8") == answer.out


def test_a_figure_of_a_loss_is_the_gradient_and_how_it_is_found(cli):
    document = document_of(gradcli.explain("h = tanh(x)\nh*h", x=1.0), Settings())
    assert [section.name for section in figure_of(document).sections] == ["gradient", "backward"]
    assert "h.grad" in cli(*LOSS, "--figure", "dark").out


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_colour_of_a_figure_stands_out(cli, ground):
    text = cli("explain", "x**2", "--x", "1.,2,3,4", "--v", "1,1,1,1", "--figure", ground).out
    [back] = re.findall(r'<rect width="100%" height="100%" fill="(#\w{6})"', text)
    inks = set(re.findall(r"fill: (#\w{6})", text))
    assert len(inks) == 6
    for ink in inks:
        high, low = sorted((luminance(ink), luminance(back)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, ink


@pytest.mark.parametrize(("words", "says"), TABLES["what_does_not_go_with_a_figure_is_refused"])
def test_what_does_not_go_with_a_figure_is_refused(cli, words, says):
    answer = cli(*THREE, *words)
    assert answer.code == 2
    assert says in answer.err
