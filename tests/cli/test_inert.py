"""Nothing from outside reaches a stream as a control byte, a terminal escape, markup, or a character in disguise."""

import io
import json
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from oracles import cases

PAYLOADS = {
    "colour": "\x1b[31m", "title": "\x1b]0;owned\x07", "link": "\x1b]8;;http://x\x1b\\",
    "clipboard": "\x1b]52;c;b3du\x07",
    "c1": "\x9b31m", "return": "\rrm -rf", "backspace": "\x08\x08", "bell": "\x07", "nul": "\x00", "delete": "\x7f",
    "next-line": "\x85", "line-separator": "\u2028", "override": "\u202e", "isolate": "\u2066", "zero-width": "\u200b",
    "byte-order": "\ufeff", "surrogate": "\ud800", "bytes": "\udcff", "tag": "\U000e0041", "bold": "𝐬𝐢𝐧", "wide": "ｘ",
    "ligature": "ﬁ", "cyrillic": "х", "combining": "e\u0301", "emoji": "🙂", "noncharacter": "\uffff",
}  # fmt: skip
"""Texts that a terminal would obey, or that look like others."""

PLACES = cases("inert.toml")["PLACES"]


def printable(text):
    """Return whether a terminal shows a text and does nothing else."""
    return all(c == "\n" or c.isprintable() for c in text)


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("place", PLACES)
def test_a_payload_is_refused_and_shown_as_an_escape(cli, place):
    for name, payload in PAYLOADS.items():
        args = [word.replace("{p}", payload) for word in PLACES[place]]
        for flags in ((), ("--json",)) if args[0] in ("explain", "grad", "check") and place != "format" else ((),):
            answer = cli(*args, *flags)
            assert answer.code == 2, (name, answer.err)
            assert answer.err.isascii(), (name, answer.err)
            assert printable(answer.err), (name, answer.err)
            assert "Traceback" not in answer.err
            if flags:
                assert answer.out.isascii()
                assert printable(answer.out)
                assert json.loads(answer.out)["error"]["message"]
            else:
                assert answer.out == ""
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", sorted(PAYLOADS.keys() - {"return"}))
def test_a_payload_in_a_comment_is_read_and_not_obeyed(cli, name):
    payload = PAYLOADS[name]
    for flags in ((), ("--json",), ("-F", "plain"), ("--ascii",)):
        answer = cli("explain", f"x # {payload}\n", "--x", "1", *flags)
        assert (answer.code, answer.err) == (0, "")
        assert printable(answer.out)
        assert not any("\ud800" <= c <= "\udfff" for c in answer.out)
        assert answer.out.isascii() or not set(flags) & {"--json", "--ascii"}
    wrong = cli("explain", f"x +* 1 # {payload}", "--x", "1")
    assert (wrong.code, wrong.out, wrong.err.isascii(), printable(wrong.err)) == (2, "", True, True)


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_on_standard_input_is_shown_as_an_escape(cli, name):
    payload = PAYLOADS[name]
    for args in (("explain", "-", "--x", "1"), ("explain", "x", "--x", "-")):
        answer = cli(*args, stdin=f"1 + {payload}")
        assert (answer.code, answer.out, answer.err.isascii(), printable(answer.err)) == (2, "", True, True)


def test_a_payload_in_an_archive_is_shown_as_an_escape(cli):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for payload in PAYLOADS.values():
            if payload.isprintable() or payload[0] in "\x1b\x9b\r":
                archive.writestr(payload, b"")
    Path("x.npz").write_bytes(file.getvalue())
    answer = cli("explain", "x", "--x", "@x.npz")
    assert answer.code == 2
    assert "\\x1b[31m" in answer.err
    assert answer.err.isascii()
    assert printable(answer.err)


@pytest.mark.parametrize(
    "text", ["x[/red]", ":smile:", "[link=file:///]x[/link]", "[@click=exit]x", "%s {0} \\x1b[31m"]
)
def test_what_looks_like_markup_is_shown_as_it_is(cli, text):
    answer = cli("explain", text, "--x", "1")
    assert answer.code == 2
    assert text in answer.err


@settings(
    max_examples=300, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.characters(codec=None), st.sampled_from(["program", "value"]))
@example("⁺", "program")
def test_any_other_character_is_refused_by_its_code_point_and_its_name(cli, character, place):
    """Python takes ``𝐬𝐢𝐧`` for ``sin`` (NFKC); here a program and a value are ASCII and nothing else."""
    assume(not (" " <= character <= "~" or character in "\n\t"))
    words = (f"x + s{character}in(x)", "--x", "1") if place == "program" else ("x", "--x", f"1 + {character}2")
    answer = cli("explain", *words)
    assert answer.code == 2
    first = answer.err.splitlines()[0]
    assert f"U+{ord(character):04X}" in first
    assert unicodedata.name(character, "") in first
    assert answer.err.replace(character, "").isascii()
    in_disguise = unicodedata.normalize("NFKC", character) != character and not character.isnumeric()
    assert character not in answer.err or not (in_disguise or "CYRILLIC" in first)
    assert printable(answer.err)


LONG = {
    "unknown name": ("n" * 60_000, "--x", "1"),
    "unknown function": ("f" * 60_000 + "(x)", "--x", "1"),
    "many unknown names": ("+".join(f"a{i}" for i in range(1200)), "--x", "1"),
    "no number": ("x", "--x", "1 " + "x" * 60_000),
    "no row": ("x", "--x", "1;2," + "3" * 200),
    "text": ("x + '" + "t" * 60_000 + "'", "--x", "1"),
    "suffix": ("x", "--x", "@" + "f" * 60_000),
    "wrt": ("x", "--x", "1", "--wrt", "w" * 60_000),
    "color": ("x", "--x", "1", "--color", "w" * 60_000),
    "width": ("x", "--x", "1", "--width", "w" * 60_000),
    "budget": ("x", "--x", "1", "--budget", "w" * 60_000),
    "set": ("x", "--set", "w" * 60_000),
    "option": ("x", "--" + "w" * 60_000),
    "extra words": ("x", *["y"] * 5000),
}


@pytest.mark.parametrize("name", LONG)
def test_an_error_fits_on_a_screen_whatever_it_quotes(cli, name):
    answer = cli("explain", *LONG[name], "--json")
    assert answer.code == 2
    assert len(answer.err) < 1300
    assert len(answer.out) < 2000
    assert json.loads(answer.out)["error"]["kind"] != "internal"


@pytest.mark.parametrize("flags", [(), ("-F", "plain"), ("--steps", "--tape")], ids=" ".join)
def test_a_tab_in_a_program_is_shown_as_blanks(cli, flags):
    answer = cli("explain", "y = x\nfor i in range(2):\n\ty = sin(y)*\tx\ny\t+ x", "--x", "3", *flags)
    assert answer.code == 0
    assert "sin(y)*" in answer.out
    assert "\t" not in answer.out + answer.err
