"""What a dot reads and writes: attributes of tensors, objects, classes, modules and Python's own values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.language.calls import lacks
from gradcli.runner.library import (
    ATTRIBUTES,
    FOREIGN_TO,
    METHODS,
    READERS,
    class_of,
    fill,
    host_of,
    load,
    new_hosted,
    plain_value,
)
from gradcli.runner.printing import instance_text
from gradcli.runner.python.calls import (
    OF_CLASSES,
    bound,
    built,
    construct,
    described,
    jax_method,
    new_object,
    no_attribute,
    table_method,
)
from gradcli.runner.python.containers import of_items
from gradcli.runner.python.host_attributes import DUNDERS, FLOATS, host_attribute, host_member
from gradcli.runner.state import Run
from gradcli.runner.values import (
    OBJECT,
    UNBOUND,
    Bound,
    Class,
    Closure,
    Foreign,
    Hosted,
    Instance,
    Keyed,
    Method,
    Module,
    Named,
    Progress,
    Property,
    Super,
    TableFunction,
    Tensor,
    ask,
    own,
)


# ---- what a dot reads
def attribute(run: Run, base: Any, name: str) -> Any:
    """Return ``base.name``; raises AttributeError."""
    kind = type(base)
    if kind is Instance or kind is Keyed or isinstance(base, Hosted):
        return of_instance(run, base, name)
    if kind is Module:
        from gradcli.runner.names import member_of

        return member_of(run, base, name)
    if isinstance(base, Tensor):
        return of_tensor(run, base, name)
    if kind is Class:
        return of_class(run, base, name)
    if kind is Super:
        return of_super(run, base, name)
    if kind is Foreign or kind is Progress:
        return Foreign(f"{base.name}.{name}")
    if kind is Closure and name in base.attributes:
        return base.attributes[name]
    value = host_attribute(run, base, name)
    return no_attribute(run, base, name) if value is UNBOUND else value


def of_tensor(run: Run, base: Tensor, name: str) -> Any:
    """Return an attribute or a method of a tensor, or of a number of Python's that is differentiated.

    A function that is explained may call the methods of tensors, which its arguments may be.
    """
    if base.library == "python":
        if name in ("real", "imag"):
            return base if name == "real" else 0.0
        if (member := FLOATS.get(name) or DUNDERS.get(name)) is not None:
            return Bound(member, base)
    if base.library == "numpy":
        load("numpy")
        own = READERS["numpy"](run, base, name)
        if own is not UNBOUND:
            return own
    if name in FOREIGN_TO.get(base.library, ()) and not base.active:
        return no_attribute(run, base, name)
    if name in ATTRIBUTES:
        return ATTRIBUTES[name](run, base)
    in_place = name.endswith("_") and not lacks("torch.Tensor", name)
    names = (name, name[:-1]) if in_place else (name,)
    if (base.library == "jax" and jax_method(name) is not None) or any(
        one in METHODS or table_method(one) is not None for one in names
    ):
        return Method(name, base)
    if base.extra is not None and base.extra.fields is not None and name in base.extra.fields:
        return base.extra.fields[name]
    return no_attribute(run, base, name)


def of_instance(run: Run, base: Instance | Hosted, name: str) -> Any:
    """Return an attribute of an object: its own, or a member of its class."""
    member = base.kind.find(name)
    if member is not UNBOUND and isinstance(member, Property):
        return run.call(member.getter, [base])
    if name in base.fields and own(member, "__set__") is UNBOUND:
        return base.fields[name]
    if member is not UNBOUND:
        return bound(run, base, base.kind, member)
    if name in ("__class__", "__dict__"):
        return base.kind if name == "__class__" else base.fields
    raw = raw_member(run, base, name) if isinstance(base, Hosted) else UNBOUND
    if raw is not UNBOUND:
        return raw
    if name in OBJECT_MEMBERS:
        return Bound(OBJECT_MEMBERS[name], base)
    if name == "__doc__":
        return None
    value = ask(run, base, "__getattr__", name)
    return no_attribute(run, base, name) if value is UNBOUND else value


def with_object(kinds: list[Class]) -> list[Class]:
    """Return classes with ``object`` as the last."""
    return kinds if OBJECT in kinds else [*kinds, OBJECT]


CLASS_FIELDS: dict[str, Callable[[Class], Any]] = {
    "__name__": lambda kind: kind.name, "__qualname__": lambda kind: kind.name,
    "__mro__": lambda kind: tuple(with_object(kind.order)),
    "mro": lambda kind: lambda run: list(with_object(kind.order)),
    "__bases__": lambda kind: tuple(kind.bases) or (OBJECT,), "__base__": lambda kind: [*kind.bases, OBJECT][0],
    "__dict__": lambda kind: kind.members if kind.run is not None else dict(kind.members),
    "__module__": lambda kind: "__main__", "__doc__": lambda kind: None, "__annotations__": lambda kind: {},
}  # fmt: skip
"""What each class has beside its members."""


def of_class(run: Run, base: Class, name: str) -> Any:
    """Return a member of a class."""
    member = base.find(name)
    if member is not UNBOUND:
        return described(run, None, base, member)
    if name in CLASS_FIELDS:
        return CLASS_FIELDS[name](base)
    if name in OBJECT_MEMBERS:
        return OBJECT_MEMBERS[name]
    if (base.name, name) in OF_CLASSES:
        return OF_CLASSES[base.name, name]
    if base.metaclass is not None and (member := base.metaclass.find(name)) is not UNBOUND:
        return bound(run, base, base.metaclass, member)
    if base.make is not None and base.make is base.find("__body__"):
        base.make(run)  # it stands for what gradcli does not have, and refuses all alike
    is_enum = base.find("__members__") is not UNBOUND
    return run.fail("AttributeError", name if is_enum else f"type object '{base.name}' has no attribute '{name}'")


def of_super(run: Run, base: Super, name: str) -> Any:
    """Return a member of the classes after one, bound to the object."""
    owner = base.owner
    kind = owner if isinstance(owner, Class) else owner.kind
    if isinstance(owner, Class) and owner.metaclass is not None and base.after in owner.metaclass.order:
        kind = owner.metaclass
    order = kind.order
    start = order.index(base.after) + 1 if base.after in order else 0
    for one in order[start:]:
        if name in one.members:
            member = one.members[name]
            return Bound(member, owner) if name == "__new__" else bound(run, owner, kind, member)
    if isinstance(owner, Hosted) and (raw := raw_member(run, owner, name)) is not UNBOUND:
        return raw
    if name == "__call__" and kind is not owner and isinstance(owner, Class):
        return lambda run, *arguments, **named: construct(run, owner, list(arguments), named)
    if name in OBJECT_MEMBERS:
        return OBJECT_MEMBERS[name] if name == "__new__" else Bound(OBJECT_MEMBERS[name], owner)
    if name == "__getattr__" and class_of(run, owner) == "torch.nn.Module":
        return Bound(no_attribute, owner)
    return run.fail("AttributeError", f"'super' object has no attribute '{name}'")


# ---- members of ``object``
def object_new(run: Run, kind: Class, *arguments: Any, **named: Any) -> Any:
    """Return a new object of a class, or a new class of a metaclass."""
    if any(one.name == "type" and one.make is not None for one in kind.order):
        name, bases, members = arguments
        made = built(run, name, [one for one in bases if isinstance(one, Class)], dict(members), {}, {})
        made.metaclass = kind
        return made
    base = host_of(kind)
    return new_object(kind) if base is None else new_hosted(run, kind, base, list(arguments[:1]), named)


def object_get(run: Run, me: Any, name: str) -> Any:
    """Read an attribute past ``__getattr__``."""
    if isinstance(me, Instance) and name in me.fields:
        return me.fields[name]
    member = me.kind.find(name)
    return no_attribute(run, me, name) if member is UNBOUND else bound(run, me, me.kind, member)


def object_set(run: Run, me: Any, name: str, value: Any) -> None:
    """Write an attribute past ``__setattr__``."""
    if isinstance(me, Instance) and not set_by_class(run, me, name, value):
        me.fields[name] = value


OBJECT_MEMBERS: dict[str, Any] = {
    "__new__": object_new, "__init__": lambda run, me, *_, **__: None, "__init_subclass__": lambda run, kind, **_: None,
    "__setattr__": object_set, "__getattribute__": object_get,
    "__delattr__": lambda run, me, name: me.fields.pop(name, None),
    "__repr__": lambda run, me: instance_text(me) if isinstance(me, Instance) else repr(me),
    "__str__": lambda run, me: run.call(run.builtin("repr"), [me]),
    "__eq__": lambda run, me, other: True if me is other else NotImplemented,
    "__ne__": lambda run, me, other: me is not other, "__hash__": lambda run, me: me.ordinal,
    "__format__": lambda run, me, spec="": run.call(run.builtin("str"), [me]),
}  # fmt: skip
"""Members of ``object``, which every class is derived from."""


RAW: dict[str, Any] = {
    "__init__": fill,
    **{
        name: lambda run, me, key, *value, name=name: of_items(run, me, name, key, *value)
        for name in ("__getitem__", "__setitem__", "__delitem__")
    },
    "__hash__": lambda run, me: hash(plain_value(me)),
    "__setattr__": lambda run, me, name, value: me.fields.__setitem__(name, value),
}  # fmt: skip
"""What ``super()`` gives of Python's own class, in a class that is derived from it."""


