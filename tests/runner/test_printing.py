"""What print and repr show of arrays, beside PyTorch's, NumPy's and JAX's own texts."""

import math
import os
from importlib.util import find_spec

import numpy as np
import pytest

from gradcli.errors import GradcliError
from gradcli.runner.printing import NUMPY, Options, cast, jax_text, numpy_options, numpy_text, torch_text
from oracles import cases, needs_torch

needs_jax = pytest.mark.skipif(
    os.environ.get("GRADCLI_REQUIRE_TORCH") != "1" and find_spec("jax") is None, reason="JAX is not installed"
)
INF, NAN = math.inf, math.nan

TENSORS = [
    *cases("printing.toml")["TENSORS"],
    (np.arange(1001), "int64", {}, "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    ([1.23456, 2.0], "float32", {"options": Options(precision=2)}, "tensor([1.23, 2.00])"),
    (np.arange(10), "int64", {"options": Options(threshold=5)}, "tensor([0, 1, 2,  ..., 7, 8, 9])"),
]


@pytest.mark.parametrize(("array", "dtype", "options", "text"), TENSORS, ids=[repr(row[3][:40]) for row in TENSORS])
def test_a_tensor_is_shown_as_pytorch_shows_it(array, dtype, options, text):
    assert torch_text(np.array(array), dtype, **options) == text


DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
SHAPES = [
    (), (0,), (0, 3), (1,), (5,), (30,), (2, 3), (7, 40), (1001,), (40, 40), (2, 1, 12), (11, 11, 11), (2, 3, 1, 4),
]  # fmt: skip
ROOM = {"int32": 2.0**31 - 1, "int16": 100.0, "int8": 100.0, "uint8": 200.0, "int64": 2.0**60, "bool": 1.0}


def numbers(rng, shape, dtype):
    """Return numbers of one of the kinds that are written differently."""
    normal = rng.standard_normal(shape)
    kinds = [
        lambda: normal,
        lambda: normal * 10.0 ** rng.integers(-9, 9),
        lambda: normal * 10.0 ** rng.integers(-9, 9, size=shape),
        lambda: np.round(normal * 10.0 ** rng.integers(0, 4)),
        lambda: np.round(normal * 3) * 10.0 ** rng.integers(0, 12),
        lambda: np.round(normal, 2),
        lambda: normal * 0,
        lambda: np.abs(normal) * 10.0 ** rng.choice([-4, -3, 8, 9]),
    ]
    values = np.asarray(kinds[rng.integers(len(kinds))]())
    if dtype in ROOM:
        low = 0 if dtype in ("uint8", "bool") else -ROOM[dtype]
        return np.asarray(np.trunc(np.clip(values, low, ROOM[dtype])).astype(dtype))
    if rng.random() < 0.3:
        chosen = rng.choice([NAN, INF, -INF, -0.0, 0.0], size=shape)
        values = np.where(rng.random(shape) < 0.4, chosen, values)
    return values


def chosen_options(rng, choices):
    chosen = {name: values[rng.integers(len(values))] for name, values in choices.items() if rng.random() < 0.3}
    return chosen if rng.random() < 0.4 else {}


TORCH_OPTIONS = {
    "precision": [0, 2, 8], "threshold": [0, 5, 100, INF], "edgeitems": [0, 1, 2, 5], "linewidth": [20, 40, 120],
    "sci_mode": [True, False], "profile": ["default", "short", "full"],
}  # fmt: skip


@needs_torch
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_tensors_are_shown_as_pytorch_shows_them(dtype):
    import torch

    rng = np.random.default_rng(DTYPES.index(dtype))
    try:
        for shape in SHAPES * 6:
            values, options = numbers(rng, shape, dtype), chosen_options(rng, TORCH_OPTIONS)
            torch.set_printoptions(profile="default")
            torch.set_printoptions(**options)
            tensor = torch.tensor(values).to(getattr(torch, dtype))
            more, grad = {"options": Options().changed(**options)}, tensor.is_floating_point()
            if grad and rng.random() < 0.5:
                tensor.requires_grad_()
                more["requires_grad"] = True
                if rng.random() < 0.5:
                    tensor = tensor.clone()
                    more["grad_fn"] = "CloneBackward0"
                elif rng.random() < 0.5:
                    tensor = torch.nn.Parameter(tensor.detach())
                    more["parameter"] = True
            assert torch_text(values, dtype, **more) == repr(tensor), (values, options)
            np.testing.assert_array_equal(cast(values, dtype).tolist(), tensor.tolist())
    finally:
        torch.set_printoptions(profile="default")


@needs_torch
def test_the_default_dtype_is_not_shown():
    import torch

    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        for dtype in DTYPES:
            for values in ([1, 0], [], [[]]):
                theirs = repr(torch.tensor(values).to(getattr(torch, dtype)))
                assert torch_text(np.array(values), dtype, default="float64") == theirs
    finally:
        torch.set_default_dtype(before)


@needs_torch
def test_doubles_are_rounded_to_the_dtype_as_pytorch_rounds_them():
    import torch

    rng = np.random.default_rng(0)
    doubles = np.concatenate([rng.standard_normal(3000) * 10.0 ** rng.integers(-45, 45, 3000), [1e300, -1e300, NAN]])
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        theirs = torch.tensor(doubles, dtype=torch.float64).to(getattr(torch, dtype)).tolist()
        np.testing.assert_array_equal(cast(doubles, dtype), theirs)
        np.testing.assert_array_equal(cast(list(doubles), dtype).tolist(), theirs)


def test_a_number_keeps_its_type():
    assert cast(0.1, "float32").tolist() == 0.10000000149011612
    assert cast(np.float64(0.1), "float64").tolist() == 0.1
    assert [type(cast(1, dtype).tolist()) for dtype in ("float32", "int64", "bool")] == [float, int, bool]


ARRAYS = [
    (np.array([1.0, 2.5]), "float64", "[1.  2.5]", "array([1. , 2.5])"),
    (np.array([1.0]), "float32", "[1.]", "array([1.], dtype=float32)"),
    (np.array(3.0), "float64", "3.0", "array(3.)"),
    (3.0, "float64", "3.0", "np.float64(3.0)"),
    (0.1, "float32", "0.1", "np.float32(0.1)"),
    (1, "int64", "1", "np.int64(1)"),
    (True, "bool", "True", "np.True_"),
    (np.array([[1, 2], [3, 4]]), "int64", "[[1 2]\n [3 4]]", "array([[1, 2],\n       [3, 4]])"),
    (np.zeros((0, 2)), "float64", "[]", "array([], shape=(0, 2), dtype=float64)"),
]


@pytest.mark.parametrize(("array", "dtype", "text", "quoted"), ARRAYS, ids=[row[3] for row in ARRAYS])
def test_an_array_is_shown_as_numpy_shows_it(array, dtype, text, quoted):
    with np.printoptions(precision=2, sign="+"):  # of whoever calls gradcli
        assert numpy_text(array, dtype, quoted=False) == text
        assert numpy_text(array, dtype, quoted=True) == quoted


NUMPY_OPTIONS = {
    "precision": [2, 4], "suppress": [True], "linewidth": [40, 150], "threshold": [5], "floatmode": ["fixed"],
    "sign": ["+"],
}  # fmt: skip


@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != "bfloat16"])
def test_options_of_numpy_are_those_of_the_script_alone(dtype):
    rng, before = np.random.default_rng(DTYPES.index(dtype)), np.get_printoptions()
    for shape in SHAPES * 2:
        values, changes = numbers(rng, shape, dtype), chosen_options(rng, NUMPY_OPTIONS)
        options = numpy_options({}, changes)
        with np.errstate(all="ignore"), np.printoptions(**changes):
            theirs = np.asarray(cast(values, dtype)).astype(dtype)
            assert numpy_text(values, dtype, quoted=False, options=options) == str(theirs)
            assert numpy_text(values, dtype, quoted=True, options=options) == repr(theirs)
    assert np.get_printoptions() == before


