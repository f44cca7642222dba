"""The names and places of arguments, as the docstrings of PyTorch and the signatures of NumPy have them."""

import inspect
import re

import numpy as np
import pytest

import gradcli
from gradcli.language.calls import parameters
from gradcli.language.misread import keyword_name
from gradcli.ops import SPELLINGS, load_all
from oracles import portion

torch = pytest.importorskip("torch")
load_all()
MODULES = {"torch": torch, "F": torch.nn.functional, "torch.linalg": torch.linalg, "torch.special": torch.special}
ELSEWHERE = {
    *("out", "dtype", "layout", "device", "requires_grad", "memory_format", "pin_memory", "generator", "inplace"),
    "_stacklevel",
}
"""Arguments that say where numbers are kept, or that every function of their family takes."""
LEFT_OUT = {
    "out_dtype": "single precision inside a product",
    "output_size": "a length that PyTorch need not count",
    "sorter": "an order for what is not sorted",
    "bool pivot": "elimination without exchanged rows, which PyTorch has on a GPU alone",
    "compute_mode": "another way to the same numbers",
}


EITHER = {("torch.max", "other"), ("torch.min", "other")}
"""What stands where another signature has dim: which of them is meant, the argument says."""


def documented(name, function):
    """Return the parameters of each signature in a docstring: names, and whether each is given by name alone."""
    doc = function.__doc__ or ""
    found = re.findall(rf"^\s*(?:\.\. function:: )?(?:[\w.]*\.)?{name}\((.*?)\) *->", doc, re.MULTILINE)
    for text in [text for text in found if "List[" not in text]:  # types that Python wrote
        alone = False
        names = []
        for part in re.sub(r"\(.*?\)|\[.*?\]", "", text).split(","):
            own = part.split("=")[0].split(":")[0].strip().strip("\\")
            if own.startswith("*") and own != "*":
                break
            alone = alone or own == "*"
            if own and own not in "*/" and own not in ELSEWHERE:
                names.append((own, alone))
        yield names


SIGNATURES = [
    pytest.param(f"{prefix}.{name}", names, id=f"{prefix}.{name}")
    for prefix, module in MODULES.items()
    for name in dir(module)
    if f"{prefix}.{name}" in SPELLINGS
    for names in documented(name, getattr(module, name))
]


def test_docstrings_have_signatures():
    assert len(SIGNATURES) > 250


@pytest.mark.parametrize(("name", "names"), portion(SIGNATURES, 8))
def test_pytorch_s_arguments_have_its_names_and_places(name, names):
    if name == "torch.repeat_interleave" and names[0][0] == "repeats":
        pytest.skip("the positions alone, which repeat_interleave of a tensor does not take")
    own = parameters(SPELLINGS[name])
    known, taken = {parameter.name: parameter for parameter in own}, []
    for written, alone in names:
        if written in LEFT_OUT:
            continue
        found = written if written in known else keyword_name(written, known, taken)
        assert found in known, f"{name} takes no {written}"
        if not alone and not any(parameter.rest for parameter in own):
            assert (name, written) in EITHER or own[len(taken)].name == found, (
                f"{written} is argument {len(taken)} of {name}"
            )
        taken.append(found)


X = [[1.0, 2.0], [3.0, 5.0]]


@pytest.mark.parametrize(("program", "value"), [
    ("torch.mm(input=x, mat2=x)", np.array(X) @ X), ("torch.mv(x, vec=x[0])", np.array(X) @ X[0]),
    ("torch.dot(x[0], tensor=x[1])", 13.0),
    ("torch.outer(x[0], vec2=x[1])", np.outer(X[0], X[1])), ("torch.max(x, other=x.T)", np.maximum(X, np.transpose(X))),
    ("torch.min(input=x, other=x.T)", np.minimum(X, np.transpose(X))), ("torch.linalg.det(A=x)", np.linalg.det(X)),
    ("torch.einsum(equation='ij->ji', operands=[x])", np.transpose(X)), ("torch.tile(x, dims=(2,))", np.tile(X, 2)),
    ("torch.true_divide(x, 2)", np.divide(X, 2)), ("torch.linalg.solve(A=x, B=x, left=False)", np.eye(2)),
    ("np.outer(a=x[0], b=x[1])", np.outer(X[0], X[1])), ("np.vstack(tup=[x, x])", np.vstack([X, X])),
    ("np.flip(m=x, axis=0)", np.flip(X, 0)), ("np.linalg.solve(a=x, b=x)", np.eye(2)),
])  # fmt: skip
def test_arguments_by_pytorch_s_and_numpy_s_names(program, value):
    found = gradcli.explain(program, x=X, v=np.ones(np.shape(value)))
    np.testing.assert_allclose(found.output, value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("program", "value"), [
    ("np.searchsorted([1, 2, 2, 3], 2., 'left')*x", 2.0), ("np.searchsorted([1, 2, 2, 3], 2., 'right')*x", 6.0),
    ("np.nan_to_num([np.nan, 1.], True, 5.).sum()*x", 12.0), ("np.linspace(0, 1, 4, False).sum()*x", 3.0),
    ("np.cross(A, B, 0).sum()*x", 2 * np.cross(np.arange(9.0).reshape(3, 3) ** 2, np.eye(3) + 1, 0).sum()),
    ("np.trace(A, 1)*x", 2 * np.trace(np.arange(9.0).reshape(3, 3) ** 2, 1)),
])  # fmt: skip
def test_numpy_s_places_are_numpy_s(program, value):
    lines = "A = np.arange(9).reshape(3, 3)**2\nB = np.eye(3) + 1\n"
    assert gradcli.explain(lines + program, x=2.0).output == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("program", [
    "np.sum(x, 0, True)", "np.mean(x, 1, True)", "np.max(x, 0, True)", "np.prod(x, 0, True)", "np.std(x, 0, 1)",
    "np.var(x, 0, 1)", "np.var(x, 0, 0, True)", "jnp.sum(x, 0, True)", "np.nan_to_num(x, 2.)",
    "np.nan_to_num(x, copy=False)",
])  # fmt: skip
def test_a_place_that_numpy_has_for_another_argument_is_refused(program):
    with pytest.raises(gradcli.GradcliError) as caught:
        gradcli.explain(f"sum({program})", x=X)
    assert caught.value.kind == "arguments"
    assert caught.value.hint or "copy" in caught.value.message


def test_names_and_places_of_numpy_hold_where_an_option_is_given_by_name():
    for name, function in SPELLINGS.items():
        numpy_own = getattr(np, name[3:], None) if name.startswith("np.") and name.count(".") == 1 else None
        if numpy_own is None or not callable(numpy_own):
            continue
        own = {parameter.name for parameter in parameters(function)}
        try:
            given = inspect.signature(numpy_own).parameters
        except ValueError:
            continue
        for option in ("axis", "keepdims", "ddof", "axis1", "axis2", "indexing", "side"):
            if option in given and given[option].kind is not inspect.Parameter.POSITIONAL_ONLY:
                found = option if option in own else keyword_name(option, own)
                assert found or (name, option) in WITHOUT, f"{name} takes no {option}"


WITHOUT = {
    ("np.logspace", "axis"), ("np.linspace", "axis"), ("np.median", "keepdims"), ("np.matmul", "axis"),
    ("np.matmul", "keepdims"), ("np.vecdot", "keepdims"),
}  # fmt: skip
"""Options that are refused."""
