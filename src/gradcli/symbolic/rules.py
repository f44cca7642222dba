"""Index rules for large Jacobians: one formula for all entries of a kind, in place of each entry's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sympy import Expr

from gradcli.graph import Graph, Node
from gradcli.ops.declare import value_of
from gradcli.ops.linear_algebra import product_spec
from gradcli.symbolic import functions as s
from gradcli.symbolic.jacobian import Composition
from gradcli.symbolic.kinds import constant_of
from gradcli.symbolic.local import Part
from gradcli.symbolic.printing import Unprintable, formula_text, size_of
from gradcli.symbolic.texts import Texts

MOST_NODES = 40
"""Operations between the inputs and the output up to which every one gets its rule."""
MOST_STEPS = 400
"""Operations up to which the one formula of an elementwise program is tried: each takes sympy a millisecond."""
LONGEST = 80
"""Parts of a formula for a whole diagonal."""
LETTERS = "ijklmnpqrstu"
LONG_CONSTANT = 40
"""Characters beyond which a constant array gets a name in a rule."""

REDUCTION_RULES = {"sum": "1", "mean": "1/{n}", "logsumexp": "exp({x} - {y})", "norm": "{x}/{y}"}
"""What links an output y to one of the n entries x that it is reduced from."""
PAIR_RULES = {
    "softmax": "{y}[i]*((i == j) - {y}[j])",
    "log_softmax": "(i == j) - exp({y}[j])",
    "cumsum": "1 where j <= i, else 0",
}
"""What links output i of a vector op to entry j."""
ZERO_WITH_OUTPUT = {"norm", "sqrt0"}
"""Ops whose derivative is 0 by convention where the output is 0, with no condition of their own in the table."""


def index_rules(
    graph: Graph, output: Node, leaves: Mapping[str, Node], composition: Composition
) -> tuple[dict[str, list[str]], Texts | None]:
    """Return the rules of each Jacobian, and the texts that define the names they use.

    An elementwise program has one rule, such as ``J[i, i] = 2*x[i]``. Any other has a rule for each op on the way,
    ``dh1[i]/dh0[j] = …``; the Jacobian is their product. There are none where they would be too many.
    """
    nodes = [node for node in composition.nodes if node.active or node.op is None]
    rules: dict[str, list[str]] = {}
    for name, leaf in leaves.items():
        formula = _diagonal(output, leaf, composition)
        if formula is not None:
            where = ", ".join(LETTERS[: len(leaf.shape)])
            rules[name] = [f"J[{where}, {where}] = {formula}"]
    if len(rules) == len(leaves):
        return rules, None
    if len(nodes) > MOST_NODES:
        return rules, None
    texts = Texts(graph, composition.nodes)
    for node in composition.nodes:
        texts.describe(node)
        if node.active and node.op is not None and not node.op.moves:
            texts.name(node, wanted="y" if node is output else None)
    for name, leaf in leaves.items():
        if name not in rules:
            rules[name] = _along(leaf, nodes, composition, texts)
    return rules, texts


def generic(name: str, shape: tuple[int, ...], out_shape: tuple[int, ...]) -> str:
    """Return the entry of an array that broadcasts to entry ``[i, j, …]`` of the output: ``b[j]``, ``c[i, 0]``."""
    if not shape:
        return name
    letters = LETTERS[len(out_shape) - len(shape) : len(out_shape)]
    lengths = zip(letters, shape, out_shape[-len(shape) :], strict=True)
    return f"{name}[{', '.join('0' if n == 1 != m else letter for letter, n, m in lengths)}]"


def _diagonal(output: Node, leaf: Node, composition: Composition) -> str | None:
    """Return the formula of entry ``[i, i]`` of an elementwise program, None for any other."""
    shape = output.shape
    nodes = composition.nodes
    if leaf.shape != shape or not shape or len(nodes) > MOST_STEPS:
        return None
    entries = _generic_entries(nodes, shape)
    if entries is None:
        return None
    try:
        return _swept(output, leaf, nodes, entries, composition)
    except Unprintable:
        return None


def _swept(
    output: Node, leaf: Node, nodes: Sequence[Node], entries: Mapping[int, Expr], composition: Composition
) -> str | None:
    derivative: dict[int, Expr] = {output.index: s.number(1)}
    for node in reversed(nodes):
        outer = derivative.get(node.index)
        if outer is None or node.op is None:
            continue
        for k, argument in enumerate(node.arguments):
            parts = composition.parts(node, k)
            if not parts or not isinstance(argument, Node):
                continue
            inner = outer * _local_formula(parts, node, k, entries)
            derivative[argument.index] = derivative.get(argument.index, s.number(0)) + inner
    found = derivative.get(leaf.index)
    if found is None or size_of(found, LONGEST) >= LONGEST:
        return None
    return formula_text(found)


def _generic_entries(nodes: Sequence[Node], shape: tuple[int, ...]) -> dict[int, Expr] | None:
    entries: dict[int, Expr] = {}
    for node in nodes:
        entry = _generic_entry(node, shape, entries)
        if entry is None:
            return None
        entries[node.index] = entry
    return entries


def _generic_entry(node: Node, shape: tuple[int, ...], entries: Mapping[int, Expr]) -> Expr | None:
    if node.op is None:
        if len(node.shape) > len(shape):
            return None
        return s.symbol(generic(str(node.name), node.shape, shape))
    if node.op.formula is None or (node.active and node.shape != shape):
        return None
    arguments = []
    for argument in node.arguments:
        if isinstance(argument, Node):
            arguments.append(entries[argument.index])
        elif np.size(argument) == 1:
            arguments.append(as_number(argument))
        else:
            return None
    found = s.as_expression(node.op.formula(s, *arguments, **node.static))
    return found if size_of(found, LONGEST) < LONGEST else None


def _local_formula(parts: list[Part], node: Node, k: int, entries: Mapping[int, Expr]) -> Expr:
    """Return a local derivative in generic entries, 0 where a convention says so."""
    part, template = parts[0], whole_template(parts, node, k)
    arguments = [entries[a.index] if isinstance(a, Node) else as_number(a) for a in node.arguments]
    chosen = {
        symbol: entries[node.index] if slot == -1 else arguments[slot]
        for symbol, (slot, _) in zip(part.template.symbols, part.bound, strict=True)
        if symbol in template.free_symbols
    }
    found = template.xreplace(chosen)
    if not part.has_zeros:
        return found
    condition = zero_condition(node, k, [formula_text(entry) for entry in arguments], formula_text(entries[node.index]))
    return s.symbol(f"where({condition}, 0, {formula_text(found)})")


def whole_template(parts: list[Part], node: Node, k: int) -> Expr:
    """Return the derivative that holds for all entries; that of an op in pieces, such as huber, is its formula's."""
    [part, *others] = parts
    if not others:
        return s.number(np.max(part.weights, initial=0.0) or 1.0) * part.template.expression
    assert node.op is not None  # noqa: S101
    assert node.op.formula is not None  # noqa: S101
    given = [
        symbol if (constant := constant_of(a)) is None else s.number(constant)
        for symbol, a in zip(part.template.symbols, node.arguments, strict=True)
    ]
    return s.as_expression(node.op.formula(s, *given, **node.static)).diff(part.template.symbols[k])


