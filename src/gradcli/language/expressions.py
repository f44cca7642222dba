"""Expressions of a formula: from syntax to closures that evaluate them over a frame; attributes such as ``x.T``."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.errors import GradcliError, Place, Span, over_budget
from gradcli.errors.hints import instead_of
from gradcli.language import arithmetic, picking
from gradcli.language.arithmetic import (
    FLOAT,
    INTEGER,
    MASK,
    Side,
    binary_operator,
    constant_value,
    inverted,
    negative,
    number_kind,
    positive,
)
from gradcli.language.calling import caller
from gradcli.language.calls import (
    BINARY,
    COMPARE,
    MASKS,
    MODULES,
    NEW_AXIS,
    bind_call,
    constant_name,
    dotted,
    find_constant,
    library_of,
    number_note,
    refuse_ambiguous,
    refuse_stars,
    resolve_call,
    written_name,
)
from gradcli.language.compiling import UNBOUND, Branch, Chosen, Compiler, Evaluate, Frame, Writer
from gradcli.ops import OPERATORS, Pair, Parts, methods
from gradcli.ops.declare import value_of
from gradcli.ops.making import CONSTANTS, DATA
from gradcli.ops.shaping import TRANSPOSE
from gradcli.ops.values import Value


def reversed_axes(f: Graph, value: object) -> Any:
    """Return ``x.T``."""
    x = arithmetic.array_of(value)
    return f(TRANSPOSE, x, dims=tuple(reversed(range(x.ndim))))


def matrix_transposed(f: Graph, value: object) -> Any:
    """Return ``x.mT``: the last two axes swapped."""
    x = arithmetic.array_of(value)
    if x.ndim < 2:
        raise GradcliError("shape", f".mT takes a matrix or a batch of them, not shape {x.shape}")
    return Value(f, x).mT.node


def hermitian(f: Graph, value: object) -> Any:
    """Return ``x.H``: the transpose of a matrix of real numbers."""
    x = arithmetic.array_of(value)
    if x.ndim not in (0, 2):
        raise GradcliError("shape", f".H takes a matrix, not shape {x.shape}", hint="x.mH takes a batch of them")
    return reversed_axes(f, x)


def refuse_imaginary(f: Graph, value: object) -> Any:
    """Refuse ``x.imag``: PyTorch has it for complex numbers alone."""
    del f, value
    raise GradcliError("type", ".imag is of complex numbers, and these are real")


TYPE_OF = {FLOAT: "float64", INTEGER: "int64", MASK: "bool"}


def part(name: str) -> Callable[[Graph, object], Any]:
    """Return what reads one array of a pair, or of a decomposition, by its name."""
    of_pair = name in ("values", "indices")
    what = "a pair, such as max(x, dim=0) gives" if of_pair else "a decomposition such as linalg.svd(A)"

    def read(f: Graph, value: object) -> Any:
        del f
        if type(value) is Pair and of_pair:
            return getattr(value, name)
        if isinstance(value, Parts) and not of_pair:
            return value.part(name)
        hint = f"call it: .{name}()" if name in methods() and not of_pair else None
        raise GradcliError("not-allowed", f".{name} is of {what}, and of no array", hint=hint)

    return read


PART_NAMES = (
    *("U", "S", "V", "Vh", "Q", "R", "P", "L", "LU", "pivots", "eigenvalues", "eigenvectors", "sign", "logabsdet"),
    *("solution", "cloned_coefficient", "residuals", "rank", "singular_values", "min", "max", "values", "indices"),
)
ATTRIBUTES: dict[str, Callable[[Graph, object], Any]] = {
    "T": reversed_axes,
    "mT": matrix_transposed,
    "shape": lambda f, value: arithmetic.as_tensor(value).shape,
    "ndim": lambda f, value: arithmetic.as_tensor(value).ndim,
    "size": lambda f, value: int(value_of(arithmetic.as_tensor(value)).size),
    "H": hermitian,
    "mH": matrix_transposed,
    "data": lambda f, value: f(DATA, arithmetic.array_of(value)),
    "real": lambda f, value: arithmetic.array_of(value),
    "imag": refuse_imaginary,
    "dtype": lambda f, value: TYPE_OF[number_kind(value)],
    "device": lambda f, value: "cpu",
    **{name: part(name) for name in PART_NAMES},
}


def size_of(value: object, dim: object = None) -> Any:
    """Return PyTorch's ``x.size()`` or ``x.size(dim)``."""
    shape = arithmetic.as_tensor(value).shape
    return shape if dim is None else picking.read_subscript(None, shape, [dim], single=True)  # type: ignore[arg-type]


