"""``explain``: the three readings of one graph, joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.errors import Budget, GradcliError
from gradcli.evaluation import Evaluation, Function, gradients
from gradcli.graph import Node, reaches
from gradcli.inputs import Cotangent, read_v
from gradcli.language.program import compile_program
from gradcli.notes import Note, about_disagreement, about_graph, about_jacobian, about_v
from gradcli.ops.declare import Array, value_of
from gradcli.reverse import cotangents

ROUNDING = 64 * 2.0**-52
"""Times the terms that were added up: the difference between the routes that rounding alone may cause."""
VISIBLE = 1e-9
"""Relative difference of the routes, within what rounding explains, from which the answer says that digits are lost."""
SMALL_FACTOR = 36
"""Entries of one factor of the chain rule up to which it is worked out and shown."""
DENSE_ENTRIES = 10_000
"""Entries of a Jacobian up to which it is also held, and written to JSON, with all its zeros."""


@dataclass(frozen=True, slots=True)
class Jacobian:
    """∂y/∂x for one variable: entries that can be non-zero, in flat order of y (rows) and x (columns)."""

    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    rows: Array
    columns: Array
    values: Array
    sizes: Array
    formulas: list[str] | None
    structure: str
    rules: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """``y.shape + x.shape``."""
        return self.output_shape + self.input_shape

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Entries of y by entries of x."""
        return int(np.prod(self.output_shape)), int(np.prod(self.input_shape))

    @property
    def numeric(self) -> Array | None:
        """All entries as an array of ``shape``; None for a Jacobian with more than 10,000 of them."""
        if self.matrix_shape[0] * self.matrix_shape[1] > DENSE_ENTRIES:
            return None
        full = np.zeros(self.matrix_shape)
        full[self.rows, self.columns] = self.values
        return full.reshape(self.shape)

    def vjp(self, seed: Array) -> tuple[Array, Array]:
        """Return vᵀ·J in the shape of x, and the sizes of the terms that it adds up."""
        v = np.ravel(seed)[self.rows]
        count = self.matrix_shape[1]
        with np.errstate(all="ignore"):
            terms = np.where((v == 0) | (self.values == 0), 0.0, v * self.values)
            total = np.bincount(self.columns, weights=terms, minlength=count)
            scale = np.bincount(self.columns, weights=np.abs(v) * self.sizes, minlength=count)
        return total.reshape(self.input_shape), scale.reshape(self.input_shape)


