"""What a library has in the place of the language's functions, displays and attributes: ``words.toml``, and Dialect.

Expressions of the language in the words of a library: the same syntax tree with other calls; what is to be said.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.explanation.explained import Explained
from gradcli.explanation.parts import Rule, Value
from gradcli.explanation.rereading import COTANGENT
from gradcli.language.calls import MODULES, Bound, bind_call, dotted, find_constant, parameters, resolve_call
from gradcli.language.expressions import special_call
from gradcli.ops import OPERATORS, Function
from gradcli.ops.declare import Array
from gradcli.scripts import helpers


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of a library.

    - ``library``: its name on the command line; ``module``: how a script calls it.
    - ``imports``: the first lines of a script.
    - ``templates``: calls by the name of the language's function, in which its parameters stand for its arguments:
      ``"np.linalg.norm(x, ord=p)"``. One that takes all the rest is a tuple.
    - ``keywords``: parameters that the library calls otherwise; ``attributes``: as templates of ``x``.
    - ``array``, ``stacked``, ``integers``: templates for numbers, for items that are computed, for positions.
    - ``lacks``: functions that it has under this name, and that mean something else there.
    - ``options``: keywords that its functions have; empty: all that the language has.
    - ``wraps``: whether functions refuse plain numbers. ``listed``: whether an index may be a list.
    - ``names``: the names of functions that it spells otherwise.
    """

    library: str
    module: str
    imports: list[str]
    templates: Mapping[str, str]
    keywords: Mapping[str, str]
    attributes: Mapping[str, str]
    array: str
    stacked: str
    integers: str
    lacks: list[str]
    options: Sequence[str] = ()
    wraps: bool = False
    listed: bool = True
    names: Mapping[str, str] = field(default_factory=dict)

    def spelled(self, function: Function) -> str | None:
        """Return the library's own name of a function, the shortest there is; None where it has none."""
        if self.library == "torch":
            first = ("F.", "torch.", "F.") if function.family == "neural" else ("torch.", "F.")
            candidates = [name for prefix in first for name in function.spellings if name.startswith(prefix)]
            return self.names.get(function.name) or next(iter(candidates), None)
        name = spelled_in_numpy(function)
        return in_jax(name) if name is not None and self.library == "jax" else name


def syntax_of(text: str) -> ast.expr:
    """Return the syntax of an expression."""
    return ast.parse(text.strip(), mode="eval").body


class Fill(ast.NodeTransformer):
    """Puts arguments in the place of the names of parameters."""

    def __init__(self, arguments: Mapping[str, ast.expr]) -> None:
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the argument of a name; any other name is one of the library's."""
        return self.arguments.get(node.id, node)


def filled(template: str, **arguments: ast.expr) -> ast.expr:
    """Return a template with arguments in the place of its names."""
    return Fill(arguments).visit(syntax_of(template))  # type: ignore[no-any-return]


PLAIN_SYNTAX = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop,
    ast.Name, ast.Load, ast.expr_context)  # fmt: skip
"""What plain numbers of Python are made of."""
DEFAULT = "default "
"""Marks the default of a parameter, whose name follows: nobody gave it."""


def expression_names(text: str) -> set[str]:
    """Return the names that an expression mentions."""
    return {node.id for node in ast.walk(syntax_of(text)) if isinstance(node, ast.Name)}


def drop_defaults(node: ast.expr) -> ast.expr:
    """Return an expression whose calls leave out what nobody gave and the library takes for granted, too.

    That is None and False, an option of the same name, and any default of a function that the script brings along.
    """
    for call in [part for part in ast.walk(node) if isinstance(part, ast.Call)]:
        is_helper = isinstance(call.func, ast.Name)
        call.keywords = [word for word in call.keywords if not is_left_out(word.value, is_helper, word.arg)]
        while call.args and is_left_out(call.args[-1], is_helper):
            call.args.pop()
    return node


def is_left_out(node: ast.expr, is_helper: bool, name: str | None = None) -> bool:
    """Return whether nobody gave an argument, and the function called has the same default."""
    if not isinstance(node, ast.Constant) or not (node.kind or "").startswith(DEFAULT):
        return False
    return is_helper or node.value is None or node.value is False or node.kind == f"{DEFAULT}{name}"