def zero_condition(node: Node, k: int, arguments: list[str], out: str) -> str:
    """Return where the derivative is 0 by convention, in the language."""
    assert node.op is not None  # noqa: S101
    return f"{out} == 0" if node.op.name in ZERO_WITH_OUTPUT else node.op.zero_text[k].format(*arguments)


def as_number(value: Any) -> Expr:
    """Return a constant of one entry as a number."""
    return s.number(float(np.reshape(value, ())))


def _along(leaf: Node, nodes: Sequence[Node], composition: Composition, texts: Texts) -> list[str]:
    """Return a rule for each op between a leaf and the output, the output's first."""
    reached = {leaf.index}
    steps: list[tuple[Node, int, list[Part]]] = []
    for node in nodes:
        for k, argument in enumerate(node.arguments):
            parts = composition.parts(node, k) if isinstance(argument, Node) and argument.index in reached else None
            if parts is not None:
                reached.add(node.index)
                steps.append((node, k, parts))
    lines = [_rule(node, k, parts, texts) for node, k, parts in reversed(steps)]
    chain = [texts.of(node) for node, _, _ in reversed(steps) if node.op is not None and not node.op.moves]
    single = len({node.index for node, _, _ in steps}) == len(steps) and len(chain) > 1
    head = (
        [f"J = {' @ '.join(f'd{a}/d{b}' for a, b in zip(chain, [*chain[1:], texts.of(leaf)], strict=True))}"]
        if single
        else []
    )
    return [*head, *(line for line in lines if line)]


