"""Exceptions of a script: Python's classes, what is raised, and what the engine's errors are called in PyTorch."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradcli.errors import GivenUp, GradcliError
from gradcli.runner.objects import Class, Instance, Property
from gradcli.runner.torch_errors import misfit, of_matmul

TREE = {
    "BaseException": "", "Exception": "BaseException", "SystemExit": "BaseException",
    "KeyboardInterrupt": "BaseException", "GeneratorExit": "BaseException", "StopIteration": "Exception",
    "ArithmeticError": "Exception", "FloatingPointError": "ArithmeticError", "OverflowError": "ArithmeticError",
    "ZeroDivisionError": "ArithmeticError", "AssertionError": "Exception", "AttributeError": "Exception",
    "EOFError": "Exception", "ImportError": "Exception", "ModuleNotFoundError": "ImportError",
    "LookupError": "Exception", "IndexError": "LookupError", "KeyError": "LookupError", "MemoryError": "Exception",
    "NameError": "Exception", "UnboundLocalError": "NameError", "OSError": "Exception", "FileNotFoundError": "OSError",
    "RuntimeError": "Exception", "NotImplementedError": "RuntimeError", "RecursionError": "RuntimeError",
    "TypeError": "Exception", "ValueError": "Exception", "UnicodeError": "ValueError", "Warning": "Exception",
    "UserWarning": "Warning", "DeprecationWarning": "Warning", "RuntimeWarning": "Warning", "FutureWarning": "Warning",
    "LinAlgError": "ValueError", "_LinAlgError": "RuntimeError", "AxisError": "ValueError",
    "UFuncTypeError": "TypeError", "ConcretizationTypeError": "TypeError",
    "TracerBoolConversionError": "ConcretizationTypeError", "DTypePromotionError": "TypeError",
    "FrozenInstanceError": "AttributeError", "ExceptionGroup": "Exception", "TimeoutError": "OSError",
    "StatisticsError": "ValueError", "JSONDecodeError": "ValueError", "PermissionError": "OSError",
    "ConnectionError": "OSError", "BufferError": "Exception", "UnicodeDecodeError": "UnicodeError",
    "UnicodeEncodeError": "UnicodeError", "SyntaxError": "Exception", "IndentationError": "SyntaxError",
    "SyntaxWarning": "Warning", "PendingDeprecationWarning": "Warning", "ImportWarning": "Warning",
    "ResourceWarning": "Warning",
}  # fmt: skip
"""Python's exceptions, each with the class that it is derived from."""
CLASSES: dict[str, Class] = {}
FIRST = {"StopIteration": "value", "SystemExit": "code"}
"""What the first argument of an exception is called."""


def exception_class(name: str) -> Class:
    """Return one of Python's classes of exceptions."""
    if name not in CLASSES:
        base = TREE[name]
        members: dict[str, Any] = {} if base else dict(MEMBERS)
        if name in FIRST:
            members[FIRST[name]] = Property(lambda run, me: (me.fields.get("args") or (None,))[0])
        CLASSES[name] = Class(name, [exception_class(base)] if base else [], members)
    return CLASSES[name]


class Raised(Exception):
    """An exception of the script, on its way up; ``line`` is where it was raised.

    ``about`` is what its advice names: the line behind it, a variable, or the numbers of two ways out.
    """

    about: int | str | None = None
    said: str | None = None

    def __init__(self, instance: Instance, line: int = 0, cause: GradcliError | None = None) -> None:
        super().__init__(instance.kind.name)
        self.instance = instance
        self.line = line
        self.cause = cause

    @property
    def name(self) -> str:
        """What its class is called."""
        return self.instance.kind.name

    @property
    def text(self) -> str:
        """What it says: as the run has it once the run has looked, else the text that it was given."""
        if self.said is None:
            arguments = self.instance.fields.get("args", ())
            return ", ".join(map(str, arguments))
        return self.said


