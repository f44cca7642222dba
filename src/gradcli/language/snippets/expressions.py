"""Expressions of a snippet in the language: names of libraries, layers and types go, calls of functions are inlined."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import dataclass, field

from gradcli.errors import Budget, GradcliError, Span, over_budget
from gradcli.errors.suggest import INSTEAD_OF_ATTRIBUTE
from gradcli.language.calls import written_name
from gradcli.language.inplace import writes_in_place
from gradcli.language.snippets import callees
from gradcli.language.snippets.arrays import Arrays, as_function, of_copy
from gradcli.language.snippets.fresh import Fresh
from gradcli.language.snippets.imports import Names
from gradcli.language.snippets.lists import Sources, changing, displayed, joined_lists, joins_lists
from gradcli.language.snippets.pieces import Edit, Piece, Source
from gradcli.language.snippets.scopes import Closure, Layer, Scope, identifiers, is_list, is_own_copy, parts
from gradcli.language.snippets.second_names import SecondNames
from gradcli.language.snippets.tables import DRAWS, EMPTY, FLOATS, RENAMED, UNSET, UNTOUCHED, WRAPPERS

GONE = Piece()
Comprehension = ast.ListComp | ast.GeneratorExp


@dataclass(slots=True)
class Block:
    """Statements that are written so far, all at one level of indentation.

    ``fixed`` says that no gradient flows, ``looped`` that they stand in a loop.
    """

    levels: int = 0
    fixed: bool = False
    looped: bool = False
    lines: list[Piece] = field(default_factory=list)

    def add(self, line: Piece) -> None:
        """Add a statement of one line."""
        self.lines.append(line.indented(self.levels))


class Expressions:
    """Writes expressions of a snippet in the language."""

    def __init__(self, source: Source, tree: ast.Module, budget: Budget) -> None:
        self.source = source
        self.budget = budget
        self.names = Names()
        self.fresh = Fresh(tree)
        self.arrays = Arrays(tree)
        self.sources = Sources(tree)
        self.displayed, self.changing = displayed(tree) & self.fresh.lists, changing(tree, self.fresh.lists)
        self.second = SecondNames(tree, self.fresh.lists)
        self.top = Scope()
        self.devices: set[str] = set()
        self.in_input = False
        self.fixed = False
        self.room = budget.text

    def charge(self, piece: Piece) -> Piece:
        """Return a piece that is written; raises ``budget`` where functions that call functions make too many."""
        self.room -= len(piece.text)
        if self.room < 0:
            raise over_budget("text", self.budget.text, "the program with its functions written out is too long")
        return piece

    def write(self, root: ast.AST, scope: Scope, block: Block | None, span: Span | None = None) -> Piece:
        """Return an expression as the language has it, or all that stands at ``span``.

        Statements that it needs go before it, into ``block``; where that is None there is no place for them.
        """
        edits: list[Edit] = []
        stack: list[tuple[ast.AST, Block | None]] = [(root, block)]
        while stack:
            node, into = stack.pop()
            try:
                found, children = self.edits_of(node, scope, into)
            except GradcliError as error:
                raise error.at(self.source.span(node)) from None
            edits += found
            stack.extend(reversed(children))
        return self.charge(self.source.edited(span or self.source.span(root), edits))

    def edits_of(
        self, node: ast.AST, scope: Scope, block: Block | None
    ) -> tuple[list[Edit], list[tuple[ast.AST, Block | None]]]:
        """Return what is replaced in a node, and the parts of it to look at, with where their statements go."""
        match node:
            case ast.Name():
                return self.edits_of_name(node, scope), []
            case ast.Attribute():
                return self.edits_of_attribute(node, scope, block)
            case ast.Call():
                return self.edits_of_call(node, scope, block)
            case ast.IfExp() | ast.BoolOp():
                first, *others = [node.test, node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
                return [], [(first, block), *((other, None) for other in others)]  # these may not run
            case ast.ListComp() | ast.GeneratorExp():
                return self.edits_of_comprehension(node, scope, block), []
            case ast.Subscript():
                return self.edits_of_subscript(node), [(node.value, block), (node.slice, block)]
            case ast.Lambda():
                raise GradcliError("not-allowed", "a lambda can be called or have a name, and nothing else")
            case ast.UnaryOp(op=ast.UAdd(), operand=same) if not self.arrays.holds_array(same):
                return [((self.source.span(node)[0], self.source.span(same)[0]), GONE)], [(same, block)]
            case ast.BinOp(op=ast.Add() | ast.Mult()) if joins_lists(node, self.fresh.lists_in(scope)):
                raise joined_lists()
        return [], [(child, block) for child in ast.iter_child_nodes(node) if hasattr(child, "lineno")]

    def edits_of_comprehension(self, node: Comprehension, scope: Scope, block: Block | None) -> list[Edit]:
        """Return how a comprehension is written; a generator keeps its brackets, which may be those of a call."""
        start, end = self.source.span(node)
        inside = (start + 1, end - 1) if isinstance(node, ast.GeneratorExp) else (start, end)
        return [(inside, self.written_out(node, scope, block))]

    def edits_of_subscript(self, node: ast.Subscript) -> list[Edit]:
        """Return how an index is written: a list is an array to those of NumPy's."""
        base, index = node.value, node.slice
        if isinstance(index, ast.Name) and index.id in self.changing:
            what = f"a list whose entries change, '{index.id}', as an index: each tensor in it is for an axis"
            raise GradcliError("not-allowed", what, hint="write the tensors out, A[i, j]")
        listed = isinstance(index, ast.List) or (isinstance(index, ast.Name) and index.id in self.displayed)
        of_list = callees.is_truth(index) and isinstance(base, ast.Name) and base.id in self.fresh.lists
        if not of_list and not (listed and self.arrays.holds_array(base)):
            return []
        around = zip(self.source.span(index), ("int(" if of_list else "np.array(", ")"), strict=True)
        return [((place, place), Piece.instead(text, (place, place))) for place, text in around]

    def edits_of_name(self, node: ast.Name, scope: Scope) -> list[Edit]:
        """Return how a name is written."""
        span = self.source.span(node)
        local = scope.written(node.id)
        if local is not None:
            return [(span, Piece.instead(local, span))]
        if scope.holds(node.id) is not None:
            raise GradcliError("not-allowed", f"'{node.id}' is a function: it can be called, and nothing else")
        written = self.names.written(node)
        return [(span, Piece.instead(written, span))] if written else []

    def edits_of_attribute(
        self, node: ast.Attribute, scope: Scope, block: Block | None
    ) -> tuple[list[Edit], list[tuple[ast.AST, Block | None]]]:
        """Return how a dotted name of a library, or an attribute of a value, is written."""
        span, weight = self.source.span(node), self.weight_of(node, scope)
        if weight is not None or self.full(node, scope):
            written = weight or self.names.written(node)
            return ([(span, Piece.instead(written, span))] if written else []), []
        if node.attr == "grad":
            message = "a program of gradcli does not read gradients: x.grad is its answer"
            raise GradcliError("not-allowed", message, hint=INSTEAD_OF_ATTRIBUTE["grad"])
        return [], [(node.value, block)]

    def full(self, node: ast.expr, scope: Scope) -> str | None:
        """Return the full name of what belongs to a library, as long as no local name hides it."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or scope.written(root.id) is not None:
            return None
        own = root.id in self.fresh.stored and root.id not in self.names.meanings
        return None if own else self.names.full(node)

    def edits_of_call(
        self, node: ast.Call, scope: Scope, block: Block | None
    ) -> tuple[list[Edit], list[tuple[ast.AST, Block | None]]]:
        """Return how a call is written."""
        closure = self.closure_of(node.func, scope)
        span = self.source.span(node)
        if writes_in_place(node):
            self.refuse_fixed()
        if callees.makes_input(node) and not self.in_input:
            raise GradcliError("not-allowed", "a tensor with requires_grad is an input, which needs a name of its own")
        if closure is not None:
            return [(span, self.inlined(closure, node, scope, block))], []
        layer = self.layer_of(node.func, scope)
        if layer is not None:
            return self.edits_of_layer(node, layer, block)
        full = self.full(node.func, scope)
        made = node.args and is_list(node.args[0], ()) and str(full).startswith("jax.")
        if (full in WRAPPERS and node.args and callees.all_gone(node) and not made) or is_own_copy(node):
            if self.fixed and (full or "").endswith("Parameter"):
                raise GradcliError("not-allowed", "an input is made where no gradient flows")
            first = self.source.span(node.args[0])
            cut = (
                full == "torch.autograd.Variable"
                and not self.in_input
                and any(name in self.fresh.stored for name in identifiers(node))
            )
            opening = Piece.instead("(", (span[0], first[0]))
            closing = Piece.instead(").detach()" if cut else ")", (first[1], span[1]))
            return [((span[0], first[0]), opening), ((first[1], span[1]), closing)], [(node.args[0], block)]
        if full is not None and full.startswith(DRAWS):
            raise callees.random_draw(written_name(node))
        if isinstance(node.func, ast.Attribute) and full is None and self.changes_nothing(node, node.func.attr):
            dot = self.source.code.rfind(".", 0, self.source.span(node.func)[1])
            return [((dot, span[1]), GONE)], [(node.func.value, block)]
        own = self.arrays.own_method(node)
        if isinstance(node.func, ast.Attribute) and own is not None:
            given = [node.func.value, *node.args, *(item.value for item in node.keywords)]
            return as_function(self.source, node, own), [(part, block) for part in given]
        edits, children = self.edits_of_arguments(node, full, block)
        return edits + (of_copy(self.source, node) if self.arrays.flattens(node) else []), children

    def refuse_fixed(self) -> None:
        """Refuse a write in place without a gradient: the value would be part constant."""
        if self.fixed:
            raise GradcliError("not-allowed", "a write in place under no_grad is not part of the language")

    def changes_nothing(self, node: ast.Call, method: str) -> bool:
        """Return whether a method gives the same numbers: to another device, or with a gradient, as all have here."""
        if method in UNTOUCHED:
            return True
        if method != "to" or len(node.args) != 1 or node.keywords:
            return False
        place = node.args[0]
        return self.is_device(place) or self.names.full(place) in FLOATS

    def is_device(self, node: ast.expr) -> bool:
        """Return whether an expression says where numbers are kept."""
        if isinstance(node, ast.IfExp):
            return self.is_device(node.body) and self.is_device(node.orelse)
        if isinstance(node, ast.Call):
            return self.names.full(node.func) == "torch.device"
        if isinstance(node, ast.Name):
            return node.id in self.devices
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value[:4] in ("cpu", "cuda")

    def edits_of_arguments(
        self, node: ast.Call, full: str | None, block: Block | None
    ) -> tuple[list[Edit], list[tuple[ast.AST, Block | None]]]:
        """Return how a call of a function of the language is written: without devices and the usual types."""
        edits: list[Edit] = []
        children: list[tuple[ast.AST, Block | None]] = [(node.func, block)]
        renamed = RENAMED.get(full or "")
        of_lengths = full in UNSET and any(isinstance(item, ast.Constant) for item in node.args[:1])
        if of_lengths or (self.in_input and full in EMPTY):
            raise GradcliError("unset", f"{written_name(node)} of lengths has no set values", hint="write torch.zeros")
        if renamed:
            span = self.source.span(node.func)
            edits, children = [(span, Piece.instead(renamed, span))], []
        elif full is None and callees.is_own_sum(node) and (self.names.of_any or callees.of_turns(node)):
            edits += self.edits_of_sum(node)
        elif callees.is_of_math(full or "") and any(isinstance(part, ast.Name) for part in parts(node.args)):
            end = self.source.span(node)[1]
            edits.append(((end - 1, end), Piece.instead(").detach()", (end - 1, end))))
        gone = [item for item in node.keywords if callees.says_nothing(item, node.func)]
        edits += [(callees.keyword_span(self.source, node, item, gone), GONE) for item in gone]
        children += [(argument, block) for argument in node.args]
        return edits, children + [(item.value, block) for item in node.keywords if item not in gone]

    def edits_of_sum(self, node: ast.Call) -> list[Edit]:
        """Return how Python's own sum is written: along the first axis, and added to where it starts from."""
        (start, end), after = self.source.span(node), self.source.span(node.args[0])[1]
        if len(node.args) == 1:
            return [((end - 1, end), Piece.instead(", dim=0)", (end - 1, end)))]
        middle = (after, self.source.span(node.args[1])[0])
        around = [((start, start), "("), (middle, ", dim=0) + ("), ((end, end), ")")]
        return [(place, Piece.instead(text, place)) for place, text in around]

    def closure_of(self, func: ast.expr, scope: Scope) -> Closure | None:
        """Return the function of the user's that is called, None where it is none of theirs."""
        if isinstance(func, ast.Lambda):
            return Closure("", func, scope)
        held = scope.holds(func.id) if isinstance(func, ast.Name) else None
        if isinstance(func, ast.Call) and self.full(func.func, scope) in ("jax.jit", "torch.compile") and func.args:
            return self.closure_of(func.args[0], scope)
        return held if isinstance(held, Closure) else None

    @abstractmethod
    def written_out(self, node: Comprehension, scope: Scope, block: Block | None) -> Piece:
        """Return a comprehension as a list of its entries."""

    @abstractmethod
    def layer_of(self, func: ast.expr, scope: Scope) -> Layer | None:
        """Return the layer that an expression makes or names, None for any other."""

    @abstractmethod
    def edits_of_layer(
        self, node: ast.Call, layer: Layer, block: Block | None
    ) -> tuple[list[Edit], list[tuple[ast.AST, Block | None]]]:
        """Return how the call of a layer is written."""

    @abstractmethod
    def weight_of(self, node: ast.Attribute, scope: Scope) -> str | None:
        """Return the name of what an attribute of a layer is as an input, None for any other attribute."""

    @abstractmethod
    def inlined(self, closure: Closure, node: ast.Call, scope: Scope, block: Block | None) -> Piece:
        """Return the value of a call of the user's function, after its statements in ``block``."""
