"""What values of a script are as texts: ``str`` and ``repr``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.declare import value_of
from gradcli.ops.indexing import is_index
from gradcli.runner import printing
from gradcli.runner.cuts import note_text
from gradcli.runner.hosted import plain_value
from gradcli.runner.numpy_values import FloatKey, WholeKey
from gradcli.runner.objects import (
    UNBOUND,
    Bound,
    Class,
    Closure,
    Foreign,
    Hosted,
    Instance,
    Method,
    Module,
    TableFunction,
    ask,
)
from gradcli.runner.tuples import Named
from gradcli.runner.values import DType, Size, Tensor, Weak, category

DEEPEST = 60
"""Containers within containers that are shown."""


def doubles(x: Tensor) -> Any:
    """Return the numbers of a tensor as an array of numpy's own types."""
    array = value_of(x.node)
    of_objects = getattr(getattr(array, "dtype", None), "kind", None) == "O"
    return np.asarray(array, dtype=np.float64) if of_objects else np.asarray(array)


def name_of_call(x: Tensor, node: Any, made_by: tuple[Any, ...]) -> str | None:
    """Return what PyTorch calls the function that made a tensor by a call, an index or a write to one."""
    from gradcli.runner.backward_names import backward_name, index_name, write_name

    if made_by[0] == "[]":
        return index_name(made_by[1], made_by[2])
    if made_by[0] == "[]=":
        return write_name(*made_by[1:])
    name, ranks, named = made_by
    if "adaptive_avg_pool" in name and len(x.shape) > 2 and x.shape[-(axes := int(name[-2])) :] == (1,) * axes != (1,):
        return "MeanBackward1"
    if name.endswith("cross_entropy") and not smoothed(x):
        named = {key: value for key, value in named.items() if key != "label_smoothing"}
    return backward_name(name, ranks, named, copied=copies(node)) or None


def grad_fn_name(x: Tensor) -> str | None:
    """Return what PyTorch calls the function that made a tensor, None for a leaf."""
    node = x.node
    if type(node) not in NODES or not node.active or x.leaf or node.op is None:
        return None
    from gradcli.runner.backward_names import backward_name, index_name

    made_by = x.made_by
    if isinstance(made_by, tuple):
        return name_of_call(x, node, made_by)
    if isinstance(made_by, str):
        if made_by == "CopySlices" or "Backward" in made_by:
            return made_by
        return backward_name(made_by, [len(x.shape)]) or None
    op = node.op
    if "called" in node.static:
        return str(node.static["called"])
    if "call" in node.static:
        return f"{node.static['call'].name}Backward"
    if is_index(op):
        return index_name(node.static["key"], np.shape(value_of(node.arguments[0])))
    sign = op.operator or op.name
    ranks = [
        len(a.shape) if type(a) in NODES else a.ndim if isinstance(a, np.ndarray) else None for a in node.arguments
    ]
    if op.operator == "-" and len(ranks) == 1:
        sign = "neg"
    return backward_name(sign, ranks) or None


def copies(node: Any) -> bool:
    """Return whether a view could not be had of the memory of what a function was given."""
    if node.op is None or not node.op.view or not node.arguments:
        return False
    whole = value_of(node.arguments[0])
    return (
        isinstance(node.value, np.ndarray)
        and isinstance(whole, np.ndarray)
        and not np.may_share_memory(node.value, whole)
    )


def smoothed(x: Tensor) -> bool:
    """Return whether a cross entropy smooths its labels: then it is a sum of two terms."""
    return bool(x.node.op.operator == "+")


def tensor_text(run: Any, x: Tensor, quoted: bool) -> str:
    """Return a tensor or an array as it is printed."""
    if run is not None and run.levels and x.active:
        kind = run.level_of(x)
        if kind:
            inner = Tensor(np.asarray(x.value), x.dtype, x.library)
            return str(run.traced_text(x, kind, tensor_text(run, inner, quoted=False)))
    if x.library == "torch":
        options = (run.print_options.get("options") if run is not None else None) or printing.Options()
        return printing.torch_text(
            doubles(x), x.dtype, requires_grad=x.active, grad_fn=grad_fn_name(x), options=options,
            parameter=x.extra is not None and x.extra.parameter,
            default=run.default_dtype if run is not None else "float32",
        )  # fmt: skip
    return note_text(run, array_text(run, x, quoted), [x])


def array_text(run: Any, x: Tensor, quoted: bool) -> str:
    """Return an array of NumPy's or JAX's, or a number of Python's, as it is printed."""
    if x.library == "python":
        return repr(float(doubles(x).reshape(())[()]))
    options = run.numpy_options if run is not None else {}
    if x.library == "jax":
        return printing.jax_text(doubles(x), x.dtype, quoted=quoted, weak=isinstance(x.dtype, Weak), options=options)
    array = doubles(x)
    shown = array if array.ndim or (x.extra is not None and x.extra.several) else array[()]
    return printing.numpy_text(shown, x.dtype, quoted=quoted, options=options)


