"""The lines of the program that a snippet becomes, and which of them a value depends on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gradcli.errors import GradcliError
from gradcli.language.inplace import writes_in_place, written_to
from gradcli.language.names import MODULES, dotted
from gradcli.language.snippets.pieces import Piece, Source
from gradcli.language.snippets.scopes import growths, identifiers, parts, stored

PLAIN = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Constant)
"""Expressions whose value has memory of its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of the program: its text, the line of the user's text that it stands in, and what it does to names.

    - ``stores`` are the names that it assigns; ``ends`` says that what they held before is gone.
    - ``writes`` are the names whose memory it writes to, ``reads`` those that it reads.
    - ``shares`` are pairs of names that may have memory in common from here on.
    - ``grows`` are lists that entries are appended to, ``entries`` variables that stand as entries of other lists.
    - ``error`` says why it cannot be read; ``leaf`` is the input that it makes.
    """

    piece: Piece
    number: int
    stores: frozenset[str]
    ends: bool
    writes: frozenset[str]
    reads: frozenset[str]
    shares: frozenset[tuple[str, str]]
    grows: frozenset[str] = frozenset()
    entries: frozenset[str] = frozenset()
    error: GradcliError | None = None
    leaf: str = ""

    @property
    def names(self) -> list[tuple[str, str]]:
        """The pairs of names that are one tensor from here on: ``a = b``."""
        tree = ast.parse(self.piece.text)
        pairs = [(node.targets[0], node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        return [(a.id, b.id) for a, b in pairs if isinstance(a, ast.Name) and isinstance(b, ast.Name)]


def line_of(piece: Piece, number: int) -> Line:
    """Return a statement of the language as a line."""
    return described(ast.parse(piece.text).body[0], piece, number)


def unreadable(node: ast.stmt, error: GradcliError, writes: bool = False) -> Line:
    """Return a statement that cannot be read as a line: its calls may write to all that it reads.

    Those of an assignment do as far as they are known to, which ``writes`` says.
    """
    found = described(node, Piece(), node.lineno, error)
    changes = writes or not isinstance(node, ast.Assign)
    calls = any(isinstance(part, ast.Call) for part in ast.walk(node)) and changes
    return replace(found, writes=found.writes | found.reads) if calls else found


def leaf_line(name: str, number: int) -> Line:
    """Return the line that makes an input."""
    nothing: frozenset[str] = frozenset()
    return Line(Piece(), number, frozenset({name}), True, nothing, nothing, frozenset(), leaf=name)


def described(node: ast.stmt, piece: Piece, number: int, error: GradcliError | None = None) -> Line:
    """Return a line with what its syntax says about names."""
    stores: set[str] = set()
    writes: set[str] = set()
    reads: set[str] = set()
    shares: set[tuple[str, str]] = set()
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name, ctx=ast.Load()):
                reads.add(name)
            case ast.Name(id=name):
                stores.add(name)
            case ast.AugAssign(target=target):
                writes |= reached_by(target)
                reads |= root_of(target)
            case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store()):
                writes |= reached_by(part)
            case ast.Call(func=ast.Attribute(value=changed)) if writes_in_place(part):
                writes |= reached_by(changed)
            case ast.Call() if may_write(part):
                given = [part.func, *part.args, *(item.value for item in part.keywords)]
                writes |= {name for value in given for name in identifiers(value)}
            case ast.Attribute(attr=attribute, value=changed) if is_in_place(attribute):
                writes |= reached_by(changed)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                stores.add(name)
        shares |= set(shared(part))
    ends = isinstance(node, ast.Assign | ast.AnnAssign | ast.ClassDef | ast.FunctionDef)
    grows, entries = map(frozenset, growths(ast.walk(node)))
    touched = (frozenset(writes), frozenset(reads), frozenset(shares))
    return Line(piece, number, frozenset(stores), ends, *touched, grows, entries, error)


def reached_by(node: ast.expr) -> set[str]:
    """Return the variables that a write may be to: that which it is of, else all that are mentioned."""
    return root_of(node) or set(identifiers(node))


def root_of(node: ast.expr) -> set[str]:
    """Return the variables that an index, an attribute or a method is of, if it is of one."""
    base = base_of(node)
    return {base.id} if isinstance(base, ast.Name) else set()


def base_of(node: ast.expr) -> ast.expr:
    """Return what an index, an attribute or a method is of."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


CHANGING = {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "fill", "partition", "setattr"}
"""Methods and functions that change a list or an array of NumPy's."""
GROWING = {"append", "extend", "insert", "pop", "copy_", "backward"}
WITH_INPLACE = {
    "relu", "relu6", "elu", "selu", "celu", "leaky_relu", "rrelu", "hardtanh", "threshold", "dropout", "silu", "mish",
    "hardswish", "hardsigmoid", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d",
}  # fmt: skip
"""Functions that may be told by a plain True to write into their argument."""


