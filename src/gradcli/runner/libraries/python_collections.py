"""Python's ``collections``, ``copy``, ``dataclasses`` and ``enum``."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from gradcli.ops.declare import value_of
from gradcli.runner.exceptions import exception_class
from gradcli.runner.library import TABLE, filling_of, native, own_attributes
from gradcli.runner.numpy_values import COMPARED
from gradcli.runner.printing import format_value, to_repr, to_str
from gradcli.runner.python.builtins import COLLECTIONS, DICT, INT, STR, TUPLE, type_of
from gradcli.runner.python.calls import Parameters, bound_arguments, new_object
from gradcli.runner.python.containers import take
from gradcli.runner.python.host_attributes import DUNDERS, count
from gradcli.runner.python.operators import equal, hashable, operate, truth
from gradcli.runner.state import Run, constant
from gradcli.runner.values import UNBOUND, Class, Closure, Factory, Hosted, Instance, Named, Property, Tensor, extra_of


# ---- collections
def make_counter(run: Run, iterable: Any = None, /, **named: Any) -> Counter[Any]:
    """Return a ``Counter``."""
    made: Counter[Any] = Counter()
    count(run, made, 1, iterable, **named)
    return made


def make_default(run: Run, factory: Any = None, items: Any = (), /, **named: Any) -> defaultdict[Any, Any]:
    """Return a ``defaultdict``."""
    if factory is not None and not run.call(run.builtin("callable"), [factory]):
        run.fail("TypeError", "first argument must be callable or None")
    return defaultdict(None if factory is None else Factory(run, factory), run.call(DICT, [items], named))


MAKERS: dict[type, Any] = {
    Counter: make_counter, defaultdict: make_default,
    OrderedDict: lambda run, items=(), /, **named: OrderedDict(run.call(DICT, [items], named)),
    deque: lambda run, iterable=(), maxlen=None: deque(take(run, iterable), maxlen),
}  # fmt: skip
for _kind, _make in MAKERS.items():
    TABLE[f"collections.{_kind.__name__}"] = COLLECTIONS[_kind]
    COLLECTIONS[_kind].make = _make


def tuple_class(name: str, fields: list[str], defaults: list[Any], members: dict[str, Any]) -> Class:
    """Return a class of tuples with names."""
    optional = dict(zip(fields[len(fields) - len(defaults) :], defaults, strict=True))

    def make(run: Run, *arguments: Any, **named: Any) -> Named:
        kind = arguments[0] if arguments and isinstance(arguments[0], Class) and arguments[0].is_a(made) else made
        given = arguments[1:] if kind is not made else arguments
        entries = optional | bound_arguments(run, f"{name}.__new__", Parameters(fields, optional), given, named, 1)
        return Named(kind.name, {field: entries[field] for field in fields}, kind)

    def make_of(run: Run, items: Any) -> Named:
        values = take(run, items)
        if len(values) != len(fields):
            run.fail("TypeError", f"Expected {len(fields)} arguments, got {len(values)}")
        return make(run, *values)

    shown = {"_fields": tuple(fields), "_field_defaults": optional, "_make": make_of}
    made: Class = Class(name, [TUPLE], shown | members, make, qualified=f"__main__.{name}")
    return made


@native("collections.namedtuple")
def named_tuple(
    run: Run, typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None, module: Any = None
) -> Class:
    """Return a class of tuples with names."""
    fields = field_names.replace(",", " ").split() if isinstance(field_names, str) else take(run, field_names)
    return tuple_class(typename, fields, take(run, defaults or ()), {})


def typed_tuple(run: Run, name: str, _bases: list[Class], members: dict[str, Any]) -> Class:
    """Return the class of tuples that a body with ``NamedTuple`` as its base describes."""
    fields = list(members.get("__annotations__", ()))
    defaults = [members[field] for field in fields if field in members]
    return tuple_class(name, fields, defaults, {k: v for k, v in members.items() if k not in fields})


TABLE["typing.NamedTuple"] = Class(
    "NamedTuple",
    [],
    {"__body__": typed_tuple},
    lambda run, typename, fields=(): tuple_class(typename, [pair[0] for pair in take(run, fields)], [], {}),
    qualified="typing.NamedTuple",
)


# ---- copy
def same_kind(x: Any, items: Any) -> Any:
    """Return a container of the kind of another."""
    if isinstance(x, Named):
        return Named(x.name, dict(zip(x.fields, items, strict=True)), x.kind)
    made = type(x)(*filling_of(x, items))
    if isinstance(x, Hosted):
        made.kind, made.fields = x.kind, dict(x.fields)
    return made


@native("copy.copy")
def shallow(run: Run, x: Any) -> Any:
    """Return a copy whose parts are the same."""
    if isinstance(x, Instance):
        own = x.kind.find("__copy__")
        if own is not UNBOUND:
            return run.call(own, [x])
        made = type(x)(x.kind)
        made.fields = dict(x.fields)
        return made
    if isinstance(x, Tensor):
        return copied_tensor(run, x)
    return same_kind(x, x) if isinstance(x, list | dict | set | deque) else x


def copied_tensor(run: Run, x: Tensor) -> Tensor:
    """Return a tensor of its own memory: a leaf of a leaf; raises what PyTorch raises for what an operation made."""
    if x.active and not x.leaf and x.library == "torch":
        run.fail_as("deepcopy")
    if x.active and x.library != "torch":
        return run.function("clone", x)  # type: ignore[no-any-return]
    made = Tensor(np.array(value_of(constant(run, x.node))), x.dtype, x.library)
    if x.extra is not None and x.extra.parameter:
        extra_of(made).parameter = True
    if x.active:
        run.enter_leaf(made)
    if x.grad is not None:
        made.grad = copied_tensor(run, x.grad)
    return made


def deeply(run: Run, x: Any, memo: dict[Any, Any]) -> Any:
    """Return a copy of a value and of its parts."""
    if not isinstance(x, Tensor | Instance | list | dict | set | tuple | deque):
        return x
    if id(x) in memo:
        return memo[id(x)][0]
    run.meter.turn()
    if isinstance(x, Tensor):
        made: Any = copied_tensor(run, x)
    elif isinstance(x, Instance):
        return deep_object(run, x, memo)
    elif isinstance(x, tuple):
        made = same_kind(x, [deeply(run, item, memo) for item in x])
    elif isinstance(x, set):
        made = {deeply(run, item, memo) for item in x}
    else:
        made = same_kind(x, ())
        memo[id(x)] = (made, x)
        if isinstance(x, dict):
            made.update({deeply(run, key, memo): deeply(run, value, memo) for key, value in x.items()})
        else:
            made.extend([deeply(run, item, memo) for item in x])
    memo[id(x)] = (made, x)
    return made


def deep_object(run: Run, x: Instance, memo: dict[Any, Any]) -> Any:
    """Return a copy of an object; a member of an enum is itself."""
    own = x.kind.find("__deepcopy__")
    if own is not UNBOUND:
        return run.call(own, [x, memo])
    if x.kind.find("__members__") is not UNBOUND:
        return x
    made = type(x)(x.kind)
    memo[id(x)] = (made, x)
    made.fields = {name: deeply(run, value, memo) for name, value in x.fields.items()}
    return made


# ---- dataclasses
class Field:
    """One field of a dataclass: what ``field()`` says of it."""

    def __init__(self, default: Any = UNBOUND, factory: Any = UNBOUND, **options: Any) -> None:
        self.name = ""
        self.default, self.factory = default, factory
        self.by_name = bool(options.get("kw_only"))
        self.in_init, self.in_repr, self.in_compare = (options.get(key, True) for key in ("init", "repr", "compare"))
        self.passed = False

    attributes = own_attributes("name", "default") | {"default_factory": lambda run, me: me.factory}

    @property
    def required(self) -> bool:
        """Whether an object cannot do without."""
        return self.default is UNBOUND and self.factory is UNBOUND


def fields_of(run: Run, kind: Class, by_name: bool) -> dict[str, Field]:
    """Return the fields that a class has, those of its bases first."""
    made: dict[str, Field] = {}
    for base in reversed(kind.order[1:]):
        made |= base.members.get("__dataclass_fields__", {})
    for name, annotation in kind.members.get("__annotations__", {}).items():
        if annotation.startswith(("ClassVar", "typing.ClassVar")):
            continue
        if annotation.rpartition(".")[2] == "KW_ONLY":
            by_name = True
            continue
        default = kind.members.get(name, UNBOUND)
        one = default if isinstance(default, Field) else Field(default)
        one.name, one.by_name = name, one.by_name or by_name
        one.passed = annotation.startswith(("InitVar", "dataclasses.InitVar"))
        if isinstance(one.default, list | dict | set):
            run.fail_as("mutable default", type_of(run, one.default), name)
        if one.default is UNBOUND:
            kind.members.pop(name, None)
        else:
            kind.members[name] = one.default
        made[name] = one
    optional = None
    for one in made.values():
        if one.in_init and not one.by_name:
            if one.required and optional is not None:
                run.fail("TypeError", f"non-default argument '{one.name}' follows default argument")
            optional = optional if one.required else one.name
    return made


def made_dataclass(run: Run, kind: Class, options: dict[str, Any]) -> Class:
    """Give a class the methods of a dataclass."""
    fields = fields_of(run, kind, bool(options.get("kw_only")))
    members = kind.members
    members["__dataclass_fields__"] = fields
    members.setdefault("__match_args__", tuple(f.name for f in fields.values() if f.in_init and not f.by_name))
    if options.get("init", True):
        members.setdefault("__init__", initializer(kind, fields))
    if options.get("repr", True):
        members.setdefault("__repr__", shower(fields))
    compared = [f.name for f in fields.values() if f.in_compare and not f.passed]
    if options.get("eq", True):
        members.setdefault("__eq__", comparer("==", compared))
        if options.get("frozen") or options.get("unsafe_hash"):
            if members.get("__hash__") is None:
                members["__hash__"] = lambda run, me: hash(tuple(hashable(run, me.fields[name]) for name in compared))
        else:
            members.setdefault("__hash__", None)
    if options.get("order"):
        for sign, (word, _) in COMPARED.items():
            if sign not in ("==", "!="):
                members[f"__{word}__"] = comparer(sign, compared)
    if options.get("frozen"):
        members["__frozen__"] = True
    return kind


def initializer(kind: Class, fields: dict[str, Field]) -> Any:
    """Return ``__init__`` of a dataclass."""

    def start(run: Run, me: Instance, *arguments: Any, **named: Any) -> None:
        entered = [f for f in fields.values() if f.in_init]
        places, by_name = ([f.name for f in entered if f.by_name is alone] for alone in (False, True))
        expected = Parameters(places, [f.name for f in entered if not f.required], by_name=by_name)
        values = bound_arguments(run, f"{kind.name}.__init__", expected, arguments, named, 1)
        passed = []
        for one in fields.values():
            if one.name not in values and one.required:
                continue
            made = run.call(one.factory) if one.name not in values and one.factory is not UNBOUND else one.default
            value = values.get(one.name, made)
            if one.passed:
                passed.append(value)
            else:
                put_field(run, me, one.name, value)
        after = me.kind.find("__post_init__")
        if after is not UNBOUND:
            run.call(after, [me, *passed])

    return start


def put_field(run: Run, me: Instance, name: str, value: Any) -> None:
    """Give an object a field: by the class's own way of assignment where it has one."""
    if isinstance(me.kind.find(name), Property) or me.kind.find("__setattr__") is not UNBOUND:
        from gradcli.runner.python.attributes import assign_attribute

        assign_attribute(run, me, name, value)
    else:
        me.fields[name] = value


