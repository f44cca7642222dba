"""Every document that --json prints is strict JSON and fits the schema that ``gradcli schema`` prints."""

import copy

import jsonschema
import pytest

from gradcli.ops import FUNCTIONS
from oracles import ask, cases, flags, portion, slow, strict_json

SCHEMA = strict_json(ask("schema").out)
TABLES = cases("schema.json")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def valid(text, kind):
    """Return a printed document after checking it, and that it is of one kind and no other."""
    assert text.count("\n") == 1
    assert text.isascii()
    document = strict_json(text)
    VALIDATOR.validate(document)
    assert [name for name in KINDS if VALIDATOR.evolve(schema=kind_of(name)).is_valid(document)] == [kind]
    return document


KINDS = [reference["$ref"].rpartition("/")[2] for reference in SCHEMA["oneOf"]]


def kind_of(name):
    return {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}


def test_the_schema_is_itself_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"].endswith("2020-12/schema")
    assert KINDS == [
        "explanation",
        "gradient",
        "part",
        "confirmation",
        "vocabulary",
        "surroundings",
        "failure",
        "checks",
    ]


ANSWERS = {  # program, values, v, exit code
    **{name: row for name, *row in TABLES["ANSWERS"]},
    "large and diagonal": ("x**2 + sin(x)", {"x": [k / 100 for k in range(150)]}, [[1] * 150], 0),
    "large and dense": ("outer(x, x)", {"x": [k / 10 for k in range(30)]}, [[[1] * 30] * 30], 0),
    "many formulas": ("W @ x", {"W": [[k / 7 for k in range(40)]] * 40, "x": [1.5] * 40}, [[1] * 40], 0),
    "large and not finite": ("1/x", {"x": [0.0] + [1.0] * 120}, [[1] * 121], 3),
}


@pytest.mark.parametrize("name", portion(ANSWERS, 6))
def test_explanations(name):
    program, inputs, calls, code = ANSWERS[name]
    answer = ask("explain", program, "--json", *flags(inputs, calls))
    assert answer.code == code, answer.err
    document = valid(answer.out, "explanation")
    assert document["program"] == program
    for x, j in document["jacobian"].items():
        assert j["shape"] == document["output"]["shape"] + document["inputs"][x]["shape"]
        assert (j["entries"] is None) == (j["symbolic"] is not None and j["numeric"] is not None)
        if j["entries"]:
            assert [len(j["entries"][key]) for key in ("rows", "columns", "values")] == [j["nonzeros"]] * 3


@pytest.mark.parametrize("name", portion(ANSWERS, 30))
def test_the_tape_and_the_steps_are_keys_where_they_are_asked_for(name):
    program, inputs, calls, code = ANSWERS[name]
    plain, tape, both = (
        ask("explain", program, "--json", *flags(inputs, calls), *more)
        for more in ([], ["--tape"], ["--steps", "--tape"])
    )
    assert [answer.code for answer in (plain, tape, both)] == [code] * 3
    document = valid(both.out, "explanation")
    assert sorted(set(document) - set(strict_json(plain.out))) == ["steps", "tape"]
    assert sorted(set(strict_json(tape.out)) - set(strict_json(plain.out))) == ["tape"]
    assert [row["name"] for row in document["tape"]["rows"] if row["operation"] is None] == list(inputs)
    for key in ("tape", "steps"):
        rows = document[key]["rows"] if key == "tape" else document[key]
        del rows[0]["value"]
    assert [error.json_path for error in VALIDATOR.evolve(schema=kind_of("explanation")).iter_errors(document)] == [
        "$.tape.rows[0]",
        "$.steps[0]",
    ]


@pytest.mark.parametrize("name", ANSWERS)
def test_gradients(name):
    program, inputs, calls, code = ANSWERS[name]
    answer = ask("grad", program, "--json", *flags(inputs, calls))
    assert answer.code == {1: 3}.get(code, code), "reverse mode alone knows of no other route"
    assert list(valid(answer.out, "gradient")["grad"]) == list(inputs)


@pytest.mark.parametrize(
    "words", portion([[], *([name] for name in FUNCTIONS)], 4), ids=lambda words: words[0] if words else "all"
)
def test_vocabulary(words):
    answer = ask("functions", *words, "--json")
    assert answer.code == 0
    document = valid(answer.out, "vocabulary")
    assert {f["name"] for f in document["functions"]} >= set(words)


def test_what_doctor_finds():
    assert valid(ask("doctor", "--json").out, "surroundings")["problems"] == []


FAILURES = [  # a command line, and the kind of its error
    *TABLES["FAILURES"],
    slow(pytest.param(["explain", "x = 0\nwhile x < 1:\n    x = x*1\nx", "--json"], "budget")),
]


@pytest.mark.parametrize(
    ("words", "kind"), FAILURES, ids=lambda item: " ".join(item)[:60] if isinstance(item, list) else ""
)
def test_errors(words, kind):
    answer = ask(*words)
    assert answer.code == 2
    document = valid(answer.out, "failure")
    assert kind is None or document["error"]["kind"] == kind
    assert answer.err.startswith("error: ")
    span = document["error"]["span"]
    assert span is None or 0 <= span[0] <= span[1]


def broken_copies(document):
    """Yield documents that are wrong in one way each."""
    for key in document:
        without = copy.deepcopy(document)
        del without[key]
        yield f"no {key}", without
    for key, value in (
        ("schema", 2),
        ("grad", {"x": "NaN?"}),
        ("v", None),
        ("error", {"kind": "none"}),
        ("output", []),
    ):
        yield f"{key} is {value}", {**copy.deepcopy(document), key: value}


@pytest.mark.parametrize("command", ["explain", "grad"])
def test_the_schema_refuses_what_is_not_a_document(command):
    document = strict_json(ask(command, "x**2", "--json", "--x", "3").out)
    VALIDATOR.validate(document)
    accepted = [what for what, broken in broken_copies(document) if VALIDATOR.is_valid(broken)]
    # Without J an explanation is a gradient, to which keys have been added.
    assert accepted == (["no jacobian"] if command == "explain" else [])
