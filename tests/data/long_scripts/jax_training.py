"""A small network in JAX: parameters as a tree, Adam by hand, jit and vmap."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def init_params(sizes, seed=0):
    rng = np.random.RandomState(seed)
    return [{"W": jnp.array(rng.randn(m, n) / np.sqrt(m), dtype=jnp.float32), "b": jnp.zeros(n)}
            for m, n in zip(sizes[:-1], sizes[1:])]


def predict(params, x):
    for layer in params[:-1]:
        x = jnp.tanh(x @ layer["W"] + layer["b"])
    last = params[-1]
    return x @ last["W"] + last["b"]


def loss_fn(params, x, y, l2=1e-3):
    pred = predict(params, x)
    mse = jnp.mean((pred - y) ** 2)
    reg = sum(jnp.sum(p["W"] ** 2) for p in params)
    return mse + l2 * reg, mse


@jax.jit
def train_step(params, opt_state, x, y):
    (loss, mse), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, y)
    params, opt_state = adam_update(params, grads, opt_state)
    return params, opt_state, loss, mse


def adam_init(params):
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_update(params, grads, state, lr=0.05, b1=0.9, b2=0.999, eps=1e-8):
    t = state["t"] + 1
    m = jax.tree_util.tree_map(lambda m, g: b1 * m + (1 - b1) * g, state["m"], grads)
    v = jax.tree_util.tree_map(lambda v, g: b2 * v + (1 - b2) * g ** 2, state["v"], grads)

    def step(p, m_, v_):
        return p - lr * (m_ / (1 - b1 ** t)) / (jnp.sqrt(v_ / (1 - b2 ** t)) + eps)

    return jax.tree_util.tree_map(step, params, m, v), {"m": m, "v": v, "t": t}


xs = jnp.linspace(-1, 1, 12).reshape(-1, 1)
ys = jnp.sin(3 * xs) + 0.5 * xs
params = init_params([1, 6, 1])
print([(p["W"].shape, p["b"].shape) for p in params])
print(sum(leaf.size for leaf in jax.tree_util.tree_leaves(params)), "parameters")

(loss, mse), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, xs, ys)
print(f"loss {loss:.4f} mse {mse:.4f}")
print(grads[1]["b"], grads[0]["W"].shape)
print(grads[1]["W"].ravel())

# central differences of one entry
eps = 1e-2
bumped = [jax.tree_util.tree_map(lambda p: p, params) for _ in range(2)]
bumped[0][1]["b"] = bumped[0][1]["b"].at[0].add(eps)
bumped[1][1]["b"] = bumped[1][1]["b"].at[0].add(-eps)
numeric = (loss_fn(bumped[0], xs, ys)[0] - loss_fn(bumped[1], xs, ys)[0]) / (2 * eps)
print("numeric agrees:", bool(jnp.abs(numeric - grads[1]["b"][0]) < 1e-3))

state = adam_init(params)
for i in range(30):
    params, state, loss, mse = train_step(params, state, xs, ys)
    if i % 10 == 0:
        print(f"step {i:2d} loss {float(loss):.4f} mse {float(mse):.4f}")
print("trained:", bool(mse < 0.2), int(state["t"]))

# derivatives of the network with respect to its input
f = lambda x: predict(params, jnp.array([x]))[0]
df = jax.vmap(jax.grad(f))
slopes = df(jnp.array([-0.5, 0.0, 0.5]))
print(slopes.shape, bool(jnp.all(jnp.isfinite(slopes))))
print("jacfwd and jacrev agree:", bool(jnp.allclose(jax.jacfwd(partial(predict, params))(xs[0]), jax.jacrev(partial(predict, params))(xs[0]), atol=1e-5)))
per_example = jax.vmap(lambda x, y: jax.grad(lambda p: loss_fn(p, x[None], y[None])[1])(params)[1]["b"])(xs, ys)
print(per_example.shape)
