"""NumPy: by NumPy itself where nothing is differentiated, by gradcli's table where it is."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from gradcli.ops.shaping import CLONE
from gradcli.runner import printing
from gradcli.runner.converting import array_of, cast, dtype_name
from gradcli.runner.exceptions import exception_class
from gradcli.runner.libraries.numpy_traced import NEUTRAL, TRACED, reduced, write_traced
from gradcli.runner.library import TABLE, always, native
from gradcli.runner.numpy_values import (
    as_view,
    back,
    by_numpy,
    estimate,
    flows,
    from_real,
    lengths,
    real,
    size_of,
    to_real,
    work_of,
)
from gradcli.runner.python.builtins import FLOAT, NDARRAY
from gradcli.runner.python.calls import call_table, find_table
from gradcli.runner.python.containers import take
from gradcli.runner.python.operators import cut, note_text, read_number, traced
from gradcli.runner.state import Run
from gradcli.runner.values import Class, Closure, Context, DType, TableFunction, Tensor, category, extra_of, promoted

FUNCTIONS = (
    "abs", "absolute", "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle", "any", "append",
    "apply_over_axes", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array_equal", "array_equiv",
    "array_split", "asin", "asinh", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d",
    "average", "bartlett", "bincount", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "blackman",
    "block", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "cbrt", "ceil", "choose", "clip",
    "column_stack", "compress", "concat", "concatenate", "conj", "conjugate", "convolve", "copysign",
    "corrcoef", "correlate", "cos", "cosh", "count_nonzero", "cov", "cross", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "deg2rad", "degrees", "delete", "diag", "diag_indices",
    "diag_indices_from", "diagflat", "diagonal", "diff", "digitize", "divide", "divmod", "dot", "dsplit",
    "dstack", "ediff1d", "einsum", "empty", "empty_like", "equal", "exp", "exp2", "expand_dims", "expm1",
    "extract", "eye", "fabs", "fix", "flatnonzero", "flip", "fliplr", "flipud", "float_power", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "frexp", "full", "full_like", "gcd", "geomspace", "gradient",
    "greater", "greater_equal", "hamming", "hanning", "heaviside", "histogram", "histogram2d",
    "histogram_bin_edges", "hsplit", "hstack", "hypot", "i0", "identity", "imag", "indices", "inner", "insert",
    "interp", "intersect1d", "invert", "isclose", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf",
    "isreal", "isscalar", "ix_", "kaiser", "kron", "lcm", "ldexp", "left_shift", "less", "less_equal",
    "lexsort", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logspace", "mask_indices", "matmul", "matrix_transpose", "max",
    "maximum", "mean", "median", "meshgrid", "min", "minimum", "mod", "modf", "moveaxis", "multiply",
    "nan_to_num", "nanargmax", "nanargmin", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndim", "negative", "nextafter",
    "nonzero", "not_equal", "ones", "ones_like", "outer", "packbits", "pad", "partition", "percentile",
    "permute_dims", "piecewise", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul",
    "polysub", "polyval", "positive", "pow", "power", "prod", "promote_types", "ptp", "quantile", "rad2deg",
    "radians", "ravel", "ravel_multi_index", "real", "reciprocal", "remainder", "repeat", "reshape", "resize",
    "right_shift", "rint", "roll", "rollaxis", "roots", "rot90", "round", "row_stack", "searchsorted", "select",
    "setdiff1d", "setxor1d", "shape", "sign", "signbit", "sin", "sinc", "sinh", "size", "sort", "spacing",
    "split", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace", "transpose", "trapezoid", "tri", "tril",
    "tril_indices", "tril_indices_from", "trim_zeros", "triu", "triu_indices", "triu_indices_from",
    "true_divide", "trunc", "union1d", "unique", "unpackbits", "unravel_index", "unstack", "unwrap", "vander",
    "var", "vdot", "vecdot", "vsplit", "vstack", "where", "zeros", "zeros_like", "may_share_memory",
    "shares_memory",
)  # fmt: skip
"""Functions of NumPy that take and give arrays and numbers."""
LINEAR = (
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
)  # fmt: skip
METHODS = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress", "conj",
    "conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ptp",
    "ravel", "repeat", "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace",
    "transpose", "var",
)  # fmt: skip
"""Methods of arrays that are functions too."""
WITHOUT_DERIVATIVE = {
    "argmax", "argmin", "argsort", "argwhere", "argpartition", "nonzero", "flatnonzero", "shape", "ndim",
    "size", "array_equal", "allclose", "isclose", "isnan", "isinf", "isfinite", "sign", "signbit", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_not",
    "logical_xor", "all", "any", "count_nonzero", "digitize", "searchsorted", "isscalar", "zeros_like", "ones_like",
    "empty_like", "unravel_index", "shares_memory", "may_share_memory", "spacing", "lexsort", "isin",
    "nanargmax", "nanargmin", "matrix_rank", "floor", "ceil", "rint", "trunc", "array_equiv", "isreal",
    "broadcast_shapes",
}  # fmt: skip
"""Functions whose results do not change with what they are given, or only in steps."""
CUT = {"histogram", "histogram2d", "histogram_bin_edges"}
"""Functions whose results have a derivative that gradcli does not have."""
VIEWS = {
    "reshape", "ravel", "transpose", "swapaxes", "squeeze", "expand_dims", "moveaxis", "rollaxis", "split",
    "array_split", "hsplit", "vsplit", "dsplit", "diagonal", "broadcast_to", "flip", "fliplr", "flipud",
    "rot90", "atleast_1d", "atleast_2d", "atleast_3d", "matrix_transpose", "permute_dims", "real", "unstack",
    "diag",
}  # fmt: skip
"""Functions that may give the memory that they are given."""


def function_named(module: Any, name: str) -> Any:
    """Return a function of NumPy's by one of the names above."""
    made = getattr(module, name, None)
    return made if made is not None else getattr(np, name, None)


