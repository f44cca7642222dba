"""What PyTorch calls the ``grad_fn`` of a result, by the function that made it and the kinds of its arguments.

The names are PyTorch 2.13's. Most say the function itself. ``backward_names.toml`` has those that say another one
however the function is called, and ``CASES`` those that the arguments decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gradcli.records import dataclass

OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "**": "pow",
    "@": "matmul",
    "%": "remainder",
    "//": "floor_divide",
}
NONE = "NotImplemented"
"""The name where PyTorch has no derivative, which it says when backward comes there."""
KEYWORDS = (("input", "x", "input1"), ("other", "weight", "target", "mat2", "vec"))
"""What the first two arguments are called."""
Argument = int | str | Collection[int] | None
"""The ndim of a tensor, a text or a tuple as it stands, None for any other value."""


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call."""

    ranks: Sequence[Argument]
    named: Mapping[str, Argument]
    copied: bool

    def rank(self, place: int, *names: str) -> Argument:
        """Return the argument at a place, or by the first of the names that is there."""
        if place < len(self.ranks):
            return self.ranks[place]
        return next((self.named[name] for name in names if name in self.named), None)

    def is_tensor(self, place: int, *names: str) -> bool:
        """Return whether an argument is a tensor."""
        return isinstance(self.rank(place, *names), int)

    def axes(self, place: int = 0) -> int:
        """Return the number of axes of an argument that is a tensor, 0 where it is none."""
        rank = self.rank(place, *KEYWORDS[place])
        return rank if isinstance(rank, int) else 0

    def has_dim(self) -> bool:
        """Return whether a reduction is over axes that the call names."""
        return len(self.ranks) > 1 or bool({"dim", "axis", "keepdim", "keepdims"} & set(self.named))

    def reduction(self) -> str:
        """Return how a loss is put together."""
        return str(self.named.get("reduction") or "mean")


Case = Callable[[Call], str]


def by_dim(plain: str, over_axes: str) -> Case:
    """Return the case of a reduction: all entries, or along an axis."""
    return lambda call: over_axes if call.has_dim() else plain


def by_number(number: str, tensor: str, place: int = 1, *names: str) -> Case:
    """Return the case of a function whose argument is a number or a tensor."""
    names = names or ("other",)
    return lambda call: tensor if call.is_tensor(place, *names) else number


def by_reduction(none: str, otherwise: str = "") -> Case:
    """Return the case of a loss that PyTorch composes, so that its mean or sum comes last."""
    return lambda call: {"mean": "MeanBackward0", "sum": "SumBackward0", "none": none}.get(call.reduction(), otherwise)


def convolution(axes: int) -> Case:
    """Return the case of a convolution, which takes away the axis that it added where there is no batch."""
    return lambda call: "SqueezeBackward1" if call.axes() == axes + 1 else "ConvolutionBackward0"


def extremum(name: str) -> Case:
    """Return the case of ``max`` and ``min``: of two tensors, along an axis, of all entries."""

    def case(call: Call) -> str:
        if call.is_tensor(1, "other"):
            return f"{name}imumBackward0"
        return f"{name}Backward{0 if call.has_dim() else 1}"

    return case


def _sub(call: Call) -> str:
    return "RsubBackward1" if call.ranks and call.ranks[0] is None else "SubBackward0"


def _div(call: Call) -> str:
    if "rounding_mode" in call.named:
        return "DivBackward2"
    return "MulBackward0" if call.ranks and call.ranks[0] is None else "DivBackward0"


def _pow(call: Call) -> str:
    if not call.is_tensor(0, "input", "self"):
        return "PowBackward2"
    return "PowBackward1" if call.is_tensor(1, "exponent", "other") else "PowBackward0"


def _remainder(call: Call) -> str:
    if not call.is_tensor(0, "input"):
        return NONE
    return "RemainderBackward1" if call.is_tensor(1, "other") else "RemainderBackward0"


def _xlogy(name: str) -> Case:
    def case(call: Call) -> str:
        if not call.is_tensor(0, "input"):
            return f"{name}Backward1"
        return f"{name}Backward0" if call.is_tensor(1, "other") else f"{name}Backward2"

    return case


def _clamp(call: Call) -> str:
    bounds = call.is_tensor(1, "min", "a_min") or call.is_tensor(2, "max", "a_max")
    return "ClampBackward0" if bounds else "ClampBackward1"


