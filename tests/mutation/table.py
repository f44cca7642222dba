"""Mutants of the table: forward, each vjp, the formula, the local reading and the conventions of each op."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcli.engine.graph import Node
from gradcli.ops.arithmetic import MUL
from gradcli.ops.declare import Pair, Parts, no_links
from gradcli.ops.links import At, Links
from gradcli.ops.vocabulary import elementwise_local
from mutation.spoiling import SLIGHTLY, Spoiled, added, counted, factored, ruled, spoiled
from op_cases import CASES
from records import FUNCTIONS, OPS, RECORDS


@dataclass(frozen=True)
class Mutant:
    """One rule made wrong: ``apply`` does it, in a process that ends with the mutant; ``rules`` is what it reads.

    ``about`` are words that tests of it are likely to have in their names.
    """

    name: str
    about: frozenset[str]
    rules: tuple[Any, ...]
    apply: Callable[[], None]


def setting(op, **fields):
    """Return what gives an op other fields, wherever it is held."""

    def apply():
        for name, value in fields.items():
            object.__setattr__(op, name, value)

    return apply


def is_elementwise(op):
    return op.formula is not None and op.local_jacobian.__qualname__.startswith(elementwise_local.__name__)


def arguments_of(op):
    """Return the arguments whose rules are told apart: two of those that may be any number."""
    return range(2) if callable(op.vjps) else [k for k, rule in enumerate(op.vjps) if rule is not None]


def with_rule(op, k, change):
    """Return the vjps of an op with one of them changed."""
    if callable(op.vjps):
        right = op.vjps
        return lambda j: change(right(j)) if j == k else right(j)
    return tuple(change(rule) if j == k else rule for j, rule in enumerate(op.vjps))


def swapped(op):
    """Return the vjps of an op of two arguments, each answering for the other."""
    i, j = arguments_of(op)
    right = op.vjps if callable(op.vjps) else op.vjps.__getitem__
    turned = {i: watched(right(j)), j: watched(right(i))}
    if callable(op.vjps):
        return lambda k: turned[k] if k in turned else right(k)
    return tuple(turned.get(k, rule) for k, rule in enumerate(op.vjps))


def watched(rule):
    """Return a rule that counts as changed wherever it is asked."""

    @functools.wraps(rule)
    def wrong(g, out, *values, **static):
        Spoiled.count += 1
        return rule(g, out, *values, **static)

    return wrong


def forward_mutants(op):
    about = frozenset([op.name])
    yield Mutant(f"{op.name}: forward", about, (op.forward,), setting(op, forward=ruled(op.forward)))


def vjp_mutants(op):
    about = frozenset([op.name])
    for k in arguments_of(op):
        rule, name = op.vjp(k), f"{op.name}: vjp of argument {k}"
        if op.step:
            yield Mutant(f"{name}, not 0", about, (rule,), setting(op, vjps=with_rule(op, k, added)))
            continue
        for how, by in (("", SLIGHTLY), (", sign", -1.0)):
            change = functools.partial(ruled, by=by)
            yield Mutant(name + how, about, (rule,), setting(op, vjps=with_rule(op, k, change)))
    if len(arguments_of(op)) == 2 and not op.step and op.vjp(arguments_of(op)[0]) is not op.vjp(arguments_of(op)[1]):
        rules = tuple(op.vjp(k) for k in arguments_of(op))
        yield Mutant(f"{op.name}: vjps swapped", about, rules, setting(op, vjps=swapped(op)))


def formula_mutants(op):
    """Change the formula as sympy differentiates it, and as answers show it."""
    about, wrong = frozenset([op.name, *RECORDS[op.name].called]), None if op.formula is None else ruled(op.formula)
    if is_elementwise(op):
        local = elementwise_local(wrong, op.zero_at)
        yield Mutant(f"{op.name}: formula, differentiated", about, (op.formula,), setting(op, local_jacobian=local))
    if op.formula is not None:
        yield Mutant(f"{op.name}: formula, shown", about, (op.formula,), setting(op, formula=wrong))


def has_factor(op):
    """Return whether a link of the op has a factor, in one of the cases of the generic tests."""
    for case in CASES:
        tried, values, static = case.values
        if tried is not op:
            continue
        values = [np.asarray(value) for value in values]
        for k in arguments_of(op):
            at = At(k, op.forward(*values, **static), tuple(values), static)
            if any(links.factor is not None for links in op.local_jacobian(at)):
                return True
    return False


def local_mutants(op):
    about, right = frozenset([op.name]), op.local_jacobian
    if right is None or is_elementwise(op):
        return
    if right is no_links:
        if op.step and not op.flat:
            yield Mutant(f"{op.name}: local, not 0", about, (right,), setting(op, local_jacobian=one_link))
        return
    yield Mutant(f"{op.name}: local, weights", about, (right,), setting(op, local_jacobian=ruled(right)))
    if has_factor(op):
        wrong = lambda at: counted_links(right(at))  # noqa: E731
        yield Mutant(f"{op.name}: local, factors", about, (right,), setting(op, local_jacobian=wrong))


def counted_links(found):
    Spoiled.count += any(links.factor is not None for links in found)
    return [factored(links) for links in found]


def one_link(at):
    """Return a link of each entry to itself, with a small weight, where there should be none."""
    Spoiled.count += 1
    where = np.arange(np.size(at.out), dtype=np.intp)
    return [Links(where, where, 1e-9)]


def convention_mutants(op):
    about = frozenset([op.name])
    if op.zero_at is not None:
        never = functools.wraps(op.zero_at)(lambda *given: counted(op.zero_at(*given), np.zeros_like(given[1], bool)))
        local = elementwise_local(op.formula, never)
        yield Mutant(f"{op.name}: zero_at, never", about, (op.zero_at,), setting(op, local_jacobian=local))
    for k, text in [(k, text) for k, text in enumerate(op.zero_text) if text]:
        texts = tuple(NEVER if j == k else other for j, other in enumerate(op.zero_text))
        yield Mutant(
            f"{op.name}: zero_text {k}, never",
            frozenset(["test_index_rules"]),
            (text,),
            setting(op, zero_text=Watched(texts)),
        )
    if op.kink is not None:
        at = op.kink.at
        for when, truth in (("never", False), ("always", True)):
            kink = replace(op.kink, at=constantly(at, truth))
            yield Mutant(f"{op.name}: kink, {when}", about, (at,), setting(op, kink=kink))
    if op.torch.differs is not None:
        never = constantly(op.torch.differs, False)
        yield Mutant(
            f"{op.name}: differs, never",
            about,
            (op.torch.differs,),
            setting(op, torch=replace(op.torch, differs=never)),
        )


def constantly(test, truth):
    """Return a test that gives one truth value for all entries."""

    @functools.wraps(test)
    def wrong(*given, **static):
        found = test(*given, **static)
        return counted(found, np.full_like(found, truth, dtype=bool)[()])

    return wrong


NEVER = "0 == 1"


class Watched(tuple):
    """Texts that say when they were read."""

    __slots__ = ()

    def __getitem__(self, k):
        found = super().__getitem__(k)
        Spoiled.count += found == NEVER
        return found


def built_wrong(build):
    """Return a builder whose result is scaled in every reading of the graph: only another definition sees that."""

    @functools.wraps(build)
    def wrong(f, *given, **named):
        return scaled(f, build(f, *given, **named))

    return wrong


def built_later(f, maker):
    """Return what builds one of several results, scaled, where it is asked for."""
    return lambda: scaled(f, maker())


def scaled(f, result):
    if isinstance(result, Pair):
        return Pair(scaled(f, result.values), result.indices)
    if isinstance(result, Parts):
        return Parts(result.names, tuple(built_later(f, maker) for maker in result.makers))
    if type(result) is int:
        return counted(result, result + 1)
    if isinstance(result, Node) and result.value.dtype.kind == "f":
        Spoiled.count += bool(np.any(result.value))
        return f(MUL, result, np.float64(SLIGHTLY))
    if isinstance(result, np.ndarray) and result.dtype.kind == "f" and not np.any(result):
        return counted(result, result + (SLIGHTLY - 1))
    return spoiled(result)


def is_built(function):
    """Return whether a builder runs: for a comparison by its name the operator does, which has mutants of its own."""
    op = function.op
    of_masks = op is not None and op.text.operator and op.formula is None and op.whole is None
    return function.build is not None and not of_masks


def function_mutants():
    for function in FUNCTIONS.values():
        if not is_built(function):
            continue
        build = built_wrong(function.build)
        about = frozenset([function.name])
        yield Mutant(f"{function.name}(): built", about, (function.build,), setting(function, build=build))


MAKERS = (forward_mutants, vjp_mutants, formula_mutants, local_mutants, convention_mutants)


def table_mutants():
    """Yield the mutants of every op and of every function."""
    for op in OPS.values():
        for maker in MAKERS:
            yield from maker(op)
    yield from function_mutants()
