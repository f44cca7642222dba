"""Tables of any answer at any width: no line too long, no name or number cut, columns aligned."""

import re

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.document.texts import short
from oracles import cases, portion
from shown import terminal

WIDTHS = (40, 60, 80, 120, 200)
SEED, PROGRAMS = 1, 300
SHAPES = {  # programs, values and v whose tables are of every kind
    "six large numbers": ("x*1e6", {"x": [123456.789, 2, 3, 4, 5.5, 6]}, [1] * 6),
    "ten cumulated": ("cumsum(x)", {"x": np.arange(10) / 3}, [1 / 7] * 10),
    "an outer product": ("outer(a, b)", {"a": [1.5, 2, 3], "b": [0.7777778, 2, 3]}, np.ones((3, 3))),
    "tiny and huge": ("x*[1e-300, 1, 1e300]", {"x": 1.23456789012345}, [1, 1, 1]),
    "not finite": ("[log(x[0]), x[1]/x[0], x[1]]", {"x": [0, 1]}, [1, 1, 1]),
    "a network": ("h = tanh(W @ x)\ny = A @ h\nsum(y**2)",
                  {"W": np.eye(2), "x": [1, 2.5], "A": np.ones((2, 2)) / 3}, None),
    "scalars": ("[a*b + c, a - b, c**2]", {"a": 2, "b": 3, "c": 0.5}, [1, 2, 3]),
    "long names": ("learning_rate*weights_of_the_first_layer**2",
                   {"learning_rate": 0.1, "weights_of_the_first_layer": [1, 2.5]}, [1, 100.25]),
    "a diagonal": ("x**2", {"x": np.linspace(0, 1, 100)}, [1] * 100),
    "a band": ("x[1:] - x[:-1]*2", {"x": np.linspace(0, 1, 50)}, [1] * 49),
    "a large matrix": ("A @ x", {"A": np.ones((20, 30)) / 7, "x": np.linspace(0, 1, 30)}, [1] * 20),
    "a column": ("x*linspace(0, 1, 20)", {"x": 3.25}, [1 / 3] * 20),
    "a row": ("sum(x**2)", {"x": np.arange(100) / 7}, None),
    "nothing": ("x*2", {"x": []}, []),
    "three axes": ("x*2", {"x": np.ones((2, 2, 2)) / 3}, np.ones((2, 2, 2))),
    "dust": ("softmax(x)", {"x": [1.5, 2, 3]}, [1, 1, 1]),
}  # fmt: skip
CALLS = {"three calls": ("2*x", {"x": [1.5, 2]}, [[1, 0], [0, 1], [1, 1]])}
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
"""A name or a number."""


def answers():
    """Yield an identifier and what gives an answer."""
    for name, (program, inputs, v) in SHAPES.items():
        yield name, lambda program=program, inputs=inputs, v=v: gradcli.explain(program, v=v, inputs=inputs)
    for name, (program, inputs, calls) in CALLS.items():
        yield (
            name,
            lambda program=program, inputs=inputs, calls=calls: gradcli.explain(program, calls=calls, inputs=inputs),
        )
    for case in cases("seed_cases.json"):
        yield (
            case["id"],
            lambda case=case: gradcli.explain(
                case["expression"], calls=[call["v"] for call in case["calls"]], wrt=case["wrt"], inputs=case["inputs"]
            ),
        )


def random_answer(number):
    program = random_program(SEED, number)
    return gradcli.explain(program.text, v=program.v, wrt=program.wrt, inputs=program.inputs)


def assert_fits(text, width):
    """A line beyond the width is one name or number, after its indent."""
    for line in text.split("\n"):
        if len(line) > width:
            longest = max(map(len, re.split(r" |(?<=[\w\])])(?=[*/@](?!\*))", line.strip())))
            assert len(line.strip()) <= longest + 2, f"{width}: {line}"


def assert_whole(text, known, width):
    """No name and no number is a piece of another."""
    for token in TOKEN.findall(text):
        assert token in known, f"{width}: {token}"


def known_tokens(found, unicode):
    """Return the names and numbers of an answer: what a wide screen shows, and all formulas."""
    wide = terminal(found, 100_000, unicode=unicode)
    formulas = [text for j in found.jacobian.values() for text in (*(j.formulas or ()), *j.rules)]
    numbers = [f"{value:.6g}" for j in found.jacobian.values() for value in np.ravel(j.values).tolist()]
    numbers += [f"{value:.6g}" for array in (*found.grad.values(), found.seed) for value in np.ravel(array).tolist()]
    known = set(TOKEN.findall("\n".join([wide, *formulas, *numbers, WORDS])))
    names = {*found.inputs, *found.differentiated, found.name}
    return known | names | {f"d{name}" for name in names} | COUNTS


WORDS = """a row for each output column input and more entry entries rule rules sum sums of this kind in shape largest
ones one hot row mean json pass passes term terms dense zero sparse diagonal block
triangular banded permutation zero by structure d e inf nan i j k l"""
COUNTS = {f"{by}{count:,}" for count in range(2000) for by in ("", "x")}


def anchors(part):
    """Return where the cells of a row have their decimal points."""
    found = []
    for cell in re.finditer(r"\S+(?: \S+)*", part):
        last = re.search(r"\S+$", cell[0])
        point = re.search(r"(?<=\d)[.e]", last[0])
        found.append(cell.start() + last.start() + (point.start() if point else len(last[0])))
    return found


def assert_aligned(text, bar):
    """All rows of a table have their bars in the same columns, and rows of as many cells their decimal points too."""
    block = []
    for line in [*text.split("\n"), ""]:
        if f" {bar} " in line:
            block.append(line)
        elif not re.search(r"[─┼+-]{4}", line):
            check_block(block, bar)
            block = []


def check_block(block, bar):
    lines = [line.replace(") |", ")  ") for line in block]  # an operator between two conditions
    bars = [[k for k, letter in enumerate(line) if letter == bar] for line in lines]
    assert all(places == bars[0] for places in bars), "\n".join(block)
    for part in range(1, len(bars[0]) + 1 if block else 0):
        rows = [line.split(bar)[part] for line in block[1:]]
        cut = [
            re.split(r"   [✓✗·]? ?(?:ok|(?:. )?(?:this output|not used)|reverse|not finite|NOT)", row)[0]
            for row in rows
        ]
        points = [anchors(row) for row in cut]
        full = [row for row in points if len(row) == max(map(len, points))]
        assert all(row == full[0] for row in full), "\n".join(block)


def check(found):
    for unicode in (True, False):
        known = known_tokens(found, unicode)
        for width in WIDTHS:
            text = terminal(found, width, unicode=unicode)
            assert_fits(text, width)
            assert_whole(text, known, width)
            assert_aligned(text, "│" if unicode else "|")
            assert unicode or text.isascii()


@pytest.mark.parametrize("answer", portion([pytest.param(answer, id=name) for name, answer in answers()], 4))
def test_tables_of_these_answers_fit(answer):
    check(answer())


@pytest.mark.long
@pytest.mark.parametrize("number", portion(list(range(PROGRAMS)), 120))
def test_tables_of_random_programs_fit(number):
    check(random_answer(number))


@pytest.mark.parametrize("value", [1.39, 0.1, -2.5e-7, 1e22, 1 / 3, 123456789.125, 5e-324, 3.0])
def test_with_all_digits_a_number_is_its_shortest_text(value):
    text = short(value, 17)
    assert float(text) == value
    assert text == repr(value).removesuffix(".0")
