import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


x = np.array([0.5, -1.0])
W = np.array([0.1, 0.2])
z = W @ x
y = sigmoid(z)
loss = (y - 1) ** 2
dz = 2 * (y - 1) * y * (1 - y)
dW = dz * x
print(dW)
