"""Files that claim more than they hold, hold more than they claim, or are no files: one line each, in little memory."""

import io
import itertools
import os
import resource
import struct
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from oracles import portion


def npy(header, data=b"", version=b"\x01\x00"):
    """Return an ``.npy`` file with a header of our own."""
    text = header.encode("latin-1") + b"\n"
    length = struct.pack("<H", len(text)) if version == b"\x01\x00" else struct.pack("<I", len(text))
    return b"\x93NUMPY" + version + length + text + data


def shaped(shape, descr="'<f8'", data=b""):
    """Return an ``.npy`` file of a shape that its data need not have."""
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}", data)


def zipped(members, method=zipfile.ZIP_DEFLATED):
    """Return an ``.npz`` file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def spoiled(data):
    """Return an archive whose compressed bytes are overwritten."""
    return data[:60] + b"\xff" * 40 + data[100:]


def bomb(shape):
    """Return a small ``.npz`` file whose array goes on for 300 MB, whatever its header says."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        member.write(shaped(shape))
        for _ in range(300):
            member.write(bytes(2**20))
    return file.getvalue()


FILES = {
    "declared.npy": (lambda: shaped("(1000000000000,)"), "more than the budget 'elements'"),
    "declared2.npy": (lambda: shaped("(3000, 3000, 3000)"), "more than the budget 'elements'"),
    "computed.npy": (lambda: npy("{'descr': '<f8', 'fortran_order': 0 > 1, 'shape': (1,)}"), "it is no numpy file"),
    "second.npy": (lambda: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (6000000,)}", version=b"\x02\x00"),
                   "more than the budget 'elements'"),
    "truncated.npy": (lambda: shaped("(1000,)", data=bytes(80)), "it is no numpy file"),
    "headless.npy": (lambda: b"\x93NUMPY\x01\x00", "it is no numpy file"),
    "negative.npy": (lambda: shaped("(-1,)", data=bytes(800)), "it is no numpy file"),
    "code.npy": (lambda: shaped("(open('owned', 'w'),)"), "it is no numpy file"),
    "future.npy": (lambda: npy("{}", version=b"\x09\x09"), "it is no numpy file"),
    "long.npy": (lambda: npy("{" + " " * 60_000 + "}"), "it is no numpy file"),
    "pickled.npy": (lambda: shaped("(1,)", "'|O'", b"cos\nsystem\n(S'touch owned'\ntR."), "it holds pickled objects"),
    "pickled2.npy": (lambda: shaped("(1,)", "[('a', '|O')]", b"cos\nsystem\n(S'touch owned'\ntR."), "pickled objects"),
    "records.npy": (lambda: shaped("(2,)", "[('a', '<f8')]", bytes(16)), "not an array of real numbers"),
    "huge-items.npy": (lambda: shaped("(4000000,)", "'|V1000000000'"), "not an array of real numbers"),
    "text.npy": (lambda: shaped("(1,)", "'<U4'", bytes(16)), "not an array of real numbers"),
    "truth.npy": (lambda: shaped("(1,)", "'|b1'", b"\x01"), "not an array of real numbers"),
    "bomb.npz": (lambda: bomb("(39321600,)"), "more than the budget 'elements'"),
    "surplus.npz": (lambda: bomb("(2,)"), "ok"),
    "spoiled.npz": (lambda: spoiled(zipped({"x.npy": shaped("(99,)", data=os.urandom(792))})), "it is no numpy file"),
    "cut.npz": (lambda: zipped({"x.npy": shaped("(9,)", data=bytes(72))})[:-30], "it is no numpy file"),
    "other.npz": (lambda: zipped({"x.npy": b"no array"}), "it is no numpy file"),
    "nothing.npz": (lambda: zipped({}), "holds no array"),
    "lzma.npz": (lambda: zipped({"x.npy": shaped("(1,)", data=bytes(8))}, zipfile.ZIP_LZMA), "it is no numpy file"),
    "escape.npz": (lambda: zipped({"\x1b[31m.npy": b"", "é.npy": b""}), "\\x1b[31m, é, and none is called x"),
    "words.json": (lambda: b'{"x": 1, "x": 2}', "an object where an array of numbers belongs"),
    "digits.json": (lambda: b"[" + b"1" * 5000 + b"]", "not finite"),
    "nan.json": (lambda: b"[NaN]", "NaN is not a finite number"),
    "infinity.json": (lambda: b"[1, -Infinity]", "-Infinity is not a finite number"),
    "ragged.json": (lambda: b"[[1, 2], [3]]", "ragged"),
    "deep.json": (lambda: b"[" * 500_000 + b"]" * 500_000, "nested too deeply"),
    "deeper.json": (lambda: b"[" * 40 + b"1" + b"]" * 40, "nested deeper than 32"),
    "many.json": (lambda: b"[" + b"1," * 6_000_000 + b"1]", "more than the budget 'elements'"),
    "many.csv": (lambda: b"1,1\n" * 3_000_000, "more than the budget 'elements'"),
    "many.txt": (lambda: b"1," * 6_000_000, "more than the budget 'elements'"),
    "two-delimiters.csv": (lambda: b"1;2\n3,4\n", "column 1, row 2 of the table: '3,4' is not a number"),
    "half-header.csv": (lambda: b"1,NaN\n3,4\n", "row 1 of the table: 'NaN' is not a number"),
    "no-header.csv": (lambda: b"inf,nan\n3,4\n", "row 1 of the table: 'inf' is not a number"),
    "wide-cell.csv": (lambda: b'"' + b"1" * 200_000 + b'"\n', "this is no table"),
    "escape.csv": (lambda: b"1,2\n3,\x1b[31m\n", "'\\x1b[31m' is not a number"),
    "nul.csv": (lambda: b"1,\x00\n", "is not a number"),
    "python.txt": (lambda: b"__import__('os').system('touch owned')", "unknown method '.system()'"),
}  # fmt: skip


