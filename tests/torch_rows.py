"""Points at the edge, and what PyTorch gives there: kinks, ties, 0·inf, overflow, -0, nan, no entries.

A row of ``data/torch_edges.jsonl`` is a program, PyTorch's text for it where that is not the same, the inputs, v where
it is not 1, and the figures: y, and the gradient by each input. A new row has none: ``python tests/torch_rows.py`` asks
PyTorch for them, and leaves all others as they stand. The texts of PyTorch are evaluated by Python: they are constants
of the tests.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp

from exactly import derivative, value
from gradcli.engine.reverse import backward
from gradcli.language.program import compile_program
from gradcli.ops import METHODS, SPELLINGS
from oracles import DATA, by_torch, cases, numbers
from records import figures

RTOL = 1e-12
RECORDED = "torch_edges.jsonl"


@dataclass(frozen=True)
class Row:
    program: str
    torch: str
    inputs: dict[str, Any]
    v: Any = None
    rtol: float = RTOL
    atol: float = 0.0
    figures: Any = ()


def row_of(record):
    """Return a row as it is recorded."""
    inputs = {name: numbers(x) for name, x in record["inputs"].items()}
    v = None if "v" not in record else numbers(record["v"])
    figures = [numbers(figure) for figure in record.get("figures", ())]
    torch = record.get("torch", record["program"])
    return Row(record["program"], torch, inputs, v, record.get("rtol", RTOL), record.get("atol", 0.0), figures)


ROWS = [row_of(record) for record in cases(RECORDED)]


def seed_of(v, shape):
    return np.array(np.broadcast_to(np.asarray(1.0 if v is None else v, dtype=np.float64), shape))


def ours(case):
    """Return y and the gradients of a row; the inputs may be infinite or nan, as intermediate values are."""
    program = compile_program(case.program, given=frozenset(case.inputs))
    values = {name: np.asarray(x, dtype=np.float64)[()] for name, x in case.inputs.items()}
    graph, output, leaves = program.evaluate(values, frozenset(values))
    value = np.asarray(getattr(output, "value", output))
    return [value, *backward(graph, output, seed_of(case.v, value.shape), [leaves[name] for name in values])]


def theirs(case):
    y, slopes = by_torch(case.torch, case.inputs, lambda shape: seed_of(case.v, shape))
    return [y, *slopes.values()]


MORE_EXACT = {
    call: (name, more) for name, rows in cases("more_exact.toml").items() for more in rows for call in more["calls"]
}
"""The op that a program is, and what is known of PyTorch's digits there."""
NO_BETTER = "where PyTorch has fewer digits, a row of data/more_exact.toml says so"
SMALLEST = 1000 * 2.0**-1074
"""Rounding of what is no normal double any more, such as exp(x) below -708, times numbers such as x."""


def is_exact(case, what, place, found):
    """Return whether an entry is the true one, by the definition of the op that a row is, in mpmath's digits."""
    name, more = MORE_EXACT[case.program]
    before, options = more.get("before", []), more.get("options", {})
    if "figure" in more:
        return near(found, getattr(figures, more["figure"])(case, what, place, **options), case, what, place)
    point = tuple(map(float, [*before, *(np.asarray(x)[place] for x in case.inputs.values())]))
    if what == "y":
        return near(found, value(name, point, **options), case, what, place)
    slope = derivative(name, len(before) + list(case.inputs).index(what), point, **options)
    return near(found, slope, case, what, place)


def near(found, exact, case, what, place):
    """Return whether a figure is the value, or v times the derivative, to 12 digits; an infinite v has signs alone."""
    v = 1.0 if what == "y" else float(seed_of(case.v, np.shape(case.inputs[what]))[place])
    if not np.isfinite(v):
        return bool(np.array_equal(found, v * float(exact), equal_nan=True))
    return bool(abs(mp.mpf(float(found)) - v * exact) <= RTOL * abs(v * exact) + abs(v) * SMALLEST)


def check(case, expected):
    """Raise AssertionError unless y and all gradients of a row are as expected, or known to be more exact."""
    for what, found, want in zip(["y", *case.inputs], ours(case), expected, strict=True):
        right = np.array(want)
        if case.program in MORE_EXACT:
            differ = ~np.isclose(found, want, case.rtol, case.atol, equal_nan=True)
            for place in map(tuple, np.argwhere(differ)):
                if is_exact(case, what, place, np.asarray(found)[place]):
                    right[place] = np.asarray(found)[place]
        np.testing.assert_allclose(found, right, case.rtol, case.atol, err_msg=f"{what} of {case}; {NO_BETTER}")


def functions_called(rows):
    """Return the names of the functions that a program of the rows calls."""
    called = {name for case in rows for name in re.findall(r"[\w.]+(?=\()", case.program)}
    return {f.name for name in called for f in (SPELLINGS.get(name), METHODS.get(name.rpartition(".")[2])) if f}


def as_words(array):
    """Return an array as nested lists that JSON holds: what is not finite as a word."""
    if isinstance(array, list):
        return [as_words(item) for item in array]
    return array if np.isfinite(array) else str(float(array))


def record():
    """Write what PyTorch gives for each row that has no figures."""
    lines = []
    for line, row in zip((DATA / RECORDED).read_text(encoding="utf-8").splitlines(), cases(RECORDED), strict=True):
        figures = [] if "figures" in row else [as_words(figure.tolist()) for figure in theirs(row_of(row))]
        lines.append(json.dumps({**row, "figures": figures}) if figures else line)
    (DATA / RECORDED).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
