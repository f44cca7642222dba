"""Functions of PyTorch's that the table has not, or not as scripts call them: of tensors, hooks, networks, losses."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.runner.exceptions import misfit, said
from gradcli.runner.libraries.torch_making import as_it_lies, draws, maker, plain
from gradcli.runner.library import METHODS, TABLE, always, method, native
from gradcli.runner.python.containers import refuse_stale, rows, write_back
from gradcli.runner.state import Fused, Run
from gradcli.runner.values import Class, Context, Size, Tensor, category, extra_of


# ---- tensors
@native("torch.einsum", "torch.functional.einsum")
def einsum(run: Run, equation: Any, *operands: Any) -> Any:
    """Return what ``einsum`` gives, whose operands may be one list."""
    listed = len(operands) == 1 and isinstance(operands[0], list | tuple)
    return run.function("einsum", equation, *(operands[0] if listed else operands))


@native("torch.nn.functional.one_hot")
def one_hot(run: Run, x: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors with a 1 at each class."""
    if x.dtype != "int64":
        run.fail("RuntimeError", "one_hot is only applicable to index tensor of type LongTensor.")
    places = np.asarray(x.value)
    count = num_classes if num_classes > 0 else int(places.max()) + 1
    if np.any(places >= count):
        run.fail("RuntimeError", "Class values must be smaller than num_classes.")
    return run.make(np.eye(count, dtype=np.int64)[places], "int64")


@native("torch.broadcast_tensors", "torch.functional.broadcast_tensors")
def broadcast_tensors(run: Run, *tensors: Any) -> tuple[Any, ...]:
    """Return tensors expanded to the shape that they have together, each of its own type; one that has it stays."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else list(tensors)
    try:
        shape = np.broadcast_shapes(*[t.shape for t in given])
    except ValueError:
        pairs = [misfit(a.shape, b.shape) for k, a in enumerate(given) for b in given[k + 1 :]]
        return run.fail(*next(said for said in pairs if said is not None))  # type: ignore[no-any-return]
    return tuple([t if t.shape == shape else run.function("expand", t, *shape) for t in given])


def unique(
    run: Run, x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the values that there are, in order; with each entry's place among them, and how often each is there."""
    values, places, counts = np.unique(np.asarray(x.value), return_inverse=True, return_counts=True, axis=dim)
    inverse = run.make(places.reshape(x.shape if dim is None else -1), "int64")
    parts = [Tensor(values, x.dtype), *[inverse] * return_inverse, *[run.make(counts, "int64")] * return_counts]
    return tuple(parts) if len(parts) > 1 else parts[0]


