"""What PyTorch says of a call whose shapes, axes or indices do not fit, by the function that was called.

It is asked where the table has refused a call: what it does not know keeps gradcli's own words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.runner.values import FLOATS, Tensor

Given = Mapping[str, Any]
"""The arguments of a call under the names of the table's parameters; of several under one name they are a list."""
Said = tuple[str, str] | None
"""The class of an exception and what it says."""


TYPE_NAMES = {
    "float32": "FloatTensor", "float64": "DoubleTensor", "int64": "LongTensor", "int32": "IntTensor",
    "bool": "BoolTensor",
}  # fmt: skip
WHOLE = {
    "mean": (
        "RuntimeError",
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
    ),
    "softmax": ("NotImplementedError", "\"softmax_lastdim_kernel_impl\" not implemented for '{}'"),
    "log_softmax": ("NotImplementedError", "\"log_softmax_lastdim_kernel_impl\" not implemented for '{}'"),
    "std": ("RuntimeError", "std and var only support floating point and complex dtypes"),
    "var": ("RuntimeError", "std and var only support floating point and complex dtypes"),
    "norm": ("RuntimeError", "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}"),
}
"""What PyTorch says of integers where it takes floats alone."""


def of_integers(name: str, dtype: str) -> Said:
    """Return the exception that a function of floats raises for another type, None where it takes it."""
    if name not in WHOLE or dtype.startswith(("float", "bfloat")):
        return None
    kind, text = WHOLE[name]
    return kind, text.format(TITLES.get(dtype, dtype))


TITLES = {
    "int64": "Long", "int32": "Int", "bool": "Bool", "uint8": "Byte", "int16": "Short", "int8": "Char",
    "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16",
}  # fmt: skip
"""What PyTorch's messages call types."""


def of_types(name: str, given: Given) -> Said:
    """Return the exception for arguments whose types PyTorch looks at before their numbers, None where they fit."""
    tensors = [given.get("x", given.get("input")), given.get("target", given.get("weight"))]
    if name not in TYPED or not all(isinstance(t, Tensor) for t in tensors):
        return None
    return TYPED[name](given)


def types_of_classes(given: Given) -> Said:
    """Losses of classes take one integer for each row; cross entropy takes probabilities in the shape of scores too."""
    scores, target = given["x"], given["target"]
    if scores.shape == target.shape and scores.shape:
        return None if target.dtype in FLOATS else of_shared(target)
    if target.dtype in ("int64", "uint8") or target.shape != without_classes(scores.shape):
        return None
    return runtime(f"expected target dtype to be Long or Byte, but got {TITLES.get(target.dtype, target.dtype)}")


def without_classes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of scores without the axis of classes: the second, or that of a vector."""
    return shape[:1] + shape[2:] if len(shape) > 1 else ()


def of_shared(target: Any) -> Said:
    """Return the error for probabilities of classes that are integers."""
    title = TITLES.get(target.dtype, target.dtype)
    return runtime(f"Expected floating point type for target with class probabilities, got {title}")


def types_of_bce(given: Given) -> Said:
    """Binary cross entropy takes a target of the type of its probabilities."""
    x, target = given["x"], given["target"]
    if x.shape != target.shape or x.dtype == target.dtype:
        return None
    return runtime(f"Found dtype {TITLES.get(target.dtype, target.dtype)} but expected {TITLES.get(x.dtype, x.dtype)}")


def types_of_scores(given: Given) -> Said:
    """Binary cross entropy of scores takes floats."""
    x, target = given["x"], given["target"]
    if x.shape != target.shape:
        return "ValueError", (
            f"Target size (torch.Size({list(target.shape)})) must be the same as input size "
            f"(torch.Size({list(x.shape)}))"
        )
    if x.dtype not in FLOATS:
        return "NotImplementedError", f"\"log_sigmoid_cpu\" not implemented for '{TITLES.get(x.dtype, x.dtype)}'"
    if target.dtype not in FLOATS:
        titles = TITLES.get(x.dtype, x.dtype), TITLES.get(target.dtype, target.dtype)
        return runtime(f"result type {titles[0]} can't be cast to the desired output type {titles[1]}")
    return None


def types_of_places(given: Given) -> Said:
    """An embedding takes integers."""
    dtype = given["input"].dtype
    if dtype in ("int64", "int32"):
        return None
    title = TITLES.get(dtype, dtype)
    type_name = "CPUBoolType" if dtype == "bool" else f"torch.{title}Tensor"
    return runtime(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        f"{type_name} instead (while checking arguments for embedding)"
    )


TYPED: dict[str, Callable[[Given], Said]] = {
    "nll_loss": types_of_classes,
    "cross_entropy": types_of_classes,
    "bce": types_of_bce,
    "binary_cross_entropy_with_logits": types_of_scores,
    "embedding": types_of_places,
}
"""What is said of the types of arguments before the function is called, by the table's name of a function."""


