"""Calls: functions of the script, classes, natives of libraries, and functions of gradcli's table."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from functools import cache
from typing import Any

from gradcli.engine.graph import Operation
from gradcli.errors import GradcliError
from gradcli.language.calls import WITHOUT_MEANING
from gradcli.language.names import find_function
from gradcli.ops import METHODS as TABLE_METHODS
from gradcli.ops import Function, find
from gradcli.ops.declare import value_of
from gradcli.runner.classes import no_attribute
from gradcli.runner.converting import bound_call, convert, wrap
from gradcli.runner.grad_fns import Fused
from gradcli.runner.hosted import HOSTS, Hosted, host_of, new_hosted
from gradcli.runner.library import METHODS, native_name, refuse_effect
from gradcli.runner.objects import (
    UNBOUND,
    Bound,
    Class,
    ClassMethod,
    Closure,
    Foreign,
    Frame,
    Instance,
    Keyed,
    Method,
    Module,
    Progress,
    StaticMethod,
    TableFunction,
)
from gradcli.runner.operators import PRODUCTS, SHORT, plain_in_jax, refuse_types, together
from gradcli.runner.state import DEEP, Run
from gradcli.runner.torch_calls import check_tensors, first_of, in_torch_words, refuse_typed, result_type
from gradcli.runner.torch_errors import TYPED, WHOLE
from gradcli.runner.values import DType, Tensor, category, kind_of, strong


def call(  # noqa: C901, PLR0911, PLR0912 - one case for each kind of what can be called
    run: Run, what: Any, arguments: list[Any], named: dict[str, Any]
) -> Any:
    """Call anything that can be called; raises TypeError for what cannot."""
    kind = type(what)
    if kind is Closure:
        return call_closure(run, what, arguments, named)
    if kind is TableFunction:
        return call_table(run, what, arguments, named)
    if kind is Method:
        return call_method(run, what.owner, what.name, arguments, named)
    if kind is Bound:
        return call(run, what.function, [what.owner, *arguments], named)
    if kind is Class:
        return construct(run, what, arguments, named)
    if kind is Instance or kind is Keyed:
        member = what.kind.find("__call__")
        if member is not UNBOUND:
            return call(run, member, [what, *arguments], named)
    elif isinstance(what, Hosted) and (member := what.kind.find("__call__")) is not UNBOUND:
        return call(run, member, [what, *arguments], named)
    elif kind is StaticMethod or kind is ClassMethod:
        return call(run, what.function, arguments, named)
    elif kind is Foreign:
        return foreign(what, arguments)
    elif kind is DType:
        from gradcli.runner.arrays import cast_call

        return cast_call(run, what, *arguments, **named)
    elif isinstance(what, Module):
        run.fail("TypeError", "'module' object is not callable")
    elif callable(what):
        return call_native(run, what, arguments, named)
    from gradcli.runner.builtins import type_name

    return run.fail("TypeError", f"'{type_name(what)}' object is not callable")


def foreign(what: Foreign, arguments: list[Any]) -> Any:
    """Return what a function gives that only shows: more of it; ``tqdm`` and its like hand on what they are given."""
    refuse_effect(what.name)
    last = what.name.rpartition(".")[2]
    if last in ("tqdm", "trange", "track") and arguments:
        return Progress(what.name, range(*arguments) if last == "trange" else arguments[0])
    return what


def call_native(run: Run, what: Any, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Call a native; arguments that it does not take are a TypeError of the script."""
    try:
        return what(run, *arguments, **named)
    except TypeError as error:
        try:
            inspect.signature(what).bind(run, *arguments, **named)
        except TypeError as misfit:
            return run.fail("TypeError", f"{native_name(what)}() {misfit_text(what, misfit, arguments, named)}")
        except ValueError:
            pass
        return host_error(run, error)
    except (ValueError, LookupError, ZeroDivisionError, OverflowError, AttributeError) as error:
        return host_error(run, error)