def _rule(node: Node, k: int, parts: list[Part], texts: Texts) -> str:
    """Return the rule of one op by one argument, in index letters."""
    op, argument = node.op, node.arguments[k]
    assert op is not None  # noqa: S101
    out, name = texts.of(node), texts.of(argument)
    if op.moves:
        return ""
    if op.name in ("matmul", "einsum"):
        return _product_rule(node, k, texts)
    letters = LETTERS[: len(argument.shape)]
    other = f"{name}[{', '.join(letters)}]" if letters else name
    if op.formula is not None and parts:
        return _elementwise_rule(node, k, parts, texts)
    along = node.static.get("dim")
    axes = along if isinstance(along, tuple) else tuple(range(len(argument.shape)))
    whole_axes = enumerate(letters)
    if node.static.get("keepdim"):
        kept = ["0" if axis in axes else letter for axis, letter in whole_axes]
    else:
        kept = [letter for axis, letter in whole_axes if axis not in axes]
    whole = f"{out}[{', '.join(kept)}]" if kept else out
    count = np.size(argument.value) // max(np.size(node.value), 1)
    formula = REDUCTION_RULES.get(op.name)
    if formula is not None and node.static.get("p", 2) == 2:
        text = formula.format(x=other, y=whole, n=count)
        if any(part.has_zeros for part in parts):
            text = f"where({zero_condition(node, k, [other], whole)}, 0, {text})"
        return f"d{whole}/d{other} = {text}"
    pair = PAIR_RULES.get(op.name) if len(letters) == 1 else None
    if pair is not None:
        return f"d{out}[i]/d{name}[j] = {pair.format(y=out)}"
    return f"d{out}/d{name}: the derivative of {op.name}"


def _product_rule(node: Node, k: int, texts: Texts) -> str:
    values = tuple(value_of(a) for a in node.arguments)
    assert node.op is not None  # noqa: S101
    spec = node.static["spec"] if node.op.name == "einsum" else product_spec(*values)
    inputs, out = spec.split("->")
    letters = {letter: LETTERS[i] for i, letter in enumerate(dict.fromkeys(out + inputs.replace(",", "")))}

    subs = inputs.split(",")
    lengths: dict[str, int] = {}
    for sub, value in zip(subs, values, strict=True):
        lengths.update({c: max(n, lengths.get(c, n)) for c, n in zip(sub, np.shape(value), strict=True)})

    def entry(text: str, sub: str, shape: tuple[int, ...]) -> str:
        # An axis of length 1 that broadcasts has one index alone.
        places = ["0" if n == 1 != lengths[c] else letters[c] for c, n in zip(sub, shape, strict=True)]
        return f"{text}[{', '.join(places)}]" if sub else text

    entries = [
        entry(_text(a, texts), sub, np.shape(value)) for a, sub, value in zip(node.arguments, subs, values, strict=True)
    ]
    factors = [text for j, text in enumerate(entries) if j != k]
    return f"d{entry(texts.of(node), out, node.shape)}/d{entries[k]} = {'*'.join(factors) or '1'}"


def _text(argument: Any, texts: Texts) -> str:
    """Return the text of an argument as it stands in a rule; a long constant goes by a name."""
    text = texts.tight(argument)
    return text if isinstance(argument, Node) or len(text) <= LONG_CONSTANT else texts.constant(argument)


def _elementwise_rule(node: Node, k: int, parts: list[Part], texts: Texts) -> str:
    part, template = parts[0], whole_template(parts, node, k)

    def entry(argument: Any) -> str:
        return generic(_text(argument, texts), np.shape(value_of(argument)), node.shape)

    chosen = {
        symbol: s.symbol(entry(node if slot == -1 else node.arguments[slot]))
        for symbol, (slot, _) in zip(part.template.symbols, part.bound, strict=True)
        if symbol in template.free_symbols
    }
    try:
        formula = formula_text(template.xreplace(chosen))
    except Unprintable:
        return ""
    if part.has_zeros:
        condition = zero_condition(node, k, [entry(argument) for argument in node.arguments], entry(node))
        formula = f"where({condition}, 0, {formula})"
    return f"d{entry(node)}/d{entry(node.arguments[k])} = {formula}"