@dataclass(frozen=True, slots=True)
class Backward:
    """One call of ``y.backward(v)``: vᵀ·J, the reverse-mode gradient, and ``x.grad`` after it."""

    v: Cotangent
    vjp: dict[str, Array]
    grad: dict[str, Array]
    accumulated: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether vᵀ·J and reverse mode give the same numbers, up to rounding; ``finite`` whether all are finite."""

    agree: bool
    max_abs_error: float
    finite: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """One link of the chain rule: a variable of the program that every path to y runs through.

    ``cotangent`` is vᵀ·∂y/∂name, what reverse mode has when it reaches the variable. ``factor`` is the Jacobian of
    the stage before it by this variable, flattened to a matrix, None where it is large; it may be an input's.
    """

    name: str
    node: Node
    cotangent: Array
    factor: Array | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that an answer shows; ``to_dict`` is the JSON document."""

    program: str
    name: str
    inputs: dict[str, Array]
    differentiated: tuple[str, ...]
    output: Array
    output_formulas: list[str] | None
    definitions: dict[str, str]
    jacobian: dict[str, Jacobian]
    backward: list[Backward]
    agreement: Agreement
    notes: list[Note]
    definition_values: dict[str, Array]
    stages: list[Stage] = field(default_factory=list)

    @property
    def vjp(self) -> dict[str, Array]:
        """vᵀ·J, added up over all calls."""
        return {name: sum_of([call.vjp[name] for call in self.backward]) for name in self.differentiated}

    @property
    def grad(self) -> dict[str, Array]:
        """``x.grad`` after the last call."""
        return self.backward[-1].accumulated

    @property
    def v(self) -> Array:
        """v as it is shown, added up over all calls where there are several."""
        if len(self.backward) == 1:
            return self.backward[0].v.shown
        return sum_of([call.v.seed for call in self.backward])

    @property
    def v_source(self) -> str:
        """Where v comes from: ``given``, ``default``, ``reshaped``, ``broadcast`` or ``accumulated``."""
        return self.backward[0].v.source if len(self.backward) == 1 else "accumulated"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, schema 1."""
        from gradcli.render.document import document  # noqa: PLC0415

        return document(self)

    def __rich__(self) -> Any:
        from gradcli.render.tables import Layout, tables  # noqa: PLC0415

        return tables(self, Layout())

    def _repr_html_(self) -> str:
        from gradcli.render.console import html  # noqa: PLC0415

        return html(self)

    def __str__(self) -> str:
        from gradcli.render.plain import plain  # noqa: PLC0415

        return plain(self)


def sum_of(arrays: Sequence[Array]) -> Array:
    """Return the sum, left to right as repeated calls add it up."""
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


def explain(
    program: str,
    /,
    *,
    v: Any = None,
    calls: Sequence[Any] | None = None,
    wrt: Sequence[str] | None = None,
    strict: bool = False,
    budget: Budget | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Explanation:
    """Explain ``y.backward(v)`` for the function that ``program`` describes.

    ``variables`` (or ``inputs``, for names that clash with a parameter) give every variable; ``wrt`` names those to
    differentiate, all by default. ``calls`` gives several v in turn, whose gradients accumulate.
    Raises ``GradcliError`` for anything that its caller can mend.
    """
    values = {**(inputs or {}), **variables}
    function = Function(program, wrt, budget, values)
    try:
        run = function.evaluate(values)
        names = function.differentiated(run)
        given = [v] if calls is None else list(calls)
        seeds = [read_v(item, run.value.shape, strict) for item in given]
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    return explained(function, run, names, seeds, [np.shape(item) for item in given])


def explained(
    function: Function, run: Evaluation, names: tuple[str, ...], seeds: list[Cotangent], given: list[tuple[int, ...]]
) -> Explanation:
    """Join the readings of one run."""
    from gradcli.symbolic.formulas import derive  # noqa: PLC0415
    from gradcli.symbolic.jacobian import compose  # noqa: PLC0415

    leaves = {name: run.leaves[name] for name in names}
    composition = compose(run.output, list(leaves.values()), function.program.budget.jacobian)
    formulas = derive(run.graph, run.output, leaves, composition)
    jacobians = {
        name: joined_jacobian(run.value.shape, leaf, composition.of[leaf.index], formulas, name)
        for name, leaf in leaves.items()
    }
    backward = backward_calls(run, jacobians, seeds)
    agreement = compare(jacobians, backward, run.value)
    notes = [
        note for seed, shape in zip(seeds, given, strict=True) for note in about_v(seed.source, shape, run.value.shape)
    ]
    notes += about_graph(run.output, run.leaves, names)
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formula of J is too long to be read: J is given by its numbers alone."))
    for name, jacobian in jacobians.items():
        used = np.zeros(jacobian.matrix_shape[1], dtype=bool)
        used[jacobian.columns] = True
        notes += about_jacobian(name, used, jacobian.input_shape)
    if agreement.agree and digits_lost(backward):
        notes.append(
            Note(
                "digits-lost",
                "Cancellation or saturation has cost digits: J and reverse mode differ visibly, though by no more than "
                "rounding explains. Neither is exact here.",
            )
        )
    if not agreement.agree:
        finite_j, finite_grad = (
            all(np.all(np.isfinite(getattr(call, which)[name])) for call in backward for name in names)
            for which in ("vjp", "grad")
        )
        notes.append(about_disagreement(finite_j, finite_grad))
    return Explanation(
        program=function.place.text,
        name=output_name(run),
        inputs={name: np.asarray(node.value) for name, node in run.leaves.items()},
        differentiated=names,
        output=run.value,
        output_formulas=formulas.output,
        definitions=formulas.definitions,
        jacobian=jacobians,
        backward=backward,
        agreement=agreement,
        notes=list(dict.fromkeys(notes)),
        definition_values=values_of(formulas.definitions, run),
        stages=stages(run, leaves, seeds[0].seed),
    )


def output_name(run: Evaluation) -> str:
    """Return what to call the output: the program's own last name for it, else ``y``, else ``f`` where y is taken."""
    own = [name for name, node in run.graph.bindings if node is run.output]
    taken = {*run.leaves, *(name for name, _ in run.graph.bindings)}
    return own[-1] if own else next(name for name in ("y", "f", "out", "y_") if name not in taken or name == "y_")


def values_of(definitions: dict[str, str], run: Evaluation) -> dict[str, Array]:
    """Return the numbers of the named intermediates, by running their definitions as a program of their own."""
    found: dict[str, Array] = {name: leaf.value for name, leaf in run.leaves.items()}
    for name, text in definitions.items():
        program = compile_program(text, run.graph.budget, frozenset(found))
        found[name] = np.asarray(value_of(program.evaluate(found, frozenset())[1]))
    return {name: found[name] for name in definitions}


def joined_jacobian(output_shape: tuple[int, ...], leaf: Node, numeric: Any, formulas: Any, name: str) -> Jacobian:
    """Return the Jacobian by one variable with its numbers and formulas."""
    from gradcli.symbolic.structure import structure  # noqa: PLC0415

    return Jacobian(
        output_shape,
        leaf.shape,
        numeric.rows,
        numeric.columns,
        numeric.values,
        numeric.sizes,
        formulas.jacobians.get(name),
        structure(numeric),
        formulas.rules.get(name, []),
    )


