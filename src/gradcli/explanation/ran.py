"""A script that was run: what it printed and did, and the answer of each of its derivative calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.errors import Budget
from gradcli.explanation.evaluation import Function, stand
from gradcli.explanation.explained import Explained
from gradcli.explanation.scripts import Asked, derivative_calls
from gradcli.runner.events import Event
from gradcli.runner.script import Ended, read_given, run_script
from gradcli.runner.state import BOUNDS

if TYPE_CHECKING:
    from gradcli.explanation.evaluation import Run


class Ran:
    """What ``gradcli.run`` returns, which makes it of how the script ``ended``.

    - ``text``: the script.
    - ``printed``: all that it printed.
    - ``events``: what it did, in order.
    - ``calls``: the events that are derivative calls.
    - ``error``: the exception that ended it, as ``RuntimeError: …``, and ``line``, where; None where it ran to its end.
    - ``inputs``: the values of what it leaves free, ``answer``: explains a call, ``asked``: the seed of its draws.

    >>> ran = gradcli.run("x = torch.tensor([1., 2.], requires_grad=True); (x**3).sum().backward()")
    >>> ran, ran.explain().grad["x"].tolist()
    (<gradcli run: 1 derivative calls, ran to its end>, [3.0, 12.0])
    """

    def __init__(
        self,
        text: str,
        ended: Ended,
        printed: str,
        answer: Callable[[Run], Explained],
        asked: Asked,
        inputs: Mapping[str, Any],
    ) -> None:
        self.text = text
        self.inputs = dict(inputs)
        self.printed = printed
        self.events: list[Event] = list(ended.run.log.events)
        self.calls = derivative_calls(ended)
        self.error = None if ended.raised is None else f"{ended.raised.name}: {ended.raised.text}"
        self.line = None if ended.raised is None else ended.raised.line
        self._answer = answer
        self._asked = asked

    def explain(
        self, call: int | None = None, *, of: str | None = None, wrt: tuple[str, ...] | list[str] | None = None
    ) -> Explained:
        """Return the answer of one derivative call, by its number from 0; by default of that which the command answers.

        ``of`` takes any variable as the output, by those of ``wrt``. Raises ``GradcliError``.
        """
        asked = self._asked
        if call is not None:
            event = self.calls[call]
            turn = sum(one.line == event.line for one in self.calls[: self.calls.index(event) + 1])
            asked = Asked(at=event.line, turn=turn, seed=asked.seed)
        if of is not None:
            asked = Asked(of=of, seed=asked.seed)
        function = Function(self.text, wrt, None, self.inputs, asked)
        return self._answer(stand(function, self.inputs, [None], strict=False))

    def __repr__(self) -> str:
        """Return one line: how many calls it made, and how it ended."""
        end = "ran to its end" if self.error is None else f"ended with {self.error}"
        return f"<gradcli run: {len(self.calls)} derivative calls, {end}>"


def run_text(
    script: str | Path,
    seed: int,
    inputs: Mapping[str, Any] | None,
    budget: Budget | None,
    answer: Callable[[Run], Explained],
) -> Ran:
    """Run a script, or the file of that name. Raises ``GradcliError`` for what gradcli refuses."""
    named = isinstance(script, Path) or ("\n" not in script and script.endswith(".py"))
    text = Path(script).read_text(encoding="utf-8") if named else str(script)
    printed: list[str] = []
    settings = read_given(text, inputs or {}, as_typed=True, seed=seed, budget=budget or BOUNDS)
    ended = run_script(text, printed.append, **settings)
    if ended.refused is not None:
        raise ended.refused
    return Ran(text, ended, "".join(printed), answer, Asked(seed=seed), inputs or {})
