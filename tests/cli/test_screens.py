"""What is said on a screen is broken between words at any width; a pipe has each message in one line."""

import json
import re

import pytest

from gradcli.render.layout import wrapped
from oracles import cases

LONG = "sum(" + " + ".join(f"sin({k}*x)**2*unknown_{k}(x)" for k in range(1, 12)) + ")"
SAID = [
    ("grad", "x**2", "--x", "1,2"), ("grad", LONG, "--x", "1"), ("grad", "sqrt(x)", "--x", "0"),
    ("explain", "sine(x) + 3", "--x", "1"), ("explain", "x**2"), ("explain", "x", "--x", "1,2;3"),
    ("explain", "x**2", "--x", "1", "--nonsense-option-that-there-is-not", "2"), ("check", "x**2", "--x", "3"),
    ("check", "x**2", "--x", "3", "--expect", "3*x"), ("check", "x*y", "--x", "3", "--y", "2", "--expect", "x=3*y"),
    ("check", "sum(sqrt(x))", "--x", "0,4"), ("check", "sum(abs(x))", "--x", "0,0,1"), ("check", "1/x", "--x", "0"),
    ("grad", "sum(log(x))", "--x", "1,0"), ("grad", "sum((x > 0) - x)", "--x", "1,2"),
    ("grad", "x*1", "--x", "1,2", "--v", "1,2,3"), ("explain", "x", "--x", "@missing-file-with-a-long-name.csv"),
    ("explain", "ones(9999999)*x", "--x", "1", "--v", "1"), ("batch", "--program", "x"), ("functions", "nosuch"),
    ("explain", "-f", "no/such/file.py"), ("explain", "x", "--x", "1", "--precision", "99"), ("grad", "x", "--lr", "1"),
    ("explain", "x = torch.tensor([1., 2.], requires_grad=True)\nmodel(x).backward()", "--x", "1"),
    ("grad", "torch.full((3,), 0).mean()*x", "--x", "1"), ("grad", "x.softmax()[0]", "--x", "1,2"),
]  # fmt: skip
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
