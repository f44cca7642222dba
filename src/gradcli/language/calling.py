"""Calls when they run: arguments read from a list of values behind the graph, in the kind that the function takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node
from gradcli.errors import GradcliError
from gradcli.language.arithmetic import (
    DOUBLE,
    FLOAT,
    INTEGER,
    MASK,
    NAMES,
    Listed,
    Tupled,
    array_of,
    as_tensor,
    binary,
    compare,
    inverted,
    is_odd,
    neither,
    number_kind,
    plain_items,
    unary_operator,
    whole_array,
)
from gradcli.language.calls import DTYPE, Bound, Parameter, asks_library
from gradcli.language.compiling import Evaluate, Frame
from gradcli.language.memory import looks_on, may_share
from gradcli.ops import OPERATORS, Function, Pair, Parts
from gradcli.ops.arithmetic import only_numpy
from gradcli.ops.declare import Apply, Op, value_of
from gradcli.ops.joining import INDEX
from gradcli.ops.links import Static, Tensor
from gradcli.ops.making import DETACH
from gradcli.ops.shaping import CLONE
from gradcli.ops.vocabulary import FLOATS, Builder


def static_value(value: object) -> Static:
    """Return a plain integer, float, flag, text, tuple or None; raises ``type`` for an array."""
    if isinstance(value, Listed):
        return plain_items(value.tolist())  # type: ignore[no-any-return]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple):
        return tuple(map(static_value, value))
    raw = value_of(value)
    if not isinstance(value, Node) and isinstance(raw, np.generic | np.ndarray) and raw.ndim == 0:
        return int(raw) if np.issubdtype(raw.dtype, np.integer) else float(raw)
    raise GradcliError("type", "a plain number is needed here, not one that is computed from an input")


def converter(bound: Bound, registers: list[int], tensor: Callable[[object], Tensor] = as_tensor) -> Evaluate:
    """Return what reads one argument from the registers when the program runs; ``tensor`` reads an array."""
    parameter, first = bound.parameter, registers[0] if registers else 0
    static, read = parameter.kind.startswith("Static"), reader(parameter, tensor)
    if static and parameter.rest and not registers:  # an empty list in the place of several is one empty tuple
        return lambda regs: ((),)
    if bound.several and static:
        return lambda regs: tuple([static_value(regs[i]) for i in registers])
    if bound.several:
        return lambda regs: [read(regs[i]) for i in registers]
    if parameter.kind != "Raws" and parameter.takes_arrays:
        return lambda regs: listed_arrays(regs, first, tensor)
    if parameter.name == "condition":
        return lambda regs: condition(regs, first)
    if parameter.kind == "Raws":
        return lambda regs: items_as_they_are(regs[first])
    return lambda regs: read(regs[first])


def reader(parameter: Parameter, tensor: Callable[[object], Tensor]) -> Callable[[Any], Any]:
    """Return what reads one value of a parameter: as it is, as a plain value, or as an array by ``tensor``."""
    if parameter.kind.startswith("Raw"):
        return lambda value: value
    if parameter.kind == "Static | Tensor":
        return partial(plain_or, tensor)
    if parameter.kind.startswith("Static"):
        return partial(flag_value, parameter.name) if parameter.flag else static_value
    return (lambda value: None if value is None else tensor(value)) if "None" in parameter.kind else tensor


def flag_value(name: str, value: object) -> Static:
    """Return what is true or false; raises ``type`` for a text or a tuple, which PyTorch and NumPy refuse."""
    result = static_value(value)
    if isinstance(result, str | tuple):
        raise GradcliError("type", f"{name} must be True or False, not {result!r}")
    return result


def plain_or(tensor: Callable[[object], Tensor], value: object) -> Static | Tensor:
    """Return a plain integer, a tuple of them, a text or None as it is, and anything else as an array."""
    if isinstance(value, Tupled):
        return static_value(value)
    return value if value is None or type(value) in (int, str, tuple) else tensor(value)  # type: ignore[return-value]


def holds_whole(value: object) -> bool:
    """Return whether an argument is a mask or integers as an array, or holds such arrays."""
    if type(value) in NODES and value.value.dtype is DOUBLE:  # type: ignore[attr-defined]
        return False
    if type(value) is tuple:
        return any(map(holds_whole, arrays_in(value)))
    return whole_array(value.values if type(value) is Pair else value)


def condition(regs: Frame, register: int) -> Any:
    """Return the condition of a choice; remarks on one that is no mask."""
    value = regs[register]
    if number_kind(value) != MASK:
        only_numpy(regs[0], "A condition of numbers", "write (...) != 0")
    return np.float64(value) if type(value) is bool else as_tensor(value)


def listed_arrays(regs: Frame, register: int, tensor: Callable[[object], Tensor]) -> list[Tensor]:
    """Return the arrays of a tuple, or the rows of an array."""
    value = regs[register]
    if type(value) is tuple:
        return [tensor(part) for part in value]
    return rows_of_array(regs[0], tensor(value))


def items_as_they_are(value: Any) -> list[Any]:
    """Return the items of a tuple or of a list as they are."""
    return list(value) if isinstance(value, tuple) or (isinstance(value, np.ndarray) and value.ndim) else [value]


def rows_of_array(f: Apply, x: Tensor) -> list[Tensor]:
    """Return the entries of an array along its first axis."""
    if not x.ndim:
        raise GradcliError("shape", "a list of arrays is needed here, not one number")
    return [f(INDEX, x, key=i) for i in range(x.shape[0])]


def caller(
    function: Function, arguments: list[Bound], library: str, written: str, registers: list[list[int]]
) -> Evaluate:
    """Return what calls a function, ``written`` so, with its arguments from the registers."""
    if any(bound.parameter is DTYPE for bound in arguments):
        return typed_caller(function, arguments, library, written, registers)
    call, op = general_caller(function, arguments, library, registers), function.op
    if function.build is not None:
        call = noted(call, written)
    if function.build is None and op is not None:
        return unary_operator(op, registers[0][0], call)
    if (
        op is not None
        and OPERATORS.get((op.text.operator, len(registers))) is op
        and all(len(r) == 1 for r in registers)
    ):
        return operator_caller(op, [r[0] for r in registers], call)
    return call


def typed_caller(
    function: Function, arguments: list[Bound], library: str, written: str, registers: list[list[int]]
) -> Evaluate:
    """Return what calls a function and makes numbers of the type that ``dtype=`` names of the result."""
    from gradcli.ops.further.casting import as_type

    kept = [(bound, r) for bound, r in zip(arguments, registers, strict=True) if bound.parameter is not DTYPE]
    if function.kinds.beside == "first":  # what is asked for comes in place of what the first argument is
        function = replace(function, kinds=FLOATS)
    call = caller(function, [bound for bound, _ in kept], library, written, [r for _, r in kept])
    register = next(r[0] for bound, r in zip(arguments, registers, strict=True) if bound.parameter is DTYPE)
    return lambda regs: as_type(regs[0], call(regs), static_value(regs[register]))


def operator_caller(op: Op, operands: list[int], call: Evaluate) -> Evaluate:
    """Return what calls an operator by a name: masks and integers are what they are to the operator."""
    if op.formula is None and op.whole is None:  # it gives masks, and its function is never built
        of_masks = compare if len(operands) == 2 else inverted
        return lambda regs: of_masks(
            regs[0], op, *(regs[i].values if type(regs[i]) is Pair else regs[i] for i in operands)
        )
    if op.whole is None or (op.formula is None and not op.step):
        return call
    return lambda regs: (
        binary(regs[0], op, *(regs[i] for i in operands)) if any(is_odd(regs[i]) for i in operands) else call(regs)
    )


def noted(call: Evaluate, written: str) -> Evaluate:
    """Return what makes a call that leaves its name on the graph, for notes on the operations that it is made of."""

    def run(regs: Frame) -> Any:
        graph = regs[0]
        before = len(graph.nodes)
        value = call(regs)
        graph.note_call(written, before)
        return value

    return run


def general_caller(function: Function, arguments: list[Bound], library: str, registers: list[list[int]]) -> Evaluate:
    """Return what calls a function; one that is given masks or integers is told what both libraries make."""
    other = library != "torch" and asks_library(function)
    build = partial(build_of(function), library=library) if other else build_of(function)
    counts = function.kinds.beside == "plain"
    fills = counts or function.kinds.beside == "first"
    as_filling = lambda value: as_tensor(int(value) if type(value) is bool else value)  # noqa: E731
    call = plain_caller(build, arguments, registers, as_filling if fills else as_tensor)
    numbers = [
        register
        for bound, places in zip(arguments, registers, strict=True)
        if "Tensor" in bound.parameter.kind and bound.parameter.name != "condition"
        for register in places
    ]

    def of_kinds(regs: Frame) -> Any:
        arrays = [item for i in numbers if regs[i] is not None for item in arrays_in(regs[i])]
        kinds = [number_kind(item) for item in arrays]
        kind = treated(regs[0], function, kinds)
        result = call(regs)
        first = result[0] if type(result) is tuple and result else result
        is_view = isinstance(first, np.ndarray) and first.base is not None
        if function.shares and not fills and set(kinds) == {kind} and (function.op is DETACH or is_view):
            shown = arrays[0] if function.op is DETACH else plain_caller(build, arguments, registers, array_of)(regs)
            if shows_given(shown, arrays):
                return shown
        return cast_kind(regs[0], result, kind)

    def run(regs: Frame) -> Any:
        values = [regs[i] for i in numbers]
        if counts and values and all(type(value) in (int, bool) or whole_array(value) for value in values):
            return of_kinds(regs)
        value = of_kinds(regs) if any(map(holds_whole, values)) else call(regs)
        return value if function.shares else copy_apart(regs[0], value, values)

    return run


def treated(f: Graph, function: Function, kinds: list[str]) -> str | None:
    """Return the kind of the result of a function whose arguments are of these kinds, None for floats.

    Raises ``type`` where both libraries refuse, and remarks where one refuses or differs.
    """
    rules = function.kinds
    if rules.beside == "first":
        return None if kinds[0] == FLOAT else kinds[0]
    what = f"{function.name} of {' and '.join(NAMES[kind] for kind in dict.fromkeys(kinds))}"
    mixed, floats = len(set(kinds)) > 1, FLOAT in kinds
    first = rules.beside in ("target", "integers") and kinds[0] != FLOAT
    masked = rules.beside in ("integers", "unmasked") and MASK in kinds
    if (floats and (first or masked)) or ((floats or mixed) and rules.beside == "no"):
        raise neither(what)
    if floats or (mixed and rules.beside == "floats"):
        if rules.beside in ("numpy", "floats"):
            only_numpy(f, what)
        return None
    side, _, kind = (rules.integers if INTEGER in kinds else rules.masks).rpartition("-")
    if kind == "no":
        raise neither(what)
    remark_kinds(f, what, "numpy" if mixed and rules.beside == "numpy" else side)
    whole = INTEGER if INTEGER in kinds else MASK
    return whole if kind == "same" else None if kind == FLOAT else kind


def remark_kinds(f: Graph, what: str, side: str) -> None:
    """Remark that one library alone answers, or answers otherwise."""
    if side == "numpy":
        only_numpy(f, what)
    elif side == "torch":
        f.remark("torch-only", f"{what}: this is PyTorch's answer, NumPy refuses.")
    elif side == "other":
        f.remark("numpy-differs", f"{what}: this is PyTorch's answer; NumPy computes in half precision or in integers.")


def shows_given(value: object, arguments: list[Any]) -> bool:
    """Return whether a result, or each of several, shows entries of masks or integers that a function was given."""
    parts = value if type(value) is tuple else (value,)
    arrays = [raw for raw in map(value_of, arguments) if isinstance(raw, np.ndarray)]
    return all(
        isinstance(part, np.ndarray)
        and any(part.dtype == array.dtype and np.may_share_memory(part, array) for array in arrays)
        for part in parts
    )


def cast_kind(f: Graph, value: object, kind: str | None) -> Any:
    """Return a result as a mask or as integers; None leaves it as it is."""
    if kind is None:
        return value
    if isinstance(value, Node) and value.active:
        from gradcli.ops.further.casting import as_kind

        return as_kind(f, value, kind)
    if type(value) is tuple:
        return tuple(cast_kind(f, item, kind) for item in value)
    if type(value) is Pair:
        return Pair(cast_kind(f, value.values, kind), value.indices)
    if type(value) is Parts:
        count = len(value.names)
        return Parts(value.names, tuple(partial(lambda k: cast_kind(f, value[k], kind), k) for k in range(count)))
    numbers = np.asarray(value_of(value), dtype=np.float64)
    return numbers.astype(np.bool_ if kind == MASK else np.int64)[()]


def copy_apart(f: Graph, value: Any, arguments: list[Any]) -> Any:
    """Return the result of a function that makes new arrays: a copy where it gave an argument, or a view of one."""
    if type(value) is Pair:
        values = copy_apart(f, value.values, arguments)
        return value if values is value.values else Pair(values, value.indices)
    shows = looks_on(value) or (type(value) is np.ndarray and value.base is not None)
    if any(value is item or (shows and may_share(f, value, item)) for item in arguments):
        return f(CLONE, value)
    return value


def arrays_in(value: Any) -> tuple[Any, ...]:
    """Return the arrays that an argument is: several in a tuple, none in a tuple of lengths."""
    if type(value) is not tuple:
        return (value,)
    return () if all(type(item) is int for item in value) else value


def build_of(function: Function) -> Builder:
    """Return what a function does with the graph and its arguments; one of a single entry applies its op."""
    if function.build is not None:
        return function.build
    op = function.op
    return lambda f, x: f(op, x)


def plain_caller(
    build: Builder, arguments: list[Bound], registers: list[list[int]], tensor: Callable[[object], Tensor]
) -> Evaluate:
    """Return what calls a function, its arrays read by ``tensor``."""
    rest = [converter(b, r, tensor) for b, r in zip(arguments, registers, strict=True) if b.parameter.rest]
    named = [
        (b.parameter.name, converter(b, r, tensor))
        for b, r in zip(arguments, registers, strict=True)
        if not b.parameter.rest
    ]
    if not rest and len(named) == 1 and named[0][0] in ("x", "condition"):
        read_one = named[0][1]
        return lambda regs: build(regs[0], read_one(regs))
    if not rest:
        return lambda regs: build(regs[0], **{name: read(regs) for name, read in named})
    read_rest, alone = rest[0], {bound.parameter.name for bound in arguments if bound.parameter.by_name}
    before = [read for name, read in named if name not in alone]
    behind = [(name, read) for name, read in named if name in alone]
    return lambda regs: build(
        regs[0], *(read(regs) for read in before), *read_rest(regs), **{name: read(regs) for name, read in behind}
    )
