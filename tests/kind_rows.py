"""Truth values, integers and arrays in every operator and most functions, for PyTorch, NumPy and gradcli alike.

A row is a program and what each library is asked in its place: Python evaluates both texts, which are constants of the
tests. ``python tests/kind_rows.py`` asks PyTorch for a sample and writes ``data/torch_kinds.json``, so that the rows
are tested where it is not installed. An answer is ``None`` for a refusal, else the kind of numbers and the numbers.
"""

import json
import operator
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from oracles import DATA, by_python, cases

TABLES = cases("kinds.toml")

RECORDED = "torch_kinds.json"
SHARE = 8
"""One row of so many is recorded."""

ARRAYS = {"u": [1.5, -2.0], "w": [0.25, 4.0], "M": [[1.0, 2.0], [4.0, 3.0]], "N": [[5.0, 1.0], [1.0, 3.0]]}
PLAIN = {"True": True, "2": 2, "(-1)": -1, "0": 0}
MASKS = ("(u[0] > 0)", "(u > 0)", "(u < 9)")
INTEGERS = ("argmax(u)", "argmax(M, dim=1)", "(argmax(M, dim=1) - 1)")
FLOATS = ("u[0]", "u")
OPERANDS = (*PLAIN, *MASKS, *INTEGERS, *FLOATS)
SINGLE = (*PLAIN, "(u[0] > 0)", "argmax(u)", "u[0]")

BINARY = dict(zip(
    ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<", "<=", ">", ">=", "==", "!="),
    (operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
     operator.matmul, operator.and_, operator.or_, operator.xor, operator.lt, operator.le, operator.gt, operator.ge,
     operator.eq, operator.ne), strict=True,
))  # fmt: skip
IN_PLACE = ("+", "-", "*", "/", "//", "%", "**")


@dataclass(frozen=True)
class Row:
    program: str
    torch: str | None
    numpy: str | None

    @property
    def name(self) -> str:
        return self.program.replace("\n", "; ")


def as_it_is(program: str) -> Row:
    """Return the row of a program that both libraries read as it stands."""
    return Row(program, program, program)


def operators() -> Iterator[Row]:
    for op, a, b in product(BINARY, OPERANDS, OPERANDS):
        if not (a in PLAIN and b in PLAIN):
            yield as_it_is(f"{a} {op} {b}")
    yield from (as_it_is(f"{sign}{a}") for sign, a in product("+-~", OPERANDS))
    yield from (as_it_is(f"u[{a}]") for a in OPERANDS)


def writes() -> Iterator[Row]:
    """Yield augmented assignments, and writes to entries."""
    for a in (*MASKS, *INTEGERS, *FLOATS):
        copied = f"a = {a}.clone()\n"
        yield from (as_it_is(f"{copied}a {op}= {b}\na") for op, b in product(IN_PLACE, OPERANDS))
        if a in SINGLE:
            continue
        for b in OPERANDS:
            if b in SINGLE:
                yield as_it_is(f"{copied}a[0] = {b}\na")
                yield from (as_it_is(f"{copied}a[0] {op}= {b}\na") for op in IN_PLACE)
            else:
                ways = product((":", "[0, 1]"), ("", *IN_PLACE))
                yield from (as_it_is(f"{copied}a[{key}] {op}= {b}\na") for key, op in ways)


