"""``%gradcli`` and ``%%gradcli`` in IPython itself: its answer, what a notebook shows of it, and its errors."""

import subprocess
import sys

import pytest

from processes import environment

SHELL = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell()
shell.run_line_magic("load_ext", "gradcli")
shell.user_ns["W"] = [[1.0, 2.0], [3.0, 4.0]]
"""


@pytest.fixture
def in_ipython(tmp_path):
    """Return what runs lines after gradcli was loaded into a shell of its own, and gives back what was printed."""

    def run(lines):
        done = subprocess.run(
            [sys.executable, "-c", SHELL + lines],
            capture_output=True,
            encoding="utf-8",
            env=environment(IPYTHONDIR=str(tmp_path), NO_COLOR="1"),
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_cell_is_explained_with_the_variables_of_the_notebook(in_ipython):
    printed = in_ipython(
        'result = shell.run_cell("%%gradcli x=1,2 v=1,10 wrt=x\\nW @ x").result\n'
        'print(result.grad["x"].tolist(), sorted(shell.display_formatter.format(result)[0]))'
    )
    assert printed.splitlines()[-1] == "[31.0, 42.0] ['text/html', 'text/latex', 'text/plain']"


def test_an_error_of_a_cell_is_shown_without_the_code_of_gradcli(in_ipython):
    printed = in_ipython('print(shell.run_cell("%%gradcli x=1,2\\nsinn(x)").success)')
    assert printed.splitlines() == [
        "error: unknown function 'sinn'", "  |", "1 | sinn(x)", "  | ^^^^", "help: did you mean 'sin'?", "False"
    ]  # fmt: skip


MAGICS = {  # what is typed, and how what is printed ends
    "%gradcli W @ x --x 1,2 --v 1,10": "{'W': [[1.0, 2.0], [10.0, 20.0]], 'x': [31.0, 42.0]}",
    "%gradcli W @ x --x=1,2 --v w --wrt x": "{'x': [31.0, 42.0]}",
    "%gradcli {'a': x}['a']**2 --x '3.0'": "{'x': 6.0}",
    "%%gradcli --x 3. --wrt x\nx**2": "{'x': 6.0}",
    "%gradcli x --t": "has no other options\nhelp: for example %%gradcli x='1, 2' v=1,10; for the others !gradcli",
    "%%gradcli\nimport torch\nW = torch.tensor(5., requires_grad=True)\n(W**2).backward()": "{'W': 10.0}",
    "%gradcli sinn(x) --x 2": "error: unknown function 'sinn'\n  |\n1 | sinn(x)\n  | ^^^^\nhelp: did you mean 'sin'?",
}


def test_a_line_is_explained_with_the_values_after_it(in_ipython):
    printed = in_ipython(
        f'shell.user_ns["w"] = [1, 10]\nfor magic in {list(MAGICS)}:\n    result = shell.run_cell(magic).result\n'
        "    if result is not None: print({name: g.tolist() for name, g in result.grad.items()})\n    print('---')"
    )
    for said, wanted in zip(printed.split("---\n"), MAGICS.values(), strict=False):
        assert said.rstrip().endswith(wanted)
    assert printed.count("---\n") == len(MAGICS)
