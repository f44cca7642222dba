"""Every sign of equality in a table or a plain line is true of the numbers beside it."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcli import GradcliError
from gradcli.explanation.evaluation import Function
from oracles import portion

if TYPE_CHECKING:
    from conftest import Cli

FORWARD = [
    ("(1+x)-1", ("--x", "1e-17"), "y = (1+x)-1 = (1+1e-17)-1 = 0"),
    ("(x+1e16)-1e16", ("--x", "1.3"), "y = (x+1e16)-1e16 = (1.3+1e16)-1e16 = 2"),
    ("x/x", ("--x", "0"), "y = x/x = 0/0 = nan"),
    ("x/x", ("--x", "0,4", "--v", "1,1"), "y = x/x   [nan, 1]"),
    ("x - x + 2", ("--x", "1"), "y = x - x + 2 = 1 - 1 + 2 = 2"),
    ("3*x", ("--x", "1/3"), "y = 3*x = 1"),  # 3*0.333333 would be 0.999999
    ("3*x", ("--x", "0.5"), "y = 3*x = 3*0.5 = 1.5"),
    ("x**2 - 1", ("--x", "1.0000001"), "y = x**2 - 1 = 2e-07"),
    ("x**2", ("--x", "-3"), "y = x**2 = (-3)**2 = 9"),
    ("(x*x)/x", ("--x", "1e200"), "y = (x*x)/x = (1e+200*1e+200)/1e+200 = inf"),
]


@pytest.mark.parametrize(("program", "given", "line"), FORWARD)
def test_the_forward_line_of_this_program(cli: Cli, program: str, given: tuple[str, ...], line: str) -> None:
    lines = [text.strip() for text in cli("explain", program, *given).out.splitlines()]
    assert line in lines
    assert all(text.isascii() for text in cli("explain", program, *given, "--ascii").out)


POINTS = [
    *(row[:2] for row in FORWARD),
    ("x*x/x", ("--x", "0")), ("sqrt(x)**2", ("--x", "-4")), ("exp(log(x))", ("--x", "0")),
    ("log(exp(x))", ("--x", "800")),
    ("x**2/x**3*x", ("--x", "0,2", "--v", "1,3")), ("(x + y) - y", ("--x", "1e-9", "--y", "1e9")),
    ("h = x*x\nh/h", ("--x", "1e-170")), ("tanh(x)*y", ("--x", "0.3", "--y", "-7.1")), ("sin(1e22*x)", ("--x", "0.1")),
    ("[x[0]/x[0], x[0]*x[1]]", ("--x", "0,2", "--v", "1,1")), ("softmax(x)", ("--x", "1,2,3", "--v", "1,10,100")),
    ("W @ x", ("--W", "1,1/3;3,4", "--x", "1/7,1", "--v", "1,10")), ("1e16*x - 1e16*x", ("--x", "1/3")),
    ("h = tanh(W @ x)\nsum(h*h)", ("--W", "1,2;3,4", "--x", "0.1,0.2")),
]  # fmt: skip


def value_of(text: str, known: dict[str, object]) -> float | None:
    """Return the number that a side of an equality stands for; None for what is no number of the language."""
    if text in ("nan", "inf", "-inf"):
        return float(text)
    try:
        program = Function(text.replace("\u00b7", "*"), given=known)
        found = np.asarray(program.value(**{name: known[name] for name in program.inputs}))
    except (GradcliError, KeyError):
        return None
    return float(found) if found.ndim == 0 else None


def equal(a: float, b: float, within: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=within)


@pytest.mark.parametrize("style", portion(["table", "plain"], 2))
@pytest.mark.parametrize(("program", "given"), POINTS)
def test_both_sides_of_every_sign_are_equal(cli: Cli, program: str, given: tuple[str, ...], style: str) -> None:
    document = json.loads(cli("explain", program, *given, "--json").out)
    known = {value["name"]: np.array(value["value"], dtype=float) for value in document["forward"]}
    out = cli("explain", program, *given, "-F", style, columns="400").out
    body = out.partition("Forward")[2] if style == "table" else out
    forward, bar, rest = body.partition("\n J = ")
    columns = re.compile(r"(?<=\S) {3,}(\([\d, ]*\) +)?")
    body = columns.sub(" = ", forward) + bar + re.sub(" {2,}|\u2502", "\n", rest)
    compared = 0
    for line in body.partition("Notes")[0].partition("note:")[0].split("\n"):
        for near, sides in ((False, line.split(" = ")), (True, line.split(" \u2248 "))):
            values = [value_of(side.strip(), known) for side in sides if "\u2248" not in side or near]
            numbers = [value for value in values if value is not None]
            compared += len(numbers) > 1
            assert all(equal(value, numbers[-1], 1e-3 if near else 1e-5) for value in numbers[:-1]), line
    assert compared or "NaN" in str(document["output"])