@pytest.mark.parametrize("name", portion(FILES, 3))
def test_a_hostile_file_is_refused_by_its_name_in_little_memory(cli, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make, words = FILES[name]
    Path(name).write_bytes(make())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = cli("grad", "sum(x)", "--x", f"@{name}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * (
        1024 if sys.platform != "darwin" else 2**20
    )
    if words == "ok":
        assert (answer.code, answer.out) == (0, "1,1\n")
    else:
        assert answer.code == 2
        assert answer.out == ""
        assert words in answer.err
        assert name in answer.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_takes_long_to_read_is_refused_when_the_time_is_over(cli, tmp_path, monkeypatch):
    """Each look at the clock is a second later here: so many constants are read, whatever the machine."""
    clock = itertools.count()
    monkeypatch.setattr("gradcli.language.values.time", SimpleNamespace(thread_time=lambda: float(next(clock))))
    (tmp_path / "slow.txt").write_text("pi/3," * 900_000)
    answer = cli("grad", "sum(x)", "--x", f"@{tmp_path / 'slow.txt'}", "--budget", "seconds=200")
    assert (answer.code, answer.out) == (2, "")
    assert "the value takes too long: more than the budget 'seconds'" in answer.err
    assert next(clock) == 202


PLACES = {
    "folder.npy": lambda path: path.mkdir(),
    "fifo.npy": os.mkfifo,
    "zero.npy": lambda path: path.symlink_to("/dev/zero"),
    "loop.npy": lambda path: path.symlink_to(path),
    "nothing.npy": lambda path: path.symlink_to("nowhere"),
    "sparse.npy": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 2**40),
}


@pytest.mark.parametrize("name", PLACES)
def test_what_is_no_file_is_refused_at_once(cli, tmp_path, name):
    PLACES[name](tmp_path / name)
    for args in (("sum(x)", "--x", f"@{tmp_path / name}"), ("-f", str(tmp_path / name), "--x", "1")):
        answer = cli("grad", *args)
        assert answer.code == 2
        assert name in answer.err


def test_a_file_that_may_not_be_read_is_said_to_be_so(cli, tmp_path, monkeypatch):
    (tmp_path / "x.npy").write_bytes(b"")

    def deny(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", deny)
    answer = cli("grad", "sum(x)", "--x", f"@{tmp_path / 'x.npy'}")
    assert (answer.code, "cannot be read: Permission denied" in answer.err) == (2, True)


def test_a_file_that_has_no_size_is_read_to_the_bound_alone(cli, tmp_path):
    """The files of /proc claim no size, and a file may grow while it is read."""
    (tmp_path / "x.json").symlink_to("/proc/self/status")
    assert (tmp_path / "x.json").stat().st_size == 0
    answer = cli("grad", "sum(x)", "--x", f"@{tmp_path / 'x.json'}", largest=50)
    assert (answer.code, "is larger than" in answer.err) == (2, True)


def test_standard_input_is_read_to_the_bound_alone(cli):
    assert cli("grad", "-", "--x", "1", stdin="x" + " " * 49, largest=50).code == 0
    answer = cli("grad", "-", "--x", "1", stdin="x" + " " * 50, largest=50)
    assert (answer.code, "standard input is larger than" in answer.err) == (2, True)


def test_a_file_within_the_budget_is_read(cli, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((100, 100)))
    words = ("grad", "sum(x)", "--x", f"@{tmp_path / 'x.npy'}")
    assert cli(*words, "--budget", "elements=10000").code == 0
    answer = cli(*words, "--budget", "elements=9999")
    assert (answer.code, "--budget elements=" in answer.err) == (2, True)