def misfit_text(what: Any, misfit: TypeError, arguments: list[Any], named: dict[str, Any]) -> str:
    """Return what Python says of arguments that a function does not take: all that are missing at once."""
    if "missing a required" not in str(misfit):
        return str(misfit)
    parameters_ = list(inspect.signature(what).parameters.values())[1 + len(arguments) :]
    missing = [
        repr(p.name)
        for p in parameters_
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in named
    ]
    listed = (
        missing[0] if len(missing) == 1 else f"{', '.join(missing[:-1])}{',' * (len(missing) > 2)} and {missing[-1]}"
    )
    return f"missing {len(missing)} required positional argument{'s' * (len(missing) > 1)}: {listed}"


def host_error(run: Run, error: Exception) -> Any:
    """Raise an error of a native's own as one of the script, where a value that it was given is at fault."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    del traceback
    kind = type(error).__name__
    from gradcli.runner.exceptions import TREE

    if kind in TREE:
        if kind == "KeyError" and error.args:
            from gradcli.runner.exceptions import raise_key

            raise_key(error.args[0])
        return run.fail(kind, str(error.args[0]) if error.args else str(error))
    raise error


# ---- functions of the script
def call_closure(run: Run, closure: Closure, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Call a function of the script."""
    code = closure.code
    frame = code.template.copy()
    frame[0], frame[1] = run, closure.module
    if named or len(arguments) != len(code.positional) or code.rest or code.options or code.by_name:
        bind(run, closure, frame, arguments, named)
    else:
        for name, value in zip(code.positional, arguments, strict=True):
            frame[code.places[name]] = value
    for place in code.cells:
        frame[place] = [frame[place]]
    for (here, _), cell in zip(code.frees, closure.cells, strict=True):
        frame[here] = cell
    if code.generator:
        return generate(run, code, frame)
    return run_frame(run, code, frame)


def run_frame(run: Run, code: Any, frame: Frame) -> Any:
    """Run the body of a function; what a library's code calls of the script is the script's own again."""
    run.deepen()
    quiet = -run.library if code.listed else 1
    run.quiet += quiet
    run.library += quiet
    line = run.line
    run.frames.append((code, frame))
    try:
        signal = code.run(frame)
    except RecursionError:  # the host's own, of expressions within expressions
        run.fail("RecursionError", DEEP)
    finally:
        run.frames.pop()
        run.depth -= 1
        run.quiet -= quiet
        run.library -= quiet
    run.line = line
    return None if signal is None else signal[0]


def generate(run: Run, code: Any, frame: Frame) -> Generator[Any, Any, Any]:
    """Run the body of a generator; each step of it is a call within what asks for it."""
    walk = code.run(frame)
    step, sent = walk.send, None
    while True:
        run.deepen()
        try:
            item = step(sent)
        except StopIteration as ended:
            return None if ended.value is None else ended.value[0]
        finally:
            run.depth -= 1
        try:
            step, sent = walk.send, (yield item)
        except GeneratorExit:
            walk.close()
            raise
        except BaseException as error:  # noqa: BLE001 - what is thrown in goes on to the body
            step, sent = walk.throw, error


def bind(run: Run, closure: Closure, frame: Frame, arguments: list[Any], named: dict[str, Any]) -> None:
    """Put arguments into the registers of parameters; raises TypeError as Python does."""
    code, places = closure.code, closure.code.places
    positional, count = code.positional, len(code.positional)
    name = f"{code.qualified or code.name}()"
    for parameter, value in zip(positional, arguments, strict=False):
        frame[places[parameter]] = value
    if code.rest is not None:
        frame[places[code.rest]] = tuple(arguments[count:])
    elif len(arguments) > count:
        least = count - len(closure.defaults)
        takes = f"{count}" if least == count else f"from {least} to {count}"
        word = "argument" if takes == "1" else "arguments"
        was = "was" if len(arguments) == 1 else "were"
        run.fail("TypeError", f"{name} takes {takes} positional {word} but {len(arguments)} {was} given")
    options: dict[str, Any] = {}
    taken = set(positional[: len(arguments)])
    for key, value in named.items():
        if key in taken and key not in positional[: code.by_position_alone]:
            run.fail("TypeError", f"{name} got multiple values for argument '{key}'")
        if key in positional[code.by_position_alone :] or key in code.by_name:
            frame[places[key]] = value
        elif code.options is not None:
            options[key] = value
        else:
            run.fail("TypeError", f"{name} got an unexpected keyword argument '{key}'")
    if code.options is not None:
        frame[places[code.options]] = options
    take_defaults(run, closure, frame, name)


