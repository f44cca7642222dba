"""What the script calls a value: the variable that has it, else the way to it."""

from __future__ import annotations

from typing import Any

from gradcli.runner.objects import Class, Closure, Instance
from gradcli.runner.values import Tensor

DEEPEST = 5
"""Dots and brackets of a name."""
WIDEST = 400
"""Items of a list or an object that are looked at."""


def name_of(run: Any, value: Any) -> str | None:
    """Return what the script calls a value: a variable of the functions that run now, of the module, or the way to it."""
    frames = [(code, frame) for code, frame in run.frames if code.listed]
    for code, frame in reversed(frames):
        for name, place in code.places.items():
            item = frame[place]
            if item is value or (place in code.cells and isinstance(item, list) and item and item[0] is value):
                return name  # type: ignore[no-any-return]
    if not isinstance(value, Tensor):
        return None
    if value.extra is not None and value.extra.name is not None:
        return value.extra.name
    for code, frame in [*frames[:1], *reversed(frames[1:])]:
        for name, place in code.places.items():
            way = way_to(frame[place], value, DEEPEST, set())
            if way is not None:
                from gradcli.runner.values import extra_of

                extra_of(value).name = f"{name}{way}"
                return f"{name}{way}"
    return None


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
    """Return how a value is reached from an object: by its own attributes, modules and parameters without their tables."""
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
