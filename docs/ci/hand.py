import numpy as np

rng = np.random.default_rng(0)
X, t = rng.normal(size=(4, 3)), np.array([0, 1, 1, 0])
W, b = rng.normal(size=(3, 2)), np.zeros(2)

z = X @ W + b
p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
loss = -np.log(p[np.arange(4), t]).mean()

dz = p.copy()
dz[np.arange(4), t] -= 1
dz /= 4
dW = X.T @ dz
db = dz.sum(axis=0)
