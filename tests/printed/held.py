"""Takes the text of an answer apart, and holds each statement in it against the truth."""

import itertools
import math
import re
from dataclasses import dataclass, field

import numpy as np

from printed.truth import Reader, Truth

NUMBER = r"[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf|nan)|True|False"
SENTENCE = re.compile(
    r"contributes? nothing|branch ran|is taken;|made no turn|turns? of the loop|^it ended|more lines|:$"
)
VERDICT = re.compile(r"(?:✓|ok) (?:vᵀ·J|v\*J|reverse)|not finite at|y is not finite|reverse mode gives")
SHAPE = re.compile(r"(?:(?<=\s)|^)\((?:\d+,|\d+(?:, \d+)+|)\)$")
STATEMENT = re.compile(r"(?P<label>[^\W\d]\w*(?:\.grad)?(?P<place>\[[^=]*?\])?) += +(?P<rest>.*)")
FORMULA = re.compile(r"(?<![\w.])(?!(?:inf|nan|True|False)\b)[A-Za-z_]|[*/(]")
SLACK = 1e-9
"""Of the largest number of a run: how far PyTorch's rounding and gradcli's may be apart."""


@dataclass(frozen=True)
class Room:
    """What an answer was printed for: columns of lines and of tables, characters, and digits."""

    width: int
    table_width: int
    unicode: bool
    precision: int


class Wrong(Exception):
    """A statement of an answer that does not hold."""


@dataclass
class Held:
    """What was read of one answer, and what of it is wrong."""

    truth: Truth
    layout: Room
    count: int = 0
    faults: list[str] = field(default_factory=list)
    names: dict[str, np.ndarray] = field(default_factory=dict)
    output: str = "y"

    def __post_init__(self) -> None:
        cotangents = {f"{name}__grad": g for name, g in self.truth.cotangents.items()}
        self.names = {"v": self.truth.v, **self.truth.values, **cotangents}
        arrays = [a for a in (*self.names.values(), *self.truth.jacobian.values()) if np.asarray(a).dtype.kind == "f"]
        sizes = [np.max(np.abs(a[np.isfinite(a)]), initial=1.0) for a in map(np.asarray, arrays)]
        self.scale = max(sizes, default=1.0)

    def evaluate(self, text: str, **letters: int) -> np.ndarray:
        """Return the value of a text."""
        return Reader(self.names).evaluate(text, **letters)

    def same(self, got, wanted, what: str, tolerance: float = 1e-8) -> None:
        """Raise where two arrays are not equal after broadcasting."""
        got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
        slack = SLACK * self.scale
        try:
            got = np.broadcast_to(got, wanted.shape)
        except ValueError:
            raise Wrong(f"{what}: shape {got.shape} for {wanted.shape}") from None
        if not np.allclose(got, wanted, rtol=tolerance, atol=slack, equal_nan=True):
            raise Wrong(f"{what}: {got.ravel()[:6]} for {wanted.ravel()[:6]}")

    def shown(self, text: str, wanted, what: str) -> None:
        """Raise where the printed numbers are not those of an array."""
        texts = re.findall(rf"{NUMBER}|…|\.\.\.", text.replace("≈", "").replace("~", ""))
        flat = np.asarray(wanted, dtype=float).ravel().tolist()
        elided = any(t in ("…", "...") for t in texts)
        read = [float({"True": "1", "False": "0"}.get(t, t)) for t in texts if t not in ("…", "...")]
        if not elided and len(read) != len(flat):
            raise Wrong(f"{what}: {len(read)} numbers for {len(flat)}")
        places = iter(flat)
        for number in read:
            if not any(self.is_shown(number, exact) for exact in (places if elided else [next(places)])):
                raise Wrong(f"{what}: {text} for {flat[:8]}")

    def is_shown(self, number: float, exact: float) -> bool:
        """Return whether a number is another one, rounded."""
        if not math.isfinite(exact) or not math.isfinite(number):
            return number == exact or (math.isnan(number) and math.isnan(exact))
        return abs(number - exact) <= 0.51 * 10.0 ** (1 - self.digits) * abs(exact) * 10**0 + SLACK * self.scale

    @property
    def digits(self) -> int:
        """The digits that are shown at least."""
        return min(self.layout.precision, 9)

    def rounding(self) -> float:
        """Return how far what is made of rounded numbers may be off."""
        return 2 * 10.0 ** (1 - self.digits)


