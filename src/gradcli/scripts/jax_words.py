"""The functions of the language in jax: those of numpy, under its name, and what jax.nn and jax.scipy have besides."""

from __future__ import annotations

import re

from gradcli.ops import Function
from gradcli.scripts import numpy_words
from gradcli.scripts.dialect import Dialect

OWN = {
    "relu": "jax.nn.relu(x)", "sigmoid": "jax.nn.sigmoid(x)", "softplus": "softplus(x, beta, threshold)",
    "erf": "jax.scipy.special.erf(x)", "erfc": "jax.scipy.special.erfc(x)", "silu": "jax.nn.silu(x)",
    "lgamma": "jax.scipy.special.gammaln(x)", "digamma": "jax.scipy.special.digamma(x)",
    "xlogy": "jax.scipy.special.xlogy(x, other)", "logit": "jax.scipy.special.logit(x)",
    "detach": "jax.lax.stop_gradient(x)", "gelu": "jax.nn.gelu(x, approximate=approximate == 'tanh')",
    "rsqrt": "jax.lax.rsqrt(x)", "elu": "jax.nn.elu(x, alpha)", "celu": "jax.nn.celu(x, alpha)",
    "bce": "reduced(-(jax.scipy.special.xlogy(target, x) + jax.scipy.special.xlogy(1 - target, 1 - x)), reduction)",
    "where": "jnp.where(condition, x, other)",
}  # fmt: skip


def in_jax(text: str) -> str:
    """Return a text of numpy's with the name that jax has for it."""
    return re.sub(r"\bnp\.", "jnp.", text)


def spelled(function: Function) -> str | None:
    """Return the name that jax.numpy has for a function."""
    own = numpy_words.spelled(function)
    return None if own is None else in_jax(own)


TEMPLATES = {name: in_jax(text) for name, text in numpy_words.TEMPLATES.items()} | OWN
JAX = Dialect(
    "jax",
    "jnp",
    ("import jax", "import jax.numpy as jnp"),
    TEMPLATES,
    spelled,
    numpy_words.KEYWORDS,
    numpy_words.ATTRIBUTES,
    array="jnp.array(x)",
    stacked="jnp.array(x)",
    listed=False,
    options=numpy_words.OPTIONS,
    lacks=numpy_words.LACKS | {"linalg.svd", "svd"},
)
