"""``--rows``, ``--jvp``, ``--hessian``, ``--lr`` and ``--full``, as the user of a shell sees them."""

import json
import re

import jsonschema
import numpy as np
import pytest

from oracles import ask, cases, strict_json

TABLES = cases("more_views.toml")

THREE = ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "--x", "1.,2.")
NETWORK = (
    "z = W @ x + b\nh = tanh(z)\nsum((h - t)**2)",
    *("--W", "1,.5;-.3,.4", "--x", "1.,.2", "--b", "0.,.1", "--t", "0,1.", "--wrt", "W,b"),
)
CASES = TABLES["CASES"]
WIDTHS = (40, 80, 200)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", CASES)
def test_a_view_looks_like_this(cli, snapshot, name, width):
    answer = cli("explain", *CASES[name], "--width", str(width))
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    assert answer.snapshot == snapshot


@pytest.mark.parametrize("name", ["jvp", "hessian", "descent"])
@pytest.mark.parametrize("form", ["--ascii", "-F=plain"])
def test_in_other_forms_it_looks_like_this(cli, snapshot, name, form):
    answer = cli("explain", *CASES[name], *form.split("="))
    assert form != "--ascii" or answer.out.isascii()
    assert answer.snapshot == snapshot


@pytest.mark.parametrize("name", CASES)
def test_the_document_fits_the_schema(name):
    schema = strict_json(ask("schema").out)
    document = strict_json(ask("explain", *CASES[name], "--json").out)
    jsonschema.Draft202012Validator(schema).validate(document)
    strict = {key: {**schema["$defs"][key], "additionalProperties": False} for key in VIEWS}
    for key in VIEWS & document.keys():
        jsonschema.Draft202012Validator({**strict[key], "$defs": schema["$defs"]}).validate(document[key])
    assert bool(VIEWS & document.keys()) == (name != "identity")


VIEWS = {"one_hot", "jvp", "hessian", "descent"}


def test_the_document_without_views_has_none_of_their_keys():
    assert not VIEWS & strict_json(ask("explain", *THREE, "--v", "1,1,1", "--json").out).keys()


def test_each_formula_of_h_is_the_number_beside_it():
    document = strict_json(ask("explain", *NETWORK, "--hessian", "--json").out)
    values = {name: one["value"] for name, one in document["inputs"].items()}
    for name, text in document["hessian"]["definitions"].items():
        names = [word for word in values if re.search(rf"\b{word}\b", text)]
        given = [part for one in names for part in ("--set", f"{one}={json.dumps(values[one])}")]
        shown = ask("explain", text, *given, "--v", "ones(2)", "--json")
        values[name] = strict_json(shown.out)["output"]["value"]
    for row in document["hessian"]["blocks"].values():
        for block in row.values():
            for text, number in zip(flat(block["symbolic"]), flat(block["numeric"]), strict=True):
                assert number == pytest.approx(evaluated(text, values), rel=1e-9), text


def flat(nested):
    """Return the entries of nested lists."""
    return [entry for item in nested for entry in flat(item)] if isinstance(nested, list) else [nested]


def evaluated(text, values):
    """Return what Python makes of a formula of products, sums and powers."""
    arrays = {name: np.array(value) for name, value in values.items()}
    return float(eval(text, {"__builtins__": {}}, arrays))  # noqa: S307 - gradcli wrote it


@pytest.mark.parametrize(("words", "message"), TABLES["what_cannot_be_is_refused"])
def test_what_cannot_be_is_refused(words, message):
    refused = ask("explain", "sum(x**2)", "--x", "1.,2.", *words)
    assert refused.code == 2
    assert message in refused.err


def test_a_u_in_another_shape_is_read_with_a_note():
    answer = ask("explain", "sum(x**2)", "--x", "1.,2.", "--jvp", "1;2", "--json")
    document = strict_json(answer.out)
    assert document["jvp"]["u"] == {"x": [1.0, 2.0]}
    assert [note["kind"] for note in document["notes"]] == ["u-reshaped"]


EXITS = TABLES["EXITS"]  # a command line, its exit code, and a word of the notes


@pytest.mark.parametrize(("words", "code"), EXITS)
def test_exit_codes(words, code):
    answer = ask("explain", *words)
    assert answer.code == code
    assert bool(answer.err) == bool(code)


def test_full_shows_every_entry_and_no_line_is_too_long():
    given = ("--A", "arange(1,257).reshape(16,16)/99", "--x", "linspace(0,1,16)", "--v", "ones(16)")
    words = ("sin(A @ x)", *given, "--wrt", "x")
    short, full = (ask("explain", *words, "--width", "80", *more).out for more in ((), ("--full",)))
    document = strict_json(ask("explain", *words, "--json").out)
    shown = set(full.split())
    numbers = [f"{value:.6g}" for value in flat(document["jacobian"]["x"]["numeric"])]
    assert [number for number in numbers if number not in shown] == []
    assert [number for number in numbers if number not in set(short.split())] != []
    assert max(map(len, full.splitlines())) <= 80
    assert "..." in short
    assert "..." not in full


def test_full_as_plain_lines_has_all_entries():
    words = ("x*x", "--x", "linspace(1,2,1200)", "--v", "ones(1200)", "-F", "plain")
    assert "and 200 entries more" in ask("explain", *words).out
    assert sum(line.startswith("dy[") for line in ask("explain", *words, "--full").out.splitlines()) == 1201


def test_full_of_too_much_is_refused_by_its_size():
    refused = ask("explain", "sum(x**2)", "--x", "ones(200000)", "--full")
    assert refused.code == 2
    assert "more than the 100,000 that it shows" in refused.err
    assert ask("explain", "sum(x**2)", "--x", "ones(60000)", "--full", "--json").code == 0
