"""Values of the command line: what ``--x`` reads, from text, from files and from standard input."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from gradcli.batch.answers import answer
from gradcli.cli.formats import read_table
from gradcli.errors import Budget, GradcliError
from gradcli.language.values import doubles, read_value
from oracles import cases

MATRIX = [[1.0, 2.0], [3.0, 4.0]]

TABLES = cases("values.json")
TEXTS = TABLES["TEXTS"]

REFUSED = TABLES["REFUSED"]


@pytest.mark.parametrize(("text", "value"), TEXTS)
def test_a_text_stands_for_this_array(text, value):
    found = np.asarray(doubles(read_value(text, "--x", Budget())))
    assert found.dtype == np.float64
    assert found.tolist() == value


INTEGERS = ["3", "+3", "007", "1_000", "1,2", "1,2;3,4", "[1, 2]", "[[1], [-2]]", "3-2", "[2 + 1,\n5]",
            "9007199254740991"]  # fmt: skip
DOUBLES = ["3.", "1e2", "1,2.5", "-0", "1,-0", "[1, 2.0]", "[-0]", "2*3", "9007199254740992", "[9007199254740993]"]


@pytest.mark.parametrize(("text", "kind"), [*((t, "i") for t in INTEGERS), *((t, "f") for t in DOUBLES)])
def test_what_is_typed_in_integers_is_read_as_integers(text, kind):
    assert np.asarray(read_value(text, "--x", Budget())).dtype.kind == kind


@pytest.mark.parametrize(("text", "kind", "words", "marked"), REFUSED)
def test_a_text_is_refused_with_its_reason_and_its_place(text, kind, words, marked):
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


ONE_EXPRESSION = ["1\n2", "1,2\n3,4", "3#4", "a=3", "for i in (1, 2): i", "3;pass"]


@pytest.mark.parametrize("text", ONE_EXPRESSION)
def test_every_place_for_a_value_refuses_what_is_not_one_expression(cli, text):
    for words in (("--x", text), ("--set", f"x={text}"), ("--x", "1", "--v", text)):
        refused = cli("grad", "x*1", *words)
        assert (refused.code, refused.out) == (2, "")
    for given in ({"inputs": {"x": text}}, {"inputs": {"x": 1}, "v": text}):
        assert answer({"program": "x*1", **given})["error"]["kind"] == "value"
    assert answer({"program": "x*x", "inputs": {"x": "1_000"}})["grad"] == {"x": 2000.0}


@pytest.fixture
def here(tmp_path, monkeypatch):
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
        "semicolons.csv": "1;2\n3;4\n", "tabs.csv": "1\t2\r\n3\t4", "mac.csv": "a;b\r1;2\r3;4\r",
        "quoted.csv": '"a;b", "c"\n"1", 2\n3,"4"\n', "python.csv": "1_000,.5\n", "lists.txt": "[1,\n2]\n[3,4]\n",
        "mac.txt": "1 -2\r3 4\r", "bom.txt": "\ufeff1,2\n", "call.txt": "linspace(\n0, 1,\n3)\n",
        "rows.txt": "1,2\n3,4\n", "column.txt": "1\n2\n3\n", "code.txt": "__import__('os')\n", "noise.md": "1,2",
    }  # fmt: skip
    for name, text in texts.items():
        Path(name).write_bytes(text.encode())
    Path("binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    Path("junk.npy").write_bytes(b"not numpy")
    Path("folder.npy").mkdir()
    return tmp_path


FILES = TABLES["FILES"]

TABLES = cases("values.json")
BAD_FILES = TABLES["BAD_FILES"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "value"), FILES)
def test_a_file_holds_this_array(cli, name, value):
    answer = cli("explain", "sum(x)", "--x", f"@{name}", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["inputs"]["x"]["value"] == value


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "words"), BAD_FILES)
def test_a_file_is_refused_with_its_option_and_its_name(cli, name, words):
    answer = cli("explain", "sum(x)", "--x", f"@{name}")
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert "x" in answer.err.splitlines()[0]
    assert name.replace("\x00", "")[:3] in answer.err


CELLS = TABLES["CELLS"]


@pytest.mark.parametrize(("text", "row", "column", "words"), CELLS)
def test_a_cell_that_is_no_number_is_refused_with_row_and_column(text, row, column, words):
    with pytest.raises(GradcliError) as caught:
        read_table(text, Budget())
    assert caught.value.kind == "value"
    assert f"column {column}, row {row} of the table" in caught.value.message
    assert words in f"{caught.value.message}\n{caught.value.hint}"


HEADERS = [
    ("w,h\n1,2", ["w", "h"]), ("pi\te\n1\t2", ["pi", "e"]), ("speed (m/s);T_0\n1;2", ["speed (m/s)", "T_0"]),
    ("Gr\u00f6\u00dfe,_x\n1,2", ["Gr\u00f6\u00dfe", "_x"]), ("1,2", []), ("\n\n1,2", []), ("x\n1\n2\n", ["x"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names"), HEADERS)
def test_a_header_is_a_row_of_names(text, names):
    found = read_table(text, Budget())
    assert found.header == names
    assert found.numbers.tolist() == [1.0, 2.0]


@pytest.mark.usefixtures("here")
def test_a_header_that_is_left_out_is_said_in_every_answer(cli):
    words = "--x: the first row of head.csv is read as a header, and not as numbers: width, height."
    given = ("sum(x)", "--x", "@head.csv")
    for command in ("explain", "check", "grad"):
        note = {"kind": "header-skipped", "message": words}
        assert json.loads(cli(command, *given, "--json").out)["notes"].count(note) == 1
    assert f"note: {words}" in cli("explain", *given, "--format", "plain").out.splitlines()
    assert words in " ".join(cli("explain", *given).out.split())
    for command in ("check", "grad"):
        assert cli(command, *given).err == f"note: {words}\n"
    assert cli("grad", *given, "-q").err == ""
    assert json.loads(cli("grad", "sum(x)", "--x", "@m.csv", "--json").out)["notes"] == []


def own_number(cell):
    """Read a number as Python does, without any pattern of ours."""
    if set(cell) - set("0123456789+-.eE_"):
        return None
    try:
        return float(cell) if math.isfinite(float(cell)) else None
    except ValueError:
        return None


def own_value(text):
    """Read rows of numbers, one at a time, as the command line describes them; None for all else."""
    rows = []
    pieces = text.strip().split(";")
    for piece in pieces:
        cells = piece.strip().split(",")
        if len(cells) > 1 and not cells[-1].strip():
            cells.pop()
        numbers = [own_number(cell.strip(" ")) for cell in cells]
        if any(number is None for number in numbers) or (rows and len(numbers) != len(rows[0])):
            return None
        rows.append([number for number in numbers if number is not None])
    return rows


def own_table(text):
    """Read lines of cells one character at a time; None for what is no table of numbers."""
    lines = text.split("\n")
    marked = next((line for line in lines if line.strip() and set(line) & set("\t;,")), ",")
    delimiter = next(mark for mark in "\t;," if mark in marked)
    filled = [bool(line.strip(" " if delimiter == "\t" else " \t")) for line in lines]
    cells = [
        [cell.strip(" \t") for cell in line.split(delimiter)] for line, full in zip(lines, filled, strict=True) if full
    ]
    gap = "".join("x" if full else " " for full in filled).strip().count(" ")
    if not cells or (gap and len(cells[0]) == 1):
        return None
    if all(cell[:1].isalpha() and cell != "nan" for cell in cells[0]):
        names = cells.pop(0)
        if not cells or len(names) != len(cells[0]):
            return None
    numbers = [[own_number(cell) for cell in row] for row in cells]
    whole = [[number for number in row if number is not None] for row in numbers]
    return whole if whole == numbers and len({len(row) for row in whole}) == 1 else None


def texts(seed, pieces, count):
    """Yield random texts of pieces."""
    rng = random.Random(seed)  # noqa: S311
    alphabet = pieces.split("|")
    for _ in range(count):
        yield "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 9)))


def test_no_value_is_read_otherwise_than_by_a_reader_of_our_own():
    outcomes = set()
    for text in texts(1, "1|2.5|,-3|1_0|,|,|;|\n|;\n| |#|=|a|1__0|_|1e2|.", 6000):
        wanted = own_value(text)
        try:
            found = np.asarray(read_value(text, "--x", Budget()))
        except GradcliError:
            found = None
        assert (found is None) == (wanted is None), text
        outcomes.add(wanted is None)
        assert found is None or found.ravel().tolist() == [number for row in wanted or [] for number in row], text
    assert outcomes == {True, False}


@pytest.mark.slow
def test_no_table_is_read_otherwise_than_by_a_reader_of_our_own():
    outcomes = set()
    for text in texts(2, "1|2.5|-3|1_0|,|,|;|\n|\n|\t| |x|a,b\n|nan|1/3|-|1__0|1e2|%", 20_000):
        wanted = own_table(text)
        try:
            found = read_table(text, Budget()).numbers
        except GradcliError:
            found = None
        assert (found is None) == (wanted is None), text
        outcomes.add(wanted is None)
        if found is not None and wanted is not None:
            assert found.ravel().tolist() == [number for row in wanted for number in row], text
            rows, columns = len(wanted), len(wanted[0])
            assert found.shape in ([()] if rows == columns == 1 else [(rows, columns), (rows * columns,)]), text
    assert outcomes == {True, False}


LINES = TABLES["LINES"]
"""Text of a file or a stream, and its array: a column of lines is a vector, and only ``;`` makes a matrix of one."""


@pytest.mark.parametrize(("text", "value"), LINES)
def test_a_stream_and_a_file_of_text_hold_the_same_array(cli, here, text, value):
    (here / "lines.txt").write_bytes(text.encode())
    for source in ("-", "@lines.txt"):
        answer = cli("explain", "sum(x)", "--x", source, "--json", stdin=text)
        assert answer.code == 0, answer.err
        assert json.loads(answer.out)["inputs"]["x"]["value"] == value


@pytest.mark.parametrize("rows", [["1", "2", "3"], ["7"], ["1", "-2"]])
@pytest.mark.parametrize("option", [
    ("grad", "sum(x*x)", "--x"), ("grad", "sum(x*x)", "--set", "x="), ("grad", "x*x", "--x", "@c.csv", "--v"),
    ("check", "sum(x*x)/2", "--x", "@c.csv", "--expect"), ("check", "sum(x*x)/2", "--x", "@c.csv", "--expect", "x="),
    ("explain", "x*x", "--x", "@c.csv", "--v", "@c.csv", "--json", "--jvp"),
])  # fmt: skip
def test_one_column_is_a_vector_from_every_source(cli, here, option, rows):
    text, said = "\n".join(rows) + "\n", set()
    for suffix in ("csv", "tsv", "txt"):
        (here / f"c.{suffix}").write_text(text)
    for source in ("@c.csv", "@c.tsv", "@c.txt", "-", ",".join(rows)):
        words = [*option[:-1], option[-1] + source] if option[-1].endswith("=") else [*option, source]
        answer = cli(*words, stdin=text)
        assert answer.code == 0, answer.err
        said.add(answer.out.partition(" agrees ")[2] or answer.out)  # what is expected is called as it was given
    assert len(said) == 1


def test_standard_input_is_read_once_and_must_hold_something(cli):
    twice = cli("grad", "x*y", "--x", "-", "--y", "-", stdin="3")
    assert (twice.code, "read once only" in twice.err) == (2, True)
    assert cli("grad", "x", "--x", "-", stdin="").code == 2
