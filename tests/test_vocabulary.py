"""``functions NAME``: spellings that are read, formulas and derivatives that are true, examples that print as shown."""

import itertools
import math
import re
import shlex
from types import SimpleNamespace

import numpy as np
import pytest

import gradcli
from gradcli.errors import Budget
from gradcli.explanation.evaluation import Function
from gradcli.explanation.vocabulary import SIGNS, look_up
from gradcli.language.values import read_value
from gradcli.ops import FUNCTIONS, rows
from gradcli.ops.vocabulary import all_facts
from oracles import ask, portion, strict_json

FACTS = all_facts()
OF_NUMBERS = re.compile(r"([\w.]+\([^)]*\)|x ?\S+ ?other) = ")
"""How the formula of a function of numbers begins: with a call of it, or the operator between x and other."""
EQUATIONS = [(name, text) for name, facts in FACTS.items() for text in facts.derivatives if " = " in text]
NUMPY = "where exp sum mean sign log clip sqrt prod abs diagonal tril triu"
READ = {
    **{name: getattr(np, name) for name in NUMPY.split()},
    **{name: getattr(np.linalg, name) for name in ("inv", "eigh", "qr")},
    "svd": lambda a: SimpleNamespace(U=np.linalg.svd(a)[0], V=np.linalg.svd(a)[2].T),
}
"""What the texts of arrays are read with."""


def values_of(name):
    return {key: read_value(text, key, Budget()) for key, text in FACTS[name].inputs.items()}


def right(text):
    """Return the two sides of an equation, without the word that it holds for the example alone."""
    left, side = text.removesuffix(", here").removesuffix(", for 2×2").split(" = ", 1)
    return left, side


def test_every_function_and_operator_has_facts():
    missing = [
        f"{name}: {what}"
        for name in [*FUNCTIONS, *SIGNS]
        for what, has in (
            ("facts", name in FACTS),
            ("formula", name in FACTS and FACTS[name].formula),
            ("derivative, or why there is none", name in FACTS and FACTS[name].derivatives),
            ("example", name in FACTS and FACTS[name].program),
        )
        if not has
    ]
    assert missing == []
    assert [name for name in FACTS if name not in {*FUNCTIONS, *SIGNS}] == []  # tables of nothing that there is
    assert set(FACTS) == {*(row.name for row in rows()), *SIGNS}
    told = [text for facts in FACTS.values() for text in facts.derivatives]
    assert all(" = " in text or text.startswith("none: ") for text in told)


@pytest.mark.parametrize("name", portion([*FUNCTIONS, *SIGNS], 6))
def test_an_example_prints_what_is_shown(name):
    lines = ask("functions", name).out.split("\n")
    at = next(k for k, line in enumerate(lines) if line.startswith("  $ "))
    command, *words = shlex.split(lines[at][4:])
    shown = "\n".join(line[2:] for line in lines[at + 1 :] if line)
    answer = ask(*words)
    assert (command, answer.code, answer.out) == ("gradcli", 0, f"{shown}\n")
    document = strict_json(ask("functions", name, "--json").out)["functions"][0]
    assert (document["name"], document["example"]["command"]) == (look_up(name)[0].name, lines[at][4:])


def forms_of(name):
    """Return the example of a function under every spelling, and as a call of every method."""
    function, program = FUNCTIONS[name], FACTS[name].program
    ways = sorted((*function.spellings, *(f".{method}" for method in function.methods)), key=len, reverse=True)
    found = (re.search(rf"(?<![\w.]){re.escape(way)}\(|(?<=\w){re.escape(way)}\(", program) for way in ways)
    match = next(match for match in found if match)
    before, called, after = program[: match.start()], match[0], program[match.end() :]
    if called[0] == ".":
        own, rest, before = before, after, ""
    else:
        own, rest = split_first(after)
    arguments = own + ("" if rest.startswith(")") else ", ") + rest
    yield from (f"{before}{spelling}({arguments}" for spelling in function.spellings)
    yield from (f"{before}({own}).{method}({rest}" for method in function.methods)


def split_first(arguments):
    """Return the first of the arguments of a call, and what follows it without the comma."""
    depth = 0
    for k, letter in enumerate(arguments):
        depth += (letter in "([") - (letter in ")]")
        if depth < 0 or (depth == 0 and letter == ","):
            return arguments[:k], arguments[k:].removeprefix(",").lstrip()
    raise ValueError(arguments)


