"""Mutants of the code: what each function of the rules and of the composition returns, branch by branch."""

from __future__ import annotations

import ast
import copy
import functools
import gc
import sys
from dataclasses import dataclass, fields, is_dataclass
from types import CodeType, FunctionType

from gradcli.engine import reverse
from gradcli.explanation import agreement, explained, jacobians
from gradcli.formulas import derivation as formulas
from gradcli.formulas import entries, printing, rules, vjps
from gradcli.jacobian import composition as jacobian
from gradcli.jacobian import evaluate, functions, local, passes, sparse
from gradcli.language import values
from mutation.sources import FUNCTIONS, nested, node_of, reached_code, text_of, tree_of
from mutation.spoiling import SLIGHTLY, VISIBLY, spoiled, spoiled_branch
from mutation.table import Mutant, arguments_of
from records import FUNCTIONS as FUNCTIONS_OF_USERS
from records import OPS

OF_OPS = [module for name, module in sorted(sys.modules.items()) if name.startswith("gradcli.ops.")]
MODULES = [
    *OF_OPS, reverse, values, agreement, explained, jacobians, local, rules, passes, entries, evaluate, formulas,
    printing, functions, jacobian, sparse, vjps,
]  # fmt: skip
NUMBERS = {"Any", "Array", "Indices", "Array | float", "Expr", "list[Links]", "Links", "Sparse", "list[PartNumbers]",
           "list[Contraction]", "Contraction", "list[Links | Contraction]", "Sequence[Links | Contraction]",
           "Named", "Vectors",
           "tuple[Any, ...]", "tuple[Any, Any]", "dict[int, Any]", "list[Any]", "list[Array]", "Cotangent", "float",
           "Callable[..., Any]", "Composition", "dict[int, Sparse]",
           "IndexRule | None", "list[IndexRule]", "list[IndexRule] | None",
           "Small", "Small | None", "Entries", "list[float]", "IndexRule", "Diagonals",
           "Written", "Written | None", "Callable[..., Written]",
           "Expr | None", "dict[int, Expr] | None",
           "Number", "Exact", "Tensor", "Expression", "Pair",
           "Numbers", "tuple[Numbers, Numbers]", "tuple[Numbers, Numbers, Numbers]", "tuple[Array, Array]",
           "tuple[Array, Array, Array]", "Array | None", "list[Tensor]", "tuple[Tensor, ...]", "tuple[Tensor, Tensor]",
           "Tensors", "Tensor | None", "Slopes", "tuple[Expression, ...]", "tuple[Expression]", "tuple[Expr, ...]",
           "list[Expr]", "ExprArray", "dict[str, Array]", "dict[int, Vectors]", "Matrix", "list[Tap]",
           "Tensor | Pair", "tuple[Array, Number]",
           "tuple[Array, Integers]", "Mask", "Integers", "Number | Integers"}  # fmt: skip
