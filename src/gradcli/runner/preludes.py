"""Classes and functions of libraries that are written in the language of scripts, and run by the same interpreter."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gradcli.runner.objects import UNBOUND, Frame
from gradcli.runner.state import Run

FOLDER = Path(__file__).with_name("prelude")


@cache
def index() -> dict[str, str]:
    """Return for each dotted name the text that has it: names of a package, and of the module within that has them."""
    import json  # a start without a library's class reads no index

    rows = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    return {f"{home}.{name}": text for text, *homes, names in rows for home in homes for name in names}


def find_prelude(run: Run, name: str) -> Any:
    """Return what a dotted name stands for in a library's text; UNBOUND where none has it."""
    text = index().get(name)
    return UNBOUND if text is None else module_of(run, text).get(name.rpartition(".")[2], UNBOUND)


def module_of(run: Run, text: str) -> dict[str, Any]:
    """Return the variables of a library's text, which runs once in a run."""
    if text not in run.modules:
        run.modules[text] = {}
        code = compiled(run.compile_text, text)
        frame: Frame = code.template.copy()
        frame[0] = run
        line, run.quiet = run.line, run.quiet + 1
        handling, enabled = run.handling, run.grad_enabled
        try:
            code.run(frame)
        finally:
            run.line, run.quiet, run.handling = line, run.quiet - 1, handling
            run.enable_grad(enabled)
        run.modules[text].update({name: frame[k] for name, k in code.places.items() if frame[k] is not UNBOUND})
    return run.modules[text]


@cache
def compiled(compile_text: Any, text: str) -> Any:
    """Return a library's text as code."""
    return compile_text((FOLDER / f"{text}.py.txt").read_text(encoding="utf-8"), listed=False)[0]