# One argument: those that PyTorch and NumPy both have, those of PyTorch alone (F. where they are called so), and those
# that are spelled otherwise in NumPy. A call's ``{}`` is a vector; of FOR_MATRICES, a matrix.
ELEMENTWISE = TABLES["ELEMENTWISE"]
OF_TORCH_ALONE = TABLES["OF_TORCH_ALONE"]
INVERSE = {f"a{name}": f"arc{name}" for name in ["sin", "cos", "tan", "sinh", "cosh", "tanh"]}
UNARY = {**{name: name for name in ELEMENTWISE}, **INVERSE, **dict.fromkeys(OF_TORCH_ALONE)}
BOTH = "isnan sum prod mean argmax argmin any all amax amin cumsum ravel squeeze diag clone"
TORCH = "max min median sort detach t var std norm logsumexp softmax log_softmax cumprod flatten"
SPELLED = {"amax": "max", "amin": "min", "clone": "copy"}
NUMPY = {**UNARY, **{name: SPELLED.get(name, name) for name in BOTH.split()}, **dict.fromkeys(TORCH.split())}
NEED_DIM = ("cumsum", "cumprod", "logsumexp", "softmax", "log_softmax")
FOR_MATRICES = {"tril": "tril", "triu": "triu", "trace": "trace", "diagonal": "diagonal", "inverse": "linalg.inv",
                "det": "linalg.det", "linalg.norm": "linalg.norm"}  # fmt: skip
PAIRS = TABLES["PAIRS"]
VECTORS = ("(u > 0)", "(u < 9)", "argmax(M, dim=1)", "w")


def functions() -> Iterator[Row]:
    """Yield calls of functions of one and of two arrays, and of lists."""
    for name, x in product(NUMPY, VECTORS[:3]):
        more = ", dim=0" if name.rpartition(".")[2] in NEED_DIM else ""
        theirs = f"np.{NUMPY[name]}({x}{more.replace('dim', 'axis')})"
        torch = name if "." in name or name in ("clone", "detach") else f"torch.{name}"
        torch = f"{x}.{name}()" if name in ("clone", "detach") else f"{torch}({x}{more})"
        yield Row(f"{name}({x}{more})", torch, None if NUMPY[name] is None else theirs)
    for (name, numpy), x in product(FOR_MATRICES.items(), ("(M > 1)", "(M < 9)", "argmax([M, N], dim=0)")):
        torch = x.replace("[M, N]", "torch.stack([M, N])")
        yield Row(f"{name}({x})", f"torch.{name}({torch})", f"np.{numpy}({x.replace('[M, N]', 'np.stack([M, N])')})")
    for (name, numpy), x, y in product(PAIRS.items(), VECTORS, VECTORS):
        torch = name if "." in name else f"torch.{name}"
        yield Row(f"{name}({x}, {y})", f"{torch}({x}, {y})", f"np.{numpy}({x}, {y})" if numpy else None)
    for name, x, y in product(("stack", "cat"), VECTORS, VECTORS):
        yield Row(
            f"{name}([{x}, {y}])",
            f"torch.{name}([{x}, {y}])",
            f"np.{ {'cat': 'concatenate'}.get(name, name) }([{x}, {y}])",
        )
    for c, x, y in product(("(u > 0)", "argmax(M, dim=1)", "w"), VECTORS, VECTORS):
        yield Row(f"where({c}, {x}, {y})", f"torch.where({c}, {x}, {y})", f"np.where({c}, {x}, {y})")
    for x in VECTORS[:3]:
        yield from (Row(f"{x}.float()*w", f"{x}.double()*w", f"{x}.astype(float)*w"), as_it_is(f"w[sum({x}) - 1]"))
        yield Row(f"[{x}, {x}]", f"torch.stack([{x}, {x}])", f"np.array([{x}, {x}])")


NUMBERS = ("0", "2", "True", "2.5", "-1.5", "argmax(u)", "(u[0] > 0)", "u[0]")
LIKE = ("argmax(M, dim=1)", "(u > 0)", "(u*1)")


FILLED = TABLES["FILLED"]
OF_TORCH = TABLES["OF_TORCH"]
BETWEEN = TABLES["BETWEEN"]
WITHOUT = TABLES["WITHOUT"]
WITHOUT_NUMPY = TABLES["WITHOUT_NUMPY"]
OF_NONE = TABLES["OF_NONE"]
OF_NONE_NUMPY = TABLES["OF_NONE_NUMPY"]
CHOSEN = TABLES["CHOSEN"]