def leaves_of(node: ast.List | ast.Tuple) -> Iterator[ast.expr]:
    """Yield the items of a display that are no displays."""
    for item in node.elts:
        if isinstance(item, ast.List | ast.Tuple):
            yield from leaves_of(item)
        else:
            yield item


def in_lists(node: ast.expr, change: Callable[[ast.expr], ast.expr]) -> ast.expr:
    """Return a display as lists, and each item of it that is none changed."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([in_lists(item, change) for item in node.elts], ast.Load())
    return change(node)


def floats(node: ast.expr) -> ast.expr:
    """Return a number, or numbers, with every integer as the double that it is in the language."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(float(node.value))
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, floats(node.operand))
    return in_lists(node, floats) if isinstance(node, ast.List | ast.Tuple) else node


@cache
def helper_texts(module: str = "np") -> dict[str, str]:
    """Return the text of each helper by its name, with ``module`` in the place of ``np``."""
    source = Path(helpers.__file__).read_text(encoding="utf-8")
    result = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            text = ast.get_source_segment(source, node) or ""
            text = re.sub(r"(\w+): (?:Any|Array|int|bool|str|float)\b(?: (=) )?", r"\1\2", text)
            result[node.name] = re.sub(r"\) -> \w+:", "):", text)
    result["Pair"] = 'Pair = namedtuple("Pair", "values indices")'
    return {name: re.sub(r"\bnp\.", f"{module}.", text) for name, text in result.items()}


def spelled_in_numpy(function: Function) -> str | None:
    """Return the name that numpy has for a function; the table of spellings holds what jax and PyTorch have, too."""
    for name in function.spellings:
        parts = name.split(".")
        if parts[0] == "np" and all(part.isidentifier() for part in parts):
            home = np.linalg if parts[1:-1] == ["linalg"] else np
            if len(parts) == 2 + (home is np.linalg) and hasattr(home, parts[-1]):
                return name
    return None


def in_jax(text: str) -> str:
    """Return a text of numpy's with the name that jax has for it."""
    return re.sub(r"\bnp\.", "jnp.", text)


WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
TORCH, NUMPY = (Dialect(library, **WORDS[library]) for library in ("torch", "numpy"))
IN_JAX = {name: in_jax(text) for name, text in NUMPY.templates.items()} | WORDS["jax"]["templates"]
JAX = Dialect("jax", **{**WORDS["numpy"], **WORDS["jax"], "templates": IN_JAX})


# ---- expressions of the language in the words of a library

MOST_NUMBERS = 10_000
"""Numbers of inputs, v and constants that a script writes out."""


@dataclass(frozen=True, slots=True)
class Line:
    """``name = text``, the text in the language, and the number that it has."""

    name: str
    text: str
    value: Array


def refusal(library: str, why: str, hint: str | None = None) -> GradcliError:
    """Return the error of an answer that a script cannot tell."""
    return GradcliError("code", f"--code {library} cannot write this program: {why}", hint=hint)


def forward_lines(answer: Explained, library: str) -> list[Line]:
    """Return the values of the program in order, y the last; raises ``code`` where turns of a loop were not kept."""
    lines = list(lines_of_run(answer, library))
    if not any(line.name == answer.name for line in lines) and answer.name not in answer.inputs:
        raise refusal(library, "its last value is not in the record of what ran")
    return lines


def lines_of_run(answer: Explained, library: str) -> Iterator[Line]:
    """Yield the values of the program; each text mentions earlier names alone."""
    ahead = {value.name for value in answer.values} - answer.inputs.keys()
    for value in answer.values:
        if value.role == "input":
            continue
        text = text_of(value)
        if text is None or not ahead.isdisjoint(expression_names(text)):
            why = f"of its loops the first and the last turns are kept, and '{value.name}' needs one between them"
            raise refusal(library, why, "fewer turns are kept as a whole")
        ahead.discard(value.name)
        yield Line(value.name, text, value.value)


