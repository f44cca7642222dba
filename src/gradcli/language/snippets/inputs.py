"""Inputs of a snippet: tensors with ``requires_grad``, arguments of ``jax.grad``, and numbers drawn at random."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace

from gradcli.engine.graph import Node
from gradcli.errors import Budget, GradcliError, Place
from gradcli.language.snippets.building import Builder, Leaf
from gradcli.language.snippets.callees import makes_input
from gradcli.language.snippets.derivatives import Derivatives
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.lines import leaf_line, line_of
from gradcli.language.snippets.pieces import Piece, Source, join
from gradcli.language.snippets.scopes import Scope

PARAMETERS = {"torch.nn.Parameter", "torch.nn.parameter.Parameter"}


class Inputs(Derivatives):
    """Finds the inputs of a snippet, and keeps the lines of its program."""

    def __init__(self, source: Source, tree: ast.Module, place: Place, budget: Budget, given: frozenset[str]) -> None:
        super().__init__(source, tree, budget)
        self.builder = Builder(place, budget, given, self.fresh)

    @property
    @abstractmethod
    def started(self) -> bool:
        """Whether a call of backward has been read, after which there are no other inputs."""

    def add(self, block: Block, number: int) -> None:
        """Add the statements of a block to the program."""
        try:
            self.builder.lines += [line_of(piece, number) for piece in block.lines]
        except SyntaxError:
            raise GradcliError("not-allowed", "this line has no form in the language") from None

    def is_leaf(self, node: ast.expr, scope: Scope) -> bool:
        """Return whether an expression makes a tensor whose gradient is wanted."""
        if not isinstance(node, ast.Call):
            return False
        if any(item.arg == "requires_grad" for item in node.keywords):
            return makes_input(node)
        if self.full(node.func, scope) in PARAMETERS:
            return not any(isinstance(given, ast.Constant) and not given.value for given in node.args[1:])
        if not isinstance(node.func, ast.Attribute) or node.func.attr == "requires_grad_":
            return self.wants_gradient(node)
        return self.changes_nothing(node, node.func.attr) and self.is_leaf(node.func.value, scope)

    def wants_gradient(self, node: ast.Call) -> bool:
        """Return whether a call is ``x.requires_grad_()``."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "requires_grad_":
            return False
        return not any(isinstance(item, ast.Constant) and item.value is False for item in node.args)

    def make_leaf(self, name: str, node: ast.expr, scope: Scope, statement: ast.stmt) -> None:
        """Make a name an input whose value is that of an expression, unless that has a gradient already."""
        if self.started:
            raise GradcliError("not-allowed", f"'{name}' is made after the first call of backward")
        block, self.in_input = Block(), True
        try:
            value = self.write(node, scope, block)
        finally:
            self.in_input = False
        self.add(block, statement.lineno)
        if isinstance(node, ast.Call) and self.wants_gradient(node) and self.has_gradient(value):
            self.builder.lines.append(line_of(assigned(name, value), statement.lineno))
            return
        own = self.written_base(node, scope)
        if own is not None and own != name:
            if any(own in line.stores for line in self.builder.lines):
                self.make_leaf(own, node, scope, statement)
            self.builder.lines.append(line_of(assigned(name, value), statement.lineno))
            return
        self.refuse_aliases(name, own)
        self.add_leaf(Leaf(name, statement.lineno, value, len(self.builder.lines), is_typed_in_integers(node)))

    def written_base(self, node: ast.expr, scope: Scope) -> str | None:
        """Return the variable that ``x.requires_grad_()`` is of, as it is written; None for any other expression."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and self.wants_gradient(node):
            node = node.func.value
        return scope.written(node.id) or node.id if isinstance(node, ast.Name) else None

    def refuse_aliases(self, name: str, own: str | None) -> None:
        """Refuse to make a variable an input in place where another name is the same tensor."""
        if own is None:
            return
        same = {own, name}
        for line in self.builder.lines:
            same |= {part for pair in line.names if own in pair or name in pair for part in pair}
        if len(same) > 1:
            others = " and ".join(sorted(same - {name}))
            raise GradcliError("not-allowed", f"'{name}' is also called {others}: an input has one name")

    def has_gradient(self, value: Piece) -> bool:
        """Return whether an expression depends on an input, as far as gradients flow: a name without a value is one."""
        program = self.builder.compiled(value)
        outside = program.inputs.keys() - self.builder.leaves.keys()
        if outside and value.text not in outside:
            return True
        if all(self.builder.leaves[name].fixed for name in program.inputs if name in self.builder.leaves):
            return False
        values = {name: self.builder.value_of_leaf(name) for name in program.inputs}
        output = program.evaluate(values, frozenset(values))[1]
        return isinstance(output, Node) and output.active

    def add_leaf(self, leaf: Leaf, place: int | None = None) -> None:
        """Add an input, at the end of the lines or at a place among them."""
        builder = self.builder
        place = len(builder.lines) if place is None else place
        builder.lines.insert(place, leaf_line(leaf.name, leaf.number))
        for name, other in builder.leaves.items():
            if other.before > place:
                builder.leaves[name] = replace(other, before=other.before + 1)
        builder.leaves[leaf.name] = leaf

    def draw(self, name: str, statement: ast.stmt, error: GradcliError, fixed: bool) -> None:
        """Make a name whose numbers are drawn at random, or were never set, an input without a value."""
        how = f"leaves '{name}' with no set values" if error.kind == "unset" else f"draws '{name}' at random"
        message = f"line {statement.lineno} {how}, and a program has the same value at every run"
        known = GradcliError(error.kind, message, span=self.source.span(statement), place=self.builder.place)
        self.add_leaf(Leaf(name, statement.lineno, Piece(), len(self.builder.lines), fixed=fixed, error=known))

    def draw_weight(self, name: str, node: ast.Call) -> None:
        """Make a weight of a layer an input without a value; raises ``not-allowed`` where its name is taken."""
        if self.started or name in self.builder.leaves or self.fresh.used[name]:
            why = "made after the first call of backward" if self.started else "a name that is taken"
            raise GradcliError("not-allowed", f"the weight '{name}' of this layer is {why}")
        message = f"line {node.lineno} draws '{name}' at random, and a program has the same value at every run"
        error = GradcliError("random", message, span=self.source.span(node), place=self.builder.place)
        self.add_leaf(Leaf(name, node.lineno, Piece(), len(self.builder.lines), error=error))

    def fix(self, name: str) -> None:
        """Make an input a constant, as ``requires_grad = False`` does."""
        leaf = self.builder.leaves.get(name)
        if leaf is not None:
            self.builder.leaves[name] = replace(leaf, fixed=True)

    def cut_at(self, name: str, statement: ast.stmt) -> None:
        """Make a value between inputs and output an input, where a snippet differentiates by it."""
        lines = self.builder.lines
        made = next((k for k in reversed(range(len(lines))) if name in lines[k].stores), None)
        if name in self.builder.leaves or made is None:
            return
        value = Piece.instead(name, self.source.span(statement))
        self.add_leaf(Leaf(name, lines[made].number, value, made + 1), made + 1)


def assigned(name: str, value: Piece) -> Piece:
    """Return an assignment."""
    return join([Piece.at(f"{name} = ", value.place), value.on_a_line()])


def is_typed_in_integers(node: ast.expr) -> bool:
    """Return whether an expression is a tensor of integers alone, without a type."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        if node.func.attr not in ("requires_grad_", "clone", "detach", "cpu", "cuda"):
            return False
        node = node.func.value
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name) or not node.args:
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
    typed = any(item.arg == "dtype" for item in node.keywords)
    leaves = [part for part in ast.walk(node.args[0]) if not isinstance(part, ast.List | ast.Tuple | ast.expr_context)]
    numbers = [part for part in leaves if not isinstance(part, ast.UnaryOp | ast.operator | ast.unaryop)]
    integers = all(isinstance(part, ast.Constant) and type(part.value) is int for part in numbers)
    return name == "tensor" and not typed and integers and bool(numbers)