def torch_error(name: str, given: Given) -> Said:
    """Return the exception that PyTorch raises for a call, None where it is not known."""
    said = WORDS[name](given) if name in WORDS else None
    return said or wrong_dim(name, given) or (of_pair(given) if name not in PRODUCTS else None)


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the lengths of the axes of a tensor, or of a number."""
    return value.shape if isinstance(value, Tensor) else np.shape(value)


def misfit(a: tuple[int, ...], b: tuple[int, ...]) -> Said:
    """Return the error for two shapes that do not broadcast, None where they do."""
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            dim = max(len(a), len(b)) - k
            return "RuntimeError", (
                f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at non-singleton dimension "
                f"{dim}"
            )
    return None


def of_pair(given: Given) -> Said:
    """Return the error for the first pair of tensors that do not broadcast."""
    tensors = [value for value in given.values() if isinstance(value, Tensor)]
    return misfit(tensors[0].shape, tensors[1].shape) if len(tensors) > 1 else None


def wrong_dim(name: str, given: Given) -> Said:
    """Return the error for an axis that a tensor does not have."""
    tensors = given.get("tensors")
    x = given.get("x") if tensors is None else (tensors[0] if tensors else None)
    if not isinstance(x, Tensor):
        return None
    count = max(len(x.shape) + (name in ("unsqueeze", "stack")), 1)
    for key in ("dim", "dims", "dim0", "dim1", "dim2", "start_dim", "end_dim", "source", "destination"):
        value = given.get(key)
        for dim in value if isinstance(value, list | tuple) else (value,):
            if type(dim) is int and not -count <= dim < count:
                text = f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got {dim})"
                return "IndexError", text
    return None


def flat(sizes: Any) -> list[int]:
    """Return lengths that are given one by one or as one tuple."""
    sizes = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
    return list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes


def runtime(text: str) -> Said:
    """Return a RuntimeError."""
    return "RuntimeError", text


# ---- products
def of_mm(given: Given) -> Said:
    """``mm`` takes two matrices."""
    a, b = shape_of(given["x"]), shape_of(given["other"])
    if len(a) != 2 or len(b) != 2:
        return runtime("self must be a matrix" if len(a) != 2 else "mat2 must be a matrix")
    return runtime(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")


def of_mv(given: Given) -> Said:
    """``mv`` takes a matrix and a vector."""
    a, b = shape_of(given["x"]), shape_of(given["other"])
    if len(a) != 2 or len(b) != 1:
        return runtime(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(b)}")
    return runtime(f"size mismatch, got input ({a[0]}), mat ({a[0]}x{a[1]}), vec ({b[0]})")


def of_dot(given: Given) -> Said:
    """``dot`` takes two vectors of one length."""
    a, b = shape_of(given["x"]), shape_of(given["other"])
    if len(a) != 1 or len(b) != 1:
        return runtime(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    return runtime(
        f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same number of elements, but "
        f"got {a[0]} and {b[0]} elements respectively"
    )


def of_bmm(given: Given) -> Said:
    """``bmm`` takes two batches of matrices."""
    a, b = shape_of(given["x"]), shape_of(given["other"])
    if len(a) != 3 or len(b) != 3:
        return runtime(f"batch{1 if len(a) != 3 else 2} must be a 3D tensor")
    wanted = [a[0], a[2]]
    return runtime(f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: {list(b[:2])}.")


def of_matmul(given: Given) -> Said:
    """``matmul`` and ``@`` are products of vectors, matrices and batches of them."""
    a, b = shape_of(given["x"]), shape_of(given["other"])
    if not a or not b:
        return runtime(f"both arguments to matmul need to be at least 1D, but they are {len(a)}D and {len(b)}D")
    if len(a) == len(b) == 1:
        return of_dot(given)
    if len(a) == 2 and len(b) == 1:
        return of_mv(given)
    if len(a) <= 2 and len(b) == 2:
        rows = a if len(a) == 2 else (1, *a)
        return runtime(f"mat1 and mat2 shapes cannot be multiplied ({rows[0]}x{rows[1]} and {b[0]}x{b[1]})")
    if len(b) == 1:
        return runtime(
            f"size mismatch, got input ({math.prod(a[:-1])}), mat ({math.prod(a[:-1])}x{a[-1]}), vec ({b[0]})"
        )
    if len(b) == 2:
        return runtime(f"mat1 and mat2 shapes cannot be multiplied ({math.prod(a[:-1])}x{a[-1]} and {b[0]}x{b[1]})")
    lead = misfit(a[:-2], b[:-2])
    if lead is not None or len(a) < 2:
        return lead
    batch = math.prod(np.broadcast_shapes(a[:-2], b[:-2]))
    return runtime(
        f"Expected size for first two dimensions of batch2 tensor to be: {[batch, a[-1]]} but got: {[batch, b[-2]]}."
    )


def of_linear(given: Given) -> Said:
    """``linear`` is the product with a transposed matrix."""
    a, b = shape_of(given["x"]), shape_of(given["weight"])
    if len(b) != 2 or not a or a[-1] == b[1]:
        return None
    if len(a) == 1:
        return runtime(f"size mismatch, got input ({b[0]}), mat ({b[0]}x{b[1]}), vec ({a[0]})")
    return runtime(f"mat1 and mat2 shapes cannot be multiplied ({math.prod(a[:-1])}x{a[-1]} and {b[1]}x{b[0]})")


def of_addmm(given: Given) -> Said:
    """``addmm`` adds to a product of matrices."""
    a, b = shape_of(given["mat1"]), shape_of(given["mat2"])
    if len(a) == len(b) == 2 and a[1] != b[0]:
        return runtime(f"mat1 and mat2 shapes cannot be multiplied ({a[0]}x{a[1]} and {b[0]}x{b[1]})")
    return None


# ---- joining and shapes
def of_cat(given: Given) -> Said:
    """``cat`` takes tensors that differ along one axis alone."""
    tensors, dim = given["tensors"], given.get("dim", 0)
    if not tensors:
        return "ValueError", "torch.cat(): expected a non-empty list of Tensors"
    shapes = [t.shape for t in tensors]
    first = shapes[0]
    if any(not shape for shape in shapes):
        place = next(k for k, shape in enumerate(shapes) if not shape)
        return runtime(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    if not -len(first) <= dim < len(first):
        return None
    dim %= len(first)
    for place, shape in enumerate(shapes):
        if len(shape) != len(first):
            return runtime(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        for axis, (one, other) in enumerate(zip(first, shape, strict=True)):
            if one != other and axis != dim:
                return runtime(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {one} but got size {other} "
                    f"for tensor number {place} in the list."
                )
    return None


def of_stack(given: Given) -> Said:
    """``stack`` takes tensors of one shape."""
    tensors = given["tensors"]
    if not tensors:
        return runtime("stack expects a non-empty TensorList")
    first = tensors[0].shape
    for place, tensor in enumerate(tensors):
        if tensor.shape != first:
            return runtime(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(tensor.shape)} at entry {place}"
            )
    return None


def of_reshape(given: Given) -> Said:
    """``view`` and ``reshape`` take as many entries as there are."""
    shape, size = flat(given.get("shape", ())), math.prod(shape_of(given["x"]))
    if shape.count(-1) > 1:
        return runtime("only one dimension can be inferred")
    return runtime(f"shape '{shape}' is invalid for input of size {size}")


def of_expand(given: Given) -> Said:
    """``expand`` stretches axes of length 1."""
    shape, old = flat(given.get("shape", ())), shape_of(given["x"])
    if len(shape) < len(old):
        return runtime(
            f"expand(torch.FloatTensor{{{list(old)}}}, size={shape}): the number of sizes provided ({len(shape)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({len(old)})"
        )
    for axis in range(1, len(old) + 1):
        if old[-axis] not in (1, shape[-axis]) and shape[-axis] != -1:
            return runtime(
                f"The expanded size of the tensor ({shape[-axis]}) must match the existing size ({old[-axis]}) at "
                f"non-singleton dimension {len(shape) - axis}.  Target sizes: {shape}.  Tensor sizes: {list(old)}"
            )
    return None


def of_permute(given: Given) -> Said:
    """``permute`` names each axis once."""
    dims, count = flat(given.get("dims", ())), len(shape_of(given["x"]))
    if len(dims) != count:
        return runtime(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {count} is not equal to len(dims) = {len(dims)}"
        )
    if all(-count <= dim < count for dim in dims):
        return runtime("permute(): duplicate dims are not allowed.")
    return None


def of_narrow(given: Given) -> Said:
    """``narrow`` takes a stretch of an axis."""
    shape, dim, start, length = shape_of(given["x"]), given["dim"], given["start"], given["length"]
    if type(dim) is not int or not -len(shape) <= dim < len(shape) or type(start) is not int:
        return None
    return runtime(f"start ({start}) + length ({length}) exceeds dimension size ({shape[dim]}).")


def of_split(given: Given) -> Said:
    """``split`` takes lengths that sum to that of the axis."""
    size, dim, shape = given["split_size_or_sections"], given.get("dim", 0), shape_of(given["x"])
    if type(dim) is not int or not -len(shape) <= dim < len(shape):
        return None
    if isinstance(size, list | tuple):
        return runtime(
            f"split_with_sizes expects split_sizes to sum exactly to {shape[dim]} (input tensor's size at dimension "
            f"{dim}), but got split_sizes={list(size)}"
        )
    return runtime(f"split_size can only be 0 if dimension size is 0, but got dimension size of {shape[dim]}")


# ---- entries at places
def places_of(given: Given) -> Any:
    """Return the places of an index."""
    index = given.get("index")
    return np.asarray(index.value) if isinstance(index, Tensor) else np.asarray(index)


def of_gather(given: Given) -> Said:
    """``gather`` and its like take an index of as many axes."""
    index, shape, dim = places_of(given), shape_of(given["x"]), given.get("dim", 0)
    if index.ndim != len(shape):
        return runtime("Index tensor must have the same number of dimensions as input tensor")
    bad = index[(index < 0) | (index >= shape[dim])]
    if bad.size:
        return runtime(f"index {bad[0]} is out of bounds for dimension {dim} with size {shape[dim]}")
    return None


def of_index_select(_given: Given) -> Said:
    """``index_select`` and ``embedding`` take places of an axis."""
    return "IndexError", "index out of range in self"


def of_take(given: Given) -> Said:
    """``take`` takes places of all entries."""
    index, size = places_of(given), math.prod(shape_of(given["x"]))
    bad = index[(index < -size) | (index >= size)]
    return (
        ("IndexError", f"out of range: tried to access index {bad[0]} on a tensor of {size} elements.")
        if bad.size
        else None
    )


def of_target(given: Given) -> Said:
    """Losses of classes take one class for each row."""
    scores, target, ignored = given["x"], given["target"], given.get("ignore_index", -100)
    if not isinstance(target, Tensor) or not scores.shape:
        return None
    shape = scores.shape
    classes = np.asarray(target.value)
    axis = 0 if len(shape) == 1 else 1
    wanted, weight = without_classes(shape), given.get("weight")
    if classes.shape != wanted:
        return of_target_shape(shape, wanted, classes.shape)
    if isinstance(weight, Tensor) and weight.shape != (shape[axis],):
        return runtime(
            f"weight tensor should be defined either for all {shape[axis]} classes or no classes but got weight tensor "
            f"of shape: {list(weight.shape)}"
        )
    bad = classes[(classes != ignored) & ((classes < 0) | (classes >= shape[axis]))]
    return ("IndexError", f"Target {int(bad.ravel()[0])} is out of bounds.") if bad.size else None


def of_target_shape(shape: tuple[int, ...], wanted: tuple[int, ...], target: tuple[int, ...]) -> Said:
    """Return the error for classes of another shape than the scores have without the axis of classes."""
    if len(shape) <= 2 and len(target) > 1:
        return runtime("0D or 1D target tensor expected, multi-target not supported")
    if len(shape) == 1:
        return "ValueError", f"For 1D input, 1D target must have size 1, but got target size: {target[0]}"
    batch = target[0] if target else 0
    if shape[0] != batch:
        return "ValueError", f"Expected input batch_size ({shape[0]}) to match target batch_size ({batch})."
    if len(shape) == 4 and len(target) != 3:
        return runtime(
            f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(target)}"
        )
    return runtime(f"Expected target size {list(wanted)}, got {list(target)}")


def of_loss(given: Given) -> Said:
    """Losses compare tensors of one shape, which their weights have too."""
    weight = given.get("weight")
    if isinstance(weight, Tensor) and weight.shape != given["x"].shape:
        return "ValueError", "Weights and input must have the same size."
    return misfit(shape_of(given["x"]), shape_of(given["target"]))


def of_bce(given: Given) -> Said:
    """Binary cross entropy takes a target of the same shape, and probabilities."""
    x, target = given["x"], given["target"]
    if x.shape != target.shape:
        return "ValueError", (
            f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
            f"(torch.Size({list(x.shape)})) is deprecated. Please ensure they have the same size."
        )
    inside = np.all((np.asarray(x.value) >= 0) & (np.asarray(x.value) <= 1))
    return runtime(f"all elements of {'target' if inside else 'input'} should be between 0 and 1")


def of_empty(name: str) -> Callable[[Given], Said]:
    """Return what says that a reduction of no entries needs an axis."""

    def said(given: Given) -> Said:
        if math.prod(shape_of(given["x"])) or given.get("dim") is not None:
            return None
        if name.startswith("arg"):
            return "IndexError", f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        return runtime(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
            "the 'dim' argument."
        )

    return said


# ---- matrices
def square(name: str) -> Callable[[Given], Said]:
    """Return what says that a matrix is not square, or singular."""

    def said(given: Given) -> Said:
        shape = shape_of(given.get("x", given.get("A")))
        if len(shape) < 2:
            return runtime(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
        if shape[-1] != shape[-2]:
            return runtime(
                f"linalg.{name}: A must be batches of square matrices, but they are {shape[-2]} by {shape[-1]} matrices"
            )
        return singular(name, np.asarray(given.get("x", given.get("A")).value))

    return said


def singular(name: str, a: Any) -> Said:
    """Return the error for a matrix that has no inverse, or no Cholesky factor."""
    if name == "solve":
        return "_LinAlgError", "torch.linalg.solve: The solver failed because the input matrix is singular."
    if a.ndim != 2 or a.dtype == object:
        return None
    if name == "inv":
        place = next((k for k in range(1, len(a) + 1) if np.linalg.matrix_rank(a[:k, :k]) < k), len(a))
        return "_LinAlgError", (
            f"linalg.inv: The diagonal element {place} is zero, the inversion could not be completed because the input "
            "matrix is singular."
        )
    if name == "cholesky":
        order = next((k for k in range(1, len(a) + 1) if np.linalg.det(a[:k, :k]) <= 0), len(a))
        return "_LinAlgError", (
            "linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {order} is not positive-definite)."
        )
    return None


PRODUCTS = ("mm", "mv", "torch.dot", "bmm", "matmul", "linear", "addmm")
WORDS: dict[str, Callable[[Given], Said]] = {
    "mm": of_mm,
    "mv": of_mv,
    "torch.dot": of_dot,
    "bmm": of_bmm,
    "matmul": of_matmul,
    "linear": of_linear,
    "addmm": of_addmm,
    "cat": of_cat,
    "stack": of_stack,
    "reshape": of_reshape,
    "expand": of_expand,
    "permute": of_permute,
    "narrow": of_narrow,
    "split": of_split,
    "chunk": lambda given: runtime(f"chunk expects `chunks` to be greater than 0, got: {given['chunks']}"),
    "t": lambda given: runtime(f"t() expects a tensor with <= 2 dimensions, but self is {len(shape_of(given['x']))}D"),
    "gather": of_gather,
    "scatter": of_gather,
    "scatter_add": of_gather,
    "index_select": of_index_select,
    "embedding": of_index_select,
    "take": of_take,
    "nll_loss": of_target,
    "cross_entropy": of_target,
    "bce": of_bce,
    "mse_loss": of_loss,
    "l1_loss": of_loss,
    "smooth_l1_loss": of_loss,
    "huber_loss": of_loss,
    "masked_fill": lambda given: misfit(shape_of(given["mask"]), shape_of(given["x"])),
    "masked_select": lambda given: misfit(shape_of(given["mask"]), shape_of(given["x"])),
    "topk": lambda given: runtime("selected index k out of range"),
    "kthvalue": lambda given: runtime(
        "kthvalue(): selected number k out of range for dimension "
        f"{given.get('dim', -1) % max(len(shape_of(given['x'])), 1)}"
    ),
    "max": of_empty("max"),
    "min": of_empty("min"),
    "argmax": of_empty("argmax"),
    "argmin": of_empty("argmin"),
    "inv": square("inv"),
    "det": square("det"),
    "solve": square("solve"),
    "cholesky": square("cholesky"),
    "trace": lambda given: runtime(f"trace: expected a matrix, but got tensor with dim {len(shape_of(given['x']))}"),
    "outer": lambda given: runtime(
        f"outer: Expected 1-D argument {'self' if len(shape_of(given['x'])) != 1 else 'vec2'}, but got "
        f"{len(shape_of(given['x'])) if len(shape_of(given['x'])) != 1 else len(shape_of(given['other']))}-D"
    ),
    "where": lambda given: (
        misfit(shape_of(given["condition"]), shape_of(given["x"]))
        or misfit(shape_of(given["x"]), shape_of(given["other"]))
    ),
}
"""By the table's name of a function."""
