"""What is said of all gradients of a script: those by inner values too, and of a wrong one which is wrong first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.checking.claims import Claims
from gradcli.checking.fitting import squeezed
from gradcli.checking.mistakes import Surroundings, find_mistake
from gradcli.checking.pairs import Pair, as_doubles
from gradcli.engine.graph import NODES, Node
from gradcli.engine.reverse import cotangents
from gradcli.errors import GradcliError
from gradcli.exact.thresholds import ALL, FEWEST
from gradcli.explanation.checked import REVERSE, Entry, Expectation
from gradcli.ops.declare import Array, value_of
from gradcli.records import dataclass
from gradcli.runner.replay import ancestors
from gradcli.runner.story import Story, Version, value_at
from gradcli.runner.values import Tensor


def judge_claims(
    claims: Claims, point: Mapping[str, Any], seed: Array, expected: list[Expectation]
) -> list[Expectation]:
    """Return what is said of all gradients of a script in the order in which it computed them, those inside too.

    Of a wrong one it is said which is wrong first. A gradient inside on which a right one depends, or that is found
    by its name where all others are right, stands for something else, such as the cotangent before a division by n: it
    is left out.
    """
    inner = judge_inner(claims, point, seed)
    variables = {pair.value: variable for variable, pair in claims.by_input.items()}
    typed = [one for one in expected if one.variable not in variables]
    expected = [one for one in expected if one.variable in variables]
    nodes = {one.variable: ways_to(claims, point, variables[one.variable]) for one in expected}
    trusted = [nodes[one.variable] for one in expected if one.verdict == "right"]
    if not claims.asked_for:
        forward = forward_nodes(claims, point)
        expected = [one for one in expected if one.verdict == "right" or is_meant(one, nodes, trusted, forward)]
    settled = frozenset().union(*(one.nodes for one in inner if one.right))  # a name may stand for a right one's value
    suspects = [one for one in inner if not one.right and not any(one.nodes - settled & used for used in trusted)]
    wrong = suspects if len(trusted) < len(expected) else [one for one in suspects if claims.asked_for]
    placed = [(max(nodes[one.variable], default=-1), one) for one in expected]
    placed = [
        (place, replace(one, first_wrong=first_wrong(claims, wrong, nodes[one.variable], variables[one.variable])))
        if one.verdict == "wrong"
        else (place, one)
        for place, one in placed
    ]
    placed += [(max(one.nodes, default=-1), inner_expectation(one)) for one in inner if one.right or one in wrong]
    return typed + as_wholes(claims, [one for _, one in sorted(placed, key=lambda item: item[0])])


def as_wholes(claims: Claims, expected: list[Expectation]) -> list[Expectation]:
    """Return what is said of entries of nested lists as what is said of the lists."""
    wholes = {pair.value: pair.whole for pair in claims.by_input.values() if pair.whole is not None}
    merged: dict[str, Expectation] = {}
    for one in expected:
        whole = wholes.get(one.variable)
        if whole is None:
            merged[one.variable] = one
            continue
        entry = replace(one, variable=whole.value, text=whole.gradient, entry=one.variable.removeprefix(whole.value))
        if entry.first_wrong == one.text:
            entry = replace(entry, first_wrong=whole.gradient)
        before = merged.get(whole.value)
        merged[whole.value] = entry if before is None else before.beside(entry)
    return list(merged.values())


def forward_nodes(claims: Claims, point: Mapping[str, Any]) -> frozenset[int]:
    """Return the nodes that the output is computed by, without its inputs."""
    output = value_at(claims.reach(point).run.story.last, claims.of)
    return frozenset(node.index for node in ancestors(getattr(output, "node", None)) if node.op is not None)


def is_meant(
    one: Expectation,
    nodes: Mapping[str, frozenset[int]],
    trusted: Sequence[frozenset[int]],
    forward: frozenset[int],
) -> bool:
    """Return whether a gradient that is wrong, and was found by its name alone, is one of the output.

    A right one is not computed from it, and that of an object is computed from what the output is.
    """
    end = max(nodes[one.variable], default=-1)
    if any(end in used for used in trusted):
        return False
    return bool(nodes[one.variable] & forward) or not one.variable.endswith((".data", ".value"))


def inner_expectation(one: InnerGradient) -> Expectation:
    """Return what is said of the gradient by an inner value."""
    claim, truth = one.claim, one.truth
    count, worst, mistake = max(1, claim.size), None, ""
    wrong = 0 if one.right else count
    if not one.right and claim.shape == truth.shape:
        at = np.unravel_index(int(np.argmax(np.abs(claim - truth))), claim.shape)
        value, gradient = one.pair.value, one.pair.gradient
        column = f"{value}{list(map(int, at)) if claim.shape else ''}".replace(" ", "")
        values = float(claim[at]), float(truth[at]) + 0.0  # no -0
        bound = 10**-FEWEST * np.max(np.abs(truth))
        wrong = int(np.sum(~(np.abs(claim - truth) <= bound)))  # nan is wrong too
        worst = Entry(value, "", column, (gradient, REVERSE), values, one.digits, 0.0, {})
        mistake = find_mistake(claim, truth, Surroundings(np.zeros(())))
    misfit = "" if claim.shape == truth.shape else f"has shape {claim.shape} and truly {truth.shape}"
    return Expectation(
        one.pair.value, one.pair.gradient, one.digits, count, wrong, 0, worst, mistake,
        misfit=misfit, inner=True, points=int(not one.right),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class InnerGradient:
    """What a script says is the derivative by an inner value, beside the cotangent that comes nearest to it.

    ``nodes`` are those that it was.
    """

    pair: Pair
    claim: Array
    truth: Array
    digits: float
    nodes: frozenset[int]

    @property
    def right(self) -> bool:
        """Whether it is the derivative."""
        return self.digits >= FEWEST


def judge_inner(claims: Claims, point: Mapping[str, Any], seed: Array) -> list[InnerGradient]:
    """Return which inner gradients are the cotangents of reverse mode, in the order in which they were computed.

    A name may have several values, as in a loop: those count that it was given after the last value that it is by.
    """
    reached = claims.reach(point)
    story = reached.run.story
    output = value_at(story.last, claims.of)
    kept: dict[int, Any] = {}
    if not (isinstance(output, Tensor) and type(output.node) in NODES and output.active):
        return []
    kept |= cotangents(reached.graph, output.node, seed, kept)
    judged = (judge_pair(story, pair, kept) for pair in claims.inner)
    return sorted((one for one in judged if one is not None), key=lambda one: min(one.nodes, default=-1))


def judge_pair(story: Story, pair: Pair, cotangents: Mapping[int, Any]) -> InnerGradient | None:
    """Return whether the values of a name are cotangents of the value that it is by; None where there are none."""
    values = versions_of(story, pair.value)
    truths = [np.asarray(cotangents[k]) for version in values for k in nodes_of(version) if k in cotangents]
    forward = max((v.order for v in values if any(k in cotangents for k in nodes_of(v))), default=-1)
    versions = versions_of(story, pair.gradient)
    versions = [version for version in versions if version.order > forward] or versions[-1:]
    if not truths or not versions:
        return None
    nearest = [nearest_truth(version, truths) for version in versions]
    right = [version for version, one in zip(versions, nearest, strict=True) if one[0] >= FEWEST]
    used = {node.index for version in right for node in ancestors(getattr(version.value, "node", None))}
    wrong = [
        (one, version)
        for version, one in zip(versions, nearest, strict=True)
        if one[0] < FEWEST and not any(k in used for k in nodes_of(version))  # a part of a sum that is right
    ]
    if not wrong:
        count, claim, truth = min(nearest, key=lambda one: one[0] if one[0] >= FEWEST else ALL)
        return InnerGradient(pair, claim, truth, count, frozenset(k for v in versions for k in nodes_of(v)))
    (count, claim, truth), _ = wrong[0]
    return InnerGradient(pair, claim, truth, count, frozenset(k for _, version in wrong for k in nodes_of(version)))


def nearest_truth(version: Version, truths: Sequence[Array]) -> tuple[float, Array, Array]:
    """Return how many digits a gradient has right beside the cotangent that is nearest, and both."""
    numbers = [as_doubles(version.value)]
    if version.node is not None:
        numbers.append(np.asarray(value_of(version.node), dtype=np.float64))
    versus = [(right_digits_of(claim, truth), claim, truth) for claim in numbers for truth in truths]
    return max(versus, key=lambda one: (one[0], one[1].shape == one[2].shape))


def nodes_of(version: Version) -> list[int]:
    """Return the nodes of a value: as it was assigned, and as it was written to."""
    later = version.value.node if isinstance(version.value, Tensor) else None
    return [node.index for node in (version.node, later) if isinstance(node, Node)]


def versions_of(story: Story, name: str) -> list[Version]:
    """Return the values that a variable had, or what is at the end of a way."""
    if name in story.versions:
        return list(story.versions[name])
    with suppress(GradcliError):
        return [Version(0, value_at(story.last, name), None)]
    return []


def right_digits_of(claim: Array, truth: Array) -> float:
    """Return how many digits of a gradient are right, beside its largest entry."""
    if squeezed(claim.shape) == squeezed(truth.shape):
        claim = claim.reshape(truth.shape)
    if claim.shape != truth.shape or not np.all(np.isfinite(claim)):
        return 0.0
    size = float(np.max(np.abs(truth), initial=0.0))
    error = float(np.max(np.abs(claim - truth), initial=0.0))
    return ALL if not error else min(ALL, max(0.0, -float(np.log10(error / size)))) if size else 0.0


def ways_to(claims: Claims, point: Mapping[str, Any], variable: str) -> frozenset[int]:
    """Return the nodes that the gradient by an input is computed from, and its own."""
    return frozenset(node.index for node in ancestors(claims.tensor(point, variable).node))


def first_wrong(claims: Claims, wrong: Sequence[InnerGradient], before: frozenset[int], variable: str) -> str:
    """Return the first gradient that is wrong on the way to a wrong one by an input: an inner one, else itself.

    ``before`` are the nodes that it is computed from, none where it is a constant of the graph.
    """
    on_the_way = (one.pair.gradient for one in wrong if not before or not one.nodes or one.nodes & before)
    return next(on_the_way, claims.by_input[variable].gradient)
