"""Many checks at once: each of a file is a command line of its own, and what is said of them all."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.batch.answers import Verdict
from gradcli.batch.lines import Line
from gradcli.batch.replies import Reply, settle
from gradcli.batch.worker import Limits
from gradcli.cli.batch import MEMORY, MOST_JOBS, STATUS
from gradcli.cli.checks import ListedCheck, keys_of, read_checks
from gradcli.cli.environment import Environment
from gradcli.cli.output import require_folder, say, write
from gradcli.cli.points import PRINTING, value_words
from gradcli.cli.reports import Answered, Tally, lines_of, reported
from gradcli.cli.request import budget_from
from gradcli.cli.status import ExitStatus
from gradcli.errors import GradcliError
from gradcli.records import dataclass
from gradcli.render.data import dump, error_document

if TYPE_CHECKING:
    import typer

OF_CODE = {code: verdict for verdict, code in STATUS.items()}
OF_ONE_CHECK = ("set_values", "v", "expect")
"""Parameters that say what one check is about, and that a file of checks has in it."""
REPORTS = (".xml", ".json", ".ndjson", ".jsonl", ".txt")
LONGEST_CHECK = 3600.0
"""Seconds on the wall after which a worker is taken for hung; a budget bounds what a check may cost."""
Run = Callable[[Sequence[str], Environment], int]


@dataclass(frozen=True, slots=True)
class Checks:
    """The task of answering command lines of ``gradcli check``, each a line with its words in JSON."""

    run: Run
    debug: bool

    def answering(self) -> Callable[[Line], Reply]:
        """Load what an answer needs, and return what replies to a line."""
        import gradcli.checking.confirm  # noqa: F401

        return self.reply

    def reply(self, line: Line) -> Reply:
        """Return the document of a check with what standard error says of it."""
        words = json.loads(line.text or b"[]")
        env = Environment(io.StringIO(), io.StringIO(), io.StringIO(), {})
        code = self.run(["check", "--json", *(["--debug"] if self.debug else []), *words], env)
        if code == ExitStatus.INTERRUPTED:
            raise KeyboardInterrupt
        document, said = env.stdout.getvalue(), env.stderr.getvalue()  # type: ignore[attr-defined]
        return Reply(json.dumps([json.loads(document), said]).encode(), OF_CODE[ExitStatus(code)])

    def lost(self, line: Line, error: GradcliError) -> Reply:
        """Return the reply to a check whose worker has ended."""
        del line
        ended = GradcliError("worker", "the worker process ended with this check in hand", hint=error.hint)
        return Reply(json.dumps([error_document(ended), ended.diagnostic()]).encode(), Verdict.REFUSED)


def answer_all(env: Environment, ctx: typer._click.Context, path: str) -> ExitStatus:
    """Answer the checks of a file, and return the exit code of the worst answer."""
    asked = ctx.params
    report = report_suffix(asked["output"], path)
    require_folder(asked["output"])
    jobs, quiet, as_json = asked["jobs"], asked["quiet"], asked["json"] or asked["format"] == "json"
    if asked["program"] and asked["file"]:
        raise GradcliError("option", "a file of checks and -f FILE are both given", hint="give one of them")
    if not 1 <= jobs <= MOST_JOBS:
        raise GradcliError("option", f"--jobs {jobs} is not from 1 to {MOST_JOBS}")
    if asked["format"] not in (None, "json", "table", "plain"):
        raise GradcliError("option", f"--format '{asked['format'][:40]}' is not known", hint="json, or leave it out")
    checks = read_checks(env, path, keys_of(ctx.command), typed_keys(ctx), budget_from(asked["budget"]))
    flags = {flag for parameter in ctx.command.params for flag in parameter.opts}
    tally, kept = Tally(), []
    for one in answers_of(checks, Checks(running(env), asked["debug"]), jobs, flags):
        tally.counts[one.verdict] += 1
        if as_json or report:
            kept.append(one)
        if not quiet and not as_json:
            first, *rest = lines_of(env, one, path)
            say(env, first)
            for line in rest:  # a command that is broken between words cannot be pasted
                write(env, line)
    if report:
        write(env, reported(env, report, path, tally, kept), asked["output"])
    if not quiet:
        write(env, dump(tally.document(kept)) if as_json else tally.line())
    return STATUS[tally.worst]


def running(env: Environment) -> Run:
    """Return how a command line is run."""
    if env.run is None:
        raise GradcliError("usage", "a file of checks is read from the command line alone")
    return env.run


def report_suffix(output: str | None, path: str) -> str:
    """Return the suffix of the report, empty for none; raises ``option`` and ``file``."""
    if output is None:
        return ""
    suffix = Path(output).suffix.lower()
    if suffix not in REPORTS:
        raise GradcliError(
            "option", f"-o '{output[:80]}' has no known suffix", hint=f"it can end with {', '.join(REPORTS)}"
        )
    if Path(output).resolve() == Path(path).resolve():
        raise GradcliError("file", f"-o {output} is the file that is read", hint="give another name")
    return suffix


def typed_keys(ctx: typer._click.Context) -> dict[str, Any]:
    """Return what was typed beside the file, as keys of every check; raises ``option`` for what a check has itself."""
    keys = {}
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        if name in {"program", "file", "help", *PRINTING} or not value or value == parameter.default:
            continue
        if name in OF_ONE_CHECK:
            message = f"{parameter.opts[0]} is for one check, and not for a file of checks"
            raise GradcliError("option", message, hint="write it into the file")
        keys[parameter.opts[0].removeprefix("--")] = list(value) if isinstance(value, tuple) else value
    return keys


def answers_of(checks: Sequence[ListedCheck], task: Checks, jobs: int, flags: set[str]) -> Iterator[Answered]:
    """Yield each check with its answer, in the order of the file."""
    replies = replies_to([one for one in checks if one.error is None], task, jobs)
    for check in checks:
        if check.error is not None:
            yield Answered(check, Verdict.REFUSED, error_document(check.error), check.error.diagnostic(), "")
            continue
        reply = next(replies)
        document, said = json.loads(reply.text)
        yield Answered(check, reply.verdict, document, said.strip(), command_of(check.words, flags))


def replies_to(checks: Sequence[ListedCheck], task: Checks, jobs: int) -> Iterator[Reply]:
    """Yield the reply to each check: from this process, or from workers."""
    lines = [json.dumps(one.words).encode() for one in checks]
    if jobs == 1:
        reply = task.answering() if lines else task.reply
        settle()
        yield from (reply(Line(number, line, len(line))) for number, line in enumerate(lines, 1))
        return
    import contextlib

    from gradcli.batch.feed import Feed
    from gradcli.batch.pool import Pool

    stream = io.BytesIO(b"".join(line + b"\n" for line in lines))
    limits = Limits(LONGEST_CHECK, MEMORY)
    with Pool(min(jobs, max(len(lines), 1)), task, limits) as pool, contextlib.closing(Feed(stream.read)) as feed:
        yield from (reply for _, reply in pool.replies(feed))


def command_of(words: Sequence[str], flags: set[str]) -> str:
    """Return the command line of a check as it is typed: the program first, and each variable by its name."""
    options, program = (words[:-2], [words[-1]]) if words[-2:-1] == ["--"] else (words, [])
    typed: list[str] = []
    rest = iter(options)
    for word in rest:
        name, _, text = next(rest).partition("=") if word == "--set" else (word, "", "")
        typed += value_words(name, text, flags) if word == "--set" else [word]
    return shlex.join(["gradcli", "check", *program, *typed])
