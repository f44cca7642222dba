"""What ``grad`` answers within its budgets, ``explain`` answers too, however odd the program."""

from random import Random

import numpy as np
import pytest

import gradcli
from fuzz.lines import line
from gradcli.errors import GradcliError
from oracles import ask, portion
from programs import PROGRAMS, inputs_of

SEED = 12
LINES, AT_ONCE = 10_000, 200
ANSWERED = (0, 3)
TIMES = 8
"""How much longer than usual the axes of the large arrays are."""


@pytest.mark.parametrize("first", portion(range(0, LINES, AT_ONCE), 50))
def test_a_line_of_the_fuzzer(first):
    answered, refused = 0, []
    for number in range(first, first + AT_ONCE):
        args, stdin = (asked := line(Random(f"{SEED}:{number}"))).args, asked.stdin  # noqa: S311 - programs, no secrets
        if args and args[0] in ("grad", "explain") and ask("grad", *args[1:], stdin=stdin).code in ANSWERED:
            answered += 1
            found = ask("explain", *args[1:], stdin=stdin)
            refused += [(asked.reproduction, found.err)] if found.code not in (0, 1, 3) else []
    assert answered > 0
    assert refused == []


def lengthened(value):
    """Return an array whose axes are longer by ``TIMES``, but for those of one entry; no two entries are alike."""
    x = np.asarray(value, dtype=np.float64)
    grown = np.tile(x, [TIMES if n > 1 else 1 for n in x.shape])
    return grown + 1e-3 * np.cos(np.arange(grown.size)).reshape(grown.shape) if x.ndim else x


@pytest.mark.slow
def test_programs_of_large_arrays():
    answered, refused = 0, []
    for text in (text for texts in PROGRAMS.values() for text in texts):
        f = gradcli.function(text)
        inputs = {name: lengthened(value) for name, value in inputs_of(text, f.inputs).items()}
        try:
            v = np.ones(f.value(**inputs).shape)
            f.grad(v=v, **inputs)
        except GradcliError:
            continue  # shapes that do not fit any more
        answered += 1
        try:
            assert str(found := gradcli.explain(text, v=v, inputs=inputs))
            assert found.to_dict()["error"] is None
        except GradcliError as error:
            refused.append((text, error.kind, error.message))
    assert refused == []
    assert answered > 200