def length_of(value: object) -> int:
    """Return ``len(x)``."""
    if type(value) is tuple:
        return len(value)
    shape = arithmetic.as_tensor(value).shape
    if not shape:
        raise GradcliError("type", "len of a scalar")
    return int(shape[0])


def entry_count(value: object, axis: object = None) -> Any:
    """Return ``x.numel()``, or ``np.size(x, axis)``; of a shape, the product of its lengths."""
    if axis is not None:
        return size_of(value, axis)
    return math.prod(value) if type(value) is tuple else int(value_of(arithmetic.as_tensor(value)).size)


def axis_count(value: object) -> int:
    """Return the number of axes."""
    return arithmetic.as_tensor(value).ndim


SPECIAL_METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "size": (size_of, 1),
    "dim": (axis_count, 0),
    "ndimension": (axis_count, 0),
    "numel": (entry_count, 0),
    "nelement": (entry_count, 0),
}
SPECIAL_FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "len": (length_of, 1),
    "torch.numel": (entry_count, 1),
    **{f"{prefix}.{name}": rule for prefix in ("np", "numpy", "jnp")
       for name, rule in (("size", (entry_count, 2)), ("ndim", (axis_count, 1)), ("shape", (size_of, 1)))},
}  # fmt: skip
"""By name, with the most arguments that each takes."""


def special_call(node: ast.Call, variables: Container[str]) -> tuple[Callable[..., Any], ast.expr | None] | None:
    """Return the reader and receiver of a call that gives a length and not an array."""
    if node.keywords:
        return None
    func = node.func
    name = dotted(func)
    if name in SPECIAL_FUNCTIONS and name.partition(".")[0] not in variables:
        read, most = SPECIAL_FUNCTIONS[name]
        if 1 <= len(node.args) <= most:
            return read, None
    if isinstance(func, ast.Attribute) and func.attr in SPECIAL_METHODS:
        if isinstance(func.value, ast.Name) and func.value.id in MODULES and func.value.id not in variables:
            return None
        read, most = SPECIAL_METHODS[func.attr]
        if len(node.args) <= most:
            return read, func.value
    return None


SHIFTS = (ast.LShift, ast.RShift)