"""Annotations of what a rule may return; a function that returns a text, a shape or a flag is no rule."""
NO_RULE = {
    "declare.": "declares",
    "making.": "makes constants; the functions are mutated where they are built",
    "links.Line.allowed": "places, which any number but 0 marks",
    "passes.Contracted._moved.sizes": "how much rounding is allowed, no number of an answer",
    "evaluate.magnitude": "how much rounding is allowed, no number of an answer",
    "evaluate._size": "how much rounding is allowed, no number of an answer",
    "explained.Explained.": "adds up the v of several calls, as it is shown",
    "jacobians.Jacobian.scale": "how much rounding is allowed, no number of an answer",
    "composition.Composition.read": "what notes of lost digits read, no number of an answer",
    "bessel.in_digits": "made when the module is read",
    "bessel.asymptotic": "made when the module is read",
    "losses.as_numbers": "conditions, which any number but 0 fulfils",
    "picks.numbers_of": "conditions, which any number but 0 fulfils",
    "linear_cholesky.factor_digits": "how much rounding is allowed, no number of an answer",
    "linear_exponential.exponential_digits": "how much rounding is allowed, no number of an answer",
    "linear_inverses.pinv_digits": "how much rounding is allowed, no number of an answer",
    "linear_inverses.inverse_or_one": "how much rounding is allowed, no number of an answer",
    "linear_spectra.mirrored": "a matrix whose eigenvectors are asked for: its scale is free",
    "linear_spectra.nearness": "how much rounding is allowed, no number of an answer",
    "linear_spectra.vector_digits": "how much rounding is allowed, no number of an answer",
    "special_values.zeta_rest": "made when the module is read",
    "special_values.first_inverse": "where an iteration begins",
    "passes.count_lost": "counts, which are compared with each other",
    "exactly.unit_of": "a unit, of which the result is free",
    "spread.unit_of": "a unit, of which the result is free",
    "agreement.tolerance": "how much rounding is allowed, no number of an answer",
    "cofactors.cofactor_terms": "how much rounding is allowed, no number of an answer",
    "matrices.inv_digits": "how much rounding is allowed, no number of an answer",
    "matrices.solve_digits": "how much rounding is allowed, no number of an answer",
    "matrices.substituted": "read where the determinant is not finite: inf and nan either way",
    "activations.bce_logits_digits": "how much rounding is allowed, no number of an answer",
    "arithmetic.at_root": "says which answers are looked at again, no number of them",
    "elementwise.is_far": "says which answers are looked at again, no number of them",
    "integers.": "makes masks and integers, which tests/language/test_kinds.py holds against both libraries",
    "rules.in_words": "words",
    "rules.sum_of_paths": "words, and products that reading back holds against J",
    "derivation.new_names": "names",
    "functions.number": "makes constants",
    "functions.as_expression": "makes constants",
    "functions.PowerOf.eval": "chooses a class",
    "axes.": "reads axes, which are integers",
    "matrices.no_singular": "makes a forward",
    "vjps.Written.__array_function__": "asks for shapes, or hands on to a rule of recording",
}
KEPT = (
    "axes.group_rows",
    "axes.restore",
    "entrywise.broadcast_index",
    "entrywise.elementwise_local",
    "bessel.in_digits.value",
)
"""Functions among those that are rules all the same."""


def is_rule(name):
    return name.startswith(KEPT) or not any(name.startswith(prefix) for prefix in NO_RULE)


@dataclass(frozen=True)
class Site:
    """An expression that a mutant changes, or the entries that a call of ``np.where`` takes from a branch."""

    node: ast.expr
    branch: int | None = None


class Sites(ast.NodeVisitor):
    """Finds the expressions that a module's functions return, by the name of the function."""

    def __init__(self, module):
        self.module = module.__name__
        self.short = module.__name__.rpartition(".")[2]
        self.path, self.found, self.fields = [], {}, fields_of_ops()
        self.visit(tree_of(module))

    def visit(self, node):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr):
            self.inside(declared(node.value), node)
        else:
            super().visit(node)

    def inside(self, name, node):
        """Visit a statement under the name that it declares, if it stands in no function."""
        if self.path or name is None:
            self.generic_visit(node)
            return
        self.path.append(name)
        self.generic_visit(node)
        self.path.pop()

    def visit_ClassDef(self, node):
        self.path.append(node.name)
        self.generic_visit(node)
        self.path.pop()

    def visit_FunctionDef(self, node):
        builder = node.name.startswith("build") or any(isinstance(d, ast.Call) for d in node.decorator_list)
        self.path.append(node.name)
        if not builder and node.returns is not None and ast.unparse(node.returns) in NUMBERS:
            made = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            for returned in own_returns(node):
                if getattr(returned, "id", None) not in made:  # a rule that is made here is changed where it is written
                    self.enter(returned)
        self.generic_visit(node)
        self.path.pop()

    def visit_Lambda(self, node):
        if (self.module, *place_of(node.body)) not in self.fields:
            self.enter(node.body)
        self.generic_visit(node)

    def visit_Call(self, node):
        branches = node.args[1:] if ast.unparse(node.func) == "np.where" and len(node.args) == 3 else []
        if branches and not any(isinstance(b, ast.Constant) or is_nothing(b) for b in branches):
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
        self.found.setdefault(".".join([self.short, *self.path]), []).append(site)


def declared(value):
    """Return the name that a declaration such as ``own("relu", …)`` begins with."""
    first = value.args[0] if isinstance(value, ast.Call) and value.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None


