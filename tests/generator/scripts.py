"""Random programs that PyTorch runs as they stand: names that collide, loops, branches, masks, writes, many shapes."""

# ruff: noqa: E501 - lists of forms
import ast
import random
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

NAMES = ["x", "y", "w", "y1", "y2", "h0", "h1", "dy_dx", "grad", "x_grad", "f", "out", "i", "J", "size", "torch_x",
    "dx", "n0", "c0", "learning_rate_of_the_first_layer", "z", "t", "a", "dim"]  # fmt: skip
SHAPES = [(), (), (1,), (2,), (3,), (4,), (6,), (13,), (40,), (1, 1), (3, 1), (2, 3), (1, 4), (3, 3), (2, 3, 4), (0,)]
LARGE = [(), (2,), (3,), (40,), (130,), (12, 12)]
"""Of inputs whose Jacobians are written entry by entry, or by index rules."""
UNARY = ["sin({})", "cos({})", "tanh({})", "exp({}/2)", "-{}", "{}**2", "{}**3", "{}*{}", "sigmoid({})", "relu({})",
    "abs({})", "2*{}", "{}/3", "1 - {}", "sqrt({}**2 + 1)", "log({}**2 + 2)", "{} + 0.5", "1/({}**2 + 1)",
    "softplus({})", "{}*-1.5", "{}.detach()*{}", "where({} > 0.2, {}, -{})", "atan({})", "{}*({} > 0)",
    "clip({}, -0.5, 0.9)", "+{}", "erf({})", "{}*1e6", "{}*1e-7", "{}**0", "0*{}", "{}.clone()", "square({})", "({} - {}.mean())",
    "-({} - {})**2"]  # fmt: skip
BINARY = ["{} + {}", "{} - {}", "{}*{}", "{}/({}**2 + 1)", "maximum({}, {})", "where({} > {}, {}, {})",
    "hypot({}, {} + 2)", "{} - ({} - {})", "atan2({}, {} + 3)", "{}*{} - {}*2", "minimum({}, {})"]  # fmt: skip
VECTOR = ["softmax({}, dim=0)", "cumsum({}, dim=0)", "flip({}, dims=[0])", "{}[[0, -1, 0]]", "{}[1:]", "{}[-1]",
    "{}[0]*{}", "sum({})", "{}.mean()", "outer({}, {})", "dot({}, {})", "{}.norm()", "{}.max()", "{}[::2]",
    "{}.prod()", "sort({}).values", "[{}[0], {}[1]*2]", "[{}[0]**2, {}[-1], 3.0]", "stack([{}, {}])",
    "cat([{}, {}])", "{}/{}.norm()", "{}[{} > 0.1]", "{}.std()", "logsumexp({}, dim=0)", "{}.max(dim=0).values", "diag({})",
    "{}.reshape(-1, 1)", "{}[None]*{}", "[[{}[0], 1.0], [0.0, {}[1]]]", "var({})", "log_softmax({}, dim=0)", "{}.cumprod(dim=0)",
    "roll({}, 1)"]  # fmt: skip
MATRIX = ["{}.T", "{} @ {}.T", "sum({}, dim=0)", "sum({}, dim=1)", "{}.mean(dim=1, keepdim=True)", "{}[0]", "{}[:, 0]",
    "{}[0, -1]", "softmax({}, dim=1)", "{}.reshape(-1)", "{}.sum()", "{}.amax(dim=0)", "tril({})", "{}.norm(dim=1)",
    "({}**2).sum()", "{}.max(dim=1).values", "{}.T @ {}", "{} - {}.mean(dim=0)", "cumsum({}, dim=1)", "{}[:, 1:]",
    "{}.unsqueeze(0)", "logsumexp({}, dim=1)"]  # fmt: skip
TENSOR = ["{}.sum(dim=2)", "{}[0]", "{}[..., 0]", "{}.permute(2, 0, 1)", "{}.reshape(-1)", "{}.sum()", "{}.mean(dim=0)",
    "{}.flatten()"]  # fmt: skip