def show(run: Any, instance: Instance) -> str:
    """Return what ``str`` gives of an exception."""
    arguments = instance.fields.get("args", ())
    if not isinstance(arguments, tuple):
        return run.quoted(arguments)  # type: ignore[no-any-return]
    if len(arguments) == 1:
        shown = run.quoted if instance.kind.is_a(exception_class("KeyError")) else run.text
        return shown(arguments[0])  # type: ignore[no-any-return]
    return run.quoted(tuple(arguments)) if arguments else ""


def new(run: Any, kind: Class, *arguments: Any, **_: Any) -> Instance:
    """Return a new exception: it has its arguments, whatever ``__init__`` does with them."""
    del run
    made = Instance(kind)
    made.fields["args"] = arguments
    return made


MEMBERS = {
    "__new__": new, "add_note": lambda run, me, note: me.fields.setdefault("__notes__", []).append(note),
    "__context__": None, "__suppress_context__": False,
    "__init__": lambda run, me, *arguments, **named: me.fields.update({"args": arguments} | named),
    "__str__": show,
    "__repr__": lambda run, me: f"{me.kind.name}({', '.join([run.quoted(a) for a in me.fields.get('args', ())])})",

    "with_traceback": lambda run, instance, _traceback: instance,
    "__traceback__": None, "__cause__": None,
}  # fmt: skip


def raised(kind: str, text: str, cause: GradcliError | None = None) -> Raised:
    """Return an exception of one of Python's classes."""
    instance = Instance(exception_class(kind))
    instance.fields["args"] = (text,)
    return Raised(instance, cause=cause)


KINDS = {
    "shape": "RuntimeError", "index": "IndexError", "type": "TypeError", "value": "ValueError",
    "in-place": "RuntimeError", "arguments": "TypeError", "not-differentiable": "RuntimeError",
    "numpy-only": "RuntimeError", "torch-refuses": "RuntimeError", "singular": "LinAlgError",
    "integers": "RuntimeError",
}  # fmt: skip
"""Errors of the engine that are exceptions of the script: all others end the run, as what gradcli does not do."""


def as_raised(error: GradcliError) -> Raised | None:
    """Return an error of the engine as the exception that PyTorch raises, None for one that no script can catch."""
    if isinstance(error, GivenUp) or error.kind not in KINDS:
        return None
    return raised(KINDS[error.kind], in_torch_words(error), error)


def raised_of(error: Raised | GradcliError) -> Raised | None:
    """Return an error as an exception of the script, None for one that ends the run."""
    return error if isinstance(error, Raised) else as_raised(error)


def in_torch_words(error: GradcliError) -> str:
    """Return an error of shapes or indices as PyTorch words it."""
    pair = re.search(r"shapes (\([\d, ]*\)) and (\([\d, ]*\)) do not fit", error.message)
    if error.kind == "shape" and pair is not None:
        a, b = (np.broadcast_to(0.0, tuple(map(int, re.findall(r"\d+", text)))) for text in pair.groups())
        said = of_matmul(a, b) if re.search("@|mm|matmul|linear", error.message) and a.ndim and b.ndim else None
        said = said or misfit(a.shape, b.shape)
        return error.message if said is None else said[1]
    out = re.match(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)", error.message)
    if out is not None:
        return f"index {out[1]} is out of bounds for dimension {out[2]} with size {out[3]}"
    return error.message


def raise_key(key: Any) -> Any:
    """Raise KeyError for a key."""
    error = raised("KeyError", "")
    error.instance.fields["args"] = (key,)
    raise error


def of_host(error: Exception) -> Raised | None:
    """Return an error of the host's as one of the script, None where Python has no such exception."""
    kind = type(error).__name__
    if kind not in TREE:
        return None
    made = raised(kind, str(error.args[0]) if error.args else "")
    if kind == "KeyError" and error.args:
        made.instance.fields["args"] = error.args[:1]
    return made
