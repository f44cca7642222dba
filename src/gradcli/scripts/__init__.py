"""Whole scripts: inputs, the program as it ran, v, the derivative, and the numbers that it has to be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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


def script(found: Explained, library: str) -> str:
    """Return the script of an answer in one of ``LIBRARIES``; raises ``code`` for what it cannot tell."""
    if library not in LIBRARIES:
        raise GradcliError(
            "option", f"'{library[:40]}' is no library for scripts", hint=f"one of {', '.join(LIBRARIES)}"
        )
    refuse_long([*found.inputs.values(), found.seed], library)
    lines = {"torch": torch_script, "jax": jax_script, "numpy": numpy_script}[library](found)
    return "\n".join(lines) + "\n"


def torch_script(found: Explained) -> list[str]:
    """Return the program in PyTorch, its calls of backward, and what they leave in ``.grad``."""
    forward = forward_lines(found, "torch")
    words = Words(TORCH, found, forward, ())
    if not found.rules and not is_input(found):
        raise refusal("torch", f"'{found.name}' depends on no variable, and PyTorch refuses backward")
    body = [
        *(f"{line.name} = {words.number(line.value, moved(found, line.name))}" for line in words.inputs),
        "",
        *words.lines(forward),
        "",
    ]
    calls = found.counted
    for number, call in enumerate(calls, 1):
        keep = ", retain_graph=True" if number < len(calls) else ""
        body.append(f"{found.name}.backward({words.number(call.v.seed)}{keep})")
    shown = [f'print("{name}.grad =", {name}.grad)' for name in found.differentiated]
    imports = TORCH.imports if any(re.search(r"\bF\.", line) for line in body) else TORCH.imports[:1]
    return [
        *head("y.backward(v) in PyTorch, and what it leaves in .grad.", found),
        *(f"# As it stands: {' '.join(note.message.split())}" for note in found.notes if note.kind == REFUSES),
        *imports, "", "torch.set_default_dtype(torch.float64)", "",
        *body, *shown, "",
        *(only_told(found, DISAGREE) if found.agreement.verdict != "agree" else [CHECKS, *(
            f"torch.testing.assert_close({left(name, value)}, {words.number(value)}, {near(value, words)}, "
            "equal_nan=True)" for name, value in found.grad.items())]),
    ]  # fmt: skip


def is_input(found: Explained) -> bool:
    """Return whether the output is a variable itself, which no rule leads to."""
    return not found.rules and any(np.any(grad) for grad in found.grad.values())


def moved(found: Explained, name: str) -> str:
    """Return what a tensor is told that is differentiated."""
    return ", requires_grad=True" if name in found.differentiated else ""


def jax_script(found: Explained) -> list[str]:
    """Return the program as a function in jax, its vjp at v, and what it gives."""
    forward = forward_lines(found, "jax")
    words = Words(JAX, found, forward, ("pullback",))
    function, v = words.fresh("f"), words.fresh("v")
    names = found.differentiated
    held = not why_untold(found)
    grads = [words.cotangents[name] for name in names]
    arguments = ", ".join(names)
    body = words.lines(forward)
    return [
        *head("The vector-Jacobian product of y in jax, as y.backward(v) leaves it in .grad.", found),
        *words.imports(body), *["import numpy as np"] * held, "",
        'jax.config.update("jax_enable_x64", True)', "", *words.helper_lines(),
        *(f"{line.name} = {words.number(line.value)}" for line in words.inputs), "", "",
        f"def {function}({arguments}):",
        *(f"    {line}" for line in body), f"    return {found.name}", "", "",
        f"{found.name}, pullback = jax.vjp({function}, {arguments})",
        f"{v} = {words.number(found.seed)}",
        f"{', '.join(grads) if len(grads) > 1 else f'({grads[0]},)'} = pullback({v})",
        *(f'print("{name}.grad =", {grad})' for name, grad in zip(names, grads, strict=True)), "",
        *jax_checks(found, words),
    ]  # fmt: skip


def numpy_script(found: Explained) -> list[str]:
    """Return forward and the backward pass in numpy, and a check against the numbers of the answer."""
    forward, rules, made = forward_lines(found, "numpy"), backward_rules(found, "numpy"), made_lines(found)
    words = Words(NUMPY, found, [*forward, *made], ())
    refuse_long([*found.inputs.values(), found.seed, *found.constants.values()], "numpy")
    ran = [*words.lines(forward), *words.lines(made)]
    v = words.fresh("v")
    sweep = [f"{v} = {words.number(found.seed)}"]
    for rule in rules:
        text = v if rule is rules[0] else words.rule(rule.text or "", rule.value.shape)
        sweep.append(f"{words.cotangents[rule.name]} = {text}")
    reached = {rule.name for rule in rules}
    for name in found.differentiated:
        if name not in reached:
            is_output = not rules and np.any(found.grad[name])
            text = v if is_output else f"np.zeros({found.inputs[name].shape})  # it reaches no output"
            sweep.append(f"{words.cotangents[name]} = {text}")
    results = [(name, words.cotangents[name], found.grad[name]) for name in found.differentiated]
    return [
        *head("y.backward(v) in numpy: forward, and the backward pass written out.", found),
        *words.imports([*ran, *sweep]), "", *words.helper_lines(),
        *(f"{line.name} = {words.number(line.value)}" for line in words.inputs), "",
        "# Forward", *ran, "",
        f"# Backward: {words.cotangents[found.name]} is what arrives at {found.name}, and so for each name", *sweep, "",
        *(f'print("{name}.grad =", {own})' for name, own, _ in results), "",
        CHECKS,
        *(f"np.testing.assert_allclose({own}, {number_text(value)}, {near(value, words)})"
          for own, value in ((found.name, found.output), *(result[1:] for result in results))),
    ]  # fmt: skip


def head(says: str, found: Explained) -> list[str]:
    """Return what stands above a script; the text of the program is in comments, line by line."""
    program = [f"#   {line}".rstrip() for line in re.split(r"[\n\r]", found.program)]
    return [f'"""{says} Written by gradcli {__version__}."""', "", "# The program:", *program, ""]


def jax_checks(found: Explained, words: Words) -> list[str]:
    """Return the lines that hold jax against the answer, or what gradcli has where it may differ."""
    why = why_untold(found)
    if why:
        return only_told(found, why)
    checks = [
        f"np.testing.assert_allclose({words.cotangents[name]}, {number_text(value)}, {near(value, words)})"
        for name, value in found.grad.items()
    ]
    return [CHECKS, *checks]


def why_untold(found: Explained) -> str:
    """Return why jax need not have the numbers of an answer, in words; empty where it has to."""
    if any(note.kind in KINKS for note in found.notes):
        return "A kink: jax may take another slope here than PyTorch and gradcli, which has"
    return "" if found.agreement.verdict == "agree" else DISAGREE


def only_told(found: Explained, why: str) -> list[str]:
    """Return the gradients of an answer in comments, where nothing is held against them."""
    return [f"# {why}", *(f"#   {name}.grad = {number_text(grad)}" for name, grad in found.grad.items())]


def left(name: str, value: Array) -> str:
    """Return what PyTorch has left in ``.grad``, which is None where nothing arrived, and zeros in the answer."""
    return f"{name}.grad" if np.any(value) else f"torch.zeros_like({name}) if {name}.grad is None else {name}.grad"


def near(wanted: Array, words: Words) -> str:
    """Return how near a result has to come: a millionth of it, and what rounding leaves where terms cancel."""
    return f"rtol=1e-6, atol={1e-9 * largest([wanted]) + 1e-13 * words.largest:.1e}"


def largest(arrays: Iterable[Array]) -> float:
    """Return the size of the largest number, infinities apart."""
    sizes = [np.abs(np.asarray(array, dtype=np.float64)) for array in arrays]
    return max((float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes), default=0.0)


class Words:
    """What the lines of one script are called and written in.

    ``cotangents`` has the name of each value's cotangent, ``inputs`` the variables and the long arrays of rules,
    ``largest`` the size of the largest number on the way.
    """

    def __init__(self, dialect: Dialect, found: Explained, lines: Iterable[Line], own: tuple[str, ...]) -> None:
        constants = found.constants if dialect is NUMPY else {}
        self.inputs = [Line(name, "", value) for name, value in {**found.inputs, **constants}.items()]
        lines = list(lines)
        values = {line.name: line.value for line in (*self.inputs, *lines)}
        reserved = {"np", "torch", "F", "jax", "jnp", "math", "namedtuple", "print", *own}
        self.taken = {*values, *reserved, *helper_texts()}
        self.cotangents = {name: self.fresh(f"d{name}", f"grad_{name}") for name in values}
        self.translator = Translator(dialect, values, self.cotangents)
        self.dialect, self.found, self.values = dialect, found, values
        self.largest = largest([found.seed, *values.values(), *(rule.value for rule in found.rules)])
        clashing = sorted(values.keys() & reserved)
        if clashing:
            raise refusal(dialect.library, f"the script needs the name {' and '.join(clashing)} itself",
                          "give the variable another name")  # fmt: skip

    def fresh(self, *names: str) -> str:
        """Return the first of some names that nothing else has, or the last with something added."""
        found = next((name for name in names if name not in self.taken), names[-1])
        while found in self.taken:
            found += "_"
        self.taken.add(found)
        return found

    def number(self, value: Array, more: str = "") -> str:
        """Return an array of numbers; ``more`` stands behind them."""
        return f"{self.dialect.array.removesuffix('(x)')}({number_text(value)}{more})"

    def lines(self, lines: Iterable[Line]) -> list[str]:
        """Return lines of the program."""
        found = []
        for line in lines:
            if self.translator.is_number(line.text):
                self.translator.plain.add(line.name)
            found.append(f"{line.name} = {self.translator.text(line.text)}")
        self.refuse_hidden()
        return found

    def rule(self, text: str, shape: tuple[int, ...]) -> str:
        """Return a rule, spread over the shape of its value where it is smaller."""
        kept = {rule.name: rule.value for rule in self.found.backward_by_any_v.rules}
        alone = evaluate(text, self.known, kept)
        own = self.translator.text(text)
        self.refuse_hidden()
        return own if alone is not None and alone.shape == shape else f"np.broadcast_to({own}, {shape})"

    @property
    def known(self) -> dict[str, Array]:
        """The numbers of the names that rules mention, those of made names worked out from their texts."""
        known = dict(self.values)
        for rule in reversed(self.found.backward_by_any_v.rules):
            if rule.made:
                found = evaluate(rule.made, known)
                known[rule.name] = np.zeros(rule.value.shape) if found is None else found
        return known

    def refuse_hidden(self) -> None:
        """Refuse a program that calls a value like a function that the script brings along."""
        hidden = sorted(self.values.keys() & self.needed())
        if hidden:
            why = f"the script needs the name {' and '.join(hidden)} for a function"
            raise refusal(self.dialect.library, why, "give the variable another name")

    def needed(self) -> set[str]:
        """Return the helpers that are called, and those that they call."""
        texts, needed = self.helpers(), self.translator.used & helper_texts().keys()
        while True:
            more = {name for name in texts for own in needed if re.search(rf"\b{name}\(", texts[own])} - needed
            if not more:
                return needed
            needed |= more

    def helpers(self) -> Mapping[str, str]:
        """Return the texts of all helpers in the words of the library."""
        return helper_texts(self.dialect.module)

    def helper_lines(self) -> list[str]:
        """Return the helpers of the script, in the order in which they stand in their module."""
        needed = self.needed()
        texts = [text for name, text in self.helpers().items() if name in needed]
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