FORMS = {"UNARY": UNARY, "BINARY": BINARY, "VECTOR": VECTOR, "MATRIX": MATRIX}
MORE = {
    "UNARY": ["-(-{})", "sinc({})", "reciprocal({}**2 + 4)", "softsign({})", "log1p({}**2)", "rsqrt({}**2 + 1)",
    "sin(0.5 - ({} + {}))", "cos(({} + {})*-1 - -1)", "tan(0.1 - ({} + {})*0.1)", "atan(-2*({} - {}) - {})",
    "(abs({}) + 0.5)**{}", "((abs({}) + 0.5)**{})**2", "1/(abs({}) + 0.5)**{}", "(abs({}) + 0.5)**{}**2",
    "(-(abs({}) + 0.5))**2", "(abs({}) + 0.5)**-{}", "2**{}**2", "((abs({}) + 0.5)**2)**{}"],
    "BINARY": ["{}/(2 + cos({}))/(1 + {}**2)", "{}*-{}",
    "{}*({} // 0.7)", "{} % 1.7 + {}", "xlogy({}**2 + 1, {}**2 + 1)", "elu({}, 0.5) - {}", "softplus({}, beta=2) + {}",
    "gelu({})/-{}.detach().cosh()", "logaddexp({}, -{})", "huber_loss({}, {}, reduction='none')", "fmax({}, {})",
    "{}*({} <= {}) - 1", "{} - floor({})*{}", "{} % -1.3 - {}", "-{} - -{}", "2 - ({} + {})", "({} - {})*-1 - {}"],
    "VECTOR": ["tile({}, (2,))", "repeat_interleave({}, 2)", "einsum('i,i->', {}, {})", "einsum('i,j->j', {}, {})",
    "norm({}, 3)", "norm({}, 1)*{}", "diag({}, -1)", "median({})", "{}[[1, 0, 1, -1]]", "{}[-1] - {}[0]/{}[1]"],
    "MATRIX": ["triu({}, 1)", "diagonal({})", "trace({})", "einsum('ii->i', {})",
    "{} @ {}[0]", "std({}, dim=1)", "prod({}/3 + 1, dim=0)", "cat([{}, {}.T], dim=1)", "{}[1:5, ::2]", "{}[[2, 0, 2]]",
    "einsum('ij,jk,k->i', {}, {}, {}[0])", "median({}, dim=1).values"],
}  # fmt: skip
"""Forms beside these whose formulas are read back."""
LOOPS = ["for i_ in range({n}):\n    {a} = {e}", "k_ = 0\nwhile k_ < {n}:\n    {a} = {e}\n    k_ += 1",
    "for i_ in range({n}):\n    for j_ in range(2):\n        if j_ > i_:\n            break\n        {a} = {e}",
    "for i_ in range({n}):\n    if i_ == 1:\n        continue\n    {a} = {e}"]  # fmt: skip
ROWS = ["for r in {a}:\n    s = s + r*r", "for r in {a}:\n    s = s*0.5 + r"]
BRANCHES = ["if {c}.sum() > {t}:\n    {a} = {e}\nelse:\n    {a} = {g}", "if {c}.sum() > {t}:\n    {a} = {e}",
    "{a} = {e} if {c}.sum() > {t} else {g}",
    "if {c}.sum() > {t}:\n    q = 2.0\n"
    "elif {c}.sum() > {t} - 1:\n    q = 3.0\nelse:\n    q = 0.5\n{a} = q*{c}"]  # fmt: skip


@dataclass
class Script:
    """A program, its inputs, v, and the names that it is differentiated by: all of them by default."""

    text: str
    inputs: dict[str, np.ndarray]
    v: np.ndarray | None
    wrt: list[str] | None = None


