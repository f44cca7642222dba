"""Scripts of ``--code``: each is run, and leaves the numbers that gradcli has; what has no words is refused by name."""

import ast
import contextlib
import io
import subprocess
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.explanation.evaluation import Function
from gradcli.ops import FUNCTIONS
from gradcli.scripts import translate
from gradcli.scripts.translate import helper_texts
from oracles import TORCH, cases, needs_torch, numbers, portion, slow
from programs import NAMED, PROGRAMS, inputs_of

INSTALLED = {"numpy": True, "torch": TORCH, "jax": find_spec("jax") is not None}
LIBRARIES = [
    pytest.param(name, marks=pytest.mark.skipif(not there, reason=f"{name} is not installed"))
    for name, there in INSTALLED.items()
]
FIRST_NAMES = [name for name in PROGRAMS if PROGRAMS[name]]
SEEDS = [(case["expression"], case["inputs"], [call["v"] for call in case["calls"]], case["wrt"])
    for case in cases("seed_cases.json")]  # fmt: skip
TORCH_CASES = [(row["expr"], {"x": row["x"]}, [row["v"]], None) for row in cases("torch_cases.jsonl")]
TABLES = cases("scripts.json")
MIXED = TABLES["MIXED"]
"""What scripts have had wrong, or could."""


def answer(program, inputs, calls=None, wrt=None):
    """Return the explanation of a program; v is from 1 to 2 where none is given."""
    if calls is None:
        y = Function(program, given=inputs).value(**inputs)
        calls = [np.linspace(1, 2, y.size).reshape(y.shape)]
    inputs = {name: value for name, value in inputs.items() if name in Function(program, given=inputs).inputs}
    return gradcli.explain(program, calls=calls, inputs=inputs, wrt=wrt)


def run(text):
    """Run a script in this process and return its names; its checks raise where a number is another."""
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), kept_dtype():
        warnings.simplefilter("ignore")
        exec(compile(text, "script", "exec"), names)  # noqa: S102 - it is what is tested
    return names


@contextlib.contextmanager
def kept_dtype():
    """Give PyTorch back its own type of numbers."""
    torch = sys.modules.get("torch")
    before = torch.get_default_dtype() if torch else None
    yield
    if "torch" in sys.modules:
        import torch

        torch.set_default_dtype(before or torch.float32)


def gradients(library, names, found):
    """Return what a script has left, by variable."""
    if library == "torch":
        left = {name: names[name].grad for name in found.grad}
        return {name: np.zeros(found.grad[name].shape) if g is None else g.numpy() for name, g in left.items()}
    own = {name: next(one for one in (f"grad_{name}", f"d{name}") if one in names) for name in found.grad}
    return {name: np.asarray(names[one]) for name, one in own.items()}


def check(library, found):
    """Run the script of an answer and hold what it leaves against the numbers of the answer."""
    left = gradients(library, run(found.to_code(library)), found)
    scale = max([1.0, *(np.abs(grad[np.isfinite(grad)]).max(initial=0.0) for grad in found.grad.values())])
    for name, wanted in found.grad.items():
        np.testing.assert_allclose(left[name], wanted, rtol=1e-6, atol=1e-10 * scale, err_msg=name)


def check_if_there_are_words(library, found):
    """Check a script, or that its refusal names what has no counterpart."""
    try:
        found.to_code(library)
    except gradcli.GradcliError as error:
        assert error.kind == "code"  # noqa: PT017
        assert f"--code {library} cannot write this program: " in error.message  # noqa: PT017
        return False
    refused = library == "torch" and "torch-refuses" in {note.kind for note in found.notes}
    with contextlib.suppress(RuntimeError) if refused else contextlib.nullcontext():
        check(library, found)
    return True


each_library = pytest.mark.parametrize("library", LIBRARIES)


@each_library
@pytest.mark.parametrize("case", [*MIXED, *portion(SEEDS, 7)], ids=lambda case: case[0][:40])
def test_a_script_leaves_the_numbers(library, case):
    check(library, answer(*case))


@each_library
@pytest.mark.parametrize("case", portion(TORCH_CASES, 25), ids=lambda case: case[0][:40])
def test_a_script_of_a_random_expression(library, case):
    check(library, answer(*case))


@each_library
@pytest.mark.parametrize("program", portion(list(NAMED), 6), ids=lambda program: program[:40])
def test_a_script_of_a_program_with_names_and_loops(library, program):
    assert check_if_there_are_words(library, answer(program, NAMED[program])) or "std" in program


@each_library
@pytest.mark.parametrize("name", portion(FIRST_NAMES, 40))
def test_a_script_of_every_function(library, name):
    for program in PROGRAMS[name][:2]:
        names = Function(program).inputs
        check_if_there_are_words(library, answer(program, inputs_of(program, names)))


@each_library
@pytest.mark.parametrize("number", portion(range(10), 5))
def test_a_script_of_a_random_program(library, number):
    program = random_program(5, number)
    check_if_there_are_words(library, answer(program.text, program.inputs, [program.v], list(program.wrt)))


CONVENTIONS = [case for case in cases("torch_conventions.json")["cases"] if case["torch"]]


@pytest.mark.parametrize("library", LIBRARIES[:2])
@pytest.mark.parametrize("case", portion(CONVENTIONS, 20), ids=lambda case: case["name"])
def test_a_script_at_a_kink(library, case):
    y = numbers(case["torch"]["value"])
    v = np.ones(y.shape) if case["v"] is None else case["v"]
    check_if_there_are_words(library, answer(case["code"]["torch"], case["inputs"], [v]))


