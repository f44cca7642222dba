"""The facts of functions whose entries come from several of their arguments, and of those that make arrays."""

from __future__ import annotations

from gradcli.ops.facts import Facts

ROW, SQUARE = "1.5,2.5,4.0", "2.5,1;3,4"
NO_PLACES = "none: it gives positions, which do not move with x"


def moved(program: str, formula: str, derivative: str, x: str = ROW, v: str = "1,10,100") -> Facts:
    """Return the facts of a function that puts entries of x in other places: 1 where one comes from, else 0."""
    return Facts(formula, (derivative,), program, {"x": x}, v)


def reduced(program: str, formula: str, derivative: str, x: str = ROW) -> Facts:
    """Return the facts of a function that makes one number of all entries of x."""
    return Facts(formula, (derivative,), program, {"x": x})


def made(program: str, formula: str) -> Facts:
    """Return the facts of a function that makes an array of no input."""
    return Facts(formula, ("none: it does not depend on an input",), program, {"x": "1.5"}, "1,10")


def product(program: str) -> Facts:
    """Return the facts of a product of two matrices."""
    said = "dy[i,k]/dA[i,j] = B[j,k]", "dy[i,k]/dB[j,k] = A[i,j]"
    return Facts("y[i,k] = sum(A[i,:]*B[:,k])", said, program, {"A": SQUARE, "B": "1,0;2,1"}, "1,2;3,4")


def loss(name: str, formula: str, by_x: str, by_t: str, at: tuple[str, str] = ("1.5,2.5", "1,4")) -> Facts:
    """Return the facts of a loss of x and a target t, of n entries."""
    said = (f"dy/dx[i] = {by_x}", f"dy/dt[i] = {by_t}")
    return Facts(f"y = {formula}", said, f"{name}(x, t)", {"x": at[0], "t": at[1]})


