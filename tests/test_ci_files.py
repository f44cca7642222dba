"""docs/ci and docs/checking.md: the page shows the files, and the commands of the workflow run as they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gradcli

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "checking.md").read_text(encoding="utf-8")
SHOWN = {"toml": "checks.toml", "python": "test_gradients.py", "yaml": "workflow.yml"}
COMMANDS = re.findall(r"- run: (.*)", (DOCS / "ci" / "workflow.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", SHOWN)
def test_the_page_shows_the_files(language):
    block = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert block[1] == (DOCS / "ci" / SHOWN[language]).read_text(encoding="utf-8")


def test_the_page_shows_the_message_of_an_assertion():
    with pytest.raises(AssertionError) as raised:
        gradcli.assert_gradient(
            "sum(W @ x)**2", W=[[1.0, 2.0], [3.0, 4.0]], x=[1.0, 1.0], wrt=["x"], expect="2*sum(W @ x)*x"
        )
    assert f"```text\n{raised.value}\n```" in PAGE


@pytest.fixture
def copy(tmp_path):
    """The folder as it is in another project."""
    shutil.copytree(DOCS / "ci", tmp_path / "ci", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "ci"


def test_the_workflow_installs_and_then_checks():
    assert COMMANDS[0] == "pip install gradcli pytest"
    assert [command.split()[0] for command in COMMANDS[1:]] == ["gradcli", "pytest"]


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS[1:])
def test_the_workflow_runs_as_it_stands(copy, command):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    program, *words = shlex.split(command)
    found = subprocess.run(
        [shutil.which(program, path=path), *words], cwd=copy, env={**os.environ, "PATH": path}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout + found.stderr
    assert (copy / "report.xml").exists() == (program == "gradcli")
