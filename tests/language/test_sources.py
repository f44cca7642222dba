"""Program texts as editors and systems save them: byte order marks, line ends, comments in any script."""

import codecs
import json

import pytest

from gradcli.errors import Budget, GradcliError
from gradcli.language.source import parse
from oracles import cases

READ = [
    ("y = x\r\ny*y\r\n", "y = x\ny*y"),
    ("# \u4e2d\u6587, \u03c0 and \u2212\nx", "# \u4e2d\u6587, \u03c0 and \u2212\nx"),
    ("x # \x1b[31m \x00\u202e\u2028\ud800\tend", "x # ?[31m ????\tend"),
    ("x # it's a \"\ny = x # \u00e9\ny", "x # it's a \"\ny = x # \u00e9\ny"),
    ("einsum('i,i->', x, x) # don\u2019t", "einsum('i,i->', x, x) # don\u2019t"),
    ("x # " + "(" * 300, "x # " + "(" * 300),
    ("x # " + "9" * 999, "x # " + "9" * 999),
    ("x \\\n# \u00e9", "x \\\n# \u00e9"),
]
TABLES = cases("sources.json")
REFUSED = TABLES["REFUSED"]


@pytest.mark.parametrize(("text", "shown"), READ)
def test_a_program_is_read_whatever_its_comments_and_line_ends_are(text, shown):
    tree, place = parse(text, Budget())
    assert tree.body
    assert place.text == shown


@pytest.mark.parametrize(("text", "marked"), REFUSED)
def test_a_character_outside_of_comments_is_refused_at_its_place(text, marked):
    with pytest.raises(GradcliError) as caught:
        parse(text, Budget())
    error = caught.value
    assert error.kind == "character"
    assert error.place is not None
    assert error.span is not None
    assert error.place.text[slice(*error.span)] == marked


def test_a_place_after_a_comment_counts_its_characters():
    with pytest.raises(GradcliError) as caught:
        parse("y = x # \u4e2d\u6587\ny +* 2", Budget())
    assert caught.value.span == (14, 15)


LINES = ["# \u043a\u0432\u0430\u0434\u0440\u0430\u0442", "y = x  # \u00e9", "y*y"]
ENCODINGS = {
    "utf-8": str.encode,
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16 of Windows": lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    "utf-16 of networks": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_program_file_is_read_with_its_byte_order_mark_and_line_ends(cli, tmp_path, encoding, end):
    path = tmp_path / "program.py"
    path.write_bytes(ENCODINGS[encoding](end.join(LINES) + end))
    given = ("-f", str(path), "--x", "3")
    found = json.loads(cli("explain", *given, "--json").out)
    assert found["grad"] == {"x": 6.0}
    assert found["program"] == "\n".join(LINES)
    assert cli("check", "x**3/3", "--x", "3", "--expect", f"@{path}").code == 0


def test_standard_input_is_read_with_its_byte_order_mark_and_line_ends(cli):
    assert cli("grad", "-", "--x", "3", stdin="\ufeff" + "\r".join(LINES)).out == "6\n"
    assert cli("grad", "x**2", "--x", "-", "--v", "1,1", stdin="\ufeff3\r4\r").out == "6,8\n"
