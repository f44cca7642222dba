import numpy as np

X = np.array([[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]])
t = np.array([[1.0], [0.0], [1.0]])
W1, b1 = np.array([[0.4, -0.2, 0.7], [0.3, 0.8, -0.5]]), np.zeros(3)
W2, b2 = np.array([[0.6], [-0.9], [0.2]]), np.zeros(1)

z = X @ W1 + b1
h = np.tanh(z)
y = h @ W2 + b2
loss = np.mean((y - t) ** 2)

dy = 2 * (y - t) / len(X)
dW2 = h.T @ dy
db2 = dy.sum(axis=0)
dh = dy @ W2.T
dz = dh * (1 - h)  # tanh' is 1 - h**2
dW1 = X.T @ dz
db1 = dz.sum(axis=0)
