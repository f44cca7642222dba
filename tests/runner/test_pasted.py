"""What stands round the code of a paste is taken off, and lines keep their numbers."""

from __future__ import annotations

import pytest

from gradcli.runner.reading import script_of_paste
from gradcli.runner.script import run_script

PASTES = {  # what is pasted, what it prints, and the line on which it ends with an error
    "plain": ("print(1)\nprint(2)\n1/0", "1\n2\n", 3),
    "prompts": (">>> x = 3\n>>> x\n3\n>>> for i in range(2):\n...     print(i)\n...\n0\n1\n>>> 1/0", "0\n1\n", 9),
    "prompts after a heading": ("Python 3.11.7 (main) on linux\n>>> print(1)\n1\n>>> 1/0\nTraceback", "1\n", 4),
    "indented prompts": ("    >>> print(1)\n    1\n    >>> 1/0", "1\n", 3),
    "ipython": (
        "In [1]: x = 2\n\nIn [2]: for i in range(x):\n   ...:     print(i)\n   ...:\n0\n1\n\nIn [3]: 1/0",
        "0\n1\n",
        9,
    ),
    "cells of a page": ("In [1]:\nx = 2\n\nIn [2]:\nprint(x)\nx\nOut[2]:\n2 of them\n\nIn [3]:\n1/0", "2\n", 11),
    "a fence": ("Why does this fail?\n\n```python\nprint(1)\n1/0\n```\n\nThanks a lot!", "1\n", 5),
    "a fence without a language": ("Hello all,\n```\nprint(1)\n1/0\n```", "1\n", 4),
    "code and what it printed": ("```python\nprint(1)\n1/0\n```\ngives\n```\n1 and more\n```", "1\n", 3),
    "two blocks": ("First\n```py\nx = 1\n```\nthen\n```py\nprint(x)\n1/0\n```", "1\n", 8),
    "tildes": ("~~~python\nprint(1)\n1/0\n~~~", "1\n", 3),
    "a fence that is not closed": ("```python\nprint(1)\n1/0", "1\n", 3),
    "prompts in a fence": ("So:\n```pycon\n>>> print(1)\n1\n>>> 1/0\n```", "1\n", 5),
    "a traceback at its end": (
        'print(1)\n1/0\n\nTraceback (most recent call last):\n  File "a.py", line 2\n    1/0\nZeroDivisionError: no',
        "1\n",
        2,
    ),
    "a traceback of IPython": (
        "print(1)\n1/0\n---------------------------\nZeroDivisionError   Traceback (most recent call last)\n"
        "<ipython-input-1> in <module>\n----> 1 1/0\n\nZeroDivisionError: no",
        "1\n",
        2,
    ),
    "a tensor that was shown": (
        "import torch\nx = torch.ones(1, requires_grad=True)\nx*2\ntensor([2.], grad_fn=<MulBackward0>)\nprint(1)\n1/0",
        "1\n",
        6,
    ),
    "magic": ("%matplotlib inline\n!pip install torch\nprint(1)\nfor i in range(1):\n    %time\n1/0", "1\n", 6),
    "a percent sign that goes on": ("x = (7\n  % 4)\nprint(x)\n1/0", "3\n", 4),
    "fences in a text": ("x = '''\n```python\nno\n```\n'''\nprint(len(x))\n1/0", "18\n", 7),
}


@pytest.mark.parametrize("name", PASTES)
def test_a_paste_is_run_as_its_code(name: str) -> None:
    text, out, line = PASTES[name]
    printed: list[str] = []
    ended = run_script(text, emit=printed.append)
    assert ended.refused is None
    assert "".join(printed) == out
    assert ended.raised is not None
    assert (ended.raised.name, ended.raised.line) == ("ZeroDivisionError", line)


@pytest.mark.parametrize("name", PASTES)
def test_lines_keep_their_numbers(name: str) -> None:
    text = PASTES[name][0]
    typed = script_of_paste(text).split("\n")
    assert len(typed) == len(text.split("\n"))


@pytest.mark.parametrize(
    "text", ["```", "```\n```", ">>> ", "In [1]:", "%time", "tensor(", "~~~\n", "\n", "Out[1]:\n1"]
)
def test_what_holds_no_code_is_read_all_the_same(text: str) -> None:
    assert isinstance(script_of_paste(text), str)
