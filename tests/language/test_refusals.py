"""Everything that the language refuses: the kind of the error, words of its message, and what the caret marks.

Each row is ``(program, kind, words, marked)``. ``marked`` is the text under the caret; ``""`` is the end of the program
and None an error about the program as a whole. Words stand in the message or in the hint.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradcli
from gradcli.errors import Budget, GradcliError

INPUTS = {"x": 1.5, "u": [1.0, 2.0], "w": [1.0, 2.0, 3.0], "A": [[1.0, 2.0], [3.0, 4.0]]}
"""The point at which every program of the tables is evaluated; each gets those that it names."""

SYNTAX = [
    ("x +", "syntax", "ends too early", ""),
    ("x)", "syntax", "unmatched ')'", ")"),
    ("(x", "syntax", "'(' was never closed", "("),
    ("(x]", "syntax", "does not match", "]"),
    ("x x", "syntax", "a product needs its sign", "x x"),
    ("what is my gradient", "syntax", "this is a question in English", "what is my gradient"),
    ("1.2.3*x", "syntax", "not an expression", "."),
    ("x ? 1 : 2", "syntax", "where(condition, a, b)", "?"),
    ("x > 0 && x < 1", "syntax", "'and'", "&"),
    ("if x > 0:\nx", "syntax", "indent the body", "x"),
    ("", "syntax", "the program is empty", None),
    ("x\npass", "syntax", "it is the output", "pass"),
    ("break", "syntax", "inside a loop", "break"),
]

NAMES = [
    ("sinn(x)", "unknown-function", "did you mean 'sin'?", "sinn"),
    ("torch.sin*x", "unknown-name", "call it: torch.sin(x)", "torch.sin"),
    ("sin*2", "missing-input", "call it, sin(x)", "sin"),
    ("X*2", "missing-input", "no value for the variable X", "X"),
    ("x + missing", "missing-input", "no value for the variable missing", "missing"),
    ("a*b + x", "missing-input", "no value for the variables a, b", "a"),
    ("open('/etc/passwd')", "unknown-function", "unknown function 'open'", "open"),
    ("u.dump('file')", "unknown-function", "unknown method '.dump()'", "u.dump"),
    ("__builtins__", "not-allowed", "'__builtins__' is not allowed", "__builtins__"),
    ("3(x)", "not-allowed", "write * to multiply", "3"),
    ("sin(x)(x)", "not-allowed", "only functions can be called", "sin(x)"),
    ("sin()", "arguments", "sin needs x", "sin"),
    ("sin(x, x)", "arguments", "too many arguments", "sin"),
    ("u.sum(axes2=0)", "arguments", "no argument 'axes2'", "u.sum"),
]

NOT_ALLOWED = [
    ("async def f(a): return a\nx", "not-allowed", "'async' is not part", "async def f(a): return a"),
    ("{a for a in u}", "not-allowed", "comprehension is not part", "{a for a in u}"),
    ("yield x", "not-allowed", "yield is not part", "yield x"),
    ("await x", "not-allowed", "await is not part", "await x"),
    ("[*u]", "not-allowed", "starred expression is not part", "*u"),
    ("sin(*u)", "not-allowed", "starred", "*u"),
    ("sum(u, **u)", "not-allowed", "'**'", "**u"),
    ("x.__class__", "not-allowed", "unknown attribute '.__class__'", "x.__class__"),
    ("u.sum", "not-allowed", "call it: .sum()", "u.sum"),
    ("u.T = x", "not-allowed", "only a variable or an entry", "u.T"),
    ("a = b = x\na", "not-allowed", "one target at a time", "a = b = x"),
    ("x ^ 2", "not-allowed", "write **", "x ^ 2"),
    ("x << 2", "not-allowed", "shifts are not part", "x << 2"),
    ("x is x", "not-allowed", "'in' and 'is'", "x is x"),
    ("2j*x", "not-allowed", "complex numbers", "2j"),
    ("x*b'1'", "not-allowed", "bytes", "b'1'"),
    ("for i in range(2): y = x\nelse: y = 1\ny", "not-allowed", "a loop is 'for NAME in range(", None),
    ("while x < 1: pass\nelse: x = 1\nx", "not-allowed", "'else' of a loop", None),
]

INSTEAD = [
    ("ones(2, dtype=torch.complex64)*x", "unknown-name", "torch.complex64", "torch.complex64"),
    ("ones(2, dtype='complex64')*x", "type", "complex numbers are not part of the language", None),
    ("ones(2, dtype='floaty')*x", "value", "'floaty' is not a type of numbers", None),
    ("sin(x, dtype=torch.float64)", "arguments", "sin takes no argument 'dtype' here", "sin"),
    ("u.to('gpu')", "value", "'gpu' is neither a type of numbers nor a device", None),
    ("u.item()*x", "value", "an array of 2 entries is not one number", None),
    ("float('one')*x", "value", "write the number itself", None),
    ("u.numpy()", "not-differentiable", "x.detach().numpy()", None),
    ("torch.device('tpux')", "value", "'tpux' is not a device", None),
    ("np.tensordot(ones(2, 3), 2.0, dims=[1, 0])*x", "shape", "a single number has no axis to pair", None),
    ("(x/0).long()*x", "value", "have no integer part of 64 bits", None),
    ("(x*1e30).long()*x", "value", "have no integer part of 64", None),
    ("torch.randn(2)*x", "unknown-function", "the same value at every run", "torch.randn"),
    ("return x", "not-allowed", "write the value alone", "return x"),
    ("2x + 1", "syntax", "write * to multiply: 2*x", "2x"),
    ("3(x)", "not-allowed", "write * to multiply", "3"),
]

MEANING = [
    ("x > 1", "type", "the output is a truth value", "x > 1"),
    ("x and 1", "type", "'and' and 'or' give one of their sides", "x and 1"),
    ("x*'abc'", "type", "not text", "x*'abc'"),
    ("x*None", "type", "not None", "x*None"),
    ("1e999*x", "number", "too large for double precision", "1e999"),
    ("u + w", "shape", "shapes (2,) and (3,) do not fit", "u + w"),
    ("A @ w", "shape", "2 columns on the left, 3 rows on the right", "A @ w"),
    ("sin(u + w)*x", "shape", "(2,) and (3,)", "u + w"),
    ("x @ u", "shape", "use *", "x @ u"),
    ("u.reshape(3)", "shape", "2 entries cannot have the shape (3,)", "u.reshape(3)"),
    ("inv(w)", "shape", "square matrix, not shape (3,)", "inv(w)"),
    ("sum(u, dim=1)", "shape", "dim=1 is out of range", "sum(u, dim=1)"),
    ("a, b = w\na", "shape", "3 values for 2 variables", "a, b"),
    ("y = u*1; y += A; y", "shape", "in place it cannot become (2, 2)", "y += A"),
    ("y = u*1; y[0:1] += A[0:1, 0:1]; y", "shape", "'y[0:1]' has shape (1,), and in place it cannot", "y[0:1]"),
    ("y = u*1; y[0] = u; y", "shape", "y[0] has shape (), and a value of shape (2,) does not fit there", "y[0]"),
    ("y = A*1; y[:, 0] = A; y", "shape", "y[:, 0] has shape (2,), and a value of shape (2, 2) does not", "y[:, 0]"),
    ("u[2]", "index", "index 2 is out of bounds for axis 0 with size 2", "u[2]"),
    ("u[0, 0]", "index", "2 indices for an array of shape (2,)", "u[0, 0]"),
    ("x[0]", "index", "a scalar has no entries", "x[0]"),
    ("u[1.5]", "index", "must be an integer, a slice or a mask, not 1.5", "u[1.5]"),
    ("u[1.0]", "index", "not 1.0", "u[1.0]"),
    ("u['a']", "index", "not text", "u['a']"),
    ("u[10**30]", "index", "not 1e+30", "u[10**30]"),
    ("u[[0, 7]]", "index", "index 7 is out of bounds", "u[[0, 7]]"),
    ("u[..., ...]", "index", "one ... only", "u[..., ...]"),
    ("u[::0]", "index", "step", "u[::0]"),
    ("max(u, 0)", "ambiguous", "write maximum(", "max"),
    ("min(u, 1)", "ambiguous", "write minimum(", "min"),
    ("max(u, 1.5)", "ambiguous", "takes an axis, and 1.5 is none", "max"),
    ("min(u, -0.5)", "ambiguous", "write minimum(..., -0.5)", "min"),
    ("torch.tensor([u[0], x])", "not-differentiable", "write the list by itself", "torch.tensor([u[0], x])"),
    ("if x > 2: z = 1\nz*x", "unbound", "'z' is used before it is assigned", "z"),
    ("y = y + 1\nx", "missing-input", "no value for the variable y", "y"),
    ("if u > 0: y = x\ny", "type", "a condition with 2 entries", "u > 0"),
    ("for i in range(x): pass\nx", "type", "range takes integers", "range(x)"),
    ("for i in x: pass\nx", "type", "not over one number", "x"),
    ("x[range(0, 3, 0)]", "value", "the step of range cannot be 0", "range(0, 3, 0)"),
    ("range(x)*x", "type", "a plain number is needed here", "range(x)"),
]

IN_PLACE = [
    ("y = u; y[0] = 1; y", "in-place", "PyTorch refuses to change a leaf", "y[0]"),
    ("y = u.T; y[0] = 1; y", "in-place", "'y', a view of the input 'u'", "y[0]"),
    ("y = u.detach(); y += 1; y*u", "in-place", "would change 'u' too, as they share memory", "y += 1"),
]

CHARACTERS = [
    ("x² + 1", "character", "U+00B2 SUPERSCRIPT TWO", "²"),
    ("x² + 1", "character", "write **2", "²"),
    ("√x", "character", "U+221A SQUARE ROOT", "√"),
    ("x ÷ 2", "character", "write /", "÷"),
    ("x − 1", "character", "U+2212 MINUS SIGN", "−"),
    ("𝐬𝐢𝐧(x)", "character", "U+1D42C MATHEMATICAL BOLD SMALL S", "𝐬"),
    ("x + ١", "character", "U+0661 ARABIC-INDIC DIGIT ONE", "١"),
    ("x\u200b + 1", "character", "U+200B ZERO WIDTH SPACE", "\u200b"),
    ("x\u202e + 1", "character", "U+202E RIGHT-TO-LEFT OVERRIDE", "\u202e"),
    ("x + π  # π", "character", "U+03C0 GREEK SMALL LETTER PI", "π"),
    ("x\x1b]0;owned\x07", "character", "control character, U+001B", "\x1b"),
    ("x\x00", "character", "control character, U+0000", "\x00"),
    ("x\rrm -rf", "character", "control character, U+000D", "\r"),
    ("\fx", "character", "control character, U+000C", "\f"),
    ("x\x7f", "character", "control character, U+007F", "\x7f"),
    ("x\udcff", "character", "U+DCFF", "\udcff"),
]

BUDGETS = [
    ("x" + " + x" * 100, "text", 300),
    ("((((x))))", "depth", 3),
    ("a = x\n" * 10 + "a", "syntax", 20),
    ("1234567*x", "digits", 6),
    ("y = x\nwhile y < 100: y = y + 1\ny", "turns", 10),
    ("y = x\nfor i in range(50): y = y + x\ny", "nodes", 20),
    ("x*ones(1000)", "elements", 999),
    ("sum(x*ones(10**12))", "elements", 5_000_000),
    ("sum(where(ones(10**5, 1, 1) > 0, x*ones(1, 10**5, 1), ones(1, 1, 10**5)))", "elements", 5_000_000),
    ("sum(clip(x*ones(1000, 1, 1), zeros(1, 1000, 1), ones(1, 1, 1000)))", "elements", 5_000_000),
    ("y = x*ones(100)\nfor i in range(50): y = y + x\nsum(y)", "total", 1000),
    ("-" * 2000 + "x", "syntax", 1000),
    ("x if x > 0 else " * 60 + "x", "depth", 50),
    ("\n".join(" " * i + "if x > 0:" for i in range(60)) + "\n" + " " * 61 + "y = x\ny", "depth", 50),
    ("0x" + "f" * 400 + "*x", "digits", 300),
    ("0b" + "1" * 400 + "*x", "digits", 300),
    ("1" * 4400 + "*x", "digits", 300),
    ("1_" * 200 + "1*x", "digits", 300),
    ("1." + "0" * 400 + "*x", "digits", 300),
    ("for i in range(10**15): y = x\ny", "turns", 1000),
    ("for r in x*ones(2000, 2): y = r\nsum(y)", "turns", 1000),
    ("s = x\nfor i in range(99):\n    for j in range(99): s = s + 1\ns", "turns", 5000),
    ("[" * 30 + "x" + "]" * 30 + "*ones(" + ", ".join(["2"] * 30) + ")", "elements", 5_000_000),
    ("y = x\nfor i in range(60): y = [y, y]\nsum(y)", "elements", 5_000_000),
    ("y = x*ones(2)\nfor i in range(60): y = cat([y, y])\nsum(y)", "elements", 100_000),
    ("y = x*ones(10**6)\nsum(cat([" + "y, " * 400 + "]))", "elements", 5_000_000),
    ("y = x*ones(10**6)\nsum(stack([" + "y, " * 400 + "]))", "elements", 5_000_000),
    ("sum(where(ones(5000, 1) > ones(5000), x, 0))", "elements", 5_000_000),
    ("sum(where((ones(5000, 1) > 0) & (ones(5000) > 0), x, 0))", "elements", 5_000_000),
    ("z = argmin(ones(1, 5000), dim=0)\nsum((x*ones(1, 1))[z[:, None], z])", "elements", 5_000_000),
    ("sum(x.expand(10**9))", "elements", 5_000_000),
    ("sum(tile(u, (10**5, 10**5)))", "elements", 5_000_000),
    ("sum(repeat_interleave(u, 10**12))", "elements", 5_000_000),
    ("sum(diag(u, 10**6))", "elements", 5_000_000),
    ("sum(eye(10**6)*x)", "elements", 5_000_000),
    ("sum(arange(10**15)*x)", "elements", 5_000_000),
    ("sum(arange(0, 1, 1e-300)*x)", "elements", 5_000_000),
    ("sum(linspace(0, 1, 10**12)*x)", "elements", 5_000_000),
    ("sum(outer(x*ones(10**4), ones(10**4)))", "elements", 5_000_000),
    ("sum((x*ones(10**4, 1)) @ ones(1, 10**4))", "elements", 5_000_000),
    ("einsum('i,j,k->', x*ones(1000), ones(1000), ones(1000))", "elements", 5_000_000),
    ("A = A*1\nfor i in range(99): A = A @ A / 10\nsum(A)", "total", 300),
    ("y = ones(50)*x\nfor i in range(99): y[0] = i\nsum(y)", "total", 1000),
]

TABLES = [SYNTAX, NAMES, NOT_ALLOWED, INSTEAD, MEANING, IN_PLACE, CHARACTERS]


def refusal(program: str, budget: Budget | None = None) -> GradcliError:
    """Return the error of a program at the point of the tables."""
    with pytest.raises(GradcliError) as caught:  # noqa: PT012 - some are refused unread, some when they run
        needed = gradcli.function(program, budget=budget).inputs
        gradcli.explain(program, inputs={name: INPUTS[name] for name in needed if name in INPUTS}, budget=budget)
    return caught.value


@pytest.mark.parametrize(("program", "kind", "words", "marked"), [row for table in TABLES for row in table])
def test_a_program_is_refused_with_its_reason_and_its_place(
    program: str, kind: str, words: str, marked: str | None
) -> None:
    error = refusal(program)
    assert error.kind == kind
    assert words in f"{error.message}\n{error.hint}"
    if marked is not None:
        assert error.span is not None
        assert error.place is not None
        assert error.place.text[slice(*error.span)] == marked


@pytest.mark.parametrize(("program", "name", "bound"), BUDGETS)
def test_a_budget_is_refused_by_its_name(program: str, name: str, bound: float) -> None:
    assert_names(refusal(program, Budget().changed(name, bound)), name)


def assert_names(error: GradcliError, name: str) -> None:
    """The error is that of a budget, and says which."""
    assert error.kind == "budget"
    assert f"the budget '{name}'" in error.message
    assert f"--budget {name}=" in (error.hint or "")


class Clock:
    """Stands still while it is looked at ``over`` times, and is hours further from then on."""

    def __init__(self, over: float = math.inf) -> None:
        self.looks, self.hours, self.over = 0, 0, over

    def monotonic(self) -> float:
        self.looks += 1
        return 3600.0 if self.looks > self.over else 0.0

    def thread_time(self) -> float:
        self.hours += 1
        return 3600.0 * self.hours


def test_a_loop_that_does_nothing_is_refused_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for over in (1, 2, 10):
        monkeypatch.setattr("gradcli.engine.meter.time", Clock(over))
        assert_names(refusal("while True: pass\nx", Budget(turns=10**9)), "seconds")


LONG = {  # a program, and the reading of its graph that takes longest
    "y = x\nfor i in range(300): y = sin(y) + x\ny": "small operations",
    "y = x*ones(70, 70)\nfor i in range(9): y = sin(y)\nsum(y)": "large operations",
    "y = x*ones(3, 3)\nfor i in range(9): y = gelu(y @ y)/y + tanh(y)\nsum(y)": "J",
}


@pytest.mark.parametrize("program", LONG, ids=LONG.values())
def test_the_clock_is_looked_at_from_beginning_to_end(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the time is over, forward, backward or in the composition of J, the answer is refused."""
    clocks = Clock(), Clock()
    monkeypatch.setattr("gradcli.engine.meter.time", clocks[0])
    gradcli.function(program).value(x=INPUTS["x"])
    monkeypatch.setattr("gradcli.engine.meter.time", clocks[1])
    gradcli.function(program).jacobian(x=INPUTS["x"])
    forward, whole = (clock.looks for clock in clocks)
    assert 1 < forward < whole - 1
    for over in (1, forward, whole - 1):
        monkeypatch.setattr("gradcli.engine.meter.time", Clock(over))
        assert_names(refusal(program), "seconds")