def shower(fields: dict[str, Field]) -> Any:
    """Return ``__repr__`` of a dataclass."""
    names = [f.name for f in fields.values() if f.in_repr and not f.passed]

    def show(run: Run, me: Instance) -> str:
        return f"{me.kind.name}({', '.join([f'{name}={to_repr(run, run.attribute(me, name))}' for name in names])})"

    return show


def comparer(sign: str, names: list[str]) -> Any:
    """Return a comparison of dataclasses: of their fields in order."""

    def compare(run: Run, me: Instance, other: Any) -> Any:
        if not isinstance(other, Instance) or other.kind is not me.kind:
            return NotImplemented
        mine, theirs = ([run.attribute(one, name) for name in names] for one in (me, other))
        if sign == "==":
            return equal(run, mine, theirs)
        for a, b in zip(mine, theirs, strict=True):
            if not equal(run, a, b):
                return truth(run, operate(run, sign, a, b))
        return sign in ("<=", ">=")

    return compare


@native("dataclasses.replace")
def replaced(run: Run, me: Instance, /, **changes: Any) -> Any:
    """Return a dataclass with other fields."""
    fields = me.kind.find("__dataclass_fields__")
    same = {name: me.fields[name] for name, one in fields.items() if one.in_init and name not in changes}
    return run.call(me.kind, [], same | changes)


