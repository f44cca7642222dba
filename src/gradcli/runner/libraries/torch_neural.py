"""PyTorch's functions of networks that draw numbers while they train, and losses of shapes that broadcast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.runner.backward import Fused
from gradcli.runner.libraries.torch_making import draws
from gradcli.runner.libraries.torch_tensors import broadcast_tensors
from gradcli.runner.library import TABLE, native
from gradcli.runner.python.containers import refuse_stale, write_back
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor

SELU_LIMIT = 1.7580993408473766
"""What selu comes to far below 0, with the other sign: alpha dropout puts it in the place of an entry."""


# ---- draws
def checked_chance(run: Run, p: Any) -> float:
    """Return the chance that an entry is set to zero; raises ValueError for one that is none."""
    if p < 0 or p > 1:
        run.fail("ValueError", f"dropout probability has to be between 0 and 1, but got {p}")
    return float(p)


def by_channel(x: Tensor) -> tuple[int, ...]:
    """Return the shape of draws that whole channels have in common."""
    return (*x.shape[:2], *(1,) * (len(x.shape) - 2))


def dropped(run: Run, x: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor times 0 or 1/(1 - p), as is drawn for a shape that broadcasts to its own."""
    return run.operate("*", x, run.make(draws(run).dropout(shape, p, x.dtype), x.dtype))  # type: ignore[no-any-return]


