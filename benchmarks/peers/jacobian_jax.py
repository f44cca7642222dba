"""The Jacobian of a case as numbers, with JAX: ``jacobian_jax.py CASE N [--check]``."""

import jax
import jax.numpy as jnp
from arrays import functions
from inputs import arguments, differentiated, seed, wanted

jax.config.update("jax_enable_x64", True)
case, n, check = wanted()
given = [jnp.asarray(array) for array in arguments(case, n)]
f = functions(jnp, jnp.sum, n)[case]
if case in ("loop", "euler"):  # unrolled, the loop would take minutes to compile
    once = functions(jnp, jnp.sum, 1)[case]
    f = lambda x: jax.lax.fori_loop(0, n, lambda _, y: once(y), x)  # noqa: E731
found = jax.block_until_ready(jax.jacrev(f, argnums=tuple(range(len(differentiated(case, given)))))(*given))
if check:
    rows = max(f(*given).size, 1)
    print(jnp.concatenate([seed(rows) @ J.reshape(rows, -1) for J in found]).tolist())
