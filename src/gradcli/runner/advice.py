"""What a person asks next after an error of PyTorch's: which line is behind it, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gradcli.runner.exceptions import Raised
from gradcli.runner.values import Tensor

Advice = Callable[[Any, Raised, str, re.Match[str]], str | None]


def called_on(line: str) -> str:
    """Return what a line calls backward on: ``loss`` of ``loss.backward()``."""
    match = re.search(r"([\w.\[\]']+)\.backward\(", line)
    return match[1] if match else "y"


def scalar_output(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say what to write where an output has several entries and no v."""
    name = called_on(line)
    y = next((frame[k] for code, frame in run.frames for own, k in code.places.items() if own == name), None)
    shape = f" has shape {y.shape}" if isinstance(y, Tensor) else " has several entries"
    return (
        f"{name}{shape}: write {name}.sum().backward() or {name}.mean().backward(), or {name}.backward(v) with v of "
        "that shape"
    )


def freed(run: Any, error: Raised, line: str, match: re.Match[str]) -> str | None:
    """Say which line has freed the graph."""
    at = error.about
    if at is None:
        return None
    return (
        f"line {at} went back over this graph and freed it: write retain_graph=True there, or compute the output anew "
        "before"
    )


def overwritten(run: Any, error: Raised, line: str, match: re.Match[str]) -> str | None:
    """Say which line has written to what backward needs."""
    at = error.about
    if at is None:
        return None
    return (
        f"line {at} wrote in place to a value that backward needs: write to a clone, or x = x + ... in place of x += "
        "..."
    )


def no_gradient(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say what cuts a graph off."""
    return (
        "nothing that it was computed from requires grad: give an input requires_grad=True, and look for detach(), "
        ".data, .item(), no_grad() or integers on the way"
    )


def leaf_written(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say how to update a leaf."""
    return "write the update under torch.no_grad():   with torch.no_grad(): w -= lr * w.grad"


def mismatch(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say what shape v has to have."""
    name = called_on(line)
    return f"v has the shape of {name}: torch.ones_like({name}) adds its entries up"


def unused(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say what to do about an input that the output does not depend on."""
    return (
        "the output does not depend on it: allow_unused=True returns None there; was it assigned anew or detached on "
        "the way?"
    )


def none_gradient(run: Any, error: Raised, line: str, match: re.Match[str]) -> str | None:
    """Say why a gradient is None."""
    owner = re.search(r"([\w.\[\]']+)\.grad\b", line)
    if owner is None:
        return None
    return (
        f"{owner[1]}.grad is None: backward has not reached {owner[1]}, or it is no leaf any more "
        f"({owner[1]} = {owner[1]} - ... makes an inner value; write the update in place under torch.no_grad())"
    )


def to_numpy(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say how to take numbers out."""
    return "write .detach().numpy()"


def integers(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say how floats are written."""
    return "write the numbers with a point, 1.0, or dtype=torch.float32"


def matrices(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say which lengths have to be equal."""
    return f"the inner lengths {match[1]} and {match[2]} have to be equal: a transpose, .T, is often missing"


def misspelt(run: Any, error: Raised, line: str, match: re.Match[str]) -> str | None:
    """Say which name of a library is close to one that it has not."""
    return error.cause.hint if error.cause is not None else None


def broadcast(run: Any, error: Raised, line: str, match: re.Match[str]) -> str:
    """Say which lengths broadcast."""
    return "lengths are equal, or 1, counted from the last axis: unsqueeze or reshape one of the two"


ADVICE: tuple[tuple[str, Advice], ...] = (
    ("grad can be implicitly created only for scalar outputs", scalar_output),
    ("backward through the graph a second time", freed),
    ("modified by an inplace operation", overwritten),
    ("does not require grad and does not have a grad_fn", no_gradient),
    ("leaf Variable that requires grad is being used in an in-place", leaf_written),
    ("Mismatch in shape: grad_output", mismatch),
    ("appears to not have been used in the graph", unused),
    ("'NoneType' object has no attribute|'NoneType'$", none_gradient),
    (r"Can't call numpy\(\) on Tensor that requires grad", to_numpy),
    ("can require gradients", integers),
    (r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", matrices),
    (r"^module '.*' has no attribute", misspelt),
    (r"The size of tensor a \(\d+\) must match the size of tensor b", broadcast),
)
"""Errors by a part of their words."""


def advice_of(run: Any, error: Raised, line: str) -> str | None:
    """Return what to do about an exception that ends a script, None where its words say it."""
    for pattern, advise in ADVICE:
        match = re.search(pattern, error.text)
        if match is not None:
            return advise(run, error, line, match)
    return None
