"""Functions of jax.nn."""

from __future__ import annotations

from records.record import record

record(
    "jax.nn.softplus",
    recipes=["{E:-3,3}"],
)

record(
    "jax.nn.gelu",
    recipes=["{E:-2,2}", "{E:-2,2}, approximate=False"],
)

record(
    "jax.nn.softmax",
    recipes=["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}"],
)

record(
    "jax.nn.log_softmax",
    recipes=["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}, -2"],
)

record(
    "jax.nn.logsumexp",
    recipes=["{M:-3,3}", "{M:-3,3}, axis=0, keepdims=True", "{T:-3,3}, (0, 1)", "{V:-3,3}, 0, {V:0.5,2}"],
)
