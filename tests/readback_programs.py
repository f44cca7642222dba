"""Random programs whose every printed formula is read back by gradcli's own language."""

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TextIO

import numpy as np

import gradcli
from gradcli.document.verdicts import with_true_formulas
from gradcli.errors import Budget
from gradcli.formulas.readback import read_back
from gradcli.language.program import compile_program
from gradcli.ops.declare import value_of

NAMES = ["x", "y", "i", "j", "k", "J", "h0", "h1", "dy_dh0", "dx", "c", "f", "y1", "out", "n0", "dim"]
"""Names of variables: half of them are those that gradcli would choose for itself."""
UNARY = ["sin({})", "cos({})", "tanh({})", "exp(-{}**2)", "atan({})", "sigmoid({})", "relu({})", "abs({})",
    "square({})", "-{}", "-(-{})", "sinc({})", "reciprocal({} + 4)", "softsign({})", "cbrt({} + 3)", "log1p({}**2)",
    "rsqrt({}**2 + 1)", "sqrt(abs({}) + 1)", "sin(0.5 - ({} + {}))", "cos(({} + {})*-1 - -1)",
    "tan(0.1 - ({} + {})*0.1)", "sinh(3 - ({} - {}))", "cosh(-({} - {}) - 1)", "erf(1 - ({} + {}))",
    "atan(-2*({} - {}) - {})"]  # fmt: skip
POSITIVE = "(abs({}) + 0.5)"
BINARY = ["{} + {}", "{} - {}", "{}*{}", "{} - ({} - {})", "{}/({}**2 + 1)", "{}/(2 + cos({}))/(1 + {}**2)", "{}*-{}",
    "maximum({}, {})", "where({} > {}, {}, 2*{})", "{}*({} > 0.1)", "{}*({} // 0.7)", "{} % 1.7 + {}",
    "hypot({}, {} + 3)", "atan2({}, {} + 3)", "clip({}, -0.5, {} + 1)", "xlogy({}**2 + 1, {}**2 + 1)",
    "leaky_relu({}, 0.1)*{}", "elu({}, 0.5) - {}", "softplus({}, beta=2) + {}", "gelu({})/-{}.detach().cosh()",
    "logaddexp({}, -{})", "{} if sum({}) > 0 else -{}", "huber_loss({}, {}, reduction='none')", "fmax({}, {})",
    "{}*({} <= {}) - 1", "{} - floor({})*{}", "{} % -1.3 - {}", "minimum({}, -{})*-2", "-{} - -{}",
    "2 - ({} + {})", "-({} + {})*{}", "({} - {})*-1 - {}"]  # fmt: skip
POWERS = ["({p}**{q})**2", "1/{p}**{q}", "({p}**{q})**{q}", "{p}**{q}**2", "-{p}**{q}", "(-{p})**2", "{p}**-{q}",
    "atan({p}**{q})", "2**{q}**2", "reciprocal({p}**{q})", "square({p}**{q})", "({p}**2)**{q}", "1/(1/{p}**{q})",
    "{p}/({q}/{p})/2"]  # fmt: skip
MOVING = ["flip({})", "roll({}, 3)", "sort({}).values", "clone({})", "cat([{}, {}])[::2]", "{}[::-1]",
    "where({0} > 0, {0}, {1})", "cat([{0}[1:], {0}[:1]])", "sort({}, descending=True).values"]  # fmt: skip
RESIZING = ["cat([{}, {}])", "{}[2:]", "{}[::3]", "tile({}, 2)", "repeat_interleave({}, 2)", "{}[1]*{}", "diag({})",
    "outer({}, {})", "stack([{}, {}])", "cumsum({})", "softmax({})", "{}.reshape(-1, 2)", "sum({})", "max({})",
    "{}/norm({})", "mean({}) + {}", "{}.expand(3, -1)", "cumprod({}/2 + 1, 0)", "std({})*{}", "prod({} + 2)",
    "log_softmax({})", "amin({}*{})", "{}[[1, 0, 1, -1]]", "{}[{} > 0.2]", "median({})", "var({}) - {}",
    "logsumexp({})*{}", "einsum('i,i->', {}, {})", "einsum('i,j->j', {}, {})", "{}[-1] - {}[0]/{}[1]",
    "dot({}, {})**2", "norm({}, 3)", "norm({}, 1)*{}", "diag({}, -1)", "cumsum({}) - {}",
    "roll({}, -1)*{}"]  # fmt: skip
OF_MATRIX = ["{}.T", "tril({})", "triu({}, 1)", "{0}*{0}.T", "flip({}, [1])", "{} @ {}",
    "sort({}, dim=0).values"]  # fmt: skip
REDUCING = ["max({}, dim=1).values", "{}.amax(dim=0)", "sum({}, dim=1)", "{}[1]", "{}[:, 2:]", "{}.min(dim=0).values",
    "mean({}, dim=0, keepdim=True)", "logsumexp({}, dim=1)", "{}.flatten()", "diagonal({})", "norm({}, dim=1)",
    "sum({0}*{0}.T)", "trace({})", "einsum('ij,jk,k->i', {0}, {1}, {0}[0])", "einsum('ii->i', {})", "{} @ {}[0]",
    "softmax({}, dim=1)", "cumsum({}, dim=0)", "std({}, dim=1)", "prod({}/3 + 1, dim=0)", "{}[:, 0]*{}",
    "cat([{}, {}.T], dim=1)", "stack([{0}, {0}])", "{0}.T @ {0}", "{}.reshape(6, 24)", "{}[1:5, ::2]",
    "{}[[2, 0, 2]]", "median({}, dim=1).values"]  # fmt: skip


