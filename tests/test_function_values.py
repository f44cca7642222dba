"""What each function of the language computes, beside the same written in numpy or by the definitions in mpmath."""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import math

import numpy as np
import pytest

import gradcli
from definitions import elementwise as defined
from gradcli.ops import FUNCTIONS
from oracles import assert_close
from programs import MORE, PROGRAMS, VALUES, inputs_of

TOLERANCE = 1e-13
x, p, t, A, B, S, T, b, s = (VALUES[name] for name in "xptABSTbs")


def softmax(z, axis=-1):
    return np.exp(z) / np.sum(np.exp(z), axis=axis, keepdims=True)


def normal(z, axes, weight=1.0, bias=0.0):
    centred = z - np.mean(z, axis=axes, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + 1e-5) * weight + bias


def huber(d, delta=1.0):
    return np.mean(np.where(np.abs(d) < delta, d**2 / 2, delta * np.abs(d) - delta**2 / 2))


def cross(probabilities, z):
    return -np.sum(probabilities * np.log(softmax(z)))


def clone_and_put():
    return np.array([s * x[1], x[1], x[2]])


# fmt: off
EXPECTED = {
    "where(x > 0, x**2, 3*x)": [x[0]**2, 3*x[1], x[2]**2], "np.where(A > x, A, x)": np.maximum(A, x),
    "leaky_relu(x)": defined("leaky_relu", x, negative_slope=0.01), "F.leaky_relu(A, 0.2)": defined("leaky_relu", A, negative_slope=0.2),
    "elu(x)": defined("elu", x, alpha=1.0), "F.elu(A, alpha=0.5)": defined("elu", A, alpha=0.5),
    "softplus(x)": np.log(1 + np.exp(x)), "softplus(A, 2, 1.2)": np.where(2*A > 1.2, A, np.log(1 + np.exp(2*A)) / 2),
    "gelu(x)": defined("gelu", x, approximate="none"), 'gelu(A, approximate="tanh")': defined("gelu", A, approximate="tanh"),
    "clip(x, -1, 0.5)": [0.3, -1, 0.5], "x.clamp(min=0)": [0.3, 0, 0.8], "clamp(A, max=x)": np.minimum(A, x),
    "A.reshape(3, -1)": [[0.5, -1.0], [2.0, 1.5], [0.7, -0.4]], "reshape(x, (3, 1))": x[:, None],
    "A.view(6)": [0.5, -1.0, 2.0, 1.5, 0.7, -0.4], "ravel(A)": [*A[0], *A[1]], "flatten(A)": [*A[0], *A[1]],
    "T.flatten(1)": [[1.0, 2.0, 3.0, 4.5], [0.5, -1.0, 1.5, 0.2]], "squeeze(x[None])": x, "x[:, None].squeeze(1)": x,
    "unsqueeze(x, 0)": [x], "x.unsqueeze(-1)": x[:, None],
    "T.permute(2, 0, 1)": [[[1.0, 3.0], [0.5, 1.5]], [[2.0, 4.5], [-1.0, 0.2]]], "A.transpose(0, 1)": A.T,
    "torch.transpose(T, 0, 2)": [[[1.0, 0.5], [3.0, 1.5]], [[2.0, -1.0], [4.5, 0.2]]], "A.T": A.T, "A.t()": A.T, "t(x)": x,
    "np.transpose(A)": A.T, "np.transpose(T, (1, 0, 2))": [[T[0, 0], T[1, 0]], [T[0, 1], T[1, 1]]],
    "expand(x, 2, 3)": [x, x], "x[:, None].expand(-1, 2)": np.array([x, x]).T, "np.broadcast_to(s, (2, 2))": [[s, s], [s, s]],
    "flip(x)": [0.8, -1.2, 0.3], "torch.flip(A, (0,))": [A[1], A[0]], "roll(x, 1)": [0.8, 0.3, -1.2],
    "roll(A, (1, -1), (0, 1))": [[0.7, -0.4, 1.5], [-1.0, 2.0, 0.5]], "x.repeat(2)": [*x, *x],
    "np.tile(A, (2, 1))": [A[0], A[1], A[0], A[1]], "repeat_interleave(x, 2)": [0.3, 0.3, -1.2, -1.2, 0.8, 0.8],
    "np.repeat(A, 2, axis=0)": [A[0], A[0], A[1], A[1]], "diag(x)": [[0.3, 0, 0], [0, -1.2, 0], [0, 0, 0.8]],
    "diag(S)": [2.0, 1.5, 1.8], "diag(x, 1)": [[0, 0.3, 0, 0], [0, 0, -1.2, 0], [0, 0, 0, 0.8], [0, 0, 0, 0]],
    "diagonal(S)": [2.0, 1.5, 1.8], "S.diagonal(-1)": [0.1, 0.2],
    "tril(S)": [[2.0, 0, 0], [0.1, 1.5, 0], [-0.7, 0.2, 1.8]], "A.tril(1)": [[0.5, -1.0, 0], [1.5, 0.7, -0.4]],
    "triu(S)": [[2.0, 0.3, -0.5], [0, 1.5, 0.4], [0, 0, 1.8]], "triu(S, -1)": [[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [0, 0.2, 1.8]],
    "stack([x, p])": [x, p], "torch.stack([x, p, x], dim=1)": np.array([x, p, x]).T, "cat([x, p])": [*x, *p],
    "np.concatenate([A, S], axis=0)": [*A, *S], "clone(x)": x, "y = x.clone(); y[0] = s*y[1]; y": clone_and_put(),
    "sum(x)": x[0] + x[1] + x[2], "A.sum(dim=0)": A[0] + A[1], "np.sum(A, axis=1, keepdims=True)": [[sum(A[0])], [sum(A[1])]],
    "mean(x)": sum(x) / 3, "A.mean(1)": [sum(A[0]) / 3, sum(A[1]) / 3], "prod(x)": x[0] * x[1] * x[2],
    "A.prod(dim=1)": [math.prod(A[0]), math.prod(A[1])], "logsumexp(x)": np.log(np.sum(np.exp(x))),
    "torch.logsumexp(A, dim=0)": np.log(np.exp(A[0]) + np.exp(A[1])), "cumsum(x)": [x[0], x[0] + x[1], sum(x)],
    "A.cumsum(dim=1)": [[0.5, -0.5, 1.5], [1.5, 2.2, 1.8]], "cumprod(x)": [x[0], x[0] * x[1], math.prod(x)],
    "A.cumprod(0)": [A[0], A[0] * A[1]], "np.cumsum(A)": [0.5, -0.5, 1.5, 3.0, 3.7, 3.3],
    "var(x)": np.sum((x - sum(x) / 3)**2) / 2, "A.var(dim=0, correction=0)": (A[0] - A[1])**2 / 4,
    "var(A, unbiased=False)": np.sum((A - np.sum(A) / 6)**2) / 6, "std(x)": np.sqrt(np.sum((x - sum(x) / 3)**2) / 2),
    "A.std(dim=1)": [np.sqrt(np.sum((r - sum(r) / 3)**2) / 2) for r in A], "np.var(A)": np.sum((A - np.sum(A) / 6)**2) / 6,
    "np.var(x, ddof=1)": np.sum((x - sum(x) / 3)**2) / 2, "np.std(x)": np.sqrt(np.sum((x - sum(x) / 3)**2) / 3),
    "np.std(A, axis=0)": np.abs(A[0] - A[1]) / 2, "norm(x)": np.sqrt(np.sum(x**2)),
    "norm(A, p=3, dim=1)": [np.cbrt(np.sum(np.abs(r)**3)) for r in A], 'norm(A, "fro")': np.sqrt(np.sum(A**2)),
    "x.norm(p=1)": 2.3, "x.norm(math.inf)": 1.2, "linalg.norm(A)": np.sqrt(np.sum(A**2)),
    "np.linalg.norm(x, ord=3)": np.cbrt(np.sum(np.abs(x)**3)),
    "A @ x": [np.sum(A[0] * x), np.sum(A[1] * x)], "matmul(A, B)": [[np.sum(r * c) for c in B.T] for r in A],
    "x.dot(p)": np.sum(x * p), "T @ T": [[[np.sum(r * c) for c in M.T] for r in M] for M in T],
    "mm(A, B)": [[np.sum(r * c) for c in B.T] for r in A], "mv(A, x)": [np.sum(A[0] * x), np.sum(A[1] * x)],
    "bmm(T, T)": [[[np.sum(r * c) for c in M.T] for r in M] for M in T], "inner(x, p)": np.sum(x * p),
    "outer(x, b)": [[0.03, -0.06], [-0.12, 0.24], [0.08, -0.16]], "trace(S)": 5.3,
    'einsum("ij,j->i", A, x)': [np.sum(A[0] * x), np.sum(A[1] * x)], 'einsum(",i->i", s, x)': s * x,
    'einsum("ij,jk,k->", A, B, b)': np.sum(A[:, :, None] * B * b), 'torch.einsum("ij", A)': A,
    'einsum("ii->i", [[s, 1], [2, s]])': [s, s], "np.dot(A, B)": [[np.sum(r * c) for c in B.T] for r in A],
    "torch.dot(x, p)": np.sum(x * p), "dot(s, A)": s * A,
    "det(S)": np.dot(S[0], np.cross(S[1], S[2])), "torch.linalg.det(T)": [4.5 - 6.0, 0.1 + 1.5],
    "inv(S)": np.array([np.cross(S[1], S[2]), np.cross(S[2], S[0]), np.cross(S[0], S[1])]).T / np.dot(S[0], np.cross(S[1], S[2])),
    "linalg.solve(S, x)": np.linalg.solve(S, x), "np.linalg.solve(S, B)": np.linalg.solve(S, B),
    "y = zeros(2, 3); y[0] = x; y": [x, 0*x], "ones(2, 3)*x": [x, x], "full((2, 2), s)": [[s, s], [s, s]],
    "S - s*eye(3)": [[1.3, 0.3, -0.5], [0.1, 0.8, 0.4], [-0.7, 0.2, 1.1]], "x**arange(1, 4)": [x[0], x[1]**2, x[2]**3],
    "x*linspace(0, 1, 3)": [0, x[1] / 2, x[2]], "zeros_like(x) + p*x": p*x, "ones_like(x)*s": [s, s, s],
    "full_like(x, s)": [s, s, s], "x.float()": x, "x.double()*p": x*p, "torch.as_tensor([1.0, 2.0, 3.0])*x": [x[0], 2*x[1], 3*x[2]], "x.detach()*0 + p": p, "torch.tensor([1.0, 2.0, 3.0])*x": [x[0], 2*x[1], 3*x[2]],
    "softmax(x)": softmax(x), "F.softmax(A, dim=1)": softmax(A), "softmax(s)": 1.0, "log_softmax(x)": np.log(softmax(x)),
    "A.log_softmax(dim=0)": np.log(softmax(A, 0)), "F.mse_loss(x, p)": np.sum((x - p)**2) / 3,
    'mse_loss(A, A**2, reduction="none")': (A - A**2)**2, 'l1_loss(x, p, reduction="sum")': np.sum(np.abs(x - p)),
    "huber_loss(x, p)": huber(x - p), "F.huber_loss(x, p, delta=0.3)": huber(x - p, 0.3),
    "binary_cross_entropy(p, t)": -np.mean(t*np.log(p) + (1 - t)*np.log(1 - p)),
    "F.binary_cross_entropy_with_logits(x, t)": np.mean(np.log(1 + np.exp(x)) - t*x),
    "nll_loss(log_softmax(A, dim=1), [2, 0])": -(np.log(softmax(A)[0, 2]) + np.log(softmax(A)[1, 0])) / 2,
    "cross_entropy(x, 1)": -np.log(softmax(x)[1]),
    "F.cross_entropy(A, [0, 2])": -(np.log(softmax(A)[0, 0]) + np.log(softmax(A)[1, 2])) / 2,
    "F.cross_entropy(x, softmax(p))": cross(softmax(p), x), "F.linear(x, A, b)": [np.sum(A[0]*x) + 0.1, np.sum(A[1]*x) - 0.2],
    "linear(x, A)": [np.sum(A[0]*x), np.sum(A[1]*x)], "layer_norm(x, 3)": normal(x, (0,)),
    "F.layer_norm(A, (3,), x, p)": normal(A, (1,), x, p), "max(x)": 0.8, "A.max(dim=1).values": [2.0, 1.5],
    "max(x, p)": [0.3, 0.5, 0.8], "min(x)": -1.2, "torch.min(A, dim=0)[0]": [0.5, -1.0, -0.4], "min(x, p)": [0.2, -1.2, 0.7],
    "amax(x)": 0.8, "A.amax(dim=(0, 1))": 2.0, "np.max(A, axis=0)": [1.5, 0.7, 2.0], "amin(x)": -1.2, "np.min(A)": -1.0,
    "median(x)": 0.3, "A.median(dim=1).values": [0.5, 0.7], "median(b)": -0.2, "np.median(x)": 0.3,
    "np.median(B, axis=1)": [0.65, 0.15, 0.05], "np.median(b)": -0.05, "sort(x).values": [-1.2, 0.3, 0.8],
    "A.sort(dim=0, descending=True)[0]": [[1.5, 0.7, 2.0], [0.5, -1.0, -0.4]],
    "np.sort(A)": [[-1.0, 0.5, 2.0], [-0.4, 0.7, 1.5]], "x[argmax(x)]*s": 0.8*s, "x[x.argmin()]**2": 1.2**2,
    "x*2 if any(x > 0) else x": 2*x, "x if all(x > 0) else x*3": 3*x, "where(isnan(x), 0, x**2)": x**2,
    "heaviside(x, 0.5)*p": [0.2, 0.0, 0.7],
}
# fmt: on
FURTHER = {
    "x.detach() + p": x + p,
    "argmax(x)*s": 2 * s,
    "A.argmin(dim=1)*s": [s, 2 * s],
    "clip(x, [0.9, -0.5, 0.1], [0.9, 0.5, 0.4])": [0.9, -0.5, 0.4],
}  # fmt: skip
"""Where the programs of the other tests do not show the value."""
ELEMENTWISE = [(name, program) for name in set(PROGRAMS) - set(MORE) for program in PROGRAMS[name]]


def test_no_program_is_left_out():
    assert {program for name in MORE if name in FUNCTIONS for program in MORE[name]} == set(EXPECTED)


@pytest.mark.parametrize("program", [*EXPECTED, *FURTHER])
def test_a_function_has_the_value_that_numpy_gives(program):
    f = gradcli.function(program)
    assert_close(f.value(**inputs_of(program, f.inputs)), (EXPECTED | FURTHER)[program], TOLERANCE, program)


@pytest.mark.parametrize(("name", "program"), sorted(ELEMENTWISE))
def test_an_elementwise_function_has_the_value_of_its_definition(name, program):
    f = gradcli.function(program)
    inputs = inputs_of(program, f.inputs)
    u, w = inputs["u"], inputs.get("w")
    if len(FUNCTIONS[name].op.vjps) == 2:
        want = defined(FUNCTIONS[name].op.name, u, w[0] if program.endswith("w[0])") else w)
    else:
        want = defined(FUNCTIONS[name].op.name, u) + (u if program.endswith("+ u") else 0)
    assert_close(f.value(**inputs), want, TOLERANCE, program)