@native("torch.unique_consecutive")
def unique_consecutive(run: Run, x: Tensor, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """Return each value that is not the one before it; with each entry's place among them, and how often it follows."""
    values = np.ravel(np.asarray(x.value))
    begins = np.r_[True, values[1:] != values[:-1]][: values.size]
    places = np.cumsum(begins) - 1
    inverse, counts = run.make(places.reshape(x.shape), "int64"), run.make(np.bincount(places), "int64")
    parts = [Tensor(values[begins], x.dtype), *[inverse] * return_inverse, *[counts] * return_counts]
    return tuple(parts) if len(parts) > 1 else parts[0]


@native("torch.isin")
def isin(run: Run, elements: Any, test_elements: Any, invert: bool = False, **_: Any) -> Tensor:
    """Return whether each entry is among others."""
    sides = [np.asarray(side.value if isinstance(side, Tensor) else side) for side in (elements, test_elements)]
    return run.make(np.isin(sides[0], sides[1], invert=invert), "bool")


@native("torch.broadcast_shapes")
def broadcast_shapes(run: Run, *shapes: Any) -> Size:
    """Return the shape that several make together."""
    try:
        return Size(np.broadcast_shapes(*[(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]))
    except ValueError:
        return run.fail_as("no single shape")  # type: ignore[no-any-return]


@method("sum_to_size")
def sum_to_size(run: Run, x: Tensor, *size: Any) -> Any:
    """Return a tensor summed over the axes along which a shape would be broadcast."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], list | tuple) else tuple(size)
    lead = len(x.shape) - len(shape)
    axes = [*range(lead), *[lead + k for k, n in enumerate(shape) if n == 1 != x.shape[lead + k]]]
    return run.function("reshape", run.function("sum", x, axes), *shape) if axes else x


@method("storage_offset")
def storage_offset(run: Run, x: Tensor) -> int:
    """Return where the first entry stands in memory."""
    value, whole = np.asarray(x.value), np.asarray(x.root.value)
    if not np.may_share_memory(value, whole):
        return 0
    return int(value.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // whole.itemsize


maker("torch.scalar_tensor")(lambda run, s: (np.asarray(float(plain(s))), run.default_dtype))
TABLE |= {
    "torch.unique": unique, "torch.is_complex": always(False),
    "torch.unbind": lambda run, x, dim=0: tuple(rows(run, x if dim == 0 else run.function("torch.movedim", x, dim, 0))),
    "torch.argwhere": lambda run, x: run.make(np.argwhere(np.asarray(x.value)), "int64"),
    "torch.is_same_size": lambda run, x, other: x.shape == other.shape,
    "torch.can_cast": lambda run, from_, to: category(from_.name) <= category(to.name),
    "torch.embedding": lambda run, weight, indices, *rest: run.function("F.embedding", indices, weight),
    **{
        f"torch.{forward.__name__}": lambda run, x, other, forward=forward: run.make(
            forward(np.asarray(x.value), np.asarray(other.value)), x.dtype
        )
        for forward in (np.gcd, np.lcm)
    },
}  # fmt: skip
METHODS |= {
    name: TABLE[f"torch.{name}"]
    for name in ("unbind", "unique", "unique_consecutive", "argwhere", "is_complex", "is_same_size", "gcd", "lcm")
}


# ---- hooks
@method("register_hook")
def register_hook(run: Run, x: Tensor, hook: Any) -> Any:
    """Call a function with the gradient of a tensor when a sweep has it; what it returns takes its place."""
    if not x.active:
        run.fail("RuntimeError", "cannot register a hook on a tensor that doesn't require gradient")
    hooks = run.hooks.setdefault(x.node.index, [])
    numbered = len(run.all_hooks), hook  # the same number in every run; a function may be a hook of several tensors
    run.all_hooks.append(hook)
    if run.replay is not None and numbered[0] in run.replay.changing:
        follow_hook(run, x, hook)
    else:
        hooks.append(numbered)
    if x.leaf:
        extra_of(x).hooks = hooks
    return Handle(hooks, numbered)


def follow_hook(run: Run, x: Tensor, hook: Any) -> None:
    """Make a hook that changes gradients a step of the record."""
    from gradcli.runner.libraries.jax_transforms import linked  # few scripts have hooks that change gradients

    def back(run: Run, again: bool, g: Tensor) -> list[Any]:
        del again
        made = run.call(hook, [g])
        return [made if isinstance(made, Tensor) else g]

    def follow(run: Run, x: Tensor) -> None:
        x.node = linked(run, "hook", [x], [x], back, library="torch")[0].node

    follow(run, x)
    if x.leaf:
        extra_of(x).followed.append(follow)


@method("register_post_accumulate_grad_hook")
def register_post_hook(run: Run, x: Tensor, hook: Any) -> Any:
    """Call a function with a leaf after its gradient was accumulated."""
    run.post_hooks.setdefault(id(x), []).append(hook)
    return Handle(run.post_hooks[id(x)], hook)


class Handle:
    """What takes a hook away."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        self.hooks, self.hook = hooks, hook

    attributes: ClassVar[dict[str, Any]] = {
        "remove": lambda run, me: lambda run: me.hooks.remove(me.hook) if me.hook in me.hooks else None
    }


SELU_LIMIT = 1.7580993408473766
"""What selu comes to far below 0, with the other sign: alpha dropout puts it in the place of an entry."""


# ---- functions of networks that draw numbers while they train
def dropped(run: Run, x: Tensor, p: float, shape: tuple[int, ...]) -> Tensor:
    """Return a tensor times 0 or 1/(1 - p), as is drawn for a shape that broadcasts to its own."""
    if shape == x.shape:
        factor = as_it_lies(x, lambda lying: draws(run).dropout(lying.shape, p, x.dtype))
    else:
        factor = draws(run).dropout(shape, p, x.dtype)
    return run.operate("*", x, run.make(factor, x.dtype))  # type: ignore[no-any-return]


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
        if p < 0 or p > 1:
            run.fail("ValueError", f"dropout probability has to be between 0 and 1, but got {p}")
        if not training or p == 0 or not math.prod(input.shape):
            return input
        first = run.count
        refuse_stale(run, input)
        x = run.function("unsqueeze", input, 0) if len(input.shape) == without_batch else input
        made = drop(run, x, float(p), (*x.shape[:2], *(1,) * (len(x.shape) - 2)) if channels else x.shape)
        made = made if x is input else run.function("squeeze", made, 0)
        if not inplace:
            return made
        write_back(run, input, made, first)
        return input

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
    ("dropout", "dropout"), ("feature_dropout", "dropout2d"), ("alpha_dropout", "alpha_dropout"),
    ("feature_alpha_dropout", "feature_alpha_dropout"),
):  # fmt: skip
    _drop = TABLE[f"torch.nn.functional.{_called}"]
    TABLE[f"torch.{_name}"] = lambda run, input, p, train, drop=_drop: drop(run, input, p, train)  # noqa: A006


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
    axes, weighted = len(input.shape), per_sample_weights is not None
    if weighted and input.shape != per_sample_weights.shape:
        run.fail_as("bag weights", *[run.text(run.attribute(x, "shape")) for x in (per_sample_weights, input)])
    if len(weight.shape) != 2:
        run.fail_as("bag matrix", len(weight.shape))
    if axes not in (1, 2):
        run.fail_as("bag axes", axes)
    if (axes == 2) == (offsets is not None):
        run.fail_as("bag offsets" if axes == 2 else "bag no offsets")
    if mode not in ("sum", "mean", "max"):
        run.fail_as("bag modes")
    if weighted and mode != "sum":
        run.fail_as("bag mode", mode)


# ---- losses
def comparing(name: str) -> Any:
    """Return a loss of two tensors that PyTorch broadcasts, and warns of it."""

    def loss(run: Run, input: Any, target: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(input, Tensor) and isinstance(target, Tensor) and input.shape != target.shape:
            sizes = [run.text(run.attribute(x, "shape")) for x in (target, input)]
            run.note("warning", ": ".join(said("loss broadcast", *sizes)))
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


# ---- mixed precision, which does nothing where there is no CUDA or where it is switched off
def refuse_half(run: Run, what: str, device: str, enabled: Any, warning: str) -> None:
    """Warn as PyTorch does where CUDA is asked for; refuse what would compute in fewer digits on the CPU."""
    if not enabled:
        return
    if not device.startswith("cuda"):
        raise run.refuse(f"'{what}' computes in fewer digits on the CPU: that is not part of gradcli")
    run.note("warning", ": ".join(said(warning)))


class Scaler:
    """A ``GradScaler`` that is off: losses are not scaled, and a step is the optimizer's."""

    attributes: ClassVar[dict[str, Any]] = {
        "scale": lambda run, me: lambda run, outputs: outputs,
        "step": lambda run, me: lambda run, optimizer, *arguments, **named: run.call(
            run.attribute(optimizer, "step"), list(arguments), named
        ),
        "get_scale": always(always(1.0)), "is_enabled": always(always(False)),
        "state_dict": lambda run, me: lambda run: {},
        **dict.fromkeys(("unscale_", "update", "load_state_dict"), always(always(None))),
    }  # fmt: skip


def new_scaler(run: Run, device: str = "cuda", *_: Any, enabled: bool = True, **__: Any) -> Scaler:
    """Return a scaler that does nothing."""
    refuse_half(run, "torch.amp.GradScaler", device, enabled, "no scaler")
    return Scaler()


class Autocast(Context):
    """``autocast`` that is off; as a decorator it leaves a function as it is."""

    def enter(self, run: Run) -> Any:
        """Begin."""
        return self


def new_autocast(run: Run, device_type: str, dtype: Any = None, enabled: bool = True, **_: Any) -> Autocast:
    """Return a context that changes nothing."""
    refuse_half(run, "torch.autocast", device_type, enabled, "no autocast")
    return Autocast()


SCALER, AUTOCAST = Class("GradScaler", [], {}, new_scaler), Class("autocast", [], {}, new_autocast)
TABLE |= {
    **dict.fromkeys(("torch.amp.GradScaler", "torch.amp.grad_scaler.GradScaler"), SCALER),
    **dict.fromkeys(("torch.amp.autocast", "torch.autocast", "torch.amp.autocast_mode.autocast"), AUTOCAST),
    "torch.cuda.amp.GradScaler": Class("GradScaler", [], {}, lambda run, *_, **named: new_scaler(run, **named)),
    "torch.cuda.amp.autocast": Class("autocast", [], {}, lambda run, enabled=True, *_, **named: new_autocast(
        run, "cuda", enabled=enabled)),
    **dict.fromkeys(("torch.is_autocast_enabled", "torch.is_autocast_cpu_enabled"), always(False)),
}  # fmt: skip


@native("torch.amp.custom_fwd", "torch.amp.custom_bwd", "torch.cuda.amp.custom_fwd", "torch.cuda.amp.custom_bwd")
def custom_pass(run: Run, function: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """Return a pass of a function as it is, as a decorator too: numbers are not cast."""
    return function if function is not None else lambda run, function: function
