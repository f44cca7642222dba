"""What the page works out as v and inputs move, held against gradcli's own numbers at the same point."""

import numpy as np
import pytest

import gradcli
from gradcli.page.assembling import MODULES, as_function, asset, shown_document
from oracles import cases, portion

TABLES = cases("moving.toml")

MOVE = """([found, points]) => {
    const answer = new modules.answer.Answer(found);
    const at = points.map(([v, inputs]) => {
        answer.reset();
        for (const [name, numbers] of Object.entries(inputs))
            numbers.forEach((number, place) => answer.setInput(name, place, number));
        answer.setV(v);
        const plain = (numbers) => numbers.map((number) => Number.isFinite(number) ? number : String(number));
        return {
            y: plain(answer.y.data), trusted: answer.trusted,
            vjp: Object.fromEntries(answer.jacobians.map((jacobian) => [jacobian.name, plain(answer.vjp(jacobian))])),
            cotangents: Object.fromEntries([...answer.cotangents].map(([name, {data}]) => [name, plain(data)])),
        };
    });
    return {stuck: answer.stuck, at};
}"""

VECTOR = {"x": [0.4, 1.3, -0.6]}
WEIGHTS = {"W": [[0.3, -0.2, 0.5], [0.7, 0.1, -0.4]]}
MATRIX = {**WEIGHTS, "x": [0.4, 1.3, -0.6]}
MOVING = TABLES["MOVING"]
STUCK = [
    "max(x)*x", "sort(x)", "where(x > 0, x**2, -x)", "x*(x > 1)", "x.detach()*x", "x if x[0] > 0 else -x", "erf(x)",
    "y = x\nwhile y.norm() < 9:\n    y = y*2\ny", "floor(x)*x", "n = x[0] // 0.1\nx*n", "einsum('i,i->i', x, x)",
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(chrome):
    """Return a tab that has the modules of the page but for the page itself."""
    tab = chrome.new_page()
    modules = "\n".join(as_function(name, asset(f"{name}.js")) for name in MODULES[:-1])
    tab.add_script_tag(content=f"const modules = {{}};\n{modules}")
    yield tab
    tab.close()


def numbers(found):
    return np.array([float(number) for number in found])


def near(point, rng, spread):
    return {name: (np.asarray(value) + rng.normal(0, spread, np.shape(value))) for name, value in point.items()}


@pytest.mark.parametrize(("program", "given"), portion([pytest.param(*one) for one in MOVING], 4))
def test_what_moves_is_what_gradcli_has_there(engine, program, given):
    rng = np.random.default_rng(7)
    shape = shape_of(program, given)
    v = rng.normal(size=shape)
    found = gradcli.explain(program, **given, v=v)
    points = [(rng.normal(size=shape), near(given, rng, spread)) for spread in (0.0, 0.05, 0.2, 0.6)]
    if "sqrt" in program:  # where x stays above 0
        points = [(w, {name: np.abs(value) for name, value in point.items()}) for w, point in points]
    sent = [[np.ravel(w).tolist(), {n: np.ravel(a).tolist() for n, a in point.items()}] for w, point in points]
    page = engine.evaluate(MOVE, [shown_document(found), sent])
    assert page["stuck"] is None
    for (w, point), moved in zip(points, page["at"], strict=True):
        wanted = gradcli.explain(program, **point, v=w)
        assert moved["trusted"]
        np.testing.assert_allclose(numbers(moved["y"]), np.ravel(wanted.output), rtol=1e-9, atol=1e-12)
        for name, grad in wanted.grad.items():
            np.testing.assert_allclose(numbers(moved["vjp"][name]), np.ravel(grad), rtol=1e-9, atol=1e-11)
        known = {rule.name: rule.value for rule in wanted.rules}
        assert moved["cotangents"]
        for name, cotangent in moved["cotangents"].items():
            np.testing.assert_allclose(numbers(cotangent), np.ravel(known[name]), rtol=1e-9, atol=1e-11)


def shape_of(program, given):
    """Return the shape of y, which a missing v is told by."""
    try:
        return gradcli.explain(program, **given).output.shape
    except gradcli.GradcliError as error:
        return error.facts.shape


@pytest.mark.parametrize("program", portion(STUCK, 4))
def test_inputs_stand_still_where_formulas_may_be_those_of_this_point(engine, program):
    found = gradcli.explain(program, x=[1.5, -0.7], v=[1, 10])
    page = engine.evaluate(MOVE, [shown_document(found), []])
    assert page["stuck"]


def test_a_value_that_overflows_or_has_no_number_is_said(engine):
    found = gradcli.explain("sqrt(x)*exp(x)", x=[1.5, 4.0], v=[1, 10])
    [moved] = engine.evaluate(MOVE, [shown_document(found), [[[1, 1], {"x": [-1.0, 800.0]}]]])["at"]
    assert moved["y"] == ["NaN", "Infinity"]
    assert moved["vjp"]["x"] == ["NaN", "Infinity"]