def text_of(value: Value) -> str | None:
    """Return how a value is made; truth values are told as the user wrote them, for their formula says 1 and 0."""
    if value.value.dtype == bool and value.text and not value.target:
        return value.text
    if value.role == "constant" and value.formula is None and value.value.size <= MOST_NUMBERS:
        return repr(value.value.astype(float).tolist())  # an array of the script's own
    return value.formula


def backward_rules(answer: Explained, library: str) -> list[Rule]:
    """Return the rules of the backward pass, that of y first; raises ``code`` where one has no text."""
    passed, hint = answer.backward_by_any_v, "--code torch needs no rules"
    if passed.left_out:
        raise refusal(library, f"its backward pass has {counted(passed.left_out, 'line')} more than are kept", hint)
    unknown = next((rule.name for rule in passed.rules if rule.text is None), None)
    if unknown is not None:
        raise refusal(library, f"the rule of {unknown}.grad has no text", hint)
    return passed.rules


def made_lines(answer: Explained) -> list[Line]:
    """Return the names that rules give to values which the program does not name, in the order of the run."""
    made = [rule for rule in reversed(answer.backward_by_any_v.rules) if rule.made]
    return [Line(rule.name, rule.made or "", np.zeros(rule.value.shape)) for rule in made]


def refuse_long(arrays: list[Array], library: str) -> None:
    """Raise ``code`` where a script would be numbers and little else."""
    count = sum(np.size(array) for array in arrays)
    if count > MOST_NUMBERS:
        why = f"the script would hold {count:,} numbers, and {MOST_NUMBERS:,} are the most"
        raise refusal(library, why, "smaller inputs show the same lines")


PLACES = {"nonzero", "np.nonzero", "np.tril_indices", "np.triu_indices"}


def pair_template(function: Function, bound: list[Bound]) -> str | None:
    """Return the template of the values that a call gives beside their places; None where it gives one array."""
    annotation = str(inspect.signature(function.build).return_annotation) if function.build is not None else ""
    if "Pair" not in annotation:
        return None
    if annotation == "Pair":
        return "x.values"
    arguments = {one.parameter.name: one for one in bound}
    if "return_indices" in arguments:
        return "x[0]"
    along = arguments.get("dim")
    return None if along is None or ast.unparse(along.nodes[0]) == "None" else "x.values"


def is_mask(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """Return whether an expression is truth values; ``values`` are the numbers of names."""
    match node:
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert()):
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return is_mask(node.left, values)
        case ast.Name():
            return node.id in values and values[node.id].dtype == bool
        case ast.Call():
            plain = special_call(node, values) is not None
            return not plain and resolve_call(node, values)[0].kinds.integers == "mask"
    return False


