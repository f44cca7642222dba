"""Completion: what may stand at the cursor, asked as the shells ask it, and in the shells themselves."""

import io
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradcli.cli.app import run
from gradcli.cli.output import Environment
from oracles import cases

TABLES = cases("completion.toml")

ROWS = TABLES["ROWS"]  # the line before the cursor: some of what may follow, and what may not


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.csv", ".hidden"):
        Path(name).write_text("1,2\n", encoding="utf-8")
    Path("program.py").write_text("weight*2\n", encoding="utf-8")
    Path("sub").mkdir()


def asked(**variables):
    """Return the exit code and both streams of a question that a shell's script asks."""
    out, err = io.StringIO(), io.StringIO()
    code = run([], Environment(stdin=io.StringIO(), stdout=out, stderr=err, variables=variables))
    return code, out.getvalue(), err.getvalue()


def in_fish(line):
    return asked(_GRADCLI_COMPLETE="complete_fish", _TYPER_COMPLETE_FISH_ACTION="get-args", _TYPER_COMPLETE_ARGS=line)


def in_bash(line):
    words = re.findall(r"""=@?|@|(?:'[^']*'?|"[^"]*"?|[^\s'"=@])+""", line) + ([""] if line.endswith(" ") else [])
    return asked(_GRADCLI_COMPLETE="complete_bash", COMP_WORDS="\n".join(words), COMP_CWORD=str(len(words) - 1))


def in_zsh(line):
    return asked(_GRADCLI_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)


@pytest.mark.parametrize(("line", "wanted", "unwanted"), ROWS)
def test_what_may_stand_at_the_cursor(line, wanted, unwanted):
    wanted, unwanted = set(wanted), set(unwanted)
    for ask in (in_fish, in_bash, in_zsh):
        code, out, err = ask(line)
        assert (code, err) == (0, "")
        if ask is in_zsh:
            found = {text.partition(":")[0] for text in re.findall(r"'((?:[^']|'\\'')*)'", out)}
        else:
            found = {text.partition("\t")[0] for text in out.splitlines()}
        if ask is in_bash and "=" in line.rpartition(" ")[2]:
            found = {line.rpartition(" ")[2].partition("=")[0] + "=" + text for text in found}
        assert wanted - {line.rpartition(" ")[2]} <= found | {""}, (ask.__name__, out)
        assert not unwanted & found, ask.__name__


def test_fish_is_told_whether_there_is_anything():
    for line, code in (("gradcli ex", 0), ("gradcli explain x --x ", 1)):
        variables = {"_GRADCLI_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": line}
        assert asked(**variables, _TYPER_COMPLETE_FISH_ACTION="is-args") == (code, "", "")


SCRIPTS = {  # how each shell is started, and the lines that read its script
    "bash": (["bash", "--norc", "--noprofile", "-i"], 'eval "$(gradcli --show-completion)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -U compinit; compinit -u -D; eval "$(gradcli --show-completion)"'),
    "fish": ([str(shutil.which("fish")), "--no-config", "-c"], "gradcli --show-completion | source"),
}
TYPED = TABLES["TYPED"]  # what is typed before Tab, and what the screen shows then


def session(shell, typed, folder):
    """Return what a terminal shows of a line that is typed, with Tab at its end."""
    words, script = SCRIPTS[shell]
    commands = folder / "bin"
    commands.mkdir()
    command = commands / "gradcli"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradcli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    variables = os.environ | {"PATH": f"{commands}:{os.environ['PATH']}", "TERM": "xterm", "HOME": str(folder),
        "COLUMNS": "200", "PS1": "$ "}  # fmt: skip
    if shell == "fish":  # it has a command that completes a line
        asked = f"{script}; complete -C {shlex.quote(typed)}"
        return subprocess.run(
            [*words, asked], env=variables, cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        words, stdin=other, stdout=other, stderr=other, env=variables, cwd=folder, start_new_session=True
    )
    os.close(other)
    try:
        os.write(terminal, f"{script}; echo re''ady\n".encode())
        read_until(terminal, lambda text: "ready" in text)
        os.write(terminal, f"{typed}\t\t".encode())
        return read_until(terminal, lambda text: TYPED[typed] in text)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def read_until(terminal, done):
    """Return what a terminal shows until it is done, or silent for 30 seconds."""
    seen = ""
    end = time.monotonic() + 30
    while not done(seen) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            seen += re.sub(
                r"\x1b(?:\[[0-9;?<>=]*[A-Za-z]|[()][A-Z0-9]|[=>]|\][^\x07]*\x07)",
                "",
                os.read(terminal, 65536).decode(errors="replace"),
            )
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_real_shell_completes_the_line(shell, typed, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("one.csv", "program.py"):
        (folder / name).write_text("1\n", encoding="utf-8")
    seen = session(shell, typed, folder)
    wanted = TYPED[typed].split()[-1] if shell == "fish" else TYPED[typed]
    assert wanted in seen.replace("\r", "").replace("\n", " ")
    assert "error:" not in seen
    assert "Traceback" not in seen


INSTALLED = {  # the files that --install-completion writes, as docs/shell.md says
    "bash": [".bash_completions/gradcli.sh", ".bashrc"],
    "zsh": [".zfunc/_gradcli", ".zshrc"],
    "fish": [".config/fish/completions/gradcli.fish"],
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", INSTALLED)
def test_completion_is_installed_where_the_page_says(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    home = tmp_path / "home"
    home.mkdir()
    asked = f"{shlex.quote(sys.executable)} -m gradcli --install-completion; true"
    subprocess.run(
        [shell, "-c", asked], env=os.environ | {"HOME": str(home)}, cwd=home, capture_output=True, check=True
    )
    page = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")
    assert sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()) == INSTALLED[shell]
    assert all(f"~/{name}" in page for name in INSTALLED[shell])
