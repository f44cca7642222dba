"""The examples of the README and of the pages in docs, run as they stand, and what is shown of them."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def blocks(name):
    """Return the commands of a page, each with what the page shows below it."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"```console\n\$ gradcli (.*?)\n(.*?)```", text, re.DOTALL)


PAGES = ("README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
BLOCKS = list(dict.fromkeys(block for page in PAGES for block in blocks(page)))
MOST_LINES = {  # a fifth more than a person would take; the pages' other examples are as long as they are
    "Three outputs of two inputs": 38,
    "A network": 49,
}
HELP = [("explain", line) for line in ('"[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]" --x 1,2', '"-x**2" --x 3')]


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_block_prints_what_the_page_shows(cli, monkeypatch, command, shown):
    monkeypatch.chdir(ROOT)
    answer = cli(*shlex.split(command))
    assert answer.out + answer.err == shown


def test_the_readme_has_five_examples_and_the_answers_seven():
    assert len(blocks("README.md")) >= 5
    assert len(blocks("docs/answers.md")) >= 7


@pytest.mark.parametrize("title", MOST_LINES)
def test_an_answer_is_short(title):
    section = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    shown = section.partition("$ gradcli ")[2].partition("```")[0].splitlines()[1:]
    assert 20 < len(shown) <= MOST_LINES[title]
    assert max(map(len, shown)) <= 80


def test_the_two_set_up_commands_stand_alone_on_a_line():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert 'pip install ".[dev]" && pytest' in lines
    assert any(line.startswith("pip install . && gradcli explain ") for line in lines)


def test_ci_runs_the_readmes_test_command():
    assert 'pip install ".[dev]" && pytest' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(("command", "example"), HELP)
def test_examples_stand_in_the_help_verbatim(cli, command, example):
    assert f"gradcli {command} {example}" in cli(command, "--help").out


def test_the_readme_is_read_in_some_minutes():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_the_notes_have_a_row_for_each_kind():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    kinds = set(re.findall(r'Note\(\s*"([a-z-]+)"', source))
    assert len(kinds) > 20
    page = (ROOT / "docs" / "notes.md").read_text(encoding="utf-8")
    assert {kind for kind in kinds if f"`{kind}`" not in page} == set()
