"""Programs of plain Python and of NumPy: what they print and the exception that ends them, as these left them.

Python 3.11 and NumPy 2.4 recorded the rows; sets of texts and addresses, which differ from run to run, are not printed.
"""

import subprocess
import sys

import pytest

from gradcli.errors import GradcliError
from gradcli.runner.script import run_script
from oracles import cases
from script_comparison import DATA, rows_of, text_fault

TABLES = cases("python_programs.json")

PYTHON = [pytest.param(row, id=row["id"]) for row in rows_of(DATA / "python_programs.jsonl")]
NUMPY = [pytest.param(row, id=row["id"]) for row in rows_of(DATA / "numpy_programs.jsonl")]


def run(source):
    printed = []
    ended = run_script(source, emit=printed.append)
    assert ended.refused is None, ended.refused.diagnostic()
    error = None
    if ended.raised is not None:
        error = {"type": ended.raised.name, "text": ended.raised.text}
    elif ended.status:
        error = {"type": "SystemExit", "text": str(ended.status)}
    return "".join(printed), error


@pytest.mark.parametrize("row", PYTHON)
def test_a_program_prints_what_python_prints(row):
    printed, error = run(row["source"])
    assert printed == row["stdout"]
    assert error == row["error"]


@pytest.mark.parametrize("row", NUMPY)
def test_a_program_prints_what_numpy_prints(row):
    printed, error = run(row["source"])
    assert text_fault(printed, row["stdout"]) is None
    assert error == row["error"]


TOO_LARGE = TABLES["TOO_LARGE"]
"""Expressions whose values would not fit."""


@pytest.mark.parametrize("expression", TOO_LARGE)
def test_what_would_be_too_large_is_refused_before_it_is_made(expression):
    ended = run_script(
        f"import itertools, math, random\nimport numpy as np\nx = {expression}\n", emit=lambda text: None
    )
    assert ended.refused is not None
    assert ended.refused.kind == "budget"


REFUSED = TABLES["REFUSED"]


@pytest.mark.parametrize(("source", "word"), REFUSED.items())
def test_what_gradcli_does_not_have_is_refused_by_its_name(source, word):
    assert word in refusal(source)


def refusal(source):
    """Return what gradcli says of a script that it refuses, before it runs or where it stands."""
    try:
        ended = run_script(source, emit=lambda text: None)
    except GradcliError as error:
        return error.diagnostic()
    assert ended.refused is not None
    return ended.refused.diagnostic()


SEEDED = {
    "import random\nprint(random.random())": "Python draws",
    "import numpy as np\nprint(np.random.rand(2))": "NumPy draws",
    "import numpy as np\nprint(np.random.default_rng().random(2))": "NumPy draws",
}


@pytest.mark.parametrize(("source", "words"), SEEDED.items())
def test_draws_without_a_seed_begin_at_0_and_a_note_says_so(source, words):
    runs = [run_script(source, emit=lambda text: None) for _ in range(2)]
    first, second = [[event.text for event in one.run.log.events if event.kind == "print"] for one in runs]
    assert first == second
    assert any(kind == "seed" and words in text for kind, text in runs[0].run.notes)


WRITES = TABLES["WRITES"]


@pytest.mark.parametrize(("source", "printed"), WRITES.items())
def test_arrays_share_memory_as_numpy_has_it(source, printed):
    assert run(f"import torch\nimport numpy as np\n{source}\n") == (printed + "\n", None)


def test_a_tensor_that_is_differentiated_is_no_array():
    printed, error = run("import torch\nimport numpy as np\nx = torch.ones(2, requires_grad=True)\nnp.array(x)\n")
    assert printed == ""
    assert error["type"] == "RuntimeError"
    assert error["text"].startswith("Can't call numpy() on Tensor that requires grad.")


def test_a_library_alone_has_the_attributes_of_its_arrays():
    text = "import jax.numpy as jnp\nx = jnp.ones((2, 3))\nprint(x.shape, x.ndim, x.size, x.T.shape, x.dtype)"
    command = [sys.executable, "-m", "gradcli", "run", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "(2, 3) 2 6 (3, 2) float32\n"
