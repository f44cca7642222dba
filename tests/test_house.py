"""The house: rooms import only from floors below, heavy libraries stay in their rooms, no text is ever executed."""

import ast
import functools
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import ratchet
from gradcli.cli.options import OPTIONS
from gradcli.document import views
from gradcli.ops import OPS
from gradcli.render import data

HOME = Path(__file__).parent.parent / "src" / "gradcli"
MODULES = sorted(HOME.rglob("*.py"))
TESTS = sorted(Path(__file__).parent.rglob("*.py"))
PAGE = Path(__file__).parent.parent / "docs" / "design.md"
ROOMS = {
    room: set(re.findall(r"`(\w+)`", imported))
    for room, imported in re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
}
"""What each room imports, by the plan of the house; lower floors stand first."""
HEAVY = {
    "sympy": {"jacobian", "formulas"},
    "typer": {"cli"},
    "rich": {"cli", "render"},
    "numpy": set(ROOMS) - {"records", "errors"},
}
EXECUTES = {"eval", "exec", "compile", "sympify", "parse_expr", "lambdify", "__import__"}


@functools.cache
def nodes_of(path):
    return list(ast.walk(ratchet.tree_of(path)))


def room(path):
    return path.relative_to(HOME).parts[0].removesuffix(".py")


def imports(path, top_level):
    """Yield the modules that a file imports: at its top level, or anywhere outside of TYPE_CHECKING."""
    for node in nodes_of(path)[0].body if top_level else nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def rooms_imported(path):
    """Return the rooms that a module imports anything from; the package itself is ``gradcli``."""
    names = {
        f"{node.module}.{one.name}" if node.module == "gradcli" else node.module
        for node in from_imports(path)
        for one in node.names
        if node.module.partition(".")[0] == "gradcli"
    } | {module for module in imports(path, top_level=False) if module.startswith("gradcli.")}
    rooms = {name.split(".")[1] for name in names}
    return {name if name in ROOMS else "gradcli" for name in rooms} - {room(path)}


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_imports_what_the_page_says(name):
    found = set().union(*(rooms_imported(path) for path in MODULES if room(path) == name))
    assert found == ROOMS[name]


def test_a_room_imports_from_floors_below():
    below = {"gradcli"}
    for name, imported in ROOMS.items():
        assert imported <= below, name
        below.add(name)


def test_a_folder_of_modules_is_a_package():
    """One without ``__init__`` is left out by what walks through packages, such as the catalogue of mutants."""
    assert [path.parent for path in MODULES if not (path.parent / "__init__.py").exists()] == []


def test_the_page_has_every_room():
    assert {room(path) for path in MODULES} - {"__init__", "__main__"} == set(ROOMS)


def test_heavy_libraries_stay_in_their_rooms():
    for path in MODULES:
        for module in imports(path, top_level=False):
            allowed = HEAVY.get(module.split(".")[0])
            assert allowed is None or room(path) in allowed, (path, module)


def test_reverse_mode_is_one_page():
    assert len((HOME / "engine" / "reverse.py").read_text(encoding="utf-8").splitlines()) <= 90


def test_a_module_is_one_subject_and_its_rows_fit():
    """A subject takes 100 to 700 lines; a module of more holds two."""
    for path in MODULES:
        rows = path.read_text(encoding="utf-8").splitlines()
        assert len(rows) <= 700, path
        assert [row for row in rows if len(row) > 120] == [], path


@pytest.mark.parametrize(("name", "most"), ratchet.figures().items())
def test_the_house_does_not_grow(name, most):
    """Budgets that may only fall: ``python tests/ratchet.py`` lowers them."""
    now = ratchet.measured()[name]
    assert now <= most, f"{now:,} {name}, and {most:,} are allowed: take away what the change makes superfluous"


def test_a_figure_is_lowered_and_never_raised():
    assert ratchet.lowered({"lines": 5, "modules": 3}, {"lines": 4, "modules": 9, "functions": 2}) == {
        "lines": 4, "modules": 3, "functions": 2,
    }  # fmt: skip


def test_no_text_is_executed():
    for path in MODULES:
        for node in (node for node in nodes_of(path) if isinstance(node, ast.Call)):
            called = getattr(node.func, "id", getattr(node.func, "attr", None))
            assert called not in EXECUTES or ast.unparse(node.func) == "re.compile", (path, node.lineno)


