"""Functions of jax.nn."""

from __future__ import annotations

from generator import functions as f
from generator.arrays import array
from records.record import record

record(
    "jax.nn.softplus",
    oracle=lambda x: f.log(1 + f.exp(array(x))),
    recipes=["{E:-3,3}"],
)

record(
    "jax.nn.gelu",
    oracle=lambda x, approximate=True: f.gelu(x, "tanh" if approximate else "none"),
    recipes=["{E:-2,2}", "{E:-2,2}, approximate=False"],
)

record(
    "jax.nn.softmax",
    oracle=f.softmax,
    recipes=["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}"],
)

record(
    "jax.nn.log_softmax",
    oracle=f.log_softmax,
    recipes=["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}, -2"],
)

record(
    "jax.nn.logsumexp",
    oracle=lambda x, dim=None, b=1.0, keepdim=False: f.log(f.sum_(f.exp(array(x)) * b, dim, keepdim)),
    recipes=["{M:-3,3}", "{M:-3,3}, axis=0, keepdims=True", "{T:-3,3}, (0, 1)", "{V:-3,3}, 0, {V:0.5,2}"],
)
