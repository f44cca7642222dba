"""``gradcli check`` of a file of checks: a line for each, a summary, reports, and the exit code of the worst."""

import json
import re
import shlex
from xml.etree import ElementTree as ET

import jsonschema
import numpy as np
import pytest

from gradcli.batch.records import Line
from gradcli.cli.app import command_line, run
from gradcli.cli.checks import KEYS, Checks
from gradcli.errors import GradcliError
from oracles import ask, cases, strict_json

TABLES = cases("checks_file.json")

SCHEMA = strict_json(ask("schema").out)

RIGHT = 'name = "right"\nprogram = "x**2"\ninputs.x = 3\nexpect = "2*x"'
WRONG = 'name = "wrong"\nprogram = "x**2"\ninputs.x = 3\nexpect = "x"'
UNCLEAR = 'name = "unclear"\nprogram = "sum(sin(x)*x)"\ninputs.x = [1, 2, 3]\nbudget.work = 1'
INFINITE = 'name = "infinite"\nprogram = "sqrt(x)"\ninputs.x = 0'
MISSPELLED = 'name = "misspelled"\nprogram = "sinn(x)"\ninputs.x = 0'
ALL = (RIGHT, WRONG, UNCLEAR, INFINITE, MISSPELLED)


def toml(*checks, before=""):
    return before + "".join(f"[[check]]\n{check}\n\n" for check in checks)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with one of checks in it, and files beside those."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "gradients"
    folder.mkdir()
    np.save(folder / "x.npy", [1.0, 2.0])
    np.save(folder / "g.npy", [2.0, 4.0])
    (folder / "square.txt").write_text("x**2\n")
    (folder / "s.py").write_text(
        "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x**2).sum()\ny.backward()\n"
    )
    return folder


def written(here, text, name="checks.toml"):
    (here / name).write_text(text, encoding="utf-8")
    return f"gradients/{name}"


def verdicts(out):
    """Return the verdict and name that begin the lines of checks, and the last line."""
    *lines, last = out.splitlines()
    heads = [re.match(r"(right|wrong|unclear|not finite|error) +(.*?): ", line) for line in lines if line[0] != " "]
    return [(head[1], head[2]) for head in heads], last


CODES = [
    ([RIGHT], 0, "1 check: 1 right"),
    ([RIGHT, INFINITE], 3, "2 checks: 1 right, 1 not finite"),
    ([UNCLEAR, INFINITE], 4, "2 checks: 1 unclear, 1 not finite"),
    ([WRONG, UNCLEAR, INFINITE], 1, "3 checks: 1 wrong, 1 unclear, 1 not finite"),
    (ALL, 2, "5 checks: 1 right, 1 wrong, 1 unclear, 1 not finite, 1 error"),
    ([MISSPELLED, MISSPELLED], 2, "2 checks: 2 errors"),
]


@pytest.mark.parametrize(("checks", "code", "last"), CODES, ids=[row[2] for row in CODES])
def test_the_exit_code_is_that_of_the_worst(cli, here, checks, code, last):
    answer = cli("check", written(here, toml(*checks)))
    assert (answer.code, answer.out.splitlines()[-1], answer.err) == (code, last, "")
    quiet = cli("check", written(here, toml(*checks)), "-q")
    assert (quiet.code, quiet.out, quiet.err) == (code, "", "")


def test_each_check_has_a_line_in_the_order_of_the_file(cli, here):
    answer = cli("check", written(here, toml(*ALL)))
    names = [("right", "right"), ("wrong", "wrong"), ("unclear", "unclear"), ("not finite", "infinite")]
    assert verdicts(answer.out)[0] == [*names, ("error", "misspelled")]


@pytest.mark.long
def test_processes_change_nothing(cli, here):
    path = written(here, toml(*ALL, *(RIGHT.replace("x**2", f"{k}*x**2") for k in range(3))))
    assert cli("check", path, "--jobs", "3").out == cli("check", path).out


KINDS = TABLES["KINDS"]  # a check, and the words of its command line


@pytest.mark.parametrize("name", KINDS)
def test_a_check_is_a_command_line(cli, here, name):
    text, words = KINDS[name]
    spoiled = f"{text}\nsamples = -1"  # what is not right is shown as its command line
    answer = cli("check", written(here, toml(spoiled)), "--json")
    command = strict_json(answer.out)["checks"][0]["reproduce"]
    assert shlex.split(command) == ["gradcli", "check", *shlex.split(words), "--samples", "-1"]


