"""Functions of jax.nn."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.record import record

record(
    "jax.nn.softplus",
    recipes=["{E:-3,3}"],
    programs={"jax.nn.softplus(30*x)": np.log1p(np.exp(30 * v.x))},
)

record(
    "jax.nn.gelu",
    recipes=["{E:-2,2}", "{E:-2,2}, approximate=False"],
    programs={"jax.nn.gelu(x)": v.gelu_tanh(v.x)},
)

record(
    "jax.nn.softmax",
    recipes=["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}"],
    programs={"jax.nn.softmax(A)": v.softmax(v.A)},
)

record(
    "jax.nn.log_softmax",
    recipes=["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}, -2"],
    programs={"jax.nn.log_softmax(A)": np.log(v.softmax(v.A))},
)

record(
    "jax.nn.logsumexp",
    recipes=["{M:-3,3}", "{M:-3,3}, axis=0, keepdims=True", "{T:-3,3}, (0, 1)", "{V:-3,3}, 0, {V:0.5,2}"],
    programs={
        "jax.nn.logsumexp(A)": np.log(np.sum(np.exp(v.A))),
        "scipy.special.logsumexp(A, 1)": np.log(np.sum(np.exp(v.A), 1)),
        "scipy.special.logsumexp(300*x, b=p)": np.log(v.p[2]) + 240,
        "jax.scipy.special.logsumexp(A, axis=1, b=p, keepdims=True)": np.log(
            np.sum(v.p * np.exp(v.A), 1, keepdims=True)
        ),
    },
)
