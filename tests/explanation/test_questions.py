"""The 28 questions that people ask about ``backward``: a command for each, and the lines that answer it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

import pytest

from conftest import Cli

LIST = '"[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]" --x 1.,2.'
LOOP = '"y = x*2\nwhile y.norm() < 1000:\n    y = y*2" --x 0.3,-0.9,0.55 --v 0.1,1.0,0.0001'
BRANCH = '"if x > 1:\n    y = x**2\nelse:\n    y = 3*x" --x 1.5'
LAYER = "--X '1.,2.;3.,4.;5.,6.' --w 1.,1. --b 0.5"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, the command line that answers, with which exit code, and the lines that do, spaces aside.

    A line of the answer that ends in the middle of a sentence goes on in the next one.
    """

    number: int
    asks: str
    command: str
    lines: tuple[str, ...]
    code: int = 0


def script(*lines: str) -> str:
    """Return a script of PyTorch with a leaf x of two entries, quoted for a command line."""
    return shlex.quote("\n".join(("import torch", "x = torch.tensor([1.5, 2.5], requires_grad=True)", *lines)))


CREATE = "g = torch.autograd.grad(y, x, create_graph=True)"


def ask(number: int, asks: str, command: str, *lines: str, code: int = 0) -> Question:
    """Return a question."""
    return Question(number, asks, command, lines, code)


