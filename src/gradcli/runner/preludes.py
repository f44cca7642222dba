"""Classes and functions of libraries that are written in the language of scripts, and run by the same interpreter."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gradcli.runner.objects import UNBOUND, Frame
from gradcli.runner.state import Run

FOLDER = Path(__file__).with_name("prelude")


@cache
def index() -> dict[str, tuple[str, str]]:
    """Return for each dotted name the text that has it, and its name there."""
    import json  # a start without a library's class reads no index

    path = FOLDER / "index.json"
    if not path.exists():
        return {}
    return {name: (row[0], row[1]) for name, row in json.loads(path.read_text(encoding="utf-8")).items()}


def find_prelude(run: Run, name: str) -> Any:
    """Return what a dotted name stands for in a library's text; UNBOUND where none has it."""
    if name not in index():
        return UNBOUND
    text, own = index()[name]
    return module_of(run, text).get(own, UNBOUND)


def module_of(run: Run, text: str) -> dict[str, Any]:
    """Return the variables of a library's text, which runs once in a run."""
    if text not in run.modules:
        run.modules[text] = {}
        code = compiled(run.machine.compile_text, text)
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
