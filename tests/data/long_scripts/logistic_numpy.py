"""Logistic regression in NumPy, with gradients by hand, as in the first week of a course."""
import numpy as np
import matplotlib.pyplot as plt

np.random.seed(7)


def load_dataset(m):
    """Two clouds of points, one example a column."""
    X0 = np.random.randn(2, m // 2) + np.array([[-1.0], [0.5]])
    X1 = np.random.randn(2, m // 2) + np.array([[1.5], [-0.5]])
    X = np.concatenate([X0, X1], axis=1)
    Y = np.hstack([np.zeros((1, m // 2)), np.ones((1, m // 2))])
    order = np.random.permutation(m)
    return X[:, order], Y[:, order]


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def initialize_with_zeros(dim):
    w = np.zeros((dim, 1))
    b = 0.0
    return w, b


def propagate(w, b, X, Y):
    m = X.shape[1]
    A = sigmoid(np.dot(w.T, X) + b)
    cost = -1 / m * np.sum(Y * np.log(A) + (1 - Y) * np.log(1 - A))
    dw = 1 / m * np.dot(X, (A - Y).T)
    db = 1 / m * np.sum(A - Y)
    assert dw.shape == w.shape
    cost = np.squeeze(cost)
    return {"dw": dw, "db": db}, cost


def optimize(w, b, X, Y, num_iterations, learning_rate, print_cost=False):
    costs = []
    for i in range(num_iterations):
        grads, cost = propagate(w, b, X, Y)
        dw, db = grads["dw"], grads["db"]
        w = w - learning_rate * dw
        b = b - learning_rate * db
        if i % 50 == 0:
            costs.append(cost)
            if print_cost:
                print("Cost after iteration %i: %f" % (i, cost))
    return {"w": w, "b": b}, {"dw": dw, "db": db}, costs


def predict(w, b, X):
    m = X.shape[1]
    Y_prediction = np.zeros((1, m))
    A = sigmoid(w.T @ X + b)
    for i in range(A.shape[1]):
        Y_prediction[0, i] = 1 if A[0, i] > 0.5 else 0
    return Y_prediction


print("sigmoid([0, 2]) = " + str(sigmoid(np.array([0, 2]))))
w, b = np.array([[1.0], [2.0]]), 2.0
X, Y = np.array([[1.0, 2.0, -1.0], [3.0, 4.0, -3.2]]), np.array([[1, 0, 1]])
grads, cost = propagate(w, b, X, Y)
print("dw = " + str(grads["dw"]))
print("db = " + str(grads["db"]))
print("cost = " + str(cost))

# numeric check of dw
eps = 1e-6
for j in range(2):
    e = np.zeros_like(w)
    e[j, 0] = eps
    numeric = (propagate(w + e, b, X, Y)[1] - propagate(w - e, b, X, Y)[1]) / (2 * eps)
    print(f"dw[{j}] {grads['dw'][j, 0]:.6f} agrees: {np.isclose(numeric, grads['dw'][j, 0])}")

train_X, train_Y = load_dataset(40)
test_X, test_Y = load_dataset(20)
print(train_X.shape, train_Y.shape, train_X[:, :2].round(3).tolist())
w, b = initialize_with_zeros(train_X.shape[0])
params, grads, costs = optimize(w, b, train_X, train_Y, num_iterations=200, learning_rate=0.5, print_cost=True)
print("w =", params["w"].ravel())
print("b = {:.6f}".format(params["b"]))
print("dw", grads["dw"].T)

for name, X_, Y_ in (("train", train_X, train_Y), ("test", test_X, test_Y)):
    Yp = predict(params["w"], params["b"], X_)
    print("{} accuracy: {} %".format(name, 100 - np.mean(np.abs(Yp - Y_)) * 100))

plt.plot(np.squeeze(costs))
plt.ylabel("cost")
plt.xlabel("iterations (per fifties)")
plt.title("Learning rate = " + str(0.5))
plt.show()

models = {}
for lr in [0.01, 0.1, 1.0]:
    models[str(lr)] = optimize(*initialize_with_zeros(2), train_X, train_Y, 60, lr)
for key in models:
    p = models[key][0]
    print(f"lr {key:>5}: |w| = {np.linalg.norm(p['w']):.4f}, cost {float(models[key][2][-1]):.4f}")
