"""The timeline of a script, as records and as every voice shows it, and the events of its document."""

import json
import math

import pytest

from gradcli.document.model import Document, Events, Section, Settings
from gradcli.errors import GradcliError
from gradcli.explanation.scripts import choose
from gradcli.explanation.timeline import MOST_CALLS, MOST_ROWS, timeline
from gradcli.render.data import events_document
from gradcli.render.events import left_texts, timeline_lines
from gradcli.render.layout import Layout
from gradcli.runner.script import run_script
from oracles import cases, named
from shown import shown

TABLES = cases("timeline.toml")

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
TRAIN = """import torch
torch.manual_seed(0)
W = torch.randn(1, 2, requires_grad=True)
X = torch.tensor([[1., 2.], [3., 4.]])
for step in range(50):
    loss = ((X @ W.T)**2).mean()
    loss.backward()
    with torch.no_grad():
        W -= 0.01 * W.grad
    W.grad.zero_()
print("final loss:", round(loss.item(), 4))
"""


def told(text, **more):
    ended = run_script(text)
    assert ended.refused is None
    return timeline(ended, **more)


def rows(text):
    return [(row.line, row.what, row.turn, [left.text for left in row.left]) for row in told(text).rows]


def test_of_many_turns_the_first_two_and_the_last_are_shown():
    found = told(TRAIN)
    assert found.head == "script, 11 lines, ran to its end: 50 calls of backward"
    assert rows(TRAIN) == [
        (3, "W drawn, torch.manual_seed(0)", "", ["W"]),
        (7, "loss.backward()", "turn 1 of 50", ["loss", "W.grad"]),
        (9, "W -= 0.01 * W.grad", "", ["W updated, 50 turns"]),
        (10, "W.grad.zero_()", "", ["W.grad zeroed, 50 turns"]),
        (7, "loss.backward()", "turn 2", ["loss"]),
        (0, "47 turns more", "", []),
        (7, "loss.backward()", "turn 50", ["loss"]),
        (11, "print", "", ["final loss: 0.1199"]),
    ]


LEFT = TABLES["LEFT"]


@pytest.mark.parametrize(("text", "wanted"), named(LEFT))
def test_what_a_line_left(text, wanted):
    found, line = [], 0
    for row in told(text).rows:
        line = row.line or line
        found.append([line, [part for left in row.left for part in left_texts(left, Settings(), Layout())]])
    assert found == wanted


ENDS = {
    "print(1)\nprint(2)\nprint(3)\nprint(4)": "4 lines, ran to its end: no derivative call",
    "import sys\nsys.exit(3)": "2 lines, ended by sys.exit: no derivative call",
    "x = 1\n1/0": "2 lines, ended with ZeroDivisionError on line 2: no derivative call",
    f"{LEAF}(x*2).sum().backward()\ntorch.autograd.grad((x*3).sum(), x)": (
        "4 lines, ran to its end: 1 call of backward and 1 call of grad"
    ),
}


@pytest.mark.parametrize("text", ENDS)
def test_the_head_says_how_the_script_ended(text):
    assert told(text, name="a.py").head == f"a.py, {ENDS[text]}"


def test_a_script_of_one_call_and_few_prints_has_no_timeline():
    found = told(f"{LEAF}print(x.shape)\n(x**2).sum().backward()\nprint(x.grad)")
    assert (found.rows, found.prints) == ([], ["torch.Size([2])", "tensor([2., 4.])"])
    assert told("import torch\nx = torch.rand(2)").rows == []
    assert told(f"{LEAF}(x**2).sum().backward()\nprint(1, 2, 3, 4, sep=chr(10))").rows


def test_many_rows_lose_those_in_the_middle():
    text = LEAF + "".join("(x*2).sum().backward()\n" for _ in range(100))
    found = told(text)
    assert len(found.rows) == MOST_ROWS + 1
    assert [row.what for row in found.rows if row.skipped] == [f"{100 - MOST_ROWS} rows more"]
    assert len(told(text, whole=True).rows) == 100


def test_the_call_that_is_answered_and_those_that_are_not_finite_are_shown():
    text = f"{LEAF}for i in range(20):\n    y = (torch.sqrt(x*(i != 9))).sum()\n    y.backward()\n    x.grad = None"
    ended = run_script(text)
    chosen = choose(ended, turn=13)[-1]
    found = timeline(ended, chosen)
    assert [row.turn for row in found.rows if row.turn] == ["turn 1 of 20", "turn 2", "turn 10", "turn 13", "turn 20"]
    assert found.title == "Line 5, turn 13 of 20: y.backward()"
    assert found.events[found.explained] is chosen
    assert found.more == ["--turn 20", "--all"]


CHOSEN = TABLES["CHOSEN"]  # script, --at, --turn, line and turn of the call that is answered


@pytest.mark.parametrize("name", CHOSEN)
def test_which_call_is_answered(name):
    row = CHOSEN[name]
    event = choose(run_script(row["script"]), row.get("at"), row.get("turn"))[-1]
    assert [event.line, event.turn] == row["answered"]


