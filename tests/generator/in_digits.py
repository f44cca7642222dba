"""A random program held against many digits: both routes and every entry of J, by ``check``; it needs no PyTorch."""

import numpy as np

import gradcli
from oracles import difference

UNSURE = ("digits-lost", "unclear")
"""Verdicts of an answer that says of itself that it is not sure: it may still be no further off than cancels."""
NEAR = 1e-6


def faults(program, confirmed=True):
    """Return what is wrong in the answer to a program of the language, which is never refused.

    ``confirmed`` asks ``check`` too, which takes twice as long as the answer.
    """
    asked = {"inputs": program.inputs, "v": program.v, "wrt": program.wrt}
    try:
        found = gradcli.explain(program.text, **asked)
        if not str(found) or found.to_dict()["error"] is not None:
            return ["there is no answer as tables, or none as a document"]
        if found.agreement.verdict in UNSURE:
            return far_from_differences(program, found.grad)
        if not (found.agreement.agree and found.agreement.finite):
            return [f"the routes do not agree: {found.agreement}"]
        verdict = gradcli.check(program.text, **asked) if confirmed else None
    except Exception as error:  # noqa: BLE001 - a refusal and a crash are faults too
        return [f"{type(error).__name__}: {error}"]
    return [] if verdict is None or verdict.agree else [f"check: {verdict}"]


def far_from_differences(program, grad):
    """Return the gradients that are further from a difference of v·y than their largest entry explains."""
    function = gradcli.function(program.text, wrt=())
    wrong = []
    for name in program.wrt:
        x = np.asarray(program.inputs[name], dtype=float)
        [want] = difference(lambda x, n=name: np.sum(program.v * function.value(**{**program.inputs, n: x})), x)
        got = np.ravel(grad[name])
        if not np.all(np.abs(got - want) <= NEAR * np.max(np.abs(want), initial=1.0)):
            wrong.append(f"the gradient by {name} is {got.tolist()}, and {want.tolist()} by differences")
    return wrong
