"""Whole scripts: inputs, the program as it ran, v, the derivative, and the numbers that it has to be."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from gradcli import __version__
from gradcli.errors import GradcliError
from gradcli.explanation.explained import Explained
from gradcli.explanation.rereading import evaluate
from gradcli.ops.declare import Array
from gradcli.scripts.translate import (
    JAX,
    NUMPY,
    TORCH,
    Dialect,
    Line,
    Translator,
    backward_rules,
    forward_lines,
    helper_texts,
    made_lines,
    refusal,
    refuse_long,
)

LIBRARIES = ("torch", "jax", "numpy")
KINKS = {"kink", "jump", "infinite-slope", "edge", "edge-of-domain", "not-finite"}
"""Kinds of notes on points where libraries differ."""
REFUSES = "torch-refuses"
DISAGREE = "The two routes of gradcli disagree at this point, or digits are lost: reverse mode alone has"
CHECKS = "# The numbers that gradcli printed: any other ends this with an error"


def script(answer: Explained, library: str) -> str:
    """Return the script of an answer in one of ``LIBRARIES``; raises ``code`` for what it cannot tell."""
    if library not in LIBRARIES:
        raise GradcliError(
            "option", f"'{library[:40]}' is no library for scripts", hint=f"one of {', '.join(LIBRARIES)}"
        )
    refuse_long([*answer.inputs.values(), answer.seed], library)
    lines = {"torch": torch_script, "jax": jax_script, "numpy": numpy_script}[library](answer)
    return "\n".join(lines) + "\n"


def torch_script(answer: Explained) -> list[str]:
    """Return the program in PyTorch, its calls of backward, and what they leave in ``.grad``."""
    forward = forward_lines(answer, "torch")
    words = Words(TORCH, answer, forward, ())
    if not answer.rules and not is_input(answer):
        raise refusal("torch", f"'{answer.name}' depends on no variable, and PyTorch refuses backward")
    body = [
        *(f"{line.name} = {words.number(line.value, grad_option(answer, line.name))}" for line in words.inputs),
        "",
        *words.lines(forward),
        "",
    ]
    calls = answer.counted
    for number, call in enumerate(calls, 1):
        keep = ", retain_graph=True" if number < len(calls) else ""
        body.append(f"{answer.name}.backward({words.number(call.v.seed)}{keep})")
    shown = [f'print("{name}.grad =", {name}.grad)' for name in answer.differentiated]
    imports = TORCH.imports if any(re.search(r"\bF\.", line) for line in body) else TORCH.imports[:1]
    return [
        *head("y.backward(v) in PyTorch, and what it leaves in .grad.", answer),
        *(f"# As it stands: {' '.join(note.message.split())}" for note in answer.notes if note.kind == REFUSES),
        *imports, "", "torch.set_default_dtype(torch.float64)", "",
        *body, *shown, "",
        *(only_told(answer, DISAGREE) if answer.agreement.verdict != "agree" else [CHECKS, *(
            f"torch.testing.assert_close({left(name, value)}, {words.number(value)}, {tolerance_text(value, words)}, "
            "equal_nan=True)" for name, value in answer.grad.items())]),
    ]  # fmt: skip


def is_input(answer: Explained) -> bool:
    """Return whether the output is a variable itself, which no rule leads to."""
    return not answer.rules and any(np.any(grad) for grad in answer.grad.values())


def grad_option(answer: Explained, name: str) -> str:
    """Return what a tensor is told that is differentiated."""
    return ", requires_grad=True" if name in answer.differentiated else ""


def jax_script(answer: Explained) -> list[str]:
    """Return the program as a function in jax, its vjp at v, and what it gives."""
    forward = forward_lines(answer, "jax")
    words = Words(JAX, answer, forward, ("pullback",))
    function, v = words.fresh("f"), words.fresh("v")
    names = answer.differentiated
    checked = not why_untold(answer)
    grads = [words.cotangents[name] for name in names]
    arguments = ", ".join(names)
    body = words.lines(forward)
    return [
        *head("The vector-Jacobian product of y in jax, as y.backward(v) leaves it in .grad.", answer),
        *words.imports(body), *["import numpy as np"] * checked, "",
        'jax.config.update("jax_enable_x64", True)', "", *words.helper_lines(),
        *(f"{line.name} = {words.number(line.value)}" for line in words.inputs), "", "",
        f"def {function}({arguments}):",
        *(f"    {line}" for line in body), f"    return {answer.name}", "", "",
        f"{answer.name}, pullback = jax.vjp({function}, {arguments})",
        f"{v} = {words.number(answer.seed)}",
        f"{', '.join(grads) if len(grads) > 1 else f'({grads[0]},)'} = pullback({v})",
        *(f'print("{name}.grad =", {grad})' for name, grad in zip(names, grads, strict=True)), "",
        *jax_checks(answer, words),
    ]  # fmt: skip


def numpy_script(answer: Explained) -> list[str]:
    """Return forward and the backward pass in numpy, and a check against the numbers of the answer."""
    forward, rules, made = forward_lines(answer, "numpy"), backward_rules(answer, "numpy"), made_lines(answer)
    words = Words(NUMPY, answer, [*forward, *made], ())
    refuse_long([*answer.inputs.values(), answer.seed, *answer.constants.values()], "numpy")
    ran = [*words.lines(forward), *words.lines(made)]
    v = words.fresh("v")
    sweep = [f"{v} = {words.number(answer.seed)}"]
    for rule in rules:
        text = v if rule is rules[0] else words.rule(rule.text or "", rule.value.shape)
        sweep.append(f"{words.cotangents[rule.name]} = {text}")
    reached = {rule.name for rule in rules}
    for name in answer.differentiated:
        if name not in reached:
            is_output = not rules and np.any(answer.grad[name])
            text = v if is_output else f"np.zeros({answer.inputs[name].shape})  # it reaches no output"
            sweep.append(f"{words.cotangents[name]} = {text}")
    results = [(name, words.cotangents[name], answer.grad[name]) for name in answer.differentiated]
    return [
        *head("y.backward(v) in numpy: forward, and the backward pass written out.", answer),
        *words.imports([*ran, *sweep]), "", *words.helper_lines(),
        *(f"{line.name} = {words.number(line.value)}" for line in words.inputs), "",
        "# Forward", *ran, "",
        f"# Backward: {words.cotangents[answer.name]} is what arrives at {answer.name}, and so for each name",
        *sweep, "",
        *(f'print("{name}.grad =", {cotangent})' for name, cotangent, _ in results), "",
        CHECKS,
        *(f"np.testing.assert_allclose({cotangent}, {number_text(value)}, {tolerance_text(value, words)})"
          for cotangent, value in ((answer.name, answer.output), *(result[1:] for result in results))),
    ]  # fmt: skip


def head(says: str, answer: Explained) -> list[str]:
    """Return what stands above a script; the text of the program is in comments, line by line."""
    program = [f"#   {line}".rstrip() for line in re.split(r"[\n\r]", answer.program)]
    return [f'"""{says} Written by gradcli {__version__}."""', "", "# The program:", *program, ""]


def jax_checks(answer: Explained, words: Words) -> list[str]:
    """Return the lines that hold jax against the answer, or what gradcli has where it may differ."""
    why = why_untold(answer)
    if why:
        return only_told(answer, why)
    checks = [
        f"np.testing.assert_allclose({words.cotangents[name]}, {number_text(value)}, {tolerance_text(value, words)})"
        for name, value in answer.grad.items()
    ]
    return [CHECKS, *checks]


def why_untold(answer: Explained) -> str:
    """Return why jax need not have the numbers of an answer, in words; empty where it has to."""
    if any(note.kind in KINKS for note in answer.notes):
        return "A kink: jax may take another slope here than PyTorch and gradcli, which has"
    return "" if answer.agreement.verdict == "agree" else DISAGREE


def only_told(answer: Explained, why: str) -> list[str]:
    """Return the gradients of an answer in comments, where nothing is held against them."""
    return [f"# {why}", *(f"#   {name}.grad = {number_text(grad)}" for name, grad in answer.grad.items())]


def left(name: str, value: Array) -> str:
    """Return what PyTorch has left in ``.grad``, which is None where nothing arrived, and zeros in the answer."""
    return f"{name}.grad" if np.any(value) else f"torch.zeros_like({name}) if {name}.grad is None else {name}.grad"


def tolerance_text(wanted: Array, words: Words) -> str:
    """Return how near a result has to come: a millionth of it, and what rounding leaves where terms cancel."""
    return f"rtol=1e-6, atol={1e-9 * largest_size([wanted]) + 1e-13 * words.largest:.1e}"


def largest_size(arrays: Iterable[Array]) -> float:
    """Return the size of the largest number, infinities apart."""
    sizes = [np.abs(np.asarray(array, dtype=np.float64)) for array in arrays]
    return max((float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes), default=0.0)


class Words:
    """What the lines of one script are called and written in.

    ``cotangents`` has the name of each value's cotangent, ``inputs`` the variables and the long arrays of rules,
    ``largest`` the size of the largest number on the way.
    """

    def __init__(self, dialect: Dialect, answer: Explained, lines: Iterable[Line], extra: tuple[str, ...]) -> None:
        constants = answer.constants if dialect is NUMPY else {}
        self.inputs = [Line(name, "", value) for name, value in {**answer.inputs, **constants}.items()]
        lines = list(lines)
        values = {line.name: line.value for line in (*self.inputs, *lines)}
        reserved = {"np", "torch", "F", "jax", "jnp", "math", "namedtuple", "print", *extra}
        self.taken = {*values, *reserved, *helper_texts()}
        self.cotangents = {name: self.fresh(f"d{name}", f"grad_{name}") for name in values}
        self.translator = Translator(dialect, values, self.cotangents)
        self.dialect, self.explained, self.values = dialect, answer, values
        self.largest = largest_size([answer.seed, *values.values(), *(rule.value for rule in answer.rules)])
        clashing = sorted(values.keys() & reserved)
        if clashing:
            raise refusal(dialect.library, f"the script needs the name {' and '.join(clashing)} itself",
                          "give the variable another name")  # fmt: skip

    def fresh(self, *names: str) -> str:
        """Return the first of some names that nothing else has, or the last with something added."""
        result = next((name for name in names if name not in self.taken), names[-1])
        while result in self.taken:
            result += "_"
        self.taken.add(result)
        return result

    def number(self, value: Array, more: str = "") -> str:
        """Return an array of numbers; ``more`` stands behind them."""
        return f"{self.dialect.array.removesuffix('(x)')}({number_text(value)}{more})"

    def lines(self, lines: Iterable[Line]) -> list[str]:
        """Return lines of the program."""
        result = []
        for line in lines:
            if self.translator.is_number(line.text):
                self.translator.plain.add(line.name)
            result.append(f"{line.name} = {self.translator.text(line.text)}")
        self.refuse_hidden()
        return result

    def rule(self, text: str, shape: tuple[int, ...]) -> str:
        """Return a rule, spread over the shape of its value where it is smaller."""
        kept = {rule.name: rule.value for rule in self.explained.backward_by_any_v.rules}
        alone = evaluate(text, self.numbers, kept)
        written = self.translator.text(text)
        self.refuse_hidden()
        return written if alone is not None and alone.shape == shape else f"np.broadcast_to({written}, {shape})"

    @property
    def numbers(self) -> dict[str, Array]:
        """The numbers of the names that rules mention, those of made names worked out from their texts."""
        numbers = dict(self.values)
        for rule in reversed(self.explained.backward_by_any_v.rules):
            if rule.made:
                value = evaluate(rule.made, numbers)
                numbers[rule.name] = np.zeros(rule.value.shape) if value is None else value
        return numbers

    def refuse_hidden(self) -> None:
        """Refuse a program that calls a value like a function that the script brings along."""
        hidden = sorted(self.values.keys() & self.needed())
        if hidden:
            why = f"the script needs the name {' and '.join(hidden)} for a function"
            raise refusal(self.dialect.library, why, "give the variable another name")

    def needed(self) -> set[str]:
        """Return the helpers that are called, and those that they call."""
        texts = helper_texts(self.dialect.module)
        needed = self.translator.used & texts.keys()
        while True:
            more = {name for name in texts for caller in needed if re.search(rf"\b{name}\(", texts[caller])} - needed
            if not more:
                return needed
            needed |= more

    def helper_lines(self) -> list[str]:
        """Return the helpers of the script, in the order in which they stand in their module."""
        needed = self.needed()
        texts = [text for name, text in helper_texts(self.dialect.module).items() if name in needed]
        return [part for text in texts for part in ("", *text.split("\n"), "")] + ([""] if texts else [])

    def imports(self, body: Iterable[str]) -> list[str]:
        """Return the imports of a script: those that some line of it needs."""
        text = "\n".join([*body, *self.helper_lines()])
        standard = ["from collections import namedtuple"] * ("Pair(" in text) + ["import math"] * ("math." in text)
        return [*standard, *([""] if standard else []), *self.dialect.imports]


def number_text(value: Array) -> str:
    """Return numbers as nested lists that Python reads, all digits of each."""
    array = np.asarray(value, dtype=np.float64)
    if array.size == 0 and array.ndim > 1:
        return f"np.zeros({array.shape})"
    text = repr(array.tolist())
    return re.sub(r"\b(nan|inf)\b", r'float("\1")', text)