@pytest.mark.parametrize(("at", "turn", "words"), [(3, None, "line 3"), (None, 51, "turn 51"), (7, 60, "turn 60")])
def test_a_call_that_there_is_not_is_refused(at, turn, words):
    with pytest.raises(GradcliError, match=words):
        choose(run_script(TRAIN), at, turn)


def screen(text, width, **more):
    found = told(text)
    return shown(Document((Section("events", found.head, (Events(found),)),)), width, **more).plain


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_screen(width, snapshot):
    assert screen(TRAIN, width) == snapshot


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("text", [TRAIN, *(row["script"] for row in LEFT.values())])
def test_no_line_is_wider_than_the_screen(text, width):
    lines = screen(text, width).split("\n")
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_an_ascii_screen_has_no_other_letters():
    assert screen(TRAIN, 80, unicode=False).isascii()


def test_plain_lines_have_all_digits():
    lines = timeline_lines(told(TRAIN))
    assert lines[1] == "line 3 W drawn, torch.manual_seed(0): W = [[1.5409960746765137,-0.293428897857666]]"
    assert lines[2].startswith("line 7 turn 1 of 50 loss.backward(): loss = 6.403")


def events(text):
    found = events_document(told(text))
    return json.loads(json.dumps(found, allow_nan=False))["events"]


def test_events_are_those_of_the_contract():
    text = (
        "import torch\ntorch.manual_seed(0)\nx = torch.randn(2, requires_grad=True)\nprint(1)\ny = x*2\n"
        "y.backward(torch.ones(2))\ng = torch.autograd.grad((x*3).sum(), (x,))\nx.grad.zero_()\nwith torch.no_grad():\n"
        "    x += 1\ntry:\n    x.backward()\nexcept RuntimeError as e:\n    print('a')\n1/0"
    )
    assert events(text) == [
        {"kind": "draw", "line": 3, "names": ["x"]},
        {"kind": "print", "line": 4, "text": "1\n"},
        {"kind": "backward", "line": 6, "turn": 1, "output": "y", "v": [1.0, 1.0], "grad": {"x": [2.0, 2.0]},
         "adds": {"x": [2.0, 2.0]}},
        {"kind": "grad", "line": 7, "turn": 1, "output": None, "returns": [[3.0, 3.0]], "of": ["x"]},
        {"kind": "zero", "line": 8, "names": ["x"]},
        {"kind": "update", "line": 10, "names": ["x"]},
        {"kind": "error", "line": 12, "type": "RuntimeError",
         "text": "grad can be implicitly created only for scalar outputs", "caught": True},
        {"kind": "print", "line": 14, "text": "a\n"},
        {"kind": "error", "line": 15, "type": "ZeroDivisionError", "text": "division by zero"},
    ]  # fmt: skip


def test_numbers_that_are_not_finite_are_words():
    text = (
        f"{LEAF}(x/0).sum().backward()\n(x*float('nan')).sum().backward()\n"
        "(-x/0).backward(torch.tensor([1., float('inf')]))"
    )
    first, second, third = events(text)
    assert first["grad"] == {"x": ["Infinity", "Infinity"]}
    assert second["adds"] == {"x": ["NaN", "NaN"]}
    assert third["v"] == [1.0, "Infinity"]
    assert third["adds"] == {"x": ["-Infinity", "-Infinity"]}


def test_of_very_many_calls_the_first_and_the_last_are_kept_and_those_that_are_not_finite():
    text = (
        f"{LEAF}for i in range(1500):\n    y = (x*(math.nan if i == 700 else 1)).sum()\n    y.backward()\n"
        "    print(i)\n    x.grad = None"
    )
    found = events(f"import math\n{text}")
    calls = [event for event in found if event["kind"] == "backward"]
    turns = [event["turn"] for event in calls]
    half = MOST_CALLS // 2
    assert turns == [*range(1, half + 1), 701, *range(1500 - half + 1, 1501)]
    assert math.isnan(float(calls[half]["grad"]["x"][0]))
    assert [event["text"] for event in found if event["kind"] == "print"][-1] == "1499\n"


def test_a_leaf_whose_variable_is_another_tensor_keeps_its_name():
    text = f"{LEAF}for i in range(2):\n    (x*3).sum().backward()\n    y = x\n    x = x - 1\n    x.retain_grad()"
    assert [list(event["grad"]) for event in events(text)] == [["x"], ["y"]]
    lost = f"{LEAF}w = x\nz = (x*3).sum()\nz.backward(retain_graph=True)\nx = w = 0\nz.backward()"
    assert [list(event["grad"]) for event in events(lost)] == [["x"], ["x"]]


def test_many_leaves_are_counted():
    text = (
        "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(1, 2), nn.Linear(2, 1))\n"
        "net(torch.ones(1, 1)).sum().backward()\nprint('a\\nb\\nc\\nd')"
    )
    assert [[left.text for left in row.left] for row in told(text).rows][:2] == [
        ["net[0].weight (2, 1) and 3 others", "drawn, seed 0"],
        ["net[0].weight.grad and 3 others added to"],
    ]