@pytest.mark.parametrize(
    "call", ["ones(DIMS).sum()*x", "x.reshape(DIMS).sum()", "x.expand(DIMS).sum()", "full((DIMS), x)"]
)
def test_more_axes_than_numpy_has_are_refused(call: str) -> None:
    assert "32" in refusal(call.replace("DIMS", ", ".join(["1"] * 33))).message


@pytest.mark.parametrize("program", [
    "np.array_split(x[:0], 2**53)[0]", "np.split(x[:0], 2**53)[0]", "torch.chunk(x[:0], 2**53)[0]",
    "torch.tensor_split(x, 2**40)[0]", "hsplit(x[:0], 2**53)[0]",
])  # fmt: skip
def test_as_many_parts_as_no_memory_holds_are_over_the_budget(program):
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(program, x=np.ones(3))
    assert caught.value.kind == "budget"


@pytest.mark.parametrize(("program", "words"), [
    ("np.insert(0.7, 1, x, axis=0)", "one number has no axis"),
    ("np.delete(x[0], 0, axis=0)", "one number has no axis"),
    (f"x // {'[' * 41}1{']' * 41}", "at most 32 axes"),
])  # fmt: skip
def test_what_hostile_texts_found_is_refused(program, words):
    with pytest.raises(GradcliError, match=words):
        gradcli.explain(program, x=np.ones(3))
