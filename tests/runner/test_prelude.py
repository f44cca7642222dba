"""The prelude's classes do what PyTorch's do: the same script with the one library and with the other.

``tests/data/prelude_scripts.toml`` has the scripts, each of which leaves what is compared in ``out``. Equal means every
bit: initial weights, draws, texts, names. What PyTorch works out by functions of its own (recurrent layers, attention,
running variances) agrees to rounding of float32.
"""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from docs.make_prelude import INDEX as INDEX_FILE

from oracles import TORCH

if not TORCH:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

import torch
from prelude_in_python import INDEX, PRELUDE, loaded, ours

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
HOME = Path(__file__).parent.parent.parent


def run(script, library):
    names = {
        "torch": library,
        "nn": library.nn,
        "F": library.nn.functional,
        "optim": library.optim,
        "schedulers": library.optim.lr_scheduler,
        "data": library.utils.data,
        "D": library.distributions,
        "init": library.nn.init,
        "utils": library.nn.utils,
        "x": torch.linspace(-2, 2, 12).reshape(4, 3),
    }
    torch.manual_seed(0)
    exec(script, names)  # noqa: S102 - constants of the tests
    torch.manual_seed(0)
    return names["out"]


def agrees(one, other, exact):
    if isinstance(one, torch.Tensor):
        same = one.shape == other.shape and one.dtype == other.dtype and one.requires_grad == other.requires_grad
        return same and (torch.equal(one, other) if exact else torch.allclose(one, other, rtol=2e-5, atol=2e-6))
    if isinstance(one, dict):
        return list(one) == list(other) and all(agrees(one[key], other[key], exact) for key in one)
    if isinstance(one, list | tuple):
        return (
            type(one) is type(other)
            and len(one) == len(other)
            and all(agrees(a, b, exact) for a, b in zip(one, other, strict=True))
        )
    return one == other if exact or not isinstance(one, float) else one == pytest.approx(other, rel=1e-6)


def compare(script, exact):
    theirs, mine = run(script, torch), run(script, ours())
    assert agrees(theirs, mine, exact), f"{script}\nPyTorch:\n{theirs}\nprelude:\n{mine}"


GROUPS = tomllib.loads((HOME / "tests" / "data" / "prelude_scripts.toml").read_text(encoding="utf-8"))
ERRORS = GROUPS.pop("errors")["rows"]
CASES = [
    pytest.param(script.format(made=made, given=given), exact, id=f"{name}-{made}-{place}")
    for name, group in GROUPS.items()
    for made, given in (group["rows"] if isinstance(group["rows"], dict) else dict.fromkeys(group["rows"])).items()
    for place, (script, exact) in enumerate(zip(group["scripts"], group["exact"], strict=True))
]


@pytest.mark.parametrize(("script", "exact"), CASES)
def test_the_prelude_does_what_pytorch_does(script, exact):
    compare(script, exact)


@pytest.mark.parametrize("script", ERRORS)
def test_errors_are_those_of_pytorch(script):
    def error(library):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - any, and the same one
            run(f"{script}\nout = None", library)
        return type(caught.value), str(caught.value)

    assert error(ours()) == error(torch)


# --- the texts themselves ---

TEXTS = sorted(PRELUDE.glob("*.py.txt"))


def test_the_index_is_what_the_texts_say():
    words = [sys.executable, "-m", "docs.make_prelude", "-"]
    made = subprocess.run(words, cwd=HOME, capture_output=True, check=True).stdout
    assert INDEX_FILE.read_bytes() == made, "run python docs/make_prelude.py"
    assert all(name.rpartition(".")[2] in loaded(text) for name, text in INDEX.items())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_a_text_keeps_to_what_the_interpreter_runs(path):
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    imports = {alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    decorators = {ast.unparse(d) for node in nodes for d in getattr(node, "decorator_list", ())}
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert imports <= {"torch", "math", "torch.nn.functional", "collections", "copy", "numpy", "autograd.numpy", "erf"}
    assert decorators <= {"property", "staticmethod", "torch.no_grad()"}
    assert not called & {"eval", "exec", "compile", "open", "globals", "locals", "__import__", "print"}
    unknown = (ast.AsyncFunctionDef, ast.Await, ast.Global, ast.Match, ast.Try)
    assert not [node for node in nodes if isinstance(node, unknown)]