def makers() -> Iterator[Row]:
    """Yield what makes arrays of plain numbers, of a kind or like another array, and writes of a fraction to them."""
    torch = [form.format(l="torch", n=n, shape="size") for form in FILLED[:1] + FILLED[2:] for n in NUMBERS]
    torch += [form.format(x=x, n=n) for form in ["torch.full_like({x}, {n})", *OF_TORCH] for x in LIKE for n in NUMBERS]
    torch += [form.format(x=x, n=n) for form in BETWEEN for x in LIKE for n in NUMBERS[:2] + NUMBERS[3:-1]]
    torch += [f"torch.where(u > 0, {chosen})" for chosen in CHOSEN]
    torch += [*(form.format(x=x) for form in WITHOUT for x in LIKE), *OF_NONE]
    numpy = [form.format(l="np", n=n, shape="shape") for form in FILLED for n in NUMBERS]
    numpy += [form.format(x=x, n=n) for form in ["np.full_like({x}, {n})"] for x in LIKE for n in NUMBERS]
    numpy += [
        form.format(x=x, n=n) for form in ("np.clip({x}, {n}, 9)",) for x in LIKE for n in NUMBERS[:2] + NUMBERS[3:]
    ]
    numpy += [f"np.where(u > 0, {chosen})" for chosen in CHOSEN]
    numpy += [*(form.format(x=x) for form in WITHOUT_NUMPY for x in LIKE), *OF_NONE_NUMPY]
    for text in (*torch, *numpy):
        theirs = (text, None) if text in torch else (None, text)
        yield Row(text, *theirs)
        yield Row(f"a = {text}\na[...] = 2.5\na", *(t and f"a = {t}\na[...] = 2.5\na" for t in theirs))


ROWS = [*operators(), *writes(), *functions(), *makers()]
UNLIKE = {f"a = {a}.clone()\na **= (argmax(M, dim=1) - 1)\na" for a in ("(u[0] > 0)", "argmax(u)")}
"""Each library refuses these, and for another reason: one a negative power, one an array in the place of a number."""


def names_in(library: Any) -> dict[str, Any]:
    """Return what the names of functions mean in either library."""
    if library is np:
        return {"np": np, "argmax": lambda x, dim=None: np.argmax(x, axis=dim), "sum": np.sum}
    own = {"torch": library, "F": library.nn.functional, "special": library.special}
    return {**own, "argmax": library.argmax, "sum": library.sum}


def asked(library: Any, text: str) -> tuple[str, Any] | None:
    """Return the answer of a library to a text, None where it refuses."""
    if library is np:
        text = text.replace(".clone()", ".copy()")
        arrays = {name: np.array(values) for name, values in ARRAYS.items()}
    else:
        arrays = {name: library.tensor(values, dtype=library.float64) for name, values in ARRAYS.items()}
    with np.errstate(all="ignore"):
        try:
            return answer_of(by_python(text, {**names_in(library), **arrays}))
        except Exception:  # noqa: BLE001 - whatever it is, it is a refusal
            return None


def answer_of(found: Any) -> tuple[str, Any]:
    """Return the kind of numbers, and the numbers; ``half`` are floats of three digits, as NumPy has them of masks."""
    first = found[0] if type(found).__name__ in ("sort", "max", "min", "median") else found
    array = np.asarray(first)
    kind = "half" if array.dtype == np.float16 else KINDS[array.dtype.kind]
    return kind, array.tolist()


KINDS = {"b": "mask", "i": "integer", "u": "integer", "f": "float"}


def recorded() -> dict[str, tuple[str, Any] | None]:
    """Return what PyTorch answered to a sample of the rows, by program."""
    return json.loads((DATA / RECORDED).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def main() -> None:
    """Record PyTorch's answers to a sample of the rows."""
    import torch  # it may not be installed

    torch.set_default_dtype(torch.float64)
    kept = [row for row in ROWS if row.torch and zlib.crc32(row.program.encode()) % SHARE == 0]
    lines = [f" {json.dumps(row.program)}: {json.dumps(asked(torch, row.torch))}" for row in kept]
    (DATA / RECORDED).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
