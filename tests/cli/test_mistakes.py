"""Mistakes of the first five minutes: each with what is said of it, and the way out."""

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from gradcli.batch.records import ROWS as ROWS_OF_TABLE
from gradcli.errors import Budget
from gradcli.language.values import read_value

FILES = {
    "d.json": '{"x": [1, 2], "y": 3}',
    "bad.json": '{"x": [1,\n 2,, 3]}',
    "one.json": "[1, 2]",
    "data.xlsx": "",
    "program.py": "weight**2\n",
    "pretty.json": '{\n "program": "x**2",\n "inputs": {"x": 3}\n}\n',
    "array.json": '[{"program": "x**2", "inputs": {"x": 3}}]\n',
    "table.csv": "program,x\nx**2,3\n",
}
CHARACTER = "the program may hold ASCII characters only, not "
ROWS = [  # command line, what is wrong, what to do
    ("explain x**2 --x 3 --precison 3", "no such option --precison", "did you mean '--precision'?"),
    ("explain tape*2 --tape 3", "--tape is an option and takes no value", "for a variable called tape: --set tape=3"),
    ("explain steps*x --x 3 --steps=1,2 --v 1,1",
     "--steps is an option and takes no value",
     "for a variable called steps: --set steps=1,2"),
    ("strict*2 --strict 'linspace(0, 1, 3)'",
     "--strict is an option and takes no value",
     "for a variable called strict: --set strict='linspace(0, 1, 3)'"),
    ("explain x**2 --x 3 --expect 2*x", "explain has no --expect", "check has it"),
    ("explain x**2 --x 3 --confirm", "explain has no --confirm", "grad has it"),
    ("check x**2 --x 3 --tol 1e-3",
     "check has no --tol",
     "check counts how many digits are right; --tolerance 1e-5 is for what --expect has"),
    ("check x**2 --x 3 --precision 3", "check has no --precision", "explain has it"),
    ("grad x**2 --x 3 --precision 3", "grad has no --precision", "explain has it"),
    ("grad weight*x --x 3 --wieght 2",
     "no value for the variable weight",
     "--wieght was given: did you mean --weight?"),
    ("grad weight*x --x 3", "no value for the variable weight", "add --weight VALUE"),
    ("explain x**2 --x 3 --zoom", "no such option --zoom", "gradcli explain --help lists what there is"),
    ("explain x**2 --x 3 --z 4", "the program has no variable 'z'", "the program has x"),
    ("explain x**2 --x", "--x needs a value", "for example --x 1,2"),
    ("explain x**2 --x 3 --format", "--format needs a value", "for example --format json"),
    ("explain x**2 --x 3 -o", "-o needs a value", "for example -o answer.txt"),
    ("explain x**2 --x 3 --wrt", "--wrt needs a value", "for example --wrt W,b"),
    ("explain x**2 --x 3 --format yaml",
     "--format 'yaml' is not known",
     "one of table, json, plain, latex, markdown, picture"),
    ("explain α*x --x 2 --α 3", "variables have ASCII names, not --α", "call it --alpha, in the program too"),
    ("explain x*é --x 2 --é 3", "variables have ASCII names, not --é", "call it --e, in the program too"),
    ("explain 3 * x --x 2",
     "the program comes in several words: the shell has cut it, or made file names of its *",
     "put it in single quotes: '3 * x'"),
    ("explain x**2 --x 1 2", "the shell has cut the value of --x at a blank", "write --x 1,2"),
    ("explain x**2 x=3", "x=3 is no option", "write --x 3"),
    ("explain x**2 -x 3", "-x is no option", "inputs have two dashes: --x"),
    ("explain x**2 x**3 --x 3",
     "'x**3' is a second program, after 'x**2'",
     "give one: as '[x**2, 3*x]' for several outputs, or with all of its lines in one pair of quotes"),
    ("explain x**2 --x '1 2 3'", "numbers need commas between them", "write 1,2,3"),
    ("explain x**2 --x 1e400", "the value is not finite in double precision (beyond 1.8e308, or 0/0)", None),
    ("explain x**2 --x '1, 2,, 3'",
     "a number is missing here",
     "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE"),
    ("explain x**2 --x abc", "'abc' is not a number", "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE"),
    ("explain x**2 --x data.csv", "unknown attribute '.csv'", "write @data.csv to read a file"),
    ("explain x**2 --x 0,5e", "a product needs its sign", "write * to multiply: 5*e"),
    ("explain x**2 --x '1;2,3'",
     "a row with 2 numbers under one with 1",
     "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE"),
    ("explain '|x|' --x 3", "bars are no brackets", "write abs(x)"),
    ("explain '||x||' --x 3", "bars are no brackets", "write norm(x)"),
    ("explain '‖x‖' --x 3", CHARACTER + "'\\u2016', U+2016 DOUBLE VERTICAL LINE", "write norm(...)"),
    ("explain 'sin x' --x 3", "a function is called with brackets", "write sin(x)"),
    ("explain 'exp -x' --x 3", "no value for the variable exp", "'exp' is a function: call it, exp(x)"),
    ("explain 'sum x' --x 3", "a function is called with brackets", "write sum(x)"),
    ("explain '0b2*x' --x 3", "0b2 is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    ("explain '0o8*x' --x 3", "0o8 is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    ("explain '0xg*x' --x 3", "0xg is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    ("explain '1__0*x' --x 3", "1__0 is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    ("explain '1_*x' --x 3", "1_ is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    ("explain '1e5e5*x' --x 3", "1e5e5 is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    ("explain 0777*x --x 3", "a number does not begin with 0", "write 777"),
    ("explain '1e5x + 1_000x' --x 3", "a product needs its sign", "write * to multiply: 1e5*x"),
    ("explain 'x<>2' --x 3", "unequal is written !=", "write !="),
    ("explain 'where(x =< 2, x, 1)' --x 3", "at most is written <=", "write <="),
    ("explain '2(x+1)' --x 3", "only functions can be called", "write * to multiply"),
    ("explain 'f(x) = x**2' --x 3", "a function is its value alone here", "write x**2"),
    ("explain 'f(x, y) := x*y' --x 3 --y 1", "a function is its value alone here", "write x*y"),
    ("explain '$x**2' --x 3", "'$' begins a variable of the shell, and of LaTeX", "write x, in single quotes"),
    ("explain '\\sin(x)' --x 3", "this is LaTeX", "write sin without the backslash, and its argument in brackets"),
    ("explain '\\frac{1}{x}' --x 3", "this is LaTeX", "write a/b for a fraction, and * between factors"),
    ("explain 'x^2' --x 3", "'^' is not the power", "write **"),
    ("explain \"y'\" --x 3", "y' is a derivative, which is what gradcli shows", "write the function itself"),
    ("explain 'd/dx x**2' --x 3",
     "a derivative is what gradcli shows",
     "write the function alone: gradcli takes its derivative"),
    ("explain '∂/∂x x**2' --x 3", CHARACTER + "'∂', U+2202 PARTIAL DIFFERENTIAL", "write the function alone"),
    ("explain '∫ x dx' --x 3", CHARACTER + "'∫', U+222B INTEGRAL", "write the function alone"),
    ("explain 'x**2 dx' --x 3", "dx is no part of a function", "leave it out"),
    ("explain '∇ x**2' --x 3", CHARACTER + "'∇', U+2207 NABLA", "write the function alone"),
    ("explain 'lambda*x' --x 3 --lambda 2", "lambda is a word of Python, and no name", "call the variable lam"),
    ("explain 'x!' --x 3", "there is no factorial", "write exp(lgamma(n + 1)) for n!"),
    ("explain 'y == x**2' --x 3", "no value for the variable y", "== compares: write x**2 alone, or y = x**2"),
    ("explain 'σ(x)' --x 3",
     CHARACTER + "'σ', U+03C3 GREEK SMALL LETTER SIGMA",
     "write sigmoid(...), or sigma for a variable"),
    ("explain 'θ*x' --x 3", CHARACTER + "'θ', U+03B8 GREEK SMALL LETTER THETA", "write theta"),
    ("explain 'λ*x' --x 3", CHARACTER + "'λ', U+03BB GREEK SMALL LETTER LAMDA", "write lam"),
    ("explain 'π*x' --x 3", CHARACTER + "'π', U+03C0 GREEK SMALL LETTER PI", "write pi"),
    ("explain 'x²' --x 3", CHARACTER + "'²', U+00B2 SUPERSCRIPT TWO", "write **2"),
    ("explain 'x³ + x⁴' --x 3", CHARACTER + "'³', U+00B3 SUPERSCRIPT THREE", "write **3"),
    ("explain '√x' --x 3", CHARACTER + "'√', U+221A SQUARE ROOT", "write sqrt(...)"),
    ("explain 'x·2' --x 3", CHARACTER + "'·', U+00B7 MIDDLE DOT", "write *"),
    ("explain 'x×2' --x 3", CHARACTER + "'×', U+00D7 MULTIPLICATION SIGN", "write *"),
    ("explain 'x − 1' --x 3", CHARACTER + "'−', U+2212 MINUS SIGN", "write -"),
    ("explain 'x ≤ 1' --x 3", CHARACTER + "'≤', U+2264 LESS-THAN OR EQUAL TO", "write <="),
    ("explain 'Wᵀ @ x' --x 3 --W 2", CHARACTER + "'\\u1d40', U+1D40 MODIFIER LETTER CAPITAL T", "write .T"),
    ("explain 'x₁ + x₂' --x 3", CHARACTER + "'₁', U+2081 SUBSCRIPT ONE", "write [1] for an entry, _1 in a name"),
    ("explain '∑x' --x 3", CHARACTER + "'∑', U+2211 N-ARY SUMMATION", "write sum(...)"),
    ("explain '“x”' --x 3", CHARACTER + "'“', U+201C LEFT DOUBLE QUOTATION MARK", "leave it out"),
    ("explain 'x＋1' --x 3", CHARACTER + "'\\uff0b', U+FF0B FULLWIDTH PLUS SIGN", "write +"),
    ("explain '½x' --x 3", CHARACTER + "'½', U+00BD VULGAR FRACTION ONE HALF", "write 0.5"),
    ("explain 'x ≠ 1' --x 3", CHARACTER + "'≠', U+2260 NOT EQUAL TO", "write !="),
    ("explain 'x÷2' --x 3", CHARACTER + "'÷', U+00F7 DIVISION SIGN", "write /"),
    ("explain '(x' --x 3", "'(' was never closed", None),
    ("explain 'x)' --x 3", "unmatched ')'", None),
    ("explain 'x +' --x 3", "the program ends too early", None),
    ("explain 'x ? 1 : 2' --x 3",
     "this is not an expression or statement",
     "write 'a if condition else b', or where(condition, a, b)"),
    ("explain 'x > 0 && x < 1' --x 3", "this is not an expression or statement", "write 'and' and 'or'"),
    ("explain x --x @d.json",
     "--x: d.json: an object where an array of numbers belongs; its keys are x, y",
     "@FILE.json:x reads what is under x"),
    ("explain x --x @d.json:z", "--x: d.json: no key 'z'; its keys are x, y", "@FILE.json:x reads what is under x"),
    ("explain x --x @bad.json",
     "--x: bad.json, line 2, column 4: this is not JSON: expecting value",
     "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]], or @FILE"),
    ("explain x --x @one.json:x", "--x: one.json: there is no object that could have the key 'x'", None),
    ("explain x --x @nothing.csv", "--x: there is no file nothing.csv", None),
    ("explain x --x @data.xlsx", "--x: data.xlsx: the name must end with .npy .npz .json .csv .tsv .txt", None),
    ("batch pretty.json",
     "one record a line is read, and this is a document over several lines",
     "make it one line: python -m json.tool --no-indent FILE"),
    ("batch array.json",
     "one record a line is read, and this is an array of records",
     "make it lines: python -c 'import json, sys; [print(json.dumps(one)) for one in json.load(sys.stdin)]' < FILE"),
    ("batch table.csv", "one record a line is read, and this is a table", ROWS_OF_TABLE),
    ("batch nothing.ndjson", "RECORDS: there is no file nothing.ndjson", None),
    ("explane x**2 --x 3", "no such command 'explane'", "did you mean 'explain'?"),
    ("explain",
     "no program is given",
     "for example: gradcli explain 'x**2' --x 3; - reads it from standard input, -f from a file"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message", "hint"), ROWS, ids=[row[0] for row in ROWS])
def test_a_mistake_is_named_with_the_way_out(cli, tmp_path, monkeypatch, line, message, hint):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    answer = cli(*shlex.split(line))
    said = [text for text in answer.err.splitlines() if text.startswith(("error: ", "help: "))]
    assert (answer.code, said) == (2, [f"error: {message}", *([f"help: {hint}"] if hint else [])])


@pytest.mark.parametrize("name", ["pretty.json", "array.json", "table.csv"])
def test_the_command_that_a_hint_gives_makes_records(cli, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    hint = cli("batch", name).err.partition("help: ")[2].strip()
    command = re.fullmatch(r"make it .*?: python (.*?)(?:< )?FILE", hint)[1]
    words = [*shlex.split(command), *([name] if "json.tool" in command else [])]
    made = subprocess.run([sys.executable, *words], input=FILES[name], capture_output=True, check=True, text=True)
    answer = cli("batch", "-", "--only", "grad", stdin=made.stdout)
    assert [json.loads(line)["grad"] for line in answer.out.splitlines()] == [{"x": 6.0}]


READ = {  # files and how they are named, with what is read
    "@d.json:x": [1, 2],
    "@d.json:y": 3,
    "@t.tsv": [[1, 2], [3, 4]],
    "@one.csv": 5,
    "@~/home.json": [7, 8],
}


@pytest.mark.parametrize(("given", "wanted"), READ.items())
def test_a_file_is_read_by_its_suffix_and_key(cli, tmp_path, monkeypatch, given, wanted):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    files = {**FILES, "t.tsv": "1\t2\n3\t4\n", "one.csv": "5\n", "home.json": "[7, 8]"}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    answer = cli("grad", "sum(x**2)", "--x", given)
    assert answer.code == 0
    np.testing.assert_array_equal(read_value(answer.out.strip(), "x", Budget()), 2 * np.array(wanted))
