"""Lines from a stranger: each bad one is one error line of the right kind, and the rest goes on."""

import io
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from gradcli.batch.records import Line, lines, read_object
from gradcli.errors import Budget, GradcliError
from oracles import portion, strict_json

GOOD = b'{"id": "good", "program": "x**2", "inputs": {"x": 3}}'
DEEP = 100_000


def x_is(value):
    return b'{"id": 1, "program": "x", "inputs": {"x": ' + value + b"}}"


def program_is(text):
    return json.dumps({"id": 1, "program": text, "inputs": {"x": 1}}).encode()


HOSTILE = [  # a name, a line, the kind of the error, words of it
    ("no JSON", b"x**2", "json", "column 1: this is not JSON: expecting value"),
    ("cut off", b'{"program": "x"', "json", "column 16"),
    ("two documents", GOOD + GOOD, "json", "extra data"),
    ("single quotes", b"{'program': 'x'}", "json", "double quotes"),
    ("a list", b"[1, 2]", "json", "a record is a JSON object, not an array"),
    ("a number", b"3", "json", "not a number"),
    ("null", b"null", "json", "not null"),
    ("a key twice", b'{"program": "x", "inputs": {"x": 1, "x": 2}}', "json", 'the key "x" is given twice'),
    ("NaN", x_is(b"NaN"), "json", "NaN is not JSON"),
    ("Infinity", x_is(b"[1, Infinity]"), "json", "Infinity is not JSON"),
    ("-Infinity", x_is(b"-Infinity"), "json", "-Infinity is not JSON"),
    ("a huge id", b'{"id": 1e999, "program": "1"}', "record", "id must be"),
    ("beyond double precision", x_is(b"1e999"), "value", "finite"),
    ("a lone surrogate", program_is("x").replace(b'"x"', b'"\\ud800"', 1), "json", "half of a surrogate pair"),
    ("a surrogate in UTF-8", b'{"id": "\xed\xa0\x80"}', "json", "byte 9 of the line is not UTF-8"),
    ("a control character", b'{"id": "\x01"}', "json", "invalid control character"),
    ("a zero byte", b"\x00", "json", "this is not JSON"),
    ("deep lists", b"[" * DEEP, "budget", "'depth'"),
    ("a value as deep as allowed", x_is(b"[" * 90 + b"1" + b"]" * 90), "value", "nested deeper than 32"),
    ("a file", x_is(b'"@/etc/passwd"'), "value", "a record names no file"),
    ("a file among numbers", x_is(b'"1,@/etc/passwd"'), None, ""),
    ("escapes of a terminal", b'{"\\u001b[31mred": 1}', "record", r'"\u001b[31mred"'),
    ("a loop without end", program_is("while x > 0: pass\nx"), "budget", "more than the budget"),
]  # fmt: skip
NAMES = [row[0] for row in HOSTILE]


