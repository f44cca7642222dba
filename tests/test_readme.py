"""The README's examples, run as they stand, and compared with what it shows."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(
    r"```console\n\$ gradcli (.*?)\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
)
HELP = [("explain", line) for line in ('"[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]" --x 1,2', '"-x**2" --x 3')]


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_block_of_the_readme_prints_what_it_shows(cli, monkeypatch, command, shown):
    monkeypatch.chdir(ROOT)
    answer = cli(*shlex.split(command))
    assert answer.out + answer.err == shown


def test_the_readme_has_five_examples():
    assert len(BLOCKS) >= 5


def test_the_two_set_up_commands_stand_alone_on_a_line():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert 'pip install ".[dev]" && pytest' in lines
    assert any(line.startswith("pip install . && gradcli explain ") for line in lines)


def test_ci_runs_the_readmes_test_command():
    assert 'pip install ".[dev]" && pytest' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(("command", "example"), HELP)
def test_examples_stand_in_the_help_verbatim(cli, command, example):
    assert f"gradcli {command} {example}" in cli(command, "--help").out
