"""Write src/gradcli/ops/index.json: each function with the module that has it, and how it is called and spelled."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gradcli.language.calls import signature_text
from gradcli.ops import FUNCTIONS, load_all, vocabulary

INDEX = Path(__file__).parent.parent / "src" / "gradcli" / "ops" / "index.json"
CORE = "gradcli.ops"


def modules() -> dict[str, str]:
    """Import all functions that are not loaded, and return by their names the modules that enter them.

    Those of a start are there: this takes a process of its own.
    """
    entered = dict.fromkeys(FUNCTIONS, CORE)
    register = vocabulary.register

    def noting(function: vocabulary.Function) -> None:
        frame = sys._getframe(1)
        while frame.f_code.co_name != "<module>":
            frame = frame.f_back
        entered[function.name] = frame.f_globals["__name__"]
        register(function)

    vocabulary.register = noting
    load_all()
    return entered


def index() -> str:
    """Return the index as JSON, a function a line."""
    entered = modules()
    rows = [
        [one.name, entered[one.name], signature_text(one), one.summary, one.family, one.spellings, one.methods]
        for one in FUNCTIONS.values()
    ]
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.buffer.write(index().encode())
    else:
        INDEX.write_text(index(), encoding="utf-8")