def taken_apart(run: Run, x: Any, gather: Any) -> Any:
    """Return a dataclass as a plain container."""
    if isinstance(x, Instance) and x.kind.find("__dataclass_fields__") is not UNBOUND:
        names = [name for name in x.kind.find("__dataclass_fields__") if name in x.fields]
        return gather([(name, taken_apart(run, x.fields[name], gather)) for name in names])
    if isinstance(x, list | tuple | deque):
        return same_kind(x, [taken_apart(run, item, gather) for item in x])
    if isinstance(x, dict):
        return {key: taken_apart(run, value, gather) for key, value in x.items()}
    return deeply(run, x, {})


def fields_in(x: Any) -> Any:
    """Return the fields of a dataclass or of an object of one, UNBOUND for anything else."""
    kind = x if isinstance(x, Class) else x.kind if isinstance(x, Instance) else None
    return UNBOUND if kind is None else kind.find("__dataclass_fields__")


TABLE |= {
    "copy.deepcopy": lambda run, x, memo=None: deeply(run, x, memo if isinstance(memo, dict) else {}),
    "dataclasses.field": lambda run, *, default=UNBOUND, default_factory=UNBOUND, **options: Field(
        default, default_factory, **options
    ),
    "dataclasses.dataclass": lambda run, kind=None, /, **options: (
        (lambda run, kind: made_dataclass(run, kind, options)) if kind is None else made_dataclass(run, kind, options)
    ),
    "dataclasses.asdict": lambda run, x, *, dict_factory=None: taken_apart(run, x, dict),
    "dataclasses.astuple": lambda run, x: taken_apart(run, x, lambda pairs: tuple([value for _, value in pairs])),
    "dataclasses.fields": lambda run, x: tuple(fields_in(x).values()),
    "dataclasses.is_dataclass": lambda run, x: fields_in(x) is not UNBOUND,
    "dataclasses.MISSING": UNBOUND, "dataclasses.KW_ONLY": None,
    "dataclasses.FrozenInstanceError": exception_class("FrozenInstanceError"),
    **{f"dataclasses.{name}": Class(name, [], {}) for name in ("InitVar", "Field")},
}  # fmt: skip


