"""Functions of PyTorch's that the table has not, or not as scripts call them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradcli.runner.exceptions import misfit
from gradcli.runner.libraries.torch_making import maker, plain
from gradcli.runner.library import TABLE, always, method, native
from gradcli.runner.state import Run
from gradcli.runner.values import Size, Tensor, category, extra_of


@native("torch.nn.functional.one_hot")
def one_hot(run: Run, x: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors with a 1 at each class."""
    places = np.asarray(x.value)
    count = num_classes if num_classes > 0 else int(places.max()) + 1
    return run.make(np.eye(count, dtype=np.int64)[places], "int64")


@native("torch.unbind")
def unbind(run: Run, x: Tensor, dim: int = 0) -> tuple[Any, ...]:
    """Return the layers of a tensor along an axis."""
    from gradcli.runner.python.containers import rows

    return tuple(rows(run, x if dim == 0 else run.function("torch.movedim", x, dim, 0)))


method("unbind")(unbind)


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


@native("torch.unique", "torch.unique_consecutive")
def unique(
    run: Run, x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """Return the values that there are, in order; with each entry's place among them, and how often each is there."""
    found = np.unique(np.asarray(x.value), return_inverse=True, return_counts=True, axis=dim)
    values = Tensor(found[0], x.dtype)
    inverse = run.make(found[1].reshape(x.shape if dim is None else -1), "int64")
    parts = [values, *[inverse] * return_inverse, *[run.make(found[2], "int64")] * return_counts]
    return tuple(parts) if len(parts) > 1 else values


@native("torch.argwhere")
def argwhere(run: Run, x: Tensor) -> Tensor:
    """Return the places of all entries other than 0."""
    return run.make(np.argwhere(np.asarray(x.value)), "int64")


@native("torch.isin")
def isin(run: Run, elements: Any, test_elements: Any, invert: bool = False, **_: Any) -> Tensor:
    """Return whether each entry is among others."""
    sides = [np.asarray(side.value if isinstance(side, Tensor) else side) for side in (elements, test_elements)]
    return run.make(np.isin(sides[0], sides[1], invert=invert), "bool")


def whole_pair(name: str) -> Any:
    """Return a function of two arrays of integers."""
    forward = {"gcd": np.gcd, "lcm": np.lcm}[name]
    return lambda run, x, other: run.make(forward(np.asarray(x.value), np.asarray(other.value)), x.dtype)


for _name in ("gcd", "lcm"):
    TABLE[f"torch.{_name}"] = whole_pair(_name)
    method(_name)(whole_pair(_name))


@native("torch.broadcast_shapes")
def broadcast_shapes(run: Run, *shapes: Any) -> Size:
    """Return the shape that several make together."""
    try:
        return Size(np.broadcast_shapes(*[(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]))
    except ValueError:
        message = "Shape mismatch: objects cannot be broadcast to a single shape"
        return run.fail("RuntimeError", message)  # type: ignore[no-any-return]


@native("torch.can_cast")
def can_cast(run: Run, from_: Any, to: Any) -> bool:
    """Return whether a type may become another: of the same kind, or of one that has more."""
    return category(from_.name) <= category(to.name)


@maker("torch.scalar_tensor")
def scalar_tensor(run: Run, s: Any) -> tuple[Any, str]:
    """Return one number."""
    return np.asarray(float(plain(s))), run.default_dtype


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


TABLE |= {"torch.is_complex": always(False), "torch.is_same_size": lambda run, x, other: x.shape == other.shape}
for _name in ("unique", "argwhere", "is_complex", "is_same_size"):
    method(_name)(TABLE[f"torch.{_name}"])
TABLE["torch.embedding"] = lambda run, weight, indices, *rest: run.function("F.embedding", indices, weight)


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
    from gradcli.runner.libraries.jax_custom import linked  # few scripts have hooks that change gradients

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
