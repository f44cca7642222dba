"""What a record says, what its answer is, and what is refused: the Python interface and the command line alike."""

import importlib
import io
import json

import jsonschema
import numpy as np
import pytest

import gradcli
from conftest import Terminal
from gradcli.cli.app import run
from gradcli.cli.output import Environment
from oracles import ask, cases, flags, portion, strict_json

TABLES = cases("batch_records.json")

SCHEMA = strict_json(ask("schema").out)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
RECORD = VALIDATOR.evolve(schema={"$ref": "#/$defs/record", "$defs": SCHEMA["$defs"]})
PART = VALIDATOR.evolve(schema={"$ref": "#/$defs/part", "$defs": SCHEMA["$defs"]})
SQUARE = {"id": 7, "program": "x**2", "inputs": {"x": 3.0}}


def batch(*records, args=(), raw=None):
    """Answer records by the command line; each document fits the schema. Returns documents, exit code and stderr."""
    text = raw if raw is not None else "".join(json.dumps(record) + "\n" for record in records)
    found = ask("batch", "-", *args, stdin=text)
    documents = [strict_json(line) for line in found.out.splitlines()]
    for document in documents:
        VALIDATOR.validate(document)
    return documents, found.code, found.err


def without_line(document):
    return {key: value for key, value in document.items() if key != "line"}


@pytest.mark.parametrize("case", portion(cases("seed_cases.json"), 4), ids=lambda case: case["id"])
def test_an_answer_is_the_document_of_explain_with_the_id(case):
    calls = [call["v"] for call in case["calls"]]
    record = {"id": case["id"], "program": case["expression"], "inputs": case["inputs"], "calls": calls}
    record |= {"wrt": case["wrt"]}
    RECORD.validate(record)
    [found], code, err = batch(record)
    explained = ask("explain", case["expression"], "--json", *flags(case["inputs"], calls, case["wrt"]))
    document = {"id": case["id"], **strict_json(explained.out)}
    document["agreement"]["digits"] = None  # a batch asks for many digits only where some may be lost
    assert document == found == gradcli.answer(record)
    assert list(found)[:3] == ["schema", "version", "id"]
    assert (code, err) == (explained.code, "")


@pytest.mark.parametrize("case", cases("seed_cases.json"), ids=lambda case: case["id"])
def test_without_symbols_an_answer_is_the_document_of_grad(case):
    calls = [call["v"] for call in case["calls"]]
    record = {"program": case["expression"], "inputs": case["inputs"], "calls": calls, "wrt": case["wrt"]}
    [found], code, _ = batch(record, args=["--no-symbolic"])
    grad = ask("grad", case["expression"], "--json", *flags(case["inputs"], calls, case["wrt"]))
    assert strict_json(grad.out) == {key: found[key] for key in strict_json(grad.out)}
    assert (found["id"], found["agreement"], found["routes"], code) == (None, None, ["reverse mode"], grad.code)


FIELDS = TABLES["FIELDS"]  # what is chosen, and the routes that have to run for it


@pytest.mark.parametrize("program", ["[x**2, 3*x]", "h = sin(x); h*exp(h)*ones(2)"])
@pytest.mark.parametrize(("only", "routes"), FIELDS, ids=",".join)
def test_only_chooses_fields_of_the_whole_answer(only, routes, program):
    record = {"id": "a", "program": program, "inputs": {"x": 0.5}, "v": [1, 10]}
    [whole], _, _ = batch(record)
    [found], code, _ = batch(record, args=["--only", ",".join(only)])
    PART.validate(found)
    always = {"schema", "version", "id", "agreement", "routes", "error"}
    assert set(found) == always | set(only)
    assert found["routes"] == routes
    assert found["agreement"] == (whole["agreement"] if len(routes) == 2 else None)
    assert {key: found[key] for key in only} == {key: whole[key] for key in only}
    assert found == gradcli.answer(record, only=only)
    assert code == 0