RULES_OF_THEIR_OWN = {"exactly", "pieces"}
"""Fields of ops whose lambdas are changed as code is; the table's own mutants change the others, or they are texts."""


@functools.cache
def fields_of_ops():
    """Return where the lambdas stand that are a field of an op, or a part of one."""
    found = set()
    for op in OPS.values():
        named = [getattr(op, field.name) for field in fields(op) if field.name not in RULES_OF_THEIR_OWN]
        parts = [value for part in named for value in parts_of(part)]
        for rule in (*named, *parts, unread_labels(op), *(op.vjp(k) for k in arguments_of(op))):
            code = getattr(rule, "__code__", None)
            if code is not None and code.co_name == "<lambda>":
                node = node_of(code, sys.modules[rule.__module__])
                found.add((rule.__module__, *place_of(node.body)))
    return frozenset(found)


def parts_of(value):
    """Return what a field of an op is made of, where it is a record of its own."""
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    return list(value) if isinstance(value, tuple) else []


def unread_labels(op):
    """Return what tells the pieces of an op apart where their value does not read it: no number depends on labels."""
    if op.pieces is None:
        return None
    code = getattr(op.pieces.on, "__code__", None)
    return op.pieces.piece if code is not None and code.co_varnames[0].startswith("_") else None


def is_nothing(expression):
    """Return whether an expression is 0 or empty as it stands, so that no factor changes it."""
    text = ast.unparse(expression)
    if (
        isinstance(expression, ast.Lambda)
        or text.startswith(("slice(", "Op(", "Links(*"))
        or text.endswith(("* 0.0", "* np.nan"))
    ):
        return True
    if "np.nan)" in text or "np.nan, np.inf)" in text or text.startswith(("np.zeros(", "np.zeros_like(")):
        return True
    if text.removeprefix("-").isdigit():
        return True  # a plain integer, which may be a place or a count, is left as it is
    return text in {"[]", "Integer(0)", "None", "0.0", "np.nan", "np.inf"}


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


def living(module):
    return all_living().get(module.__file__, [])


@functools.cache
def last_line(code):
    return max(place[1] for place in code.co_positions() if place[1] is not None)


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
        # A formula of forms is printed and no more: a billionth is no digit of its text.
        by = VISIBLY if module is printing else SLIGHTLY
        vars(module).update(__spoiled__=functools.partial(spoiled, by=by), __branch__=spoiled_branch)
        for function in living(module):
            function.__code__ = codes[key_of(function.__code__)]
        local.derivative.cache_clear()
        local._RECALLED.clear()
        local._KEPT.clear()

    return apply


@functools.cache
def readers():
    """Return by code object the names of the ops and of the functions whose rules reach it."""
    found = {}
    for function in FUNCTIONS_OF_USERS.values():
        for code in reached_code(function.build):
            for inner in nested(code):
                found.setdefault(inner, set()).add(function.name)
    for op in OPS.values():
        rules = [op.forward, op.local, op.formula, *(op.vjp(k) for k in arguments_of(op))]
        rules += [op.vjps] if callable(op.vjps) else []
        for code in {code for rule in rules if rule is not None for code in reached_code(rule)}:
            for inner in nested(code):
                found.setdefault(inner, set()).add(op.name)
    return found


def enclosing(module, site):
    """Return the living functions that hold an expression, innermost last."""
    first, last = site.node.lineno, site.node.end_lineno
    inside = [
        function
        for function in living(module)
        if function.__code__.co_firstlineno <= first and last <= last_line(function.__code__)
    ]
    return sorted(inside, key=lambda f: f.__code__.co_firstlineno)


def code_mutants():
    """Yield the mutants of every expression that a rule returns."""
    for module in MODULES:
        for name, sites in Sites(module).found.items():
            if not is_rule(name):
                continue
            for k, site in enumerate(sites, 1):
                rules = tuple(enclosing(module, site))
                about = frozenset([name.rpartition(".")[2]]).union(
                    *(readers().get(rule.__code__, set()) for rule in rules)
                )
                yield Mutant(f"{name} #{k}", about, rules, rewritten(module, site))
