"""Functions of jax.nn."""

from records.record import calls

calls(
    {
        "jax.nn.softplus": ["{E:-3,3}"],
        "jax.nn.gelu": ["{E:-2,2}", "{E:-2,2}, approximate=False"],
        "jax.nn.softmax": ["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}"],
        "jax.nn.log_softmax": ["{V:-3,3}", "{M:-3,3}, axis=0", "{T:-3,3}, -2"],
        "jax.nn.logsumexp": [
            "{M:-3,3}",
            "{M:-3,3}, axis=0, keepdims=True",
            "{T:-3,3}, (0, 1)",
            "{V:-3,3}, 0, {V:0.5,2}",
        ],
    }
)