EVERY = ("--expect", "--wrt", "--v", "--samples", "--seed", "--strict", "--budget", "--file")


def test_every_option_of_the_command_is_a_key():
    command = command_line("check").commands["check"]
    assert {flag.removeprefix("--") for flag in EVERY} <= set(KEYS)
    left_out = {flag for one in command.params for flag in one.opts[:1]} - {key.flags[0] for key in KEYS.values()}
    assert left_out == {"program", "--set", "--json", "--format", "--output", "-q", "--debug", "--jobs"}


SHARED = {
    "before the checks": (toml(RIGHT, before="samples = 2\n"), []),
    "on the command line": (toml(RIGHT), ["--samples", "2"]),
    "both": (toml(RIGHT, before="samples = 5\n"), ["--samples", "2"]),
    "its own": (toml(f"{RIGHT}\nsamples = 2", before="samples = 5\n"), ["--samples", "7"]),
}


@pytest.mark.parametrize("name", SHARED)
def test_keys_of_all_checks(cli, here, name):
    text, words = SHARED[name]
    answer = cli("check", written(here, text), *words, "--json")
    assert strict_json(answer.out)["checks"][0]["check"]["samples"] == 2


def test_inputs_of_all_checks_are_those_that_a_check_does_not_give(cli, here):
    shared = "inputs = {x = 3, k = 1}\n"
    text = toml('program = "x*k"\ninputs.k = 2\nwrt = "x"\nexpect = "2"', before=shared)
    assert cli("check", written(here, text)).code == 0


BAD = TABLES["BAD"]  # a check, what is said of it, and what stands at fault


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_check_is_said_and_costs_no_other(cli, here, name):
    text, message, hint, line = BAD[name]
    answer = cli("check", written(here, toml(text, RIGHT)), "--json")
    assert answer.code == 2
    bad, good = strict_json(answer.out)["checks"]
    assert good["verdict"] == "right"
    assert bad["verdict"] == "error"
    assert bad["line"] == 1
    assert message in bad["error"]["message"]
    assert hint in (bad["error"]["hint"] or "")
    if line is not None:
        assert bad["error"]["source"] == f"gradients/checks.toml:{line}"
    shown = cli("check", written(here, toml(text, RIGHT))).out
    assert "(checks.toml, line 1)" in shown.splitlines()[0]


