"""``explain`` and ``check``, and what they return with the ways to show it; docs/interface.md lists all that is public.

The work is done in ``explaining`` and ``checking``, the showing in ``render``: each is loaded when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.errors import Budget, GradcliError
from gradcli.explanation.checked import Checked
from gradcli.explanation.evaluation import Function, stand
from gradcli.explanation.explained import Explained

if TYPE_CHECKING:
    from pathlib import Path

    from gradcli.checking.claims import Claims
    from gradcli.document.model import Document
    from gradcli.explanation.ran import Ran
    from gradcli.explanation.views import Descent, Hessian, Rows, Tangent


EXPORTED = 100
"""Columns of what is shown on no terminal."""


class Explanation(Explained):
    """What ``explain`` returns: every number and formula of the answer, and the ways to show them.

    ``print`` and ``str`` give lines of ``name = value`` with all digits; ``rich.print`` and notebooks give tables.

    >>> found = gradcli.explain("x**2", x=3)
    >>> print(found)
    program: x**2
    x = 3
    y = 9
    dy/dx: 1 by 1, dense, 1 entry
    dy/dx = 2*x = 6
    v = 1
    v.J x = 6
    x.grad = 6
    agree = yes
    note: x is given in integers, read as floats: PyTorch wants 3.0 for a gradient.
    """

    __slots__ = ()

    def rows(self) -> Rows:
        """Return J row by row, as a call of backward with each one-hot v leaves it."""
        return self._view("one_hot")  # type: ignore[no-any-return]

    def jvp(self, u: Any) -> Tangent:
        """Return J·u by a forward pass; ``u`` is an array, or one for each variable by its name."""
        return self._view("jvp", u)  # type: ignore[no-any-return]

    def hessian(self, u: Any = None) -> Hessian:
        """Return the second derivative of y, or of v·y; with ``u``, as that of ``jvp``, its product with that too."""
        return self._view("hessian", u)  # type: ignore[no-any-return]

    def descend(self, lr: float, iterations: int = 10) -> Descent:
        """Return steps of gradient descent on y, or on v·y: x becomes x - lr·x.grad."""
        return self._view("descent", lr=lr, iterations=iterations)  # type: ignore[no-any-return]

    def _view(self, name: str, u: Any = None, **asked: Any) -> Any:
        from gradcli.explanation.explaining import ViewRequest, find_view, read_direction

        needs_u = name == "jvp" or u is not None
        return find_view(name, self, ViewRequest(**asked), read_direction(self, u)[0] if needs_u else None)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, schema 1, which ``gradcli schema`` describes."""
        from gradcli.render.data import document

        return document(self)

    def document(self, precision: int = 6, full: bool = False) -> Document:
        """Return the answer in sections of equations, tables and sentences, which each format prints."""
        from gradcli.document.model import Settings
        from gradcli.document.sections import document_of

        return document_of(self, Settings(precision, full))

    def __rich__(self) -> Any:
        from gradcli.render.layout import Layout
        from gradcli.render.terminal import tables

        return tables(self.document(), Layout())

    def to_markdown(self) -> str:
        """Return the tables in Markdown, for a forum or a notebook."""
        from gradcli.render.layout import Layout
        from gradcli.render.markup import markdown

        return markdown(self.document(), Layout(EXPORTED))

    def to_latex(self) -> str:
        """Return a LaTeX document; raises ``GradcliError``, ``format``, where J is numbers alone."""
        from gradcli.render.layout import Layout
        from gradcli.render.markup import latex, refuse_numbers

        refuse_numbers(self)
        return latex(self.document(), Layout(EXPORTED))

    def to_code(self, library: str) -> str:
        """Return a script in ``torch``, ``jax`` or ``numpy`` that reproduces the numbers.

        Raises ``GradcliError``, ``code``, for a program that the library has no words for.
        """
        from gradcli.scripts import script

        return script(self, library)

    def _repr_html_(self) -> str:
        from gradcli.render.layout import Layout
        from gradcli.render.markup import html

        return html(self.document(), Layout(EXPORTED))

    def _repr_latex_(self) -> str | None:
        from gradcli.render.layout import Layout
        from gradcli.render.markup import equations, refuse_numbers

        try:
            refuse_numbers(self)
        except GradcliError:
            return None  # a notebook then shows the tables alone
        return equations(self.document(), Layout(EXPORTED))

    def __str__(self) -> str:
        from gradcli.render.plain import plain

        return plain(self)

    def __repr__(self) -> str:
        """Return one line: the function, where it is explained, its value and its gradients."""
        from gradcli.render.plain import explanation_line

        return explanation_line(self)


