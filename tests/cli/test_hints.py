"""Hints lead somewhere: every command that one suggests runs, and every option that one names is the command's own."""

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import gradcli
from gradcli.cli.mistakes import EXAMPLES, OF_RECORDS
from gradcli.cli.options import COMMANDS, OPTIONS, WITH_PROGRAM, flags_of

HOME = Path(gradcli.__file__).parent
COMMAND = re.compile(rf"gradcli (?:{'|'.join(COMMANDS)})(?: (?! )[^;:…\n ]+)*")
SAID = re.compile(r"[,.]$| (?:shows?|lists?|reads?|describes?|prints?|does|holds?|alone|and|it|answers|too)\b.*")
"""What is said of a command after it."""
FILLED = {"command": "explain", "program": "explain", "word": "sin", "name": "x", "path": "@m.csv", "NAME": "sin"}
FILES = {
    "script.py": "x = torch.tensor([1., 2.], requires_grad=True)\ny = x**2\ny.backward(x)\n",
    "train.py": "print(1)\n", "checks.toml": "[[check]]\nprogram = 'x**2'\ninputs.x = 3\n",
    **dict.fromkeys(("m.csv", "data.csv"), "1,2\n3,4\n"), **dict.fromkeys(("program.py", "sin"), "x**2\n"),
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def text_of(node):
    """Return a text of the source, its values filled in."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(
        text_of(part) if isinstance(part, ast.Constant) else filled(ast.unparse(part.value)) for part in parts
    )


def filled(code):
    """Return what stands for a value in a text: one of the names that its code holds."""
    return next((FILLED[name] for name in re.findall(r"\w+", code) if name in FILLED), "x")


def texts_in(data):
    """Yield the texts of a TOML document."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from texts_in(part)


def suggested():
    """Yield the commands in texts of the source that are no docstrings: those of hints, and of what refers to them."""
    for path in (HOME / "errors" / "hints.toml", HOME / "language" / "misread.toml"):
        for text in texts_in(tomllib.loads(path.read_text(encoding="utf-8"))):
            yield from (SAID.sub("", found).strip() for found in COMMAND.findall(text))
    for path in sorted(HOME.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(source))) if "gradcli " in source else []
        passed = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        passed |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in passed:
                text = text_of(node).replace("{command}", "explain").replace(" NAME", " sin")
                yield from (SAID.sub("", found).strip() for found in COMMAND.findall(text))


ELSEWHERE = sorted({name for key, option in OPTIONS.items() if key != "expect" for name in option.called})
SUGGESTED = sorted(set(suggested()))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", SUGGESTED)
def test_a_command_that_is_suggested_runs(cli, command):
    record = '{"program": "x**2", "inputs": {"x": 3}}\n'
    answer = cli(*shlex.split(command)[1:], stdin=record)
    asks_for_more = re.search("no value for the variable|no (program|script) is given", answer.err)
    assert answer.code == 0 or asks_for_more, answer.err


def test_the_commands_are_found():
    assert "gradcli explain 'x**3' --x 2 --hessian" in SUGGESTED
    assert "gradcli explain 'x**2' --x 1.,2. --v 1,1" in SUGGESTED
    assert len(SUGGESTED) >= 10


BESIDE = {
    **dict.fromkeys(("--file", "-f"), "explain --x 3"), "--set": "explain sum(x)", "--wrt": "explain W*b --W 1 --b 2",
    "--expect": "check x**2 --x 3", "--row": "explain x**2 --x 1,2 --v 1,1",
    "--iterations": "explain sum(x**2) --x 1,2 --lr 1",
    **dict.fromkeys(("--jobs", "-j", "--timeout", "--memory", "--only"), "batch -"),
    **dict.fromkeys(("--samples", "--seed"), "check sum(x**2) --x 1,2"),
    **dict.fromkeys(("--digits", "--tolerance"), "check x**2 --x 3 --expect 2*x"),
    "--of": "explain loss=sum(x**2);loss*2 --x 1,2",
}  # fmt: skip
"""The command line that an option stands on, where it is no usual one."""


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("flag", EXAMPLES)
def test_an_example_of_an_option_is_taken(cli, flag):
    line = BESIDE.get(flag, "explain sum(x**2) --x 1,2")
    answer = cli(*line.split(), flag, *shlex.split(EXAMPLES[flag]), stdin='{"program": "1"}\n')
    assert answer.code == 0, answer.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_option_with_another_name_leads_to_one_that_there_is(cli, command, name):
    program = ["x**2"] if command in WITH_PROGRAM else []
    answer = cli(command, *program, f"--{name}", "1", stdin="")
    hint = "".join(line for line in answer.err.splitlines() if line.startswith("help: "))
    owners = dict(flags_of(command))
    if re.search("is an option of|ha(s|ve) it|gradcli explain", hint):
        return
    for flag in re.findall(r"(?<![\w-])--?[a-z]+(?![\w-])", hint):
        assert flag in owners or (flag == "--x" and command in WITH_PROGRAM), hint


def test_a_record_that_is_suggested_is_answered(cli):
    answer = cli("batch", "-", stdin=OF_RECORDS[OF_RECORDS.index("{") :] + "\n")
    assert (answer.code, '"grad": {"x": 6.0}' in answer.out) == (0, True)
    for word in ("--program", "--expr", "--inputs", "--vector"):
        assert OF_RECORDS in cli("batch", word, "1").err


@pytest.mark.parametrize(("program", "option"), [
    ("jax.hessian(f)", "--hessian"), ("hessian(x)", "--hessian"),
    ("torch.autograd.functional.hessian(f, x)", "--hessian"),
    ("jvp(f, x, v)", "--jvp 1"), ("jax.jvp(f, (x,), (1.0,))", "--jvp 1"), ("torch.func.jvp(f, x, v)", "--jvp 1"),
    ("torch.autograd.functional.hvp(f, x, v)", "--hessian --jvp 1"),
])  # fmt: skip
def test_second_derivatives_and_directions_name_their_option(cli, program, option):
    answer = cli("explain", program, "--x", "1")
    assert answer.code == 2
    [hint] = [line for line in answer.err.splitlines() if line.startswith("help: ")]
    assert hint.endswith(f"gradcli explain 'x**3' --x 2 {option}")
    assert cli(*shlex.split(hint.partition("gradcli ")[2])).code == 0


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_is_installed_by_the_flag_alone(cli, shell):
    for words in ((f"--install-completion={shell}",), ("--install-completion", shell)):
        assert f"in {shell}, write gradcli --install-completion and no more" in cli(*words).err
