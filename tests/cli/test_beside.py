"""``--tape`` and ``--steps`` as the user of a shell sees them: tables, blocks, plain lines, and what stays."""

import json
import re
from pathlib import Path

import pytest

from oracles import ask, portion

DOCS = Path(__file__).parents[2] / "docs"
NETWORK = ("-f", str(DOCS / "network.txt"), "--W1", ".1,.05;.4,.6", "--b1", "0,.1", "--W2", "1.,-1;.5,2", "--b2",
           "0,.2", "--x", "1.,2.", "--t", "0,1.", "--wrt", "W1,b1,W2,b2")  # fmt: skip
PROGRAMS = {
    "used-twice": ("h = tanh(x); y = h*h + x", "--x", "0.7"),
    "quotient": ("(3*x**2 + 1)/(x - w)", "--x", "3.", "--w", "2."),
    "two-to-three": ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "--x", "1.,2.", "--v", "1,10,100"),
    "network": NETWORK,
    "broadcast": ("y = x*w + b", "--x", "1.,2;3,4", "--w", "0.5,-1", "--b", "2.", "--v", "1,2;3,4"),
    "loop": ("-f", str(DOCS / "doubling.txt"), "--x", "0.3,-0.9,0.55", "--v", "0.1,1,0.0001"),
    "long-loop": ("y = x\nfor i in range(300):\n    y = y*0.99 + x\ny", "--x", "0.5"),
    "several-calls": ("x**2", "--x", "1.5", "--v", "1", "--v", "10"),
}
WIDTHS = ("40", "80", "200")


def sections(out):
    """Return the sections of an answer that this file is about."""
    blocks = re.split(r"\n\n(?= )", out)
    return "\n\n".join(block for block in blocks if block.lstrip().startswith(("Tape", "Steps")))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_tape_and_the_steps_look_like_this(cli, snapshot, name, width):
    answer = cli("explain", *PROGRAMS[name], "--tape", "--steps", "--width", width)
    assert answer.code == 0
    shown = sections(answer.out)
    assert all(len(line) <= int(width) and line == line.rstrip() for line in shown.splitlines())
    assert shown == snapshot


@pytest.mark.parametrize("name", portion([*PROGRAMS], 3))
@pytest.mark.parametrize("form", [[], ["-F", "plain"], ["--json"]], ids=" ".join)
def test_without_the_options_nothing_is_told_and_with_them_the_rest_stays(name, form):
    before, after = (ask("explain", *PROGRAMS[name], *form, *more) for more in ([], ["--tape", "--steps"]))
    if form == ["--json"]:
        told = json.loads(after.out)
        del told["tape"], told["steps"]
        assert told == json.loads(before.out)
        return
    alone = before.out.partition("\n more:")[0].splitlines()
    assert set(alone) <= set(after.out.splitlines())
    assert len(after.out) > len(before.out)


@pytest.mark.parametrize("name", ["used-twice", "quotient", "several-calls"])
def test_the_sides_of_a_line_of_single_numbers_are_equal(name):
    """Each side that is numbers alone is worked out by Python: as near to the others as six digits let it be."""
    shown = sections(ask("explain", *PROGRAMS[name], "--steps", "--width", "400").out)
    count = 0
    for line in shown.splitlines():
        sides = [side.strip() for side in re.split(r" [=≈] ", line)[1:]]
        numbers = [side for side in sides if re.fullmatch(r"[-+*/(). \de]+", side)]
        found = [eval(side, {"__builtins__": {}}) for side in numbers]  # noqa: S307 - digits and signs alone
        for value in found:
            assert value == pytest.approx(found[-1], rel=1e-4), line
            count += 1
    assert count >= 5
