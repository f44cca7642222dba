"""Looking a function up, among those that are loaded and then among all."""

from __future__ import annotations

from importlib import import_module

from gradcli.ops.vocabulary import Function


def find(register: dict[str, Function], name: str) -> Function | None:
    """Return the function of this name in ``SPELLINGS`` or ``METHODS``; None where there is none in all of them."""
    if name not in register:
        load_all()
    return register.get(name)


def load_all() -> None:
    """Import the functions that few programs call: they would cost every start."""
    import_module("gradcli.ops.further")
