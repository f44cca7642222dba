"""An answer says it where a rule or a formula is wrong by one part in 10⁹, whichever op it is."""

from functools import partial

import numpy as np
import pytest

import gradcli
from formula_reading import check_formulas
from gradcli.jacobian import functions as s
from gradcli.ops.vocabulary import elementwise_local
from mutation.spoiling import SLIGHTLY, ruled
from op_cases import DIFFERENTIABLE
from oracles import EXACT, ask, assert_close, flags, portion, strict_json, tampered
from programs import PROGRAMS, inputs_of
from records import OPS


def wrong_vjps(op):
    """Return the vjps of an op, all slightly wrong."""
    right = op.vjps
    return (lambda k: ruled(right(k))) if callable(right) else tuple(rule and ruled(rule) for rule in right)


FAULTS = {"vjp": lambda op: {"vjps": wrong_vjps(op)}, "local": lambda op: {"local_jacobian": ruled(op.local_jacobian)}}


def told_by_the_graph():
    """Return a program for each op, one whose output depends on the op's derivative."""
    found = {}
    for program in (program for programs in PROGRAMS.values() for program in programs):
        f = gradcli.function(program)
        for node in f.evaluate(inputs_of(program, f.inputs)).graph.nodes:
            if node.op is not None and node.active:
                found.setdefault(node.op.name, program)
    return found


PROGRAM_OF = told_by_the_graph()


def explained(program):
    f = gradcli.function(program)
    inputs = inputs_of(program, f.inputs)
    v = np.random.default_rng(5).uniform(0.5, 1.5, f.value(**inputs).shape)
    return gradcli.explain(program, v=v, inputs=inputs)


def test_every_op_has_a_program():
    assert set(PROGRAM_OF) - {op.name for op in OPS.values() if op.step} == DIFFERENTIABLE


@pytest.mark.parametrize("name", portion(sorted(DIFFERENTIABLE), 24))
@pytest.mark.parametrize("fault", ["vjp", "local"])
def test_an_explanation_says_that_its_routes_disagree(name, fault):
    op, program = OPS[name], PROGRAM_OF[name]
    assert explained(program).agreement.agree
    with tampered(op, **FAULTS[fault](op)):
        found = explained(program)
    assert not found.agreement.agree, program
    assert found.agreement.finite
    assert found.agreement.max_abs_error > 0
    assert "routes-differ" in [note.kind for note in found.notes]
    assert explained(program).agreement.agree


@pytest.mark.parametrize(
    "name", portion([name for name in sorted(DIFFERENTIABLE) if OPS[name].formula and name != "sqrt0"], 3)
)
def test_a_wrong_sympy_formula_is_found(name):
    op, program = OPS[name], PROGRAM_OF[name]
    formula = ruled(op.formula)
    with tampered(op, formula=formula, local_jacobian=elementwise_local(formula, op.zero_at)):
        assert not explained(program).agreement.agree


@pytest.mark.parametrize("function", ["tanh", "sigmoid", "logaddexp", "gelu", "hypot"])
def test_a_wrong_derivative_in_sympys_hands_is_found(function, monkeypatch):
    own, name = getattr(s, function), function
    right = own.rules
    monkeypatch.setattr(
        own, "rules", staticmethod(lambda *args: tuple(rule * s.number(SLIGHTLY) for rule in right(*args)))
    )
    formula = OPS[name].formula
    unseen = partial(formula)  # so that no derivative of it is remembered
    with tampered(OPS[name], local_jacobian=elementwise_local(unseen, None)):
        assert not explained(PROGRAM_OF[name]).agreement.agree


@pytest.mark.parametrize("fault", ["vjp", "local"])
@pytest.mark.parametrize(("op", "program", "inputs"), [
    ("sin", "sin(x)*x", {"x": [0.5, 1.5]}),
    ("matmul", "W @ x", {"W": [[1, 2], [3, 4]], "x": [5, 6]}),
    ("index", "x[0]**2 + x[1]", {"x": [1.0, 2.0]}),
    ("softmax", "softmax(x)", {"x": [1.0, 2.0]}),
])  # fmt: skip
def test_the_command_line_ends_with_1(op, program, inputs, fault):
    v = [[0.3, 0.9]] if op != "index" else []
    words = ["explain", program, *flags(inputs, v)]
    assert ask(*words).code == 0
    with tampered(OPS[op], **FAULTS[fault](OPS[op])):
        for how in ([], ["--json"], ["--format", "plain"], ["-q"]):
            answer = ask(*words, *how)
            assert answer.code == 1, how
            assert ("disagree" in answer.err) == (how != ["-q"])
        document = strict_json(ask(*words, "--json").out)
    assert document["agreement"]["agree"] is False
    assert document["error"] is None
    assert ask(*words).code == 0


@pytest.mark.parametrize("calls", [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]])
def test_one_bad_call_of_several_is_enough(calls):
    with tampered(OPS["sin"], **FAULTS["vjp"](OPS["sin"])):
        assert not gradcli.explain("sin(x)", x=[0.3, 0.6], calls=calls).agreement.agree


@pytest.mark.parametrize("where", [0, 1])
def test_one_bad_variable_of_several_is_enough(where):
    op = OPS["mul"]
    vjps = tuple(ruled(rule) if k == where else rule for k, rule in enumerate(op.vjps))
    with tampered(op, vjps=vjps):
        assert not gradcli.explain("a*b", a=2.0, b=3.0).agreement.agree


def test_the_test_of_formulas_finds_a_wrong_formula():
    document = gradcli.explain("[x[0]**2*3, sin(x[1])]", x=[0.7, 0.4], v=[1, 1]).to_dict()
    check_formulas(document)
    for place, text in (((0, 0), "6.00001*x[0]"), ((1, 1), "cos(x[0])"), ((0, 1), "1e-6")):
        document["jacobian"]["x"]["symbolic"][place[0]][place[1]], kept = (
            text,
            document["jacobian"]["x"]["symbolic"][place[0]][place[1]],
        )
        with pytest.raises(AssertionError):
            check_formulas(document)
        document["jacobian"]["x"]["symbolic"][place[0]][place[1]] = kept
    document["output"]["symbolic"][1] = "sin(x[0])"
    with pytest.raises(AssertionError):
        check_formulas(document)


@pytest.mark.parametrize(("got", "want"), [
    ([1.0, 2.0], [1.0, 2.000001]), ([1.0], 1.0), ([np.nan], [1.0]), ([1.0], [np.nan]), ([np.inf], [-np.inf]),
        ([0.0], [1e-300]),
])  # fmt: skip
def test_the_comparison_of_numbers_refuses(got, want):
    with pytest.raises(AssertionError):
        assert_close(got, want, EXACT)


def test_the_comparison_of_numbers_accepts():
    assert_close([np.nan, np.inf, 1.0], [np.nan, np.inf, 1.0 + 1e-13], EXACT)