def hold(text: str, truth: Truth, layout) -> tuple[int, list[str]]:
    """Return how many statements of an answer were read, and what is wrong."""
    held = Held(truth, layout)
    lines = text.split("\n")
    arrow = re.search(r"(?:→|->) +(\w+) ", re.sub(r"\n +", " ", text))
    held.output = arrow[1]
    if held.output in truth.values:
        guarded(held, lambda: held.same(truth.values[held.output], truth.output, f"the output is called {held.output}"))
    elif truth.result is not None:
        held.faults.append(f"the output {truth.result} is called {held.output}")
    held.names[held.output] = truth.output
    held.names[f"{held.output}__grad"] = truth.v
    read_gradients(held, lines)
    for title, body in sections(lines):
        reader = next((read for start, read in READERS.items() if title.startswith(start)), None)
        if reader is not None:
            reader(held, title, body)
    return held.count, held.faults


def read_gradients(held: Held, lines: list[str]) -> None:
    """Hold the gradients that stand under the program."""
    head = [*itertools.takewhile(lambda line: not re.match(r" (Forward|Backward|J = )", line), lines)]
    for line in joined([f"  {line}" for line in head]):
        if match := re.fullmatch(r"(\w+)\.grad (=|≈|~=) (.*)", line):
            guarded(held, lambda m=match: held.shown(m[3].partition(" in shape ")[0], grad_at(held, m[1]), m[1]), line)


def guarded(held: Held, check, line: str = "") -> None:
    """Count a statement, and keep what is wrong with it."""
    held.count += 1
    try:
        check()
    except Wrong as wrong:
        held.faults.append(f"{wrong}   | {line}")
    except Exception as error:  # noqa: BLE001 - what cannot be read is a fault of the answer or of this reader
        held.faults.append(f"unreadable, {type(error).__name__} {error}   | {line}")


def is_table(line: str) -> bool:
    """Return whether a line is one of a table."""
    legend = "this output does not use it|not used at this point"
    return bool(re.search(rf" [│|] |[─-]{{3}}[┼+]|^ [─-]{{4,}}|{legend}|^   (?:✓|ok) ", line + " "))


def sections(lines: list[str]):
    """Yield the title and the lines of each section."""
    title, body = "", []
    for number, line in enumerate(lines):
        starts = re.match(r" \S", line) and not is_table(line) and number and not lines[number - 1].strip()
        if starts and re.match(r" (Forward|Backward|J = |What v did|note:|more:|Paths|\w+ paths? lead|Calls)", line):
            yield title, body
            title, body = line.strip(), []
        else:
            body.append(line)
    yield title, body


def joined(body: list[str]) -> list[str]:
    """Return the statements of a section, those that go on put together."""
    found: list[str] = []
    in_table = False
    for line in body:
        goes_on = in_table and line.startswith("    ")
        in_table = is_table(line) or goes_on
        if in_table or not line.strip():
            continue
        # A name as long as the line leaves no room to indent what goes on.
        opened = found and sum(found[-1].count(sign) for sign in "([") > sum(found[-1].count(sign) for sign in ")]")
        if re.match(r" {1,3}[^\s*/+=@]", line) and not opened:
            found.append(line.strip())
        elif found:  # before the first statement, the rest of a title
            found[-1] += " " + line.strip()
    return found


