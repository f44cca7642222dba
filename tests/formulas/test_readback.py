"""Everything that an answer prints is read back by gradcli's own language, and a planted fault is found."""

from dataclasses import replace

import numpy as np
import pytest

import gradcli
from gradcli.document.verdicts import with_true_formulas
from gradcli.formulas.readback import read_back
from gradcli.formulas.rules import index_places
from oracles import cases, portion, portion_of_rows
from readback_programs import findings, in_doubles, program
from records import FUNCTIONS, RANGES

TABLES = cases("readback.json")
COUNT, BLOCKS = 600, 60
LONG, WIDE = np.linspace(-1.5, 1.4, 150), np.cos(np.arange(144.0)).reshape(12, 12)


def answer(text, **inputs):
    y = gradcli.function(text).value(**inputs)
    return gradcli.explain(text, v=np.cos(np.arange(y.size) + 1.0).reshape(y.shape), inputs=inputs)


@pytest.mark.long
@pytest.mark.parametrize("block", portion(range(BLOCKS), BLOCKS))
def test_formulas_of_random_programs_are_their_numbers(block):
    found = {seed: findings(program(seed)) for seed in range(block, COUNT, BLOCKS)}
    assert {seed: wrong for seed, (_, wrong) in found.items() if wrong} == {}
    assert sum(count > 0 for count, _ in found.values()) > COUNT / BLOCKS * 0.75, "most of them are programs"


def inside(name):
    """Return a number, not 0, where a function is defined."""
    low, high = map(float, (*RANGES.get(name, ()), "0.2,1")[0].split(","))
    return round(low + 0.55 * (high - low), 3)


ENTRYWISE = [
    name
    for name, function in FUNCTIONS.items()
    if function.op is not None and function.op.formula is not None and len(function.op.vjps) == 1
]
"""Functions of one number."""
SUMS = ["{f}({a} - (x + z))", "{f}(-(x + z) - -{a})", "{f}((x + z)*-1 + {a})", "s = x + z; {f}({a} - s)*s",
    "s = (x + z)*-1; {f}(s - -{a})", "softplus({f}({a} - (x - z)))", "{f}({a} - (-(x + z) - (z - x)))",
    "{f}({a} - 2*(x + z)) - {f}({a} - (z + x))", "{f}({a} - ({a}*(x + z) - {f}({a} - x)*0))"]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), portion_of_rows([(n, text) for n in ENTRYWISE for text in SUMS], 8))
def test_every_function_takes_a_number_less_a_sum(name, text):
    call = FUNCTIONS[name].spellings[0] if FUNCTIONS[name].spellings else name
    found = answer(text.format(f=call, a=inside(name)), x=[0.02, -0.07], z=[0.035, 0.04])
    count, wrong = read_back(with_true_formulas(found), in_doubles)
    assert (count >= 6, wrong, found.agreement.agree) == (True, [], True)
    assert all(jacobian.formulas for jacobian in found.jacobian.values())


WITHOUT_END = TABLES["WITHOUT_END"]
"""Roots of squares, whose sign is sought, and sums that are written with themselves."""


@pytest.mark.parametrize("text", WITHOUT_END)
def test_a_formula_is_found_where_a_search_may_have_no_end(text):
    found = answer(text, x=[0.3, 0.2], **({"z": [0.5, 0.4]} if "z" in text else {}))
    count, wrong = read_back(found, in_doubles)
    assert (count >= 4, wrong, found.agreement.agree) == (True, [], True)
    assert all(jacobian.formulas for jacobian in found.jacobian.values())


POWERS = TABLES["POWERS"]


@pytest.mark.parametrize("text", POWERS)
def test_powers_of_powers_have_their_parentheses(text):
    found = answer(text, x=2.0, y=3.0)
    assert [found.jacobian[name].formulas for name in "xy"] == [[formula] for formula in POWERS[text]]
    assert read_back(found, in_doubles) == (3, [])


RULES = TABLES["RULES"]
GIVEN = {
    "p": np.full(150, 2.0),
    "w": np.linspace(-1.5, 1.4, 4000),
    "M": WIDE,
    "N": np.cos(np.arange(900.0)).reshape(30, 30),
    "T": np.round(np.cos(np.arange(900.0)).reshape(30, 30)),
}
"""In T some rows have their largest number several times."""


@pytest.mark.parametrize("text", portion(RULES, 3))
def test_rules_of_large_jacobians_say_all_and_nothing_wrong(text):
    names = gradcli.function(text).inputs
    inputs = {name: GIVEN.get(name, LONG + 2 if "**" in text else LONG) for name in names}
    found = answer(text, **inputs)
    assert next(iter(found.jacobian.values())).rules == RULES[text]
    count, wrong = read_back(found, in_doubles, least=1e-3)
    assert (count > 0, wrong) == (True, [])


NAMES = TABLES["NAMES"]


