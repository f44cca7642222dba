"""Expressions that grow with their values known, so that each stays in the domain of what is applied to it."""

import ast
import re

import numpy as np

import gradcli
from generator.recipes import ANYWHERE, INDICES, OPERATORS, SHAPES, calls_of
from records import FUNCTIONS

HOLE = re.compile(r"\{(\w+)(?::([-.\d]+),([-.\d]+))?\}")
RECEIVER = re.compile(r"\{f\}\((\{[A-Z][^}]*\})(?:, )?((?<=, ).*|\).*)")
CLOSED = (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.List)
"""Expressions that never need brackets."""
NAMES = {"": "s r", "n": "x p", "m": "b d", "mn": "A", "nm": "B", "nn": "C", "2mn": "T", "2nm": "K"}
MOST_ENTRIES = 14
"""Entries of all inputs together, and of y."""
TRIES, LARGEST = 8, 1e3


def in_words_of_torch(names):
    """Return the spellings that PyTorch's programs have; all of them where it has none but methods."""
    return [name for name in names if name.startswith(("torch.", "F."))] or names


def is_of_torch(name):
    """Return whether a function has a spelling of PyTorch's, or is an operator."""
    return not name or any(spelling.startswith(("torch.", "F.")) for spelling in FUNCTIONS[name].spellings)


RECIPES = [(name, recipe) for name in FUNCTIONS for recipe in calls_of(name)]
RECIPES += [("", recipe) for recipe in (*OPERATORS, *INDICES) for _ in range(2)]
OF_TORCH = [row for row in RECIPES if is_of_torch(row[0])]


def tree_of(text):
    """Return the syntax of a text in a form that can be compared."""
    return ast.dump(ast.parse(text))


def bracketed(pieces, holes):
    """Return the text of ``pieces`` with the texts of ``holes`` between them, in brackets only where they matter."""
    inside = [text if isinstance(ast.parse(text, mode="eval").body, CLOSED) else f"({text})" for text in holes]

    def whole(texts):
        return "".join(piece for pair in zip(pieces, [*texts, ""], strict=True) for piece in pair)

    def same(texts):
        try:
            return tree_of(whole(texts)) == wanted
        except SyntaxError:
            return False

    if inside == list(holes):
        return whole(holes)
    wanted = tree_of(whole(inside))
    if same(holes):
        return whole(holes)
    for i, text in enumerate(holes):
        plain = [*inside[:i], text, *inside[i + 1 :]]
        inside = plain if inside[i] != text and same(plain) else inside
    return whole(inside)


def put_together(template, *holes):
    """Return a template with ``{}`` filled, in brackets only where they matter."""
    return bracketed(template.split("{}"), holes)


class IllPosed(Exception):
    """A choice that leads to no program of use: another one is tried."""


def require(holds):
    """Raise ``IllPosed`` unless something holds."""
    if not holds:
        raise IllPosed


