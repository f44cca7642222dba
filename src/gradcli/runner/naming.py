"""What the script calls a value: the variable that has it, else the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradcli.runner.objects import Class, Closure, Code, Frame, Instance
from gradcli.runner.values import Tensor

DEEPEST = 5
"""Dots and brackets of a name."""
WIDEST = 400
"""Items of a list or an object that are looked at."""


def name_of(run: Any, value: Any) -> str | None:
    """Return what the script calls a value: a variable of the functions that run or of the module, or the way to it.

    A variable of a loop, which has another value in the next turn, names it where nothing else does.
    """
    frames = [(code, frame) for code, frame in run.frames if code.listed]
    passing = None
    for code, frame in reversed(frames):
        for name, item in variables(code, frame):
            if item is value:
                if name not in code.loops:
                    return name
                passing = passing or name
    if not isinstance(value, Tensor):
        return passing
    if value.extra is not None and value.extra.name is not None:
        return value.extra.name
    for code, frame in [*frames[:1], *reversed(frames[1:])]:
        for name, item in variables(code, frame):
            way = None if item is value else way_to(item, value, DEEPEST, set())
            if way is not None:
                from gradcli.runner.values import extra_of

                extra_of(value).name = f"{name}{way}"
                return f"{name}{way}"
    return passing


def variables(code: Code, frame: Frame) -> Iterator[tuple[str, Any]]:
    """Yield the variables of a frame with their values; those that inner functions share are in cells."""
    for name, place in code.places.items():
        item = frame[place]
        yield name, item[0] if place in code.cells and isinstance(item, list) and item else item


def way_to(base: Any, value: Any, depth: int, seen: set[int]) -> str | None:
    """Return how a value is reached from another, None where it is not."""
    if base is value:
        return ""
    if not depth or id(base) in seen:
        return None
    if isinstance(base, Instance):
        seen.add(id(base))
        return way_in_object(base, value, depth, seen)
    if isinstance(base, list | tuple):
        seen.add(id(base))
        parts = [(f"[{k}]", item) for k, item in enumerate(base[:WIDEST])]
    elif isinstance(base, dict):
        seen.add(id(base))
        parts = [(f"[{key!r}]", item) for key, item in list(base.items())[:WIDEST] if isinstance(key, str | int)]
    else:
        return None
    return first_way(parts, value, depth, seen)


def way_in_object(base: Instance, value: Any, depth: int, seen: set[int]) -> str | None:
    """Return how a value is reached from an object: by its attributes, modules and parameters without their tables."""
    parts: list[tuple[str, Any]] = []
    for name, item in list(base.fields.items())[:WIDEST]:
        if name in ("_modules", "_parameters", "_buffers") and isinstance(item, dict):
            parts += [(f"[{key}]" if str(key).isdigit() else f".{key}", one) for key, one in item.items()]
        elif not isinstance(item, Class | Closure):
            parts.append((f"[{name}]" if name.isdigit() else f".{name}", item))
    return first_way(parts, value, depth, seen)


def first_way(parts: list[tuple[str, Any]], value: Any, depth: int, seen: set[int]) -> str | None:
    """Return the first of several ways that leads to a value, the short ones first."""
    for step, item in parts:
        if item is value:
            return step
    for step, item in parts:
        rest = way_to(item, value, depth - 1, seen)
        if rest is not None:
            return step + rest
    return None
