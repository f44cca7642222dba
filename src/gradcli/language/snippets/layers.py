"""Layers of ``torch.nn`` in a snippet: called as functions; those with random weights have these as inputs."""

from __future__ import annotations

import ast
from abc import abstractmethod
from dataclasses import replace

from gradcli.errors import GradcliError
from gradcli.errors.suggest import did_you_mean
from gradcli.language.layer_names import FUNCTIONS, RANDOM, WEIGHTED
from gradcli.language.layers import NOTHING
from gradcli.language.snippets.expressions import Block, Expressions
from gradcli.language.snippets.pieces import Edit, Piece
from gradcli.language.snippets.scopes import Layer, Scope
from gradcli.language.snippets.tables import INSTEAD_OF_LAYER

MODES = ("eval", "train")


class Layers(Expressions):
    """Reads what makes a layer, and writes its calls."""

    def layer_of(self, func: ast.expr, scope: Scope) -> Layer | None:
        """Return the layer that an expression makes or names, None for any other."""
        return self.layer(func, scope)

    def layer(self, node: ast.expr, scope: Scope, name: str = "") -> Layer | None:
        """Return the layer that an expression makes or names; one with weights has them by ``name``."""
        match node:
            case ast.Name(id=word):
                held = scope.holds(word)
                return held if isinstance(held, Layer) else None
            case ast.Subscript():
                whole = self.layer(node.value, scope)
                return None if whole is None else part_at(whole, node.slice)
            case ast.Call(func=ast.Attribute(attr=method)) if method in (*MODES, *NOTHING):
                inner = self.layer(node.func.value, scope, name)  # type: ignore[attr-defined]
                return inner if inner is None or method in NOTHING else inner.switched(self.mode(node))
            case ast.Call():
                kind = self.kind_of_layer(node.func, scope)
                return None if kind is None else self.made(kind, node, scope, name)
        return None

    def kind_of_layer(self, func: ast.expr, scope: Scope) -> str | None:
        """Return the class of layers that a call makes one of, None where it makes none."""
        full = self.full(func, scope)
        if full is None or not full.startswith("torch.nn."):
            return None
        kind = full.removeprefix("torch.nn.").removeprefix("modules.").rpartition(".")[2]
        return kind if kind[:1].isupper() and kind != "Parameter" and not full.startswith("torch.nn.utils") else None

    def mode(self, node: ast.Call) -> str:
        """Return ``train`` or ``eval``, which a call of one or the other means."""
        off = bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value is False
        return "train" if isinstance(node.func, ast.Attribute) and node.func.attr == "train" and not off else "eval"

    def made(self, kind: str, node: ast.Call, scope: Scope, name: str) -> Layer:
        """Return the layer that a constructor makes; raises ``not-allowed`` for one that is not known."""
        if kind == "Sequential":
            parts = [self.layer(part, scope, f"{name}_{k}" if name else "") for k, part in enumerate(node.args)]
            if not parts or None in parts or node.keywords:
                raise GradcliError("not-allowed", "nn.Sequential takes layers, one after the other")
            known = [part for part in parts if part is not None]
            found = (known[0], *map(apart, known, known[1:]))
            return Layer(kind, parts=found, writes=any(part.writes for part in found))
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and self.fresh.stored[part.id] > 1:
                message = f"'{part.id}' is an option of a layer, and gets another value"
                raise GradcliError("not-allowed", message, span=self.source.span(part), hint="give this another name")
        if kind in WEIGHTED and name:
            return self.with_weights(kind, node, scope, name)
        if kind not in FUNCTIONS:
            message, instead = f"nn.{kind} is not part of the language", RANDOM.get(kind)
            near = did_you_mean(f"nn.{kind}", [f"nn.{name}" for name in (*FUNCTIONS, *WEIGHTED, *RANDOM)])
            hint = f"give the weights as inputs and write {instead}" if instead else INSTEAD_OF_LAYER.get(kind, near)
            raise GradcliError("not-allowed", message, span=self.source.span(node), hint=hint)
        given = dict(zip(FUNCTIONS[kind].split()[1:], node.args, strict=False)) | {
            i.arg: i.value for i in node.keywords
        }
        writes = "inplace" in given and not is_constant(given["inplace"], False)
        if kind == "ReLU" and is_constant(given.get("inplace"), True):
            return Layer(kind, "nn.ReLU()", inplace=True, writes=True)
        return Layer(kind, f"nn.{kind}({', '.join(self.options(node.args, node.keywords, scope))})", writes=writes)

    def options(self, arguments: list[ast.expr], keywords: list[ast.keyword], scope: Scope) -> list[str]:
        """Return the texts of arguments."""
        found = [self.write(argument, scope, None).on_a_line().text for argument in arguments]
        return found + [f"{item.arg}={self.write(item.value, scope, None).on_a_line().text}" for item in keywords]

    def with_weights(self, kind: str, node: ast.Call, scope: Scope, name: str) -> Layer:
        """Return a layer whose weights are inputs, as those of a tensor that is drawn at random are."""
        function, *words = WEIGHTED[kind].split()
        names = [word.lstrip("-") for word in words]
        given = dict(zip(names, node.args, strict=False)) | {item.arg or "**": item.value for item in node.keywords}
        strangers = [key for key in given if key not in (*names, "bias", "device", "dtype")]
        if strangers or len(node.args) > len(names):
            raise GradcliError("arguments", f"nn.{kind} takes {', '.join(names)}")
        weights = ["weight"] if "-bias" not in words or is_constant(given.get("bias"), False) else ["weight", "bias"]
        if "bias" in given and not isinstance(given["bias"], ast.Constant):
            raise GradcliError("not-allowed", "bias is True or False here")
        own = [f"{name}_{weight}" for weight in weights]
        for weight in own:
            self.draw_weight(weight, node)
        kept = [ast.keyword(key, value) for key, value in given.items() if key in words]
        return Layer(kind, function, (*own, *self.options([], kept, scope)))

    @abstractmethod
    def draw_weight(self, name: str, node: ast.Call) -> None:
        """Make a weight an input without a value."""

    def weight_of(self, node: ast.Attribute, scope: Scope) -> str | None:
        """Return the name of what an attribute of a layer is as an input, None for any other attribute."""
        if node.attr not in ("weight", "bias"):
            return None
        layer = self.layer(node.value, scope) if isinstance(node.value, ast.Name | ast.Subscript) else None
        own = [] if layer is None else [one for one in layer.weights if one.endswith(f"_{node.attr}")]
        return own[0] if own else None

    def edits_of_layer(
        self, node: ast.Call, layer: Layer, block: Block | None
    ) -> tuple[list[Edit], list[tuple[ast.AST, Block | None]]]:
        """Return how the call of a layer is written."""
        if layer.inplace or any(part.inplace for part in layer.parts):
            self.refuse_fixed()
        (start, after), end = self.source.span(node.func), self.source.span(node)[1]
        bracket = self.source.code.index("(", after) + 1
        edits = [((start, bracket), Piece.instead(layer.opening, (start, bracket)))]
        edits.append(((end - 1, end), Piece.instead(layer.closing, (end - 1, end))))
        return edits, [*((argument, block) for argument in node.args), *((item.value, block) for item in node.keywords)]

    def switches(self, call: ast.Call, scope: Scope, block: Block) -> bool:
        """Take ``net.eval()`` or ``net.train()`` by itself, and return whether a call is one."""
        func = call.func
        if not (isinstance(func, ast.Attribute) and func.attr in MODES and isinstance(func.value, ast.Name)):
            return False
        layer = self.layer(func.value, scope)
        if layer is None:
            return False
        if block.levels or scope.parent is not None:
            raise GradcliError("not-allowed", "a layer is put into another mode where that may not run")
        scope.held[func.value.id] = layer.switched(self.mode(call))
        return True


def part_at(whole: Layer, index: ast.expr) -> Layer | None:
    """Return one of the layers that are applied in turn, None where there is none."""
    sign = -1 if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) else 1
    number = index.operand if isinstance(index, ast.UnaryOp) else index
    place = number.value if isinstance(number, ast.Constant) else None
    if not isinstance(place, int) or not -len(whole.parts) <= sign * place < len(whole.parts):
        return None
    return whole.parts[sign * place]


def apart(before: Layer, layer: Layer) -> Layer:
    """Return a layer without ``inplace`` where nobody else sees what it is given, nor keeps it: one with weights."""
    if not before.weights:
        return layer
    made = layer.made.replace(", inplace=True)", ")").replace("(inplace=True)", "()")
    return replace(layer, inplace=False, writes=False, made=made)


def is_constant(node: ast.expr | None, value: object) -> bool:
    """Return whether an argument is this constant."""
    return isinstance(node, ast.Constant) and node.value is value
