"""Write docs/interface.md: all that is public in Python, from its own signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradcli
from gradcli.explanation.explained import within

PAGE = Path(__file__).with_name("interface.md")
HEAD = """\
# The interface in Python

All that is public is here, and in `gradcli.__all__`; the page is written by `python docs/make_interface.py` from the
docstrings, and a test holds both together and runs every example. Arrays are numpy's, of doubles. Names of variables
are those of the program. Whatever a caller can mend is raised as a `GradcliError`, whose `kind` is a word for scripts.
"""
ORDER = (
    "explain",
    "check",
    "assert_gradient",
    "function",
    "answer",
    "Explanation",
    "Check",
    "Function",
    "Budget",
    "GradcliError",
)
"""What is looked up most stands first; the records that these hold follow by name."""
WIDEST = 90
"""Characters of a signature that stands on one line."""


def public() -> list[str]:
    """Return the public names in the order of the page."""
    names = [name for name in gradcli.__all__ if not name.startswith("__")]
    return [*ORDER, *(name for name in sorted(names) if name not in ORDER)]


def docs_of(thing: Any) -> list[str]:
    """Return the docstrings of a function, or of a class and of those that it adds to."""
    if not inspect.isclass(thing):
        return [inspect.getdoc(thing) or ""]
    own = [one for one in thing.__mro__ if one.__module__.startswith("gradcli")]
    return [inspect.cleandoc(one.__doc__ or "") for one in own]


def parameters(thing: Any) -> list[str]:
    """Return the names of what a function or a constructor takes."""
    return list(inspect.signature(thing).parameters)


class Plain(str):
    """An annotation that is shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def signature(thing: Any) -> str:
    """Return a signature as it is written, a line for each parameter where they are many; ``self`` is left out."""
    found = inspect.signature(thing)
    kept = [
        one.replace(annotation=Plain(one.annotation) if isinstance(one.annotation, str) else one.annotation)
        for one in found.parameters.values()
        if one.name != "self"
    ]
    returns = Plain(found.return_annotation) if isinstance(found.return_annotation, str) else found.return_annotation
    text = str(found.replace(parameters=kept, return_annotation=returns))
    if len(text) <= WIDEST:
        return text
    separate = [str(inspect.Signature([one]))[1:-1].removeprefix("*, ").removesuffix(", /") for one in kept]
    lines = []
    for one, line in zip(kept, separate, strict=True):
        if one.kind is one.KEYWORD_ONLY and "    *," not in lines:
            lines.append("    *,")
        lines.append(f"    {line},")
        if one.kind is one.POSITIONAL_ONLY:
            lines.append("    /,")
    arrow = f" -> {returns}" if isinstance(returns, str) and returns != "None" else ""
    return "(\n" + "\n".join(lines) + f"\n){arrow}"


def is_within(member: object) -> bool:
    """Return whether a property is for gradcli's own rooms."""
    return isinstance(member, within)


def members(kind: type) -> Iterator[tuple[str, str, str]]:
    """Yield the public methods and properties of a class: name, signature after the name, docstring."""
    fields = set(getattr(kind, "_fields", ())) | {
        one.name for one in (dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ())
    }
    for name, member in inspect.getmembers(kind):
        home = next(one for one in kind.__mro__ if name in vars(one) or one is object)
        if name.startswith("_") or name in fields or not home.__module__.startswith("gradcli") or is_within(member):
            continue
        yield name, signature(member) if callable(member) else "", inspect.getdoc(member) or ""


def markdown(text: str) -> str:
    """Return a docstring as Markdown: code between single marks, examples in blocks."""
    blocks = re.split(r"\n\s*\n", text)
    return "\n\n".join(
        f"```python\n{block}\n```" if block.startswith(">>>") else re.sub("``(.+?)``", r"`\1`", block, flags=re.DOTALL)
        for block in blocks
    )


def sections() -> Iterator[str]:
    """Yield the page, one public name after the other."""
    yield HEAD.rstrip()
    for name in public():
        thing = getattr(gradcli, name)
        yield f"## {name}"
        yield f"```text\n{name}{signature(thing)}\n```"
        yield from map(markdown, docs_of(thing))
        if inspect.isclass(thing):
            lines = [f"- `{member}{taken}`: {' '.join(doc.split())}" for member, taken, doc in members(thing)]
            if lines:
                yield markdown("\n".join(lines))


def page() -> str:
    """Return the page."""
    return "\n\n".join(sections()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