@pytest.mark.parametrize("name", portion(FUNCTIONS, 6))
def test_every_spelling_is_read(name):
    want = gradcli.function(FACTS[name].program).value(**values_of(name))
    forms = [*forms_of(name)]
    assert len(forms) == len(look_up(name)[0].spellings) + len(look_up(name)[0].methods) > 0
    for form in forms:
        np.testing.assert_array_equal(gradcli.function(form).value(**values_of(name)), want, err_msg=form)


@pytest.mark.parametrize(("name", "text"), [row for row in EQUATIONS if row[1].startswith("d/d")])
def test_a_derivative_of_numbers_is_that_of_the_function(name, text):
    left, side = right(text)
    variable, _, program = left.removeprefix("d/d").partition(" ")
    values = values_of(name) | ({"x": 1.5} if "x" not in values_of(name) else {})
    for shift in (0.0, 0.125):
        at = {key: np.asarray(value + shift * np.sign(value)) for key, value in values.items()}
        at = {key: value for key, value in at.items() if re.search(rf"\b{key}\b", program)}
        grad = gradcli.function(program, wrt=[variable]).grad(**at)[variable]
        read = gradcli.function(f"({side}) + 0*{variable}")
        np.testing.assert_allclose(read.value(**{k: at[k] for k in read.inputs}), grad, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name, facts in FACTS.items() if OF_NUMBERS.match(facts.formula)])
def test_a_formula_of_numbers_is_the_function(name):
    left, side = right(FACTS[name].formula)
    for point in (0.25, 0.5, 1.5, 1.25):
        at = {key: point * value for key, value in values_of(name).items()}
        at.setdefault("other", np.float64(0.5))
        one, other = (gradcli.function(f"({text})*1.0") for text in (left, side))
        found, want = (f.value(**{k: at[k] for k in f.inputs}) for f in (other, one))
        np.testing.assert_allclose(found, want, rtol=1e-12)
    assert np.any(np.isfinite(want))


def places(shape):
    return itertools.product(*map(range, shape))


def letters_at(index, place):
    """Return what the letters of an index stand for at a place, None where it is another place."""
    found = {}
    for part, number in zip(index, place, strict=True):
        if part.isdigit():
            if int(part) != number:
                return None
        elif found.setdefault(part, number) != number:
            return None
    return found


@pytest.mark.parametrize(("name", "text"), [row for row in EQUATIONS if row[1].startswith("dy")])
def test_a_derivative_of_entries_is_that_of_the_jacobian(name, text):
    left, side = right(text)
    match = re.fullmatch(r"dy(?:\[([^]]*)\])?/d(\w+)(?:\[([^]]*)\])?", left)
    row, variable, column = match[1], match[2], match[3]
    rows, columns = (part.split(",") if part else [] for part in (row, column))
    values = values_of(name)
    function = gradcli.function(FACTS[name].program, wrt=[variable])
    J, y = function.jacobian(**values)[variable], function.value(**values)
    known = {**READ, **values, "y": y, "n": len(np.atleast_1d(next(iter(values.values()))))}
    checked = 0
    for at in places(y.shape):
        for by in places(np.shape(values[variable])):
            first, second = letters_at(rows, at), letters_at(columns, by)
            meets = first is not None and second is not None and all(second.get(k, v) == v for k, v in first.items())
            if first is None:
                continue
            want = eval(side, dict(known), {**first, **second}) if meets else 0.0  # noqa: S307 - our own texts
            np.testing.assert_allclose(J[(*at, *by)], want, rtol=1e-12, atol=1e-14)
            checked += 1
    assert checked


@pytest.mark.parametrize("name", [name for name, facts in FACTS.items() if facts.formula.startswith("y[")])
def test_a_formula_of_entries_is_the_value(name):
    if " = " not in FACTS[name].formula:
        return
    left, side = right(FACTS[name].formula)
    values = values_of(name)
    y = gradcli.function(FACTS[name].program, wrt=()).value(**values)
    known = {**READ, **values, "n": len(np.atleast_1d(next(iter(values.values()))))}
    for at in places(y.shape):
        letters = letters_at(left[2:-1].split(","), at)
        np.testing.assert_allclose(y[at], eval(side, dict(known), letters), rtol=1e-12)  # noqa: S307


