"""The way out of an error: what a misspelled word may have meant, and what to write in place of a notebook's lines."""

from __future__ import annotations

from collections.abc import Iterable

_BACKWARD = "leave it out: gradcli calls backward itself, with the v of --v"
_REQUIRES = "leave it out: every input is differentiated, or those that --wrt names"
_FRESH = "leave it out: every run starts without gradients"
_NUMBERS = "leave it out: every value is a double, or an array of them"
_ITSELF = "give the function itself: gradcli differentiates it"
_AN_OPTION = "give the function itself, and ask by an option: gradcli explain 'x**3' --x 2 "
_RANDOM = "give the numbers with --NAME: a program has the same value at every run"

INSTEAD_OF_CALL = {
    "backward": _BACKWARD,
    "requires_grad_": _REQUIRES,
    "retain_grad": "leave it out: the gradient at every stage is shown",
    "zero_": _FRESH,
    "zero_grad": _FRESH,
    **dict.fromkeys(("grad", "value_and_grad", "jacobian", "jacrev", "jacfwd", "vjp"), _ITSELF),
    "hessian": f"{_AN_OPTION}--hessian",
    "jvp": f"{_AN_OPTION}--jvp 1",
    **dict.fromkeys(("hvp", "vhp"), f"{_AN_OPTION}--hessian --jvp 1"),
    **dict.fromkeys(("rand", "randn", "randint", "random", "manual_seed", "seed", "rand_like", "randn_like"), _RANDOM),
    **dict.fromkeys(("gumbel_softmax", "fractional_max_pool2d", "fractional_max_pool3d", "bernoulli"), _RANDOM),
    **dict.fromkeys(("input", "open", "read"), "give the value with --NAME: nothing is read while a program runs"),
    "print": "leave it out: the value of the last line is the output",
    **dict.fromkeys(("D", "derivative", "Derivative", "differentiate", "ddx"), _ITSELF),
    **dict.fromkeys(("integrate", "Integral", "integral", "quad"), "there are no integrals here"),
    **dict.fromkeys(("i0", "i1", "i0e", "i1e"), "there are no Bessel functions here: write the series that is needed"),
}
"""By the last word of the name of an unknown function or method."""
WRITTEN_AS = {
    "sec": "1/cos(x)", "csc": "1/sin(x)", "cosec": "1/sin(x)", "cot": "1/tan(x)", "ctg": "1/tan(x)",
    "cotan": "1/tan(x)", "sech": "1/cosh(x)", "csch": "1/sinh(x)", "coth": "1/tanh(x)", "tg": "tan(x)",
    "sh": "sinh(x)", "ch": "cosh(x)", "th": "tanh(x)", "arctg": "atan(x)", "arsinh": "asinh(x)", "arcosh": "acosh(x)",
    "artanh": "atanh(x)", "acot": "pi/2 - atan(x)", "arccot": "pi/2 - atan(x)", "arcctg": "pi/2 - atan(x)",
    "asec": "acos(1/x)", "arcsec": "acos(1/x)", "acsc": "asin(1/x)", "arccsc": "asin(1/x)", "lg": "log10(x)",
    "ld": "log2(x)", "lb": "log2(x)", "sqr": "x**2", "cube": "x**3", "root": "sqrt(x)", "logistic": "sigmoid(x)",
    "factorial": "exp(lgamma(x + 1))", "fact": "exp(lgamma(x + 1))", "gamma": "exp(lgamma(x))",
    "step": "where(x > 0, 1, 0)", "avg": "mean(x)", "magnitude": "norm(x)", "length": "norm(x)", "norm2": "norm(x)",
    "rms": "sqrt(mean(x**2))", "mse": "mean((x - t)**2)",
    "pdist": "cdist(x, x)[i, j] for the pairs i < j", "renorm": "x*clamp(maxnorm/norm(x, dim=1, keepdim=True), max=1)",
    "lu": "linalg.solve(A, b), linalg.det(A) or linalg.inv(A)", "lu_factor": "linalg.solve(A, b)",
    "chain_matmul": "A @ B @ C", "addr": "x + outer(a, b)", "baddbmm": "x + a @ b", "addbmm": "x + sum(a @ b, dim=0)",
    "triangular_solve": "linalg.solve_triangular(A, b, upper=True)", "polyadd": "p + q, of as many coefficients",
    "polysub": "p - q, of as many coefficients", "polymul": "np.convolve(p, q)",
    "polyder": "p[:-1]*arange(len(p) - 1, 0, -1)", "polyint": "cat([p/arange(len(p), 0, -1), zeros(1)])",
    "correlate": "np.convolve(a, v[::-1])", "erfcx": "exp(x**2)*erfc(x)", "log_ndtr": "log(special.ndtr(x))",
    "ndtri": "sqrt(2)*erfinv(2*p - 1)", "entr": "-xlogy(x, x)", "xlog1py": "x*log1p(y)",
    "select_scatter": "y = x.clone(); y[i] = src", "slice_scatter": "y = x.clone(); y[a:b] = src",
    "diagonal_scatter": "x - diag(diag(x)) + diag(src)", "masked_scatter": "y = x.clone(); y[mask] = src",
    "index_reduce": "scatter_reduce(x, 0, index, src, reduce)", "squareplus": "(x + sqrt(x**2 + b))/2",
    "standardize": "(x - mean(x))/std(x)",
}  # fmt: skip
"""Functions of mathematics that the language writes by others, by the name that they have elsewhere."""
INSTEAD_OF_MORE = {"log": "write log2(x), log10(x), or log(x)/log(3) for another base"}
"""By a function that is given too many arguments."""
INSTEAD_OF_MODULE = {"fft": "its values are complex numbers, which are not part of the language"}
"""By the last word of the name of a module."""
INSTEAD_OF_KEYWORD = {
    "requires_grad": "give this value with --NAME instead: every input is differentiated",
    "dtype": _NUMBERS,
    "device": _NUMBERS,
}
"""By a keyword that no function takes."""
INSTEAD_OF_ATTRIBUTE = {
    "grad": "leave it out: x.grad is what gradcli shows",
    "requires_grad": _REQUIRES,
}
"""By an attribute that no value has."""
INSTEAD_OF_WORD = {
    "import": "names such as torch.sin work without an import",
    "lambda": "write what it returns",
    "return": "write the value alone, on the last line",
    "with": "write its lines alone; .detach() holds a value fixed",
    "class": "write what forward does as lines of its own: y = F.linear(x, W, b)",
    "a comprehension": "write a loop, or whole arrays: x[:-1]*x[1:]",
    "a set": "a list of numbers is written [1, 2], and a power x**2",
    "annotation": "write NAME = VALUE",
}
"""By the word, or the words, that an error has for a piece of syntax."""


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a question with the nearest known name, or None where none is near."""
    import difflib

    candidates = sorted(set(known))
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    if name.lower() in lowered and lowered[name.lower()] != name:
        return f"did you mean '{lowered[name.lower()]}'?"
    if len(name) < 3:
        return None
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.7)
    return f"did you mean '{near[0]}'?" if near else None