class Scope:
    """A program as it grows: its lines, its inputs with their values, and the values of all of its variables.

    ``of_torch`` asks for PyTorch's spellings where a function has one.
    """

    def __init__(self, rng, of_torch=False):
        self.rng, self.of_torch = rng, of_torch
        self.n, self.m = rng.choice([2, 3]), rng.choice([2, 3])
        self.inputs, self.variables, self.lines = {}, {}, []
        self.fresh = 0

    def lengths(self, letters):
        """Return the shape that letters such as ``2mn`` stand for."""
        return tuple({"n": self.n, "m": self.m, "2": 2}[letter] for letter in letters)

    def decimal(self, low, high):
        """Return a short decimal that is not next to 0."""
        number = round(self.rng.uniform(low, high), 2)
        return number if abs(number) >= 0.1 else self.decimal(low, high) if max(-low, high) > 0.2 else 0.1

    def result(self, text):
        """Return the value of a text here; raises ``IllPosed`` where the language refuses it."""
        try:
            function = gradcli.function(text, wrt=())
            return function.value(**{name: self.variables[name] for name in function.inputs})
        except (gradcli.GradcliError, KeyError) as error:
            raise IllPosed from error

    def value(self, text, most=3 * MOST_ENTRIES):
        """Return a text's value; raises ``IllPosed`` for no entries, many, or numbers that are far out."""
        value = self.result(text)
        require(value.dtype.kind == "f" and 0 < value.size <= most and np.all(np.abs(value) < LARGEST))
        return value

    def bounds(self, text):
        """Return the smallest and the largest entry of a text's value."""
        value = self.value(text)
        return float(np.min(value)), float(np.max(value))

    def add_input(self, letters):
        """Return the name of a new variable; raises ``IllPosed`` where there are enough."""
        free = [name for name in NAMES[letters].split() if name not in self.inputs]
        size = int(np.prod(self.lengths(letters)))
        require(free and size + sum(np.size(value) for value in self.inputs.values()) <= MOST_ENTRIES)
        numbers = np.array([self.decimal(-2, 2) for _ in range(size)]).reshape(self.lengths(letters))
        self.inputs[free[0]] = self.variables[free[0]] = numbers
        return free[0]

    def leaf(self, letters):
        """Return a variable of a shape, an entry of one, a number, or a list of such."""
        shape, rng = self.lengths(letters), self.rng
        same = [name for name, x in self.variables.items() if x.shape == shape]
        if same and rng.random() < 0.75:
            return rng.choice(same)
        if not letters and rng.random() < 0.4:
            return repr(self.decimal(-2, 2))
        larger = [name for name, x in self.variables.items() if x.shape and name in self.inputs]
        if not letters and larger:
            name = rng.choice(larger)
            where = [str(rng.randrange(-length, length)) for length in self.variables[name].shape]
            return f"{name}[{', '.join(where)}]"
        if rng.random() < 0.75:
            try:
                return self.add_input(letters)
            except IllPosed:
                pass
        return rng.choice(same) if same else self.display(shape)

    def display(self, shape):
        """Return a list, or lists in a list, of numbers and of entries of variables."""
        if not shape:
            return self.leaf("")
        return f"[{', '.join(self.display(shape[1:]) for _ in range(shape[0]))}]"

    def expression(self, letters, depth, low=None, high=None):
        """Return an expression of a shape with all entries between two numbers."""
        for _ in range(TRIES):
            try:
                text = self.leaf(letters) if depth <= 0 or self.rng.random() < 0.3 else self.composed(letters, depth)
                return self.fitted(text, low, high) if low is not None else text
            except IllPosed:
                continue
        return self.fitted(self.leaf(letters), low, high) if low is not None else self.leaf(letters)

    def fitted(self, text, low, high):
        """Return an expression moved into an interval by a factor and a summand where it is not inside."""
        least, most = self.bounds(text)
        if low <= least and most <= high:
            return text
        if low >= 0 and self.rng.random() < 0.3 and most - least < 3 and max(-least, most) < 3:
            text = put_together(f"{(high - low) * 0.9:.2f}*sigmoid({{}}) + {low + 0.05:.2f}", text)
        else:
            if most - least > 0.9 * (high - low):
                text = put_together(f"{{}}*{0.8 * (high - low) / (most - least):.3f}", text)
                least, most = self.bounds(text)
            shift = round((low + high - least - most) / 2, 2)
            text = put_together(f"{{}} {'+' if shift >= 0 else '-'} {abs(shift)}", text)
        least, most = self.bounds(text)
        require(low <= least and most <= high)
        return text

    def composed(self, letters, depth):
        """Return a random recipe, filled and brought to a shape."""
        name, recipe = self.rng.choice(OF_TORCH if self.of_torch else RECIPES)
        return self.shaped(self.filled(recipe, name, depth - 1, letters), letters)

    def filled(self, recipe, name="", depth=0, every=None):
        """Return a recipe with its holes filled."""
        every = self.rng.choice(["", "n", "n", "mn", "2mn"]) if every is None else every
        recipe = HOLE.sub(lambda hole: self.constant(hole[1]) or hole[0], self.spelled(recipe, name))
        holes, ends = list(HOLE.finditer(recipe)), [0]
        ends += [hole.end() for hole in holes]
        pieces = [recipe[end : hole.start()] for end, hole in zip(ends, holes, strict=False)]
        texts = [self.argument(hole, every, depth, recipe[hole.end() : hole.end() + 1]) for hole in holes]
        return bracketed([*pieces, recipe[ends[-1] :]], texts)

    def argument(self, hole, every, depth, after):
        """Return an expression for a hole; a bare number has no methods and no entries."""
        letters = every if hole[1] == "E" else SHAPES[hole[1]]
        low, high = (float(hole[2]), float(hole[3])) if hole[2] else (None, None)
        text = self.expression(letters, depth, low, high)
        require(after not in (".", "[") or not isinstance(ast.parse(text, mode="eval").body, ast.Constant))
        return text

    def constant(self, name):
        """Return a text for a hole that takes a constant, None for one that takes an expression."""
        match name:
            case "n" | "m":
                return str(getattr(self, name))
            case "c":
                return repr(self.decimal(-1.5, 1.5))
            case "anywhere":
                return self.rng.choice(ANYWHERE)
            case "classes":
                return repr([self.rng.randrange(self.n) for _ in range(self.m)])
            case "mask":
                return repr([True, *(self.rng.random() < 0.5 for _ in range(self.n - 1))])
        return None

    def spelled(self, recipe, name):
        """Return a recipe with a spelling of its function; a call whose receiver is a hole may be that of a method."""
        if not name:
            return recipe
        function, rng = FUNCTIONS[name], self.rng
        receiver = RECEIVER.fullmatch(recipe)
        if function.methods and receiver and (not function.spellings or rng.random() < 0.4):
            return f"{receiver[1]}.{rng.choice(function.methods)}({receiver[2]}"
        names = function.methods if ".{f}" in recipe else function.spellings
        return recipe.replace("{f}", rng.choice(in_words_of_torch(names) if self.of_torch else names))

    def shaped(self, text, letters):
        """Return an expression brought to a shape: as it is, rearranged, reduced, or spread over a leaf."""
        have, want, rng = self.value(text).shape, self.lengths(letters), self.rng
        if have == want:
            return text
        if not want:
            return put_together(rng.choice(["sum({})", "{}.mean()", "{}.sum()", "torch.mean({})"]), text)
        if np.prod(have) == np.prod(want):
            return put_together(f"{{}}.reshape({', '.join(map(str, want))})", text)
        if not broadcasts(have, want):
            text = put_together(rng.choice(["sum({})", "{}.mean()", "np.sum({})", "{}.amax()"]), text)
        return put_together(rng.choice(["{}*{}", "{} + {}", "{} - {}"]), text, self.leaf(letters))


def broadcasts(have, want):
    """Return whether an array of one shape broadcasts to another."""
    try:
        return np.broadcast_shapes(have, want) == want
    except ValueError:
        return False