@pytest.mark.parametrize("text", NAMES)
def test_names_are_those_of_the_program(text):
    found = answer(text, x=np.array([0.4, 0.7]))
    definitions, stages = NAMES[text]
    assert [name for name in found.definitions if name in definitions] == definitions
    assert [stage.name for stage in found.stages] == stages
    assert read_back(found, in_doubles)[1] == []


SIGNED = {  # at x = -1
    "atan2(-(x - x), x)": -np.pi,
    "atan2(x - x, x)": np.pi,
    "atan2(x*0, x)": -np.pi,
    "atan2(-0.0, x)": -np.pi,
    "atan2([-0.0, 1], x)[0]": -np.pi,
    "atan2(1 + x, -(x - x))": np.pi,
    "atan(1/-(x - x))": -np.pi / 2,
    "atan((x*0)**-1)": -np.pi / 2,
    "atan(reciprocal(x*0))": -np.pi / 2,
    "atan(rsqrt(x*0))": -np.pi / 2,
}


@pytest.mark.parametrize("text", SIGNED)
def test_a_formula_keeps_the_sign_of_a_zero_that_counts(text):
    found = answer(text, x=-1.0)
    names = {"x": -1.0}
    for name, formula in found.definitions.items():
        names[name] = in_doubles(formula, names)
    [formula] = found.output_formulas
    assert in_doubles(formula, names) == found.output == SIGNED[text]


def spoiled(found, **changes):
    """Return an answer with its Jacobian by x changed."""
    return replace(found, jacobian={**found.jacobian, "x": replace(found.jacobian["x"], **changes)})


def faults():
    small, large = answer("h = exp(x)\nsin(h)*h", x=np.array([0.3, 0.5])), answer("flip(sin(x))*x", x=LONG)
    chain, *others, moved, last = large.jacobian["x"].index_rules
    j = small.jacobian["x"]
    yield "the output", replace(small, output_formulas=["x[0]", small.output_formulas[1]])
    yield "an entry", spoiled(small, formulas=[j.formulas[0], j.formulas[0]])
    yield "a shape", spoiled(small, formulas=["x", j.formulas[1]])
    yield "no language", spoiled(small, formulas=["cos(", j.formulas[1]])
    yield "a name", replace(small, output_formulas=["x[0]*z", small.output_formulas[1]])
    yield "a definition", replace(large, definitions={**large.definitions, "h0": "cos(x)"})
    for what, rules in (
        ("a rule", [chain, *others, moved, replace(last, formula="sin(x[i])")]),
        ("a place", [chain, *others, replace(moved, columns=("i",)), last]),
        ("a missing path", [replace(chain, paths=chain.paths[:1]), *others, moved, last]),
        ("a rule of some entries", [chain, *others, moved, replace(last, rows=("3",), columns=("3",))]),
    ):
        yield what, spoiled(large, index_rules=rules)


@pytest.mark.parametrize(("what", "found"), list(faults()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_planted_fault_is_found(what, found):
    assert read_back(found, in_doubles)[1], what


PLACES = [  # the op on an array of a shape, and where its entries come from
    (lambda x: x[::-1], (5,), (["i"], ["4 - i"], "")),
    (lambda x: x[1::2], (6,), (["i"], ["2*i + 1"], "")),
    (lambda x: np.roll(x, 2), (5,), (["i"], ["(i + 3) % 5"], "")),
    (lambda x: np.tile(x, 2), (4,), (["i"], ["i % 4"], "")),
    (lambda x: np.repeat(x, 3), (4,), (["i"], ["i//3"], "")),
    (lambda x: x[3], (5,), ([], ["3"], "")),
    (lambda x: x.T, (2, 3), (["i", "j"], ["j", "i"], "")),
    (lambda x: x.reshape(-1), (3, 4), (["i"], ["i//4", "i % 4"], "")),
    (lambda x: x.reshape(3, 4), (12,), (["i", "j"], ["4*i + j"], "")),
    (lambda x: x.reshape(4, 3), (3, 4), None),
    (np.tril, (3, 3), (["i", "j"], ["i", "j"], "j <= i")),
    (lambda x: np.triu(x, -1), (4, 4), (["i", "j"], ["i", "j"], "j >= i - 1")),
    (lambda x: np.diag(x, 1), (3,), (["i", "i + 1"], ["i"], "")),
    (np.diag, (3, 3), (["i"], ["i", "i"], "")),
    (lambda x: np.broadcast_to(x, (4, 3)), (3,), (["i", "j"], ["j"], "")),
    (lambda x: x[[2, 0, 1, 1]], (3,), None),
    (lambda x: x[:0], (3,), None),
]


@pytest.mark.parametrize(("move", "shape", "wanted"), PLACES)
def test_where_entries_go_is_a_formula_or_is_not_said(move, shape, wanted):
    found = move(np.arange(1, np.prod(shape) + 1).reshape(shape))
    rows = np.flatnonzero(found)
    assert index_places(rows, np.ravel(found)[rows] - 1, found.shape, shape, "ijkl") == wanted
