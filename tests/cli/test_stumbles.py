"""What new users typed in their first minutes: each with what is said of it, and the way out.

`docs/first-minutes.md` is the list of these by class.
"""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from gradcli.errors.hints import tables
from gradcli.language.misread import misreadings
from oracles import cases, portion

TABLES = cases("stumbles.json")

FILES = TABLES["FILES"]
LISTED = "gradcli explain --help lists what there is"
NUMBER = "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE"
MORE = "the program stands by itself: gradcli explain 'x**2' --x 3"
ROWS = TABLES["ROWS"]
OF_LANGUAGE = TABLES["OF_LANGUAGE"]


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "message", "hint"), [*portion([pytest.param(*row, id=row[0]) for row in ROWS], 4), *OF_LANGUAGE]
)
def test_a_stumble_is_named_with_the_way_out(cli, line, message, hint):
    answer = cli(*shlex.split(line))
    said = [text for text in answer.err.splitlines() if text.startswith(("error: ", "help: "))]
    code = 1 if re.match(r"\w+Error: ", message) else 2  # an exception of the script's own, as PyTorch raises it
    assert (answer.code, said) == (code, [f"error: {message}", *([f"help: {hint}"] if hint else [])])


PAGE = (Path(__file__).parents[2] / "docs" / "first-minutes.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\| `gradcli (.*?)` \| `.*?` \| `(.*)` \|$", PAGE, re.MULTILINE)


def test_the_page_has_rows():
    assert len(SHOWN) == PAGE.count("| `gradcli ") >= 40


@pytest.mark.parametrize(("line", "said"), portion([pytest.param(*row, id=row[0]) for row in SHOWN], 4))
def test_the_page_of_the_first_minutes_shows_what_is_said(cli, line, said):
    answer = cli(*shlex.split(line))
    found = re.search(r"^error: (.*)\n(?:.*\|.*\n)*(?:help: (.*)\n)?", answer.err)
    assert (answer.code, f"{found[1]} ({found[2]})" if found[2] else found[1]) == (2, said)


ANSWERED = {  # what is typed in place of a command that there is, and how its answer begins
    "help": "Usage: gradcli [OPTIONS]",
    "help grad": "Usage: gradcli grad",
    "help sigmoid": "sigmoid(x)",
    "-help": "Usage: gradcli [OPTIONS]",
    "-?": "Usage: gradcli [OPTIONS]",
    "-version": f"gradcli {gradcli.__version__}",
    "functions 'softmax(x, dim=0)'": "softmax(x, dim=...)",
    "grad '>>> y = x**2\n>>> y*3\n27.0' --x 3.": "18",
    "grad 'In [1]: y = x**2\n   ...: y*3\nOut[1]: 27.0' --x 3.": "18",
    "grad '```python\nx**2\n```' --x 3.": "6",
}


@pytest.mark.parametrize(("line", "begins"), ANSWERED.items())
def test_what_was_meant_is_done(cli, line, begins):
    answer = cli(*shlex.split(line))
    assert (answer.code, answer.out.startswith(begins)) == (0, True)


SESSION = "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\n{}\ny.backward(torch.tensor([1., 10.]))\n"
RAISED = TABLES["RAISED"]


@pytest.mark.parametrize("raised", RAISED.values(), ids=RAISED)
def test_an_error_between_the_lines_of_a_snippet_is_left_out(raised):
    found = gradcli.explain(SESSION.format(raised))
    assert found.grad["x"].tolist() == [2, 40]


@pytest.mark.parametrize("message", [row["message"] for row in misreadings()["pytorch"]])
def test_a_message_of_pytorch_is_known_wherever_it_stands(message):
    said = f"RuntimeError: {message.replace('{}', '12')} (see the documentation)."
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(said)
    assert caught.value.message.startswith("this is an error of PyTorch, and no program: ")
    assert caught.value.hint
    assert said[slice(*caught.value.span)] == message.replace("{}", "12")


MPMATH = {  # functions that are written by others which mpmath has, and where it is asked
    **dict.fromkeys(("sec", "csc", "cot", "sech", "csch", "coth", "factorial", "gamma"), 0.7),
    **dict.fromkeys(("acot", "asec", "acsc"), 1.7),
}


PROSE = (" for the ", ", of as many ", " or ")
"""What stands in hints that are words, and no one expression."""
CODE = [(name, text) for name, text in tables()["written"].items() if not any(words in text for words in PROSE)]


@pytest.mark.parametrize(("name", "text"), CODE)
def test_what_stands_for_a_function_is_read(name, text):
    import mpmath  # one test needs it

    function = gradcli.function(text)
    assert function.inputs
    if not set(function.inputs) <= {"x", "t"}:
        return  # it is read: what else it needs is of many shapes
    at = MPMATH.get(name, 0.7 if name == "artanh" else [1.7, 0.2] if name == "standardize" else 1.7)
    found = function(**{variable: {"x": at, "t": 0.3}[variable] for variable in function.inputs})
    assert np.all(np.isfinite(found))
    if name in MPMATH:
        np.testing.assert_allclose(found, float(getattr(mpmath, name)(at)), rtol=1e-13)


@pytest.mark.parametrize(("name", "hint"), [
    ("quotes.ndjson", "(help: JSON has double quotes)"),
    ("words.ndjson", '(help: for example {"id": 1, "program": "x**2", "inputs": {"x": 3}})'),
])  # fmt: skip
def test_a_record_that_is_not_json_has_a_hint(cli, name, hint):
    assert hint in cli("batch", name).err
