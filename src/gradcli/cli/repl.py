"""The ``repl`` command's work: lines as ``explain`` takes them, one after the other, with values that stay."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.cli.mistakes import Candidate, candidates, split, variables_of
from gradcli.cli.options import COMMANDS, WITH_PROGRAM, options_of, suffix_of
from gradcli.cli.output import Environment, is_terminal, report, say
from gradcli.cli.request import GIVEN
from gradcli.errors import Budget, GradcliError
from gradcli.language.values import read_value
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import History

PROMPT = "gradcli> "
HISTORY = ".gradcli_history"
BEGINS = re.compile(r"(?:^|\s)(?=--[A-Za-z]|-[oF] )")
"""Where the options of a line begin."""
NUMBERS = re.compile(r"[-+\d.eE,;\s\[\]]+\Z")
WORD = re.compile(r"[A-Za-z_]\w*\Z")
LEAVE, HELP = (":quit", ":q", ":exit", "quit", "exit"), (":help", ":h", ":?", "help", "?")
GUIDE = """\
x = 1,2            gives x a value, v = 1,10 the vector of backward; x = forgets it
x**2               explains a program, with the values that it needs
x**2 --x 3 --tape  has options, as on the command line
:tape  :row 0      asks the last program again, with --tape, with --row 0
grad x**2          is another command; check, functions softmax, run train.py too
Tab completes, Alt-Enter begins a line, Ctrl-C drops it, :quit ends."""


@dataclass(slots=True)
class Talk:
    """What stays between the lines: the last program that could be read, and values by name.

    ``more`` are the words before each program.
    """

    env: Environment
    run: Callable[[list[str], Environment], int]
    more: list[str]
    program: str = ""
    values: dict[str, str] = field(default_factory=dict)

    def answer(self, line: str) -> bool:
        """Answer a line, and return whether there is to be another."""
        text = line.strip()
        if text in LEAVE:
            return False
        try:
            if text in HELP:
                say(self.env, GUIDE)
                say(self.env, "\n".join(f"{name} = {value}" for name, value in self.values.items()) or "no values yet")
            elif text and not self.keep(text):
                self.env.stdin_used = False
                self.run(self.words(f"--{text[1:]}" if text.startswith(":") else text), self.env)
        except GradcliError as error:
            report(self.env, error, as_json=False)
        return True

    def keep(self, text: str) -> bool:
        """Return whether a line gives a name a value, which is kept; raises ``value`` for numbers that are none."""
        match = re.fullmatch(GIVEN, text)
        if match is None:
            return False
        name, value = match[1], match[2].strip()
        if not value:
            self.values.pop(name, None)
            return True
        if not value.startswith("@"):
            try:
                read_value(value, name, Budget())
            except GradcliError:
                if NUMBERS.match(value):
                    raise
                return False
        self.values[name] = value
        return True

    def words(self, text: str) -> list[str]:
        """Return the command line that a line stands for."""
        text = text.removeprefix("gradcli ").strip()
        first, *_ = text.split(maxsplit=1)
        command, rest = (first, text[len(first) :].strip()) if first in COMMANDS else ("explain", text)
        if command not in WITH_PROGRAM:
            return [command, *shell_words(rest)]
        program, options = program_and_options(rest)
        program = program or self.program
        if not program:
            raise GradcliError("option", "there is no program yet", hint="type one, such as x**2")
        variables = variables_of(program)
        if variables is not None or suffix_of(program):
            self.program = program
        typed = {word.partition("=")[0] for word in options}
        values = [
            word
            for name, value in self.values.items()
            if f"--{name}" not in typed and name in (*(variables or ()), *(("v",) if variables else ()))
            for word in (("--v", value) if name == "v" else ("--set", f"{name}={value}"))
        ]
        return [command, *values, *self.more, program, *options]

    def completed(self, text: str) -> tuple[str, Iterable[Candidate]]:
        """Return the word at the end of a text, and what may stand in its place."""
        options = BEGINS.search(text)
        if options is not None:
            *before, last = [*split(text[options.start() :]), *([""] if text.endswith(" ") else [])]
            program = text[: options.start()].strip() or self.program
            return last, candidates(["explain", program, *before], last, {})
        if text.startswith(":"):
            names = [(option.key, option.help) for option in options_of("explain").values() if option.flags]
            return text, [Candidate(f":{name}", line) for name, line in [*names, ("help", ""), ("quit", "")]]
        word = WORD.search(text)
        return (word[0], [*map(Candidate, self.values), *function_candidates()]) if word else ("", [])


@functools.cache
def function_candidates() -> list[Candidate]:
    """Return the functions of the language with a line on each."""
    from gradcli.explanation.vocabulary import all_functions

    return [Candidate(one.name, one.summary) for one in all_functions() if WORD.match(one.name)]


def shell_words(text: str) -> list[str]:
    """Return the words of a text as a shell reads them; raises ``option`` for a quote that is open."""
    try:
        return shlex.split(text)
    except ValueError:
        raise GradcliError("option", "a quote is not closed", hint="for example --x '1, 2'") from None


def program_and_options(text: str) -> tuple[str, list[str]]:
    """Return the program of a line, out of the quotes that a shell needs, and the words of its options."""
    begins = BEGINS.search(text)
    program = (text if begins is None else text[: begins.start()]).strip()
    if program[:1] in ("'", '"') and len(shell_words(program)) == 1:
        program = shell_words(program)[0]
    return program, [] if begins is None else shell_words(text[begins.start() :])


def is_unfinished(text: str) -> bool:
    """Return whether Enter begins another line: a bracket is open, or a block is not at its end."""
    before, _, last = text.rpartition("\n")
    is_open = sum(map(text.count, "([{")) > sum(map(text.count, ")]}"))
    in_block = bool(before) and last[:1].isspace() and not last.isspace()
    return is_open or in_block or last.rstrip().endswith((":", "\\"))


def remembered() -> History:
    """Return the lines that were typed before, in a file of the home folder; of this time alone where that is shut."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    try:
        path = Path.home() / HISTORY
        path.touch(mode=0o600)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(path)


def prompter(talk: Talk) -> PromptSession[str]:
    """Return what asks for lines."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

    class Words(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            del complete_event
            word, among = talk.completed(document.text_before_cursor)
            for value, text in among:
                if value.startswith(word):
                    yield Completion(value, start_position=-len(word), display_meta=text)

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.newline()

    return PromptSession(
        completer=Words(), history=remembered(), key_bindings=keys, complete_while_typing=False,
        multiline=Condition(lambda: is_unfinished(get_app().current_buffer.text)),
        prompt_continuation=lambda width, _line, _wrapped: "... ".rjust(width),
    )  # fmt: skip


def converse(env: Environment, typed: Any) -> None:
    """Answer lines until the end of input, or ``:quit``."""
    if env.stdin is None or not is_terminal(env.stdin) or not env.stdout_is_terminal or env.run is None:
        hint = "explain - reads a program from standard input, and batch answers many"
        raise GradcliError("usage", "repl is for a person at a terminal, and here is none", hint=hint)
    more = [word for bound in typed["budget"] or () for word in ("--budget", bound)]
    talk = Talk(env, env.run, more + ["--debug"] * bool(typed["debug"]))
    try:
        session = prompter(talk)
    except ImportError:
        message = "repl needs prompt_toolkit, which is not installed"
        raise GradcliError("usage", message, hint='pip install "gradcli[repl]"') from None
    say(env, ":help says what a line may be, and :quit ends.")
    while True:
        try:
            if not talk.answer(session.prompt(PROMPT)):
                return
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
