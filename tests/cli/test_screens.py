"""What is said on a screen is broken between words at any width; a pipe has each message in one line."""

import json
import re

import pytest

from gradcli.render.layout import wrapped
from oracles import cases

SAID = cases("screens.json")["SAID"]
"""Command lines with an error, a verdict, a note, a warning or a hint."""
MARGIN = re.compile(r" *\S* \|")


def sentences(text):
    """Return the lines of a text but for those of the place at fault."""
    return [line for line in text.split("\n") if line and not MARGIN.match(line)]


@pytest.mark.parametrize("columns", ["40", "80", "200"])
@pytest.mark.parametrize("args", SAID, ids=lambda args: " ".join(args)[:40])
def test_no_word_is_broken(cli, args, columns):
    whole, shown = cli(*args, columns=columns), cli(*args, columns=columns, screen=True)
    assert shown.code == whole.code
    texts = [(whole.err, shown.err)] + ([(whole.out, shown.out)] if args[0] == "check" else [])
    assert any(text for text, _ in texts)
    for unbroken, text in texts:
        assert " ".join(" ".join(sentences(text)).split()) == " ".join(" ".join(sentences(unbroken)).split())
        for line in text.splitlines():
            assert len(line) <= int(columns) or len(line.split()) == 1, line


@pytest.mark.long
def test_every_error_of_the_tables_fits_a_screen(cli):
    for row in cases("bad_inputs.jsonl")[::5]:
        lines = cli(*row["args"], stdin=row["stdin"] or "", columns="40", screen=True).err.splitlines()
        assert [line for line in lines if len(line) > 40 and len(line.split()) > 1] == [], json.dumps(row)


@pytest.mark.parametrize("args", SAID, ids=lambda args: " ".join(args)[:40])
def test_a_pipe_has_a_message_in_a_line(cli, args):
    narrow, wide = cli(*args, columns="40"), cli(*args, columns="200")
    assert narrow.err == wide.err
    if args[0] == "check":
        assert narrow.out == wide.out


@pytest.mark.parametrize(("text", "lines"), [
    ("PyTorch's tensors wrap and NumPy's do too", ["PyTorch's tensors", "    wrap and NumPy's", "    do too"]),
    ("write 'x**2 + y**2 + 3*x' alone", ["write 'x**2 + y**2 +", "    3*x' alone"]),
    ("an unbreakablewordofmanyletters", ["an", "  unbreakablewordofmanyletters"]),
])  # fmt: skip
def test_sentences_are_broken_at_blanks(text, lines):
    assert wrapped(text, 20, 4) == lines
