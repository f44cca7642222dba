"""What of the language a program uses, read off its syntax: functions, operators, indices, statements, endings."""

from __future__ import annotations

import ast

from gradcli.ops import METHODS, SPELLINGS

LIBRARIES = ("torch", "np", "numpy", "jnp", "math", "F", "nn", "linalg", "special")


def features(text):
    """Return the words for all that a program uses."""
    tree = ast.parse(text)
    found = {f"ends with {type(tree.body[-1]).__name__}"}
    for node in ast.walk(tree):
        found.add(type(node).__name__)
        rule = READERS.get(type(node))
        if rule is not None:
            found.update(rule(node))
    return found


def of_call(node):
    """Return which function is called, and how it is spelled."""
    spelling = ast.unparse(node.func)
    root = spelling.partition(".")[0]
    if spelling in SPELLINGS:
        return {f"{SPELLINGS[spelling].name}()", f"spelled {root}." if "." in spelling else "spelled bare"}
    if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
        return {f"{METHODS[node.func.attr].name}()", "spelled as a method"}
    return {f"{spelling.rpartition('.')[2]}()"}


def of_augmented(node):
    """Return the operator of an augmented assignment, and whether it changes a variable or a part of one."""
    where = "a part" if isinstance(node.target, ast.Subscript) else "a variable"
    return {f"{type(node.op).__name__} into {where}"}


def of_assignment(node):
    """Return what an assignment assigns to."""
    return {f"assign to {type(target).__name__}" for target in node.targets}


def of_loop(node):
    """Return what a loop runs over and what is inside of it."""
    inside = {type(child) for statement in node.body for child in ast.walk(statement)}
    over = "a range" if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range" else "an array"
    return {f"for over {over}"} | ({"for in for"} if ast.For in inside else set())


def of_while(node):
    """Return what is inside of a loop with a condition."""
    inside = {type(child) for statement in node.body for child in ast.walk(statement)}
    return {"for in while"} if ast.For in inside else set()


def of_branch(node):
    """Return whether a branch has an ``else``, and another branch in it."""
    otherwise = {"if without else"} if not node.orelse else {"else"}
    return otherwise | ({"elif"} if [type(child) for child in node.orelse] == [ast.If] else set())


def of_index(node):
    """Return the kinds of parts that an index has."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return {kind for part in parts for kind in of_part(part)} | ({"several parts"} if len(parts) > 1 else set())


def of_part(part):
    """Return the kind of one part of an index."""
    match part:
        case ast.Constant():
            return ["index None" if part.value is None else "index ..." if part.value is ... else "index"]
        case ast.UnaryOp():
            return ["negative index"]
        case ast.Slice():
            return ["slice with a negative step" if isinstance(part.step, ast.UnaryOp) else "slice"]
        case ast.List():
            flags = all(isinstance(item, ast.Constant) and isinstance(item.value, bool) for item in part.elts)
            return ["list of truth values" if flags else "list of positions"]
        case ast.Compare():
            return ["mask"]
    return ["computed index"]


READERS = {
    ast.Call: of_call, ast.AugAssign: of_augmented, ast.Assign: of_assignment, ast.For: of_loop, ast.While: of_while,
    ast.If: of_branch, ast.Subscript: of_index,
    ast.Compare: lambda node: {"chain"} if len(node.ops) > 1 else set(),
}  # fmt: skip
