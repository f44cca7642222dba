"""Statements of a formula: assignments, writes in place, branches and loops, and what is refused."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np

from gradcli import ops
from gradcli.engine.graph import Graph, Input, Operation
from gradcli.errors import GradcliError, Span
from gradcli.errors.hints import counted, instead_of
from gradcli.language import arithmetic, picking
from gradcli.language.arithmetic import (
    Listed,
    binary,
    binary_operator,
    is_odd,
    is_tensor,
    items_of,
    kept_in_place,
    written_as,
)
from gradcli.language.calls import BINARY, MODULES, lacks
from gradcli.language.compiling import (
    UNBOUND,
    Assigned,
    Block,
    Evaluate,
    Frame,
    Loop,
    LoopTurns,
    Signal,
    Store,
    Written,
)
from gradcli.language.expressions import Expressions, handed_over
from gradcli.language.source import assigned
from gradcli.ops import METHODS, Pair, Parts, find
from gradcli.ops.declare import Op, value_of
from gradcli.ops.joining import INDEX, PUT
from gradcli.ops.shaping import RESHAPE


def before_ndim(value: object) -> int:
    """Return the number of axes of a value, 0 for a plain number."""
    return int(getattr(value, "ndim", 0))


def remark_swap(f: Graph, before: Any, value: Any, span: Span) -> None:
    """Remark that an assignment of the same line has changed the number that the next one gives."""
    if value is not before and not before_ndim(value):
        f.remark(
            "numpy-differs",
            "The first of these assignments changes the entry that the next one reads, as PyTorch's entries are "
            "views. NumPy's are numbers of their own, and swap; clone() makes both the same.",
            span,
        )


def range_of(bounds: list[Any]) -> range:
    """Return ``range(*bounds)``; raises ``type`` for what is no integer."""
    result = [int(b) if isinstance(b, np.integer) else b for b in bounds]
    if not all(type(b) is int for b in result):
        raise GradcliError("type", "range takes integers")
    if len(result) == 3 and result[2] == 0:
        raise GradcliError("value", "the step of range cannot be 0")
    return range(*result)


def unpack_value(f: Graph, value: object, position: int, count: int) -> Any:
    """Return one of ``count`` values that an array is unpacked into."""
    if isinstance(value, Pair):
        value = (value.values, value.indices)
    if isinstance(value, Parts):
        if len(value.names) != count:
            raise GradcliError("shape", f"{counted(len(value.names), 'value')} for {counted(count, 'variable')}")
        return value[position]
    if isinstance(value, Listed):
        value = tuple(items_of(value))
    length = len(value) if type(value) is tuple else (arithmetic.array_of(value).shape or (0,))[0]
    if length != count:
        raise GradcliError("shape", f"{counted(length, 'value')} for {counted(count, 'variable')}")
    return value[position] if type(value) is tuple else picking.part_of(f, arithmetic.array_of(value), position)


def refuse_write(f: Graph, name: str, value: object, what: str) -> None:
    """Refuse a write in place that Python or PyTorch refuses: to what is no tensor, and to a leaf or a view of one."""
    if not is_tensor(value):
        refuse_plain(name, value, what)
        return
    leaf = leaf_of(f, value)
    if leaf is None:
        return
    of = f"the input '{leaf.name}'" if value is leaf else f"'{name}', a view of the input '{leaf.name}'"
    hint = (
        f"write {name} = {name}.clone() first"
        if "index" in what
        else f"write {name} = {name} ... in place of the augmented assignment"
    )
    raise GradcliError("in-place", f"{what} to {of}: PyTorch refuses to change a leaf in place", hint=hint)


def leaf_of(f: Graph, value: Any) -> Input | None:
    """Return the differentiated input that a tensor shows, or None."""
    from gradcli.language.memory import is_no_float_node, storage_root, window_of

    leaves = {leaf.index: leaf for leaf in f.inputs.values() if leaf.active}
    if is_no_float_node(value) or storage_root(f, value) not in leaves:
        return None
    return leaves.get(window_of(f, value).side)


def refuse_plain(name: str, value: object, what: str) -> None:
    """Refuse a write to what Python cannot change: lengths, a pair of arrays, and by an index also a plain number."""
    if isinstance(value, Pair):
        state, hint = "is a pair of values and their indices", f"write {name} = {name}.values.clone() first"
    elif isinstance(value, Parts):
        state, hint = "holds several arrays", f"write one of them, such as {name}.{value.names[0]}, to a variable first"
    elif isinstance(value, tuple):
        lengths = all(type(item) is int for item in value)
        state, way = ("holds lengths", "tensor") if lengths else ("is a tuple of arrays", "stack")
        hint = f"write {name} = torch.{way}({name}) first"
    elif "index" in what and isinstance(value, int | float):
        state, hint = "is a plain number", f"write {name} = torch.tensor({name}) first"
    else:
        return
    raise GradcliError("in-place", f"{what} to '{name}', which {state}: Python refuses that", hint=hint)


def refuse_change(f: Graph, op: Op, before: Any, result: Any, name: str) -> None:
    """Refuse an augmented assignment that cannot be done in place: to another shape, or to another kind of numbers."""
    kept_in_place(f, op, before, result, name)
    if before_ndim(before) and result.shape != before.shape:
        raise GradcliError(
            "shape",
            f"'{name}' has shape {before.shape}, and in place it cannot become {result.shape}",
            hint=f"write {name} = {name} ... instead",
        )


def changed_entries(f: Graph, op: Op | None, x: Any, key: Any, change: Any, target: str) -> tuple[Any, int | None]:
    """Return what an index is assigned, and the first node that computes it by ``op``; without, it is ``change``."""
    if op is None:
        return change, None
    entries, first = f(INDEX, x, key=key), len(f.nodes)
    result = binary(f, op, entries, change)
    if np.shape(value_of(result)) != entries.shape:
        refuse_change(f, op, entries, result, target)
    return result, first


def put_at(f: Graph, x: Any, written: Any, key: Any, target: str) -> Any:
    """Return ``x`` with ``written`` at an index, which the program calls ``target``; raises ``shape`` for a misfit."""
    try:
        entries = value_of(x)[picking.as_view(key) if picking.basic(key) else key].shape
    except IndexError:
        return f(PUT, x, written, key=key)  # which says what is wrong with the index
    fitting = without_lead(f, written, len(entries))
    shape = np.shape(value_of(fitting))
    pairs = zip(reversed(shape), reversed(entries), strict=False)
    if shape and not (len(shape) <= len(entries) and all(length in (1, other) for length, other in pairs)):
        message = f"{target} has shape {entries}, and a value of shape {np.shape(value_of(written))} does not fit there"
        raise GradcliError("shape", message, hint="lengths must be equal, or 1, counted from the last axis")
    return f(PUT, x, fitting, key=key)


def without_lead(f: Graph, written: Any, axes: int) -> Any:
    """Return what is written without leading axes of length 1 that the entries do not have, as PyTorch takes it."""
    if not written.ndim or written.shape[0] != 1:
        return written
    lead = next((k for k, length in enumerate(written.shape) if length != 1), written.ndim)
    extra = min(written.ndim - axes, lead)
    return f(RESHAPE, written, shape=written.shape[extra:]) if extra > 0 else written


UNSAID = Written("")
PLUS = ops.OPERATORS["+", 2]
IN_PLACE: dict[str, type[ast.operator]] = {
    "add_": ast.Add,
    "sub_": ast.Sub,
    "mul_": ast.Mult,
    "div_": ast.Div,
    "pow_": ast.Pow,
    "remainder_": ast.Mod,
    "floor_divide_": ast.FloorDiv,
}
"""Methods that are augmented assignments."""
FILLS = {"zero_": "zeros_like", "fill_": "full_like", "copy_": "full_like"}


def writes_result(method: str) -> bool:
    """Return whether a method writes into its array the numbers that the function gives whose name it has."""
    function = find(METHODS, method[:-1]) if method.endswith("_") else None
    if function is None or function.kinds.integers == "mask":  # of some, PyTorch passes derivatives on as if unwritten
        return False
    return function.family not in ("shaping", "making") and not lacks("torch.Tensor", method)


def variable_name(node: ast.expr | None) -> str:
    """Return the name of a variable, nothing for any other expression."""
    return node.id if isinstance(node, ast.Name) else ""


def load_of(name: str, node: ast.AST) -> ast.Name:
    """Return what reads a variable, at the place of ``node``."""
    return ast.copy_location(ast.Name(name, ast.Load()), node)


class Statements(Expressions):
    """Compiles statements."""

    loops = 0

    def statement(self, node: ast.stmt) -> Callable[[Frame], Signal]:
        """Return what runs one statement; what is wrong with it has its place where nothing in it has one."""
        if isinstance(node, ast.Break | ast.Continue) and not self.loops:
            raise GradcliError("syntax", "break and continue belong inside a loop", span=self.spans.of(node))
        outer, loop = self.compound, isinstance(node, ast.For | ast.While)
        self.compound = node
        self.loops += loop
        try:
            return super().statement(node)
        except GradcliError as error:
            raise error.at(self.spans.of(node)) from None
        finally:
            self.compound = outer
            self.loops -= loop

    def runner(self, block: Block) -> Callable[[Frame], Signal]:
        """Return what runs a block over a frame; an error without a place gets that of the statement where it arose."""
        steps = [(step.run, self.spans.of(step.node)) for step in block]

        def run(regs: Frame) -> Signal:
            span = None
            try:
                for step, span in steps:  # noqa: B007
                    signal = step(regs)
                    if signal is not None:
                        return signal
            except GradcliError as error:
                raise error.at(span) from None
            return None

        return run

    def run_block(self, body: list[ast.stmt]) -> Callable[[Frame], Signal]:
        """Return what runs statements that may not run, or run often."""
        before = set(self.definite)
        with self.deeper(self.compound):
            run = super().run_block(body)
        self.assigned |= self.definite - before
        self.definite = before
        return run

    # ---- branches and loops
    def run_If(self, node: ast.If) -> Callable[[Frame], Signal]:
        run = super().run_If(node)
        blocks = [
            {name.id for one in body if isinstance(one, ast.Assign) for name, _ in assigned(one)}
            for body in (node.body, node.orelse)
        ]
        self.definite |= blocks[0] & blocks[1]
        return run

    def run_While(self, node: ast.While) -> Callable[[Frame], Signal]:
        if node.orelse:
            raise GradcliError("not-allowed", "'else' of a loop is not part of the language")
        return super().run_While(node)

    def run_For(self, node: ast.For) -> Callable[[Frame], Signal]:
        """Return a ``for``, whose variable has a value for certain in its body alone."""
        if node.orelse or not isinstance(node.target, ast.Name):
            raise GradcliError("not-allowed", "a loop is 'for NAME in range(...):' or 'for NAME in an array:'")
        before = node.target.id in self.definite
        run = super().run_For(node)
        if not before:
            self.definite.discard(node.target.id)
        return run

    def turns(self, node: ast.For | ast.While) -> Callable[[Frame], LoopTurns | None]:
        """Return what is told of the turns of a loop."""
        if isinstance(node, ast.While):
            loop, register = Loop("", self.writer.condition(node.test)), self.sides_of[node]
        else:
            loop, register = Loop(variable_name(node.target), None), None
        return lambda regs: None if regs[0].story is None else LoopTurns(regs[0], regs[0].story, loop, register)

    def loop_target(self, node: ast.For) -> Store:
        """Return what gives the variable of a loop an integer, or a row, which is told."""
        name = variable_name(node.target)
        target = self.variable(name, definite=False)
        self.definite.add(name)
        row = Assigned(name, self.writer.operand(node.iter, "["), row=True)

        def store(regs: Frame, item: Any) -> None:
            regs[target] = item
            if regs[0].story is not None and type(item) is not int:
                regs[0].bind(name, item, row)

        return store

    def walked(self, node: ast.expr) -> Callable[[Frame], Iterable[Any]]:
        """Return what gives the items of a loop; a register has the array, as writes in the loop change it."""
        self.loop_arrays.append(kept := self.register())
        if isinstance(node, ast.Call) and variable_name(node.func) == "range":
            if node.keywords or not 1 <= len(node.args) <= 3:
                raise GradcliError("arguments", "range takes one to three integers")
            return self.applied(node, lambda f, *bounds: range_of(list(bounds)), self.operands(node.args))
        whole, span = self.expression(node), self.spans.of(node)

        def rows(regs: Frame) -> Any:
            value = whole(regs)
            if type(value) is tuple:
                return value
            if isinstance(value, Listed):
                return items_of(value)
            x = arithmetic.array_of(value)
            if not x.ndim:
                message = "a loop runs over range(...) or over an array, not over one number"
                raise GradcliError("type", message, span=span)
            regs[kept] = x
            return (picking.part_of(regs[0], regs[kept], i) for i in range(x.shape[0]))

        return rows

    # ---- assignments
    def run_Expr(self, node: ast.Expr) -> Callable[[Frame], Signal]:
        write = self.write_call(node.value)
        value = self.expression(node.value) if write is None else write[1]

        def run(regs: Frame) -> None:
            value(regs)

        return run

    def run_Assign(self, node: ast.Assign) -> Callable[[Frame], Signal]:
        """Return what assigns a value to a variable, to an entry of one, or to several."""
        if len(node.targets) > 1:
            raise GradcliError("not-allowed", "assign to one target at a time")
        [target], value = node.targets, node.value
        if isinstance(target, ast.Tuple | ast.List):
            return self.unpack(target, value)
        if isinstance(target, ast.Subscript):
            return self.put(target, None, self.expression(value), node)
        write = self.write_call(value, variable_name(target))
        if write is None:
            return self.stored(target, self.expression(value), value)
        name, do = write
        if name == variable_name(target):
            return lambda regs: do(regs) and None
        store = self.stored(target, self.expression(load_of(name, value)), Written(name))

        def run(regs: Frame) -> None:
            do(regs)
            store(regs)

        return run

    def stored(self, target: ast.expr, value: Evaluate, text: ast.expr | Written, **part: Any) -> Evaluate:
        """Return an assignment to a variable, told by the expression that it holds, or by a text."""
        if not isinstance(target, ast.Name):
            attribute = target.attr if isinstance(target, ast.Attribute) else ""
            raise GradcliError(
                "not-allowed",
                "only a variable or an entry of one can be assigned",
                span=self.spans.of(target),
                hint=instead_of("attribute", attribute),
            )
        name = target.id
        if name.startswith("__"):
            raise GradcliError("not-allowed", f"the name '{name}' is not allowed", span=self.spans.of(target))
        register = self.variable(name, definite=True)
        if isinstance(text, Written):
            words = text
        else:
            words = self.writer.operand(text, "[") if part.get("taken") else self.writer.said(text)
        record = Assigned(name, words, **part)

        def run(regs: Frame) -> None:
            regs[register] = made = value(regs)
            regs[0].bind(name, made, record)

        return run

    def unpack(self, target: ast.Tuple | ast.List, value: ast.expr) -> Callable[[Frame], Signal]:
        """Return an assignment to several variables or entries: all values are there before the first is assigned."""
        items, number, values = target.elts, len(target.elts), self.values(target, value)
        displayed = isinstance(value, ast.Tuple | ast.List)
        texts = value.elts if isinstance(value, ast.Tuple | ast.List) else [value] * number
        registers = [self.register() for _ in items]
        in_turn, span = any(isinstance(item, ast.Subscript) for item in items), self.spans.of(target)
        if in_turn:
            stores = self.stores_in_turn(items, registers, self.writer.said(texts[0]) if displayed else UNSAID)
        else:
            stores = [
                self.stored(item, partial(handed_over, register), text, place=place, count=number, taken=not displayed)
                for place, (item, register, text) in enumerate(zip(items, registers, texts, strict=True))
            ]

        def run(regs: Frame) -> None:
            before = values(regs)
            for register, made in zip(registers, before, strict=True):
                regs[register] = made
            for register, made, store in zip(registers, before, stores, strict=True):
                if in_turn:
                    remark_swap(regs[0], made, regs[register], span)
                store(regs)

        return run

    def values(self, target: ast.Tuple | ast.List, value: ast.expr) -> Callable[[Frame], list[Any]]:
        """Return what gives the values of several targets."""
        number, span = len(target.elts), self.spans.of(target)
        if isinstance(value, ast.Tuple | ast.List):
            if len(value.elts) != number:
                raise GradcliError("shape", f"{counted(len(value.elts), 'value')} for {counted(number, 'variable')}")
            parts = self.operands(value.elts)
            return lambda regs: [part(regs) for part in parts]
        whole = self.expression(value)

        def taken(regs: Frame) -> list[Any]:
            made = whole(regs)
            try:
                return [unpack_value(regs[0], made, place, number) for place in range(number)]
            except GradcliError as error:
                raise error.at(span) from None

        return taken

    def stores_in_turn(self, items: list[ast.expr], registers: list[int], first: Written) -> list[Evaluate]:
        """Return assignments of which some write to entries: each may change what the next one gives, if a view.

        So ``a[0], a[1] = a[1], a[0]`` gives the same number twice. ``first`` is the text of the first value.
        """
        stores = []
        for place, (item, register) in enumerate(zip(items, registers, strict=True)):
            self.waiting = tuple(registers[place + 1 :])
            value, words = partial(handed_over, register), UNSAID if place else first
            if isinstance(item, ast.Subscript):
                stores.append(self.put(item, None, value, words))
            else:
                stores.append(self.stored(item, value, words))
        self.waiting = ()
        return stores

    # ---- writes in place
    def put(
        self, target: ast.Subscript, op: Op | None, value: Evaluate, node: ast.Assign | ast.AugAssign | Written
    ) -> Callable[[Frame], Signal]:
        """Return a write to entries: of a value, or of what ``op`` makes of both.

        ``node`` is the statement, or the text of the value.
        """
        from gradcli.language.memory import write_through  # most programs write to nothing
        from gradcli.language.torch_refusals import remark_write

        name, first = self.named(target.value)
        base = self.expression(load_of(name, target.value))
        if name not in self.variables:
            raise GradcliError("in-place", f"an entry of '{name}' is written to, which is no variable here")
        readers, single = self.index(target.slice)
        span, index = self.spans.of(target), self.writer.written(target.slice)
        record, target_text = self.record_of(name, node, index), f"{name}[{index.text}]"
        others, register, nameless = self.others(name), self.variables[name], not isinstance(target.value, ast.Name)

        def run(regs: Frame) -> None:
            change = value(regs)
            if first is not None:
                first(regs)
            f, before = regs[0], base(regs)
            try:
                refuse_write(f, name, before, "indexed assignment")
                x = arithmetic.array_of(before)
                key = picking.index_key(f, x, [read(regs) for read in readers], single)
                remark_write(f, name, span, before, change, key, op is None)
                change, begin = changed_entries(f, op, x, key, change, target_text)
                f.wrote(before, name, span, begin)
                if is_odd(x) or is_odd(change):
                    change = int(change) if type(change) is bool else change
                    change = written_as(f, x, change, not picking.basic(key), op)
                change = change if is_odd(x) else arithmetic.as_tensor(change)
                made = write_through(regs, others, record, before, put_at(f, x, change, key, target_text))
            except GradcliError as error:
                raise error.at(span) from None
            regs[register] = UNBOUND if nameless else made

        return run

    def named(self, node: ast.expr, wanted: str = "") -> tuple[str, Evaluate | None]:
        """Return the variable that is written to; what is none is a view that gets a name of its own first."""
        if isinstance(node, ast.Name):
            return node.id, None
        taken = {*re.findall(r"\w+", self.writer.code), *self.variables}
        names = (name for name in chain(("view",), map("view{}".format, count(2))) if name not in taken)
        name = ast.copy_location(ast.Name(wanted or next(names), ast.Store()), node)
        store = self.stored(name, self.expression(node), node)
        return name.id, self.applied(node, lambda f, regs: store(regs), [lambda regs: regs])

    def run_AugAssign(self, node: ast.AugAssign) -> Callable[[Frame], Signal]:
        if type(node.op) not in BINARY:
            raise GradcliError("not-allowed", "this augmented assignment is not part of the language")
        op, target = ops.OPERATORS[BINARY[type(node.op)], 2], node.target
        if isinstance(target, ast.Subscript):
            return self.put(target, op, self.expression(node.value), node)
        if not isinstance(target, ast.Name):
            raise GradcliError("not-allowed", "only a variable or an entry of one can be assigned")
        return self.change(self.record_of(target.id, node), node, self.expression(node.value), op)

    def record_of(
        self, name: str, node: ast.Assign | ast.AugAssign | Written, index: Written | None = None
    ) -> Assigned:
        """Return what a run tells of an augmented or indexed assignment."""
        if isinstance(node, Written):
            return Assigned(name, node, index)
        if isinstance(node, ast.Assign):
            return Assigned(name, self.writer.said(node.value), index)
        operator = BINARY[type(node.op)]
        return Assigned(name, self.writer.operand(node.value, operator), index, operator)

    def change(self, record: Assigned, node: ast.AST, operand: Evaluate, op: Op | None) -> Evaluate:
        """Return a write to a whole variable, which ``record`` names: of what ``op`` makes of it and the operand.

        Without an operator the operand is what is written.
        """
        from gradcli.language.memory import write_through  # most programs write to nothing

        name, span = record.name, self.spans.of(node)
        old, others = self.expression(load_of(name, node)), self.others(name)
        register, beside = self.variable(name, definite=name in self.definite), self.register()
        combine = None if op is None else binary_operator(op, (None, register), (None, beside))

        def run(regs: Frame) -> None:
            f, first = regs[0], len(regs[0].nodes)
            regs[beside] = result = operand(regs)
            before = old(regs)
            array = is_tensor(before)
            try:
                refuse_write(f, name, before, "an augmented assignment")
                if before_ndim(before) or (isinstance(before, Operation) and before.op.entries.view):
                    from gradcli.language.torch_refusals import remark_write

                    remark_write(f, name, span, before, before if combine is None else result)
                if combine is not None:
                    first, result = len(f.nodes), combine(regs)
                if is_odd(before) or (array and result.shape != before.shape):
                    refuse_change(f, op or PLUS, before, result, name)
                if array:
                    f.wrote(before, name, span, first)
                    result = write_through(regs, others, record, before, result)
                else:
                    f.bind(name, result, record)
            except GradcliError as error:
                raise error.at(span) from None
            regs[register], regs[beside] = result, None

        return run

    def write_call(self, node: ast.expr, wanted: str = "") -> tuple[str, Evaluate] | None:
        """Return the variable that a method writes to in place, and what does that; None for any other call.

        Such a method is an augmented assignment, or writes what the function of its name gives. What is called on no
        variable is called ``wanted``, if the call does not mention that.
        """
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and self.is_write(node, node.func)):
            return None
        base, method = node.func.value, node.func.attr
        if isinstance(base, ast.Attribute) and base.attr == "grad":
            return None
        if any(isinstance(part, ast.Name) and part.id == wanted for part in ast.walk(node)):
            wanted = ""
        inner = self.write_call(base, wanted) if isinstance(base, ast.Call) else None
        name, first = self.named(base, wanted) if inner is None else inner
        loaded = load_of(name, base)
        if method in IN_PLACE and len(node.args) == 1 and not node.keywords:
            target = ast.copy_location(ast.Name(name, ast.Store()), base)
            write = self.run_AugAssign(ast.copy_location(ast.AugAssign(target, IN_PLACE[method](), node.args[0]), node))
        else:
            write = self.write_function(node, loaded, method)
        if first is None:
            return name, write

        def run(regs: Frame) -> None:
            first(regs)
            write(regs)

        return name, run

    def write_function(self, node: ast.Call, loaded: ast.Name, method: str) -> Evaluate:
        """Return a write of what the function gives whose name a method has."""
        texts = [
            *[self.writer.written(part).text for part in node.args],
            *[f"{part.arg}={self.writer.written(part.value).text}" for part in node.keywords],
        ]
        function: ast.expr
        if method in FILLS:
            word, arguments = FILLS[method], [loaded, *node.args]
            function, text = ast.Name(word, ast.Load()), f"{word}({', '.join([loaded.id, *texts])})"
        else:
            word, arguments = method[:-1], node.args
            function, text = ast.Attribute(loaded, word, ast.Load()), f"{loaded.id}.{word}({', '.join(texts)})"
        call = ast.copy_location(ast.Call(ast.copy_location(function, node.func), arguments, node.keywords), node)
        return self.change(Assigned(loaded.id, Written(text)), node, self.expression(call), None)

    def is_write(self, node: ast.Call, function: ast.Attribute) -> bool:
        """Return whether a call is of a method that writes in place, and of no module's function."""
        base, method = function.value, function.attr
        if isinstance(base, ast.Name) and base.id in MODULES and base.id not in self.variables:
            return False
        return len(node.args) == 1 if method in IN_PLACE else method in FILLS or writes_result(method)