@pytest.mark.parametrize("name", [n for n, f in FACTS.items() if f.formula.startswith("y = ") and "…" not in f.formula])
def test_a_formula_of_one_number_is_the_value(name):
    values = values_of(name)
    known = {**READ, **values, "n": np.size(values.get("x", [0]))}
    y = gradcli.function(FACTS[name].program, wrt=()).value(**values)
    assert math.isclose(eval(right(FACTS[name].formula)[1], dict(known)), y, rel_tol=1e-12)  # noqa: S307


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("softm", {"softmax", "softmin"}), ("tanh", {"tanh"}), ("F.relu", {"relu"}),
        ("np.sort", {"np.sort"}),
        ("arcsin", {"asin"}), ("lay", {"layer_norm"}), (".T", None), ("@", {"@"}), ("**", {"**"}), ("[...]", {"[...]"}),
        ("x[0]", {"[...]"}), ("soft_max", None), ("sinn", None), ("nothing_like_it", None), ("", None),
    ],
)  # fmt: skip
def test_what_is_found(asked, names):
    answer = ask("functions", asked, "--json")
    document = strict_json(answer.out)
    if names is None:
        assert (answer.code, document["error"]["kind"]) == (2, "unknown-function")
        return
    assert (answer.code, {found["name"] for found in document["functions"]}) == (0, names)
    assert ask("functions", asked).code == 0


@pytest.mark.parametrize(("asked", "hint"), [("sinn", "sin"), ("sofmax", "softmax"), ("logsumexpp", "logsumexp")])
def test_a_name_that_nothing_has_is_asked_back(asked, hint):
    assert f"did you mean '{hint}'?" in ask("functions", asked).err


@pytest.mark.parametrize(("name", "line"), [
    ("tanh", "formula      tanh(x) = (exp(x) - exp(-x))/(exp(x) + exp(-x))"),
    ("tanh", "derivative   d/dx tanh(x) = 1 - tanh(x)**2"),
    ("softmax", "derivative   dy[i]/dx[j] = y[i]*(where(i == j, 1, 0) - y[j])"),
    ("relu", "at a kink    0 is taken"), ("sum", "derivative   dy/dx[i] = 1"),
    ("@", "derivative   dy[i,k]/dA[i,j] = B[j,k]"),
])  # fmt: skip
def test_what_is_said(name, line):
    assert f"  {line}\n" in ask("functions", name).out


RULES = {
    "sin": ("x.grad = y.grad*cos(x)",),
    "relu": ("x.grad = where(y > 0, y.grad, 0)",),
    "floor": ("x.grad = 0",),
    "matmul": ("A.grad = y.grad @ B.T", "B.grad = A.T @ y.grad"),
    "softmax": ("x.grad = y*(y.grad - sum(y.grad*y))",),
    "+": ("x.grad = y.grad", "other.grad = y.grad"),
    "[...]": ("x.grad = cat([zeros(1), y.grad])",),
}


@pytest.mark.parametrize("name", RULES)
def test_a_function_says_what_reverse_mode_does(name):
    assert look_up(name)[0].vjp == RULES[name]


@pytest.mark.parametrize("name", portion([*FUNCTIONS, *SIGNS], 3))
def test_the_lines_of_a_vjp_give_the_gradient_of_the_example(name):
    [known], facts, values = look_up(name), FACTS[name], values_of(name)
    if not any(" = " in text for text in facts.derivatives):
        assert known.vjp == ()
        return
    flat = all(text.endswith(" = 0") for text in facts.derivatives)
    output = next(one for one in ("y", "f") if one not in values)
    y = Function(facts.program).value(**values)
    v = read_value(facts.v, "v", Budget()) if facts.v else np.ones(())
    names = {**values, output: y, f"{output}_grad": np.reshape(v, y.shape)}
    if not known.vjp:  # it returns what it is given
        np.testing.assert_array_equal(y, values["x"])
        np.testing.assert_array_equal(known.example.grad["x"], np.reshape(v, y.shape))
        return
    for line in known.vjp:
        label, text = line.replace(".grad", "_grad").split(" = ", 1)
        reads = Function(text, given=names)
        found = reads.value(**{key: names[key] for key in reads.inputs})
        value = names.get(label.removesuffix("_grad"), found)
        names[label] = np.broadcast_to(found, np.shape(value)) if label.endswith("_grad") else found
    for key, grad in known.example.grad.items():
        wanted = np.zeros(grad.shape) if flat else grad
        found = np.broadcast_to(names.get(f"{key}_grad", 0.0), grad.shape)  # what reaches nothing has no line
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