SAME, TO_ROW = "dy[i]/dx[i] = 1", "dy[k]/dx[i,j] = where(k == 2*i + j, 1, 0)"
SWAPPED = "dy[i,j]/dx[j,i] = 1"
ARRAYS = {
    "reshape": moved("reshape(x, 4)", "y[k] = x[k//2,k % 2], here", TO_ROW, SQUARE, "1,2,3,4"),
    "ravel": moved("ravel(x)", "y[k] = x[k//2,k % 2], here", TO_ROW, SQUARE, "1,2,3,4"),
    "flatten": moved("flatten(x)", "y[k] = x[k//2,k % 2], here", TO_ROW, SQUARE, "1,2,3,4"),
    "squeeze": moved("squeeze(x[None])", "y[i] = x[i]", SAME),
    "unsqueeze": moved("unsqueeze(x, 0)", "y[k,i] = x[i]", "dy[k,i]/dx[i] = 1", ROW, "[[1,10,100]]"),
    "permute": moved("permute(x, 1, 0)", "y[i,j] = x[j,i]", SWAPPED, SQUARE, "1,2;3,4"),
    "transpose": moved("transpose(x, 0, 1)", "y[i,j] = x[j,i]", SWAPPED, SQUARE, "1,2;3,4"),
    "t": moved("t(x)", "y[i,j] = x[j,i]", SWAPPED, SQUARE, "1,2;3,4"),
    "np.transpose": moved("np.transpose(x)", "y[i,j] = x[j,i]", SWAPPED, SQUARE, "1,2;3,4"),
    "expand": moved("expand(x, 2, 3)", "y[k,i] = x[i]", "dy[k,i]/dx[i] = 1", ROW, "1,2,3;4,5,6"),
    "flip": moved("flip(x, 0)", "y[i] = x[n - 1 - i]", "dy[i]/dx[j] = where(i + j == n - 1, 1, 0)"),
    "roll": moved("roll(x, 1)", "y[i] = x[(i - 1) % n]", "dy[i]/dx[j] = where(j == (i - 1) % n, 1, 0)"),
    "repeat": moved("x.repeat(2)", "y[i] = x[i % n]", "dy[i]/dx[j] = where(j == i % n, 1, 0)", "1.5,2.5", "1,2,3,4"),
    "repeat_interleave": moved(
        "repeat_interleave(x, 2)", "y[i] = x[i//2]", "dy[i]/dx[j] = where(j == i//2, 1, 0)", "1.5,2.5", "1,2,3,4"
    ),
    "diag": moved("diag(x)", "y[i,j] = where(i == j, x[i], 0)", "dy[i,i]/dx[i] = 1", "1.5,2.5", "1,2;3,4"),
    "diagonal": moved("diagonal(x)", "y[i] = x[i,i]", "dy[i]/dx[i,i] = 1", SQUARE, "1,10"),
    "tril": moved(
        "tril(x)", "y[i,j] = where(j <= i, x[i,j], 0)", "dy[i,j]/dx[i,j] = where(j <= i, 1, 0)", SQUARE, "1,2;3,4"
    ),
    "triu": moved(
        "triu(x)", "y[i,j] = where(j >= i, x[i,j], 0)", "dy[i,j]/dx[i,j] = where(j >= i, 1, 0)", SQUARE, "1,2;3,4"
    ),
    "clone": moved("clone(x)", "y[i] = x[i]", SAME),
    "float": moved("x.float()", "y[i] = x[i]", SAME),
    "double": moved("x.double()", "y[i] = x[i]", SAME),
    "tensor": made("tensor([1.5, 2])*x", "entry i is the i-th item of the list"),
    "as_tensor": made("as_tensor([1.5, 2])*x", "entry i is the i-th item of the list"),
    "stack": Facts(
        "y[k,i] is entry i of the k-th array", ("dy[0,i]/da[i] = 1, here", "dy[1,i]/db[i] = 1, here"),
        "stack([a, b])", {"a": "1.5,2", "b": "3,4.5"}, "1,2;3,4",
    ),
    "cat": Facts(
        "y has the entries of a, and then those of b",
        ("dy[i]/da[i] = 1", "dy[i]/db[j] = where(i == 2 + j, 1, 0), here"),
        "cat([a, b])", {"a": "1.5,2", "b": "3,4.5"}, "1,2,3,4",
    ),
    "sum": reduced("sum(x)", "y = x[0] + … + x[n-1]", "dy/dx[i] = 1"),
    "mean": reduced("mean(x)", "y = sum(x)/n", "dy/dx[i] = 1/n"),
    "prod": reduced("prod(x)", "y = x[0]*…*x[n-1]", "dy/dx[i] = y/x[i]"),
    "logsumexp": reduced("logsumexp(x, dim=0)", "y = log(sum(exp(x)))", "dy/dx[i] = exp(x[i] - y)"),
    "cumsum": moved("cumsum(x, dim=0)", "y[i] = sum(x[:i + 1])", "dy[i]/dx[j] = where(j <= i, 1, 0)"),
    "cumprod": moved("cumprod(x, dim=0)", "y[i] = prod(x[:i + 1])", "dy[i]/dx[j] = where(j <= i, y[i]/x[j], 0)"),
    "np.cumsum": moved("np.cumsum(x)", "y[i] = sum(x[:i + 1])", "dy[i]/dx[j] = where(j <= i, 1, 0)"),
    "matmul": product("matmul(A, B)"), "mm": product("mm(A, B)"), "dot": product("dot(A, B)"),
    "einsum": product("einsum('ij,jk->ik', A, B)"),
    "torch.dot": Facts(
        "y = sum(a*b)", ("dy/da[i] = b[i]", "dy/db[i] = a[i]"), "torch.dot(a, b)", {"a": "1.5,2", "b": "3,4.5"}
    ),
    "inner": Facts("y = sum(a*b)", ("dy/da[i] = b[i]", "dy/db[i] = a[i]"), "inner(a, b)", {"a": "1.5,2", "b": "3,4.5"}),
    "vdot": Facts("y = sum(a*b)", ("dy/da[i] = b[i]", "dy/db[i] = a[i]"), "vdot(a, b)", {"a": "1.5,2", "b": "3,4.5"}),
    "outer": Facts(
        "y[i,j] = a[i]*b[j]", ("dy[i,j]/da[i] = b[j]", "dy[i,j]/db[j] = a[i]"),
        "outer(a, b)", {"a": "1.5,2", "b": "3,4.5"}, "1,2;3,4",
    ),
    "mv": Facts(
        "y[i] = sum(A[i,:]*b)", ("dy[i]/dA[i,j] = b[j]", "dy[i]/db[j] = A[i,j]"),
        "mv(A, b)", {"A": SQUARE, "b": "3,4.5"}, "1,10",
    ),
    "bmm": Facts(
        "y[n,i,k] = sum(A[n,i,:]*B[n,:,k])", ("dy[n,i,k]/dA[n,i,j] = B[n,j,k]", "dy[n,i,k]/dB[n,j,k] = A[n,i,j]"),
        "bmm(A, B)", {"A": "[[[1.5,2],[3,4]]]", "B": "[[[1,0],[2,1]]]"}, "[[[1,2],[3,4]]]",
    ),
    "trace": reduced("trace(x)", "y = sum(diagonal(x))", "dy/dx[i,i] = 1", SQUARE),
    "det": reduced("det(x)", "y = x[0,0]*x[1,1] - x[0,1]*x[1,0], for 2×2", "dy/dx[i,j] = y*inv(x)[j,i]", SQUARE),
    "inv": moved(
        "inv(x)", "y is the matrix whose product with x is eye(n)", "dy[i,j]/dx[k,l] = -y[i,k]*y[l,j]", SQUARE,
        "1,2;3,4",
    ),
    "solve": Facts(
        "y is the array with A @ y = b", ("dy[i]/dA[k,l] = -inv(A)[i,k]*y[l]", "dy[i]/db[j] = inv(A)[i,j]"),
        "solve(A, b)", {"A": SQUARE, "b": "3,4.5"}, "1,10",
    ),
    "zeros": made("zeros(2) + x", "every entry is 0"), "ones": made("ones(2)*x", "every entry is 1"),
    "full": made("full(2, 3)*x", "every entry is the number given"),
    "eye": Facts(
        "eye(n)[i,j] = where(i == j, 1, 0)", ("none: it does not depend on an input",), "eye(2)*x", {"x": "1.5"},
        "1,2;3,4",
    ),
    "arange": made("arange(1, 3)*x", "entry i is start + i*step"),
    "np.array": made("np.array([1, 2])*x", "entry i is the i-th item of the list"),
    "np.asarray": made("np.asarray([1, 2])*x", "entry i is the i-th item of the list"),
    "np.linspace": made("np.linspace(0, 1, 2)*x", "entry i is start + i*(stop - start)/(num - 1)"),
    "linspace": made("linspace(0, 1, 2)*x", "entry i is start + i*(end - start)/(steps - 1)"),
    "zeros_like": Facts(
        "every entry is 0", ("none: it reads the shape alone",), "zeros_like(x) + x", {"x": ROW}, "1,2,3"
    ),
    "ones_like": Facts("every entry is 1", ("none: it reads the shape alone",), "ones_like(x)*x", {"x": ROW}, "1,2,3"),
    "full_like": Facts(
        "every entry is the number given", ("none: it reads the shape of x alone",), "full_like(x, 3)*x", {"x": ROW},
        "1,2,3",
    ),
    "detach": Facts("the numbers of x", ("none: it is a constant from there on",), "x.detach()*x", {"x": ROW}, "1,2,3"),
    "max": reduced("max(x)", "y is the largest entry", "dy/dx[i] = where(x[i] == y, 1, 0)"),
    "min": reduced("min(x)", "y is the smallest entry", "dy/dx[i] = where(x[i] == y, 1, 0)"),
    "amax": reduced("amax(x)", "y is the largest entry", "dy/dx[i] = where(x[i] == y, 1, 0)"),
    "amin": reduced("amin(x)", "y is the smallest entry", "dy/dx[i] = where(x[i] == y, 1, 0)"),
    "median": reduced("median(x)", "y is the middle entry, of two the lower", "dy/dx[i] = where(x[i] == y, 1, 0)"),
    "np.median": reduced(
        "np.median(x)", "y is the middle entry, or the mean of two", "dy/dx[i] = where(x[i] == y, 1, 0)"
    ),
    "sort": moved(
        "sort(x).values", "y[i] is the i-th smallest entry", "dy[i]/dx[j] = where(x[j] == y[i], 1, 0)", "2.5,4,1.5"
    ),
    "np.sort": moved(
        "np.sort(x)", "y[i] is the i-th smallest entry", "dy[i]/dx[j] = where(x[j] == y[i], 1, 0)", "2.5,4,1.5"
    ),
    "argmax": Facts("the position of the largest entry", (NO_PLACES,), "x[argmax(x)]", {"x": ROW}),
    "argmin": Facts("the position of the smallest entry", (NO_PLACES,), "x[argmin(x)]", {"x": ROW}),
    "any": Facts("true where any entry is", ("none: it is true or false",), "x if any(x > 0) else -x", {"x": "1.5"}),
    "all": Facts("true where all entries are", ("none: it is true or false",), "x if all(x > 0) else -x", {"x": "1.5"}),
    "var": reduced("var(x)", "y = sum((x - mean(x))**2)/(n - 1)", "dy/dx[i] = 2*(x[i] - mean(x))/(n - 1)"),
    "std": reduced("std(x)", "y = sqrt(sum((x - mean(x))**2)/(n - 1))", "dy/dx[i] = (x[i] - mean(x))/((n - 1)*y)"),
    "np.var": reduced("np.var(x)", "y = sum((x - mean(x))**2)/n", "dy/dx[i] = 2*(x[i] - mean(x))/n"),
    "np.std": reduced("np.std(x)", "y = sqrt(sum((x - mean(x))**2)/n)", "dy/dx[i] = (x[i] - mean(x))/(n*y)"),
    "norm": reduced("norm(x)", "y = sqrt(sum(x**2))", "dy/dx[i] = x[i]/y"),
    "linalg.norm": reduced("linalg.norm(x)", "y = sqrt(sum(x**2))", "dy/dx[i] = x[i]/y"),
    "softmax": moved(
        "softmax(x, dim=0)", "y[i] = exp(x[i])/sum(exp(x))", "dy[i]/dx[j] = y[i]*(where(i == j, 1, 0) - y[j])"
    ),
    "log_softmax": moved(
        "log_softmax(x, dim=0)", "y[i] = x[i] - log(sum(exp(x)))", "dy[i]/dx[j] = where(i == j, 1, 0) - exp(y[j])"
    ),
    "mse_loss": loss("F.mse_loss", "mean((x - t)**2)", "2*(x[i] - t[i])/n", "2*(t[i] - x[i])/n"),
    "l1_loss": loss("F.l1_loss", "mean(abs(x - t))", "sign(x[i] - t[i])/n", "sign(t[i] - x[i])/n"),
    "huber_loss": loss(
        "F.huber_loss", "mean(where(abs(x - t) < 1, (x - t)**2/2, abs(x - t) - 1/2))",
        "clip(x[i] - t[i], -1, 1)/n", "clip(t[i] - x[i], -1, 1)/n",
    ),
    "bce": loss(
        "bce", "mean(-t*log(x) - (1 - t)*log(1 - x))",
        "(x[i] - t[i])/(x[i]*(1 - x[i]))/n", "log((1 - x[i])/x[i])/n", ("0.5,0.25", "1,0"),
    ),
    "binary_cross_entropy_with_logits": loss(
        "F.binary_cross_entropy_with_logits", "mean((1 - t)*x + log(1 + exp(-x)))",
        "(1/(1 + exp(-x[i])) - t[i])/n", "-x[i]/n", ("0.5,0.25", "1,0"),
    ),
    "nll_loss": Facts("y = -x[1], here", ("dy/dx[i] = where(i == 1, -1, 0), here",), "F.nll_loss(x, 1)", {"x": ROW}),
    "cross_entropy": Facts(
        "y = log(sum(exp(x))) - x[1], here", ("dy/dx[i] = exp(x[i])/sum(exp(x)) - where(i == 1, 1, 0), here",),
        "F.cross_entropy(x, 1)", {"x": ROW},
    ),
    "linear": Facts(
        "y[i] = sum(W[i,:]*x) + b[i]", ("dy[i]/dx[j] = W[i,j]", "dy[i]/dW[i,j] = x[j]", "dy[i]/db[i] = 1"),
        "F.linear(x, W, b)", {"x": "1.5,2", "W": SQUARE, "b": "1,0"}, "1,10",
    ),
    "layer_norm": Facts(
        "y[i] = (x[i] - mean(x))/sqrt(mean((x - mean(x))**2) + 1e-5)",
        ("dy[i]/dx[j] = (where(i == j, 1, 0) - 1/n - y[i]*y[j]/n)/sqrt(mean((x - mean(x))**2) + 1e-5)",),
        "F.layer_norm(x, (3,))", {"x": ROW}, "1,10,100",
    ),
}  # fmt: skip
