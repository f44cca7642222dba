"""Everything that the language refuses: the kind of the error, words of its message, and what the caret marks.

Each row is ``(program, kind, words, marked)``. ``marked`` is the text under the caret; ``""`` is the end of the program
and None an error about the program as a whole. Words stand in the message or in the hint.
"""

import math

import pytest

import gradcli
from gradcli.errors import Budget, GradcliError
from oracles import cases

INPUTS = {"x": 1.5, "u": [1.0, 2.0], "w": [1.0, 2.0, 3.0], "A": [[1.0, 2.0], [3.0, 4.0]]}
"""The point at which every program of the tables is evaluated; each gets those that it names."""

ROWS = [row for table in cases("refusals.json").values() for row in table]
BUDGETS = [
    *cases("budgets.json"),  # a program, the budget that it is over, and the bound of that
    ("x" + " + x" * 100, "text", 300),
    ("a = x\n" * 10 + "a", "syntax", 20),
    ("-" * 2000 + "x", "syntax", 1000),
    ("x if x > 0 else " * 60 + "x", "depth", 50),
    ("\n".join(" " * i + "if x > 0:" for i in range(60)) + "\n" + " " * 61 + "y = x\ny", "depth", 50),
    ("0x" + "f" * 400 + "*x", "digits", 300),
    ("0b" + "1" * 400 + "*x", "digits", 300),
    ("1" * 4400 + "*x", "digits", 300),
    ("1_" * 200 + "1*x", "digits", 300),
    ("1." + "0" * 400 + "*x", "digits", 300),
    ("[" * 30 + "x" + "]" * 30 + "*ones(" + ", ".join(["2"] * 30) + ")", "elements", 5_000_000),
    ("y = x*ones(10**6)\nsum(cat([" + "y, " * 400 + "]))", "elements", 5_000_000),
    ("y = x*ones(10**6)\nsum(stack([" + "y, " * 400 + "]))", "elements", 5_000_000),
]


def refusal(program, budget=None):
    """Return the error of a program at the point of the tables."""
    with pytest.raises(GradcliError) as caught:  # noqa: PT012 - some are refused unread, some when they run
        needed = gradcli.function(program, budget=budget).inputs
        gradcli.explain(program, inputs={name: INPUTS[name] for name in needed if name in INPUTS}, budget=budget)
    return caught.value


@pytest.mark.parametrize(("program", "kind", "words", "marked"), ROWS)
def test_a_program_is_refused_with_its_reason_and_its_place(program, kind, words, marked):
    error = refusal(program)
    assert error.kind == kind
    assert words in f"{error.message}\n{error.hint}"
    if marked is not None:
        assert error.span is not None
        assert error.place is not None
        assert error.place.text[slice(*error.span)] == marked


@pytest.mark.parametrize(("program", "name", "bound"), BUDGETS)
def test_a_budget_is_refused_by_its_name(program, name, bound):
    assert_names(refusal(program, Budget().changed(name, bound)), name)


def assert_names(error, name):
    """The error is that of a budget, and says which."""
    assert error.kind == "budget"
    assert f"the budget '{name}'" in error.message
    assert f"--budget {name}=" in (error.hint or "")


class Clock:
    """Stands still while it is looked at ``over`` times, and is hours further from then on."""

    def __init__(self, over=math.inf):
        self.looks, self.hours, self.over = 0, 0, over

    def monotonic(self):
        self.looks += 1
        return 3600.0 if self.looks > self.over else 0.0

    def thread_time(self):
        self.hours += 1
        return 3600.0 * self.hours


def test_a_loop_that_does_nothing_is_refused_when_the_time_is_over(monkeypatch):
    for over in (1, 2, 10):
        monkeypatch.setattr("gradcli.engine.graph.time", Clock(over))
        assert_names(refusal("while True: pass\nx", Budget(turns=10**9)), "seconds")


LONG = {  # a program, and the reading of its graph that takes longest
    "y = x\nfor i in range(300): y = sin(y) + x\ny": "small operations",
    "y = x*ones(70, 70)\nfor i in range(9): y = sin(y)\nsum(y)": "large operations",
    "y = x*ones(3, 3)\nfor i in range(9): y = gelu(y @ y)/y + tanh(y)\nsum(y)": "J",
}


@pytest.mark.parametrize("program", LONG, ids=LONG.values())
def test_the_clock_is_looked_at_from_beginning_to_end(program, monkeypatch):
    """Wherever the time is over, forward, backward or in the composition of J, the answer is refused."""
    clocks = Clock(), Clock()
    monkeypatch.setattr("gradcli.engine.graph.time", clocks[0])
    gradcli.function(program).value(x=INPUTS["x"])
    monkeypatch.setattr("gradcli.engine.graph.time", clocks[1])
    gradcli.function(program).jacobian(x=INPUTS["x"])
    forward, whole = (clock.looks for clock in clocks)
    assert 1 < forward < whole - 1
    for over in (1, forward, whole - 1):
        monkeypatch.setattr("gradcli.engine.graph.time", Clock(over))
        assert_names(refusal(program), "seconds")