def alpha_dropped(run: Run, x: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor with entries at the limit of selu, scaled and moved so that mean and variance stay."""
    if p == 1:
        return run.operate("*", x, run.make(np.zeros(x.shape), x.dtype))  # type: ignore[no-any-return]
    kept = draws(run).bernoulli_scalar(shape, 1 - p)
    scale = 1 / math.sqrt((SELU_LIMIT**2 * p + 1) * (1 - p))
    moved = run.make((kept - 1) * (SELU_LIMIT * scale) + SELU_LIMIT * scale * p, x.dtype)
    return run.operate("+", run.operate("*", x, run.make(kept * scale, x.dtype)), moved)  # type: ignore[no-any-return]


def dropping(name: str, drop: Any, *, channels: bool = False, without_batch: int | None = None) -> Any:
    """Return a dropout; ``without_batch`` is the number of axes of an input that has no batch."""

    def dropout(
        run: Run, input: Tensor, p: Any = 0.5, training: bool = "alpha" not in name, inplace: bool = False
    ) -> Any:
        chance = checked_chance(run, p)
        if not training or chance == 0 or not math.prod(input.shape):
            return input
        first = run.count
        refuse_stale(run, input)
        x = run.function("unsqueeze", input, 0) if len(input.shape) == without_batch else input
        made = drop(run, x, chance, by_channel(x) if channels else x.shape)
        made = made if x is input else run.function("squeeze", made, 0)
        if not inplace:
            return made
        write_back(run, input, made, first)
        return input

    return dropout


def dropping_in_torch(drop: Any) -> Any:
    """Return a dropout of ``torch`` itself, which always says whether it trains."""

    def dropout(run: Run, input: Tensor, p: float, train: bool) -> Any:
        return drop(run, input, p, train)

    return dropout


for _name, _drop, _options in (
    ("dropout", dropped, {}),
    ("dropout1d", dropped, {"channels": True, "without_batch": 2}),
    ("dropout2d", dropped, {"channels": True}),
    ("dropout3d", dropped, {"channels": True, "without_batch": 4}),
    ("alpha_dropout", alpha_dropped, {}),
    ("feature_alpha_dropout", alpha_dropped, {"channels": True}),
):
    TABLE[f"torch.nn.functional.{_name}"] = dropping(_name, _drop, **_options)
for _name, _called in (
    ("dropout", "dropout"),
    ("feature_dropout", "dropout2d"),
    ("alpha_dropout", "alpha_dropout"),
    ("feature_alpha_dropout", "feature_alpha_dropout"),
):
    TABLE[f"torch.{_name}"] = dropping_in_torch(TABLE[f"torch.nn.functional.{_called}"])


@native("torch.nn.functional.rrelu", "torch.rrelu")
def rrelu(
    run: Run, input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """Return leaky_relu, in training with a slope for each entry that is not above 0."""
    first = run.count
    refuse_stale(run, input)
    if training:
        factor = np.ones(input.shape)
        below = np.asarray(input.value) <= 0
        factor[below] = draws(run).uniform((int(np.count_nonzero(below)),), lower, upper, "float64")
        made = run.operate("*", input, run.make(factor, input.dtype))
    else:
        made = run.function("torch.nn.functional.leaky_relu", input, (lower + upper) / 2)
    made.made_by = "RreluWithNoiseBackward0"
    if inplace:
        write_back(run, input, made, first)
    return input if inplace else made


ATTENTION = "torch.nn.functional.scaled_dot_product_attention"


@native(ATTENTION)
def attention(
    run: Run, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Return softmax of scores times values, with weights that are dropped at random."""
    if enable_gqa:
        raise run.refuse("scaled_dot_product_attention: enable_gqa is not part of gradcli")
    if not dropout_p or (is_causal and attn_mask is not None):
        named = {"attn_mask": attn_mask, "is_causal": is_causal, "scale": scale}
        return run.function(ATTENTION, query, key, value, **named)  # type: ignore[no-any-return]
    root = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    turned = run.function("transpose", run.operate("*", key, root), -2, -1)
    scores = run.operate("@", run.operate("*", query, root), turned)
    if is_causal:
        attn_mask = run.make(np.tri(*scores.shape[-2:], dtype=np.bool_), "bool")
    if attn_mask is not None and attn_mask.dtype == "bool":
        hidden = run.make(~np.asarray(attn_mask.value), "bool")
        scores = run.function("masked_fill", scores, hidden, -math.inf)
    elif attn_mask is not None:
        scores = run.operate("+", scores, attn_mask)
    weights = run.function("softmax", scores, -1)
    return run.operate("@", dropped(run, weights, dropout_p, weights.shape), value)  # type: ignore[no-any-return]


# ---- bags of embeddings
@native("torch.nn.functional.embedding_bag")
def embedding_bag(
    run: Run, input: Tensor, weight: Tensor, offsets: Any = None, max_norm: Any = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: Any = None,
) -> Tensor:  # fmt: skip
    """Return the sum, mean or greatest entries of the rows of each bag."""
    check_bags(run, input, weight, offsets, mode, per_sample_weights)
    if max_norm is not None or scale_grad_by_freq:
        raise run.refuse("embedding_bag: max_norm and scale_grad_by_freq are not part of gradcli")
    first, places = run.count, np.asarray(input.value)
    starts = np.arange(places.shape[0]) * places.shape[1] if offsets is None else np.asarray(offsets.value)
    ends = np.append(starts, [] if include_last_offset else [places.size]).astype(np.int64)[1:]
    rows = run.function("torch.nn.functional.embedding", run.function("reshape", input, -1), weight)
    if per_sample_weights is not None:
        rows = run.operate("*", rows, run.function("reshape", per_sample_weights, -1, 1))
    kept = places.ravel() != (None if padding_idx is None else padding_idx % weight.shape[0])
    bags = []
    for start, end in zip(starts, ends, strict=False):
        chosen = [k for k in range(start, end) if kept[k]]
        bag = run.function("index_select", rows, 0, run.make(np.array(chosen, np.int64), "int64"))
        reduced = run.function(mode, bag, 0) if chosen else run.make(np.zeros(weight.shape[1]), weight.dtype)
        bags.append(reduced[0] if isinstance(reduced, tuple) else reduced)
    made = run.function("stack", bags)
    made.made_by = "EmbeddingBagBackward0"
    if type(made.node) is Operation:
        run.fused[made.node] = Fused(first, made.made_by, [weight.node])
    return made  # type: ignore[no-any-return]


def check_bags(run: Run, input: Tensor, weight: Tensor, offsets: Any, mode: str, per_sample_weights: Any) -> None:
    """Raise what PyTorch raises for bags that it does not take."""
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        sizes = [run.text(run.attribute(x, "shape")) for x in (per_sample_weights, input)]
        run.fail(
            "ValueError",
            f"embedding_bag: If per_sample_weights ({sizes[0]}) is not None, then it must have the same shape as the "
            f"input ({sizes[1]})",
        )
    if len(weight.shape) != 2:
        run.fail("ValueError", f"weight has to be a 2D Tensor, but got Tensor of dimension {len(weight.shape)}")
    if len(input.shape) not in (1, 2):
        run.fail("ValueError", f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(input.shape)}")
    if len(input.shape) == 2 and offsets is not None:
        run.fail(
            "ValueError",
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            "sequences. However, found offsets of type <class 'torch.Tensor'>",
        )
    if len(input.shape) == 1 and offsets is None:
        run.fail("ValueError", "offsets has to be a 1D Tensor but got None")
    if mode not in ("sum", "mean", "max"):
        run.fail("ValueError", "mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        run.fail(
            "NotImplementedError",
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub.",
        )


# ---- losses
BROADCAST = (
    "Using a target size ({}) that is different to the input size ({}). This will likely lead to incorrect results due "
    "to broadcasting. Please ensure they have the same size."
)


def comparing(name: str) -> Any:
    """Return a loss of two tensors that PyTorch broadcasts, and warns of it."""

    def loss(run: Run, input: Any, target: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(input, Tensor) and isinstance(target, Tensor) and input.shape != target.shape:
            sizes = [run.text(run.attribute(x, "shape")) for x in (target, input)]
            run.note("warning", f"UserWarning: {BROADCAST.format(*sizes)}")
            given = broadcast_tensors(run, input, target)
        else:
            given = input, target
        return run.function(f"torch.nn.functional.{name}", *given, *arguments, **named)

    return loss


def of_vector(name: str) -> Any:
    """Return a loss of classes, which takes the class of one vector of scores as a number or as a vector of it."""

    def loss(run: Run, input: Any, target: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(target, Tensor) and target.shape == (1,) and isinstance(input, Tensor) and len(input.shape) == 1:
            target = run.function("reshape", target, ()) if input.shape != (1,) else target
        return run.function(f"torch.nn.functional.{name}", input, target, *arguments, **named)

    return loss


@native("torch.nn._step")
def step(run: Run, value: Any) -> Any:
    """Return what a module gives to the next one, which has a line of its own in what is told of the run."""
    if run.story is not None:
        run.story.bind_step(run, value)
    return value


for _name in ("cross_entropy", "nll_loss"):
    TABLE[f"torch.nn.functional.{_name}"] = of_vector(_name)
for _name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
    TABLE[f"torch.nn.functional.{_name}"] = comparing(_name)