def test_a_call_of_set_printoptions_keeps_what_it_does_not_name():
    options = numpy_options(numpy_options({}, {"precision": 3, "formatter": {"float": str}}), {"suppress": True})
    assert options == NUMPY | {"precision": 3, "suppress": True}
    assert Options(sci_mode=True).changed(precision=2).changed(edgeitems=1) == Options(precision=2, edgeitems=1)
    with pytest.raises(TypeError, match="colour"):
        numpy_options({}, {"colour": 3})


@pytest.mark.parametrize("change", [Options().changed, lambda **changes: numpy_options({}, changes)])
def test_a_precision_is_bounded(change):
    with pytest.raises(GradcliError) as error:
        change(precision=10**9)
    assert error.value.kind == "budget"


JAX_ARRAYS = [
    ([1.0, 2.0], "float32", {}, "[1. 2.]", "Array([1., 2.], dtype=float32)"),
    (3.0, "float32", {}, "3.0", "Array(3., dtype=float32)"),
    (3.0, "float32", {"weak": True}, "3.0", "Array(3., dtype=float32, weak_type=True)"),
    (3, "int32", {"weak": True}, "3", "Array(3, dtype=int32, weak_type=True)"),
    ([], "float32", {}, "[]", "Array([], shape=(0,), dtype=float32)"),
    ([0.1, 1.0], "bfloat16", {}, "[0.100098 1]", "Array([0.100098, 1], dtype=bfloat16)"),
]


@pytest.mark.parametrize(("array", "dtype", "more", "text", "quoted"), JAX_ARRAYS, ids=[row[4] for row in JAX_ARRAYS])
def test_an_array_is_shown_as_jax_shows_it(array, dtype, more, text, quoted):
    assert jax_text(np.array(array), dtype, quoted=False, **more) == text
    assert jax_text(np.array(array), dtype, quoted=True, **more) == quoted


@needs_jax
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "uint8", "bool"])
def test_random_arrays_are_shown_as_jax_shows_them(dtype):
    import jax.numpy as jnp

    rng = np.random.default_rng(DTYPES.index(dtype))
    for shape in SHAPES * 3:
        values, changes = numbers(rng, shape, dtype), chosen_options(rng, NUMPY_OPTIONS)
        with np.printoptions(**changes):
            theirs = jnp.asarray(np.asarray(cast(values, dtype)).astype("float32" if dtype == "bfloat16" else dtype))
            theirs = theirs.astype(dtype)
            assert jax_text(values, dtype, quoted=True, options=changes) == repr(theirs)
            assert jax_text(values, dtype, quoted=False, options=changes) == str(theirs)
