"""Functions that notebooks know from NumPy and SciPy: what they refuse, and their derivatives in many digits."""

import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases, portion

INPUTS = {
    "x": 1.5,
    "u": [1.0, 2.0],
    "w": [3.0, 1.0, 2.0],
    "A": [[1.0, 2.0], [3.0, 4.0]],
    "C": [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
}
TABLES = cases("notebook_words.json")
REFUSED = TABLES["REFUSED"]
CHECKED = [
    "cov(A)", "corrcoef(A*A)", "np.cov(w, w**2, aweights=w)", "np.nanstd(w)", "np.vander(w)", "np.polyval(w, u)",
    "np.convolve(w, u, 'same')", "np.insert(w, 1, u)",
    "np.delete(A, 0, axis=1)", "np.select([w > 2.5, w > 1.5], [w**2, 3*w], x)", "np.interp(x, u, [5.0, 7.0])",
    "np.interp(w, [0.5, 1.7, 2.5], [x, x**2, x])",
    "scipy.linalg.cholesky(A @ A.T)", "scipy.linalg.solve_triangular(A, u)",
    "scipy.special.logsumexp(A, 0, u)", "np.bincount([0, 1, 1], w)",
    "y = w*1; y.index_add_(0, torch.tensor([0, 0]), u, alpha=2); y.sum()*x", "np.interp(u, [1.0, 2.0], [x, 3.0])",
]  # fmt: skip


def given(program):
    """Return the inputs of a program."""
    return {name: INPUTS[name] for name in gradcli.function(program).inputs}


@pytest.mark.parametrize(("program", "kind", "message"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_reason(program, kind, message):
    with pytest.raises(GradcliError) as raised:
        gradcli.function(program).value(**given(program))
    assert (raised.value.kind, raised.value.message) == (kind, message)


@pytest.mark.parametrize("program", portion(CHECKED, 6))
def test_derivatives_and_formulas_hold_in_many_digits(program):
    total = program if program.startswith("y = ") else f"sum(exp({program}/9))"
    found = gradcli.check(total, **given(total))
    assert found.agree, str(found)
