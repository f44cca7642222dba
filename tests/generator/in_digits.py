"""A random program held against many digits: both routes and every entry of J, by ``check``; it needs no PyTorch."""

from __future__ import annotations

import gradcli

HONEST = ("digits-lost", "unclear")
"""Verdicts of an answer that says of itself that it is not sure."""


def faults(program, confirmed=True):
    """Return what is wrong in the answer to a program of the language, which is never refused.

    ``confirmed`` asks ``check`` too, which takes twice as long as the answer.
    """
    asked = {"inputs": program.inputs, "v": program.v, "wrt": program.wrt}
    try:
        agreement = gradcli.explain(program.text, **asked).agreement
        if agreement.verdict in HONEST:
            return []
        if not (agreement.agree and agreement.finite):
            return [f"the routes do not agree: {agreement}"]
        verdict = gradcli.check(program.text, **asked) if confirmed else None
    except Exception as error:  # noqa: BLE001 - a refusal and a crash are faults too
        return [f"{type(error).__name__}: {error}"]
    return [] if verdict is None or verdict.agree else [f"check: {verdict}"]
