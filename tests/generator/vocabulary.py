"""Every name of the language as the oracle knows it: functions under all of their spellings, methods, constants."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from generator import functions as f
from generator import layers as g
from generator.arrays import Array, Display, Pair, array, each, product
from generator.duals import ELEMENTARY, ceil, dual, floor, nearest
from generator.shapes import RULES as SHAPES


def elementwise(rule):
    """Return an elementwise function from one of duals."""
    return each(lambda *x: rule(*[dual(item) for item in x]))


# fmt: off
RULES = SHAPES | {name: each(rule) for name, rule in ELEMENTARY.items()} | {
    "add": each(operator.add), "sub": each(operator.sub), "mul": each(operator.mul), "div": each(operator.truediv),
    "remainder": elementwise(operator.mod), "neg": each(operator.neg), "pow": elementwise(operator.pow),
    "maximum": f.larger, "fmax": f.larger, "clamp_min": f.larger, "minimum": f.smaller, "fmin": f.smaller,
    "clamp_max": f.smaller, "clip": f.clip, "rsqrt": lambda x: 1 / f.sqrt(x), "square": lambda x: array(x) * x,
    "reciprocal": lambda x: 1 / array(x), "sinc": f.sinc, "hypot": lambda x, y: f.sqrt(array(x) * x + array(y) * y),
    "xlogy": lambda x, y: x * f.log(y), "logaddexp": lambda a, b: f.log(f.exp(a) + f.exp(b)),
    "sum": f.sum_, "mean": f.mean, "prod": f.prod, "logsumexp": f.logsumexp, "cumsum": f.cumsum, "cumprod": f.cumprod,
    "matmul": product, "mm": product, "mv": product, "bmm": product, "inner": product, "dot": product,
    "torch.dot": product,
    "outer": lambda x, y: array(x)[:, None] * y, "einsum": g.einsum, "det": g.det, "inv": g.inv, "solve": g.solve,
    "abs": f.absolute, "sigmoid": f.sigmoid, "relu": f.signed(lambda x: x, lambda x: x * 0.0),
    "logsigmoid": lambda x: -f.log(1 + f.exp(-array(x))), "silu": lambda x: x * f.sigmoid(x),
    "softsign": lambda x: x / (1 + f.absolute(x)), "sign": f.signed(lambda x: dual(1), lambda x: dual(-1)),
    "floor": each(floor), "ceil": each(ceil), "trunc": f.signed(floor, ceil), "round": each(nearest),
    "heaviside": lambda x, other: f.signed(lambda x: dual(1), lambda x: dual(0))(x),
    "isnan": lambda x: Array(np.zeros(array(x).shape, dtype=bool)), "where": f.where,
    "leaky_relu": lambda x, negative_slope=0.01: f.signed(lambda x: x, lambda x: x * negative_slope)(x),
    "elu": lambda x, alpha=1.0: f.signed(lambda x: x, lambda x: alpha * ELEMENTARY["expm1"](x))(x),
    "softplus": f.softplus, "gelu": f.gelu, "amax": f.amax, "amin": f.amin,
    "max": f.extreme(f.amax, max, f.larger), "min": f.extreme(f.amin, min, f.smaller),
    "median": f.extreme(f.reduced(f.middle_of), f.middle_of, None), "np.median": f.numpy_median,
    "sort": f.ordered, "np.sort": lambda x, dim=-1: f.ordered(x, dim).values,
    "argmax": f.reduced(f.place(max)), "argmin": f.reduced(f.place(min)),
    "any": f.reduced(any, f.masks), "all": f.reduced(all, f.masks), "var": f.var, "std": f.std,
    "np.var": f.numpy_spread(f.var), "np.std": f.numpy_spread(f.std), "norm": f.norm,
    "linalg.norm": lambda x, ord=None, dim=None, keepdim=False: f.norm(x, 2 if ord is None else ord, dim, keepdim),  # noqa: A006
    "softmax": f.softmax, "log_softmax": f.log_softmax, "mse_loss": g.loss(lambda x, t: (x - t) ** 2),
    "l1_loss": g.loss(lambda x, t: f.absolute(x - t)), "huber_loss": g.loss(g.huber), "bce": g.loss(g.entropy),
    "binary_cross_entropy_with_logits": g.loss(lambda x, t: g.entropy(f.sigmoid(x), t)),
    "nll_loss": g.loss(g.picked_losses), "cross_entropy": g.loss(g.cross_entropy), "linear": g.linear,
    "layer_norm": g.layer_norm,
}
# fmt: on
"""The rule of each function, by its name in gradcli's table."""

