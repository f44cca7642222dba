"""What a dot reads and writes: attributes of tensors, objects, classes, modules and Python's own values."""

from __future__ import annotations

from typing import Any

from gradcli.runner.calls import call_method, jax_method, no_attribute, table_method
from gradcli.runner.library import ATTRIBUTES, METHODS
from gradcli.runner.objects import (
    UNBOUND,
    Bound,
    Class,
    ClassMethod,
    Closure,
    Foreign,
    Instance,
    Method,
    Module,
    Property,
    StaticMethod,
    Super,
    TableFunction,
)
from gradcli.runner.state import Run
from gradcli.runner.values import DType, Tensor


def attribute(run: Run, base: Any, name: str) -> Any:
    """Return ``base.name``; raises AttributeError."""
    kind = type(base)
    if kind is Instance:
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
    if kind is Foreign:
        return Foreign(f"{base.name}.{name}")
    if kind is Closure and name in base.attributes:
        return base.attributes[name]
    from gradcli.runner.host_attributes import host_attribute

    found = host_attribute(run, base, name)
    return no_attribute(run, base, name) if found is UNBOUND else found


def of_tensor(run: Run, base: Tensor, name: str) -> Any:
    """Return an attribute or a method of a tensor."""
    read = ATTRIBUTES.get(name)
    if read is not None:
        return read(run, base)
    if base.library == "jax" and jax_method(name) is not None:
        return Method(name, base)
    if name in METHODS or table_method(name) is not None:
        return Method(name, base)
    if name.endswith("_") and not name.endswith("__") and (name[:-1] in METHODS or table_method(name[:-1]) is not None):
        return Method(name, base)
    if base.extra is not None and base.extra.fields is not None and name in base.extra.fields:
        return base.extra.fields[name]
    return no_attribute(run, base, name)


def bound(run: Run, owner: Any, kind: Class, member: Any) -> Any:
    """Return a member of a class as an object of it has it."""
    if isinstance(member, Closure) or (callable(member) and not isinstance(member, Class | DType)):
        return Bound(member, owner)
    if isinstance(member, Property):
        return run.call(member.getter, [owner])
    if isinstance(member, StaticMethod):
        return member.function
    if isinstance(member, ClassMethod):
        return Bound(member.function, kind)
    return member


def of_instance(run: Run, base: Instance, name: str) -> Any:
    """Return an attribute of an object: its own, or a member of its class."""
    member = base.kind.find(name)
    if member is not UNBOUND and isinstance(member, Property):
        return run.call(member.getter, [base])
    if name in base.fields:
        return base.fields[name]
    if member is not UNBOUND:
        return bound(run, base, base.kind, member)
    if name == "__class__":
        return base.kind
    if name == "__dict__":
        return base.fields
    fallback = base.kind.find("__getattr__")
    if fallback is not UNBOUND:
        return run.call(fallback, [base, name])
    return no_attribute(run, base, name)


def of_class(run: Run, base: Class, name: str) -> Any:
    """Return a member of a class."""
    member = base.find(name)
    if member is not UNBOUND:
        if isinstance(member, StaticMethod):
            return member.function
        if isinstance(member, ClassMethod):
            return Bound(member.function, base)
        return member
    if name == "__name__":
        return base.name
    if name == "__mro__":
        return tuple(base.order)
    from gradcli.runner.host_attributes import class_attribute

    found = class_attribute(run, base, name)
    if found is not UNBOUND:
        return found
    return run.fail("AttributeError", f"type object '{base.name}' has no attribute '{name}'")


def of_super(run: Run, base: Super, name: str) -> Any:
    """Return a member of the classes after one, bound to the object."""
    owner = base.owner
    kind = owner if isinstance(owner, Class) else owner.kind
    order = kind.order
    start = order.index(base.after) + 1 if base.after in order else 0
    for one in order[start:]:
        if name in one.members:
            member = one.members[name]
            return Bound(member, owner) if name == "__new__" else bound(run, owner, kind, member)
    if name in ("__init__", "__setattr__", "__init_subclass__"):
        return object_member(name, owner)
    return run.fail("AttributeError", f"'super' object has no attribute '{name}'")


def object_member(name: str, owner: Any) -> Any:
    """Return a member of ``object``, which every class is derived from."""
    if name == "__setattr__":
        return lambda run, field, value: owner.fields.__setitem__(field, value)
    return lambda run, *_arguments, **_named: None


def assign_attribute(run: Run, base: Any, name: str, value: Any) -> None:
    """Do ``base.name = value``."""
    if isinstance(base, Instance):
        member = base.kind.find(name)
        if isinstance(member, Property):
            if member.setter is None:
                run.fail("AttributeError", f"property '{name}' of '{base.kind.name}' object has no setter")
            run.call(member.setter, [base, value])
            return
        own = base.kind.find("__setattr__")
        if own is not UNBOUND:
            run.call(own, [base, name, value])
            return
        if base.kind.find("__frozen__") is True:
            run.fail("AttributeError", f"cannot assign to field '{name}'")
        base.fields[name] = value
    elif isinstance(base, Class):
        base.members[name] = value
    elif isinstance(base, Tensor):
        from gradcli.runner.tensor_attributes import assign

        assign(run, base, name, value)
    elif isinstance(base, Closure):
        base.attributes[name] = value
    elif not isinstance(base, Foreign | Module | TableFunction):
        no_attribute(run, base, name)


def delete_attribute(run: Run, base: Any, name: str) -> None:
    """Do ``del base.name``."""
    if isinstance(base, Instance) and name in base.fields:
        del base.fields[name]
    elif isinstance(base, Tensor) and name == "grad":
        base.grad = None
    else:
        no_attribute(run, base, name)


__all__ = ["assign_attribute", "attribute", "call_method", "delete_attribute"]