class NumpyFunction:
    """A function of NumPy's."""

    def __init__(self, name: str, module: Any = np, prefix: str = "numpy") -> None:
        self.name, self.host = name, function_named(module, name)
        self.__name__, self.full = name, f"{prefix}.{name}"
        self.text = (
            f"<function {name} at 0x7f0000000000>" if not isinstance(self.host, np.ufunc) else f"<ufunc '{name}'>"
        )

    @property
    def table(self) -> TableFunction | None:
        """The function of gradcli's table of this name."""
        return find_table(self.full)

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call it: by NumPy itself where nothing flows."""
        out = named.pop("out", None)
        made = self.result(run, arguments, named)
        if out is None:
            return made
        target = out[0] if isinstance(out, tuple) else out
        if isinstance(made, Tensor):
            from gradcli.runner.python.containers import write_back

            write_back(run, target, made)
        return target

    def result(self, run: Run, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return the result."""
        tensors = tensors_in((*arguments, *named.values()))
        by_table = any(flows(t) or (t.library in ("torch", "jax") and self.table is not None) for t in tensors)
        if by_table and self.name in WITHOUT_DERIVATIVE and not any(t.library == "torch" for t in tensors):
            return self.by_numpy(run, arguments, named)
        if not by_table:
            return self.by_numpy(run, arguments, named)
        if any(traced(t) for t in tensors):
            if self.name in NEUTRAL and not {"where", "initial"}.isdisjoint(named):
                return reduced(run, self.name, *arguments, **named)
            if self.name in TRACED:
                return TRACED[self.name](run, *arguments, **named)
            if self.name in CUT:
                return cut(run, f"np.{self.name}", tensors, self.by_numpy(run, arguments, named))
        if self.table is None:
            raise run.refuse(f"np.{self.name} of what is differentiated is not part of gradcli")
        return call_table(
            run, self.table, list(arguments), {k: v for k, v in named.items() if v is not None or k == "axis"}
        )

    def by_numpy(self, run: Run, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call NumPy."""
        given = [to_real(run, a) for a in arguments]
        options = {key: to_real(run, value) for key, value in named.items()}
        run.meter.charge(estimate(self.name, given, options))
        run.meter.spend(work_of(self.name, given, options))
        made = by_numpy(run, lambda: self.host(*given, **options))
        if self.name in VIEWS and arguments and isinstance(arguments[0], Tensor) and isinstance(given[0], np.ndarray):
            return shared(run, arguments[0], given, options, made, self.host)
        return from_real(run, made)

    attributes: ClassVar[dict[str, Any]] = {
        "at": lambda run, me: lambda run, x, places, *values: add_at(run, me, x, places, *values),
        "nin": lambda run, me: me.host.nin,
        "nout": lambda run, me: me.host.nout,
        **{
            name: lambda run, me, name=name: UfuncMethod(me, name)
            for name in ("reduce", "accumulate", "outer", "reduceat")
        },
    }


WHOLE = {
    "reduce": {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"},
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
"""Functions of whole arrays that methods of functions of two numbers stand for."""


class UfuncMethod:
    """``np.add.reduce`` and its like."""

    def __init__(self, function: NumpyFunction, name: str) -> None:
        self.function, self.name = function, name

    def __call__(self, run: Run, x: Any, *arguments: Any, **named: Any) -> Any:
        """Call it: where something flows by the function that does the same."""
        if any(flows(t) for t in tensors_in((x, *arguments))):
            table = WHOLE.get(self.name, {})
            if self.name == "outer":
                a = run.function("reshape", x, *x.shape, *(1,) * len(arguments[0].shape))
                return self.function(run, a, *arguments, **named)
            if self.function.name not in table:
                raise run.refuse(
                    f"np.{self.function.name}.{self.name} of what is differentiated is not part of gradcli"
                )
            options = {"axis": 0} | named if not arguments else named
            return run.function(f"np.{table[self.function.name]}", x, *arguments, **options)
        given = [to_real(run, a) for a in (x, *arguments)]
        options = {key: to_real(run, value) for key, value in named.items()}
        if self.name == "outer":
            run.meter.charge(int(np.size(given[0])) * int(np.size(given[1])))
        return from_real(
            run, by_numpy(run, lambda: getattr(self.function.host, self.name)(*given, **options))
        )  # one of four names


def add_at(run: Run, function: NumpyFunction, x: Tensor, places: Any, *values: Any) -> None:
    """Do what ``np.add.at`` does: places that stand twice count twice."""
    if any(flows(t) for t in tensors_in((x, *values))):
        if function.name != "add":
            raise run.refuse(f"np.{function.name}.at of what is differentiated is not part of gradcli")
        parts = places if isinstance(places, tuple) else (places,)
        index = tuple([array_of(run, part, "numpy") for part in parts])
        made = run.function("torch.index_put", x, index, values[0], accumulate=True)
        from gradcli.runner.python.containers import write_back

        write_back(run, x, made)
        return
    array, where = np.array(real(x)), to_real(run, places)
    given = [to_real(run, value) for value in values]
    by_numpy(run, lambda: function.host.at(array, where, *given))
    run.write(x, back(array))


def tensors_in(values: Any, seen: set[int] | None = None) -> list[Tensor]:
    """Return the arrays among values, and those in lists, each of which is looked into once."""
    found: list[Tensor] = []
    seen = set() if seen is None else seen
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif (
            isinstance(value, list | tuple)
            and id(value) not in seen
            and any(type(v) not in (int, float) for v in value)
        ):
            seen.add(id(value))
            found += tensors_in(value, seen)
    return found


def shared(run: Run, base: Tensor, given: list[Any], options: dict[str, Any], made: Any, host: Any) -> Any:
    """Return results as views of an array where they share its memory."""
    array = given[0]
    parts = list(made) if isinstance(made, list | tuple) else [made]
    if not any(isinstance(part, np.ndarray) and part.size and np.may_share_memory(part, array) for part in parts):
        return from_real(run, made)
    places = host(np.arange(array.size).reshape(array.shape), *given[1:], **options)
    if isinstance(made, np.ndarray):
        return base if made is array else as_view(run, base, made, places)
    return type(made)([as_view(run, base, part, where) for part, where in zip(made, places, strict=True)])


for _name in FUNCTIONS:
    _function = NumpyFunction(_name)
    if _function.host is not None:
        TABLE[f"numpy.{_name}"] = _function
for _name in LINEAR:
    if hasattr(np.linalg, _name):
        TABLE[f"numpy.linalg.{_name}"] = NumpyFunction(_name, np.linalg, "numpy.linalg")
for _old, _new in {
    "trapz": "trapezoid", "product": "prod", "cumproduct": "cumprod", "round_": "round", "in1d": "isin",
    "sometrue": "any", "alltrue": "all",
}.items():  # fmt: skip
    TABLE[f"numpy.{_old}"] = TABLE[f"numpy.{_new}"]


# ---- constants and types
TABLE |= {
    **dict.fromkeys(("numpy.inf", "numpy.Inf", "numpy.PINF"), math.inf),
    **dict.fromkeys(("numpy.nan", "numpy.NaN", "numpy.NAN"), math.nan),
    **dict.fromkeys(("numpy.ndarray", "numpy.typing.NDArray", "numpy.typing.ArrayLike"), NDARRAY),
    "numpy.NINF": -math.inf, "numpy.pi": math.pi, "numpy.e": math.e, "numpy.euler_gamma": np.euler_gamma,
    "numpy.newaxis": None, "numpy.True_": True, "numpy.False_": False, "numpy.__version__": "2.4.6",
    "numpy.linalg.LinAlgError": exception_class("LinAlgError"),
}  # fmt: skip
for _dtype, _names in {
    "float16": "float16 half",
    "float32": "float32 single",
    "float64": "float64 double float_",
    "int8": "int8 byte",
    "int16": "int16 short",
    "int32": "int32 intc",
    "int64": "int64 int_ intp longlong long",
    "uint8": "uint8 ubyte",
    "bool": "bool bool_",
}.items():
    TABLE |= {f"numpy.{_name}": DType(_dtype, "numpy") for _name in _names.split()}
ABSTRACT = {"floating": 2, "inexact": 2, "integer": 1, "signedinteger": 1, "number": 3, "generic": 4}
for _name in ABSTRACT:
    TABLE[f"numpy.{_name}"] = Class(
        _name, [], {"__instancecheck__": lambda run, x, name=_name: of_abstract(x, name)}, qualified=f"numpy.{_name}"
    )


def of_abstract(x: Any, name: str) -> bool:
    """Return whether a value is a number of NumPy's of an abstract type."""
    if not isinstance(x, Tensor) or x.library != "numpy" or x.shape:
        return False
    return ABSTRACT[name] == 4 or (ABSTRACT[name] == 3 and category(x.dtype) > 0) or ABSTRACT[name] == category(x.dtype)


@native("numpy.issubdtype")
def issubdtype(run: Run, dtype: Any, kind: Any) -> bool:
    """Return whether a type is of an abstract one."""
    name = dtype_name(run, dtype)
    if isinstance(kind, Class) and kind.name in ABSTRACT:
        rank = category(name or "bool")
        return ABSTRACT[kind.name] in (rank, 4) or (ABSTRACT[kind.name] == 3 and rank > 0)
    return name == dtype_name(run, kind)


@native("numpy.result_type", "numpy.promote_types")
def result_type(run: Run, *values: Any) -> DType:
    """Return the type that several make together."""
    names = [value.dtype if isinstance(value, Tensor) else dtype_name(run, value) or "float64" for value in values]
    kind = names[0]
    for name in names[1:]:
        kind = promoted(kind, name)
    return DType(kind, "array")


@native("numpy.dtype")
def dtype_(run: Run, dtype: Any, *_: Any, **__: Any) -> DType:
    """Return a type of numbers."""
    return DType(dtype_name(run, dtype) or "float64", "array")


class Info:
    """``np.finfo`` and ``np.iinfo``."""

    def __init__(self, info: Any) -> None:
        self.info = info
        self.text = repr(info)

    attributes: ClassVar[dict[str, Any]] = {
        name: lambda run, me, name=name: from_real(run, getattr(me.info, name))  # one of the names below
        for name in [
            "eps",
            "max",
            "min",
            "tiny",
            "resolution",
            "precision",
            "bits",
            "smallest_normal",
            "epsneg",
            "nmant",
        ]
    }


@native("numpy.finfo", "numpy.iinfo")
def info(run: Run, dtype: Any) -> Info:
    """Return what a type of numbers can hold."""
    name = (
        dtype.dtype
        if isinstance(dtype, Tensor)
        else "int64"
        if type(dtype) is int
        else dtype_name(run, dtype) or "float64"
    )
    return Info(np.finfo(name) if category(name) == 2 else np.iinfo(name))


# ---- making arrays
@native("numpy.array", "numpy.asarray_chkfinite", "numpy.copy", "numpy.asmatrix")
def array(
    run: Run,
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = None,
    ndmin: int = 0,
    subok: Any = None,
    like: Any = None,
) -> Any:
    """Return an array of numbers, of lists of them, or of arrays."""
    name = dtype_name(run, dtype)
    tensors = tensors_in([object])
    if isinstance(object, Tensor) and object.library == "torch" and object.active:
        run.fail(
            "RuntimeError", "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if any(flows(t) for t in tensors):
        made = array_of(run, object, "numpy", name)
        if made is object:
            made = Tensor(run.f(CLONE, made.node), made.dtype, "numpy")
            extra_of(made).several = True
        return cast(run, made, name) if name is not None else made
    given = to_real(run, object)
    run.meter.charge(size_of(given))
    made = from_real(run, by_numpy(run, lambda: np.array(given, dtype=name, ndmin=ndmin)), several=True)
    return read_number(run, given, made) if isinstance(given, str) else with_texts(run, object, made)


def with_texts(run: Run, items: Any, made: Any) -> Any:
    """Return an array of numbers that were read from texts of a list, where it was."""
    texts = [item for item in items if isinstance(item, str)] if isinstance(items, list | tuple) else []
    return read_number(run, " ".join(texts), made) if texts else made


@native("numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray", "numpy.asfortranarray")
def as_array(run: Run, x: Any, dtype: Any = None, **named: Any) -> Any:
    """Return an array: itself where it is one already."""
    name = dtype_name(run, dtype)
    if (
        isinstance(x, Tensor)
        and x.library == "numpy"
        and name in (None, x.dtype)
        and (x.shape or (x.extra and x.extra.several))
    ):
        return x
    if isinstance(x, Tensor) and x.library == "torch" and not x.active and name in (None, x.dtype):
        return run.call(run.attribute(x, "numpy"))
    return array(run, x, dtype)


@native("numpy.fromiter")
def fromiter(run: Run, items: Any, dtype: Any, count: int = -1) -> Any:
    """Return an array of items."""
    return array(run, take(run, items)[: None if count < 0 else count], dtype)


@native("numpy.fromfunction")
def fromfunction(run: Run, function: Any, shape: Any, *, dtype: Any = FLOAT, **named: Any) -> Any:
    """Return what a function gives of places."""
    run.meter.charge(lengths(shape) * len(shape))
    places = [from_real(run, part) for part in np.indices(tuple(shape), dtype=dtype_name(run, dtype) or "float64")]
    return run.call(function, places, named)


class Vectorized:
    """``np.vectorize``: a function that is called with each entry."""

    def __init__(self, function: Any, otypes: Any = None) -> None:
        self.function, self.otypes = function, otypes

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call the function with each entry."""
        arrays = [a if isinstance(a, Tensor) else array(run, a) for a in arguments]
        shape = by_numpy(run, lambda: np.broadcast_shapes(*[a.shape for a in arrays]))
        flat = [
            run.function("np.reshape", run.function("np.broadcast_to", a, shape), (-1,)) if shape else a for a in arrays
        ]
        if not shape:
            return run.call(self.function, flat, named)
        rows = [take(run, part) for part in flat]
        made = [run.call(self.function, list(items), named) for items in zip(*rows, strict=True)]
        whole = array(run, made, self.otypes[0] if isinstance(self.otypes, list | tuple) and self.otypes else None)
        return TABLE["numpy.reshape"](run, whole, shape)


@native("numpy.vectorize", "numpy.frompyfunc")
def vectorize(run: Run, function: Any = None, *_: Any, otypes: Any = None, **__: Any) -> Any:
    """Return a function that is called with each entry."""
    if function is None:
        return lambda run, function: Vectorized(function, otypes)
    return Vectorized(function, otypes)


@native("numpy.apply_along_axis")
def apply_along_axis(run: Run, function: Any, axis: int, x: Any, *arguments: Any, **named: Any) -> Any:
    """Return what a function gives of each row along an axis."""
    x = x if isinstance(x, Tensor) else array(run, x)
    moved = TABLE["numpy.moveaxis"](run, x, axis, -1)
    lead = moved.shape[:-1]
    rows = take(run, TABLE["numpy.reshape"](run, moved, (-1, moved.shape[-1])))
    made = array(run, [run.call(function, [row, *arguments], named) for row in rows])
    made = TABLE["numpy.reshape"](run, made, (*lead, *made.shape[1:]))
    return TABLE["numpy.moveaxis"](run, made, -1, axis) if len(made.shape) == len(x.shape) else made


@native("numpy.piecewise")
def piecewise(run: Run, x: Any, conditions: Any, functions: Any, *arguments: Any) -> Any:
    """Return what one of several functions gives of each entry."""
    x = x if isinstance(x, Tensor) else array(run, x)
    parts = [run.call(f, [x, *arguments]) if isinstance(f, Closure) or callable(f) else f for f in functions]
    conditions = [c if isinstance(c, Tensor) else array(run, c) for c in conditions]
    made = parts[len(conditions)] if len(parts) > len(conditions) else 0.0
    for condition, part in zip(reversed(conditions), reversed(parts[: len(conditions)]), strict=True):
        made = TABLE["numpy.where"](run, condition, part, made)
    return made


# ---- writes
def writing(name: str) -> Any:
    """Return a function that changes the array that it is given."""
    host = getattr(np, name)  # one of the names below

    def run_it(run: Run, x: Tensor, *arguments: Any, **named: Any) -> None:
        if any(flows(t) for t in tensors_in((x, *arguments))):
            write_traced(run, name, x, arguments, named)
            return
        array, given = np.array(real(x)), [to_real(run, a) for a in arguments]
        options = {key: to_real(run, value) for key, value in named.items()}
        by_numpy(run, lambda: host(array, *given, **options))
        run.write(x, back(array))

    return run_it


for _name in ("put", "place", "putmask", "fill_diagonal", "copyto", "put_along_axis"):
    TABLE[f"numpy.{_name}"] = writing(_name)


# ---- what shows, and what means nothing here
@native("numpy.set_printoptions")
def set_printoptions(run: Run, **options: Any) -> None:
    """Set how arrays are printed."""
    formatter = options.pop("formatter", None)
    if formatter:
        raise run.refuse("np.set_printoptions with a formatter is not part of gradcli")
    run.numpy_options = printing.numpy_options(run.numpy_options, {k: to_real(run, v) for k, v in options.items()})


class PrintOptions(Context):
    """``np.printoptions``: other options for a while."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def enter(self, run: Run) -> None:
        """Set them."""
        self.before = run.numpy_options
        set_printoptions(run, **self.options)

    def leave(self, run: Run) -> None:
        """Take them back."""
        run.numpy_options = self.before


TABLE["numpy.printoptions"] = lambda run, **options: PrintOptions(options)


@native("numpy.array2string", "numpy.array_str", "numpy.array_repr")
def array2string(run: Run, x: Any, *_: Any, **options: Any) -> str:
    """Return an array as a text."""
    names = ("precision", "separator", "suppress_small", "max_line_width", "threshold", "edgeitems", "floatmode")
    with np.printoptions(**printing.NUMPY | run.numpy_options):
        kept = {k: v for k, v in options.items() if k in names}
        return note_text(run, np.array2string(np.asarray(to_real(run, x)), **kept), [x])


TABLE["numpy.errstate"] = always(Context())
TABLE["numpy.seterr"] = lambda run, *_, **__: {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
TABLE["numpy.geterr"] = TABLE["numpy.seterr"]


# ---- testing
def compared(name: str) -> Any:
    """Return an assertion of ``np.testing``."""
    host = getattr(np.testing, name)  # one of the names below

    def run_it(run: Run, *arguments: Any, **named: Any) -> None:
        given = [
            to_real(run, a if not isinstance(a, Tensor) else Tensor(np.asarray(a.value), a.dtype, "numpy"))
            for a in arguments
        ]
        options = {key: to_real(run, value) for key, value in named.items()}
        try:
            host(*given, **options)
        except AssertionError as error:
            run.fail("AssertionError", str(error))

    return run_it


for _name in ["allclose", "array_equal", "equal", "almost_equal", "array_almost_equal", "array_less", "approx_equal"]:
    TABLE[f"numpy.testing.assert_{_name}"] = compared(f"assert_{_name}")


# ---- r_ and c_
class Joined:
    """``np.r_`` and ``np.c_``."""

    def __init__(self, host: Any) -> None:
        self.host = host

    def subscript(self, run: Run, key: Any) -> Any:
        """Join what stands in the brackets."""
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, str) for part in parts):
            raise run.refuse("np.r_ with a text is not part of gradcli")
        if any(flows(t) for t in tensors_in(parts)):
            name = "numpy.concatenate" if self.host is np.r_ else "numpy.column_stack"
            return TABLE[name](run, [part if isinstance(part, Tensor) else array(run, part, ndmin=1) for part in parts])
        given = tuple([to_real(run, part) for part in parts])
        return from_real(run, by_numpy(run, lambda: self.host[given]))


TABLE |= {"numpy.r_": Joined(np.r_), "numpy.c_": Joined(np.c_)}


class Slices:
    """``np.s_``."""

    def subscript(self, run: Run, key: Any) -> Any:
        """Return the index."""
        del run
        return key


TABLE |= {"numpy.s_": Slices(), "numpy.index_exp": Slices()}
