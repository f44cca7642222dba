"""Calls: functions of the script, classes and what makes them, natives of libraries, functions of gradcli's table."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Collection, Generator, Sequence
from functools import cache
from typing import Any, NamedTuple

from gradcli.engine.graph import Called, Operation
from gradcli.errors import GradcliError
from gradcli.language.calls import WITHOUT_MEANING, Parameter, find_function, lacks
from gradcli.ops import METHODS as TABLE_METHODS
from gradcli.ops import Function, Pair, Parts, find
from gradcli.ops.declare import value_of
from gradcli.runner.converting import bound_call, cast, cast_call, convert, remember_call, wrap
from gradcli.runner.exceptions import KINDS, in_names_of, of_host, torch_error, type_error
from gradcli.runner.library import METHODS, TABLE, host_of, look_up, new_hosted, refuse_effect, refuse_theirs
from gradcli.runner.python.containers import refuse_stale, write_back
from gradcli.runner.python.operators import PRODUCTS, SHORT, plain_in_jax, refuse_types, together
from gradcli.runner.state import DEEP, Fused, Run, lay_out
from gradcli.runner.values import (
    UNBOUND,
    Bound,
    Class,
    ClassMethod,
    Closure,
    DType,
    Foreign,
    Frame,
    Hosted,
    Instance,
    Keyed,
    Method,
    Progress,
    Property,
    StaticMethod,
    TableFunction,
    Tensor,
    ask,
    category,
    kind_of,
    own,
    strong,
)

OF_CLASSES: dict[tuple[str, str], Any] = {}
"""Methods that are called of Python's classes, with their object if any: ``str.upper``, ``dict.fromkeys``."""
Arguments = Sequence[Any]
Named = dict[str, Any]


def call(  # noqa: C901, PLR0911 - one case for each kind of what can be called
    run: Run, what: Any, arguments: Arguments = (), named: Named | None = None
) -> Any:
    """Call anything that can be called; raises TypeError for what cannot."""
    named = named or {}
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
        caller = UNBOUND if what.metaclass is None else what.metaclass.find("__call__")
        if caller is not UNBOUND:
            return call(run, caller, [what, *arguments], named)
        return construct(run, what, arguments, named)
    if (member := own(what, "__call__")) is not UNBOUND:
        return call(run, member, [what, *arguments], named)
    if kind is StaticMethod or kind is ClassMethod:
        return call(run, what.function, arguments, named)
    if kind is Foreign:
        return call_foreign(run, what, arguments, named)
    if kind is DType:
        return cast_call(run, what, *arguments, **named)
    if callable(what):
        return call_native(run, what, arguments, named)
    return run.fail("TypeError", f"'{run.type_name(what)}' object is not callable")


def call_foreign(run: Run, what: Foreign, arguments: Arguments, named: Named) -> Any:
    """Return what a function gives that only shows: more of it; ``tqdm`` hands on its first argument."""
    refuse_effect(what.name)
    if what.name.partition(".")[0] in run.unknown and is_differentiated([*arguments, *named.values()]):
        run.left_out.setdefault(what.name, run.line)
    last = what.name.rpartition(".")[2]
    if last in ("tqdm", "trange", "track") and arguments:
        return Progress(what.name, range(*arguments) if last == "trange" else arguments[0])
    return what


DEEP_IN = 4
"""Objects within objects in which a tensor is looked for."""


def is_differentiated(value: Any, depth: int = DEEP_IN) -> bool:
    """Return whether a value is, or holds, a tensor that derivatives are by or flow through."""
    if isinstance(value, Tensor):
        return value.active
    if not depth or not isinstance(value, list | tuple | dict | Instance):
        return False
    parts = value.fields.values() if isinstance(value, Instance) else value.values() if type(value) is dict else value
    return any(is_differentiated(part, depth - 1) for part in parts)


