"""Functions that notebooks know from NumPy and SciPy: what they refuse, and their derivatives in many digits."""

import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import portion

INPUTS = {
    "x": 1.5,
    "u": [1.0, 2.0],
    "w": [3.0, 1.0, 2.0],
    "A": [[1.0, 2.0], [3.0, 4.0]],
    "C": [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
}
REFUSED = [
    ("cov(C)", "shape", "cov takes a matrix or a vector, not shape (2, 2, 2)"),
    ("cov(A, aweights=w)", "shape", "cov: weights of shape (3,) for 2 columns"),
    ("corrcoef(C)", "shape", "corrcoef takes a matrix or a vector, not shape (2, 2, 2)"),
    (
        "bincount(torch.tensor([-1]))*x",
        "value",
        "bincount takes a vector of integers from 0 on, and minlength of 0 or more",
    ),
    ("bincount(torch.tensor([0, 1]), w)", "shape", "bincount: weights of shape (3,) for 2 places"),
    ("vander(A)", "shape", "vander takes a vector, not shape (2, 2)"),
    ("vander(u, -1)", "value", "vander: N is 0 or more, not -1"),
    ("linalg.vander(x)", "shape", "linalg.vander takes an array with an axis, not one number"),
    ("linalg.vander(u, N=1)", "value", "linalg.vander: N is more than 1, not 1"),
    ("np.polyval(x, u)", "shape", "polyval takes a vector of one number or more, not shape ()"),
    ("np.convolve(A, u)", "shape", "convolve takes a vector of one number or more, not shape (2, 2)"),
    ('np.convolve(u, w, "half")', "value", "convolve: mode is 'full', 'same' or 'valid', not 'half'"),
    ("np.insert(u, 5, x)", "index", "insert: place 5 is out of range for an axis of length 2"),
    ("np.insert(A, 0, w, axis=0)", "shape", "insert: values of shape (3,) do not fit (2, 2)"),
    ("np.delete(u, 4)", "index", "delete: place 4 is out of range for an axis of length 2"),
    ("np.select([u > 0], [u, u])", "shape", "select: 1 conditions for 2 choices"),
    ("np.interp(x, u, w)", "shape", "interp: places of shape (2,), heights of shape (3,)"),
    ("np.interp(x, [2.0, 1.0], u)", "value", "interp: the places xp have to increase"),
    ('scipy.linalg.qr(A, mode="half")[1]', "value", 'qr: mode is "full", "economic" or "r", not \'half\''),
    (
        "scipy.linalg.solve_triangular(A, u, 5)",
        "value",
        'solve_triangular: trans is 0, 1 or 2, or "N", "T" or "C", not 5',
    ),
    ("logit(u/4, 0.7)", "value", "logit: eps is 0.5 or less, not 0.7"),
    ("linalg.lstsq(A, x)[0]", "shape", "lstsq: A of shape (2, 2) and B of shape () do not fit"),
    ("unsqueeze(u, dim=())", "value", "unsqueeze takes an axis, and not none"),
]
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