def split_top(text: str) -> list[str]:
    """Return the sides of equations outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth == 0 and re.match(r" +(=|≈|~=) ", text[place:]) and character == " ":
            parts.append(text[start:place].strip())
            start = place + re.match(r" +(=|≈|~=) ", text[place:]).end()
    return [part for part in [*parts, text[start:].strip()] if part]


def value_at_end(text: str) -> tuple[str, str]:
    """Return what stands before a number or an array of numbers at the end of a text, and that."""
    if text.endswith(")") and re.search(r" in shape \([^()]*\)$", text):
        text = text[: text.rindex(" in shape ")]
    if text.endswith("]"):
        depth = 0
        for place in range(len(text) - 1, -1, -1):
            depth += (text[place] == "]") - (text[place] == "[")
            if depth == 0:
                is_value = not text[:place].rstrip(" ") or text[:place].endswith(" ")
                is_value = is_value and not FORMULA.search(text[place:])
                return (text[:place].strip(), text[place:]) if is_value else (text, "")
    number = re.search(rf"(?:^| )({NUMBER})$", text)
    return (text[: number.start()].strip(), number[1]) if number else (text, "")


def read_statement(held: Held, line: str, grads: bool) -> str | None:
    """Hold ``name = text = steps = value`` against the truth; return the name."""
    line = re.sub(r" +\(used (?:twice|[\d,]+ times)\)", "", line)
    match = STATEMENT.fullmatch(line)
    if match is None:
        guarded(held, lambda: fail("no statement"), line)
        return None
    label, rest = match["label"], match["rest"]
    guarded(held, lambda: check_statement(held, label, match["place"] or "", rest, grads), line)
    return label


def fail(message: str):
    """Raise an error of this reader."""
    raise Wrong(message)


def check_statement(held: Held, label: str, place: str, rest: str, grads: bool) -> None:
    """Hold one statement."""
    base = label.removesuffix(place) if place else label
    key = base.replace(".grad", "__grad")
    parts = split_top(rest)
    before, value = value_at_end(parts[-1])
    shape = SHAPE.search(before)
    before = SHAPE.sub("", before).strip()
    texts = [*parts[:-1], before] if before else parts[:-1]
    whole = f"{base}"
    if place and texts and re.search(rf"(?:^|\s){re.escape(base)}$", texts[-1]):
        texts[-1] = texts[-1][: -len(base)].strip()
        shape = SHAPE.search(texts[-1]) or shape
        texts[-1] = SHAPE.sub("", texts[-1]).strip()
        place_shown = False
    else:
        place_shown = bool(place)
    texts, value = texts_and_value(texts, value, grads and base.removesuffix(".grad") in held.truth.inputs)
    if key not in held.names and texts:
        helper = held.names.get(base.removesuffix(".grad"))
        held.names[key] = (
            np.broadcast_to(held.evaluate(texts[0]), np.shape(helper)) if grads else held.evaluate(texts[0])
        )
    if key not in held.names:
        fail(f"no such value as {whole}")
    wanted = np.asarray(held.names[key])
    entry = np.asarray(held.evaluate(label)) if place else wanted
    if shape is not None and shape[0] != str((entry if place_shown else wanted).shape):
        fail(f"shape {shape[0]} for {wanted.shape}")
    if value:  # a gradient stands under the program, and is not said again
        held.shown(value, entry if place_shown else wanted, label)
    if not texts or "the sum over its" in texts[0] or texts[0] == "(no text)" or "more terms" in texts[0]:
        return
    held.same(held.evaluate(texts[0]), entry, texts[0])
    if len(texts) > 1:
        for text in texts[1:]:
            step = float(held.evaluate(text.replace("·", "*").replace("²", "**2")))
            if not math.isclose(step, float(entry), rel_tol=held.rounding(), abs_tol=held.rounding() * held.scale):
                fail(f"step {text} is {step} for {float(entry)}")


def texts_and_value(texts: list[str], value: str, is_gradient: bool) -> tuple[list[str], str]:
    """Return texts and the value that must be there; of a gradient that stands above, ``0`` is a text."""
    if is_gradient:
        return (texts, value) if texts else ([value], "")
    return (texts, value) if value else fail("no value")


def read_forward(held: Held, _title: str, body: list[str]) -> None:
    """Hold the lines of Forward, and look for every name."""
    seen = []
    for line in joined(body):
        if SENTENCE.search(line) or VERDICT.match(line):
            continue
        seen.append(read_statement(held, line, grads=False))
    labels = [label for label in seen if label]
    for label in set(labels):
        if labels.count(label) > 1:
            held.faults.append(f"{label} has {labels.count(label)} lines")
    bases = {label.partition("[")[0] for label in labels}
    for name in held.truth.outside:
        if name not in bases:
            held.faults.append(f"{name} has no line in Forward")


def read_backward(held: Held, _title: str, body: list[str]) -> None:
    """Hold the lines of Backward."""
    for line in joined(body):
        made = re.fullmatch(r"(\w+) += (.*)", line)
        if made and made[1] not in held.names:
            guarded(held, lambda m=made: held.names.update({m[1]: held.evaluate(m[2])}), line)
        elif made and not value_at_end(made[2])[0]:
            guarded(held, lambda m=made: held.shown(m[2], held.names[m[1]], m[1]), line)
        elif made:
            guarded(held, lambda m=made: held.same(held.evaluate(m[2]), held.names[m[1]], m[2]), line)
        elif not SENTENCE.search(line) and not VERDICT.match(line):
            read_statement(held, line, grads=True)


def read_jacobian(held: Held, title: str, body: list[str]) -> None:
    """Hold rules, formulas and tables of J."""
    del title
    column = None
    for line in joined([re.sub(r"^ (?=\S)", "   ", line) for line in body]):
        if re.match(r"(?:vᵀ·J|v\*J|\w+\.grad)(?:\[[^\]]*\])? = (?:v|\(?-?\d[\d.e-]*\)?[·*])", line):
            guarded(held, lambda line=line: check_sum(held, line), line)
        elif re.match(r"\w+(?:\.grad)? += ", line):
            read_statement(held, line, grads=".grad" in line.partition("=")[0])
        elif re.fullmatch(r"\w+(\[[\d,]*\])?", line) and line.partition("[")[0] in held.truth.jacobian:
            column = line
        elif column and (cell := re.fullmatch(r"(\w+(?:\[[\d,]*\])?): v (\S+), (.*)", line)):
            guarded(held, lambda c=cell, j=column: check_cell(held, c[1], j, c[3]), line)
        elif column and (ends := re.match(r"(?:vᵀ·J|v\*J) (\S+), \w+\.grad (\S+)", line)):
            for number in ends.groups():
                guarded(held, lambda n=number, j=column: held.shown(n, grad_at(held, j), j), line)
    tables_of(held, body)


def grad_at(held: Held, entry: str):
    """Return the true gradient at an entry such as ``x[0]``."""
    name, bracket, _ = entry.partition("[")
    return held.evaluate(f"{name}.grad{entry[len(name) :]}" if bracket else f"{name}.grad")


def flat_place(entry: str, shape: tuple[int, ...]) -> int:
    """Return the place of an entry such as ``x[1,2]`` in flat order."""
    inside = re.search(r"\[(.*)\]", entry)
    return int(np.ravel_multi_index([int(k) for k in inside[1].split(",")], shape)) if inside else 0


def true_entry(held: Held, row: str, column: str) -> float:
    """Return an entry of J by its names."""
    name = column.partition("[")[0]
    i = flat_place(row, held.truth.output.shape)
    return held.truth.jacobian[name][i, flat_place(column, held.truth.inputs[name].shape)]


def check_cell(held: Held, row: str, column: str, text: str) -> None:
    """Hold ``formula = value``, or one of both, against an entry of J."""
    wanted = true_entry(held, row, column)
    *formulas, value = re.split(r" (?:=|≈|~=) (?=\S+$)", text)
    if not formulas and text in ("·", "."):
        value = "0"
    if np.isnan(wanted):  # PyTorch's row of J is v times J with 0·inf; what no path reaches is 0 in an answer
        wanted = float(value)
    held.shown(value, wanted, f"{row} by {column}")
    for formula in formulas:
        held.same(held.evaluate(formula), wanted, f"{row} by {column}: {formula}")


def tables_of(held: Held, body: list[str]) -> None:
    """Hold the tables of J."""
    bar = "│" if held.layout.unicode else "|"
    header: list[list[str]] = []
    for line in body:
        if f" {bar}" not in line or re.match(r" [─-]", line):
            continue
        label, *groups = [part.strip() for part in line.split(bar)]
        cells = [re.split(r"  +", group) for group in groups]
        if label == "v":
            header = cells
            continue
        for names, row in zip(header, cells, strict=True):
            for name, text in zip(names, row, strict=False):
                guarded(held, lambda a=label, n=name, t=text: check_table_cell(held, a, n, t), line)


def check_table_cell(held: Held, label: str, name: str, text: str) -> None:
    """Hold a cell of a table."""
    if name in ("…", "...") or text in ("⋮", ":", "…", "..."):
        return
    row = re.split(r"  +", label)
    if row[0] != held.output and (row[0] in ("vᵀ·J", "v*J", "grad") or row[0].endswith(".grad")):
        wanted = grad_at(held, name)
        # by symbols, 0 wins over inf; PyTorch multiplies them
        held.shown(text, float(text) if np.isnan(wanted) and row[0] in ("vᵀ·J", "v*J") else wanted, label)
        return
    if row[0] not in ("⋮", ":"):
        check_cell(held, row[0], name, text)
        held.shown(row[1], held.truth.v.ravel()[flat_place(row[0], held.truth.output.shape)], "v")


def check_sum(held: Held, line: str) -> None:
    """Hold one sum."""
    label, *sums, total = split_top(line)
    wanted = grad_at(held, label.replace(".grad", "")) if ".grad" in label else None
    if wanted is None or np.isnan(wanted):  # by symbols, 0 wins over inf
        return
    held.shown(total, wanted, label)
    for text in sums:
        if "…" not in text and "..." not in text:
            got = float(held.evaluate(text.replace("·", "*")))
            if not math.isclose(got, float(wanted), rel_tol=held.rounding(), abs_tol=held.rounding() * held.scale):
                fail(f"{text} is {got} for {float(wanted)}")


READERS = {"Forward": read_forward, "Backward": read_backward, "J = ": read_jacobian}