def call_native(run: Run, what: Any, arguments: Arguments, named: Named) -> Any:
    """Call a native; arguments that it does not take are a TypeError of the script."""
    try:
        return what(run, *arguments, **named)
    except TypeError as error:
        try:
            inspect.signature(what).bind(run, *arguments, **named)
        except TypeError as misfit:
            if words := python_words(run, what, arguments, named):
                return run.fail("TypeError", words)
            bound_arguments(run, native_name(run, what), parameters_of(what), arguments, named)
            return run.fail("TypeError", str(misfit))
        except ValueError:  # it has no signature
            pass
        return run.fail("TypeError", in_names_of(run, str(error), (*arguments, *named.values())))
    except AttributeError as error:  # of what the native took for a value of another kind
        words = f"got an argument of type '{run.type_name(error.obj)}', which it does not take"
        return run.fail("TypeError", f"{native_name(run, what)}() {words}")
    except (ValueError, LookupError, ZeroDivisionError, OverflowError) as error:
        raise of_host(error) or error from None


def python_words(run: Run, what: Any, arguments: Arguments, named: Named) -> str | None:
    """Return what Python's own function says where it takes no such arguments; None for one that is no builtin.

    It is called with an empty tuple in the place of each: it looks at how many there are first.
    """
    made = {name: kind.make if isinstance(kind, Class) else kind for name, kind in run.builtins.items()}
    function = next((getattr(builtins, name, None) for name, one in made.items() if one is what), None)
    if function is None:
        kind, name = next((place for place, one in OF_CLASSES.items() if one is what), ("", ""))
        if name and not arguments:
            return f"unbound method {kind}.{name}() needs an argument"
        method = getattr(getattr(builtins, kind, None), name, None)
        function = method and (lambda *rest, **others: method(getattr(builtins, kind)(), *rest[1:], **others))
    try:
        function and function(*[()] * len(arguments), **dict.fromkeys(named, ()))
    except Exception as error:  # noqa: BLE001 - of what the tuples are taken for
        is_arity = re.search("argument|parameter", str(error)) and not re.search("'tuple'|(not|type) tuple", str(error))
        return str(error) if is_arity else None
    return None


def native_name(run: Run, what: Any) -> str:
    """Return what a message calls a native: the last part of the name that a script calls it by."""
    methods = (*METHODS.items(), *((name, one) for (_, name), one in OF_CLASSES.items()))
    names = (name for name, one in (*TABLE.items(), *run.builtins.items(), *methods) if one is what)
    return next(names, getattr(what, "__name__", "function").strip("_")).rpartition(".")[2]


# ---- functions of the script
def call_closure(run: Run, closure: Closure, arguments: Arguments, named: Named) -> Any:
    """Call a function of the script."""
    code = closure.code
    frame = code.template.copy()
    frame[0], frame[1] = run, closure.module
    if named or len(arguments) != len(code.positional) or code.rest or code.options or code.by_name:
        bind(run, closure, frame, arguments, named)
    else:
        for name, value in zip(code.positional, arguments, strict=True):
            frame[code.places[name]] = value
    if run.story is not None and run.story.parameters and code.listed:
        for name in code.positional:
            frame[code.places[name]] = run.story.tell_parameter(run, name, frame[code.places[name]])
    for place in code.cells:
        frame[place] = [frame[place]]
    for (here, _), cell in zip(code.frees, closure.cells, strict=True):
        frame[here] = cell
    return generate(run, code, frame) if code.generator else run_frame(run, code, frame)


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


def bind(run: Run, closure: Closure, frame: Frame, arguments: Arguments, named: Named) -> None:
    """Put arguments and defaults into the registers of parameters; raises TypeError as Python does."""
    code = closure.code
    last = zip(reversed(code.positional), reversed(closure.defaults), strict=False)
    defaults = {**dict(last), **closure.named_defaults}
    own = Parameters(code.positional, defaults, code.by_position_alone, code.by_name, code.rest, code.options)
    values = bound_arguments(run, code.qualified or code.name, own, arguments, named)
    for name, value in (defaults | values).items():
        frame[code.places[name]] = value


class Parameters(NamedTuple):
    """What a function takes: by position, the first of these so alone, by name, and all the rest; some are optional."""

    positional: Sequence[str]
    optional: Collection[str] = ()
    by_position_alone: int = 0
    by_name: Sequence[str] = ()
    rest: str | None = None
    options: str | None = None