QUESTIONS = [
    ask(
        1,
        "What are the three numbers that the tutorial hands to backward?",
        f"explain {LOOP}",
        "L = v·y10 = 0.1·y10[0] + 1·y10[1] + 0.0001·y10[2] = -890.824, and x.grad = ∂L/∂x.",
        "y10[2] 0.0001 │ · · 1024",
    ),
    ask(
        2,
        "Why does backward demand a gradient for an output with several entries, and which do I give?",
        "explain 'x**2' --x 1.,2.",
        "error: y has shape (2,), so backward() needs a v of that shape: a weight for each of the 2 entries",
        "help: --v '1,1' is y.sum().backward(), --v '1/2,1/2' is y.mean().backward(), --v '1,0' is y[0].backward()",
        code=2,
    ),
    ask(
        3,
        "Why is a single 1.0 not spread over all outputs?",
        "explain 'x**2' --x 1.,2. --v 1",
        "error: v has shape (), y has shape (2,)",
        "help: one number does not say which gradient is meant: y.sum().backward(), which is --v 'ones(2)', gives "
        "x.grad = [2, 4], and y.mean().backward(), which is --v 'ones(2)/2', gives x.grad = [1, 2]",
        code=2,
    ),
    ask(
        3,
        "And in a script?",
        f"explain {script('y = x**2', 'y.backward(torch.tensor(1.0))')}",
        "help: one number does not say which gradient you mean: x.grad would be [3, 5] by y.sum().backward() and "
        "[1.5, 2.5] by y.mean().backward(); or give y.backward(v) a v in the shape of y",
        code=1,
    ),
    ask(
        3,
        "How far apart are the gradients of the sum and of the mean?",
        f"explain {LIST} --v 1,10,100",
        "v = ones y.sum().backward() [8, 34]",
        "v = 1/3 y.mean().backward() [2.66667, 11.3333]",
    ),
    ask(
        4,
        "Which shape does the gradient that I hand over need?",
        "explain 'x**2' --x 1.,2. --v 1,2,3",
        "error: v has shape (3,), y has shape (2,)",
        "help: give 2 numbers, one for each entry of y: --v 'ones(2)' for the sum, 'ones(2)/2' the mean",
        code=2,
    ),
    ask(
        4,
        "Why is a v of two entries refused for a loss, when old code had one?",
        "explain 'sum(x**2)' --x 1.,2. --v 1,1",
        "y has one entry and v has 2: each is one call of backward, so x.grad is sum(v)*J. PyTorch raises "
        '"Mismatch in shape".',
    ),
    ask(
        5,
        "Is v multiplied from the left or from the right, and is J transposed?",
        "explain 'A @ x' --A '1.,2.;3.,4.;5.,6.' --x 1.,2. --wrt x --v 1,10,100",
        "J = ∂y/∂x 3×2, a row for each output, a column for each input",
        "v │ x[0] x[1]",
        "y[1] 10 │ A[1,0] = 3 A[1,1] = 4",
        "vᵀ·J │ 531 642",
    ),
    ask(
        6,
        "How is a Jacobian with four axes multiplied by a matrix?",
        "explain 'A @ A' --A '1.,2.;3.,4.' --v '1,1;1,1'",
        "J flattens y (2, 2) and A (2, 2) row by row; A.grad has the shape of A.",
        "y[1,0] 1 │ 3 · 5 3",
    ),
    ask(
        7,
        "How do I get all of J at once? PyTorch refuses the identity as v.",
        "explain 'x**2' --x 1.,2. --v '1,0;0,1'",
        "v is the identity: each of its rows is one call of backward, which adds one row of J to .grad. PyTorch "
        "refuses it as one v.",
        "v = [0, 1] [0, 4] [2, 4]",
    ),
    ask(
        7,
        "How many calls does all of J take?",
        f"explain {LIST} --v 0,1,0",
        "All of J: 3 calls of backward (one a row) or 2 forward passes (one a column).",
        "This v is one-hot: x.grad is row y[1] of J.",
        "x.grad │ 2 24 ✓ reverse mode gives the same numbers",
    ),
    ask(
        8,
        "Is a v of ones the same as summing first?",
        f"explain {LIST} --v 1,1,1",
        "This v is ones: the gradient of y.sum().",
        "x.grad │ 8 34 ✓ reverse mode gives the same numbers",
    ),
    ask(8, "And the sum, by itself?", 'grad "sum([3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]])" --x 1.,2.', "8,34"),
    ask(
        9,
        "When do ones give the derivative at each point?",
        "explain 'x**2' --x 1.,2. --v 1,1",
        "Each input moves one output at most, so v = ones leaves every derivative in its own place.",
    ),
    ask(
        9,
        "And where nothing moves?",
        "explain 'floor(x)' --x 3.5,4.5 --v 1,1",
        "No input moves an output at this point: every v gives 0.",
    ),
    ask(
        9,
        "And when not?",
        "explain 'cumsum(x, dim=0)' --x 1.,2.,3. --v 1,1,1",
        "y[0], y[1] and y[2] use x[0], so every v adds their rows up in x.grad.",
    ),
    ask(
        10,
        "Why is the gradient summed over the batch, and what is each sample's part?",
        f"explain '(X @ w + b)**2' {LAYER} --wrt w --v 1,1,1",
        "y[0] 1 │ 7 14",
        "y[2] 1 │ 115 138",
        "w.grad[0] = v[0]·7 + v[1]·45 + v[2]·115 = 1·7 + 1·45 + 1·115 = 167",
    ),
    ask(
        10,
        "And of a mean loss?",
        "explain 'mean((X @ w - t)**2)' --X '1.,2.;3.,4.;5.,6.' --t 1.,2.,3. --w 0.5,-0.5 --wrt w",
        "The mean is over 3 rows (samples): each adds 1/3 of its own gradient",
        "row 1 6.25 [-5, -6.66667]",
    ),
    ask(
        11,
        "Why has the gradient of the bias of a loss a sum in it?",
        f"explain 'mean((X @ w + b)**2)' {LAYER} --wrt w,b",
        "b is broadcast to (3,): used 3 times, so b.grad adds 3 terms.",
    ),
    ask(
        11,
        "Why does the gradient of the bias have a sum in it?",
        f"explain 'y = X @ w + b\nloss = sum(y**2)' {LAYER} --wrt w,b",
        "b.grad = sum(y.grad)",
        "b is broadcast to (3,): used 3 times, so b.grad adds 3 terms.",
        "y.grad = 2*y (3,) [7, 15, 23]",
    ),
    ask(
        12,
        "Why does the gradient double when I call backward again?",
        "explain 'x**2' --x 1.5 --v 1 --v 1",
        "Calls of backward without zero_grad",
        "adds x.grad v = 1 3 3 v = 1 3 6",
    ),
    ask(
        13,
        "Why does a second backward need retain_graph, and what for?",
        "explain 'exp(x)*x' --x 1.5 --v 1 --v 1",
        "A second backward raises in PyTorch without retain_graph=True, since the first one frees the values saved for "
        "it: exp saves its result and * saves an inner value and x.",
    ),
    ask(
        14,
        "Why has a value in the middle no .grad, and what would it be?",
        "explain 'h = x**2\nh.sum()' --x 1.5,2.5",
        "h.grad = 1 (2,) [1, 1]",
    ),
    ask(
        14,
        "Why does a script print None for it?",
        f"explain {script('h = x**2', 'h.sum().backward()', 'print(h.grad)')}",
        "h.grad is None, as h is computed and no leaf: after h.retain_grad() it is [1, 1].",
    ),
    ask(
        14,
        "Why can it not be asked for?",
        "explain 'h = x**2\nh.sum()' --x 1.5,2.5 --wrt h",
        "error: 'h' is computed by the program, and no input",
        "help: its gradient, h.grad, stands under Backward; or leave out what computes it, and give it a value",
        code=2,
    ),
    ask(
        15,
        "Why does a tensor made of a list of tensors not require grad?",
        "explain 'torch.tensor([x[0]*2, x[1]])' --x 1.,2. --v 1,1",
        "error: torch.tensor([...]) copies numbers and cuts the graph: no gradient would flow",
        "help: write the list by itself, or torch.stack([...])",
        code=2,
    ),
    ask(
        15,
        "Why does the output not require grad?",
        "explain 'x.detach()*2' --x 1.5",
        "No derivative leads from the output to a differentiated variable: every gradient is 0; backward of PyTorch "
        "raises, as the output does not require grad.",
    ),
    ask(
        16,
        "Which value was changed in place, and who needed it?",
        "explain 'y = exp(x); y += 1; y.sum()' --x 1.5,2.5",
        "'y' is written to in place, and the derivative of exp needs what stood there: backward of PyTorch raises.",
    ),
    ask(17, "Which input was not used?", "explain 'x[0]**2' --x 1.5,2.5", "y does not depend on x[1]."),
    ask(
        17,
        "And what does PyTorch leave there?",
        "explain 'a = x*2\ny = b**2' --x 1.5 --b 2.5",
        "y does not depend on x: its gradient is 0, and PyTorch leaves x.grad None; grad() raises there without "
        "allow_unused=True.",
    ),
    ask(
        17,
        "And which input does grad complain of?",
        f"explain {script('b = torch.tensor(2.5, requires_grad=True)', 'torch.autograd.grad((x**2).sum(), (x, b))')}",
        "RuntimeError: The differentiated Tensor at index 1 appears to not have been used in the graph.",
        "help: the output does not depend on b: with allow_unused=True grad returns None for it, as backward() leaves "
        "b.grad None",
        code=1,
    ),
    ask(
        18,
        "Why can integers not require a gradient?",
        "explain 'x**2' --x 1,2 --v 1,1",
        "x is given in integers, read as floats: PyTorch wants 1.0 for a gradient.",
    ),
    ask(
        19,
        "What is the derivative of relu at 0?",
        "explain 'relu(x)' --x 0.,1. --v 1,1",
        "relu has a kink in entry [0] at this point; there 0 is taken, as in PyTorch.",
    ),
    ask(
        20,
        "Where does the nan come from, when where keeps the root of 0 out?",
        "explain 'where(x > 0, sqrt(x), 0)' --x 0.",
        "Going back, sqrt(x) is the first to give nan: 0 times its infinite derivative, as PyTorch has it. Keep the "
        "argument away from that point, by a where inside of the call, and not around it.",
        code=1,
    ),
    ask(
        21,
        "Why is the gradient of round 0, and is it missing?",
        "explain 'round(x)' --x 1.3",
        "round is flat: its derivative is 0 wherever it has one.",
    ),
    ask(
        22,
        "Why has a linear function no second derivative?",
        "explain '3*x' --x 1.5",
        "y is linear in x: second derivatives are 0, and differentiating x.grad raises in PyTorch.",
    ),
    ask(
        22,
        "Why does PyTorch raise there?",
        f"explain {script('y = (3*x).sum()', CREATE, 'torch.autograd.grad(g[0], x)')}",
        "error: RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        "help: line 4 gives a constant, since its function is linear: the second derivative is 0, and there is no "
        "graph to go back over (torch.autograd.functional.hessian returns the 0)",
        code=1,
    ),
    ask(
        23,
        "What becomes of a loop?",
        f"explain {LOOP}",
        "… 9 turns of the loop; the last:",
        "it ended because y10.norm() = 1122.9 ≥ 1000",
        "y9.grad = y10.grad*2 [0.2, 2, 0.0002]",
    ),
    ask(23, "And of a branch?", f"explain {BRANCH}", "x = 1.5 > 1: the if branch ran; else contributes nothing"),
    ask(
        24,
        "Do I call backward or grad?",
        "explain 'x**2' --x 1.5 --v 1 --v 10",
        "torch.autograd.grad returns what one call adds, and .grad stays as it was.",
        "adds x.grad v = 1 3 3 v = 10 30 33",
    ),
    ask(
        24,
        "What is .grad after a call of grad?",
        f"explain {script('y = (x**2).sum()', 'g, = torch.autograd.grad(y, x)')}",
        "torch.autograd.grad returns a tuple with what is x.grad here; in PyTorch x.grad stays None.",
    ),
    ask(
        25,
        "Forward mode or reverse mode?",
        "explain 'A @ x' --A '1.,2.,3.;4.,5.,6.' --x 1.,2.,3. --wrt x --v 1,1",
        "All of J: 2 calls of backward (one a row) or 3 forward passes (one a column).",
    ),
    ask(
        25,
        "And row by row?",
        "explain 'A @ x' --A '1.,2.,3.;4.,5.,6.' --x 1.,2.,3. --wrt x --v 1,1 --row 0",
        "J: 2 reverse passes, one for each output, or 3 forward, one for each input.",
    ),
    ask(
        25,
        "And of a loss?",
        "explain 'sum(x**2)' --x 1.,2.,3. --row ''",
        "One reverse pass gives the gradient; forward mode takes 3, one for each input.",
    ),
    ask(
        25,
        "And where J is sparse?",
        "explain 'x**2' --x 1.,2. --v 1,1",
        "J = ∂y/∂x 2×2 diagonal, 2 of 4 entries, all rows in 1 call of backward",
    ),
    ask(
        25,
        "And where it is shown whole?",
        "explain '[x[0]*x[1], x[1]*x[2], x[2]*x[3], x[0]*x[3]]' --x 1.,2.,3.,4. --v 1,1,1,1",
        "All of J: 4 calls of backward (one a row) or 4 forward passes (one a column).",
    ),
    ask(
        8,
        "Ones or the mean, in a pipe?",
        "explain '[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]' --x 1.,2. --v 1,10,100 -F plain",
        "v.y = 2173",
        "x.grad of y.sum() = 8,34",
        "x.grad of y.mean() = 2.6666666666666665,11.333333333333334",
        "x.grad of y[1] = 2,24",
    ),
    ask(
        26,
        "Is this gradient right?",
        "check 'tanh(x)*x' --x 1.5",
        "right: symbols and reverse mode agree with the true derivative to 15 digits",
    ),
    ask(
        26,
        "Is mine?",
        "check 'x**3' --x 1.5 --expect '2*x**2'",
        "wrong: dy/dx is 4.5 by 2*x**2 and truly 6.75: it is 2/3 times the true one everywhere",
        code=1,
    ),
    ask(
        26,
        "How near is a difference quotient, and how near in float32?",
        "grad 'sum(x**3)' --x 1.5,2. --confirm",
        "The difference quotient by x[0] is 6.75, right to ",
        "J and reverse mode differ by 0; gradcli check shows how many digits of each entry are right.",
    ),
    ask(
        27,
        "Has a column a gradient that is a row?",
        "explain 'sum(x**2)' --x '1.;2.'",
        "x.grad has the shape of x, (2, 1): it is a column too.",
    ),
    ask(
        27,
        "Is a gradient a row or a column?",
        "explain 'W @ x' --W '1.,2.;3.,4.' --x '1.;1.' --v '1;1'",
        "J flattens y (2, 1), W (2, 2) and x (2, 1) row by row; W.grad has the shape of W, and so on.",
        "W.grad = [[1, 1],",
    ),
    ask(
        28,
        "Which way does the gradient take?",
        "explain 'h = tanh(x)\ny = h*h + x' --x 0.7",
        "h.grad = 2*h = 2*0.604368 = 1.20874 (used twice)",
        "x → h → y 0.63474 · 1.20874 ≈ 0.767232",
    ),
]


def test_all_of_the_28_questions_are_asked():
    assert {question.number for question in QUESTIONS} == set(range(1, 29))


@pytest.mark.parametrize("question", QUESTIONS, ids=[f"{q.number}: {q.asks}" for q in QUESTIONS])
def test_an_answer_has_the_line_that_answers(cli: Cli, question: Question) -> None:
    answer = cli(*shlex.split(question.command))
    said = spaced(answer.out + answer.err)
    assert answer.code == question.code
    assert [line for line in question.lines if line not in said] == []


def spaced(text: str) -> str:
    """Return a text with single spaces."""
    return re.sub(r"\s+", " ", text)