class Expressions(Compiler):
    """Compiles expressions of a formula; the first register of its frame holds the graph when it runs.

    ``template`` is the frame when a run begins. ``waiting`` are registers of values that are still to be read when a
    write in the middle of an expression runs, which changes what they show, and ``loop_arrays`` those of arrays that
    loops run over; ``sides_of`` has those for the sides of the conditions of loops. ``compound`` is the statement that
    is compiled. ``writes`` says that there is a statement which writes to a value in place, if that is a tensor.
    """

    def __init__(self, tree: ast.Module, place: Place, max_depth: int, outside: frozenset[str] = frozenset()) -> None:
        self.place = place
        self.writer = Writer(place.text)
        self.spans = self.writer.spans
        self.template: Frame = [None]
        self.waiting: tuple[int, ...] = ()
        self.variables: dict[str, int] = {}
        self.definite: set[str] = set()
        self.assigned: set[str] = set()
        self.free: dict[str, Span] = {}
        self.outside = outside
        self.loop_arrays: list[int] = []
        self.truths: set[ast.BoolOp] = set()
        self.sides_of: dict[ast.AST, int] = {}
        self.compound: ast.AST = tree
        self.has_methods = any(map(is_write, ast.walk(tree)))
        self.writes = False
        self.level = 0
        self.max_depth = max_depth

    # ---- registers
    def register(self, value: object = UNBOUND) -> int:
        """Return a new register, which holds ``value`` from the start."""
        self.template.append(value)
        return len(self.template) - 1

    def variable(self, name: str, definite: bool) -> int:
        """Return the register of a variable; ``definite`` says that it has a value from here on."""
        if name not in self.variables:
            self.variables[name] = self.register()
        (self.definite if definite else self.assigned).add(name)
        return self.variables[name]

    def others(self, name: str) -> Callable[[], Iterator[tuple[str, int]]]:
        """Return what yields the registers that may share memory with a variable, with their variables' names.

        A loop over an array keeps it in a register without a name, and so does an expression with a write in it.
        """
        self.writes = True
        variables, nameless = self.variables, (*self.loop_arrays, *self.waiting)
        return lambda: chain(
            (item for item in variables.items() if item[0] != name), (("", register) for register in nameless)
        )

    # ---- operands
    def expression(self, node: ast.expr) -> Evaluate:
        """Return what evaluates an expression; an error has the place of the innermost one that it arises in."""
        try:
            return super().expression(node)
        except GradcliError as error:
            raise error.at(self.spans.of(node.func if isinstance(node, ast.Call) else node)) from None

    def refused(self, node: ast.AST) -> GradcliError:
        """Return the error for syntax that the language leaves out."""
        what = instead_of("left out", type(node).__name__) or "this"
        return GradcliError("not-allowed", f"{what} is not part of the language", hint=instead_of("syntax", what))

    def side(self, node: ast.expr) -> Side:
        """Return an operand: nothing and its register for a number or a variable, else an expression."""
        if isinstance(node, ast.Constant):
            return None, self.register(self.constant(node))
        if isinstance(node, ast.Name) and node.id in self.definite:
            return None, self.variables[node.id]
        return self.expression(node), 0

    def operands(self, nodes: list[ast.expr]) -> list[Evaluate]:
        """Return what evaluates several operands, in their order.

        Those before a write in the middle of the expression wait for it in registers, where it changes what they show.
        """
        last = max((k for k, node in enumerate(nodes) if self.writes_within(node)), default=0)
        if not last:
            return [self.expression(node) for node in nodes]
        outer = self.waiting
        fills: list[tuple[int, Evaluate]] = []
        reads: list[Evaluate] = []
        for k, node in enumerate(nodes):
            part = self.expression(node)
            if k <= last and not isinstance(node, ast.Name | ast.Constant):
                register = self.register()
                self.waiting += (register,)
                fills.append((register, part))
                part = partial(handed_over, register)
            reads.append(part)
        self.waiting = outer
        first, *rest = reads

        def begin(regs: Frame) -> Any:
            for register, fill in fills:
                regs[register] = fill(regs)
            return first(regs)

        return [begin, *rest]

    def writes_within(self, node: ast.expr) -> bool:
        """Return whether a method may write in place while an expression is evaluated."""
        return self.has_methods and any(map(is_write, ast.walk(node)))

    def applied(self, node: ast.AST, apply: Callable[..., Any], parts: list[Evaluate]) -> Evaluate:
        """Return what applies a function of the graph to operands; its errors have the place of ``node``."""
        span = self.spans.of(node)

        def run(regs: Frame) -> Any:
            try:
                return apply(regs[0], *[part(regs) for part in parts])
            except GradcliError as error:
                raise error.at(span) from None

        return run

    # ---- expressions
    def of_Constant(self, node: ast.Constant) -> Evaluate:
        value = self.constant(node)
        return lambda regs: value

    def constant(self, node: ast.Constant) -> Any:
        """Return the number of a constant, or what else it is."""
        try:
            return constant_value(node.value)
        except GradcliError as error:
            raise error.at(self.spans.of(node)) from None

    def of_Name(self, node: ast.Name) -> Evaluate:
        """Return what reads a variable or a constant."""
        name = node.id
        if name not in self.definite and name in self.assigned:
            register, span = self.variables[name], self.spans.of(node)
            if name in self.outside:  # where no branch or turn that ran assigned it, the value from outside counts
                self.free.setdefault(name, span)

            def read(regs: Frame) -> Any:
                if regs[register] is UNBOUND:
                    raise GradcliError("unbound", f"'{name}' is used before it is assigned", span=span)
                return regs[register]

            return read
        if name not in self.definite:
            if name in CONSTANTS and name not in self.outside:
                number = np.float64(CONSTANTS[name])
                return lambda regs: number
            if name.startswith("__"):
                raise GradcliError("not-allowed", f"the name '{name}' is not allowed")
            self.free.setdefault(name, self.spans.of(node))
        place = self.variable(name, definite=True)
        return lambda regs: regs[place]

    def of_List(self, node: ast.List | ast.Tuple) -> Evaluate:
        """Return a list display, which is an array, or a tuple display."""
        stack = arithmetic.stack_items if isinstance(node, ast.List) else arithmetic.stack_tuple
        return self.applied(node, lambda f, *items: stack(f, list(items)), self.operands(node.elts))

    of_Tuple = of_List

    def of_BinOp(self, node: ast.BinOp) -> Evaluate:
        if isinstance(node.op, SHIFTS):
            raise GradcliError("not-allowed", "shifts are not part of the language")
        if type(node.op) in MASKS:
            mask = OPERATORS[MASKS[type(node.op)], 2]
            return self.applied(
                node, lambda f, a, b: arithmetic.compare(f, mask, a, b), self.operands([node.left, node.right])
            )
        op, span = OPERATORS[BINARY[type(node.op)], 2], self.spans.of(node)
        if self.writes_within(node.right):
            left, right = self.operands([node.left, node.right])
            return binary_operator(op, (left, 0), (right, 0), span)
        return binary_operator(op, self.side(node.left), self.side(node.right), span)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Evaluate:
        if isinstance(node.op, ast.Not):
            self.truths.update(part for part in ast.walk(node) if isinstance(part, ast.BoolOp))
        operand = [self.expression(node.operand)]
        if isinstance(node.op, ast.Not):
            return self.applied(node, lambda f, a: not arithmetic.truth(a), operand)
        if isinstance(node.op, ast.UAdd):
            return self.applied(node, lambda f, a: positive(a), operand)
        apply, op = (inverted, OPERATORS["~", 1]) if isinstance(node.op, ast.Invert) else (negative, OPERATORS["-", 1])
        return self.applied(node, lambda f, a: apply(f, op, a), operand)

    def of_Compare(self, node: ast.Compare) -> Evaluate:
        parts = self.operands([node.left, *node.comparators])
        return self.applied(node, self.comparison(node), parts)

    def comparison(self, node: ast.Compare) -> Callable[..., Any]:
        """Return what compares the sides of a comparison."""
        if any(type(op) not in COMPARE for op in node.ops):
            raise GradcliError("not-allowed", "'in' and 'is' are not part of the language", hint="write == to compare")
        ops = [OPERATORS[COMPARE[type(op)], 2] for op in node.ops]
        if len(ops) == 1:
            return lambda f, a, b: arithmetic.compare(f, ops[0], a, b)
        return lambda f, *values: arithmetic.compare_chain(f, ops, list(values))

    def of_Subscript(self, node: ast.Subscript) -> Evaluate:
        """Return an entry or a part of an array."""
        whole, readers, single = self.expression(node.value), *self.index(node.slice)
        if isinstance(node.value, ast.List | ast.Tuple):
            readers = [partial(picking.read_position, read) for read in readers]
        span = self.spans.of(node)

        def pick(regs: Frame) -> Any:
            try:
                return picking.read_subscript(regs[0], whole(regs), [read(regs) for read in readers], single)
            except GradcliError as error:
                raise error.at(span) from None

        return pick

    def index(self, node: ast.expr) -> tuple[list[Evaluate], bool]:
        """Return what reads each part of an index, and whether it is one part alone.

        Raises ``in-place`` for a write within: what the index is of may show it.
        """
        if self.writes_within(node):
            message, hint = "a write in place inside of an index", "write it on a line of its own, before"
            raise GradcliError("in-place", message, span=self.spans.of(node), hint=hint)
        items = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self.index_part(item) for item in items], not isinstance(node, ast.Tuple)

    def index_part(self, item: ast.expr) -> Evaluate:
        """Return what reads one part of an index."""
        if isinstance(item, ast.Slice):
            bounds = [None if part is None else self.expression(part) for part in (item.lower, item.upper, item.step)]

            def read_slice(regs: Frame) -> slice:
                values = [None if bound is None else picking.slice_bound(regs[0], bound(regs)) for bound in bounds]
                if values[2] == 0:
                    raise GradcliError("index", "the step of a slice cannot be 0")
                return slice(*values)

            return read_slice
        if isinstance(item, ast.List):
            shape, entries = list_shape(item), [self.expression(entry) for entry in leaves(item)]
            return lambda regs: picking.index_list(regs[0], [entry(regs) for entry in entries], shape)
        return self.expression(item)

    def of_Attribute(self, node: ast.Attribute) -> Evaluate:
        """Return what reads an attribute, or a constant of a library."""
        name = constant_name(node, self.variables)
        if name:
            constant = None if name in NEW_AXIS else find_constant(name)
            number = np.float64(constant) if isinstance(constant, float) else constant
            return lambda regs: number
        base, read = self.expression(node.value), ATTRIBUTES.get(node.attr)
        if read is None:
            call = f"call it: .{node.attr}()" if node.attr in methods() else ""
            hint = instead_of("attribute", node.attr) or call or f"there are .{', .'.join(ATTRIBUTES)}"
            raise GradcliError("not-allowed", f"unknown attribute '.{node.attr}'", hint=hint)
        return self.applied(node, read, [base])

    def of_Call(self, node: ast.Call) -> Evaluate:
        """Return a call of a function or a method; one that writes in place gives the variable that it wrote to."""
        write = self.write_call(node)
        if write is not None:
            name, do = write
            self.writer.replace(node, name, said=not self.waiting)
            register = self.variables[name]

            def written(regs: Frame) -> Any:
                do(regs)
                return regs[register]

            return written
        special = special_call(node, self.variables)
        if special:
            read, receiver = special
            parts = self.operands([*([] if receiver is None else [receiver]), *node.args])
            return self.applied(node, lambda f, *values: read(*values), parts)
        function, receivers = resolve_call(node, self.variables)
        refuse_stars(node, self.spans)
        refuse_ambiguous(function, node)
        arguments = bind_call(function, node, receivers)
        place = count(1)
        registers = [[next(place) for _ in bound.nodes] for bound in arguments]
        call = caller(function, arguments, library_of(node), written_name(node), registers)
        said = number_note(function, arguments, node, self.variables)
        parts = self.operands([child for bound in arguments for child in bound.nodes])

        span = self.spans.of(node)

        def run(regs: Frame) -> Any:
            try:
                values = [regs[0], *[part(regs) for part in parts]]
                if said is not None:
                    regs[0].remark("torch-refuses", said)
                return call(values)
            except GradcliError as error:
                raise error.at(span) from None

        return run

    def write_call(self, node: ast.expr, wanted: str = "") -> tuple[str, Evaluate] | None:
        """Return the variable that a method writes to in place, and what does that; None for any other call."""
        raise NotImplementedError

    def of_IfExp(self, node: ast.IfExp) -> Evaluate:
        with self.deeper(node):
            return super().of_IfExp(node)

    @contextmanager
    def deeper(self, node: ast.AST) -> Iterator[None]:
        """Count one level of nesting; raises ``budget`` beyond the bound."""
        self.level += 1
        if self.level > self.max_depth:
            raise over_budget("depth", self.max_depth, "branches are nested", self.spans.of(node))
        yield
        self.level -= 1

    def test(self, node: ast.If | ast.IfExp | ast.While) -> Callable[[Frame], bool]:
        """Return what says whether a condition holds; a branch tells that, a loop its sides when it ends."""
        test, span = node.test, self.spans.of(node.test)
        self.truths.update(part for part in ast.walk(test) if isinstance(part, ast.BoolOp))
        compare: Callable[..., Any] = lambda f, value: value  # noqa: E731
        try:
            if isinstance(test, ast.Compare):
                sides = self.operands([test.left, *test.comparators])
                compare = self.comparison(test)
            else:
                sides = [self.expression(test)]
        except GradcliError as error:
            raise error.at(span) from None
        compared, branch = isinstance(test, ast.Compare), self.branch(node)
        register = self.register(()) if branch is None else 0
        if branch is None:
            self.sides_of[node] = register

        def holds(regs: Frame) -> bool:
            f = regs[0]
            try:
                values = [side(regs) for side in sides]
                is_true = arithmetic.truth(compare(f, *values))
            except GradcliError as error:
                raise error.at(span) from None
            if f.story is not None:
                shown = tuple(values) if compared else ()
                if branch is None:
                    regs[register] = shown
                else:
                    f.story.append((branch, Chosen(is_true, shown), len(f.bindings)))
            return is_true

        return holds

    def branch(self, node: ast.If | ast.IfExp | ast.While) -> Branch | None:
        """Return what is told of a condition; None for that of a loop."""
        condition, write = self.writer.condition(node.test), self.writer.written
        if isinstance(node, ast.IfExp):
            return Branch("", condition, "else", (write(node.body), write(node.orelse)))
        if isinstance(node, ast.If):
            other = (self.writer.word(node.orelse[0]) or "else") if node.orelse else ""
            return Branch(self.writer.word(node) or "if", condition, other)
        return None

    def of_BoolOp(self, node: ast.BoolOp) -> Evaluate:
        """Return ``and`` or ``or`` of truth values: operands are evaluated until one decides."""
        with self.deeper(node):
            sides = [self.expression(value) for value in node.values]
        stop_at, as_truth = isinstance(node.op, ast.Or), node in self.truths

        def decide(f: Graph, regs: Frame) -> bool:
            del f
            for side in sides:
                value = side(regs)
                is_true = arithmetic.truth(value)
                if is_true is stop_at:
                    break
            raw = value_of(value)
            if not as_truth and not (isinstance(raw, bool) or getattr(raw, "dtype", None) == np.bool_):
                message = "'and' and 'or' give one of their sides in Python, and here a truth value alone"
                raise GradcliError("type", message, hint="write a if c else b")
            return is_true

        return self.applied(node, decide, [lambda regs: regs])


def is_write(node: ast.AST) -> bool:
    """Return whether a syntax node may be a call of a method that writes in place, by its name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_")


def handed_over(register: int, regs: Frame) -> Any:
    """Return what waits in a register, which keeps it no longer."""
    value, regs[register] = regs[register], None
    return value


def leaves(item: ast.expr) -> list[ast.expr]:
    """Return the entries of nested lists, in their order."""
    return [entry for inner in item.elts for entry in leaves(inner)] if isinstance(item, ast.List) else [item]


def list_shape(item: ast.List) -> tuple[int, ...]:
    """Return the shape of nested lists in an index; raises ``index`` where they are ragged."""
    inner = {list_shape(element) if isinstance(element, ast.List) else () for element in item.elts}
    if len(inner) > 1:
        raise GradcliError("index", "the lists in an index must have one length")
    return (len(item.elts), *next(iter(inner), ()))