def run(*args, stdin, cwd):
    return subprocess.run(
        [sys.executable, "-m", "gradcli", "batch", "-", *args], input=stdin, capture_output=True, timeout=120, cwd=cwd,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip


@pytest.fixture(params=portion([("--jobs", "2"), (), ("--no-symbolic",)], 3), ids=" ".join)
def answered(request):
    return batch_of_all(*request.param)


@cache
def batch_of_all(*args):
    """Answer every hostile line between two good ones, in one batch, once."""
    text = b"".join(GOOD + b"\n" + line + b"\n" for _, line, *_ in HOSTILE) + GOOD
    with tempfile.TemporaryDirectory() as folder:
        found = run(*args, stdin=text, cwd=Path(folder))
        left = list(Path(folder).iterdir())
    return found, [strict_json(line) for line in found.stdout.decode("ascii").splitlines()], left


@pytest.mark.long
def test_every_line_has_its_answer_in_its_place(answered):
    found, documents, left = answered
    assert len(documents) == 2 * len(HOSTILE) + 1
    assert [d["id"] for d in documents[::2]] == ["good"] * (len(HOSTILE) + 1)
    assert [d["error"] for d in documents[::2]] == [None] * (len(HOSTILE) + 1)
    assert [d["line"] for d in documents[1::2]] == list(range(2, 2 * len(HOSTILE) + 1, 2))
    assert left == []
    assert found.returncode == 2
    assert b"Traceback" not in found.stderr
    assert found.stderr.count(b"\n") == 6
    assert b"\x1b" not in found.stderr + found.stdout


@pytest.mark.parametrize(("number", "kind", "words"), [(k, row[2], row[3]) for k, row in enumerate(HOSTILE)], ids=NAMES)
def test_a_hostile_line_is_one_error_of_its_kind(answered, number, kind, words):
    error = answered[1][2 * number + 1]["error"]
    assert error is not None
    assert error["kind"] != "internal"
    assert kind is None or error["kind"] == kind
    assert words in error["message"]
    if kind == "json":
        assert error["source"] == f"line {2 * number + 2}"


FINE = [  # what looks suspicious and is not
    b"  " + GOOD + b" \t\r",
    b'{"id": "\\ud83d\\ude00", "program": "1"}',
    b'{"id": "\\\\ud800", "program": "1"}',
    b'{"id": "' + b"[" * 500 + b'", "program": "1"}',
    b'{"id": "' + b"7" * 5000 + b'", "program": "1"}',
    b'{"id": "' + b'\\"' * 500 + b"8" * 400 + b'", "program": "1"}',
    b'{"id": ' + b"7" * 300 + b', "program": "1"}',
    b'{"program": "sum(x)", "inputs": {"x": [' + b", ".join([b"[1]"] * 500) + b"]}}",
    '{"id": "\u2028\x7f", "program": "1"}'.encode(),
]


@pytest.mark.parametrize("line", FINE, ids=lambda line: repr(line[:30]))
def test_what_looks_suspicious_and_is_not(line):
    assert read_object(line, Budget()) == json.loads(line)


@pytest.mark.parametrize("digits", [1, 20, 64, 300])
def test_the_bound_on_digits_is_that_of_the_budget(digits):
    assert read_object(b'{"a": 0, "b": "%s"}' % (b"5" * 999), Budget(digits=digits))["a"] == 0
    assert read_object(b'{"a": %s}' % (b"5" * digits), Budget(digits=digits)) == {"a": int("5" * digits)}
    with pytest.raises(GradcliError, match=f"'digits' of {digits}"):
        read_object(b'{"a": [%s]}' % (b"5" * (digits + 1)), Budget(digits=digits))


SLOW = [
    b'"' + b'\\"' * 2**22,
    b'[["' + b'\\"' * 2**22,
    b'{"a": [' + b"[1]," * 2**20 + b"[1]]}",
    b"[" * 2**22,
    (b"[" * 50 + b"]" * 50 + b",") * 2**16,
    (b"1" * 63 + b" ") * 2**17,
    (b'"' + b"1" * 64 + b'" ') * 2**16,
]


@pytest.mark.parametrize("line", portion(SLOW, 3), ids=lambda line: repr(line[:12]))
def test_no_line_takes_more_than_linear_time(line):
    """What is quadratic would take hours here."""
    try:
        assert read_object(line, Budget()) == {"a": [[1]] * (2**20 + 1)}
    except GradcliError as error:
        assert error.kind in ("json", "budget")  # noqa: PT017


ENDS = [
    (b"a\nb\n", [(1, b"a"), (2, b"b")]),
    (b"a\r\nb\r\n", [(1, b"a\r"), (2, b"b\r")]),
    (b"a\n\n  \n\t\r\nb", [(1, b"a"), (2, b""), (3, b"  "), (4, b"\t\r"), (5, b"b")]),
    (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", [(1, b"a"), (2, b"\xef\xbb\xbfb")]),
    (b"\xef\xbb\xbf\n", [(1, b"")]),
    (b"", []),
    (b"\n\n", [(1, b""), (2, b"")]),
    (b"123456\n7\n", [(1, b"123456"), (2, b"7")]),
    (b"1234567\n7\n1234567", [(1, None), (2, b"7"), (3, None)]),
    (b"1" * 100 + b"\n7", [(1, None), (2, b"7")]),
]


@pytest.mark.parametrize("step", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize(("text", "expected"), ENDS, ids=lambda item: repr(item)[:40])
def test_lines_as_they_come(text, expected, step):
    stream = io.BytesIO(text)
    found = list(lines(lambda size: stream.read(min(size, step)), longest=6 if b"7" in text else 100))
    assert [(line.number, line.text) for line in found] == expected
    assert sum(line.read for line in found) == len(text)


def test_a_line_is_given_before_the_next_is_read():
    parts = iter([b"a\nb", b"\n"])
    found = lines(lambda _: next(parts))
    assert next(found) == Line(1, b"a", 2)
    assert next(found) == Line(2, b"b", 2)


@pytest.mark.long
@pytest.mark.parametrize("args", portion([("--jobs", "2"), ()], 2), ids=" ".join)
def test_a_line_of_100_megabytes_is_refused_and_not_held(args):
    script = (
        "import sys; from pathlib import Path; from gradcli.cli.app import run; code = run(sys.argv[1:]);"
        "[held] = [line for line in Path('/proc/self/status').read_text().splitlines() if line.startswith('VmHWM')];"
        "print(held.split()[1], file=sys.stderr); sys.exit(code)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "batch", "-", "--no-symbolic", *args], stdin=-1, stdout=-1, stderr=-1,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    text = GOOD + b"\n" + b"7" * 100 * 2**20 + b"\n" + GOOD + b"\n" + b"[" * 100 * 2**20
    out, err = process.communicate(text, timeout=120)
    documents = [strict_json(line) for line in out.decode().splitlines()]
    assert [d["error"] and d["error"]["message"] for d in documents] == [
        None, "the line is longer than 16 MiB", None, "the line is longer than 16 MiB",
    ]  # fmt: skip
    assert process.returncode == 2
    assert int(err.split()[-1]) < 150 * 1024
