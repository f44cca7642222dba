"""Arguments at the edge of what they may be: the shapes, axes, counts and indices that functions refuse or still take.

A row of a refusal is ``(program, kind, words, marked)``: words stand in the message or in the hint, and ``marked`` is
the text under the caret. A row of an accepted program is ``(program, value, gradients)``: the gradients of the sum of
the output, zero by the variables that are not listed.
"""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest

import gradcli
from gradcli.errors import Budget, GradcliError
from gradcli.language.program import compile_program
from gradcli.language.values import read_value

INPUTS = {
    "x": 1.5,
    "u": [1.0, 2.0],
    "w": [3.0, 1.0, 2.0],
    "A": [[1.0, 2.0], [3.0, 4.0]],
    "B": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    "C": [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
}
"""The point at which every program of the tables is evaluated; each gets those that it names."""
ROOT = math.sqrt(30)

LENGTHS = [
    ("u.mT", "shape", "a matrix or a batch of them, not shape (2,)", "u.mT"),
    ("len(x)*x", "type", "len of a scalar", "len(x)"),
    ("torch.numel(u, 1)*x", "unknown-function", "unknown function 'torch.numel'", "torch.numel"),
    ("A.H.H*x + np.zeros(2, 2, 2).H", "shape", ".H takes a matrix, not shape (2, 2, 2)", "np.zeros(2, 2, 2).H"),
    ("u.imag*x", "type", "these are real", "u.imag"),
    ("u.dim(1)*x", "unknown-function", "unknown method '.dim()'", "u.dim"),
    ("u.size(0, 1)*x", "unknown-function", "unknown method '.size()'", "u.size"),
    ("u.shape[5]*x", "index", "a shape of 1 length has no index 5", "u.shape[5]"),
    ("A.shape[-3]*x", "index", "a shape of 2 lengths has no index -3", "A.shape[-3]"),
    ("u.shape[0, 0]*x", "index", "a shape of 1 length", "u.shape[0, 0]"),
]

INDICES = [
    ("A[[[0], [0, 1]]]", "index", "the lists in an index must have one length", "A[[[0], [0, 1]]]"),
    ("A[[0, 1], [0, 1, 0]]", "index", "(2,) (3,)", "A[[0, 1], [0, 1, 0]]"),
    ("w[w > 1:]", "index", "the bounds of a slice must be integers", "w[w > 1:]"),
    ("w[:sort(w).indices]", "index", "the bounds of a slice must be integers", "w[:sort(w).indices]"),
    ("sort(w)[2]", "index", "write .values[...]", "sort(w)[2]"),
    ("max(A, dim=0)[0:1]", "index", "a pair: its values and their indices", "max(A, dim=0)[0:1]"),
    ("sort(A)[0, 1]", "index", "write .values[...]", "sort(A)[0, 1]"),
    ("w[[0, w > 1]]", "index", "a list in an index must hold integers", "w[[0, w > 1]]"),
    ("w[[0, sort(w).indices]]", "index", "a list in an index must hold integers", "w[[0, sort(w).indices]]"),
    ("sort(w).indices - sort(u).indices", "shape", "(3,) and (2,)", "sort(w).indices - sort(u).indices"),
]

STATEMENTS = [
    ("a, b = 1, 2, x\na", "shape", "3 values for 2 variables", "a, b = 1, 2, x"),
    ("[a, b] = [x]\na", "shape", "1 value for 2 variables", "[a, b] = [x]"),
    ("for i in range(): y = x\ny", "arguments", "one to three integers", "for i in range(): y = x"),
    ("for i in range(1, 2, 3, 4): y = x\ny", "arguments", "one to three", "for i in range(1, 2, 3, 4): y = x"),
    ("x if None else 2*x", "type", "a condition is needed here, not None", "None"),
    ("x if 'a' else 2*x", "type", "a condition is needed here, not text", "'a'"),
]

AXES = [
    ("sum(A, dim=(0, 0))", "shape", "dim=(0, 0) names an axis twice", "sum(A, dim=(0, 0))"),
    ("mean(w[:0])", "shape", "mean of no entries: the array has shape (0,)", "mean(w[:0])"),
    ("logsumexp(A[:0], dim=0)", "shape", "logsumexp of no entries", "logsumexp(A[:0], dim=0)"),
    ("max(A, (0, 1))", "value", "amax takes several", "max(A, (0, 1))"),
    ("A.max([0, 1])", "value", "max takes one dim", "A.max([0, 1])"),
    ("A.min(dim=(0,))", "value", "amin takes several", "A.min(dim=(0,))"),
    ("max(A, True)", "type", "not a truth value", "max(A, True)"),
    ("softmax(A)", "value", "softmax(..., dim=-1) for each row", "softmax(A)"),
    ("A.log_softmax()", "value", "log_softmax(..., dim=-1) for each row", "A.log_softmax()"),
    ("A.permute(0)", "shape", "permute needs all 2 axes, 1 given", "A.permute(0)"),
    ("C.t()", "shape", "use permute", "C.t()"),
    ("A.roll((1, 1), dim=0)", "shape", "2 shifts for 1 axis", "A.roll((1, 1), dim=0)"),
    ("torch.roll(u, (1, 2), dims=())", "shape", "2 shifts for no axes", "torch.roll(u, (1, 2), dims=())"),
    ("torch.roll(u, ())", "value", "roll needs shifts", "torch.roll(u, ())"),
    ("linalg.norm(A, ord=3)", "value", "a matrix has no norm of order 3", "linalg.norm(A, ord=3)"),
    ("linalg.norm(C, 2)", "shape", "needs dim for an array of shape", "linalg.norm(C, 2)"),
    ("norm(u, 'nuc')", "shape", "is that of a matrix", "norm(u, 'nuc')"),
    ("norm(u, True)", "value", "a norm has no order True", "norm(u, True)"),
    ("addmm(u, A, A[:1])", "shape", "1 rows on the right", "addmm(u, A, A[:1])"),
    ("addmm(A, u, u)", "shape", "addmm takes arrays of 2 and 2 axes", "addmm(A, u, u)"),
    ("tensordot(A, A, dims=5)", "value", "dims=5 for arrays of", "tensordot(A, A, dims=5)"),
    ("tensordot(A, A, dims=([0], [0, 1]))", "value", "as many axes of each", "tensordot(A, A, dims=([0], [0, 1]))"),
    ("linalg.multi_dot([A])", "value", "two matrices or more", "linalg.multi_dot([A])"),
    ("cross(A[:, :2], A[:, :2])", "shape", "an axis with 3 entries", "cross(A[:, :2], A[:, :2])"),
    ("sum(u, 0, keepdim='a')", "type", "keepdim must be True or False, not 'a'", "sum(u, 0, keepdim='a')"),
    ("sort(u, descending='no').values", "type", "descending must be True or False", "sort(u, descending='no')"),
    ("matrix_power(eye(2)*u[0], 1.5)", "value", "n must be an integer", "matrix_power(eye(2)*u[0], 1.5)"),
    ("eigvalsh(A[:1])", "shape", "a square matrix", "eigvalsh(A[:1])"),
    ("eigvalsh(eye(2)*u[0], UPLO='x')", "value", "UPLO is", "eigvalsh(eye(2)*u[0], UPLO='x')"),
    ("cholesky(-eye(2)*u[0]**2)", "value", "no such decomposition", "cholesky(-eye(2)*u[0]**2)"),
    ("svdvals(u)", "shape", "takes a matrix", "svdvals(u)"),
    ("linalg.qr(A.T, mode='x')", "value", "mode is", "linalg.qr(A.T, mode='x')"),
    ("linalg.svd(A) + 1", "type", "one array is needed", "linalg.svd(A) + 1"),
    ("linalg.svd(A).X", "not-allowed", "unknown attribute", "linalg.svd(A).X"),
    ("linalg.svd(A).Q", "not-allowed", "there is no .Q", "linalg.svd(A).Q"),
    ("u.logabsdet", "not-allowed", "of a decomposition", "u.logabsdet"),
    ("a, b = linalg.svd(A); a", "shape", "3 values for 2 variables", "a, b"),
    ("cdist(A, A[:, :1])", "shape", "rows of one length", "cdist(A, A[:, :1])"),
    (
        "cdist(eye(2)*u[0], 0*A, p=math.inf) + cdist(A*0 + u[0], 0*A, math.inf)",
        "value",
        "two distances are equal",
        "cdist(A*0 + u[0], 0*A, math.inf)",
    ),
]  # fmt: skip

SHAPES = [
    ("A.expand(3, 2)", "shape", "shape (2, 2) does not expand to (3, 2)", "A.expand(3, 2)"),
    ("u.repeat(-1)", "value", "cannot be negative", "u.repeat(-1)"),
    ("repeat_interleave(u, -1)", "value", "cannot be negative", "repeat_interleave(u, -1)"),
    ("diag(x)", "shape", "diag takes a vector or a matrix, not shape ()", "diag(x)"),
    ("diagonal(u)", "shape", "diagonal takes a matrix, not shape (2,)", "diagonal(u)"),
    ("tril(u)", "shape", "tril takes a matrix, not shape (2,)", "tril(u)"),
    ("triu(x)", "shape", "triu takes a matrix, not shape ()", "triu(x)"),
    ("stack([u, w])", "shape", "stack needs arrays of one shape, not (2,), (3,)", "stack([u, w])"),
    ("stack([])*x", "shape", "stack needs arrays of one shape, not none", "stack([])"),
    ("ones(-1)*x", "value", "a length cannot be negative: (-1,)", "ones(-1)"),
    ("full(2, u)", "shape", "full takes one number, not shape (2,)", "full(2, u)"),
    ("arange(0, 3, 0)*x", "value", "a step that is not 0", "arange(0, 3, 0)"),
    ("arange(0, torch.inf)*x", "value", "arange takes finite numbers", "arange(0, torch.inf)"),
    ("arange('a')*x", "value", "arange takes numbers", "arange('a')"),
    ("linspace(0, None, 3)*x", "value", "two numbers and a count", "linspace(0, None, 3)"),
]

PRODUCTS = [
    ("B @ B", "shape", "transpose the right factor: its shape becomes (3, 2)", "B @ B"),
    ("B @ ones(2, 5)", "shape", "transpose the left factor: its shape becomes (3, 2)", "B @ ones(2, 5)"),
    ("C.dot(C)", "shape", "dot takes vectors and matrices", "C.dot(C)"),
    ("torch.dot(A, u)", "shape", "two vectors, not shapes (2, 2) and (2,)", "torch.dot(A, u)"),
    ("outer(A, u)", "shape", "two vectors, not shapes (2, 2) and (2,)", "outer(A, u)"),
    ("trace(u)", "shape", "trace takes a matrix, not shape (2,)", "trace(u)"),
    ("einsum(2, u)", "value", "subscripts as text", "einsum(2, u)"),
    ("einsum('i1->i', A)", "value", "letters, commas and one ->", "einsum('i1->i', A)"),
    ("einsum('i,j->ij', u)", "value", "names 2 arrays, 1 given", "einsum('i,j->ij', u)"),
    ("einsum('ij->k', A)", "value", "the output 'k' must name letters of the inputs", "einsum('ij->k', A)"),
    ("einsum('ij->ii', A)", "value", "letters of the inputs, each once", "einsum('ij->ii', A)"),
    ("einsum('i->i', A)", "shape", "'i' names 1 axis, the array has shape (2, 2)", "einsum('i->i', A)"),
    ("einsum('ij,jk->ik', B, A)", "shape", "'j' stands for 3 and for 2", "einsum('ij,jk->ik', B, A)"),
    ("inv(x*ones(2, 2))", "value", "the matrix is singular", "inv(x*ones(2, 2))"),
    ("linalg.solve(x*ones(2, 2), u)", "value", "the matrix is singular", "linalg.solve(x*ones(2, 2), u)"),
]

LOSSES = [
    ("F.mse_loss(u, 2*u, reduction='max')", "value", "not 'max'", "F.mse_loss(u, 2*u, reduction='max')"),
    ("F.nll_loss(A, [0, 1, 0])", "shape", "(2, 2) and classes of shape (3,)", "F.nll_loss(A, [0, 1, 0])"),
    ("F.nll_loss(A, [0, 2])", "value", "integers from 0 to 1", "F.nll_loss(A, [0, 2])"),
    ("F.nll_loss(A, [-1, 0])", "value", "integers from 0 to 1", "F.nll_loss(A, [-1, 0])"),
    ("F.cross_entropy(A, [0, 0.5])", "value", "integers from 0 to 1", "F.cross_entropy(A, [0, 0.5])"),
]

REFUSED = [*LENGTHS, *INDICES, *STATEMENTS, *AXES, *SHAPES, *PRODUCTS, *LOSSES]

ACCEPTED = [
    ("cumsum(A)", [1, 3, 6, 10], {"A": [[4, 3], [2, 1]]}),
    ("A.cumprod()[2]", 6, {"A": [[6, 3], [2, 0]]}),
    ("cat([u, A], None)", [1, 2, 1, 2, 3, 4], {"u": [1, 1], "A": [[1, 1], [1, 1]]}),
    ("unsqueeze(u, (0, 2))", [[[1], [2]]], {"u": [1, 1]}),
    ("eye(2, k=1) @ u", [2, 0], {"u": [0, 1]}),
    ("C.transpose(2, 0, 1)[1, 0]", [2, 4], {"C": [[[0, 1], [0, 1]], [[0, 0], [0, 0]]]}),
    ("A.shape*u", [2, 4], {"u": [2, 2]}),
    ("A.shape[0:1]*x", [3], {"x": 2}),
    ("w[A.shape[0:1]]", 2, {"w": [0, 0, 1]}),
    ("place = (0, 1); A[place]*A[(1, 0)]", 6, {"A": [[0, 3], [2, 0]]}),
    ("places = [0, 2]; w[places]*places", [0, 4], {"w": [0, 0, 2]}),
    ("rows = [[0], [1]]; A[rows, [0, 1]]", [[1, 2], [3, 4]], {"A": [[1, 1], [1, 1]]}),
    ("places = [2, 0]; w[places[0]]*places[0]", 4, {"w": [0, 0, 2]}),
    ("i, j = [2, 0]; w[i] - w[j]", -1, {"w": [-1, 0, 1]}),
    ("y = 0\nfor i in [2, 0]: y = y + w[i]*i\ny", 4, {"w": [0, 0, 2]}),
    ("y = 0\nfor n in A.shape: y = y + x**n\ny", 4.5, {"x": 6}),
    ("y = [1, 2]; y[0] = x; y*y", [2.25, 4], {"x": 3}),
    ("np.size(u)*x", 3, {"x": 2}),
    ("np.shape(A)[1]*np.size(A, 0)*np.ndim(A)*torch.numel(A)*x", 48, {"x": 32}),
    ("A.nelement()*A.ndimension()*x", 12, {"x": 8}),
    ("A.H*A", [[1, 6], [6, 16]], {"A": [[2, 6], [4, 8]]}),
    ("u.real*u.data", [1, 4], {"u": [1, 2]}),
    ("zeros(2, dtype=u.dtype, device=u.device) + u", [1, 2], {"u": [1, 1]}),
    ("w[argmin(w):]", [1, 2], {"w": [0, 1, 1]}),
    ("w[:argmin(w)]", [3], {"w": [1, 0, 0]}),
    ("sort(w)[-1]*x", [1.5, 3, 0], {"x": 3}),
    ("max(A, dim=0)[-2]", [3, 4], {"A": [[0, 0], [1, 1]]}),
    ("max(w, [x, x, 2*x])", [3, 1.5, 3], {"w": [1, 0, 0], "x": 3}),
    ("torch.max(w, [1.5, -1, 5])", [3, 1, 5], {"w": [1, 1, 0]}),
    ("min(w, [x, x, 2*x])", [1.5, 1, 2], {"w": [0, 1, 1], "x": 1}),
    ("x.transpose(0, 0)*x", 2.25, {"x": 3}),
    ("A.transpose()*[[1, 2], [3, 4]]", [[1, 6], [6, 16]], {"A": [[1, 3], [2, 4]]}),
    ("norm(A, 'fro')", ROOT, {"A": [[1 / ROOT, 2 / ROOT], [3 / ROOT, 4 / ROOT]]}),
    ("where(x, x**2, 0)", 2.25, {"x": 3}),
    ("where(u - 1, u**2, 5*u)", [5, 4], {"u": [5, 4]}),
    ("np.roll(u, ())", [1, 2], {"u": [1, 1]}),
    ("y = torch.tensor(2.0); y[...] = x; y*x", 2.25, {"x": 3}),
]

NOT_FINITE = [
    ("(-2)**x", math.nan),
    ("det(x*diag([1, 1, 1, torch.nan]))", math.nan),
    ("det(x*diag([1, 1, 1, torch.inf]))", math.inf),
    ("det([[0, 0], [x, torch.inf]])", math.nan),
    ("det([[0*x, 0*x], [torch.nan*x, x]])", math.nan),
    ("det([[0, 0], [x/0, x]])", math.nan),
    ("sum(linalg.solve([[0, 0], [1, torch.inf]], [x, 2]))", math.nan),
]
"""Rows ``(program, value)``: in PyTorch too, the gradient of each is nan."""


def given(program: str, budget: Budget | None = None) -> dict[str, object]:
    """Return the inputs that a program names."""
    return {name: INPUTS[name] for name in gradcli.function(program, budget=budget).inputs}


def refusal(program: str, budget: Budget | None = None) -> GradcliError:
    """Return the error of a program at the point of the tables."""
    with pytest.raises(GradcliError) as caught:
        gradcli.function(program, budget=budget).value(**given(program, budget))
    return caught.value


@pytest.mark.parametrize(("program", "kind", "words", "marked"), REFUSED)
def test_an_argument_is_refused_with_its_reason_and_its_place(program: str, kind: str, words: str, marked: str) -> None:
    error = refusal(program)
    assert error.kind == kind
    assert words in f"{error.message}\n{error.hint}"
    assert error.span is not None
    assert error.place is not None
    assert error.place.text[slice(*error.span)] == marked


def test_factors_that_no_transpose_fits_get_no_hint() -> None:
    error = refusal("A @ ones(3, 3)")
    assert (error.kind, error.hint) == ("shape", None)
    assert "2 columns on the left, 3 rows on the right" in error.message


@pytest.mark.parametrize(("program", "value", "gradients"), ACCEPTED)
def test_an_argument_is_taken_with_this_value_and_gradient(
    program: str, value: object, gradients: dict[str, object]
) -> None:
    inputs = given(program)
    found = gradcli.explain(program, inputs=inputs, v=np.ones(np.shape(value)))
    assert found.agreement.agree
    assert np.shape(found.output) == np.shape(value)
    np.testing.assert_allclose(found.output, value, rtol=1e-13)
    for name, point in inputs.items():
        by_formula = found.jacobian[name].vjp(np.ones(np.shape(value)))
        for route in (found.grad[name], by_formula):
            np.testing.assert_allclose(route, gradients.get(name, np.zeros(np.shape(point))), rtol=1e-13, atol=0)


@pytest.mark.parametrize(("program", "value"), NOT_FINITE)
def test_where_numbers_end_the_gradient_is_the_one_of_pytorch(program: str, value: float) -> None:
    found = gradcli.explain(program, x=1.5)
    np.testing.assert_array_equal(found.output, value)
    assert math.isnan(found.grad["x"])
    assert not found.agreement.finite


def test_a_number_beyond_double_precision_is_refused_although_its_digits_may_be_written() -> None:
    digits = "1" * 400
    error = refusal(f"{digits}*x", Budget(digits=500))
    assert (error.kind, error.place.text[slice(*error.span)]) == ("number", digits)  # type: ignore[union-attr, misc]
    assert "too large for double precision" in error.message


def test_an_array_that_no_memory_holds_is_refused_whatever_the_budget() -> None:
    error = refusal("x*sum(ones(10**15))", Budget(elements=10**16, total=10**16))
    assert error.kind == "budget"
    assert "more memory than there is" in error.message
    assert error.hint == "make it smaller"


def test_a_value_with_too_many_characters_is_refused_by_the_budget_of_the_text() -> None:
    bounds = Budget(text=1)
    assert read_value("3" + " " * 1023, "--x", bounds) == 3
    with pytest.raises(GradcliError, match="the budget 'text' of 1,024") as caught:
        read_value("3" + " " * 1024, "--x", bounds)
    assert (caught.value.kind, caught.value.span) == ("budget", (0, 1025))


@pytest.mark.parametrize(
    ("details", "span"), [((), None), (("", None, None, ""), None), (("", 9, 1, ""), (3, 3)), (("", 1, 9, ""), (3, 3))]
)
def test_an_error_of_the_parser_with_no_place_in_the_text_says_that_the_program_ends(
    details: tuple[object, ...], span: tuple[int, int] | None
) -> None:
    """Today's parser has a place for every error, but that is no promise of Python's."""
    with (
        mock.patch("ast.parse", side_effect=SyntaxError("invalid syntax", *[details] if details else [])),
        pytest.raises(GradcliError) as caught,
    ):
        compile_program("x +")
    assert (caught.value.kind, caught.value.message) == ("syntax", "the program ends too early")
    assert caught.value.span == span