def _matmul(call: Call) -> str:
    """A batch is folded into one matrix, or made one; the last step brings it into shape again."""
    left, right = call.axes(0), call.axes(1)
    if left <= 2 and right <= 2:
        names = {(1, 1): "DotBackward0", (2, 1): "MvBackward0", (1, 2): "SqueezeBackward4"}
        return names.get((left, right), "MmBackward0")
    return "CloneBackward0" if left == 2 else "UnsafeViewBackward0"


def _linear(call: Call) -> str:
    if not call.is_tensor(2, "bias"):
        return _matmul(call)
    return "AddmmBackward0" if call.axes() == 2 else "ViewBackward0"


def _einsum(call: Call) -> str:
    spec = call.rank(0, "equation", "spec")
    inputs, arrow, output = str(spec).replace(" ", "").partition("->")
    letters = set(inputs) - set(",.")
    kept = set(output) if arrow else {one for one in letters if inputs.count(one) == 1}
    if "," in inputs:
        return "MulBackward0" if letters <= kept else "ViewBackward0"
    return "PermuteBackward0" if letters <= kept else "SumBackward1"


def _nll_loss(call: Call) -> str:
    axes = call.axes()
    if axes <= 2:
        return "NllLossBackward0"
    return "ViewBackward0" if call.reduction() == "none" and axes != 4 else "NllLoss2DBackward0"


def _cross_entropy(call: Call) -> str:
    if call.axes(1) == call.axes(0):  # the target has a probability for each class
        return "DivBackward1" if call.reduction() == "mean" else "NegBackward0"
    return "AddBackward0" if "label_smoothing" in call.named else _nll_loss(call)


def weighted(name: str, none: str, mean: str = "MeanBackward0") -> Case:
    """Return the case of a loss that PyTorch composes where its terms have weights."""
    composed = {"mean": mean, "sum": "SumBackward0", "none": none}
    return lambda call: composed[call.reduction()] if "weight" in call.named else name


def _gaussian(call: Call) -> str:
    return by_reduction("AddBackward0" if "full" in call.named else "MulBackward0")(call)


def _kl_div(call: Call) -> str:
    return by_reduction("MulBackward0" if "log_target" in call.named else "SubBackward0", "DivBackward0")(call)


def _flatten(call: Call) -> str:
    return "" if call.axes() == 1 else _view(call)


def _view(call: Call) -> str:
    return "UnsafeViewBackward0" if call.copied else "ViewBackward0"


def _contiguous(call: Call) -> str:
    return "CloneBackward0" if call.copied else ""


def atleast(axes: int) -> Case:
    """Return the case of a function that adds axes where there are too few."""

    def case(call: Call) -> str:
        if call.axes() >= axes:
            return ""
        return "UnsqueezeBackward0" if call.axes() else "ViewBackward0"

    return case


def _squeeze(call: Call) -> str:
    dim = call.rank(1, "dim")
    if len(call.ranks) == 1 and "dim" not in call.named:
        return "SqueezeBackward0"
    return "SqueezeBackward2" if isinstance(dim, tuple | list) else "SqueezeBackward1"


def _split(call: Call) -> str:
    sizes = call.rank(1, "split_size_or_sections", "split_size")
    return "SplitWithSizesBackward0" if isinstance(sizes, tuple | list) else "SplitBackward0"


def _repeat_interleave(call: Call) -> str:
    return "IndexSelectBackward0" if call.is_tensor(1, "repeats") else "ViewBackward0"


def _diag(call: Call) -> str:
    return "DiagEmbedBackward0" if call.axes() == 1 else "DiagonalBackward0_copy"


def _scatter(call: Call) -> str:
    if "reduce" in call.named:
        return NONE
    return "ScatterBackward0" if call.is_tensor(3, "src") else "ScatterBackward1"


def _norm_of_matrix(call: Call) -> str:
    order = call.rank(1, "ord")
    if isinstance(order, str):
        return "SumBackward1" if order == "nuc" else "LinalgVectorNormBackward0"
    passed = len(call.ranks) > 1 or "ord" in call.named
    return "AmaxBackward0" if passed else "LinalgVectorNormBackward0"


def _norm(call: Call) -> str:
    matrix = call.axes() == 2 and "dim" not in call.named and len(call.ranks) < 3
    return _norm_of_matrix(call) if matrix or call.rank(1, "ord") == "nuc" else "LinalgVectorNormBackward0"


def _interpolate(call: Call) -> str:
    axes = call.axes() - 2
    mode = str(call.rank(3, "mode") or "nearest")
    if mode == "area":
        return "SqueezeBackward1" if axes == 1 else f"AdaptiveAvgPool{axes}DBackward0"
    return f"Upsample{''.join(map(str.capitalize, mode.split('-')))}{axes}DBackward0"


