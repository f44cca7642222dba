"""No text of a user is executed, and none reaches a file, a process, the network or a module, as Python's audit hears.

In a process of its own, since an audit hook cannot be taken away, with little memory, in an empty folder. Everything
that gradcli loads late is loaded before the hook listens, so that an import is a fault too. ``fuzz.audit`` lists the
few events that are allowed.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from oracles import cases, slow

TABLES = cases("audit.toml")

TESTS = Path(__file__).parent

CHILD = textwrap.dedent(
    """
    import ast, itertools, json, os, resource, socket, sys

    import fuzzing
    from fuzz.audit import Watch
    from fuzz.contract import outcome
    from fuzz.lines import Line
    from fuzz.scripts import BOUNDS
    from oracles import ask, cases

    resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
    RUNS = [word for name, bound in BOUNDS.items() for word in ("--budget", f"{name}={bound}")]
    fuzzing.warm_up()
    watch = Watch().install()

    def heard(call):
        with watch.over():
            call()
        return watch.fault

    planted = {
        "open": lambda: open(os.devnull).close(),
        "os.listdir": lambda: os.listdir("."),
        "os.putenv": lambda: os.putenv("OWNED", "1"),
        "socket.__new__": lambda: socket.socket().close(),
        "subprocess.Popen": lambda: __import__("subprocess").run(["true"]),
        "import": lambda: __import__("tabnanny"),
        "compile": lambda: compile("1", "", "eval"),
        "exec": lambda: eval(compiled),
        "pickle.find_class": lambda: __import__("pickle").loads(b"cbuiltins\\nlen\\n."),
    }
    compiled = compile("1", "", "eval")
    found = {"planted": {name: heard(call) for name, call in planted.items()}}
    found["allowed"] = {"parse": heard(lambda: ast.parse("x", filename="")), "spoiled": None}
    try:
        heard(lambda: ast.parse("x +", filename=""))
    except SyntaxError:
        found["allowed"]["spoiled"] = watch.fault

    texts, every = json.loads(sys.argv[1]), int(sys.argv[3])
    lines = [Line(tuple(row["args"]), row["stdin"] or "") for row in cases("bad_inputs.jsonl")[::every]]
    lines += [Line((command, text, "--x", "1")) for text in texts for command in ("explain", "grad", "check")]
    options = ("--x", "--v", "--set", "--wrt", "--budget")
    lines += [Line(("explain", "x", option, text)) for text in texts for option in options]
    lines += [Line(("explain", "-", "--x", "1"), text) for text in texts]
    lines += [Line(("grad", "x", "--x", "-"), text) for text in texts]
    judged = [line for line in lines if "--debug" not in line.args]
    found["corpus"] = [(line.reproduction, outcome(line, watch).fault) for line in judged]
    whole = {"program": "x", "inputs": {"x": 1}, "v": 1, "wrt": ["x"]}
    places = ("program", "inputs", "v", "wrt", "id", "name")
    records = [{**whole, place: text if place != "name" else 0} for text in texts for place in places]
    records += [{**whole, "inputs": {"x": text, text: 1}} for text in texts]
    ask("batch", stdin=json.dumps(whole) + "\\n[]\\n")
    stdin = "".join(json.dumps(record) + "\\n" for record in records) + "\\n".join(texts)
    answers = []
    found["batch"] = heard(lambda: answers.append(ask("batch", stdin=stdin)))
    found["answered"] = [len(stdin.splitlines()), answers[0].out.count("\\n"), answers[0].code]
    rows = [row["source"] for row in cases("scripts.jsonl")[::16 * every]]
    rows += [row["script"] for row in cases("hostile_scripts.jsonl")[::every] if isinstance(row["script"], str)]
    found["scripts"] = []
    watch.file = "script.py"
    for words, text in itertools.product((("run", "script.py"), ("script.py",)), rows + texts):
        with open(watch.file, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        line = Line((*words, *RUNS))
        outcome(line)  # what it loads late is loaded now
        found["scripts"].append((words, text, outcome(line, watch).fault))
    os.unlink(watch.file)
    watch.file = ""
    tally = fuzzing.fuzz(fuzzing.numbered(31, range(int(sys.argv[2]))), watch)
    found["fuzzed"] = [(line.reproduction, fault) for _, line, fault in tally.faults]
    found["codes"] = tally.codes
    print(json.dumps(found))
    """
)

INJECTED = TABLES["INJECTED"]
FUZZED = 100


@pytest.fixture(params=[16, slow(1)], ids=["a part", "all"])
def found(tmp_path, request):
    folder, every = tmp_path, request.param
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path]),
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(INJECTED[::every]), str(FUZZED // every), str(every)],
        capture_output=True, encoding="utf-8", cwd=folder, env=env, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    left = [path.name for path in folder.iterdir()]
    return {**json.loads(run.stdout), "err": run.stderr, "left": left, "every": every}


def check_that_the_watch_hears_what_it_should(found):
    """A hook that hears nothing would let everything pass: each kind of event, caused on purpose, is a fault."""
    for event, fault in found["planted"].items():
        assert fault is not None, event
        assert f"audit event {event}" in fault or event in ("pickle.find_class", "subprocess.Popen"), fault
    assert found["allowed"] == {"parse": None, "spoiled": None}


def check_that_no_injected_text_is_executed(found):
    assert len(found["corpus"]) > 600 // found["every"]
    assert [pair for pair in found["corpus"] if pair[1] is not None] == []


def check_that_no_text_of_a_batch_is_executed(found):
    given, answered, code = found["answered"]
    assert answered == given > 250 // found["every"]
    assert code == 2
    assert found["batch"] is None


def check_that_no_script_reaches_beyond_itself(found):
    assert len(found["scripts"]) > 400 // found["every"]
    assert [row for row in found["scripts"] if row[2] is not None] == []


def check_that_no_fuzzed_text_is_executed(found):
    assert sum(found["codes"].values()) == FUZZED // found["every"]
    assert found["fuzzed"] == []


def check_that_nothing_is_left_behind(found):
    """Neither the file that the corpus tries to write, nor a word on the process's own standard error."""
    assert found["left"] == []
    assert found["err"] == ""


@pytest.mark.long
def test_no_text_is_executed(found):
    check_that_the_watch_hears_what_it_should(found)
    check_that_no_injected_text_is_executed(found)
    check_that_no_text_of_a_batch_is_executed(found)
    check_that_no_script_reaches_beyond_itself(found)
    check_that_no_fuzzed_text_is_executed(found)
    check_that_nothing_is_left_behind(found)