def bound_arguments(
    run: Run, who: str, expected: Parameters, arguments: Arguments, named: Named, before: int = 0
) -> Named:
    """Return arguments by the parameters that they are for; raises TypeError as Python does of a function.

    ``before`` is how many more are counted, such as the object of a method.
    """
    positional, alone = expected.positional, expected.positional[: expected.by_position_alone]
    values = dict(zip(positional, arguments, strict=False))
    if len(arguments) > len(positional) and expected.rest is None:
        most, count = len(positional) + before, len(arguments) + before
        least = most - sum(name in expected.optional for name in positional)
        takes = f"{most}" if least == most else f"from {least} to {most}"
        words = f"argument{'' if takes == '1' else 's'} but {count} {'was' if count == 1 else 'were'} given"
        run.fail("TypeError", f"{who}() takes {takes} positional {words}")
    misplaced = [key for key in named if key in alone]
    if misplaced and expected.options is None:
        what = "got some positional-only arguments passed as keyword arguments"
        run.fail("TypeError", f"{who}() {what}: '{', '.join(misplaced)}'")
    options: Named = {}
    for key, value in named.items():
        if key in values and key not in alone:
            run.fail("TypeError", f"{who}() got multiple values for argument '{key}'")
        if key in expected.by_name or (key in positional and key not in alone):
            values[key] = value
        elif expected.options is not None:
            options[key] = value
        else:
            run.fail("TypeError", f"{who}() got an unexpected keyword argument '{key}'")
    for kind, names in (("positional", positional), ("keyword-only", expected.by_name)):
        missing = [repr(name) for name in names if name not in values and name not in expected.optional]
        if missing:
            *first, last = missing
            listed = f"{', '.join(first)}{',' * (len(first) > 1)} and {last}" if first else last
            what = f"missing {len(missing)} required {kind} argument{'s' * bool(first)}: {listed}"
            run.fail("TypeError", f"{who}() {what}")
    if expected.rest is not None:
        values[expected.rest] = tuple(arguments[len(positional) :])
    return values if expected.options is None else values | {expected.options: options}


def parameters_of(what: Any) -> Parameters:
    """Return what a native takes after the run."""
    kinds = inspect.Parameter
    names: dict[Any, list[str]] = {}
    after = list(inspect.signature(what).parameters.values())[1:]
    for p in after:
        names.setdefault(p.kind, []).append(p.name)
    alone, either, by_name = (
        names.get(kind, []) for kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    )
    [rest], [options] = (names.get(kind, [None]) for kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD))
    optional = [p.name for p in after if p.default is not p.empty]
    return Parameters([*alone, *either], optional, len(alone), by_name, rest, options)


# ---- classes and their objects
def make_class(
    run: Run, name: str, bases: list[Any], members: Named, annotated: dict[str, str], options: Named
) -> Class:
    """Return a class of a body's members; ``annotated`` has the types that are written there, by name.

    A base may have a native ``__body__`` that makes classes of its own kind: enums, tuples with names. A metaclass of
    the script is called as Python calls it.
    """
    for base in bases:
        if not isinstance(base, Class | Foreign) and not getattr(base, "shows", False):
            run.fail("TypeError", f"bases of {name} must be classes")
        members = members | {"__foreign__": base} if isinstance(base, Foreign) else members
    kinds = [base for base in bases if isinstance(base, Class)]
    metaclass = options.get("metaclass")
    if not isinstance(metaclass, Class) or metaclass.run is None:
        metaclass = next((kind.metaclass for kind in kinds if kind.metaclass is not None), None)
    if metaclass is None:
        return built(run, name, kinds, members, annotated, options)
    new, start, parts = metaclass.find("__new__"), metaclass.find("__init__"), [name, tuple(bases), dict(members)]
    if new is not UNBOUND:
        made: Class = call(run, new, [metaclass, *parts])
    else:
        made = built(run, name, kinds, members, annotated, options)
        made.metaclass = metaclass
    if start is not UNBOUND:
        call(run, start, [made, *parts])
    return made