def take_defaults(run: Run, closure: Closure, frame: Frame, name: str) -> None:
    """Put defaults into the registers of parameters that were given nothing; raises TypeError where one has none."""
    code, places, positional = closure.code, closure.code.places, closure.code.positional
    for parameter, value in zip(reversed(positional), reversed(closure.defaults), strict=False):
        if frame[places[parameter]] is UNBOUND:
            frame[places[parameter]] = value
    for parameter, value in closure.named_defaults.items():
        if frame[places[parameter]] is UNBOUND:
            frame[places[parameter]] = value
    for kind, parameters_ in (("positional", positional), ("keyword-only", code.by_name)):
        missing = [f"'{p}'" for p in parameters_ if frame[places[p]] is UNBOUND]
        if missing:
            word = "argument" if len(missing) == 1 else "arguments"
            listed = (
                missing[0]
                if len(missing) == 1
                else f"{', '.join(missing[:-1])}{',' if len(missing) > 2 else ''} and {missing[-1]}"
            )
            run.fail("TypeError", f"{name} missing {len(missing)} required {kind} {word}: {listed}")


# ---- classes
def construct(run: Run, kind: Class, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Return a new object of a class."""
    abstract = kind.find("__abstract__")
    if abstract is not UNBOUND and abstract:
        listed = f"method{'s' if len(abstract) > 1 else ''} {', '.join(abstract)}"
        run.fail("TypeError", f"Can't instantiate abstract class {kind.name} with abstract {listed}")
    for one in kind.order:
        if one.make is not None and one is not kind and one.name in HOSTS and host_of(kind) is one:
            return construct_hosted(run, kind, one, arguments, named)
        if one.make is not None:
            return call_native(run, one.make, [kind, *arguments] if one is not kind else arguments, named)
    new = kind.find("__new__")
    made = new_object(kind) if new is UNBOUND else call(run, new, [kind, *arguments], named)
    start = kind.find("__init__")
    if start is not UNBOUND and isinstance(made, Instance):
        call(run, start, [made, *arguments], named)
    elif start is UNBOUND and new is UNBOUND and (arguments or named):
        run.fail("TypeError", f"{kind.name}() takes no arguments")
    return made


def construct_hosted(run: Run, kind: Class, base: Class, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Return a new object of a class that is derived from one of Python's own."""
    new, start = kind.find("__new__"), kind.find("__init__")
    made = (
        new_hosted(run, kind, base, arguments, named) if new is UNBOUND else call(run, new, [kind, *arguments], named)
    )
    if start is not UNBOUND and isinstance(made, Hosted):
        call(run, start, [made, *arguments], named)
    return made


def new_object(kind: Class) -> Instance:
    """Return a new object, before it is given anything; one that says what it equals is a key by that."""
    if kind.find("__eq__") is not UNBOUND or kind.find("__hash__") is not UNBOUND:
        return Keyed(kind)
    return Instance(kind)


# ---- functions of the table
def table_function(name: str) -> TableFunction:
    """Return a function of gradcli's table by a name that a script would call it by; raises KeyError."""
    found = find_table(name)
    if found is None:
        raise KeyError(name)
    return found


LIBRARIES = {"torch": "torch", "numpy": "np", "jax": "np", "math": "math", "autograd": "np", "scipy": "scipy"}


@cache
def find_table(name: str) -> TableFunction | None:
    """Return a function of the table by a full dotted name (``torch.nn.functional.relu``), None where there is none."""
    root = name.partition(".")[0]
    library = LIBRARIES.get(root, "torch")
    if name.startswith(("torch.nn.functional.", "F.", "jax.nn.")):
        library = "F"
    for spelled in (
        name,
        name.replace("numpy.", "np.", 1),
        name.replace("jax.numpy.", "jnp.", 1),
        name.replace("autograd.numpy.", "np.", 1),
    ):
        function = find_function(spelled)
        if function is not None:
            return TableFunction(function, library, name)
    return None


@cache
def table_method(name: str) -> TableFunction | None:
    """Return a method of the table, None where there is none."""
    function = find(TABLE_METHODS, name)
    return None if function is None else TableFunction(function, "torch", name)


@cache
def jax_method(name: str) -> Any:
    """Return the function that a method of JAX's arrays is, None for one that is as PyTorch's."""
    from gradcli.runner.library import look_up

    own = METHODS.get(f"jax.{name}") or METHODS.get(name)
    if own is not None:
        return own
    found = look_up(f"jax.numpy.{name}")
    return find_table(f"jax.numpy.{name}") if found is UNBOUND else found


def call_method(run: Run, owner: Tensor, name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Call a method of a tensor: a native, one of the table, or one of these written back in place."""
    if owner.library == "jax":
        inner = jax_method(name)
        if inner is not None:
            return call(run, inner, [owner, *arguments], named)
    own = METHODS.get(name)
    if own is not None:
        return call_native(run, own, [owner, *arguments], named)
    function = table_method(name)
    if function is not None:
        return call_table(run, function, [owner, *arguments], named, owner.library)
    if name.endswith("_") and not name.startswith("_"):
        from gradcli.runner.writes import refuse_stale, write_back

        first = run.count
        refuse_stale(run, owner)
        made = call_method(run, owner, name[:-1], arguments, named)
        write_back(run, owner, made, first)
        return owner
    return no_attribute(run, owner, name)


def call_table(
    run: Run, what: TableFunction, arguments: list[Any], named: dict[str, Any], library: str | None = None
) -> Any:
    """Call a function of the table with values of a script."""
    function: Function = what.function
    place = WRITES_BY.get(function.name)
    if (named and not WRITTEN_TO.isdisjoint(named)) or (place is not None and len(arguments) == place + 1):
        return call_into(run, what, arguments, named, library)
    tensors: list[Any] = []
    library = library or library_name(what, arguments, named)
    if named:
        named = {key: value for key, value in named.items() if key not in WITHOUT_MEANING}
    dtype = named.get("dtype")
    bound, registers = bound_call(function, what.library, len(arguments), tuple(named))
    values = [
        convert(run, parameter, value, tensors, library)
        for parameter, value in zip(registers, [*arguments, *named.values()], strict=True)
    ]
    if library == "torch" and what.name.startswith("torch."):
        check_tensors(run, what.name, function.name, registers, arguments)
    if library == "torch" and function.name in PRODUCTS:
        refuse_types(run, function.name, tensors)
    if library == "torch" and (function.name in WHOLE or function.name in TYPED) and tensors:
        whole = tensors[0].dtype if dtype is None else None
        refuse_typed(run, function.name, registers, [*arguments, *named.values()], whole)
    first = run.count
    try:
        made = bound([run.f, *values])
    except GradcliError as error:
        if library == "torch":
            in_torch_words(run, function.name, registers, [*arguments, *named.values()], error)
        raise
    rounds = library == "torch" and named.get("rounding_mode") is not None
    given = dtype.name if isinstance(dtype, DType) else dtype
    result = made_type(run, function, made, given, tensors, arguments, library, rounds)
    made_by = (
        what.name,
        tuple(map(argument_kind, arguments)),
        {k: argument_kind(v) for k, v in named.items() if v is not None},
    )
    if type(made) is Operation and run.count > first + 1 and library == "torch":
        run.fused[made] = Fused(first, made_by, [t.node for t in tensors])
    return wrap(run, made, result, library, made_by, tensors, (bound, values))


def made_type(
    run: Run, function: Function, made: Any, given: Any, tensors: list[Any], arguments: list[Any], library: str,
    rounds: bool,
) -> str:  # fmt: skip
    """Return the type of what a call made: that which was ``given``, else by the types of the arguments."""
    plain_ = [v for v in arguments if type(v) in (int, float, bool)] if function.kinds.beside != "first" else []
    if library == "jax":
        result = dtype_in_jax(run, function, given, [*tensors, *[v for v in arguments if type(v) is float]] or plain_)
    else:
        result = (
            given if isinstance(given, str) else result_type(run, function.name, made, tensors, plain_, library, rounds)
        )
    kind = kind_of(value_of(first_of(made)))
    if kind != "f" and category(result) == 2 and not isinstance(given, str):
        result = "bool" if kind == "b" else "int32" if library == "jax" and not run.x64 else "int64"
    if category(result) < 2 and kind == "f" and not rounds:
        result = run.default_dtype if library == "torch" else plain_in_jax(run, 1.0) if library == "jax" else "float64"
        result = strong(result) if tensors else result
    return result


WRITTEN_TO = {"out", "inplace"}
"""Options that say where a result is written."""
WRITES_BY = {
    **dict.fromkeys(("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"), 1),
    "leaky_relu": 2, "elu": 2, "celu": 2, "hardtanh": 3, "threshold": 3, "rrelu": 4, "dropout": 3,
}  # fmt: skip
"""The place of ``inplace`` among the arguments of functions that have it."""


def call_into(run: Run, what: TableFunction, arguments: list[Any], named: dict[str, Any], library: str | None) -> Any:
    """Call a function of the table that writes its result into what it is given, or into ``out``."""
    from gradcli.runner.writes import write_back

    named, place, first = dict(named), WRITES_BY.get(what.function.name), run.count
    out, inplace = named.pop("out", None), named.pop("inplace", False)
    if place is not None and len(arguments) == place + 1:
        *arguments, inplace = arguments
    if out is not None and run.grad_enabled and any(isinstance(t, Tensor) and t.active for t in (*arguments, out)):
        run.fail(
            "RuntimeError",
            f"{what.function.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad.",
        )
    made = call_table(run, what, arguments, named, library)
    if out is None and inplace:
        out = arguments[0] if arguments else named["input"]
    if isinstance(out, Tensor):
        write_back(run, out, made, first)
        return out
    return made


def dtype_in_jax(run: Run, function: Function, given: Any, values: list[Any]) -> str:
    """Return the type of what a function gives in JAX; sums and products are no numbers that give way to others."""
    if isinstance(given, str):
        return given if run.x64 else SHORT.get(given, given)
    result = together(run, values, "jax")
    return result if function.family in ("elementwise", "shaping", "neural") else strong(result)


def argument_kind(value: Any) -> Any:
    """Return what the name of a derivative depends on: the number of axes of a tensor, a text, a tuple."""
    if isinstance(value, Tensor):
        return len(value.shape)
    return (
        value if isinstance(value, str) else tuple(value) if type(value) in (tuple, list) and plain_all(value) else None
    )


def plain_all(values: Any) -> bool:
    """Return whether all items are integers."""
    return all(type(item) is int for item in values)


def library_name(what: TableFunction, arguments: list[Any], named: dict[str, Any]) -> str:
    """Return whose arrays a function gives: those that it is given, else those of the library that it is called of."""
    root = what.name.partition(".")[0]
    if root == "math":
        return "python"
    if root in ("numpy", "jax", "autograd", "scipy"):
        given = next((a.library for a in arguments if isinstance(a, Tensor)), "numpy")
        return "jax" if root == "jax" else "numpy" if given != "jax" else given
    for value in (*arguments, *named.values()):
        if isinstance(value, Tensor):
            return value.library if value.library != "python" else "torch"
    return "torch"
