"""Run scripts under Python with PyTorch, NumPy and JAX and record them: printed lines, derivative calls, the error.

``python tests/script_recorder.py FILE.jsonl`` records every row of a file of ``{"id": …, "source": …}`` anew, in place;
``--compare`` writes nothing and prints the rows that come out differently, ``--out`` writes elsewhere.

A row holds ``id``, ``source``, ``stdout``, ``calls``, ``error`` (``null``, or ``line``, ``type``, ``text``) and, where
the script ends so, ``exit``, the code of ``sys.exit``. A call is one that stands in a line of the script itself, and
that no other derivative call runs: its ``kind`` is "backward", with ``.grad`` of each leaf that the output reaches
after the call and the leaf's variable, or ``null``, in ``names``; or "grad", with what is returned, flat. No more than
``MOST_CALLS`` are kept. Calls of JAX are not among ``calls``; those that give numbers are in ``jax_calls``, as "grad".
"""

import argparse
import contextlib
import functools
import io
import json
import math
import os
import random
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")  # figures of a script are drawn nowhere
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
import torch

from script_comparison import MOST_CALLS, brief, largest, near, rows_of, text_fault
from script_comparison import flat as numbers_of

FILE, SECONDS = "script.py", 120
"""The name that a script runs under, and the time that it may take."""

Call = dict[str, Any]


class Recording:
    """The calls of the script that runs."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.jax_calls: list[Call] = []
        self.depth = 0


now = Recording()


def record(source: str) -> dict[str, Any]:
    """Return what a script prints, its derivative calls and its error."""
    global now
    patch_libraries()
    now, out = Recording(), io.StringIO()
    error, code = None, 0
    with (
        tempfile.TemporaryDirectory() as folder,  # what a script saves is no part of the house
        contextlib.chdir(folder),
        fresh_libraries(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        try:
            run(source)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except TimeoutError:
            raise
        except BaseException as raised:  # noqa: BLE001 - whatever a script raises is its answer
            error = {"line": line_of(raised), "type": type(raised).__name__, "text": str(raised)}
    row = {"stdout": out.getvalue(), "calls": now.calls, "error": error}
    return row | ({"jax_calls": now.jax_calls} if now.jax_calls else {}) | ({"exit": code} if code else {})


def run(source: str) -> None:
    """Run a script as the main module, for ``SECONDS`` at most."""
    main = types.ModuleType("__main__")
    before = sys.modules["__main__"]
    argv, sys.argv = sys.argv, [FILE]
    sys.modules["__main__"] = main
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        exec(compile(source, FILE, "exec"), main.__dict__)  # noqa: S102 - the recorder runs scripts of this repository
    finally:
        signal.alarm(0)
        sys.argv = argv
        sys.modules["__main__"] = before


def too_long(*_: object) -> None:
    raise TimeoutError(f"a script that takes longer than {SECONDS} s")


def line_of(error: BaseException) -> int | None:
    """Return the innermost line of the script that an exception went through."""
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    return lines[-1] if lines else None


@contextlib.contextmanager
def fresh_libraries() -> Iterator[None]:
    """Seed every generator with 0; what a script may change has its default before and after."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    set_defaults()
    config = sys.modules["jax"].config if "jax" in sys.modules else None
    wide = config is not None and config.jax_enable_x64
    if config is not None:
        config.update("jax_enable_x64", False)
    with np.printoptions(edgeitems=3, threshold=1000, precision=8, suppress=False, linewidth=75), \
            np.errstate(), warnings.catch_warnings():  # fmt: skip
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            set_defaults()
            if config is not None:
                config.update("jax_enable_x64", wide)


def set_defaults() -> None:
    """Give PyTorch the settings that it starts with."""
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    torch._tensor_str.PRINT_OPTS.sci_mode = None
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)


def plain(value: Any) -> Any:
    """Return a number or an array as nested lists, what is not finite by its name in JSON, and no gradient as None."""
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        value = value.detach()
        value = value.to_dense() if value.layout is not torch.strided else value
        return named(value.tolist())
    return named(np.asarray(value).tolist())