def to_str(run: Any, x: Any, depth: int = 0) -> str:
    """Return what ``str(x)`` gives."""
    if isinstance(x, Hosted) and (made := ask(run, x, "__str__")) is not UNBOUND:
        return str(made)
    if isinstance(x, str):
        return x
    if isinstance(x, WholeKey | FloatKey):
        return repr(x.real)
    if isinstance(x, DType) and x.library == "array":
        return x.name
    if isinstance(x, Tensor):
        return tensor_text(run, x, quoted=False)
    if hasattr(type(x), "shown_as"):
        return x.shown_as()  # type: ignore[no-any-return]
    if isinstance(x, Instance):
        for name in ("__str__", "__repr__"):
            if (member := x.kind.find(name)) is not UNBOUND:
                return said(run, x, member, name)
        return instance_text(x)
    return to_repr(run, x, depth)


def said(run: Any, x: Instance, member: Any, name: str) -> str:
    """Return what an object says of itself."""
    run = run or x.kind.its_run
    text = member(run, x) if run is None else run.call(member, [x])
    if not isinstance(text, str):
        run.fail("TypeError", f"{name} returned non-string (type {run.type_name(text)})")
    return text  # type: ignore[no-any-return]


def instance_text(x: Instance) -> str:
    """Return an object that does not say how it is shown."""
    if "__members__" in x.kind.members:
        return f"{x.kind.name}.{x.fields['name']}"
    return f"<{x.kind.qualified} object at 0x7f0000000000>"


def to_repr(run: Any, x: Any, depth: int = 0) -> str:
    """Return what ``repr(x)`` gives."""
    kind = type(x)
    if kind in (int, float, bool, str, bytes, type(None)) or x is ... or x is NotImplemented:
        return repr(x)
    if isinstance(x, np.float64):
        return repr(float(x))
    if isinstance(x, Tensor):
        return tensor_text(run, x, quoted=True)
    if depth > DEEPEST:
        return "..."
    if run is not None:
        run.meter.turn(1, "what is shown does not end")
    shown = of_container(run, x, depth)
    if shown is not None:
        return shown
    if isinstance(x, Instance):
        if (member := x.kind.find("__repr__")) is not UNBOUND:
            return said(run, x, member, "__repr__")
        if "__members__" in x.kind.members:
            return f"<{x.kind.name}.{x.fields['name']}: {to_repr(run, x.fields['value'])}>"
        return instance_text(x)
    return of_function(x)


def of_container(run: Any, x: Any, depth: int) -> str | None:  # noqa: C901, PLR0911 - one case for each kind
    """Return a container of Python's as it is shown, None for anything else."""

    def parts(items: Any) -> list[str]:
        return [to_repr(run, item, depth + 1) for item in items]

    if isinstance(x, Hosted):
        made = ask(run, x, "__repr__")
        return to_repr(run, plain_value(x), depth) if made is UNBOUND else str(made)
    shown = getattr(type(x), "shown", None)
    if shown is not None:
        return str(x.shown(lambda item: to_repr(run, item, depth + 1)))
    if isinstance(x, Size):
        return repr(x)
    if isinstance(x, Named):
        fields = zip(x.fields, parts(x), strict=True)
        end = "\n" if x.name.startswith("torch.return_types") else ""
        between = ",\n" if end else ", "
        return f"{x.name}({end}{between.join(f'{name}={text}' for name, text in fields)})"
    if isinstance(x, tuple):
        return f"({parts(x)[0]},)" if len(x) == 1 else f"({', '.join(parts(x))})"
    if isinstance(x, list):
        return f"[{', '.join(parts(x))}]"
    if isinstance(x, dict):
        return (
            "{" + ", ".join([f"{to_repr(run, k, depth + 1)}: {to_repr(run, v, depth + 1)}" for k, v in x.items()]) + "}"
        )
    if isinstance(x, set | frozenset):
        text = "{" + ", ".join(parts(x)) + "}" if x else ""
        return (text or "set()") if isinstance(x, set) else f"frozenset({text})"
    if isinstance(x, range | slice):
        return repr(x)
    for name in ("keys", "values", "items"):
        if isinstance(x, type(getattr({}, name)())):
            return f"dict_{name}({to_repr(run, list(x), depth)})"
    return None


def of_function(x: Any) -> str:
    """Return a function, a class or a module as it is shown."""
    if isinstance(x, Class):
        return repr(x)
    if isinstance(x, Closure):
        return f"<function {x.code.qualified or x.code.name} at 0x7f0000000000>"
    if isinstance(x, TableFunction):
        return f"<built-in method {x.name.rpartition('.')[2]}>"
    if isinstance(x, Module):
        return f"<module '{x.name}'>"
    if isinstance(x, Foreign):
        return f"<{x.name}>"
    if isinstance(x, Bound | Method):
        return "<bound method>"
    own = getattr(x, "text", None)
    if isinstance(own, str):
        return own
    return repr(x) if type(x).__module__.startswith("gradcli.") else f"<{type(x).__name__}>"


def plain_number(x: Tensor) -> Any:
    """Return the number of a tensor of one entry as its type has it."""
    one = doubles(x).reshape(())[()]
    return (printing.cast(one, x.dtype) if category(x.dtype) == 2 else one).item()