def backward_calls(run: Evaluation, jacobians: dict[str, Jacobian], seeds: list[Cotangent]) -> list[Backward]:
    """Return every call of backward with what it leaves in ``.grad``."""
    found: list[Backward] = []
    for seed in seeds:
        grad = gradients(run, seed.seed, jacobians)
        vjp = {name: jacobian.vjp(seed.seed)[0] for name, jacobian in jacobians.items()}
        before = found[-1].accumulated if found else {name: np.zeros_like(g) for name, g in grad.items()}
        total = {name: (before[name] + g if found else g) for name, g in grad.items()}
        found.append(Backward(seed, vjp, grad, total))
    return found


def compare(jacobians: dict[str, Jacobian], backward: list[Backward], output: Array) -> Agreement:
    """Hold vᵀ·J against the reverse-mode gradient, entry by entry.

    The routes agree where they differ by at most 64·2⁻⁵² times |v|ᵀ·P, P the sum over all paths of the products of
    the absolute local derivatives, each taken as the sum of the absolute terms that it is a difference of. So κ of
    the contract is P/|J| ≥ 1: it grows with cancellation between paths and inside a derivative, such as 1 - y² of a
    saturated tanh. Entries that are finite on neither route agree.
    """
    agree, finite, worst = True, bool(np.all(np.isfinite(output))), 0.0
    for call in backward:
        for name, jacobian in jacobians.items():
            scale = jacobian.vjp(call.v.seed)[1]
            left, right = call.vjp[name], call.grad[name]
            both = np.isfinite(left) & np.isfinite(right)
            finite = finite and bool(np.all(both))
            with np.errstate(all="ignore"):
                error = np.where(both, np.abs(left - right), 0.0)
                bound = np.where(np.isfinite(scale), ROUNDING * scale, np.inf) + np.finfo(np.float64).tiny
            worst = max(worst, float(np.max(error, initial=0.0)))
            agree = agree and bool(np.all(error <= bound)) and bool(np.all(np.isfinite(left) == np.isfinite(right)))
    return Agreement(agree, worst, finite)


def digits_lost(backward: list[Backward]) -> bool:
    """Return whether an entry differs visibly between the routes, relative to the largest of its variable."""
    for call in backward:
        for name, left in call.vjp.items():
            right = call.grad[name]
            finite = np.isfinite(left) & np.isfinite(right)
            scale = np.max(np.abs(np.where(finite, left, 0.0)), initial=0.0)
            with np.errstate(all="ignore"):
                difference = np.where(finite, np.abs(left - right), 0.0)
            if np.any(difference > VISIBLE * scale):
                return True
    return False


def stages(run: Evaluation, leaves: Mapping[str, Node], seed: Array) -> list[Stage]:
    """Return the program's own variables that every path from the inputs to y runs through, and then the inputs.

    Nothing where there is no such variable: the chain rule has one stage then, and the table shows it.
    """
    output = run.output
    if not isinstance(output, Node) or not output.active or len(run.graph.bindings) > 50:
        return []
    nodes = [node for node in reaches(output) if node.active]
    found = cotangents(run.graph, output, seed)
    shown: list[Stage] = []
    for name, node in reversed(run.graph.bindings):
        if node is output or not node.active or node.op is None or node.index not in found:
            continue
        if any(stage.node is node for stage in shown) or not separates(node, output, nodes, leaves):
            continue
        outer = shown[-1].node if shown else output
        shown.append(Stage(name, node, np.asarray(found[node.index]), factor(outer, node)))
    if shown:
        inner = shown[-1].node
        shown += [
            Stage(name, leaf, np.asarray(found[leaf.index]), factor(inner, leaf))
            for name, leaf in leaves.items()
            if leaf.index in found
        ]
    return shown


def factor(outer: Node, inner: Node) -> Array | None:
    """Return ∂outer/∂inner as a matrix of numbers, None where it has more than 36 entries."""
    from gradcli.symbolic.jacobian import compose  # noqa: PLC0415

    size = int(np.size(outer.value)) * int(np.size(inner.value))
    if size > SMALL_FACTOR:
        return None
    return compose(outer, [inner], SMALL_FACTOR * 1000).of[inner.index].dense()


def separates(node: Node, output: Node, nodes: list[Node], leaves: Mapping[str, Node]) -> bool:
    """Return whether every path from the leaves to the output runs through ``node``."""
    reached = {leaf.index for leaf in leaves.values()}
    for other in nodes:
        if other is node or other.op is None:
            continue
        if any(isinstance(a, Node) and a.index in reached for a in other.arguments):
            reached.add(other.index)
    return output.index not in reached


__all__ = ["Agreement", "Backward", "Explanation", "Jacobian", "Stage", "explain"]
