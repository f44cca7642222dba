"""The cases of ``symbolic.py``, written once for every library of arrays."""


def functions(lib, total, steps):
    """Return each case as a function of its arguments, by a library's ``sin`` and ``exp`` and its sum of a vector."""

    def sigmoid(z):
        return 1 / (1 + lib.exp(-z))

    def softmax(z):
        powers = lib.exp(z)
        return powers / total(powers)

    def repeated(step):
        def run(x):
            for _ in range(steps):
                x = step(x)
            return x

        return run

    return {
        "elementwise": lambda x: lib.sin(x) * x**2 + lib.exp(-x),
        "softmax": lambda x, W: softmax(W @ x),
        "both": lambda W, x: softmax(W @ x),
        "network": lambda x, W, V, b, c: sigmoid(V @ sigmoid(W @ x + b) + c),
        "loop": repeated(lambda y: y * 0.9999 + 0.001),
        "euler": repeated(lambda y: y + lib.sin(y) * 0.001),
        "matmul": lambda W, V: total(W @ V),
        "step": lambda W, b, V, c, x, t: total((lib.tanh(x @ W + b) @ V + c - t) ** 2),
    }