def test_jax_is_told_that_it_may_differ_at_a_kink():
    text = answer("abs(x)", {"x": 0.0}).to_code("jax")
    assert "# A kink: jax may take another slope" in text
    assert "assert_allclose" not in text


@pytest.mark.parametrize("library", LIBRARIES[1:])
def test_nothing_is_held_against_numbers_that_are_in_doubt(library):
    twice = "y = x.clone()\ny[[0, 0]] += x[1]\ny**2"
    text = answer(twice, {"x": [0.5, -1.2, 2.0]}, [[1.0, 2.0, 3.0]]).to_code(library)
    assert "# The two routes of gradcli disagree at this point" in text
    assert "#   x.grad = [-2.8, -7.6, 12.0]" in text
    assert "assert" not in text
    left = run(text)
    np.testing.assert_allclose(left["x"].grad if library == "torch" else left["dx"], [-1.4, -6.2, 12.0])


@pytest.mark.parametrize("library", ["numpy", slow(pytest.param("torch", marks=LIBRARIES[1].marks))])
def test_a_wrong_number_ends_a_script_with_an_error(library, tmp_path):
    text = answer("x**2", {"x": [3.0, 5.0]}, [[1.0, 1.0]]).to_code(library)
    wrong = text.replace("x ** 2", "x ** 2 * 1.0001").replace("dy * 2 * x", "dy * 2.0002 * x")
    assert wrong != text
    for script, code in ((text, 0), (wrong, 1)):
        path = tmp_path / "script.py"
        path.write_text(script, encoding="utf-8")
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == code
        assert done.stdout.startswith("x.grad =")


NETWORK = "z = W @ x + b\nh = tanh(z)\nloss = sum((h - t)**2)"
POINT = {"W": [[1.0, 2.0], [3.0, 4.0]], "x": [0.1, 0.2], "b": [0.0, 0.1], "t": [1.0, 0.0]}


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_script_looks_like_this(library, snapshot):
    assert answer(NETWORK, POINT, [1.0], ["W", "b"]).to_code(library) == snapshot


def test_numpy_has_the_lines_of_backward():
    found = answer(NETWORK, POINT, [1.0], ["W", "b"])
    lines = found.to_code("numpy").split("\n")
    assert [line for line in lines if line.startswith(("dh", "dz", "dW", "db"))] == [
        "dh = dloss * 2 * (h - t)",
        "dz = dh * (1 - h ** 2)",
        "dW = np.outer(dz, x)",
        "db = dz",
    ]


@pytest.mark.parametrize(("program", "inputs", "library", "says"), [
    ("conv1d(x, w)", {"x": [[[1.0, 2.0]]], "w": [[[1.0]]]}, "numpy", "'conv1d' has no counterpart"),
    ("np*2", {"np": 1.0}, "numpy", "the script needs the name np itself"),
    ("torch*2", {"torch": 1.0}, "torch", "the script needs the name torch itself"),
    ("sigmoid(x) + norm", {"x": 1.0, "norm": 2.0}, "numpy", None),
    ("softmax = x*2\nx.softmax(0)*softmax", {"x": [1.0, 2.0]}, "numpy", "the script needs the name softmax"),
    ("x[::-1]", {"x": [1.0, 2.0]}, "torch", "no slice with a negative step"),
    ("zeros(2)", {}, "torch", "depends on no variable"),
    ("y = x\nfor i in range(900): y = y*1.001\ny", {"x": 1.0}, "numpy", "of its loops the first and the last turns"),
    ("x*2", {"x": np.ones(20_000)}, "jax", "would hold 40,000 numbers"),
    ("x*2", {"x": 1.0}, "cobol", "is no library"),
])  # fmt: skip
def test_what_cannot_be_written_is_refused_by_its_name(program, inputs, library, says):
    y = Function(program, given=inputs).value(**inputs)
    found = gradcli.explain(program, inputs=inputs, v=np.ones(y.shape))
    if says is None:
        assert run(found.to_code(library))
        return
    with pytest.raises(gradcli.GradcliError, match=says):
        found.to_code(library)


@needs_torch
def test_every_name_is_one_that_pytorch_has():
    import torch

    homes = {"torch": torch, "F": torch.nn.functional}
    missing = []
    for function in FUNCTIONS.values():
        spelled = translate.TORCH.spelled(function)
        if spelled is None or function.name in translate.TORCH.templates:
            continue
        home, *path = spelled.split(".")
        thing = homes[home]
        for part in path:
            thing = getattr(thing, part, None)
        if thing is None:
            missing.append(spelled)
    assert missing == []


@pytest.mark.parametrize("module", ["np", "jnp"])
def test_helpers_are_plain_functions(module):
    for name, text in helper_texts(module).items():
        tree = ast.parse(text)
        assert ast.get_docstring(tree.body[0]) if name != "Pair" else tree
        assert "Array" not in text
        assert "Any" not in text


HOSTILE = 'x**2  # """ \\n\' coding: rot13 <script>alert(1)</script> \\end{document} ``` $ ]]> %s {0}'


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_a_comment_stays_a_comment(library):
    text = answer(f"{HOSTILE}\nx**2", {"x": 3.0}, [1.0]).to_code(library)
    tree = ast.parse(text)
    assert "script" not in ast.unparse(tree)
    assert "rot13" not in "\n".join(text.split("\n")[:2])
