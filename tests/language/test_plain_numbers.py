"""A plain number where PyTorch takes tensors alone: NumPy's answer with a note, and an error with ``strict``."""

import pytest

import gradcli
from gradcli.errors import GradcliError
from gradcli.ops import FUNCTIONS, load_all
from oracles import portion

load_all()
X = [0.3, -0.5, 1.2]
BY_FUNCTION = sorted(
    f"{spelling}(x, 0.5)"
    for function in FUNCTIONS.values()
    if function.tensors and function.name not in ("logical_and", "logical_or", "logical_xor", "logical_not")
    for spelling in function.spellings
    if spelling.startswith("torch.")
)
REFUSED = ["x.maximum(0)", "torch.minimum(0.5, x)", "torch.hypot(x, -1.)", "F.relu(torch.fmax(x, +2))"]
ANSWERED = [
    "maximum(x, 0)", "np.maximum(x, 0)", "jnp.maximum(0, x)", "np.hypot(x, 1)", "torch.maximum(x, torch.tensor(0.))",
    "torch.max(x, torch.tensor(0.))", "torch.clamp(x, 0)", "torch.xlogy(x, 2)", "torch.maximum(x, x.mean())",
]  # fmt: skip


def refusals(program, **options):
    """Return what an answer says of plain numbers."""
    found = gradcli.explain(f"y = {program}; y.double().sum()*1.0 + x.sum()", x=X, **options)
    return [note.message for note in found.notes if note.kind == "torch-refuses" and "plain number" in note.message]


@pytest.mark.parametrize("program", portion([*BY_FUNCTION, *REFUSED], 4))
def test_a_note_tells_what_pytorch_refuses_and_strict_refuses_it(program):
    assert len(refusals(program)) == 1
    with pytest.raises(GradcliError) as raised:
        refusals(program, strict=True)
    assert raised.value.kind == "torch-refuses"


@pytest.mark.parametrize("program", ANSWERED)
def test_there_is_no_note_where_pytorch_answers_or_is_not_named(program):
    assert refusals(program) == []


@pytest.mark.parametrize("program", [*BY_FUNCTION, *REFUSED])
def test_pytorch_refuses(program):
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError):
        eval(program, {"torch": torch, "F": torch.nn.functional, "x": torch.tensor(X)})  # noqa: S307 - constants


@pytest.mark.parametrize("program", ["math.hypot(s, 1)", "s.relu()"])
def test_another_library_takes_numbers(program):
    assert gradcli.explain(program, s=0.5, strict=True).grad["s"].shape == ()