def named(value: Any) -> Any:
    if isinstance(value, list):
        return [named(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def flat(value: Any) -> list[Any]:
    """Return the gradients in a nest of tuples, lists and dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in flat(item)] if isinstance(value, (list, tuple)) else [value]


def numbers(values: list[Any]) -> bool:
    """Return whether all of these are numbers: not what a transformation traces, and no objects of the script."""
    jax = sys.modules.get("jax")
    return all(
        value is None or isinstance(value, (int, float)) or hasattr(value, "shape") for value in values
    ) and not any(
        (isinstance(value, torch.Tensor) and torch._C._functorch.is_functorch_wrapped_tensor(value))
        or (jax is not None and isinstance(value, jax.core.Tracer))
        for value in values
    )


def leaves(outputs: list[Any]) -> list[torch.Tensor]:
    """Return the leaves that outputs reach: those of the last operand first."""
    reached = {id(output): output for output in outputs if output.grad_fn is None and output.requires_grad}
    stack, seen = [output.grad_fn for output in outputs], set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            reached.setdefault(id(node.variable), node.variable)
        stack += [parent for parent, _ in node.next_functions]
    return list(reached.values())


def name_of(leaf: torch.Tensor, frame: types.FrameType) -> str | None:
    """Return the script's variable that is a leaf; those of functions are left out."""
    return next((name for name, value in frame.f_globals.items() if value is leaf), None)


def scripts_own(frame: types.FrameType) -> bool:
    """Return whether a call stands in the script, and inside no other derivative call."""
    return now.depth == 0 and frame.f_code.co_filename == FILE


@contextlib.contextmanager
def inside() -> Iterator[None]:
    """Calls inside of a derivative call are not the script's own."""
    recording = now
    recording.depth += 1
    try:
        yield
    finally:
        recording.depth -= 1


def keep(calls: list[Call], call: Call) -> None:
    if len(calls) < MOST_CALLS:
        calls.append(call)


def backward_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``backward`` of a tensor, or of several, that records its calls."""

    @functools.wraps(original)
    def call(outputs: Any, *args: Any, **named_args: Any) -> Any:
        frame = sys._getframe(1)
        if not scripts_own(frame):
            return original(outputs, *args, **named_args)
        several = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
        outputs = outputs if isinstance(outputs, torch.Tensor) else several
        line, reached = frame.f_lineno, leaves(several)
        with inside():
            result = original(outputs, *args, **named_args)
        reached = [leaf for leaf in reached if leaf.grad is not None]
        keep(now.calls, {"line": line, "kind": "backward", "grads": [plain(leaf.grad) for leaf in reached],
                         "names": [name_of(leaf, frame) for leaf in reached]})  # fmt: skip
        return result

    return call


def returning_call(
    original: Callable[..., Any], part: Callable[[Any], Any] = lambda result: result, *, jax: bool = False
) -> Callable[..., Any]:
    """Return a function that records what it returns, or a part of it."""

    @functools.wraps(original)
    def call(*args: Any, **named_args: Any) -> Any:
        frame = sys._getframe(1)
        if not scripts_own(frame):
            return original(*args, **named_args)
        line = frame.f_lineno
        with inside():
            result = original(*args, **named_args)
        returned = flat(part(result))
        if numbers(returned):
            calls = now.jax_calls if jax else now.calls
            keep(calls, {"line": line, "kind": "grad", "grads": [plain(value) for value in returned]})
        return result

    return call


def making_call(original: Callable[..., Any], part: Callable[[Any], Any], *, jax: bool = False) -> Callable[..., Any]:
    """Return a transformation whose functions record their calls."""

    @functools.wraps(original)
    def make(*args: Any, **options: Any) -> Any:
        first = (lambda result: part(result[0])) if options.get("has_aux") and part is whole else part
        return returning_call(original(*args, **options), first, jax=jax)

    return make


def pulling_call(original: Callable[..., Any], *, jax: bool = False) -> Callable[..., Any]:
    """Return a ``vjp`` or ``linearize``, whose second result is a function that records its calls."""

    @functools.wraps(original)
    def call(*args: Any, **options: Any) -> Any:
        value, pull, *more = original(*args, **options)
        return (value, returning_call(pull, jax=jax), *more)

    return call


def quiet_call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a check of gradients, whose calls are not the script's."""

    @functools.wraps(original)
    def call(*args: Any, **options: Any) -> Any:
        with inside():
            return original(*args, **options)

    return call


def whole(result: Any) -> Any:
    return result


def second(result: Any) -> Any:
    return result[1]


def first_of_pair(result: Any) -> Any:
    return result[0]


@functools.cache
def patch_libraries() -> None:
    """Put recording functions in the places of PyTorch's derivative calls, and JAX's where it is installed."""
    torch.Tensor.backward = backward_call(torch.Tensor.backward)
    autograd, functional = torch.autograd, torch.autograd.functional
    autograd.backward = backward_call(autograd.backward)
    autograd.grad = returning_call(autograd.grad)
    for name in ("gradcheck", "gradgradcheck"):
        setattr(autograd, name, quiet_call(getattr(autograd, name)))
    for name in ("jacobian", "hessian"):
        setattr(functional, name, returning_call(getattr(functional, name)))
    for name in ("vjp", "jvp", "hvp", "vhp"):
        setattr(functional, name, returning_call(getattr(functional, name), second))
    patch_transformations(torch.func, {"grad_and_value": first_of_pair}, jax=False)
    with contextlib.suppress(ImportError):
        import jax

        patch_transformations(jax, {"value_and_grad": second}, jax=True)


def patch_transformations(module: types.ModuleType, pairs: dict[str, Callable[[Any], Any]], *, jax: bool) -> None:
    parts = {"grad": whole, "jacrev": whole, "jacfwd": whole, "hessian": whole, "jacobian": whole, **pairs}
    for name, part in parts.items():
        if hasattr(module, name):
            setattr(module, name, making_call(getattr(module, name), part, jax=jax))
    module.jvp = returning_call(module.jvp, second, jax=jax)
    module.vjp = pulling_call(module.vjp, jax=jax)
    module.linearize = pulling_call(module.linearize, jax=jax)


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, allow_nan=False) + "\n" for row in rows), encoding="utf-8")


