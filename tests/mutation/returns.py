"""Mutants of changed code: each expression that a function returns, and each branch of ``np.where``."""

import ast
import copy
import functools
import gc
import sys
from dataclasses import dataclass
from types import CodeType, FunctionType

from mutation.sources import FUNCTIONS, below, text_of, tree_of
from mutation.spoiling import spoiled, spoiled_branch
from mutation.table import Mutant

ROOMS = ("ops", "engine", "jacobian", "formulas")
"""Where numbers and formulas are made; what a function returns that is neither is left as it is."""


@dataclass(frozen=True)
class Site:
    """An expression that a mutant changes, or the entries that a call of ``np.where`` takes from a branch."""

    node: ast.expr
    branch: int | None = None


class Sites(ast.NodeVisitor):
    """Finds the expressions that functions return on some lines of a module, by the name of the function."""

    def __init__(self, module, lines):
        self.lines = lines
        self.path, self.found = [module.__name__.removeprefix("gradcli.")], {}
        self.visit(tree_of(module))

    def visit_ClassDef(self, node):
        self.path.append(node.name)
        self.generic_visit(node)
        self.path.pop()

    def visit_FunctionDef(self, node):
        if self.lines.isdisjoint(range(node.lineno, node.end_lineno + 1)):
            return
        self.path.append(node.name)
        for returned in own_returns(node):
            self.enter(returned)
        self.generic_visit(node)
        self.path.pop()

    def visit_Lambda(self, node):
        if not self.lines.isdisjoint(range(node.lineno, node.end_lineno + 1)):
            self.enter(node.body)
            self.generic_visit(node)

    def visit_Call(self, node):
        branches = node.args[1:] if ast.unparse(node.func) == "np.where" and len(node.args) == 3 else []
        inside = not self.lines.isdisjoint(range(node.lineno, node.end_lineno + 1))
        if branches and inside and not any(isinstance(b, ast.Constant) or is_nothing(b) for b in branches):
            for k in range(2):
                self.note(Site(node, k))
        if not any(keyword.arg == "key" for keyword in node.keywords):  # what is sorted by is an order, and no number
            self.generic_visit(node)

    def enter(self, expression):
        """Note an expression, or each branch and each part of it."""
        if isinstance(expression, ast.IfExp):
            self.enter(expression.body)
            self.enter(expression.orelse)
        elif isinstance(expression, ast.Tuple):
            for part in expression.elts:
                self.enter(part)
        elif not is_nothing(expression):
            self.note(Site(expression))

    def note(self, site):
        self.found.setdefault(".".join(self.path), []).append(site)


def is_nothing(expression):
    """Return whether an expression is 0, a text, a function or empty as it stands, so that no factor changes it."""
    if isinstance(expression, ast.Constant | ast.JoinedStr | ast.Lambda):
        return not isinstance(getattr(expression, "value", None), float)
    text = ast.unparse(expression)
    return text in {"[]", "()", "{}", "Integer(0)", "np.nan", "np.inf"} or text.startswith(("np.zeros", "slice("))


def own_returns(node):
    """Yield what a function itself returns, not the functions inside of it."""
    stack = list(node.body)
    while stack:
        item = stack.pop(0)
        if isinstance(item, ast.Return) and item.value is not None:
            yield item.value
        elif not isinstance(item, (*FUNCTIONS, ast.ClassDef)):
            stack[:0] = ast.iter_child_nodes(item)


class Wrap(ast.NodeTransformer):
    """Puts one expression, known by its place, into a call that changes its value, or that of one branch."""

    def __init__(self, site):
        self.place, self.branch = place_of(site.node), site.branch

    def visit(self, node):
        if not isinstance(node, ast.expr) or place_of(node) != self.place:
            return self.generic_visit(node)
        if self.branch is None:
            return called("__spoiled__", [node], node)
        return called("__branch__", [ast.copy_location(ast.Constant(self.branch), node), *node.args], node)


def called(name, arguments, node):
    """Return a call of a name in the place of an expression."""
    return ast.copy_location(ast.Call(ast.copy_location(ast.Name(name, ast.Load()), node), arguments, []), node)


def place_of(node):
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def key_of(code):
    return code.co_qualname, tuple(code.co_positions())


@functools.cache
def all_living():
    """Return the functions of all modules that are alive, as things stand, by file."""
    gc.unfreeze()  # a batch in this process has hidden from the collector what was there before it
    found = {}
    for function in gc.get_objects():
        if type(function) is FunctionType:
            found.setdefault(function.__code__.co_filename, []).append(function)
    return found


def pairs(old, new):
    """Yield the code objects of two versions of a module that stand in the same place."""
    yield old, new
    inner = ([item for item in code.co_consts if isinstance(item, CodeType)] for code in (old, new))
    for a, b in zip(*inner, strict=True):
        yield from pairs(a, b)


def rewritten(module, site):
    """Return what lets every function of a module run the code in which one expression is changed."""

    def apply():
        tree = Wrap(site).visit(copy.deepcopy(tree_of(module)))
        old = compile(text_of(module), module.__file__, "exec", dont_inherit=True)
        new = compile(ast.fix_missing_locations(tree), module.__file__, "exec", dont_inherit=True)
        codes = {key_of(a): b for a, b in pairs(old, new)}
        vars(module).update(__spoiled__=spoiled, __branch__=spoiled_branch)
        for function in all_living().get(module.__file__, []):
            function.__code__ = codes.get(key_of(function.__code__), function.__code__)

    return apply


def code_mutants(lines):
    """Yield the mutants of each expression that a function returns on one of some lines, given by file."""
    for name, module in sorted(sys.modules.items()):
        changed = lines.get(below(getattr(module, "__file__", None) or ""), set())
        if changed and name.startswith(tuple(f"gradcli.{room}." for room in ROOMS)):
            for function, sites in Sites(module, changed).found.items():
                for k, site in enumerate(sites, 1):
                    yield Mutant(
                        f"{function} #{k}", frozenset([function.rpartition(".")[2]]), (), rewritten(module, site)
                    )
