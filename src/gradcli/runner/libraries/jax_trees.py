"""``jax.tree_util``: trees of lists, tuples, dictionaries and classes of the script, with arrays as leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.runner.libraries.jax_arrays import array
from gradcli.runner.library import TABLE, native
from gradcli.runner.python.containers import take
from gradcli.runner.python.operators import truth
from gradcli.runner.state import Run
from gradcli.runner.transforms import Spec, children, flatten, ravelled, unflatten
from gradcli.runner.values import Class

# ---- trees
TABLE |= {f"jax.{_module}{_name}": _function for _module in ("tree.", "tree_util.tree_") for _name, _function in {
    "flatten": lambda run, tree, is_leaf=None: flatten(run, tree, is_leaf=is_leaf),
    "leaves": lambda run, tree, is_leaf=None: flatten(run, tree, is_leaf=is_leaf)[0],
    "structure": lambda run, tree, is_leaf=None: flatten(run, tree, is_leaf=is_leaf)[1],
    "all": lambda run, tree: all(truth(run, leaf) for leaf in flatten(run, tree)[0]),
}.items()}  # fmt: skip


@native("jax.tree_util.tree_unflatten", "jax.tree.unflatten")
def tree_unflatten(run: Run, treedef: Spec, leaves: Any) -> Any:
    """Return leaves put together."""
    items = take(run, leaves)
    if len(items) != treedef.count:
        few = "few" if len(items) < treedef.count else "many"
        run.fail("ValueError", f"Too {few} leaves for PyTreeDef; expected {treedef.count}, got {len(items)}")
    return unflatten(run, treedef, items)


@native("jax.tree_util.tree_map", "jax.tree.map", "jax.tree_map", "jax.tree_util.tree_multimap")
def tree_map(run: Run, f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """Return a nest of what a function gives of each leaf."""
    leaves, spec = flatten(run, tree, is_leaf=is_leaf)
    others = []
    for other in rest:
        found = parts_of(run, other, spec)
        if found is None:
            run.fail(
                "ValueError",
                f"Expected tree to have the same structure as the first: {spec.text} and {flatten(run, other)[1].text}",
            )
        others.append(found)
    return unflatten(run, spec, [run.call(f, list(each)) for each in zip(leaves, *others, strict=True)])


def parts_of(run: Run, tree: Any, spec: Spec) -> list[Any] | None:
    """Return what a nest has at the places of another's leaves; None where it is built in another way."""
    if spec.kind == "leaf":
        return [tree]
    found = children(run, tree, True)
    if (
        found is None
        or found[0] != spec.kind
        or len(found[1]) != len(spec.parts)
        or (spec.kind == "dict" and found[2] != spec.made_of)
    ):
        return None
    leaves: list[Any] = []
    for item, part in zip(found[1], spec.parts, strict=True):
        inner = parts_of(run, item, part)
        if inner is None:
            return None
        leaves += inner
    return leaves


@native("jax.tree_util.tree_reduce", "jax.tree.reduce")
def tree_reduce(run: Run, function: Any, tree: Any, *start: Any, initializer: Any = None, is_leaf: Any = None) -> Any:
    """Return the leaves put together by a function of two."""
    leaves = flatten(run, tree, is_leaf=is_leaf)[0]
    total = start[0] if start else initializer
    if total is None:
        total, leaves = leaves[0], leaves[1:]
    for leaf in leaves:
        total = run.call(function, [total, leaf])
    return total


@native("jax.tree_util.tree_transpose", "jax.tree.transpose")
def tree_transpose(run: Run, outer_treedef: Spec, inner_treedef: Spec, pytree_to_transpose: Any) -> Any:
    """Return a nest of nests turned inside out."""
    leaves = flatten(run, pytree_to_transpose)[0]
    width = inner_treedef.count
    columns = [unflatten(run, outer_treedef, leaves[k::width]) for k in range(width)]
    return unflatten(run, inner_treedef, columns)


@native("jax.tree_util.register_pytree_node")
def register_node(run: Run, nodetype: Class, flatten_func: Any, unflatten_func: Any, *_: Any) -> None:
    """Say how objects of a class are taken apart and put together."""
    run.tree_nodes[nodetype] = (flatten_func, unflatten_func)


@native("jax.tree_util.register_pytree_node_class")
def register_class(run: Run, kind: Class) -> Class:
    """Say that a class takes its objects apart itself."""
    run.tree_nodes[kind] = (kind.find("tree_flatten"), run.attribute(kind, "tree_unflatten"))
    return kind


@native("jax.tree_util.register_dataclass")
def register_dataclass(run: Run, kind: Any = None, data_fields: Any = None, meta_fields: Any = None, **_: Any) -> Any:
    """Say that the fields of a dataclass are its leaves."""
    if kind is None:
        return lambda run, kind: register_dataclass(run, kind, data_fields, meta_fields)
    annotated = kind.find("__annotations__")
    own = (
        list(data_fields) if data_fields is not None else list(annotated if isinstance(annotated, list | dict) else [])
    )
    others = list(meta_fields or [])

    def take_apart(run: Run, one: Any) -> Any:
        return [one.fields[n] for n in own], tuple([one.fields[n] for n in others])

    def put_together(run: Run, rest: Any, parts: Any) -> Any:
        return run.call(kind, [], dict(zip(own, parts, strict=True)) | dict(zip(others, rest, strict=True)))

    run.tree_nodes[kind] = (take_apart, put_together)
    return kind


@native("jax.flatten_util.ravel_pytree")
def ravel_pytree(run: Run, tree: Any) -> Any:
    """Return all leaves as one row, and the function that puts them together again."""
    leaves, spec = flatten(run, tree)
    if not leaves:
        return run.make(np.zeros(0), "float32", "jax"), lambda run, row: unflatten(run, spec, [])
    return ravelled(run, spec, [array(run, leaf) for leaf in leaves], "jax.numpy")