SYNONYMS = """
plus=add subtract=sub multiply=mul divide=div true_divide=div mod=remainder negative=neg power=pow float_power=pow
arcsin=asin arccos=acos arctan=atan arctan2=atan2 arcsinh=asinh arccosh=acosh arctanh=atanh ln=log absolute=abs
fabs=abs expit=sigmoid swish=silu sgn=sign fix=trunc rint=round clamp=clip view=reshape expand_dims=unsqueeze
swapaxes=transpose broadcast_to=expand tile=repeat copy=clone concatenate=cat concat=cat vdot=inner
ger=outer empty=zeros identity=eye empty_like=zeros_like array=tensor asarray=as_tensor
inverse=inv binary_cross_entropy=bce bce_with_logits=binary_cross_entropy_with_logits vector_norm=norm
"""
ALIASES = dict(pair.split("=") for pair in SYNONYMS.split())
NUMPY = {"max": "amax", "min": "amin", "repeat": "repeat_interleave"} | {
    name: f"np.{name}" for name in ("sort", "median", "var", "std", "cumsum", "transpose")
}
"""Names that mean something else in numpy than in PyTorch."""
KEYWORDS = {
    "axis": "dim", "keepdims": "keepdim", "k": "diagonal", "offset": "diagonal", "axes": "dims", "input": "x",
}  # fmt: skip
MODULES = ("torch", "np", "numpy", "jnp", "math", "F", "nn", "functional", "linalg", "special")
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf}


def canonical(spelling):
    """Return the name in gradcli's table of a function that a program spells in some way."""
    *path, last = spelling.split(".")
    if path and path[-1] == "linalg" and last == "norm":
        return "linalg.norm"
    if path and path[0] in ("np", "numpy", "jnp") and last in NUMPY:
        return NUMPY[last]
    if path == ["torch"] and last == "dot":
        return "torch.dot"
    return ALIASES.get(last, last)


@functools.cache
def called(name):
    """Return a function of the table that takes numpy's keywords for PyTorch's too."""
    rule = RULES[name]

    def call(*given, **named):
        return rule(*given, **{KEYWORDS.get(key, key): value for key, value in named.items()})

    return call


class Module:
    """A library as a program names it: ``torch``, ``np.linalg``, ``F``."""

    def __init__(self, path):
        self.path = path

    def __getattr__(self, name):
        if name in MODULES:
            return Module(f"{self.path}.{name}")
        if name in CONSTANTS:
            return CONSTANTS[name]
        return called(canonical(f"{self.path}.{name}"))


SIZES = {
    "size": lambda x, dim=None: x.shape if dim is None else x.shape[dim],
    "dim": lambda x: x.ndim,
    "numel": lambda x: x.data.size,
}


def method(self, name):
    """Return a method of an array: the function of that name with the array as its first argument."""
    if name.startswith("__"):
        raise AttributeError(name)
    rule = SIZES.get(name) or called(canonical(name))
    return functools.partial(rule, self)


Array.__getattr__ = method
Display.__getattr__ = lambda self, name: getattr(array(self), name)
NAMES = (
    {name: called(name) for name in RULES if "." not in name}
    | {alias: called(name) for alias, name in ALIASES.items()}
    | {name: Module(name) for name in MODULES}
    | {"pi": math.pi, "e": math.e, "range": range, "len": len, "Display": Display, "Pair": Pair}
)
"""All that a program may name and does not bind itself."""
