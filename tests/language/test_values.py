"""Values of the command line: what ``--x`` reads, from text, from files and from standard input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcli.errors import Budget, GradcliError
from gradcli.language.values import read_value

if TYPE_CHECKING:
    from conftest import Cli

TEXTS = [
    ("3", 3.0),
    (" 3 ", 3.0),
    ("-3", -3.0),
    ("+3", 3.0),
    (".5", 0.5),
    ("5.", 5.0),
    ("-1.5e-3", -0.0015),
    ("5e-324", 5e-324),
    ("1.7976931348623157e308", 1.7976931348623157e308),
    ("0.1", 0.1),
    ("1e-400", 0.0),
    ("1,", [1.0]),
    ("1,2", [1.0, 2.0]),
    ("1,2,", [1.0, 2.0]),
    ("-1,2", [-1.0, 2.0]),
    (" 1 , 2 ", [1.0, 2.0]),
    ("1,2;3,4", [[1.0, 2.0], [3.0, 4.0]]),
    ("1,2,3;4,5,6", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ("1;2", [[1.0], [2.0]]),
    ("[1,2]", [1.0, 2.0]),
    ("[3]", [3.0]),
    ("[]", []),
    ("[[1,2],[3,4]]", [[1.0, 2.0], [3.0, 4.0]]),
    ("[[[1],[2]]]", [[[1.0], [2.0]]]),
    ("[1e3, -2.5E-1]", [1000.0, -0.25]),
    ("[.5, 1/2]", [0.5, 0.5]),
    ("[pi, 2**3]", [math.pi, 8.0]),
    ("pi/2,sqrt(2)", [math.pi / 2, math.sqrt(2)]),
    ("-pi", -math.pi),
    ("2**-1", 0.5),
    ("1/3,2/3", [1 / 3, 2 / 3]),
    ("1/2;1/4", [[0.5], [0.25]]),
    ("maximum(1, 2),3", [2.0, 3.0]),
    ("linspace(0,1,5)", [0.0, 0.25, 0.5, 0.75, 1.0]),
    ("arange(3)", [0.0, 1.0, 2.0]),
    ("zeros(2,2)", [[0.0, 0.0], [0.0, 0.0]]),
    ("ones(2)/2", [0.5, 0.5]),
    ("eye(2)", [[1.0, 0.0], [0.0, 1.0]]),
    ("(1,2)", [1.0, 2.0]),
]

REFUSED = [
    ("", "value", "the value of --x is empty", ""),
    ("  ", "value", "the value of --x is empty", "  "),
    (",", "value", "a number is missing here", ""),
    ("1,,2", "value", "a number is missing here", ""),
    ("1,2;", "value", "a number is missing here", ""),
    ("1,2;3", "value", "a row with 1 numbers under one with 2", "3"),
    ("1.2.3", "syntax", "", "."),
    ("1 2", "syntax", "", "2"),
    ("--1", "value", "'--1' is not a number", "--1"),
    ("1_000", "value", "'1_000' is not a number", "1_000"),
    ("1,abc", "value", "'abc' is not a number", "abc"),
    ("1,x,3", "value", "'x' is not a number", "x"),
    ("nan", "value", "'nan' is not a number", "nan"),
    ("-Infinity", "value", "'Infinity' is not a number", "Infinity"),
    ("None", "type", "not None", "None"),
    ("1e400", "value", "not finite in double precision", "1e400"),
    ("1,-1e400", "value", "not finite in double precision", "-1e400"),
    ("1,1/0", "value", "not finite in double precision", "1/0"),
    ("0/0", "value", "not finite in double precision", "0/0"),
    ("log(-1)", "value", "not finite in double precision", "log(-1)"),
    ("1,sinn(2)", "unknown-function", "did you mean 'sin'?", "sinn"),
    ("1 2 3", "syntax", "or 1,2,3", "2"),
    ("data.csv", "not-allowed", "write @data.csv to read a file", "data.csv"),
    ("1,2 ^ 3", "not-allowed", "'^' is not the power", "2 ^ 3"),
    ("1,[2,3]", "value", "an array of shape (2,) among numbers", "[2,3]"),
    ("{1}", "not-allowed", "a set is not part", "{1}"),
    ("'1'", "type", "not text", "'1'"),
    ("2j", "not-allowed", "complex numbers", "2j"),
    ("1 > 0", "type", "truth value", "1 > 0"),
    ("[1,2", "value", "not JSON", ""),
    ("[1,,2]", "value", "not JSON", ","),
    ("[1,[2]]", "value", "ragged", None),
    ("[[1,2],[3]]", "value", "ragged", None),
    ("[1,null]", "value", "every entry must be a finite number", None),
    ("[1,true]", "value", "every entry must be a finite number", None),
    ('[1,"2"]', "value", "every entry must be a finite number", None),
    ("[NaN]", "value", "NaN is not a finite number", None),
    ("[1e400]", "value", "not finite", None),
    ("1\u00a02", "character", "U+00A0 NO-BREAK SPACE", "\u00a0"),
    ("\u22121", "character", "U+2212 MINUS SIGN", "\u2212"),
    ("1\x1b[31m", "character", "U+001B", "\x1b"),
    ("[" * 200 + "]" * 200, "budget", "'depth'", "["),
    ("9" * 400, "budget", "'digits'", "9" * 400),
    ("ones(10**12)", "budget", "'elements'", "ones(10**12)"),
]


@pytest.mark.parametrize(("text", "value"), TEXTS)
def test_a_text_stands_for_this_array(text: str, value: object) -> None:
    found = np.asarray(read_value(text, "--x", Budget()))
    assert found.dtype == np.float64
    assert found.tolist() == value


@pytest.mark.parametrize(("text", "kind", "words", "marked"), REFUSED)
def test_a_text_is_refused_with_its_reason_and_its_place(text: str, kind: str, words: str, marked: str | None) -> None:
    with pytest.raises(GradcliError) as caught:
        read_value(text, "--x", Budget())
    error = caught.value
    assert error.kind == kind
    assert words in f"{error.message}\n{error.hint}"
    assert error.place is not None
    assert (error.place.text, error.place.name) == (text, "--x")
    assert error.span is not None
    assert 0 <= error.span[0] <= error.span[1] <= len(text)
    if marked is not None:
        assert text[slice(*error.span)] == marked


MATRIX = [[1.0, 2.0], [3.0, 4.0]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with one file of each kind."""
    monkeypatch.chdir(tmp_path)
    np.save("m.npy", np.array(MATRIX))
    np.save("i.npy", np.array([1, 2], dtype=np.int32))
    np.save("n.npy", np.array([1.0, np.nan]))
    np.save("c.npy", np.array([1j]))
    np.save("o.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez("one.npz", anything=np.array([1.0, 2.0]))
    np.savez("two.npz", x=np.array([1.0, 2.0]), y=np.zeros(3))
    np.savez("none.npz", a=np.zeros(2), b=np.zeros(3))
    texts = {
        "m.json": json.dumps(MATRIX), "s.json": "3", "bad.json": "[1, 2", "ragged.json": "[[1, 2], [3]]",
        "object.json": '{"x": 1}', "m.csv": "1,2\n3,4\n", "head.csv": "width,height\n1,2\n3,4\n",
        "column.csv": "x\n1\n2\n3\n", "row.csv": "1,2,3\n", "crlf.csv": "1,2\r\n3,4\r\n",
        "bom.csv": "\ufeffa,b\n1,2\n3,4\n",
        "bad.csv": "1,2\n3,four\n", "ragged.csv": "1,2\n3\n", "empty.csv": "", "v.txt": "1,2\n", "m.txt": "1 2\n3 4\n",
        "rows.txt": "1,2\n3,4\n", "column.txt": "1\n2\n3\n", "code.txt": "__import__('os')\n", "noise.md": "1,2",
    }  # fmt: skip
    for name, text in texts.items():
        Path(name).write_bytes(text.encode())
    Path("binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    Path("junk.npy").write_bytes(b"not numpy")
    Path("folder.npy").mkdir()
    return tmp_path


FILES = [
    ("m.npy", MATRIX), ("i.npy", [1.0, 2.0]), ("one.npz", [1.0, 2.0]), ("two.npz", [1.0, 2.0]), ("m.json", MATRIX),
    ("s.json", 3.0), ("m.csv", MATRIX), ("head.csv", MATRIX), ("column.csv", [1.0, 2.0, 3.0]),
    ("row.csv", [1.0, 2.0, 3.0]),
    ("crlf.csv", MATRIX), ("bom.csv", MATRIX), ("v.txt", [1.0, 2.0]), ("m.txt", MATRIX), ("rows.txt", MATRIX),
    ("column.txt", [[1.0], [2.0], [3.0]]),
]  # fmt: skip

BAD_FILES = [
    ("missing.npy", "there is no file missing.npy"), ("folder.npy", "folder.npy is a directory"),
    ("o.npy", "it holds pickled objects"), ("junk.npy", "it is no numpy file"),
    ("n.npy", "must be finite: it has nan"),
    ("c.npy", "is not an array of real numbers"), ("none.npz", "holds a, b, and none is called x"),
    ("bad.json", "this is not JSON"), ("ragged.json", "ragged"), ("object.json", "every entry must be a finite number"),
    ("bad.csv", "row 2 of the table: 'four' is not a number"), ("ragged.csv", "row 2 of the table: 1 cells and not 2"),
    ("empty.csv", "the table has no numbers"), ("binary.csv", "is not a text file"),
    ("code.txt", "unknown function '__import__'"), ("noise.md", "the name must end with"),
    ("", "the name must end with"),
    ("nul\x00.npy", "nul\\x00.npy"), ("/etc/passwd", "the name must end with"),
]  # fmt: skip


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "value"), FILES)
def test_a_file_holds_this_array(cli: Cli, name: str, value: object) -> None:
    answer = cli("explain", "sum(x)", "--x", f"@{name}", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["inputs"]["x"]["value"] == value


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "words"), BAD_FILES)
def test_a_file_is_refused_with_its_option_and_its_name(cli: Cli, name: str, words: str) -> None:
    answer = cli("explain", "sum(x)", "--x", f"@{name}")
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert "x" in answer.err.splitlines()[0]
    assert name.replace("\x00", "")[:3] in answer.err


STREAMS = [
    ("3\n", 3.0), ("1,2\n", [1.0, 2.0]), ("1,2\n3,4\n", MATRIX), ("[[1,2],\n [3,4]]\n", MATRIX), ("1,2;3,4", MATRIX),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), STREAMS)
def test_standard_input_holds_this_array(cli: Cli, text: str, value: object) -> None:
    answer = cli("explain", "sum(x)", "--x", "-", "--json", stdin=text)
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["inputs"]["x"]["value"] == value


def test_standard_input_is_read_once_and_must_hold_something(cli: Cli) -> None:
    twice = cli("grad", "x*y", "--x", "-", "--y", "-", stdin="3")
    assert (twice.code, "read once only" in twice.err) == (2, True)
    assert cli("grad", "x", "--x", "-", stdin="").code == 2
