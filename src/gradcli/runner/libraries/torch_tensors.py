"""Functions of PyTorch's that the table has not, or not as scripts call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.runner.library import method, native
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor


@native("torch.nn.functional.one_hot")
def one_hot(run: Run, x: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors with a 1 at each class."""
    places = np.asarray(x.value)
    count = num_classes if num_classes > 0 else int(places.max()) + 1
    return run.make(np.eye(count, dtype=np.int64)[places], "int64")


@native("torch.broadcast_tensors")
def broadcast_tensors(run: Run, *tensors: Any) -> tuple[Any, ...]:
    """Return tensors as views of one shape; one that has it is returned itself."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    try:
        shape = np.broadcast_shapes(*[t.shape for t in tensors])
    except ValueError:
        return run.function("torch.broadcast_tensors", *tensors)  # type: ignore[no-any-return]
    return tuple([t if t.shape == shape else run.function("expand", t, *shape) for t in tensors])


@native("torch.unbind")
def unbind(run: Run, x: Tensor, dim: int = 0) -> tuple[Any, ...]:
    """Return the layers of a tensor along an axis."""
    from gradcli.runner.containers import rows

    return tuple(rows(run, x if dim == 0 else run.function("torch.movedim", x, dim, 0)))


method("unbind")(unbind)
