"""J, vᵀJ and the gradient of the 2→3 example, as one would print them with JAX."""

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def f(x):
    """Return the three outputs."""
    return jnp.stack([3 * x[0] ** 2, x[0] ** 2 + 2 * x[1] ** 3, 10 * x[1]])


x = jnp.array([1.0, 2.0])
v = jnp.array([1.0, 10.0, 100.0])
J = jax.jacrev(f)(x)
_, pullback = jax.vjp(f, x)
print(J.tolist())
print((v @ J).tolist())
print(pullback(v)[0].tolist())