@pytest.mark.parametrize("only", [["grad"], ["grad", "output", "inputs", "v", "program"]])
def test_only_without_symbols(only):
    record = {"program": "x*y", "inputs": {"x": 3.0, "y": 2.0}}
    [found], _, _ = batch(record, args=["--only", ",".join(only), "--no-symbolic"])
    assert set(found) == {"schema", "version", "id", "agreement", "routes", "error", *only}
    assert found["grad"] == {"x": 2.0, "y": 3.0}
    assert "symbolic" not in found.get("output", {})
    assert found == gradcli.answer(record, only=only, symbolic=False)


BOTH_BUT_DIFFERENT = {"program": "where(x > 0, sqrt(x), x)", "inputs": {"x": -4.0}}


@pytest.mark.parametrize(
    ("args", "code"), [([], 1), (["--only", "vjp"], 1), (["--only", "jacobian"], 1), (["--only", "grad"], 3)]
)
def test_the_routes_that_ran_decide_the_exit_code(args, code):
    documents, found, err = batch(BOTH_BUT_DIFFERENT, args=args)
    assert found == code
    assert "line 1: warning: " in err
    assert documents[0]["agreement"] is None or documents[0]["agreement"]["agree"] is (code != 1)


def test_values_may_be_written_as_on_the_command_line():
    record = {"program": "W @ x", "inputs": {"W": "1,2;3,4", "x": "pi/2,2"}, "v": "ones(2)"}
    [found], code, _ = batch(record)
    assert code == 0
    assert found["inputs"]["W"]["value"] == [[1, 2], [3, 4]]
    assert found["grad"]["x"] == [4, 6]


def test_strict_is_of_the_record_or_of_the_batch():
    record = {"program": "sum(x)", "inputs": {"x": [1.0, 2.0]}, "v": [1.0, 10.0]}
    assert [d["error"] is None for d in batch(record, {**record, "strict": True})[0]] == [True, False]
    assert [d["error"]["kind"] for d in batch(record, args=["--strict"])[0]] == ["shape"]


REFUSED = TABLES["REFUSED"]  # a record, the kind of its error, words of it, and whether the schema refuses it too


@pytest.mark.parametrize(("record", "kind", "words", "schema"), REFUSED, ids=lambda item: str(item)[:60])
def test_what_is_refused(record, kind, words, schema):
    assert RECORD.is_valid(record) is not schema
    documents, code, err = batch(SQUARE, {"id": "bad", **record}, SQUARE)
    assert [d["error"] is None for d in documents] == [True, False, True]
    error = documents[1]["error"]
    assert (error["kind"], code, documents[1]["line"]) == (kind, 2, 2)
    assert words in error["message"]
    assert "--v" not in (error["hint"] or "")
    assert "--x" not in (error["hint"] or "")
    assert f"line 2: error: {error['message']}" in err
    if "budget 'digits'" not in error["message"]:  # a text of JSON is refused for its digits, a number of Python is not
        assert without_line(documents[1]) == gradcli.answer({"id": "bad", **record})


@pytest.mark.parametrize("known", [1, 0, -7, 2**80, 1.5, "a", "", "\u00e9\u20ac\U0001f600", True, False, None])
def test_the_id_comes_back_as_it_was(known):
    good, bad = {**SQUARE, "id": known}, {"id": known, "program": "sinn(x)"}
    RECORD.validate(good)
    documents, _, _ = batch(good, bad)
    assert [d["id"] for d in documents] == [known, known]
    assert [type(d["id"]) for d in documents] == [type(known)] * 2


def test_the_python_interface_takes_arrays_and_raises_for_what_its_caller_chooses_alone():
    record = {"program": "x**2", "inputs": {"x": np.array([1.0, 2.0])}, "v": np.ones(2)}
    assert gradcli.answer(record)["grad"] == {"x": [2.0, 4.0]}
    with pytest.raises(gradcli.GradcliError, match="no field 'gradd'"):
        gradcli.answer(record, only=["gradd"])
    with pytest.raises(gradcli.GradcliError, match="needs the symbolic route"):
        gradcli.answer(record, only=["vjp"], symbolic=False)
    assert gradcli.answer(None)["error"]["kind"] == "record"
    assert gradcli.answer([])["error"]["kind"] == "record"