def is_places(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """Return whether an expression is a tuple of positions, an array for each axis."""
    if not isinstance(node, ast.Call) or special_call(node, values) is not None:
        return False
    return resolve_call(node, values)[0].name in PLACES


CONSTANT_NAMES = ("pi", "e", "inf", "nan")
SHAPES = {"normalized_shape"}
"""Parameters that are tuples even where one number is given."""


class Translator:
    """Turns expressions into those of a library.

    ``values`` are the numbers of names, ``plain`` the names that are plain numbers of Python, ``cotangents`` what
    ``NAME.grad`` is called. ``used`` collects the helpers that were called.
    """

    def __init__(self, dialect: Dialect, values: Mapping[str, Array], cotangents: Mapping[str, str]) -> None:
        self.dialect, self.values, self.cotangents = dialect, dict(values), cotangents
        self.plain: set[str] = set()
        self.used: set[str] = set()

    def text(self, text: str) -> str:
        """Return an expression of the language in the words of the library; raises ``code``."""
        renamed = COTANGENT.sub(lambda match: self.cotangents.get(match[1], match[0]), text)
        tree = syntax_of(renamed)
        try:
            return ast.unparse(self.value(tree) if self.is_plain(tree) else self.array(tree))
        except GradcliError as error:
            raise error if error.kind == "code" else self.unknown(error.message) from None

    def is_number(self, text: str) -> bool:
        """Return whether a line is a plain number of Python in a script."""
        return self.is_plain(syntax_of(text))

    def is_plain(self, node: ast.expr) -> bool:
        """Return whether an expression is a plain number of Python in a script, and no array."""
        return all(
            isinstance(part, PLAIN_SYNTAX)
            and (not isinstance(part, ast.Name) or part.id in self.plain or self.is_constant(part))
            for part in ast.walk(node)
        )

    def is_constant(self, node: ast.Name | ast.Attribute) -> bool:
        """Return whether a name is a constant of the language, such as ``pi`` or ``torch.inf``."""
        name = dotted(node) or ""
        return name not in self.values and isinstance(find_constant(name), float)

    def value(self, node: ast.expr) -> ast.expr:
        """Return an expression where an array or a number is wanted."""
        match node:
            case ast.List() | ast.Tuple():
                return self.display(node)
            case ast.Name():
                return self.constant(node) if self.is_constant(node) else node
            case ast.Call():
                return self.call(node, alone=True)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript(value=ast.Constant() as number):
                return ast.Subscript(filled(self.dialect.array, x=number), self.index(node.slice), ast.Load())
            case ast.Subscript():
                return ast.Subscript(self.whole(node.value), self.index(node.slice), ast.Load())
            case ast.BinOp(op=ast.FloorDiv()) if self.dialect.wraps and not self.is_plain(node):
                sides = {"x": self.array(node.left), "other": self.number(node.right)}
                return filled('torch.div(x, other, rounding_mode="floor")', **sides)  # // has no derivative there
            case ast.BinOp() if self.dialect.wraps and self.is_mask(node.left) != self.is_mask(node.right):
                return ast.BinOp(self.number(node.left), node.op, self.number(node.right))
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp() | ast.Constant():
                return type(node)(*(self.within(part) for _, part in ast.iter_fields(node)))
        raise self.unknown(f"'{ast.unparse(node)[:40]}' has no counterpart")

    def whole(self, node: ast.expr) -> ast.expr:
        """Return what an index or ``.values`` takes a part of: of a call that gives a pair, the pair."""
        return self.call(node) if isinstance(node, ast.Call) else self.value(node)

    def within(self, part: Any) -> Any:
        """Return a part of an operator: its operands in the words of the library, its signs as they stand."""
        if isinstance(part, list):
            return [self.within(one) for one in part]
        return self.value(part) if isinstance(part, ast.expr) else part

    def number(self, node: ast.expr) -> ast.expr:
        """Return an operand beside one that is no mask: PyTorch refuses masks in some arithmetic."""
        return filled("x*1.0", x=self.value(node)) if self.is_mask(node) else self.value(node)

    def unknown(self, why: str) -> GradcliError:
        """Return the refusal of what the library does not have."""
        return refusal(self.dialect.library, why)

    def constant(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """Return ``pi`` as the library has it."""
        name = (dotted(node) or "").rpartition(".")[2]
        if name not in CONSTANT_NAMES:
            raise self.unknown(f"'{name}' has no counterpart")
        return syntax_of(f"{self.dialect.module}.{name}")

    def display(self, node: ast.List | ast.Tuple) -> ast.expr:
        """Return the array that a list is."""
        if all(self.is_plain(item) or isinstance(item, ast.List | ast.Tuple) for item in leaves_of(node)):
            return filled(self.dialect.array, x=floats(node))
        if not self.dialect.wraps:
            return filled(self.dialect.stacked, x=in_lists(node, self.value))
        items: list[ast.expr] = [self.array(item) for item in node.elts]
        return filled(self.dialect.stacked, x=ast.List(items, ast.Load()))

    def array(self, node: ast.expr) -> ast.expr:
        """Return an expression where the library wants an array: plain numbers are made one if it refuses them."""
        if isinstance(node, ast.Constant) and node.value is None:
            return node
        if self.dialect.wraps and self.is_plain(node):
            return filled(self.dialect.array, x=floats(self.value(node)))
        if self.dialect.wraps and isinstance(node, ast.IfExp):
            return filled("torch.as_tensor(x)", x=self.value(node))
        return self.value(node)

    def index(self, node: ast.expr) -> ast.expr:
        """Return what stands between brackets."""
        match node:
            case ast.Tuple():
                return ast.Tuple([self.index(item) for item in node.elts], ast.Load())
            case ast.Slice():
                if self.dialect.wraps and isinstance(node.step, ast.UnaryOp):
                    raise self.unknown("PyTorch has no slice with a negative step")
                parts = (node.lower, node.upper, node.step)
                return ast.Slice(*(None if part is None else self.static(part) for part in parts))
            case ast.List():
                return node if self.dialect.listed else filled(self.dialect.array, x=node)
            case ast.Constant():
                return node
            case ast.IfExp():
                return ast.IfExp(self.value(node.test), self.index(node.body), self.index(node.orelse))
        if self.is_plain(node) or self.is_mask(node) or is_places(node, self.values):
            return self.value(node)
        array = self.values.get(node.id) if isinstance(node, ast.Name) else None
        result = self.value(node)
        if array is not None and not array.ndim:
            return filled("int(x)", x=result)
        if array is not None and array.dtype.kind in "ib":
            return result
        return filled(self.dialect.integers, x=result)

    def is_mask(self, node: ast.expr) -> bool:
        """Return whether an expression is truth values."""
        return is_mask(node, self.values)

    def static(self, node: ast.expr) -> ast.expr:
        """Return a plain value: a number, a text, a flag, None, or a tuple of them."""
        match node:
            case ast.List() | ast.Tuple():
                return ast.Tuple([self.static(item) for item in node.elts], ast.Load())
            case ast.Constant():
                return node
            case ast.Name(id=name) if self.values.get(name, np.empty(1)).shape == () and name not in self.plain:
                number = self.values[name].item()
                return ast.Constant(int(number) if float(number).is_integer() else number)
        return self.value(node)

    def attribute(self, node: ast.Attribute) -> ast.expr:
        """Return ``x.T`` and its like, or a constant of a library."""
        name = dotted(node)
        if name and name.partition(".")[0] not in self.values and name.partition(".")[0] in MODULES:
            return self.constant(node)
        template = self.dialect.attributes.get(node.attr)
        if template is None:
            raise self.unknown(f".{node.attr} has no counterpart")
        return filled(template, x=self.whole(node.value))

    def call(self, node: ast.Call, alone: bool = False) -> ast.expr:
        """Return a call of the function that means the same; ``alone`` takes the values of a pair."""
        if special_call(node, self.values) is not None:
            raise self.unknown(f"'{ast.unparse(node)[:40]}' gives a length and no array")
        function, receiver = resolve_call(node, self.values)
        bound = bind_call(function, node, receiver)
        if function.name in self.dialect.lacks or self.lacks_derivative(function):
            raise self.unknown(f"'{function.name}' has no counterpart")
        values = pair_template(function, bound) if alone and not self.is_of_two(bound) else None
        result = self.called(function, bound)
        return result if values is None else filled(values, x=result)

    def called(self, function: Function, bound: list[Bound]) -> ast.expr:
        """Return a function of these arguments in the words of the library."""
        template = self.dialect.templates.get(f"{function.name} of two" if self.is_of_two(bound) else function.name)
        if template is not None:
            return self.from_template(function, template, bound)
        operator = self.operator(function, bound)
        if operator is not None:
            return operator
        spelled = self.dialect.spelled(function)
        if spelled is None:
            raise self.unknown(f"'{function.name}' has no counterpart")
        return self.generic(spelled, bound)

    def lacks_derivative(self, function: Function) -> bool:
        """Return whether PyTorch has a function and no derivative of it."""
        return self.dialect.wraps and function.op is not None and function.op.torch.raises

    def operator(self, function: Function, bound: list[Bound]) -> ast.expr | None:
        """Return the operator that a function such as ``mul`` is, None for any other."""
        op = function.op
        if (
            op is None
            or not op.text.operator
            or len(bound) > 2
            or OPERATORS.get((op.text.operator, len(bound))) is not op
        ):
            return None
        sides = [self.array(one.nodes[0]) for one in bound]
        names = [f"side{k}" for k in range(len(sides))]
        text = f" {op.text.operator} ".join(names) if len(names) == 2 else f"{op.text.operator}{names[0]}"
        return filled(text, **dict(zip(names, sides, strict=True)))

    def from_template(self, function: Function, template: str, bound: list[Bound]) -> ast.expr:
        """Return the first template that has a place for every argument, with defaults for those left out."""
        arguments = {one.parameter.name: self.argument(one) for one in bound}
        choice = next((text for text in template.split(" | ") if arguments.keys() <= expression_names(text)), None)
        if choice is None:
            left = sorted(arguments.keys() - expression_names(template.rsplit(" | ", maxsplit=1)[-1]))
            raise self.unknown(f"'{function.name}' with {', '.join(left)} has no counterpart")
        if function.build is not None:
            signature = inspect.signature(function.build).parameters
            for parameter in parameters(function):
                empty = ast.Tuple([], ast.Load()) if parameter.rest else None
                default = empty or ast.Constant(signature[parameter.name].default, kind=DEFAULT + parameter.name)
                arguments.setdefault(parameter.name, default)
        result = drop_defaults(filled(choice, **arguments))
        self.used |= {
            part.func.id for part in ast.walk(result) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)
        }
        return result

    def generic(self, spelled: str, bound: list[Bound]) -> ast.expr:
        """Return a call by the library's own name: what is required by its place, and options by their names."""
        places, options = [], []
        for one in bound:
            parameter, argument = one.parameter, self.argument(one)
            if parameter.rest and isinstance(argument, ast.List):
                places += argument.elts
            elif parameter.required or parameter.rest:
                places.append(argument)
            else:
                word = self.dialect.keywords.get(parameter.name, parameter.name)
                if self.dialect.options and word not in self.dialect.options:
                    raise self.unknown(f"'{spelled}' with {word}= has no counterpart")
                options.append(ast.keyword(word, argument))
        return ast.Call(syntax_of(spelled), places, options)

    def argument(self, one: Bound) -> ast.expr:
        """Return an argument as its parameter wants it."""
        kind, nodes = one.parameter.kind, one.nodes
        if one.parameter.takes_arrays or kind == "Raws":
            if not one.several:
                return self.value(nodes[0])
            return ast.List([self.array(node) for node in nodes], ast.Load())
        if self.is_array(one):
            return self.array(nodes[0])
        if kind.startswith("Static"):
            if one.several or one.parameter.rest:
                items = [self.static(node) for node in nodes]
                inner = items[0] if len(items) == 1 and not one.several else None
                return inner if isinstance(inner, ast.Tuple) else ast.Tuple(items, ast.Load())
            result = self.static(nodes[0])
            return ast.Tuple([result], ast.Load()) if one.parameter.name in SHAPES else result
        if kind.startswith("Raw"):
            return self.raw(nodes[0])
        if one.parameter.name == "condition" and not self.is_mask(nodes[0]):
            return filled("x != 0", x=self.array(nodes[0]))
        return self.array(nodes[0])

    def is_of_two(self, bound: list[Bound]) -> bool:
        """Return whether ``dim`` is the second array of ``max(x, y)``, and no axis."""
        return any(one.parameter.name == "dim" and self.is_array(one) for one in bound)

    def is_array(self, one: Bound) -> bool:
        """Return whether an argument that may be a plain number is an array: ``max(x, y)``, not ``max(x, 0)``."""
        return one.parameter.kind == "Static | Tensor" and len(one.nodes) == 1 and not self.is_plain(one.nodes[0])

    def raw(self, node: ast.expr) -> ast.expr:
        """Return positions, masks or arrays as they are: integers stay integers."""
        if isinstance(node, ast.List | ast.Tuple) and all(self.is_plain(item) for item in leaves_of(node)):
            return filled(self.dialect.array, x=in_lists(node, lambda item: item))
        return self.value(node)
