"""An answer is as short as its question: lines of ten programs at 80 columns, blank ones and notes among them."""

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
SCRIPTS = HOME / "tests" / "data" / "lengths"
SEED = ("explain", "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "--x", "1,2", "--v", "1,10,100")
NETWORK = (
    "explain", "-f", str(HOME / "docs" / "network.txt"), "--W1", ".1,.05;.4,.6", "--b1", "0,.1", "--W2", "1.,-1;.5,2",
    "--b2", "0,.2", "--x", "1.,2.", "--t", "0,1.", "--wrt", "W1,b1,W2,b2",
)  # fmt: skip
BUDGETS = {
    "two to three": (SEED, 34),
    "a network": (NETWORK, 36),
    "linear regression": ("linreg", 32),
    "logistic regression": ("logreg", 42),
    "softmax and cross entropy by hand": ("softmax_ce", 45),
    "a recurrent network over three steps": ("rnn", 64),
    "batch norm by hand": ("batchnorm", 70),
    "layer norm by hand": ("layernorm", 75),
    "attention": ("attention", 105),
    "a training script below its timeline": ("train", 45),
}
INVENTED = re.compile(r"\bh\d+\b|\bd\w+_d\w+\b")
"""Names of gradcli's own for values that the program does not name."""


@pytest.fixture
def shown(cli):
    """Return what a screen of so many columns shows of a program: its words, or the name of a script."""

    def call(what, width):
        words = what if isinstance(what, tuple) else (str(SCRIPTS / f"{what}.py"),)
        answer = cli(*words, "--width", str(width), columns=None)
        assert answer.code == 0, answer.err
        return answer.out

    return call


@pytest.mark.parametrize("name", BUDGETS)
def test_an_answer_has_no_more_lines_than_its_budget(shown, name):
    what, most = BUDGETS[name]
    lines = shown(what, 80).rstrip("\n").split("\n")
    call = next((k for k, line in enumerate(lines) if re.match(r" Line \d+, turn", line)), 0)
    assert len(lines) - call <= most, "\n".join(lines)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", BUDGETS)
def test_no_line_is_wider_than_the_screen(shown, name, width):
    what, _ = BUDGETS[name]
    for line in shown(what, width).split("\n"):
        assert len(line) <= width or " " not in line.strip(), line


@pytest.mark.parametrize("name", [name for name, (what, _) in BUDGETS.items() if isinstance(what, str)])
def test_a_script_is_answered_in_its_own_names(shown, name):
    what, _ = BUDGETS[name]
    own = set(INVENTED.findall((SCRIPTS / f"{what}.py").read_text(encoding="utf-8")))
    assert set(INVENTED.findall(shown(what, 80))) - own <= NUMBERED.get(what, set())


NUMBERED = {"rnn": {"h1", "h2", "h3"}, "train": {"h1", "h2", "h3"}, "layernorm": {"h2"}}
"""The turns of a name that a loop assigns again, the modules of a model without names of its own, and the variance with
its epsilon, without whose name the lines of layer norm are too long."""


def test_the_gradient_of_one_output_is_printed_once(shown):
    out = shown("softmax_ce", 80)
    assert out.count("-0.757567") == 1
    assert "both give this" in out