def built(run: Run, name: str, kinds: list[Class], members: Named, annotated: dict[str, str], options: Named) -> Class:
    """Return a class of a body's members, as ``type`` makes it."""
    if annotated:
        members = members | {"__annotations__": annotated}
    if "__eq__" in members:
        members.setdefault("__hash__", None)
    body = next((one for kind in kinds if (one := kind.find("__body__")) is not UNBOUND), None)
    if body is not None:
        return body(run, name, kinds, members)  # type: ignore[no-any-return]
    try:
        made = Class(name, kinds, members, qualified=f"__main__.{name}")
    except ValueError as error:
        return run.fail("TypeError", str(error))  # type: ignore[no-any-return]
    made.run = run
    run.meter.watch(len(made.order) // 64)
    if made.find("__abc__") is not UNBOUND or getattr(options.get("metaclass"), "name", "") == "ABCMeta":
        members["__abc__"] = made.members["__abc__"] = True
        inherited = (one for base in made.order[1:] for one in base.members.get("__abstract__", ()))
        abstract = sorted({one for one in (*members, *inherited) if is_abstract(made.find(one))})
        if abstract or made.find("__abstract__") is not UNBOUND:
            made.members["__abstract__"] = abstract or ()
    for key, value in list(members.items()):
        ask(run, value, "__set_name__", made, key)
    hook: Any = next((one for kind in made.order[1:] if (one := kind.members.get("__init_subclass__"))), None)
    if hook is not None:
        rest = {key: value for key, value in options.items() if key != "metaclass"}
        call(run, hook.function if isinstance(hook, ClassMethod) else hook, [made], rest)
    return made


def is_abstract(member: Any) -> bool:
    """Return whether a member is one that a derived class has to define."""
    if isinstance(member, Property):
        member = member.getter
    if isinstance(member, StaticMethod | ClassMethod):
        member = member.function
    return isinstance(member, Closure) and "__isabstractmethod__" in member.attributes


def bound(run: Run, owner: Any, kind: Class, member: Any) -> Any:
    """Return a member of a class as an object of it has it."""
    if isinstance(member, Closure) or (callable(member) and not isinstance(member, Class | DType)):
        return Bound(member, owner)
    if isinstance(member, Property):
        return call(run, member.getter, [owner])
    return described(run, owner, kind, member)


def described(run: Run, owner: Any, kind: Class, member: Any) -> Any:
    """Return what a member is by its own descriptor: ``owner`` is None where it is read of the class."""
    if isinstance(member, StaticMethod):
        return member.function
    if isinstance(member, ClassMethod):
        return Bound(member.function, kind)
    made = ask(run, member, "__get__", owner, kind)
    return member if made is UNBOUND else made


def no_attribute(run: Run, owner: Any, name: str) -> Any:
    """Raise the exception for an attribute that is not there; one that PyTorch has is refused."""
    refuse_theirs(run, owner, name)
    return run.fail("AttributeError", f"'{run.type_name(owner)}' object has no attribute '{name}'")


def construct(run: Run, kind: Class, arguments: Arguments, named: Named) -> Any:
    """Return a new object of a class."""
    abstract = kind.find("__abstract__")
    if abstract is not UNBOUND and abstract:
        listed = f"method{'s' if len(abstract) > 1 else ''} {', '.join(abstract)}"
        run.fail("TypeError", f"Can't instantiate abstract class {kind.name} with abstract {listed}")
    native = next((one for one in kind.order if one.make is not None), None)
    hosted = native is not None and native is not kind and native is host_of(kind)
    if native is not None and not hosted:
        return call_native(run, native.make, [kind, *arguments] if native is not kind else arguments, named)
    new, start = kind.find("__new__"), kind.find("__init__")
    if new is not UNBOUND:
        made = call(run, new, [kind, *arguments], named)
    else:
        made = new_object(kind) if native is None else new_hosted(run, kind, native, arguments, named)
    if start is not UNBOUND and isinstance(made, Instance | Hosted):
        call(run, start, [made, *arguments], named)
    elif start is UNBOUND and new is UNBOUND and not hosted and (arguments or named):
        run.require(kind.find("__foreign__"))
        run.fail("TypeError", f"{kind.name}() takes no arguments")
    return made


def new_object(kind: Class) -> Instance:
    """Return a new object, before anything is assigned to it; one that says what it equals is a key by that."""
    is_key = kind.find("__eq__") is not UNBOUND or kind.find("__hash__") is not UNBOUND
    return Keyed(kind) if is_key else Instance(kind)


# ---- functions of the table
LIBRARIES = {"torch": "torch", "numpy": "np", "jax": "np", "math": "math", "autograd": "np", "scipy": "scipy"}
SHORTER = (("numpy.", "np."), ("jax.numpy.", "jnp."), ("autograd.numpy.", "np."))
"""How the table spells names of modules."""


def table_function(name: str) -> TableFunction:
    """Return a function of gradcli's table by a name that a script would call it by; raises KeyError."""
    function = find_table(name)
    if function is None:
        raise KeyError(name)
    return function


@cache
def find_table(name: str) -> TableFunction | None:
    """Return a function of the table by a full dotted name (``torch.nn.functional.relu``), None where there is none."""
    library = LIBRARIES.get(name.partition(".")[0], "torch")
    if name.startswith(("torch.nn.functional.", "F.", "jax.nn.")):
        library = "F"
    spelled = (name, *(name.replace(long, short, 1) for long, short in SHORTER))
    function = next((one for way in spelled if (one := find_function(way)) is not None), None)
    return None if function is None else TableFunction(function, library, name)


@cache
def table_method(name: str) -> TableFunction | None:
    """Return a method of the table, None where there is none."""
    function = find(TABLE_METHODS, name)
    return None if function is None else TableFunction(function, "torch", name)


@cache
def jax_method(name: str) -> Any:
    """Return the function that a method of JAX's arrays is, None for one that is as PyTorch's."""
    own = METHODS.get(f"jax.{name}") or METHODS.get(name)
    if own is not None:
        return own
    function = look_up(f"jax.numpy.{name}")
    return find_table(f"jax.numpy.{name}") if function is UNBOUND else function


def call_method(run: Run, owner: Tensor, name: str, arguments: Arguments, named: Named) -> Any:
    """Call a method of a tensor: a native, one of the table, or one of these written back in place."""
    inner = jax_method(name) if owner.library == "jax" else None
    if inner is not None:
        return call(run, inner, [owner, *arguments], named)
    if name in METHODS:
        return call_native(run, METHODS[name], [owner, *arguments], named)
    function = table_method(name)
    if function is not None:
        return call_table(run, function, [owner, *arguments], named, owner.library)
    if not name.endswith("_") or name.startswith("_") or lacks("torch.Tensor", name):
        return no_attribute(run, owner, name)
    first = run.count
    refuse_stale(run, owner)
    run.refuse_overlap(owner, [*arguments, *named.values()])
    write_back(run, owner, call_method(run, owner, name[:-1], arguments, named), first)
    return owner


def call_table(run: Run, what: TableFunction, arguments: Arguments, named: Named, library: str | None = None) -> Any:
    """Call a function of the table with values of a script."""
    function: Function = what.function
    place = WRITES_BY.get(function.name)
    if (named and not WRITTEN_TO.isdisjoint(named)) or (place is not None and len(arguments) == place + 1):
        return call_into(run, what, arguments, named, library)
    tensors: list[Any] = []
    library = library or library_name(what, arguments, named)
    if named:
        named = {key: value for key, value in named.items() if key not in WITHOUT_MEANING}
    dtype, torch = named.get("dtype"), library == "torch"
    if what.name.endswith("float_power"):  # the table's ``pow``, of doubles
        dtype = "float32" if library == "jax" and not run.x64 else "float64"
        arguments = [cast(run, x, dtype) if isinstance(x, Tensor) else x for x in arguments]
    bound, registers = bound_call(function, what.library, len(arguments), tuple(named))
    given = [*arguments, *named.values()]
    values = [convert(run, p, value, tensors, library) for p, value in zip(registers, given, strict=True)]
    if torch:
        check_arguments(run, what, registers, arguments, given, tensors, dtype)
    first = run.count
    try:
        made = bound([run.f, *values])
    except GradcliError as error:
        if torch and function.name == "mean" and tensors and not tensors[0].value.size:
            return run.operate("/", run.function("sum", *arguments, **named), 0.0)
        if torch and error.kind in KINDS:
            run.fail_with(torch_error(function.name, by_parameter(registers, given)))
        raise
    rounds = torch and named.get("rounding_mode") is not None
    asked = dtype.name if isinstance(dtype, DType) else dtype
    asked = asked if isinstance(asked, str) else None
    result = made_type(run, function, made, asked, tensors, arguments, library, rounds)
    kinds = {key: argument_kind(value) for key, value in named.items() if value is not None}
    made_by = (what.name, tuple(map(argument_kind, arguments)), kinds)
    several = type(made) is Operation and run.count > first + 1
    if several and run.graph.origins is not None:
        by_name = dict(zip(named, values[len(arguments) :], strict=True))
        run.graph.calls[made.index] = Called(function, tuple(values[: len(arguments)]), by_name, first)
    wrapped = wrap(run, made, result, library, made_by, tensors, (bound, values))
    if torch:
        remember_call(run, wrapped, Fused(first, made_by, [t.node for t in tensors]))
    reduces = function.family in ("reductions", "linear algebra") and function.name not in ("sort", "diff")
    return lay_out(wrapped) if torch and (reduces or function.name in LAID_OUT) else wrapped


LAID_OUT = {
    "softmax", "softmin", "log_softmax", "logsigmoid", "layer_norm", "batch_norm", "instance_norm", "group_norm",
    "rms_norm", "interpolate", "pairwise_distance", "triplet_margin_loss", "masked_fill", "index_select", "index_copy",
    "scatter", "bucketize", "searchsorted", "roll", "cat", "stack", "hstack", "vstack", "dstack", "column_stack",
    "tril", "triu", *[f"{kind}{axes}d" for axes in (1, 2, 3) for kind in (
        "conv", "conv_transpose", "avg_pool", "max_pool", "lp_pool", "adaptive_avg_pool", "adaptive_max_pool")],
}  # fmt: skip
"""Functions beside those of rows and matrices whose results PyTorch lays out row by row; others keep the layout."""


WRITTEN_TO = {"out", "inplace"}
"""Options that say where a result is written."""
WRITES_BY = {
    **dict.fromkeys(("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"), 1),
    "leaky_relu": 2, "elu": 2, "celu": 2, "hardtanh": 3, "threshold": 3, "rrelu": 4, "dropout": 3,
}  # fmt: skip
"""The place of ``inplace`` among the arguments of functions that have it."""


def call_into(run: Run, what: TableFunction, arguments: Arguments, named: Named, library: str | None) -> Any:
    """Call a function of the table that writes its result into its argument, or into ``out``."""
    named, place, first = dict(named), WRITES_BY.get(what.function.name), run.count
    out, inplace = named.pop("out", None), named.pop("inplace", False)
    if place is not None and len(arguments) == place + 1:
        *arguments, inplace = arguments
    if out is not None and run.grad_enabled and any(isinstance(t, Tensor) and t.active for t in (*arguments, out)):
        run.fail_as("out", what.function.name)
    made = call_table(run, what, arguments, named, library)
    if out is None and inplace:
        out = arguments[0] if arguments else named["input"]
    if not isinstance(out, Tensor):
        return made
    write_back(run, out, made, first)
    return out


def argument_kind(value: Any) -> Any:
    """Return what the name of a derivative depends on: the number of axes of a tensor, a text, a tuple."""
    if isinstance(value, Tensor):
        return len(value.shape)
    if type(value) in (tuple, list):
        return tuple(value) if all(type(item) is int for item in value) else None
    return value if isinstance(value, str) else None


def library_name(what: TableFunction, arguments: Arguments, named: Named) -> str:
    """Return whose arrays a function gives: those of its arguments, else those of the library that it is called of."""
    root = what.name.partition(".")[0]
    if root == "math":
        return "python"
    if root in ("numpy", "jax", "autograd", "scipy"):
        library = next((a.library for a in arguments if isinstance(a, Tensor)), "numpy")
        return "jax" if "jax" in (root, library) else "numpy"
    library = next((v.library for v in (*arguments, *named.values()) if isinstance(v, Tensor)), "torch")
    return "torch" if library == "python" else library


# ---- types of results, and arguments that do not fit
COUNTS = ("argmax", "argmin", "argsort", "count_nonzero", "nonzero", "bincount", "searchsorted", "bucketize")
"""Functions whose results are numbers of places."""
SUMS = ("sum", "prod", "cumsum", "cumprod", "trace", "nansum")
"""Functions that make integers of 64 bits of smaller ones."""
WITH_NUMBERS = ("add", "sub", "mul", "div", "pow", "where", "fmod", "remainder", "clip", "rsub")
"""Functions for which the types of Python's numbers count."""
OF_THE_FIRST = {
    "gather", "take", "take_along_dim", "index_select", "masked_select", "masked_fill", "index_fill", "index_put",
    "index_add", "index_copy", "scatter", "scatter_add", "scatter_reduce",
}  # fmt: skip
"""Functions that pick entries of their first argument, or write into it: the result is of its type."""
NUMBERS_FIRST = {*WITH_NUMBERS, "xlogy", "einsum", "polygamma", "multigammaln"} - {"clip"}
"""Functions of PyTorch's whose first argument may be a number."""


def made_type(
    run: Run, function: Function, made: Any, asked: str | None, tensors: list[Any], arguments: Arguments, library: str,
    rounds: bool,
) -> str:  # fmt: skip
    """Return the type of what a call made: that which it was ``asked`` for, else by the types of the arguments."""
    while isinstance(made, tuple) and made:
        made = made[0]
    made = made.values if isinstance(made, Pair) else made[0] if isinstance(made, Parts) else made
    kind = kind_of(value_of(made))
    rounds = rounds or function.name == "einsum"  # which computes in doubles
    numbers = [v for v in arguments if type(v) in (int, float, bool)] if function.kinds.beside != "first" else []
    if library == "jax" and asked is not None:
        result = asked if run.x64 else SHORT.get(asked, asked)
    elif library == "jax":  # sums and products are no numbers that give way to others
        values = [*tensors, *[v for v in arguments if type(v) is float]] or numbers
        result = together(run, values, "jax")
        result = result if function.family in ("elementwise", "shaping", "neural") else strong(result)
    else:
        result = asked or result_type(run, function.name, kind, tensors, numbers, library, rounds)
    if kind != "f" and category(result) == 2 and asked is None:
        result = "bool" if kind == "b" else "int32" if library == "jax" and not run.x64 else "int64"
    if category(result) < 2 and kind == "f" and not rounds and function.name != "einsum":
        result = run.default_dtype if library == "torch" else plain_in_jax(run, 1.0) if library == "jax" else "float64"
        result = strong(result) if tensors else result
    return result


def result_type(
    run: Run, name: str, kind: str, tensors: list[Any], numbers: list[Any], library: str, rounds: bool
) -> str:
    """Return the type of a function's result by those of its arguments, as PyTorch has it; a division may round."""
    tensors = tensors[:1] if name in OF_THE_FIRST else tensors
    values = [*tensors, *numbers] if name in WITH_NUMBERS else tensors or numbers
    result = together(run, values, library if library != "python" else "numpy")
    if library != "torch":
        return result
    if name in COUNTS or (name in SUMS and category(result) < 2):
        return "int64"
    if kind == "f" and rounds and category(result) < 2:
        return "int64" if result == "bool" else result
    if kind == "b" and name not in SUMS:
        return "bool"
    return "int64" if result == "bool" and kind == "i" and name in ("square", "clip", "where") else result


def check_arguments(
    run: Run, what: TableFunction, places: list[Parameter], values: Arguments, all_values: list[Any],
    tensors: list[Any], dtype: Any,
) -> None:  # fmt: skip
    """Raise what PyTorch raises for arguments of other types than it takes."""
    name = what.function.name
    if what.name.startswith("torch."):
        check_tensors(run, what.name, name, places, values)
    if name in PRODUCTS:
        refuse_types(run, name, tensors)
    if tensors and what.name.rpartition(".")[2] != "tile":  # which the table takes for ``repeat``
        first = tensors[0].dtype if dtype is None else None
        run.fail_with(type_error(name, first, lambda: by_parameter(places, all_values)))


def check_tensors(run: Run, full: str, name: str, places: list[Parameter], values: Any) -> None:
    """Raise what PyTorch raises for a number, a list or a text in the place of a tensor."""
    for place, (parameter, value) in enumerate(zip(places, values, strict=False)):
        if place > (1 if name in PRODUCTS else 0):
            return
        takes = parameter.kind == "Tensor" and not parameter.rest and name not in NUMBERS_FIRST
        if takes and not isinstance(value, Tensor | Pair):
            if isinstance(value, Foreign | Instance):
                return
            called = {"x": "input"}.get(parameter.name, parameter.name)
            run.fail_as("no tensor", full.rpartition(".")[2], called, place + 1, run.type_name(value))


def by_parameter(places: list[Parameter], values: list[Any]) -> dict[str, Any]:
    """Return the arguments of a call under the names of the table's parameters, of several under one name a list."""
    named: dict[str, Any] = {}
    for parameter, value in zip(places, values, strict=True):
        if parameter.rest:
            named.setdefault(parameter.name, []).append(value)
        else:
            named[parameter.name] = value
    return named