@dataclass
class Program:
    """A program text with its inputs."""

    text: str
    inputs: dict[str, np.ndarray] = field(default_factory=dict)


def program(seed: int) -> Program:
    """Return the program of a seed: small for formulas of every entry, or large for index rules."""
    rng = random.Random(seed)  # noqa: S311 - programs, no secrets
    size = rng.choice([(), (2,), (3,), (40,), (130,), (12, 12)])
    names = rng.sample(NAMES, rng.randint(1, 3))
    values = np.random.default_rng(seed)
    inputs = {name: np.round(values.uniform(-1.5, 1.5, size), 3) for name in names}
    if rng.random() < 0.2:  # zeros and ties: conventions stand in formulas
        inputs = {name: np.round(value * 2) / 2 for name, value in inputs.items()}
    lines: list[str] = []
    known = list(names)
    if size and len(size) == 1 and rng.random() < 0.15:
        lines += [
            f"z = {rng.choice(known)}*1",
            f"z[1] = {rng.choice(known)}[0]*2",
            f"z[-1:] = -{rng.choice(known)}[:1]",
        ]
        known.append("z")
    for _ in range(rng.choice([0, 0, 1, 2])):
        target = rng.choice(NAMES)
        lines.append(f"{target} = {expression(rng, known, size, rng.randint(1, 2))}")
        known = list(dict.fromkeys([*known, target]))
    last = expression(rng, known, size, rng.randint(1, 2))
    if size and rng.random() < 0.6:
        form = rng.choice(RESIZING if len(size) == 1 else OF_MATRIX + REDUCING)
        last = filled(form, lambda: rng.choice(known) if rng.random() < 0.4 else f"({last})")
        if rng.random() < 0.4:
            last = filled(rng.choice(["sin({})", "{}*2", "exp(-{}**2)"]), lambda: f"({last})")
    return Program("\n".join([*lines, last]), inputs)


def expression(rng: random.Random, known: list[str], size: tuple[int, ...], depth: int) -> str:
    """Return an expression whose value has the shape of the inputs."""
    if depth == 0:
        return atom(rng, known)

    def part() -> str:
        inner = expression(rng, known, size, depth - 1)
        return inner if inner.isidentifier() else f"({inner})"

    kind = rng.random()
    if kind < 0.25:
        return filled(rng.choice(UNARY), part)
    if kind < 0.55:
        return filled(rng.choice(BINARY), part)
    if kind < 0.75 or not size:
        return rng.choice(POWERS).format(p=POSITIVE.format(part()), q=part())
    return filled(rng.choice(MOVING if len(size) == 1 else OF_MATRIX), part)


def atom(rng: random.Random, known: list[str]) -> str:
    """Return a variable, or rarely a number."""
    return rng.choice(["2", "0.5", "-1.5"]) if rng.random() < 0.08 and len(known) > 1 else rng.choice(known)


def filled(form: str, part) -> str:
    """Return a form with an expression in each of its places; ``{0}`` is the same each time."""
    if "{0}" in form:
        return form.format(part(), part())
    return form.format(*(part() for _ in range(form.count("{}"))))


def as_given(value) -> np.ndarray:
    """Return a value as an array of floats, a condition as it is."""
    found = np.asarray(value)
    return found if found.dtype == np.bool_ else found.astype(np.float64)


def in_doubles(formula: str, names) -> np.ndarray:
    """Return what gradcli's own language makes of a formula, with names that may not be finite."""
    program = replace(compile_program(formula, Budget(), frozenset(names)), truths=True)
    values = {name: as_given(names[name]) for name in program.inputs}
    return np.asarray(value_of(program.evaluate(values, frozenset())[1]))


def findings(given: Program) -> tuple[int, list]:
    """Return how many formulas the answer to a program prints, and those that are not their numbers.

    -1 formulas where the program is none: shapes that do not fit, or numbers too large to be compared.
    """
    try:
        y = gradcli.function(given.text).value(**{k: v for k, v in given.inputs.items() if used(k, given)})
        v = np.cos(np.arange(y.size) + 1.0).reshape(y.shape)
        found = gradcli.explain(given.text, v=v, inputs={k: v for k, v in given.inputs.items() if used(k, given)})
    except gradcli.GradcliError as error:
        if error.kind in (
            "shape",
            "type",
            "index",
            "value",
            "unused",
            "not-differentiable",
            "arguments",
            "missing-input",
            "no-variables",
        ):
            return -1, []
        raise
    numbers = [found.output, *(j.values for j in found.jacobian.values())]
    if not all(np.all(np.abs(array) < 1e6) for array in numbers):
        return -1, []
    return read_back(with_true_formulas(found), in_doubles, tolerance=1e-7, least=1e-2)


def used(name: str, given: Program) -> bool:
    """Return whether a program needs a value for a variable."""
    return name in gradcli.function(given.text).inputs


def night(seed: int, numbers: Sequence[int], out: TextIO = sys.stdout) -> int:
    """Run many programs, print those whose formulas are wrong, and return how many those are."""
    formulas = ran = failed = 0
    for number in numbers:
        given = program(seed + number)
        count, wrong = findings(given)
        ran += count > 0
        formulas += max(count, 0)
        if wrong:
            failed += 1
            shapes = [v.shape for v in given.inputs.values()]
            print(f"seed {seed + number}: {given.text!r} {shapes}\n    {wrong[0]}", file=out)
    print(f"{ran} of {len(numbers)} programs, {formulas} formulas, {failed} programs with a wrong one", file=out)
    return failed