def raw_member(run: Run, me: Any, name: str) -> Any:
    """Return a method of Python's own class, past those of the script's; UNBOUND where it has none."""
    if name in RAW:
        return Bound(RAW[name], me)
    if (member := host_member(run, me, name)) is not UNBOUND:
        return member
    if name in DUNDERS and hasattr(plain_value(me), name):
        return Bound(lambda run, me, *a: DUNDERS[name](run, plain_value(me), *a), me)
    return UNBOUND


# ---- what a dot writes
def set_by_class(run: Run, base: Instance | Hosted, name: str, value: Any) -> bool:
    """Let a property or a descriptor of the class take a value, and return whether one did."""
    member = base.kind.find(name)
    if isinstance(member, Property):
        if member.setter is None:
            run.fail("AttributeError", f"property '{name}' of '{base.kind.name}' object has no setter")
        run.call(member.setter, [base, value])
        return True
    return ask(run, member, "__set__", base, value) is not UNBOUND


def assign_to_object(run: Run, base: Instance | Hosted, name: str, value: Any) -> None:
    """Do ``base.name = value`` of an object, as its class says."""
    if ask(run, base, "__setattr__", name, value) is not UNBOUND:
        return
    if base.kind.find("__frozen__") is True:
        run.fail("FrozenInstanceError", f"cannot assign to field '{name}'")
    if set_by_class(run, base, name, value):
        return
    slots = [one.members.get("__slots__") for one in base.kind.order if one.make is None]
    if slots and not any(names is None or name == names or name in names for names in slots):
        no_attribute(run, base, name)
    if name == "__dict__":
        if not isinstance(value, dict):
            run.fail("TypeError", "__dict__ must be set to a dictionary")
        base.fields = value
    elif name == "__class__":
        if not (isinstance(value, Class) and value.run is not None and isinstance(base, Instance)):
            run.fail("TypeError", "__class__ assignment only supported for mutable types or ModuleType subclasses")
        base.kind = value
    else:
        base.fields[name] = value