WHOLE = {
    "empty": ("", "gradients/checks.toml has no checks"),
    "no check": ("samples = 3\n", "gradients/checks.toml has no checks"),
    "no TOML": ("[[check]]\nprogram = = 2\n", "gradients/checks.toml is not TOML: invalid value"),
    "an end": ('[[check]]\nprogram = "x', "gradients/checks.toml is not TOML"),
    "an unknown key": ("smples = 3\n[[check]]\n", "a file of checks has no key 'smples'"),
    "no array": ("check = 3\n", "check is not an array of tables"),
    "deep": ("a = " + "[" * 5000, "brackets are nested too deeply"),
    "a deep key": ("a." * 500_000 + "b = 1", "a key has more than 100 parts"),
    "no text": (b"\xff\xfe\x00\x01", "is not a text file"),
    "large": ("#" * (2**22 + 1), "gradients/checks.toml is larger than 4 MiB"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_wrong_with_the_file(cli, here, name):
    text, message = WHOLE[name]
    (here / "checks.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    answer = cli("check", "gradients/checks.toml")
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err.splitlines()[0]
    as_json = cli("check", "gradients/checks.toml", "--json")
    assert strict_json(as_json.out)["error"]["message"] == answer.err.splitlines()[0].removeprefix("error: ")


LINES_AT = {
    "an array": ('check = [{program = "x", inputs = {x = 1}}, {program = "sinn(x)"}]\n', [None, None]),
    "headers": (f"# one\n\n{toml(RIGHT, WRONG)}", [3, 9]),
    "a header in a text": ('[[check]]\nprogram = """\nx\n[[check]]\n"""\ninputs.x = 3\n', [None]),
    "another name": (toml(RIGHT).replace("[[check]]", "[[checks]]"), [1]),
}


@pytest.mark.parametrize("name", LINES_AT)
def test_the_line_where_a_check_begins(cli, here, name):
    text, lines = LINES_AT[name]
    answer = cli("check", written(here, text), "--json")
    assert [one["line"] for one in strict_json(answer.out)["checks"]] == lines


REFUSED = TABLES["REFUSED"]


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_do_not_go_with_a_file_of_checks(cli, here, name):
    words, message = REFUSED[name]
    answer = cli("check", written(here, '{"program": "x", "inputs": {"x": 1}}\n', "checks.ndjson"), *words)
    assert answer.code == 2
    assert message in answer.err


def test_jobs_are_for_a_file_of_checks(cli):
    assert "--jobs is for a file of checks" in cli("check", "x", "--x", "1", "--jobs", "2").err


def test_another_command_says_which_reads_checks(cli):
    assert "is the name of a file of checks" in cli("explain", "checks.toml").err


NDJSON = """\
{"name": "one", "program": "x**2", "inputs": {"x": [1, 2.5]}, "expect": "2*x"}

{"program": "x*k", "inputs": {"x": 1, "k": 2}, "wrt": ["x"], "expect": {"x": "k"}, "samples": 2}
{"program": "x**2", "inputs": {"x": 3}, "expect": 5}
{"program": "x**2", "inputs": {"x": 3}, "expct": 5}
{"program": "x**2", "inputs":
[1]
"""


@pytest.mark.parametrize("suffix", ["ndjson", "jsonl"])
def test_a_file_of_lines(cli, here, suffix):
    answer = cli("check", written(here, NDJSON, f"checks.{suffix}"), "--json")
    found = strict_json(answer.out)
    assert [one["verdict"] for one in found["checks"]] == ["right", "right", "wrong", "error", "error", "error"]
    assert [one["line"] for one in found["checks"]] == [1, 3, 4, 5, 6, 7]
    assert found["checks"][0]["name"] == "one"
    assert found["checks"][3]["error"]["source"] == f"gradients/checks.{suffix}:5"


def test_the_documents_are_those_of_the_schema(cli, here):
    path = written(here, toml(*ALL, 'program = "x"\nexpct = 3'))
    found = strict_json(cli("check", path, "--json").out)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    assert found["counts"] == {"checks": 6, "right": 1, "wrong": 1, "unclear": 1, "not-finite": 1, "error": 2}
    assert found["verdict"] == "error"
    one = {**SCHEMA, "oneOf": [{"$ref": "#/$defs/confirmation"}, {"$ref": "#/$defs/failure"}]}
    cli("check", path, "-o", "report.ndjson")
    lines = (here.parent / "report.ndjson").read_text().splitlines()
    for line, document in zip(lines, found["checks"], strict=True):
        assert strict_json(line) == document
        jsonschema.Draft202012Validator(one).validate(document)


@pytest.mark.parametrize("suffix", ["json", "txt"])
def test_a_report_is_what_is_printed(cli, here, suffix):
    path = written(here, toml(*ALL))
    beside = cli("check", path, "-o", f"report.{suffix}")
    assert beside.out == cli("check", path).out
    printed = cli("check", path, *(["--json"] if suffix == "json" else []))
    assert (here.parent / f"report.{suffix}").read_text() == printed.out


ATTRIBUTES = {  # of JUnit's schema, as far as it is written
    "testsuites": {"tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"classname", "name"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
}
CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "error"}}


def test_junit(cli, here):
    strange = MISSPELLED.replace('"misspelled"', '"\\u001b[31m <&> é"').replace("sinn(x)", "x +* '\\u0001'")
    path = written(here, toml(*ALL, strange))
    assert cli("check", path, "-o", "report.xml").code == 2
    root = ET.fromstring((here.parent / "report.xml").read_bytes())  # noqa: S314 - our own
    for node in root.iter():
        assert set(node.attrib) == ATTRIBUTES[node.tag]
        assert {child.tag for child in node} <= CHILDREN.get(node.tag, set())
    suite = root[0]
    counts = [int(suite.get(key)) for key in ("tests", "failures", "errors", "skipped")]
    assert counts == [6, 3, 2, 0]
    assert [[case.get("name"), *(f"{child.tag} {child.get('type')}" for child in case)] for case in suite] == [
        ["right"], ["wrong", "failure wrong"], ["unclear", "failure unclear"], ["infinite", "failure not-finite"],
        ["misspelled", "error unknown-function"], ["\\x1b[31m <&> é", "error character"],
    ]  # fmt: skip
    assert suite[1][0].text.splitlines()[-1] == "gradcli check 'x**2' --x 3 --expect x"
    assert "is 3.0" in suite[1][0].get("message")
    assert "did you mean 'sin'?" in suite[4][0].text


def test_the_command_below_a_wrong_check_shows_it_again(cli, here):
    text = 'program = "abs(x)"\ninputs.x = ["@x.npy", "-1,1"]\nexpect = "x**0"\nv = [1, 1]'
    answer = cli("check", written(here, toml(text)))
    command = answer.out.splitlines()[1].strip()
    assert command == "gradcli check 'abs(x)' --x -1,1 --v 1,1 --expect 'x**0'"
    assert cli(*shlex.split(command)[1:]).code == 1


def test_a_program_of_several_lines_can_be_pasted(cli, here):
    text = 'program = """\nh = abs(x)\nif x > 0:\n    h = 2*h\nh"""\ninputs.x = 3\nexpect = "x**0"'
    answer = cli("check", written(here, toml(text)), columns="40")
    *_, command, last = re.split(r"\n(?=       gradcli|1 check)", answer.out)
    assert cli(*shlex.split(command)[1:]).code == 1
    assert last == "1 check: 1 wrong\n"


def test_what_a_file_holds_obeys_no_terminal(cli, here):
    text = 'name = "\\u001b[2J"\nprogram = "x + \\u001b[2J"\ninputs.x = 3'
    answer = cli("check", written(here, toml(text)))
    assert "\x1b" not in answer.out + answer.err


def test_a_script_and_its_own_file(cli, here):
    assert cli("check", written(here, toml('program = "s.py"', 'file = "s.py"\nsamples = 1'))).code == 0


def test_a_worker_that_ends_costs_one_check():
    task = Checks(run, debug=False)
    lost = task.lost(Line(1, b'["--", "x"]', 0), GradcliError("worker", "it died", hint="more memory"))
    document, said = json.loads(lost.text)
    assert document["error"]["kind"] == "worker"
    assert said.startswith("error: the worker process ended with this check in hand")


def test_a_fault_of_gradcli_is_one_error(here, cli, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("gradcli.cli.checking.answer_check", fail)
    answer = cli("check", written(here, toml(RIGHT)))
    assert answer.code == 70
    assert verdicts(answer.out) == ([("error", "right")], "1 check: 1 error")


def test_an_interrupt_ends_all_checks(here, cli, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gradcli.cli.checking.answer_check", interrupt)
    assert cli("check", written(here, toml(RIGHT, RIGHT))).code == 130


GRADCHECK = """import torch
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g*2*x**2
x = torch.tensor([1., 2.], dtype=torch.double, requires_grad=True)
torch.autograd.gradcheck(Cube.apply, (x,))
"""


def test_a_script_whose_gradcheck_fails_is_wrong_in_one_line(cli, here):
    (here / "cube.py").write_text(GRADCHECK)
    path = written(here, toml('program = "cube.py"', 'program = "x**"\ninputs.x = 1'))
    answer = cli("check", path, "-o", str(here / "report.xml"))
    first, second, *_ = answer.out.splitlines()
    assert first.startswith("wrong  cube.py: GradcheckError: Jacobian mismatch for output 0 with respect to input 0 (")
    assert second.strip() == "|"
    suite = ET.fromstring((here / "report.xml").read_text())  # noqa: S314 # it was written here
    counts = {name: int(suite.attrib[name]) for name in ("failures", "errors")}
    assert counts == {"failures": len(list(suite.iter("failure"))), "errors": len(list(suite.iter("error")))}
    assert counts == {"failures": 1, "errors": 1}
    assert next(suite.iter("failure")).attrib["type"] == "wrong"


def test_the_document_of_a_script_that_raises_has_a_verdict(cli):
    assert strict_json(cli("check", GRADCHECK, "--json").out)["verdict"] == "wrong"


def test_a_missing_folder_is_said_before_the_work(cli, here):
    path = written(here, toml('program = "x**2"\ninputs.x = 1'))
    for words in (["check", path], ["check", "x**2", "--x", "3"]):
        answer = cli(*words, "-o", "missing/report.json")
        assert (answer.code, answer.out) == (2, "")
        assert "there is no folder missing" in answer.err
