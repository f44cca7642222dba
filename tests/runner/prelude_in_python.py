"""The texts of the prelude under Python and PyTorch: PyTorch's library, with ours in place of what the index has."""

import builtins
import functools
from typing import Any

from gradcli.runner import library

PRELUDE = library.FOLDER
INDEX = library.prelude_index()
PACKAGES = {name.rpartition(".")[0] for name in INDEX}
PACKAGES |= {package[:i] for package in PACKAGES for i, sign in enumerate(package) if sign == "."}


class Library:
    """A package of PyTorch: what the index has comes from a text of the prelude, and all else from PyTorch."""

    def __init__(self, name: str, theirs: Any) -> None:
        self.__dict__.update(__name__=name, theirs=theirs)

    def __getattr__(self, name: str) -> Any:
        dotted = f"{self.__name__}.{name}"
        if dotted in INDEX:
            return loaded(INDEX[dotted])[name]
        if dotted == "torch.nn._step":
            return lambda value: value  # which only names a module's step
        value = getattr(self.theirs, name)
        return Library(dotted, value) if dotted in PACKAGES else value


@functools.cache
def ours() -> Any:
    """Return PyTorch with the prelude in it."""
    import torch

    return Library("torch", torch)


@functools.cache
def loaded(text: str) -> dict[str, Any]:
    """Return what a text of the prelude defines, when Python runs it."""
    path = PRELUDE / f"{text}.py.txt"

    def importing(name: str, *args: Any) -> Any:
        return ours() if name.partition(".")[0] == "torch" else builtins.__import__(name, *args)

    names = {"__builtins__": {**vars(builtins), "__import__": importing}, "__name__": text}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # noqa: S102 - texts of the package
    return names