def literals(node):
    """Yield the texts that an expression holds as they stand, in displays too."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for item in getattr(node, "elts", ()):
        yield from literals(item)


def is_name_of_an_op(node):
    return isinstance(node, ast.Attribute) and node.attr == "name" and ast.unparse(node.value).endswith("op")


def asks_by_name(node, tables):
    """Return whether an expression asks for an op by its name: compares it, looks it up, or indexes the table."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        known = {text for side in sides for text in literals(side)} | {s.id for s in sides if isinstance(s, ast.Name)}
        return any(map(is_name_of_an_op, sides)) and bool(known & (set(OPS) | tables))
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value) == "OPS" and bool(set(literals(node.slice)))
    if isinstance(node, ast.Match):
        return is_name_of_an_op(node.subject)
    return (
        isinstance(node, ast.Call) and any(map(is_name_of_an_op, node.args)) and ast.unparse(node.func).endswith(".get")
    )


def test_nothing_outside_of_ops_asks_for_an_op_by_its_name():
    for path in (path for path in MODULES if room(path) != "ops"):
        nodes = nodes_of(path)
        named = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None]
        tables = {
            ast.unparse(target)
            for node in named
            for target in getattr(node, "targets", [getattr(node, "target", None)])
        }
        found = [f"line {node.lineno}: {ast.unparse(node)[:80]}" for node in nodes if asks_by_name(node, tables)]
        assert found == [], f"{path}: make it a field of the record, gradcli.ops.declare.Op"


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('node.op.name == "where"', True), ('op.name in ("add", "sub")', True), ('op.name in {"mul"}', True),
        ('OPS["sin"].forward', True), ("WAVES = {1}\nop.name in WAVES", True), ("RULES.get(op.name)", True),
        ("match op.name:\n    case 'stack': pass", True), ("OPS[name]", False), ('function.name == "max"', False),
        ('f"{op.name} is flat"', False), ('error.place.name != "program"', False),
    ],
)  # fmt: skip
def test_a_question_by_name_is_seen(text, asks):
    tree = ast.parse(text)
    tables = {ast.unparse(node.targets[0]) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    assert any(asks_by_name(node, tables) for node in ast.walk(tree)) == asks


def test_what_tests_share_stands_in_helpers():
    for path in TESTS:
        assert not re.search(r"^\s*(from|import) (\w+\.)*test_", path.read_text(encoding="utf-8"), re.MULTILINE), path


def from_imports(path):
    return [node for node in nodes_of(path) if isinstance(node, ast.ImportFrom)]


def named(path):
    return ".".join(("gradcli", *path.relative_to(HOME).with_suffix("").parts)).removesuffix(".__init__")


def test_no_circle_of_modules_is_left():
    """Imports in functions and for types count too."""
    names = {named(path) for path in MODULES} - {"gradcli"}
    graph = {}
    for path in MODULES:
        of_packages = {f"{node.module}.{one.name}" for node in from_imports(path) for one in node.names} & names
        packages = {name.rpartition(".")[0] for name in of_packages}
        graph[named(path)] = of_packages | (set(imports(path, top_level=False)) & names) - packages
    TopologicalSorter(graph).prepare()


PLAIN = {
    "document", "engine.naming", "errors", "errors.hints", "errors.inert",
    "exact.work", "explanation.checked", "explanation.effect", "explanation.explained", "explanation.jacobians",
    "explanation.parts", "explanation.results", "explanation.timeline", "explanation.views", "formulas.index_rules",
    "ops", "ops.declare", "ops.links", "records", "render",
}  # fmt: skip
"""What an answer is shown from: records, and names: those of functions are in ``ops``."""


@pytest.mark.parametrize("path", sorted((HOME / "render").rglob("*.py")), ids=lambda path: path.stem)
def test_render_reads_plain_records(path):
    modules = {module.removeprefix("gradcli.") for module in imports(path, top_level=False) if "gradcli." in module}
    read = {module.partition(".")[0] if module.startswith(("document.", "render.")) else module for module in modules}
    assert read <= PLAIN


def test_a_view_has_its_option_and_what_shows_it():
    """An option of a view that nothing shows would be taken silently, and so would one on a page that has no part."""
    asked = {option.view for option in OPTIONS.values() if option.view}
    assert asked == views.VIEWS.keys() == data.VIEWS.keys()
    [table] = re.findall(r"const VIEWS = {(.*)};", (HOME / "page" / "web" / "views.js").read_text(encoding="utf-8"))
    assert {option.view for option in OPTIONS.values() if option.paged} == {*re.findall(r"(\w+):", table)}


SKIPS = re.compile(r"pytest\.(skip|importorskip)\(")
OPTIONAL = {"torch", "jax"}
"""What the README's test command does not install."""


@pytest.mark.parametrize("path", [path for path in TESTS if path.name.startswith("test_")], ids=lambda path: path.stem)
def test_a_test_module_can_be_read_without_what_is_not_installed(path):
    """A module that asks PyTorch skips as a whole before it imports it, or imports it where it is there."""
    for node in nodes_of(path)[0].body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) and SKIPS.search(ast.unparse(node)):
            return
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert OPTIONAL.isdisjoint(name.partition(".")[0] for name in names), ast.unparse(node)
