"""``--code``, ``--format`` and the suffixes of ``-o``: what is written, and what is refused in clear words."""

import pytest

from oracles import cases

TABLES = cases("export_options.toml")

PROGRAM = ("explain", "x**2", "--x", "3")


@pytest.mark.parametrize(("words", "begins"), TABLES["standard_output_has_the_format"])
def test_standard_output_has_the_format(cli, words, begins):
    answer = cli(*PROGRAM, *words)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(begins)
    assert answer.out.endswith("\n")


@pytest.mark.parametrize(("name", "words", "holds"), [
    ("a.tex", (), "\\end{document}"), ("a.md", (), "**Forward**"), ("a.SVG", ("-F", "picture"), "rich-terminal"),
    ("a.py", ("--code", "numpy"), "np.testing.assert_allclose(dx, 6.0"),
])  # fmt: skip
def test_a_file_has_the_format_of_its_name(cli, tmp_path, name, words, holds):
    path = tmp_path / name
    answer = cli(*PROGRAM, *words, "-o", str(path))
    assert (answer.code, answer.out) == (0, "")
    assert holds in path.read_text(encoding="utf-8")
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("words", "says"), TABLES["what_does_not_go_together_is_refused"])
def test_what_does_not_go_together_is_refused(cli, words, says):
    answer = cli(*words)
    assert answer.code == 2
    assert says in answer.err


def test_a_variable_called_code_is_given_by_set(cli):
    answer = cli("explain", "x*code", "--x", "3", "--set", "code=2", "--code", "numpy")
    assert answer.code == 0
    assert "code = np.array(2.0)" in answer.out


@pytest.mark.parametrize(("program", "words"), [
    ("F.conv1d(x, w)", ("--x", "[[[1,2]]]", "--w", "[[[1]]]", "--v", "[[[1,1]]]", "--code", "numpy", "-o", "{}/a.py")),
    ("2*x", ("--x", "ones(1001)", "--v", "ones(1001)", "-o", "{}/a.tex")),
])  # fmt: skip
def test_what_is_refused_leaves_the_file_as_it_was(cli, tmp_path, program, words):
    path = tmp_path / words[-1].removeprefix("{}/")
    path.write_text("before", encoding="utf-8")
    answer = cli("explain", program, *(word.format(tmp_path) for word in words))
    assert answer.code == 2
    assert path.read_text(encoding="utf-8") == "before"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