def _pad(call: Call) -> str:
    mode, widths = str(call.rank(2, "mode") or "constant"), call.rank(1, "pad")
    if mode in ("constant", "circular"):
        return "ConstantPadNdBackward0" if mode == "constant" else "CopySlices"
    axes = len(widths) // 2 if isinstance(widths, tuple | list) else max(call.axes() - 2, 1)
    return f"{'Reflection' if mode == 'reflect' else 'Replication'}Pad{axes}DBackward0"


def _attention(call: Call) -> str:
    axes = call.rank(0, "query")
    return {2: "MmBackward0", 3: "UnsafeViewBackward0"}.get(
        axes if isinstance(axes, int) else 0, "ScaledDotProductFlashAttentionForCpuBackward0"
    )


def _normal(call: Call) -> str:
    return f"NormalBackward{1 * call.is_tensor(0, 'mean') + 2 * call.is_tensor(1, 'std')}"


CASES: dict[str, Case] = {
    "sub": _sub,
    "rsub": by_number("RsubBackward1", "RsubBackward0"),
    "div": _div,
    "pow": _pow,
    "float_power": _pow,
    "remainder": _remainder,
    "fmod": by_number("FmodBackward0", "FmodBackward1"),
    "copysign": by_number("CopysignBackward1", "CopysignBackward0"),
    "xlogy": _xlogy("Xlogy"),
    "xlog1py": _xlogy("SpecialXlog1Py"),
    "clip": _clamp,
    "clamp": _clamp,
    "clamp_min": by_number("ClampMinBackward0", "ClampMinBackward1", 1, "other", "min"),
    "clamp_max": by_number("ClampMaxBackward0", "ClampMaxBackward1", 1, "other", "max"),
    "lerp": by_number("LerpBackward0", "LerpBackward1", 2, "weight"),
    "masked_fill": by_number("MaskedFillBackward0", "MaskedFillBackward1", 2, "value"),
    "index_fill": by_number("IndexFillBackward0", "IndexFillBackward1", 3, "value"),
    "fill_": by_number("FillBackward2", "FillBackward3", 1, "value"),
    "scatter": _scatter,
    "round": lambda call: "RoundBackward1" if len(call.ranks) > 1 or "decimals" in call.named else "RoundBackward0",
    "max": extremum("Max"),
    "min": extremum("Min"),
    "sum": by_dim("SumBackward0", "SumBackward1"),
    "mean": by_dim("MeanBackward0", "MeanBackward1"),
    "prod": by_dim("ProdBackward0", "ProdBackward1"),
    "median": by_dim("MedianBackward0", "MedianBackward1"),
    "nanmedian": by_dim("NanmedianBackward0", "NanmedianBackward1"),
    "sort": lambda call: "SortBackward1" if "stable" in call.named else "SortBackward0",
    "linalg.norm": _norm,
    "matrix_norm": _norm_of_matrix,
    "corrcoef": lambda call: "DivBackward0" if call.axes() == 1 else "ClampBackward1",
    "trapezoid": by_number("MulBackward1", "DivBackward1", 1, "x"),
    "trapz": by_number("MulBackward1", "DivBackward1", 1, "x"),
    "cumulative_trapezoid": by_number("CumsumBackward0", "DivBackward1", 1, "x"),
    "matmul": _matmul,
    "linear": _linear,
    "bilinear": by_number("ViewBackward0", "AddBackward0", 3, "bias"),
    "einsum": _einsum,
    "matrix_power": lambda call: "MmBackward0" if call.axes() == 2 else "UnsafeViewBackward0",
    "vecdot": lambda call: "VdotBackward0" if call.axes() == 1 else "SumBackward1",
    "scaled_dot_product_attention": _attention,
    "reshape": _view,
    "flatten": _flatten,
    "contiguous": _contiguous,
    "cpu": lambda _call: "",
    "positive": lambda _call: "",
    "atleast_1d": atleast(1),
    "atleast_2d": atleast(2),
    "atleast_3d": atleast(3),
    "squeeze": _squeeze,
    "split": _split,
    "repeat_interleave": _repeat_interleave,
    "diag": _diag,
    "pad": _pad,
    "interpolate": _interpolate,
    "conv1d": convolution(1),
    "conv2d": convolution(2),
    "conv3d": convolution(3),
    "conv_transpose1d": convolution(1),
    "conv_transpose2d": convolution(2),
    "conv_transpose3d": convolution(3),
    "nll_loss": _nll_loss,
    "cross_entropy": _cross_entropy,
    "mse_loss": weighted("MseLossBackward0", "MulBackward0", "DivBackward0"),
    "huber_loss": weighted("HuberLossBackward0", "MulBackward0"),
    "l1_loss": by_reduction("AbsBackward0"),
    "hinge_embedding_loss": by_reduction("AddBackward0"),
    "cosine_embedding_loss": by_reduction("AddBackward0"),
    "margin_ranking_loss": by_reduction("ClampMinBackward0"),
    "triplet_margin_loss": by_reduction("ClampMinBackward0"),
    "multilabel_soft_margin_loss": by_reduction("DivBackward0"),
    "poisson_nll_loss": by_reduction("SubBackward0"),
    "gaussian_nll_loss": _gaussian,
    "kl_div": _kl_div,
    "normal": _normal,
}