UNARY = "exp log sqrt square sin cos tan tanh abs absolute negative sign floor ceil log1p expm1 reciprocal exp2 log2"
BINARY = "add subtract multiply divide true_divide power maximum minimum dot matmul arctan2 hypot mod fmod"
PLACES = {**dict.fromkeys(UNARY.split(), 1), **dict.fromkeys(BINARY.split(), 2), "clip": 3}
"""Functions of NumPy that write into one argument more, and how many they read."""


def changed_by(node: ast.AST) -> ast.expr | None:
    """Return what a syntax node changes in place, None for nothing."""
    if isinstance(node, ast.AugAssign):
        return node.target
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node.value
    return written_to(node) if isinstance(node, ast.Call) and writes_in_place(node) else None


def is_in_place(name: str) -> bool:
    """Return whether a method is called as those are that write in place."""
    return name.endswith("_") and not name.endswith("__")


def may_write(call: ast.Call) -> bool:
    """Return whether a call may change what it is given, by its name and its options."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    told = any(item.arg in ("out", "inplace") for item in call.keywords)
    true = any(isinstance(item, ast.Constant) and item.value is True for item in call.args)
    return is_in_place(name) or name in CHANGING or told or has_place(call) or (true and name in WITH_INPLACE)


def has_place(call: ast.Call) -> bool:
    """Return whether a function of NumPy's is given an argument more than it reads: what it writes into."""
    library, _, name = (dotted(call.func) or "").rpartition(".")
    return library in ("np", "numpy") and len(call.args) > PLACES.get(name, len(call.args))


def own_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the variables that these statements assign, each time a value in whose memory no other variable is."""
    assigned, others = set(), set()
    for part in parts(nodes):
        if isinstance(part, ast.Assign):
            assigned |= {name for target in part.targets for name in stored(target)}
        if isinstance(part, ast.Assign | ast.For):
            others |= {name for pair in shared(part) if pair[1] not in MODULES for name in pair}
        if isinstance(part, ast.arg):
            others.add(part.arg)
    return assigned - others


def shared(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names that may have memory in common after an assignment."""
    if isinstance(node, ast.For):
        targets, value = [node.target], node.iter
    elif isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    else:
        return
    if isinstance(value, PLAIN):
        return
    read = [part.id for part in ast.walk(value) if isinstance(part, ast.Name)]
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        yield from ((part.id, name) for part in names if isinstance(part, ast.Name) for name in read)


class Memory:
    """Which names may have memory in common: they are in one group."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.above: dict[str, str] = {}
        assigned = {name for line in lines for name in line.stores}
        for line in lines:
            for one, other in line.shares:
                if other in assigned or other not in MODULES:
                    self.above[self.group(one)] = self.group(other)

    def group(self, name: str) -> str:
        """Return the name that stands for the group of a name."""
        while name in self.above and self.above[name] != name:
            name = self.above[name]
        return name


def needed(lines: Sequence[Line], names: Iterable[str]) -> list[Line]:
    """Return the lines that the values of ``names`` after the last line, and their derivatives, depend on, in order.

    A write counts wherever it stands, if it may be to memory that these lines read: backward reads what they kept. So
    does that a list grows which another one holds.
    """
    memory, wanted, written = Memory(lines), frozenset(names), set[int]()
    held = {name for line in lines for name in line.entries}
    while True:
        found = reached(lines, wanted, written)
        groups = {memory.group(name) for k in found for name in lines[k].reads | lines[k].stores}
        groups |= {memory.group(name) for name in wanted}
        writes = [line.writes | (line.grows & held) for line in lines]
        touching = {k for k, names in enumerate(writes) if any(memory.group(name) in groups for name in names)}
        if touching <= written:
            return [lines[k] for k in found]
        written |= touching


def reached(lines: Sequence[Line], names: Iterable[str], written: set[int]) -> list[int]:
    """Return the places of the lines that give ``names`` their values, and of those in ``written``, with theirs."""
    wanted, found = set(names), []
    for k in reversed(range(len(lines))):
        line = lines[k]
        if k in written or line.stores & wanted:
            found.append(k)
            if line.ends and not line.writes:
                wanted -= line.stores
            wanted |= line.reads
    return found[::-1]


def names_in(text: str) -> set[str]:
    """Return the names that an expression reads."""
    return {part.id for part in ast.walk(ast.parse(text)) if isinstance(part, ast.Name)}


def renamed(piece: Piece, old: str, new: str) -> Piece:
    """Return a statement with another name for a variable."""
    source = Source(piece.text)
    spans = [source.span(n) for n in ast.walk(ast.parse(piece.text)) if isinstance(n, ast.Name) and n.id == old]
    edited = source.edited((0, len(piece.text)), [(span, Piece.instead(new, span)) for span in spans])
    return Piece(edited.text, tuple(piece.origins[place] for place in edited.origins))
