"""One self-contained page: the template, the style sheet and the script of ``web/``, and the document of an answer.

The script is modules that import each other, as a browser or a linter reads them. On the page they are one script, in
which each is a function that is called once and returns what it exports.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.page.drawing import graph_of
from gradcli.render.data import document, encoded

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained

MODULES = (
    "language", "arrays", "functions", "evaluate", "jacobian", "slopes", "answer", "numbers", "formula", "dom",
    "lighting", "controls", "matrix", "large", "graph", "picture", "records", "views", "lecture", "page",
)  # fmt: skip
"""The script's modules, each after those that it imports."""
MOST_NUMBERS = 1_000_000
"""Numbers of J, of all variables together, that a page holds: about 30 MB."""

IMPORT = re.compile(r"^import (\{[^}]*\}) from \"\./(\w+)\.js\";$", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|class|function\*?) (\w+))", re.MULTILINE)
SLOT = re.compile(r"\{(style-hash|script-hash|style|script|answer)\}")
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
"""What could end a script or begin a comment, as JSON writes it; all that is not ASCII is written so already."""


def page(answer: Explained) -> Iterator[str]:
    """Return the parts of the page of an explanation; raises ``format`` where J has too many entries for a page.

    >>> text = "".join(page(gradcli.explain("x**2", x=3.0)))
    >>> text.startswith("<!doctype html>"), len(text) < 300_000
    (True, True)
    """
    refuse_large(answer)
    return filled_template(answer)


def filled_template(answer: Explained) -> Iterator[str]:
    """Yield the template with its slots filled."""
    style, script = asset("page.css"), script_text()
    slots = {"style": style, "script": script, "style-hash": digest(style), "script-hash": digest(script)}
    pieces = SLOT.split(asset("page.html"))
    for text, slot in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        yield text
        if slot == "answer":
            yield from map(inert_json, encoded(partial(shown_document, answer)))
        elif slot:
            yield slots[slot]


def refuse_large(answer: Explained) -> None:
    """Raise ``format`` where J has more entries than a page can hold, or is not held at all."""
    for name, jacobian in answer.jacobian.items():
        if not jacobian.held:
            rows, columns = jacobian.matrix_shape
            raise too_large(f"J by {name} is {rows:,} by {columns:,} and is not held")
    entries = sum(len(jacobian.values) for jacobian in answer.jacobian.values())
    if entries > MOST_NUMBERS:
        raise too_large(f"J has {counted(entries, 'entry')}")


def too_large(what: str) -> GradcliError:
    """Return the error that refuses a page."""
    return GradcliError(
        "format",
        f"{what}: a page holds at most {MOST_NUMBERS:,} entries",
        hint="-o answer.json holds numbers, --row I shows a row of J; or differentiate fewer variables by --wrt",
    )


def shown_document(answer: Explained, *form: Any) -> dict[str, Any]:
    """Return the document of an answer with the rules of each J, and without the gradients that the page works out."""
    whole = document(replace(answer, labels={}), *form)  # its script reads formulas by their identifiers
    if answer.timeline is not None:
        whole["timeline"] = {"title": answer.timeline.title, "lines": event_texts(answer)}
        del whole["events"]
    for name in answer.jacobian:
        whole["jacobian"][name]["rules"] = rules_of(answer, name)
    effect = whole["effect"]
    if effect is not None:
        whole["effect"] = {"nudge": effect["nudge"], "shared": effect["shared"]}
    if len(whole["backward"]) == 1:
        whole["backward"] = []
    whole["graph"] = graph_of(answer)
    return whole


def event_texts(answer: Explained) -> list[str]:
    """Return what a script did, as the tables say it on a wide screen."""
    from gradcli.document.model import Settings
    from gradcli.render.events import event_lines
    from gradcli.render.layout import Layout

    timeline = answer.timeline
    if timeline is None:
        return []
    lines = [str(line).rstrip() for line in event_lines(timeline, Settings(), Layout(100))]
    return [line for line in (timeline.head if timeline.rows else "", *lines) if line]


def rules_of(answer: Explained, name: str) -> list[str]:
    """Return what the formulas of a J have in common, as the tables say it; none where each of its few is short."""
    from gradcli.document.jacobian import formula_rows
    from gradcli.document.model import Equation, Settings

    rows = formula_rows(answer, name, Settings(full=True))
    return [f"{row.left} = {row.sides[0]}" if isinstance(row, Equation) else row for row in rows]


def script_text() -> str:
    """Return the modules as one script."""
    return "const modules = {};\n" + "\n".join(as_function(name, asset(f"{name}.js")) for name in MODULES)


def as_function(name: str, text: str) -> str:
    """Return a module as a call of a function that returns what the module exports.

    >>> print(as_function("b", 'import {one} from "./a.js";\\nexport const two = 2*one;\\n'))
    modules.b = (() => {
    const {one} = modules.a;
    const two = 2*one;
    return {two};
    })();
    """
    exported = ", ".join(EXPORT.findall(text))
    own = EXPORT.sub("", IMPORT.sub(r"const \1 = modules.\2;", text))
    return f"modules.{name} = (() => {{\n{own}return {{{exported}}};\n}})();"


def asset(name: str) -> str:
    """Return a file of ``web/``."""
    return files("gradcli.page").joinpath("web", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Return what a content security policy calls a script or style sheet that stands on the page."""
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def inert_json(text: str) -> str:
    """Return JSON that no text in it can end or comment out, with the same meaning."""
    return re.sub("[<>&]", lambda sign: UNSAFE[sign[0]], text)
