"""Layers of ``torch.nn``: one without random weights is a function whose options were given before its arrays.

After ``loss = nn.MSELoss(reduction="sum")``, ``loss(x, t)`` is read as ``F.mse_loss(x, t, reduction="sum")``: the calls
of the syntax tree are changed in place, so that all that follows sees functions alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from gradcli.errors import GradcliError
from gradcli.errors.suggest import did_you_mean
from gradcli.language.layer_names import FUNCTIONS, RANDOM
from gradcli.language.names import MODULES, dotted
from gradcli.language.source import Spans

NOTHING = ("double", "float", "to", "cpu", "cuda", "requires_grad_")
"""Methods of a layer that leave its value as it is."""


@dataclass(frozen=True)
class Layer:
    """A function with options that were given before its arrays; one of many ``parts`` applies them in turn."""

    name: str
    function: str = ""
    options: tuple[tuple[str, ast.expr], ...] = ()
    parts: tuple[Layer, ...] = ()

    def switched(self, training: bool) -> Layer:
        """Return the layer in training or not, which few mind."""
        value = ast.Constant(training)
        options = tuple((name, value if name == "training" else given) for name, given in self.options)
        if self.name.startswith("BatchNorm") and not training:
            raise GradcliError(
                "not-allowed", f"nn.{self.name} after eval() reads running statistics that only training makes",
                hint="write F.batch_norm(x, mean, var) with statistics that are given",
            )  # fmt: skip
        return replace(self, options=options, parts=tuple(part.switched(training) for part in self.parts))


@dataclass
class Reader:
    """Reads the layers of one program.

    ``known`` are those that were assigned, ``held`` the variables that are options of these, and ``texts`` what calls
    are changed to, by their place.
    """

    spans: Spans
    places: Spans
    written: Callable[[ast.expr], str]
    known: dict[str, Layer]
    held: set[str]
    texts: dict[tuple[int, int], str]

    def layer(self, node: ast.expr) -> Layer | None:
        """Return the layer that an expression makes or names, None for any other."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("eval", "train", *NOTHING):
            inner = self.layer(node.func.value)
            return None if inner is None else changed(inner, node.func.attr, node.args)
        name = layer_name(node.func)
        try:
            return None if name is None else self.made(name, node)
        except GradcliError as error:
            raise error.at(self.spans.of(node)) from None

    def made(self, name: str, node: ast.Call) -> Layer:
        """Return the layer that a constructor makes."""
        if name == "Sequential":
            parts = [self.layer(part) for part in node.args]
            if None in parts or node.keywords:
                raise GradcliError("not-allowed", "nn.Sequential takes layers, one after the other")
            return Layer(name, parts=tuple(part for part in parts if part is not None))
        if name in RANDOM:
            hint = f"give the weights as inputs and write {RANDOM[name]}"
            raise GradcliError("not-allowed", f"nn.{name} begins with random weights", hint=hint)
        if name not in FUNCTIONS:
            near = did_you_mean(f"nn.{name}", [f"nn.{known}" for known in (*FUNCTIONS, *RANDOM)])
            raise GradcliError("unknown-function", f"unknown layer 'nn.{name}'", hint=near)
        function, taken, fixed = signature(name)
        given = dict(zip(taken, node.args, strict=False)) | {part.arg or "**": part.value for part in node.keywords}
        strangers = [key for key in given if key not in taken]
        if len(node.args) > len(taken) or strangers:
            what = f"no argument '{strangers[0]}'" if strangers else "fewer arguments"
            raise GradcliError("arguments", f"nn.{name} takes {what}: nn.{name}({', '.join(taken)})")
        options = {key: value for key, value in fixed.items() if taken.get(key) != key or key not in given}
        options |= {taken[key]: value for key, value in given.items() if taken[key]}
        if taken.get("padding") == "pad" and isinstance(options.get("pad"), ast.Constant):
            options["pad"] = on_each_side(options["pad"], axes=int(name[-2]))
        return Layer(name, function, tuple(options.items()))

    def apply(self, layer: Layer, call: ast.Call) -> None:
        """Change the call of a layer into that of its function, with its text."""
        text = [self.written(argument) for argument in call.args]
        text += [f"{part.arg}={self.written(part.value)}" for part in call.keywords]
        arguments, keywords = list(call.args), list(call.keywords)
        chain = list(flattened(layer))
        if not chain:
            raise GradcliError("not-allowed", "nn.Sequential without layers has no value")
        for part in chain:
            own = [ast.copy_location(ast.keyword(name, value), call) for name, value in part.options]
            text = [f"{part.function}({', '.join([*text, *(f'{o.arg}={self.option(o.value)}' for o in own)])})"]
            made = ast.copy_location(ast.Call(function_node(part.function, call), arguments, [*keywords, *own]), call)
            arguments, keywords = [made], []
        call.func, call.args, call.keywords = made.func, made.args, made.keywords
        self.texts[self.places.of(call)] = text[0]

    def option(self, value: ast.expr) -> str:
        """Return the text of an option: as it is written in the program, or of a constant that is not."""
        return self.written(value) if hasattr(value, "lineno") else ast.unparse(value)


def on_each_side(count: ast.expr, axes: int) -> ast.expr:
    """Return the counts of a layer that pads by one number on all sides of its axes."""
    return ast.parse(repr((ast.literal_eval(count),) * (2 * axes)), mode="eval").body


def flattened(layer: Layer) -> Iterator[Layer]:
    """Yield the layers that are applied in turn."""
    for part in layer.parts:
        yield from flattened(part)
    if layer.function:
        yield layer


def each_option(layer: Layer) -> Iterator[tuple[str, ast.expr]]:
    """Yield the options of all layers that are applied in turn."""
    for part in flattened(layer):
        yield from part.options


