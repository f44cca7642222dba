"""The commands: each reads its request, calls the core, and prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from gradcli.cli import options
from gradcli.cli.environment import ExitStatus
from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing, Request, ViewOptions
    from gradcli.explanation.explained import Explained


def explain(
    ctx: typer.Context,
    program: options.Program = None,
    set_values: options.SetValues = None,
    v: options.V = None,
    wrt: options.Wrt = None,
    row: options.Row = None,
    column: options.Column = None,
    tape: options.Tape = False,
    steps: options.Steps = False,
    rows: options.Rows = False,
    jvp: options.Jvp = None,
    hessian: options.Hessian = False,
    lr: options.Lr = None,
    iterations: options.Iterations = None,
    at: options.At = None,
    turn: options.Turn = None,
    all: options.All = False,
    of: options.Of = None,
    seed: options.DrawSeed = None,
    full: options.Full = False,
    file: options.File = None,
    json: options.Json = False,
    format: options.ExplainFormat = None,
    output: options.Drawing = None,
    code: options.Code = None,
    figure: options.Figure = None,
    reveal: options.Reveal = False,
    precision: options.Precision = 6,
    color: options.Color = "auto",
    ascii_only: options.Ascii = False,
    width: options.Width = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    budget: options.BudgetOption = None,
    debug: options.Debug = False,
) -> None:
    """Show the Jacobian J, v beside it, and x.grad, their product.

    \b
    gradcli explain "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]" --x 1,2 --v 1,10,100
    gradcli explain "-x**2" --x 3
    gradcli explain "(sigmoid(W @ x + b) - t)**2" --W "1,2;3,4" --x 1,0 --b 0,0 --t 0,1 --wrt W,b --v 1,1
    """
    del debug

    from gradcli.cli.output import write_explanation
    from gradcli.cli.request import Exports, ScriptOptions, ViewOptions, printing, refuse_beside, request, script_name

    env: Environment = ctx.obj
    how = printing(json, format, output, precision, color, ascii_only, width, quiet, full, Exports(code, figure))
    parts = {"--row": row, "--column": column, "--tape": tape, "--steps": steps, "--rows": rows}
    refuse_beside(how, parts | {"--jvp": jvp, "--hessian": hessian, "--lr": lr})
    script = ScriptOptions(at, turn, all, of, seed, script_name(program, file))
    asked = request(env, program, file, set_values, v, wrt, strict, budget, script)
    if reveal:
        from gradcli.cli.answering import refuse_reveal

        refuse_reveal(env, how, {"--all": all})
    try:
        found = explanation(env, asked, how, ViewOptions(row, column, tape, steps, rows, jvp, hessian, lr, iterations))
    except GradcliError as error:
        if error.ended is not None:
            from gradcli.cli.answering import write_before

            write_before(env, error, asked.script, how)
        raise
    if full:
        from gradcli.cli.output import refuse_much

        refuse_much(found, how)
    if reveal:
        from gradcli.cli.answering import reveal as reveal_parts

        reveal_parts(env, found, how)
    else:
        write_explanation(env, found, how)
    if all:
        from gradcli.cli.answering import write_others

        write_others(env, asked, found, how, explained)
    raise typer.Exit(status_of(env, found.verdict, found.finite, how.quiet))


def explanation(env: Environment, asked: Request, how: Printing, views: ViewOptions) -> Explained:
    """Return the explanation of a request with the views that are asked for."""
    if not views.asked:
        return explained_or_offered(env, asked, how, every_row=False)
    from gradcli.cli.views import read_wanted  # few answers are asked for more
    from gradcli.explanation.explaining import with_views

    found = explained_or_offered(env, asked, how, every_row=views.rows)
    return with_views(found, read_wanted(env, asked, views))


def explained_or_offered(env: Environment, asked: Request, how: Printing, every_row: bool) -> Explained:
    """Return the explanation of a request; a missing v is raised with J beside it, where a person looks on.

    With ``every_row`` each one-hot v in turn stands for a missing one.
    """
    try:
        return explained(asked)
    except GradcliError as error:
        if error.kind == "missing-v" and every_row:
            from gradcli.cli.views import each_one_hot

            return explained(each_one_hot(asked, error))
        if error.kind == "missing-v":
            from gradcli.cli.answering import offer_v

            raise offer_v(env, asked, how, error, explained) from None
        raise


def explained(asked: Request) -> Explained:
    """Return the explanation of a request."""
    from dataclasses import replace

    from gradcli.cli.request import function_of
    from gradcli.explanation.evaluation import stand
    from gradcli.explanation.explaining import Ask, explain_run
    from gradcli.interface import Explanation

    point = stand(function_of(asked), asked.values, asked.calls, asked.strict)
    found = explain_run(point, Ask.WHERE_CHEAP, Explanation)
    if found.timeline is not None:
        from gradcli.explanation.explaining import with_tangents  # a formula makes no jvp

        named = replace(found.timeline, name=asked.script.name)
        found = replace(with_tangents(found, point.function.program), timeline=named)
    return replace(found, notes=[*found.notes, *asked.notes]) if asked.notes else found


WARNINGS = {
    "differ": "J and reverse mode disagree; the notes say more",
    "digits-lost": "rounding has cost so many digits that a number is wrong; the notes say more",
    "unclear": "gradcli could not decide what is right; the notes say why, and a larger --budget work=N may decide it",
}


STATUS = {"agree": ExitStatus.NOT_FINITE, "not-finite": ExitStatus.NOT_FINITE, "unclear": ExitStatus.UNCLEAR}
"""The exit code of an answer that is not wholly well, by its verdict; 1 for all others."""


def status_of(env: Environment, verdict: str, finite: bool, quiet: bool) -> ExitStatus:
    """Return the exit code of an answer, and say on standard error why it is not 0."""
    from gradcli.cli.output import complain

    if verdict in ("agree", "right") and finite:
        return ExitStatus.OK
    if not quiet:
        complain(env, f"warning: {WARNINGS.get(verdict, 'a value or derivative is not finite at this point')}")
    return STATUS.get(verdict, ExitStatus.DISAGREE)


def grad(
    ctx: typer.Context,
    program: options.Program = None,
    set_values: options.SetValues = None,
    v: options.V = None,
    wrt: options.Wrt = None,
    at: options.At = None,
    turn: options.Turn = None,
    of: options.Of = None,
    file: options.File = None,
    json: options.Json = False,
    format: options.Format = None,
    output: options.Output = None,
    confirm: options.Confirm = False,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    budget: options.BudgetOption = None,
    debug: options.Debug = False,
) -> None:
    """Print the gradient alone, as numbers that --x reads back.

    It is the engine's number, and nothing else has looked at it: --confirm holds it against J and against arithmetic
    with digits to spare, as explain does.

    \b
    gradcli grad "sum(x**2)" --x 1,2,3
    gradcli grad "W @ x" --W "1,2;3,4" --x 1,1 --v 1,0 --wrt W
    """
    del debug
    from gradcli.cli.gradient import answer
    from gradcli.cli.request import ScriptOptions, printing, refuse_page, request

    env: Environment = ctx.obj
    how: Printing = refuse_page(printing(json, format, output, 6, "auto", False, None, quiet))
    asked = request(env, program, file, set_values, v, wrt, strict, budget, ScriptOptions(at, turn, of=of))
    verdict, finite = answer(env, asked, how, confirm)
    raise typer.Exit(status_of(env, verdict, finite, quiet))


def check(
    ctx: typer.Context,
    program: options.Program = None,
    set_values: options.SetValues = None,
    v: options.V = None,
    wrt: options.Wrt = None,
    file: options.File = None,
    expect: options.Expect = None,
    digits: options.Digits = None,
    tolerance: options.Tolerance = None,
    at: options.At = None,
    turn: options.Turn = None,
    of: options.Of = None,
    samples: options.Samples = 0,
    seed: options.Seed = 0,
    draw_seed: options.ScriptSeed = None,
    json: options.Json = False,
    format: options.Format = None,
    output: options.Output = None,
    strict: options.Strict = False,
    jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
    budget: options.BudgetOption = None,
    debug: options.Debug = False,
) -> None:
    """Confirm a derivative, in one line and an exit code.

    By symbols, by reverse mode and by numbers alone; --expect takes one of your own. A variable that is given again has
    another value at each of several points.

    \b
    gradcli check "sum(softmax(x)**2)" --x 1,2,3
    gradcli check "x**3*sin(x)" --x 1 --samples 100 --seed 7
    gradcli check "sum((W @ x)**2)" --W "1,2;3,4" --x 1,1 --wrt x --expect "2*W.T @ (W @ x)"
    gradcli check "p = softmax(z); loss = -log(p[0])" --z 1,2,3 --expect "p - [1,0,0]"
    gradcli check checks.toml --jobs 4 -o report.xml
    """
    del debug
    from gradcli.cli.checking import answer, points_of, read_standard, typed_check
    from gradcli.cli.inputs import CHECKS, suffix_of
    from gradcli.cli.output import require_folder
    from gradcli.cli.request import ScriptOptions, printing, refuse_page, request

    env: Environment = ctx.obj
    if suffix_of(program or file or "", CHECKS):
        from gradcli.cli.checks import answer_all  # most checks are one

        raise typer.Exit(answer_all(env, ctx, program or file or ""))
    if jobs != 1:
        raise GradcliError("option", "--jobs is for a file of checks", hint="gradcli check checks.toml --jobs 4")
    how: Printing = refuse_page(printing(json, format, output, 6, "auto", False, None, quiet))
    require_folder(output)
    wanted = read_standard(digits, tolerance)
    script = ScriptOptions(at, turn, of=of, seed=draw_seed, points=seed)
    points = points_of(set_values or [])
    asked = request(env, program, file, points[0], v, wrt, strict, budget, script)
    found = answer(env, asked, expect or [], samples, seed, how, wanted, typed_check(ctx, points, asked.program))
    raise typer.Exit(status_of(env, found.verdict, found.finite, quiet=True))


def run(
    ctx: typer.Context,
    program: options.Script = None,
    set_values: options.SetValues = None,
    seed: options.DrawSeed = None,
    quiet: options.NoNotes = False,
    budget: options.BudgetOption = None,
    debug: options.Debug = False,
) -> None:
    """Run a script of PyTorch, NumPy or JAX, and print what it prints.

    None of them is needed: gradcli runs it from its first line to its last, and touches no file and no network. It ends
    with 1 where the script ends with an error, which standard error shows in two lines.

    \b
    gradcli run train.py
    gradcli run notebook.ipynb --seed 7
    gradcli run - < train.py
    """
    del debug
    from gradcli.cli.request import budget_from, read_values
    from gradcli.cli.running import answer, read_script_file
    from gradcli.runner.state import BOUNDS

    env: Environment = ctx.obj
    bounds = budget_from(budget, BOUNDS)
    script = read_script_file(env, program)
    values = read_values(env, set_values, bounds, [])
    raise typer.Exit(answer(env, script, values, seed, bounds, quiet))


def batch(
    ctx: typer.Context,
    records: options.Records = None,
    file: options.RecordsFile = None,
    output: options.AnswersFile = None,
    jobs: options.Jobs = 1,
    only: options.Only = None,
    no_symbolic: options.NoSymbolic = False,
    timeout: options.Timeout = None,
    memory: options.Memory = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    budget: options.BudgetOption = None,
    debug: options.Debug = False,
) -> None:
    """Answer many records, one JSON document on each line.

    A record is {"id": 1, "program": "x**2", "inputs": {"x": 3}}.

    \b
    gradcli batch records.ndjson -o answers.ndjson --jobs 4
    gradcli batch --no-symbolic --only grad < records.ndjson
    """
    from gradcli.cli.batch import answer, batch_request

    env: Environment = ctx.obj
    asked = batch_request(
        env, records, file, output, jobs, only, no_symbolic, timeout, memory, strict, quiet, budget, debug
    )
    raise typer.Exit(answer(env, asked))


def functions(
    ctx: typer.Context,
    name: str | None = typer.Argument(
        None, metavar="NAME", help="One function or operator, or how its name begins.", show_default=False
    ),
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List the functions of the language, or describe one.

    A function is described by its formula, its derivative, and an example.

    \b
    gradcli functions
    gradcli functions sigmoid
    gradcli functions soft
    gradcli functions @
    """
    del debug
    from gradcli.cli.output import write
    from gradcli.explanation.vocabulary import all_functions, look_up
    from gradcli.render.data import dump
    from gradcli.render.vocabulary import describe, functions_document, overview

    env: Environment = ctx.obj
    found = all_functions() if name is None else look_up(name)
    write(env, dump(functions_document(found)) if json else overview(found) if name is None else describe(found))


def schema(ctx: typer.Context, debug: options.Debug = False) -> None:
    """Print the JSON Schema of the documents that --json prints.

    \b
    gradcli schema > gradcli.schema.json
    """
    del debug
    from importlib.resources import files

    from gradcli.cli.output import write

    write(ctx.obj, files("gradcli.render").joinpath("schema.json").read_text(encoding="utf-8"))
