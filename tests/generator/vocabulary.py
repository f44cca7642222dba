"""Every name of the language as the oracle knows it: functions under all of their spellings, methods, constants."""

from __future__ import annotations

import functools
import inspect
import math

from generator.arrays import Array, Display, Pair, array
from records import RECORDS

RULES = {name: known.oracle for name, known in RECORDS.items() if known.oracle is not None}
"""The rule of each function, by its name in gradcli's table."""

SYNONYMS = """
plus=add subtract=sub multiply=mul divide=div true_divide=div mod=remainder negative=neg power=pow float_power=pow
arcsin=asin arccos=acos arctan=atan arctan2=atan2 arcsinh=asinh arccosh=acosh arctanh=atanh ln=log absolute=abs
fabs=abs expit=sigmoid swish=silu sgn=sign fix=trunc rint=round clamp=clip view=reshape expand_dims=unsqueeze
swapaxes=transpose broadcast_to=expand tile=repeat copy=clone concatenate=cat concat=cat
ger=outer empty=zeros identity=eye empty_like=zeros_like array=tensor asarray=as_tensor
radians=deg2rad degrees=rad2deg around=round round_=round not_equal=ne greater=gt greater_equal=ge less=lt less_equal=le
invert=bitwise_not gammaln=lgamma psi=digamma trapz=trapezoid
inverse=inv binary_cross_entropy=bce bce_with_logits=binary_cross_entropy_with_logits
moveaxis=movedim reshape_as=view_as row_stack=vstack broadcast_arrays=broadcast_tensors array_split=tensor_split
short=long type_as=type new_empty=new_zeros cuda=cpu DoubleTensor=FloatTensor HalfTensor=FloatTensor
Tensor=FloatTensor IntTensor=LongTensor ShortTensor=LongTensor take_along_axis=take_along_dim
hard_tanh=hardtanh hard_sigmoid=hardsigmoid hard_swish=hardswish hard_silu=hardswish
dropout1d=dropout dropout2d=dropout dropout3d=dropout alpha_dropout=dropout feature_alpha_dropout=dropout
upsample=interpolate log_sigmoid=logsigmoid soft_sign=softsign stop_gradient=detach
split_with_sizes=split expm=matrix_exp unstack=unbind matrix_transpose=adjoint real=positive conj=positive
"""
ALIASES = dict(pair.split("=") for pair in SYNONYMS.split())
OWN_IN_NUMPY = (
    "sort median var std cumsum transpose split pad take nonzero tril_indices triu_indices compress digitize logspace "
    "ascontiguousarray argsort nanmedian nanprod nanmax nanmin quantile percentile nanquantile nanpercentile ptp "
    "average cumprod gradient linspace trace nan_to_num searchsorted array asarray cross "
    "nanstd nanvar cov corrcoef select"
)
NUMPY = {
    "max": "amax", "min": "amin", "repeat": "repeat_interleave", "equal": "eq", "array_equal": "equal",
    "swapaxes": "swapdims", "permute_dims": "np.transpose",
} | {name: f"np.{name}" for name in OWN_IN_NUMPY.split()}  # fmt: skip
"""Names that mean something else in numpy than in PyTorch."""
OF_LINALG = {"svd", "qr", "vector_norm", "diagonal", "cross", "vander"}
KEYWORDS = {
    "axis": "dim", "keepdims": "keepdim", "k": "diagonal", "offset": "diagonal", "axes": "dims", "input": "x",
}  # fmt: skip
MODULES = (
    *("torch", "np", "numpy", "jnp", "math", "F", "nn", "functional", "linalg", "special"),
    *("jax", "scipy", "sp", "jsp"),
)
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "float64": "float64", "double": "float64"}


def canonical(spelling):
    """Return the name in gradcli's table of a function that a program spells in some way."""
    if spelling == "float":
        return "item"
    *path, last = spelling.split(".")
    if path and path[0] in ("scipy", "sp", "jax", "jsp") and last == "logsumexp":
        return "jax.nn.logsumexp"
    if spelling.removeprefix("jax.") in RULES and "scipy" in path:
        return spelling.removeprefix("jax.")
    if path and path[-1] == "linalg" and last == "norm":
        return "linalg.norm"
    if path and path[-1] == "linalg" and last in ("svd", "qr", "vector_norm", "diagonal", "cross", "vander"):
        return f"linalg.{last}"
    if path and path[0] in ("np", "numpy", "jnp") and last in NUMPY:
        return NUMPY[last]
    if path == ["jax", "nn"] and f"jax.nn.{last}" in RULES:
        return f"jax.nn.{last}"
    if path == ["torch"] and last == "dot":
        return "torch.dot"
    if path and path[-1] in ("F", "functional") and last in ("unfold", "fold"):
        return f"F.{last}"
    return ALIASES.get(last, last)


@functools.cache
def called(name):
    """Return a function of the table that takes numpy's keywords for PyTorch's too."""
    rule = RULES[name]
    own = () if rule is range else inspect.signature(rule).parameters

    def call(*given, **named):
        return rule(*given, **{key if key in own else KEYWORDS.get(key, key): x for key, x in named.items()})

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


def of_method(name):
    """Return the name in gradcli's table of a method; some are another function than the one of their name."""
    return {"where": "Tensor.where", "int": "long", "float": "float"}.get(name) or canonical(name)


def method(self, name):
    """Return a method of an array: the function of that name with the array as its first argument."""
    if name.startswith("__") or (name not in SIZES and of_method(name) not in RULES):
        raise AttributeError(name)
    rule = SIZES.get(name) or called(of_method(name))
    return functools.partial(rule, self)


Array.__getattr__ = method
Display.__getattr__ = lambda self, name: getattr(array(self), name)
NAMES = (
    {name: called(name) for name in RULES if "." not in name}
    | {alias: called(name) for alias, name in ALIASES.items()}
    | {name: Module(name) for name in MODULES}
    | {"float": called("item"), "int": called("int"), "bool": called("bool")}
    | {"pi": math.pi, "e": math.e, "range": range, "len": len, "Display": Display, "Pair": Pair}
)
"""All that a program may name and does not bind itself."""