@pytest.mark.parametrize("fault", [ZeroDivisionError("planted"), ValueError("planted")])
@pytest.mark.parametrize("place", ["gradcli.batch.answers.record_of", "gradcli.batch.answers.with_line"])
def test_a_fault_of_gradcli_is_one_line_and_70(monkeypatch, fault, place):
    faults = [fault]

    def planted(*args):
        if faults and args[0] != SQUARE:
            raise faults.pop()
        return real(*args)

    module, _, name = place.rpartition(".")
    real = getattr(importlib.import_module(module), name)
    monkeypatch.setattr(place, planted)
    documents, code, err = batch(SQUARE, {"id": 2, "program": "sinn(x)"}, SQUARE)
    assert [d["error"] and d["error"]["kind"] for d in documents] == [None, "internal", None]
    assert code == 70
    assert "line 2: error: sorry, gradcli failed on this record" in err
    faults.append(type(fault)("planted"))
    with pytest.raises(type(fault), match="planted"):
        batch({"id": 2, "program": "sinn(x)"}, args=["--debug"])


ORDER = TABLES["ORDER"]  # programs at x = 0, from fine to worse, and the exit code of each


@pytest.mark.parametrize("worst", range(4))
def test_the_exit_code_is_that_of_the_worst_answer(worst):
    records = [{"program": program, "inputs": {"x": -0.0}} for program, _ in ORDER[: worst + 1]]
    for some in (records, records[::-1]):
        assert batch(*some)[1] == ORDER[worst][1]


def test_no_records_are_no_error():
    assert batch(raw="") == ([], 0, "")


def test_files_are_read_and_written_line_by_line(tmp_path, cli):
    records, answers = tmp_path / "records.ndjson", tmp_path / "answers.ndjson"
    records.write_bytes(b"\xef\xbb\xbf" + json.dumps(SQUARE).encode() + b"\r\n")
    for args in ((str(records),), ("-f", str(records))):
        found = cli("batch", *args, "-o", str(answers))
        assert (found.code, found.out, found.err) == (0, "", "")
        assert strict_json(answers.read_text())["grad"] == {"x": 6.0}
    same = cli("batch", str(records), "-o", str(records))
    assert (same.code, same.out) == (2, "")
    assert "is the file that is read" in same.err
    assert records.read_bytes().startswith(b"\xef\xbb\xbf{")
    missing = cli("batch", str(tmp_path / "none.ndjson"))
    assert (missing.code, missing.out) == (2, "")
    assert "there is no file" in missing.err
    assert cli("batch", str(tmp_path)).err.startswith("error: RECORDS: ")
    quiet = cli("batch", str(records), "-q")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize("args", [(), ("-",)], ids=["no file", "-"])
def test_records_come_from_standard_input_where_no_file_is_named(args, cli):
    found = cli("batch", *args, "--only", "grad", stdin=json.dumps(SQUARE) + "\n")
    assert found.code == 0
    assert strict_json(found.out)["grad"] == {"x": 6.0}


def test_at_a_terminal_records_must_be_named():
    env = Environment(stdin=Terminal("{}\n"), stdout=io.StringIO(), stderr=io.StringIO())
    assert run(["batch"], env) == 2
    assert "no records are given" in env.stderr.getvalue()


@pytest.mark.parametrize("blank", ["", "   ", "\t\r"])
def test_a_blank_line_has_an_answer_too(blank, cli):
    record = json.dumps(SQUARE)
    found = cli("batch", "--only", "grad", stdin=f"{record}\n{blank}\n{record}\n")
    first, second, third = map(strict_json, found.out.splitlines())
    assert found.code == 2
    assert first["grad"] == third["grad"] == {"x": 6.0}
    assert second["error"]["message"] == "the line is empty"
    assert second["line"] == 2