class Writer:
    """Writes one program; ``shapes`` holds what is known by name."""

    def __init__(self, seed: str, shapes, more) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - programs, no secrets
        self.shape = self.rng.choice(shapes)
        self.forms = {name: [*usual, *more.get(name, [])] for name, usual in FORMS.items()}

    def pick(self, items):
        """Return one of the items."""
        return self.rng.choice(items)

    def filled(self, form: str, known: list[str], depth: int) -> str:
        """Return a form with expressions in its places."""
        parts = [self.expression(known, depth) for _ in range(form.count("{}"))]
        return form.format(*(part if part.isidentifier() else f"({part})" for part in parts))

    def expression(self, known: list[str], depth: int) -> str:
        """Return an expression of the inputs' shape."""
        if depth == 0 or self.rng.random() < 0.15:
            return self.pick(known)
        return self.filled(self.pick(self.forms["UNARY" if self.rng.random() < 0.6 else "BINARY"]), known, depth - 1)

    def last(self, known: list[str]) -> str:
        """Return the last expression, of whatever shape."""
        forms = [["{}"], self.forms["VECTOR"], self.forms["MATRIX"], TENSOR][len(self.shape)]
        if self.rng.random() < 0.45:
            return self.expression(known, self.pick([0, 1, 2, 2]))
        return self.filled(self.pick(forms), known, self.pick([0, 0, 1]))


def random_script(seed: int, number: int, shapes=SHAPES, more=MappingProxyType({})) -> Script:
    """Return the program of a number, without a v."""
    writer = Writer(f"{seed}/{number}", shapes, more)
    rng = writer.rng
    names = rng.sample(NAMES, rng.choice([1, 1, 2, 3]))
    values = np.random.default_rng([seed, number])
    scale = rng.choice([1.0, 1.0, 1.0, 100.0, 1e-3])
    inputs = {name: np.round(values.normal(size=writer.shape) * scale, rng.choice([1, 3, 12])) for name in names}
    if rng.random() < 0.15:  # negative zeros and ties
        inputs = {name: np.where(values.random(writer.shape) < 0.4, -0.0, value) for name, value in inputs.items()}
    known, lines = list(names), []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        lines += [statement(writer, known)]
    if rng.random() < 0.3 and lines:
        target = writer.pick(known)
        lines.append(f"{target} = {writer.last(known)}")
    else:
        lines.append(writer.pick(known) if rng.random() < 0.15 else writer.last(known))
    text = ("; " if rng.random() < 0.1 and not any(":" in line for line in lines) else "\n").join(lines)
    used = {name: value for name, value in inputs.items() if reads(text, name)}
    return Script(text, used, None)


def reads(text: str, name: str) -> bool:
    """Return whether a program reads an input before it assigns the name."""
    for node in ast.parse(text).body:
        loaded = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if name in loaded or (isinstance(node, ast.AugAssign) and name in stored):
            return True
        if name in stored:
            return False
    return False


def statement(writer: Writer, known: list[str]) -> str:
    """Return a statement, and put what it assigns among the known names."""
    rng, kind = writer.rng, writer.rng.random()
    target = rng.choice(NAMES) if rng.random() < 0.7 else writer.pick(known)
    if kind < 0.5:
        text = f"{target} = {writer.expression(known, rng.choice([1, 1, 2]))}"
    elif kind < 0.58:
        target = writer.pick(known)
        before = f"{target} = {target}*1\n" if rng.random() < 0.8 else ""
        return before + f"{target} {writer.pick(['+=', '*=', '-='])} {writer.expression(known, 1)}"
    elif kind < 0.66 and len(writer.shape) == 1 and writer.shape[0] > 1:
        text = (
            f"{target} = {writer.pick(known)}*1\n{target}[{writer.pick(['0', '1:', '-1'])}] = {writer.pick(known)}[0]*2"
        )
    elif kind < 0.72 and writer.shape:
        text = "s = 0.0\n" + writer.pick(ROWS).format(a=writer.pick(known))
        text += f"\n{target} = {writer.pick(known)}*sum(s)"
    elif kind < 0.86:
        target = writer.pick(known)
        text = writer.pick(LOOPS).format(n=writer.pick([0, 1, 3, 6]), a=target, e=writer.expression(known, 1))
    elif kind < 0.94:
        known_target = writer.pick(known)
        return writer.pick(BRANCHES).format(c=writer.pick(known), t=writer.pick(["0", "0.5", "-1"]), a=known_target,
                                            e=writer.expression(known, 1), g=writer.expression(known, 1))  # fmt: skip
    else:
        other = rng.choice([name for name in NAMES if name != target])
        text = f"{target}, {other} = {writer.expression(known, 1)}, {writer.expression(known, 1)}"
        known.append(other)
    known.append(target)
    return text