# ---- enum
class Auto:
    """``enum.auto()``: the next number."""


def enum_body(run: Run, name: str, bases: list[Class], members: dict[str, Any]) -> Class:
    """Return the enum that a body describes: its plain members are the only objects of the class."""
    made = Class(name, bases, members, None, qualified=f"__main__.{name}")
    made.run = run
    if made.find("__hash__") is UNBOUND or made.members.get("__hash__", 0) is None:
        made.members["__hash__"] = lambda run, me: me.ordinal
    entries: dict[str, Instance] = {}
    counted: list[Any] = []
    for key, value in list(members.items()):
        plain = not callable(value) and not isinstance(value, Closure | Property)
        if key.startswith("_") or not plain or type(value).__name__.endswith("Method"):
            continue
        if isinstance(value, Auto):
            own = made.find("_generate_next_value_")
            shown = [key, 1, len(counted), counted]
            value = next_value(counted) if own is UNBOUND else run.call(own, shown)  # noqa: PLW2901
        counted.append(value)
        same = next((one for one in entries.values() if equal(run, one.fields["value"], value)), None)
        entry = same or new_object(made)
        if same is None:
            entry.fields = {"name": key, "value": value, "_name_": key, "_value_": value}
            start = made.find("__init__")
            if start is not UNBOUND:
                run.call(start, [entry, *(value if isinstance(value, tuple) else (value,))])
        entries[key] = made.members[key] = entry
    made.members["__members__"] = entries
    return made


def next_value(counted: list[Any]) -> Any:
    """Return what ``auto()`` stands for."""
    return max([value for value in counted if isinstance(value, int)], default=0) + 1


def enum_entry(run: Run, kind: Class, value: Any) -> Any:
    """Return the member of a value: ``Color(1)``."""
    for one in kind.find("__members__").values():
        if one is value or equal(run, one.fields["value"], value):
            return one
    other = kind.find("_missing_")
    if other is not UNBOUND:
        made = run.call(run.attribute(kind, "_missing_"), [value])
        if made is not None:
            return made
    return run.fail("ValueError", f"{to_repr(run, value)} is not a valid {kind.name}")


def bare(x: Any) -> Any:
    """Return the value of a member, anything else as it is."""
    return x.fields["value"] if isinstance(x, Instance) and "value" in x.fields else x


def of_values(base: Class) -> dict[str, Any]:
    """Return the operators of an enum whose members are numbers or texts: those of their values."""
    by_value = {name: work for name, work in DUNDERS.items() if name not in ("__repr__", "__call__")}
    made: dict[str, Any] = {
        name: lambda run, me, *others, work=work: work(run, bare(me), *map(bare, others))
        for name, work in by_value.items()
    }
    for word, host_function in {"int": int, "index": int, "float": float, "abs": abs, "hash": hash}.items():
        made[f"__{word}__"] = lambda run, me, host_function=host_function: host_function(bare(me))
    return made | {"__instanceof__": base}


ENUM_MEMBERS = {"__body__": enum_body, "__format__": lambda run, me, spec: format_value(run, to_str(run, me), spec)}
ENUM = Class("Enum", [], ENUM_MEMBERS, enum_entry, qualified="enum.Enum")
INT_ENUM = Class("IntEnum", [ENUM], of_values(INT), qualified="enum.IntEnum")
TABLE |= {
    "enum.Enum": ENUM, "enum.IntEnum": INT_ENUM, "enum.StrEnum": Class("StrEnum", [ENUM], of_values(STR) | {
        "_generate_next_value_": lambda run, key, *_: key.lower()}, qualified="enum.StrEnum"),
    "enum.auto": lambda run: Auto(), "enum.unique": lambda run, kind: kind,
    "enum.EnumMeta": Class("EnumMeta", [], {}), "enum.EnumType": Class("EnumType", [], {}),
}  # fmt: skip
