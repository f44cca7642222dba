"""From the text of a snippet to what ``read`` returns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from gradcli.errors import Budget, GradcliError, Place, over_budget
from gradcli.errors.counting import listed
from gradcli.language.names import MODULES
from gradcli.language.pasted import without_prompts
from gradcli.language.program import Call as OwnCall
from gradcli.language.program import Program, Start, last_target
from gradcli.language.snippets.building import Leaf, all_at_once
from gradcli.language.snippets.callees import may_be_given
from gradcli.language.snippets.calls import Call
from gradcli.language.snippets.comprehensions import Comprehensions
from gradcli.language.snippets.expressions import Block
from gradcli.language.snippets.lines import Line
from gradcli.language.snippets.pieces import Piece, Source
from gradcli.language.snippets.scopes import Closure, Scope
from gradcli.language.snippets.signs import SIGNS
from gradcli.language.source import parse


def read_snippet(text: str, budget: Budget, given: frozenset[str]) -> Program | None:
    """Return a text as a snippet, None for a program of the language as it stands."""
    typed = without_prompts(text)
    tree, place = parse(typed, budget, any_quotes=True)
    if typed == text and not any(is_sign(node) for node in ast.walk(tree)):
        return None
    reader = Finished(Source(place.text), tree, place, budget, given)
    return guarded(tree, place, budget, lambda: reader.program(tree))


def guarded(tree: ast.Module, place: Place, budget: Budget, read: Callable[[], Program]) -> Program:
    """Return what ``read`` does with a text; raises ``GradcliError`` alone, with the place."""
    if sum(1 for _ in ast.walk(tree)) > budget.syntax:
        raise over_budget("syntax", budget.syntax, "the program has too many parts").at(None, place)
    try:
        return read()
    except SyntaxError:
        raise GradcliError("not-allowed", "this snippet has no form in the language", place=place) from None
    except RecursionError:
        raise over_budget("depth", budget.depth, "the program is nested").at(None, place) from None
    except GradcliError as error:
        raise error.at(error.span, place) from None


def is_sign(node: ast.AST) -> bool:
    """Return whether a part of a syntax tree is one that no program of the language has."""
    if isinstance(node, SIGNS) or (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return appended_to(node.value) not in {"", *MODULES}
    if isinstance(node, ast.Attribute):
        return node.attr in WORDS
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name in WORDS or any(item.arg == "requires_grad" for item in node.keywords)
    return False


WORDS = {
    "backward",
    "requires_grad",
    "requires_grad_",
    "grad",
    "print",
    "display",
    "Variable",
    "Parameter",
    "vjp",
}


def appended_to(call: ast.Call) -> str:
    """Return the name whose method ``append`` is called; empty for any other call."""
    func = call.func
    appends = isinstance(func, ast.Attribute) and func.attr == "append" and isinstance(func.value, ast.Name)
    return func.value.id if appends else ""  # type: ignore[attr-defined]


class Finished(Comprehensions):
    """A reader that puts together what it found.

    ``settings`` are values of parameters that say how a function works, and are no inputs.
    """

    def __init__(self, source: Source, tree: ast.Module, place: Place, budget: Budget, given: frozenset[str]) -> None:
        super().__init__(source, tree, place, budget, given)
        self.settings: dict[str, ast.expr] = {}

    def program(self, tree: ast.Module) -> Program:
        """Return the program of a whole text."""
        self.take_all(tree.body, self.top)
        return self.finished(self.calls[0] if self.calls else self.call_of_the_end())

    def finished(self, first: Call) -> Program:
        """Return the program of the first call of backward, or of the output of a text that has none."""
        if self.problems:
            raise all_at_once(self.problems, self.builder.place)
        found = self.builder.compiled(first.output, first.before)
        return replace(
            found,
            remarks=tuple(self.remarks(first)),
            starts=(
                *map(self.start, self.builder.leaves.values()),
                *(Start(name, setting=True) for name in self.settings),
            ),
            calls=tuple(map(self.own_call, self.calls)),
            wrt=self.wrt(found, first),
        )

    def call_of_the_end(self) -> Call:
        """Return the output of a snippet without backward: its last expression, variable, or function."""
        lines = self.builder.lines
        block = Block()
        if self.last is not None:
            output = self.write(*self.last, block).on_a_line()
            self.add(block, self.last[0].lineno)
            return Call(output, None, len(lines), 0, "")
        last = next((line for line in reversed(lines) if not line.leaf), None)
        if last is not None and last.error is None:
            target = last_target(ast.parse(last.piece.text).body[0])
            if target is not None:
                return Call(Piece(target.id, last.piece.origins[: len(target.id)]), None, len(lines), 0, "")
        if last is not None and last.error is not None:
            raise last.error
        held = [closure for closure in self.top.held.values() if isinstance(closure, Closure)]
        if not held:
            message = "these lines show or check values, and compute none that could be explained"
            raise GradcliError("syntax", message, hint="add the value to explain as the last line")
        return self.call_of_function(held[-1])

    def call_of_function(self, closure: Closure) -> Call:
        """Return the output of a snippet that is a function: its parameters are the inputs."""
        given, block = closure.node.args, Block()
        if given.vararg or given.kwarg:
            what = closure.name or "the lambda"
            raise GradcliError("arguments", f"{what} takes any arguments, and an input is a parameter with a name")
        defaults = defaults_of(given) | self.settings
        parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        asked = self.builder.given - self.settings.keys()
        inputs = [p for p in parameters if p.arg in asked or not self.is_setting(defaults.get(p.arg))]
        names = [item.arg for item in inputs]
        for item in inputs:
            if item.arg in defaults:
                piece = self.write(defaults[item.arg], closure.scope, None)
                self.add_leaf(Leaf(item.arg, item.lineno, piece, len(self.builder.lines)))
        self.builder.given |= frozenset(names)
        values: dict[str, ast.expr] = {p.arg: ast.copy_location(ast.Name(p.arg, ast.Load()), p) for p in inputs}
        values |= self.settings
        first = [values.get(item.arg) or defaults[item.arg] for item in given.posonlyargs]
        others = [
            ast.keyword(p.arg, values[p.arg]) for p in parameters if p.arg in values and p not in given.posonlyargs
        ]
        call = ast.copy_location(ast.Call(ast.Name(closure.name, ast.Load()), first, others), closure.node)
        output = self.called(closure, call, Scope(self.top, dict(zip(names, names, strict=True))), block)
        for piece in block.lines:
            number = self.source.text.count("\n", 0, piece.stripped().place) + 1
            self.add(Block(lines=[piece]), number)
        return Call(output, None, len(self.builder.lines), 0, "")

    def is_setting(self, default: ast.expr | None) -> bool:
        """Return whether a default says how a function works, and is no value to differentiate by: no float.

        An integer is one, as it may count turns or axes: PyTorch has no gradient by it either.
        """
        if isinstance(default, ast.Tuple | ast.List):
            return all(map(self.is_setting, default.elts))
        if isinstance(default, ast.UnaryOp):
            default = default.operand
        return isinstance(default, ast.Constant) and not isinstance(default.value, float)

    def start(self, leaf: Leaf) -> Start:
        """Return the value of an input, as a program."""
        known = leaf.error is not None or leaf.held is not None
        program = None if known else self.builder.compiled(leaf.value, leaf.before)
        return Start(leaf.name, program, leaf.integers, leaf.settles, leaf.error, leaf.held)

    def own_call(self, call: Call) -> OwnCall:
        """Return a call of backward with its v as a program."""
        return OwnCall(None if call.v is None else self.builder.compiled(call.v, call.before), call.alone, call.error)

    def wrt(self, program: Program, call: Call) -> tuple[str, ...] | None:
        """Return the names to differentiate by: what the call says, else all inputs that are not drawn as constants."""
        if call.inputs is not None:
            return tuple(name for name in call.inputs if name in program.inputs)
        fixed = {name for name, leaf in self.builder.leaves.items() if leaf.fixed}
        return tuple(name for name in program.inputs if name not in fixed) if fixed & set(program.inputs) else None

    def idle(self, first: Call) -> list[Line]:
        """Return the lines before the first call on which neither the output nor v depends, nor an input."""
        builder = self.builder
        needed = [*builder.needed_for(first.output, first.before)]
        needed += [] if first.v is None else builder.needed_for(first.v, first.before)
        for leaf in builder.leaves.values():
            needed += builder.needed_for(leaf.value, leaf.before) if leaf.value.text else []
        return [line for line in builder.lines[: first.before] if not line.leaf and line not in needed]

    def remarks(self, first: Call) -> list[tuple[str, str]]:
        """Return what is said of lines that are left out."""
        found = []
        idle = [line.number for line in self.idle(first) if line.error or self.builder.error_of(line.piece)]
        idle = [number for number in idle if number]  # 0 is what a function has from outside
        if idle:
            found.append(("left-out", f"Left out: {lines_text(idle)}, on which the output does not depend."))
        if self.aside.shown:
            what = "shows or checks a value" if len(set(self.aside.shown)) == 1 else "show or check values"
            found.append(("left-out", f"Left out: {lines_text(self.aside.shown)}, which {what}."))
        if self.aside.later:
            comes, is_no = ("comes", "is") if len(set(self.aside.later)) == 1 else ("come", "are")
            when = f"{comes} after the first backward, on line {first.number}, and {is_no} no part of this answer"
            turn = ": it is that of the first turn of the loop" if min(self.aside.later) <= first.number else ""
            found.append(("later-lines", f"Left out: {lines_text(self.aside.later)}, which {when}{turn}."))
        if any(call.alone for call in self.calls):
            numbers = lines_text([call.number for call in self.calls if call.alone])
            message = f"Gradients begin at zero again before {numbers}: only the calls since then are added up."
            found.append(("grad-zeroed", message))
        return found + [("rebound-input", message) for message in self.rebound(first)]

    def makes_new(self, line: Line) -> bool:
        """Return whether an assignment gives a variable a tensor that nothing else is: no ``x = x.to(device)``."""
        node = ast.parse(line.piece.text).body[:1]
        if line.leaf or not line.ends or not node or not isinstance(node[0], ast.Assign):
            return False
        return not (isinstance(node[0].value, ast.Name) or may_be_given(node[0].value, self.fresh.lists))

    def rebound(self, first: Call) -> Iterator[str]:
        """Yield what is said of inputs whose name is another tensor's when backward is called.

        Raises ``not-allowed`` where it is that tensor by which the call differentiates.
        """
        for leaf in self.builder.leaves.values() if self.calls else ():
            later = self.builder.lines[leaf.before : first.before]
            numbers = [line.number for line in later if leaf.name in line.stores and self.makes_new(line)]
            if not numbers:
                continue
            what = f"'{leaf.name}' is another tensor from line {numbers[0]} on, and no leaf"
            if leaf.name in (first.inputs or ()):
                raise GradcliError(
                    "not-allowed", what, hint=f"give it another name than the input of line {leaf.number}"
                )
            yield f"{what}: its .grad is None in PyTorch. The gradient here is that of the input of line {leaf.number}."


def defaults_of(given: ast.arguments) -> dict[str, ast.expr]:
    """Return the defaults of a function's parameters by their names."""
    places = reversed([*given.posonlyargs, *given.args])
    found = {item.arg: value for item, value in zip(places, reversed(given.defaults), strict=False)}
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return found | {item.arg: value for item, value in pairs if value is not None}


def lines_text(numbers: list[int]) -> str:
    """Return line numbers in words: ``lines 3, 5 and 7 to 9``."""
    ordered = sorted(set(numbers))
    runs: list[list[int]] = []
    for number in ordered:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [text for run in runs for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    return f"{'line' if len(ordered) == 1 else 'lines'} {listed(texts, len(texts))}"