def layer_name(func: ast.expr) -> str | None:
    """Return the name of the layer that a call makes, None where it makes none."""
    name = dotted(func)
    if name is None:
        return None
    module, _, last = name.rpartition(".")
    if module in ("nn", "torch.nn") and last[:1].isupper():
        return last
    return last if not module and (last in FUNCTIONS or last == "Sequential") else None


@cache
def signature(name: str) -> tuple[str, Mapping[str, str], Mapping[str, ast.expr]]:
    """Return the function of a layer, the option that each parameter is, and what the function is given anyway."""
    function, *words = FUNCTIONS[name].split()
    taken = {word.lstrip("-").partition(":")[0]: meaning(word) for word in words if "=" not in word}
    pairs = [word.partition("=") for word in words if "=" in word]
    fixed = {key: ast.parse(text, mode="eval").body for key, _, text in pairs}
    return function, taken | {"device": "", "dtype": ""}, fixed


def meaning(word: str) -> str:
    """Return what the function calls a parameter, nothing for one that has no part in the value."""
    name, _, other = word.partition(":")
    return "" if name.startswith("-") else other or name


def function_node(name: str, where: ast.expr) -> ast.expr:
    """Return the syntax of a function's name."""
    module, _, last = name.partition(".")
    root = ast.copy_location(ast.Name(module, ast.Load()), where)
    return ast.copy_location(ast.Attribute(root, last, ast.Load()), where)


def read_layers(tree: ast.Module, spans: Spans, places: Spans, code: str) -> dict[tuple[int, int], str]:
    """Change the calls of layers into those of functions, take their assignments out, and return the new texts.

    ``places`` are those in ``code``, the text of the tree, and ``spans`` those that errors point at.
    Raises ``not-allowed`` for a layer with random weights, for one that is assigned in a loop or a branch, and for one
    that is used otherwise than called.
    """
    texts: dict[tuple[int, int], str] = {}

    def written(node: ast.expr) -> str:
        return replaced(code, places.of(node), texts)

    reader = Reader(spans, places, written, {}, set(), texts)
    kept: list[ast.stmt] = []
    for statement in tree.body:
        try:
            if not assigned_layer(statement, reader):
                change_calls(statement, reader)
                kept.append(statement)
        except GradcliError as error:
            raise error.at(spans.of(statement)) from None
    if not kept or (kept[-1] is not tree.body[-1]):
        raise GradcliError(
            "syntax", "the last line makes a layer: it has no value", span=spans.of(tree.body[-1]),
            hint="call it on the last line",
        )  # fmt: skip
    tree.body = kept
    return texts


def assigned_layer(statement: ast.stmt, reader: Reader) -> bool:
    """Return whether a statement gives a layer a name, or changes how one works, and remember it."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in reader.known:
            layer = reader.layer(statement.value)
            if layer is not None:
                reader.known[func.value.id] = layer
                return True
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    layer = reader.layer(statement.value) if isinstance(target, ast.Name) else None
    if layer is None or not isinstance(target, ast.Name):
        return False
    parts = [part for _, value in each_option(layer) for part in ast.walk(value)]
    reader.held |= {part.id for part in parts if isinstance(part, ast.Name)} - MODULES
    reader.known[target.id] = layer
    return True


def change_calls(statement: ast.stmt, reader: Reader) -> None:
    """Change the calls of layers in a statement, the inner ones first; raises where one is used otherwise."""
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    made: set[int] = set()
    for node in reversed(nodes):
        layer = reader.layer(node.func)
        if layer is not None:
            made |= {id(part) for part in ast.walk(node.func)}
            reader.apply(layer, node)
    for part in ast.walk(statement):
        refuse_otherwise(part, reader, made)


def refuse_otherwise(node: ast.AST, reader: Reader, made: set[int]) -> None:
    """Refuse a layer that is not called, or whose name gets another value; ``made`` are those that were called."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in {*reader.known, *reader.held}:
        what = "a layer" if node.id in reader.known else "an option of a layer"
        message = f"'{node.id}' is {what}, and gets another value here"
        raise GradcliError("not-allowed", message, span=reader.spans.of(node), hint="give this another name")
    if isinstance(node, ast.Name) and node.id in reader.known and id(node) not in made:
        span = reader.spans.of(node)
        raise GradcliError("not-allowed", f"'{node.id}' is a layer", span=span, hint=f"call it: {node.id}(x)")
    if not isinstance(node, ast.Call) or isinstance(node.func, ast.Name) or id(node) in made:
        return
    if reader.layer(node) is not None:
        what = ast.unparse(node.func)
        raise GradcliError(
            "not-allowed", f"{what} makes a layer, which is assigned on a line of its own, or called",
            span=reader.spans.of(node), hint=f"write {what}(...)(x)",
        )  # fmt: skip


def replaced(code: str, span: tuple[int, int], texts: Mapping[tuple[int, int], str]) -> str:
    """Return a piece of the program with the calls of layers in it as those of functions."""
    first, last = span
    inside = sorted(
        (part for part in texts if first <= part[0] and part[1] <= last), key=lambda part: (part[0], -part[1])
    )
    found, at = [], first
    for start, end in inside:
        if start >= at:
            found += [code[at:start], texts[start, end]]
            at = end
    return "".join([*found, code[at:last]])


def changed(layer: Layer, method: str, arguments: Sequence[ast.expr]) -> Layer:
    """Return a layer after a method that gives it back."""
    if method in NOTHING:
        return layer
    off = arguments and isinstance(arguments[0], ast.Constant) and arguments[0].value is False
    return layer.switched(method == "train" and not off)