@cache
def _plain() -> dict[str, str]:
    import tomllib  # only what is printed is named

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def backward_name(
    name: str, ranks: Sequence[Argument], named: Collection[str] | Mapping[str, Argument] = (), *, copied: bool = False
) -> str:
    """Return the name of the ``grad_fn`` that a call leaves, "" where it gives back its argument itself.

    ``name`` is a function of gradcli's table, a method with or without its final ``_``, or an operator. ``ranks`` has
    the ndim of each positional tensor and None for any other value; a text (``einsum``'s, a ``mode``) and a tuple
    stand for themselves. ``named`` has the keywords that are not None, with their values written likewise where they
    are known. ``copied`` says that a view could not be had.

    >>> backward_name("sub", [None, 1]), backward_name("sum", [2], {"dim"}), backward_name("log1p_", [1])
    ('RsubBackward1', 'SumBackward1', 'Log1PBackward0')
    """
    keywords: Mapping[str, Any] = named if isinstance(named, Mapping) else dict.fromkeys(named)
    name = OPERATORS.get(name, name)
    last = name.rpartition(".")[2]
    functional = f"F.{last}" if name.startswith("torch.nn.functional.") else name
    for one in dict.fromkeys((name, functional, name.removesuffix("_"), last, last.removesuffix("_"))):
        if one in CASES:
            return CASES[one](Call(tuple(ranks), keywords, copied))
        if one in _plain():
            return _plain()[one]
    words = "".join(word[:1].upper() + word[1:] for word in last.removesuffix("_").split("_"))
    return re.sub(r"(?<=\d)[a-z]", lambda match: match[0].upper(), words) + "Backward0"


# --- indices ---


def index_name(index: object, shape: Sequence[int]) -> str:
    """Return the name of the ``grad_fn`` of ``x[index]``: PyTorch takes it step by step, and the last step counts.

    In an index a tensor of integers without axes is an int, and one with axes, a list, or a mask is any other object.

    >>> index_name((0, slice(1, None)), (2, 3)), index_name([0, 1], (2,)), index_name(None, (2,))
    ('SliceBackward0', 'IndexBackward0', 'UnsqueezeBackward0')
    """
    if isinstance(index, slice):
        return "SliceBackward0"
    steps = _steps(index, shape)
    return steps[-1] if steps else "AliasBackward0"


def write_name(index: object, shape: Sequence[int], rank: int | None) -> str:
    """Return the name of the ``grad_fn`` of x after ``x[index] = value``; ``rank`` is the value's, None of a number."""
    steps = _steps(index, shape)
    if not steps:
        return "CopyBackwards" if rank or not shape else "FillBackward3"
    return "IndexPutBackward0" if steps == ["IndexBackward0"] and not _is_bool(index) else "CopySlices"


def _is_bool(part: object) -> bool:
    return isinstance(part, bool)


def _steps(index: object, shape: Sequence[int]) -> list[str]:
    """Return the names of the steps that an index takes; a slice of all there is takes none."""
    parts = index if isinstance(index, tuple) else (index,)
    taken = sum(not (part is None or part is Ellipsis or _is_bool(part)) for part in parts)
    steps, axis, picks = [], 0, False
    for part in parts:
        if part is None:
            steps.append("UnsqueezeBackward0")
        elif part is Ellipsis:
            axis += len(shape) - taken
        elif _is_bool(part):
            picks = True
        elif isinstance(part, slice):
            length = shape[axis] if axis < len(shape) else 0
            if part.indices(length) != (0, length, 1):
                steps.append("SliceBackward0")
            axis += 1
        elif isinstance(part, int):
            steps.append("SelectBackward0")
            axis += 1
        else:
            picks = True
            axis += 1
    return steps + ["IndexBackward0"] * picks