def assign_attribute(run: Run, base: Any, name: str, value: Any) -> None:
    """Do ``base.name = value``."""
    if isinstance(base, Instance | Hosted):
        assign_to_object(run, base, name, value)
    elif isinstance(base, Class):
        refuse_shared(run, base, name)
        base.members[name] = value
    elif isinstance(base, Tensor):
        from gradcli.runner.tensor_attributes import assign

        assign(run, base, name, value)
    elif isinstance(base, Closure):
        base.attributes[name] = value
    elif isinstance(base, Module):
        full = f"{base.name}.{name}"
        before = run.member(full)
        if before is not UNBOUND and not isinstance(before, bool | int | float | str | None):
            raise run.refuse(f"{full} stays as it is: gradcli does not change what libraries have")
        run.resolved[full] = value
    elif isinstance(base, Named) and name in base.fields:
        run.fail("AttributeError", "can't set attribute")
    elif not isinstance(base, Foreign | TableFunction):
        no_attribute(run, base, name)


def refuse_shared(run: Run, kind: Class, name: str) -> None:
    """Refuse to change a class that other runs have too: Python's, and natives of libraries."""
    if kind.run is not None or kind.qualified.startswith("__main__."):
        return
    if "." in kind.qualified:
        raise run.refuse(f"{kind.qualified} stays as it is: gradcli does not change the classes of libraries")
    run.fail("TypeError", f"cannot set '{name}' attribute of immutable type '{kind.name}'")


def delete_attribute(run: Run, base: Any, name: str) -> None:
    """Do ``del base.name``."""
    if ask(run, base, "__delattr__", name) is not UNBOUND:
        return
    prop = base.kind.find(name) if isinstance(base, Instance) else None
    if isinstance(prop, Property) and prop.deleter is not None:
        run.call(prop.deleter, [base])
    elif isinstance(base, Instance) and base.kind.find("__frozen__") is True:
        run.fail("FrozenInstanceError", f"cannot delete field '{name}'")
    elif isinstance(base, Instance | Hosted) and name in base.fields:
        del base.fields[name]
    elif isinstance(base, Class) and name in base.members:
        refuse_shared(run, base, name)
        del base.members[name]
    elif isinstance(base, Tensor) and name == "grad":
        assign_attribute(run, base, "grad", None)
    else:
        no_attribute(run, base, name)