class Check(Checked):
    """What ``check`` returns: how far each route is right, and the ways to show it.

    ``print`` and ``str`` give a line for each derivative that was expected, else one.

    >>> print(gradcli.check("x**2", x=3.0, expect="2*x"))
    right: 2*x agrees with the true derivative to all digits
    """

    __slots__ = ()

    def __str__(self) -> str:
        from gradcli.document.texts import with_labels
        from gradcli.render.checked import check_line

        return with_labels(check_line(self), self.labels)

    def __repr__(self) -> str:
        return f"<gradcli check: {self}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, schema 1, which ``gradcli schema`` describes."""
        from gradcli.document.texts import relabelled
        from gradcli.render.checked import check_document

        return relabelled(check_document(self), self.labels) | {"reproduce": self.reproduce or None}


def explain(
    program: str | Callable[..., Any],
    /,
    *,
    v: Any = None,
    calls: Sequence[Any] | None = None,
    wrt: Sequence[str] | None = None,
    of: str | None = None,
    strict: bool = False,
    budget: Budget | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Explanation:
    """Explain ``y.backward(v)`` for the function that ``program`` describes.

    - ``program``: statements of gradcli's language; the last is y. Its free names are the variables. Or a function made
      by ``def`` or ``lambda``: its source is read, nothing of it is called, and its parameters are the variables.
      Defaults are their values. A text, a truth value, and an integer that has a default, is a constant of the
      function. Numbers, arrays and functions from outside are read as they are now.
    - ``v``: an array in the shape of y. It may be left out where y has one entry: then it is 1. As many entries in
      another shape are reshaped; several for a y with one entry mean their sum. A note says so.
    - ``calls``: several v in turn, in place of ``v``; their gradients accumulate, as those of repeated calls do.
    - ``wrt``: the names to differentiate by, all variables by default; the others are constants.
    - ``of``: a name that the program assigns, whose last value is the output in place of that of the last line; of a
      script a variable, by those of ``wrt``.
    - ``strict``: refuse a v that would be reshaped or summed, and what only one of PyTorch and NumPy answers.
    - ``budget``: what the answer may cost, see ``Budget``.
    - ``inputs``: values of variables by name, for names that are parameters of this function, such as ``v``.
    - ``variables``: all other variables, each a finite number or an array, read in double precision, or
      as integers where a function or a script takes them as such alone: as an index, a label, a count of turns.

    Raises ``GradcliError``: ``syntax``, ``unknown-name`` or another kind for the program, ``missing-input``,
    ``unknown-input`` and ``value`` for variables, ``missing-v`` and ``shape`` for v, ``no-variables``, ``budget``, and
    ``no-source`` for a function whose source Python does not have, or that is a library's.

    >>> found = gradcli.explain("W @ x", W=[[1.0, 2.0], [3.0, 4.0]], x=[1.0, 0.0], v=[1, 10], wrt=["x"])
    >>> found.jacobian["x"].numeric.tolist(), found.grad["x"].tolist()
    ([[1.0, 2.0], [3.0, 4.0]], [31.0, 42.0])
    >>> gradcli.explain("x**2", x=3.0, calls=[1, 10]).grad["x"].item()
    66.0

    With ``def f(x): return x**2`` in a file or a notebook, ``gradcli.explain(f, x=3.0)`` is the same as
    ``gradcli.explain("x**2", x=3.0)``.
    """
    from gradcli.explanation.explaining import Ask, explain_run

    values = {**(inputs or {}), **variables}
    point = stand(function_of(program, wrt, of, budget, values), values, [v] if calls is None else list(calls), strict)
    return explain_run(point, Ask.WHERE_CHEAP, Explanation)


def function_of(
    program: str | Callable[..., Any],
    wrt: Sequence[str] | None,
    of: str | None,
    budget: Budget | None,
    values: Mapping[str, Any],
) -> Function:
    """Return a program as a function, whose output is that of the last line or the value of a name."""
    if of is None:
        return Function(program, wrt, budget, values)
    from gradcli.explanation.scripts import Asked  # few answers are asked for a name

    return Function(program, wrt, budget, values, Asked(of=of, wrt=tuple(wrt or ())))


def run(
    script: str | Path, /, *, seed: int = 0, inputs: Mapping[str, Any] | None = None, budget: Budget | None = None
) -> Ran:
    r"""Run a Python script on gradcli's own engine, as ``gradcli run`` does, and return what it printed and did.

    - ``script``: the text, or the path of a ``.py`` file. No line of it is executed by Python.
    - ``seed``: where draws begin that the script gives no seed.
    - ``inputs``: values of variables that the script leaves free.
    - ``budget``: what it may cost.

    Raises ``GradcliError`` for what gradcli does not run; an exception of the script's own is in ``error``.

    >>> script = "import torch\nx = torch.tensor(3., requires_grad=True)\ny = x**2\ny.backward()\nprint(x.grad)"
    >>> ran = gradcli.run(script)
    >>> ran.printed, ran.calls[0].line, ran.explain(0).grad["x"].item()
    ('tensor(6.)\n', 4, 6.0)
    """
    from gradcli.explanation.explaining import Ask, explain_run
    from gradcli.explanation.ran import run_text

    return run_text(script, seed, inputs, budget, lambda point: explain_run(point, Ask.WHERE_CHEAP, Explanation))


def check(
    program: str | Callable[..., Any],
    /,
    *,
    v: Any = None,
    expect: Any = (),
    wrt: Sequence[str] | None = None,
    of: str | None = None,
    samples: int = 0,
    seed: int = 0,
    points: Sequence[Mapping[str, Any]] = (),
    digits: float | None = None,
    tolerance: float | None = None,
    strict: bool = False,
    budget: Budget | Mapping[str, float] | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Check:
    """Check the derivative of ``program`` at a point, and at ``samples`` random points of its domain.

    J by symbols and J by reverse mode are each compared with difference quotients in higher precision, which use no
    rule of differentiation. Every formula that ``explain`` prints is evaluated, and has to give the number beside it.

    - ``program``, ``v``, ``wrt``, ``of``, ``strict``, ``inputs`` and ``variables`` are those of ``explain``; a program
      may be the path of a ``.py`` file too.
    - ``expect``: a derivative written by hand: a formula or an array where one variable is differentiated, or formulas
      and arrays by the name of a variable. It is J, in the shape of y and then of x (or its diagonal, where y = f(x)
      entry by entry), and with ``v`` the gradient vᵀ·J, in the shape of x. What has another shape is wrong, unless
      axes of length 1 alone differ: a note says so. Numbers count at the point given alone, a formula at all points.
    - ``digits``: with how many digits, from 1 to 15, each entry of ``expect`` is right, by the size of its own terms.
      By default a formula must have 15, an array of float32 5 and one of float16 2; any other array may have the
      rounding of double precision, and a typed number that of its last digit.
    - ``tolerance``: the same as a relative error, in place of ``digits``: 1e-5 for 5.
    - ``samples``: random points that are looked at beside the one given; the variables of ``wrt`` vary there. The
      search ends where they have cost three times the budget's ``work``: ``Check.samples`` says how many they were.
    - ``seed``: an integer from which the points follow: the same seed gives the same points.
    - ``points``: further points to look at, each by the variables that have another value there.
    - ``budget``: what the answer may cost, see ``Budget``; a dictionary has the bounds that are others.

    Raises ``GradcliError``: the kinds of ``explain``, ``option`` where it is not clear by which variable something is
    expected or ``digits`` are out of range, ``value`` where no random point has a value.

    >>> found = gradcli.check("sum(x**2)", x=[1.0, 2.0], expect="2*x", samples=3)
    >>> found.agree, found.samples, found.routes
    (True, 3, ['symbols', 'reverse mode', '--expect'])
    >>> print(gradcli.check("x**3", x=2.0, expect="x**2"))
    wrong: dy/dx is 4.0 by x**2 and truly 12.0: it is 1/3 of the true one: a factor 3 is missing
    """
    from gradcli.checking.check import CheckRequest, check_function
    from gradcli.checking.expected import digits_asked

    values = {**(inputs or {}), **variables}
    program, budget, digits = text_of_program(program), budget_of(budget), digits_asked(digits, tolerance)
    claims = claims_of(program, wrt, of, 0, lambda: expect, values, budget)
    function = function_of(program, wrt, of, budget, values) if claims is None else claims.function
    wanted = expect if claims is None else claims.typed
    asked = CheckRequest(v, wanted, digits, claims, points, samples, seed, strict)
    return check_function(function, values, asked, Check)


def claims_of(
    program: str | Callable[..., Any],
    wrt: Sequence[str] | None,
    of: str | None,
    seed: int,
    expect: Callable[[], Any],
    values: Mapping[str, Any],
    budget: Budget | None,
) -> Claims | None:
    """Return what a script says of its own gradients; None for a formula, and where a derivative call is checked.

    ``expect`` gives what is expected, which is read of a script alone, and ``seed`` is where its draws begin.
    """
    from gradcli.checking.check import may_say_gradients

    if not may_say_gradients(program, of):
        return None
    from gradcli.checking.claims import read_claims  # a formula has none
    from gradcli.explanation.scripts import Asked

    return read_claims(program, Asked(of=of, wrt=tuple(wrt or ()), seed=seed), expect(), values, budget)


def text_of_program(program: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Return the text of a file that a program names, and any other program as it is; raises ``file``."""
    if not isinstance(program, str) or "\n" in program or not program.endswith(".py"):
        return program
    from pathlib import Path

    try:
        return Path(program).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise GradcliError("file", f"{program} cannot be read") from None


def budget_of(budget: Budget | Mapping[str, float] | None) -> Budget | None:
    """Return a budget with the bounds of a dictionary; raises ``option`` for what is no bound."""
    if budget is None or isinstance(budget, Budget):
        return budget
    if not isinstance(budget, Mapping) or not all(isinstance(bound, int | float) for bound in budget.values()):
        raise GradcliError("option", "a budget is a gradcli.Budget, or a dictionary such as {'work': 15_000_000}")
    made = Budget()
    for name, bound in budget.items():
        if name not in Budget.__slots__:
            hint = f"it has {', '.join(Budget.__slots__)}"
            raise GradcliError("option", f"a budget has no bound '{name}'", hint=hint)
        made = made.changed(name, bound)
    return made


def assert_gradient(program: str | Callable[..., Any], /, **asked: Any) -> Check:
    """Raise ``AssertionError`` unless the derivative of ``program`` is right: ``check``, for a test.

    The message has the verdict, the place with both numbers, and the command that shows it again at that point.

    - ``program``: that of ``check``.
    - ``asked``: all else that ``check`` takes: the variables, ``expect``, ``v``, ``wrt``, ``samples``, ``points`` …

    Returns what ``check`` returns. A verdict that is unclear or not finite is no pass. Raises ``GradcliError`` where
    ``check`` does.

    >>> gradcli.assert_gradient("sum(x**2)", x=[1.0, 2.0], expect="2*x").agree
    True
    >>> try:
    ...     gradcli.assert_gradient("x**3", x=2.0, expect="x**2")
    ... except AssertionError as error:
    ...     print(str(error).partition("\\n")[2])
      dy/dx:
      expected     4.0
      truly        12.0
      gradcli check 'x**3' --x 2 --expect 'x**2'
    """
    __tracebackhide__ = True
    result = check(program, **asked)
    if result.verdict != "right":
        from gradcli.render.checked import assertion_text

        raise AssertionError(assertion_text(result, str(result), program, asked))
    return result
