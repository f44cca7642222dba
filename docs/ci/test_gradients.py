"""Gradients that were written by hand, held against the true ones."""

import gradcli
import numpy as np
import pytest


def loss(W, x, t):
    return np.sum((np.tanh(W @ x) - t) ** 2)


def backward(W, x, t):
    h = np.tanh(W @ x)
    dh = 2 * (h - t)
    return np.outer(dh * (1 - h**2), x)


def test_the_backward_pass_of_a_layer():
    rng = np.random.default_rng(0)
    W, x, t = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=3)
    gradcli.assert_gradient(loss, W=W, x=x, t=t, wrt=["W"], expect={"W": backward(W, x, t)})


FORMULAS = [
    ("x * sigmoid(x)", "sigmoid(x) * (1 + x * (1 - sigmoid(x)))"),
    ("log(1 + exp(x))", "sigmoid(x)"),
    ("0.5 * x * (1 + tanh(x))", "0.5 * (1 + tanh(x) + x * (1 - tanh(x)**2))"),
]


@pytest.mark.parametrize(("activation", "derivative"), FORMULAS)
def test_the_derivative_of_an_activation(activation, derivative):
    gradcli.assert_gradient(activation, x=[-2.0, 0.5, 3.0], expect=derivative, samples=5)