def recorded(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with what its source does here."""
    return {name: value for name, value in row.items() if name not in MADE} | record(row["source"])


MADE = ("stdout", "calls", "error", "jax_calls", "exit")


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the fields in which two records of a row differ: words, lines, names, numbers beyond rounding."""
    different = [name for name in ("error", "exit") if before.get(name) != after.get(name)]
    different += [fault for fault in [text_fault(after["stdout"], before["stdout"])] if fault]
    if len(before["calls"]) != len(after["calls"]):
        return [*different, f"{len(after['calls'])} calls for {len(before['calls'])}"]
    pairs = zip(before["calls"], after["calls"], strict=True)
    return different + [brief([was, is_now]) for was, is_now in pairs if not same_call(was, is_now)]


def same_call(was: Call, is_now: Call) -> bool:
    fields = [(call["line"], call["kind"], call.get("names"), len(call["grads"])) for call in (was, is_now)]
    size = largest([number for grad in was["grads"] if grad is not None for number in numbers_of(grad)])
    return fields[0] == fields[1] and all(map(near, is_now["grads"], was["grads"], [size] * len(was["grads"])))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    before = rows_of(options.file)
    after = [recorded(row) for row in before]
    if not options.compare:
        write_rows(options.out or options.file, after)
        return 0
    differing = [(row["id"], changes(row, again)) for row, again in zip(before, after, strict=True)]
    differing = [(name, why) for name, why in differing if why]
    for name, why in differing:
        print(name, *(line[:300] for line in why[:2]), sep="\n    ")  # noqa: T201
    print(f"{len(before) - len(differing)} of {len(before)} rows are as recorded")  # noqa: T201
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
