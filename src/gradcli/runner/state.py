"""One run of a script: its graph, its output and seeds, what it did in order, and what it must not exceed."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary, ref

import numpy as np

from gradcli.engine.graph import LARGE, NODES, TURNS, Graph, Input, LiveGraph, Node
from gradcli.errors import Budget, GradcliError, Place, Span, over_budget
from gradcli.language.compiling import Selection
from gradcli.language.memory import entry_numbers, laid_out_as, looks_on, owner_of, put_into
from gradcli.language.picking import as_view
from gradcli.language.torch_refusals import IN_TURN, overlap
from gradcli.ops.arithmetic import ADD, SUB
from gradcli.ops.declare import Op, value_of
from gradcli.ops.joining import INDEX, PUT
from gradcli.ops.making import DETACH
from gradcli.ops.shaping import RESHAPE
from gradcli.records import dataclass, replace
from gradcli.runner.events import Event, Log, Noting, name_of, note, settle
from gradcli.runner.exceptions import Raised, raised, said
from gradcli.runner.values import Data, Detached, Foreign, Native, Tensor, View, as_dtype, category, extra_of, kind_of


class Fused(NamedTuple):
    """A call of PyTorch's: the number of its first operation, what was called and the nodes of its arguments."""

    first: int
    made_by: Any
    arguments: list[Any]


BOUNDS = Budget(
    text=400_000, syntax=60_000, turns=20_000_000, nodes=60_000_000, elements=20_000_000, total=20_000_000_000,
    seconds=60.0,
)  # fmt: skip
"""What a script may cost: more than a formula, as training does."""


def bounds_of(budget: Budget) -> Budget:
    """Return what a script may cost where a formula may cost ``budget``: what was changed of it holds for both."""
    usual = Budget()
    changed = {
        name: bound for name in Budget.__dataclass_fields__ if (bound := getattr(budget, name)) != getattr(usual, name)
    }
    return replace(BOUNDS, **changed)


DEEPEST = 990
"""Calls within calls, as in Python."""
DEEP = "maximum recursion depth exceeded"
WALKS = 2_000
"""Iterators over iterators at once: the host steps through them within each other."""
LONG = 4096
"""Items of a list, or characters of a text, from which the memory is looked at for it alone."""


class Held:
    """The graph while gradients are off: what is computed has no history, unless it is recorded (``through``)."""

    through = False

    def __init__(self, graph: Graph) -> None:
        self.graph, self.meter, self.charge, self.remark = graph, graph.meter, graph.charge, graph.remark
        self.is_input, self.piece, self.strict = graph.is_input, graph.piece, graph.strict
        self.note_call, self.nodes, self.budget = graph.note_call, graph.nodes, graph.budget
        self.live = isinstance(graph, LiveGraph)
        self.windows = graph.windows

    def __call__(self, op: Op, *arguments: Any, **static: Any) -> Any:
        """Apply an op to the numbers of its arguments."""
        if self.live and not self.through:
            return self.graph(op, *[value_of(a) if type(a) in NODES else a for a in arguments], **static)
        return self.detached(self.graph(op, *arguments, **static))

    def detached(self, made: Any) -> Any:
        """Return a value without its history, unless it is recorded."""
        return self.graph(DETACH, made) if not self.through and type(made) in NODES and made.active else made

    def apply(self, op: Op, arguments: Any, static: Any, values: Any, links: Any = ()) -> Any:
        """Apply an op as the graph does."""
        return self(op, *arguments, **static)

    def enter(self, op: Op, arguments: Any, static: Any, value: Any, links: Any = ()) -> Any:
        """Enter an operation whose value is at hand."""
        if self.live and not self.through:
            return value
        return self.detached(self.graph.enter(op, arguments, static, value, links))


@dataclass(slots=True)
class Written:
    """A write in place to what a tensor showed: how many nodes there were after it and before it, and its version.

    It is forgotten with what was shown (``kept``): then no sweep can need it any more. ``name`` is what PyTorch calls
    the write, for a tensor that is gone when a sweep needs what it showed.
    """

    mark: int
    version: int
    by: int
    kept: Any
    tensor: ref[Tensor]
    line: int
    name: str | None = None


class Run:
    """One run of a script.

    An operator calls a method of an object, which reads an attribute, which may call an operator: the parts of the
    interpreter that call one another are methods of the run, which ``script.py`` enters, as it imports all of them.

    ``f`` applies ops: the graph, or what holds them while gradients are off. ``line`` is that of the script's own call
    that runs now. ``emit`` is given what is printed as it is printed. While ``quiet`` nothing is an event: ``library``
    of it is for frames of a library's text, ``batches`` for the entries of batches; ``inside`` counts the sweeps that
    run a backward of the script's own, ``traced`` the calls of jax.jit. ``inference`` says that the script has been in
    inference mode, ``always`` that operations are recorded where it switches gradients off, ``anomaly`` that a backward
    which meets nan raises. ``fused`` has the calls that were several operations, by the last of these. ``forwards``
    says that functions with a backward of the script's own are recorded as what their forward computes; ``customs`` are
    their calls in a run that is recorded. ``unknown`` are imported modules of which nothing is known, ``left_out`` the
    functions of them that took a tensor which is differentiated, each with its line.
    """

    attribute: ClassVar[Native]
    assign_attribute: ClassVar[Native]
    delete_attribute: ClassVar[Native]
    member: ClassVar[Native]
    builtins: ClassVar[dict[str, Any]]
    call: ClassVar[Native]
    call_table: ClassVar[Native]
    operate: ClassVar[Native]
    iterate: ClassVar[Native]
    take: ClassVar[Callable[..., list[Any]]]
    array_of: ClassVar[Callable[..., Tensor]]
    text: ClassVar[Callable[..., str]]
    quoted: ClassVar[Callable[..., str]]
    percent: ClassVar[Native]
    type_of: ClassVar[Native]
    type_name: ClassVar[Callable[..., str]]
    sweep: ClassVar[Native]
    grad_fn_name: ClassVar[Native]
    level_of: ClassVar[Native]
    traced_text: ClassVar[Native]
    refuse_number: ClassVar[Native]
    table_function: ClassVar[Native]
    compile_text: ClassVar[Native]
    name_of = name_of

    def __init__(self, graph: Graph | None = None, emit: Callable[[str], None] | None = None) -> None:
        self.graph: Graph = graph if graph is not None else LiveGraph(BOUNDS)
        self.held = Held(self.graph)
        self.f: Any = self.graph
        self.meter = self.graph.meter
        self.emit = emit
        self.emit_to: Any = None
        self.log = Log()
        self.noting = Noting()
        self.line = 0
        self.depth = 0
        self.ordinal = 0
        self.writes: dict[Any, Written] = {}
        self.by_leaf: WeakValueDictionary[int, Tensor] = WeakValueDictionary()
        self.entered: dict[str, Input] = {}
        self.retained: dict[int, Any] = {}
        self.default_dtype = "float32"
        self.print_options: dict[str, Any] = {}
        self.numpy_options: dict[str, Any] = {}
        self.generators: dict[str, Any] = {}
        self.modules: dict[str, dict[str, Any]] = {}
        self.handling: list[Any] = []
        self.hooks: dict[int, list[tuple[int, Any]]] = {}
        self.all_hooks: list[Any] = []
        self.changing: set[int] = set()
        self.hooked: list[tuple[int, Any]] = []
        self.kept: list[tuple[int, Any]] = []
        self.post_hooks: dict[int, list[Any]] = {}
        self.identities: dict[int, tuple[Any, int]] = {}
        self.resolved: dict[str, Any] = {}
        self.given: dict[str, Any] = {}
        self.frames: list[Any] = []
        self.seed = self.sweeps = self.ticks = self.calls = 0
        self.walks: WeakSet[Any] = WeakSet()
        self.written = 0
        self.stars: list[str] = []
        self.quiet = self.library = self.batches = self.inside = self.traced = 0
        self.inference = self.anomaly = self.forwards = self.always = False
        self.fused: WeakKeyDictionary[Node, Any] = WeakKeyDictionary()
        self.grad_fns: WeakValueDictionary[tuple[int, str], Any] = WeakValueDictionary()
        self.notes: dict[tuple[str, str], None] = {}
        self.unknown: set[str] = set()
        self.left_out: dict[str, int] = {}
        self.place = Place("")
        self.replay: Any = None
        self.customs: list[Any] = []
        self.levels: list[Any] = []
        self.duals: list[Any] = []
        self.tree_nodes: dict[Any, tuple[Any, Any]] = {}
        self.x64 = False
        self.story: Any = None

    # ---- gradients on and off
    @property
    def grad_enabled(self) -> bool:
        """Whether operations are recorded."""
        return self.f is self.graph

    def enable_grad(self, on: bool) -> bool:
        """Switch gradients, and return whether they were on."""
        before = self.f is self.graph
        self.f = self.graph if on or self.always else self.held
        return before

    # ---- tensors
    def make(self, array: Any, dtype: str | None = None, library: str = "torch") -> Tensor:
        """Return a new tensor of these numbers, in doubles that the type has."""
        array = np.asarray(array) if not isinstance(array, np.ndarray) else array
        if dtype is None:
            short = library != "numpy" and not self.x64
            floats = self.default_dtype if library == "torch" else "float32" if short else "float64"
            whole = "int32" if library == "jax" and short else "int64"
            dtype = {"f": floats, "i": whole, "b": "bool"}[kind_of(array)]
        self.meter.elements += array.size
        if array.size > self.meter.budget.elements:
            self.meter.charge(array.size)
        made = as_dtype(array, dtype)
        if array.size >= LARGE:
            self.meter.hold(made)
        return Tensor(made, dtype, library)

    def charge_together(self, a: Any, b: Any) -> None:
        """Refuse what two arrays make together, before it is made, if it would pass the budget."""
        with contextlib.suppress(ValueError):
            self.meter.charge(math.prod(np.broadcast_shapes(a.shape, b.shape)))

    def enter_leaf(self, tensor: Tensor) -> Tensor:
        """Make a tensor a leaf: an input of its own, and another one after each write to it."""
        value = tensor.value
        ordinal = self.ordinal
        self.ordinal = ordinal + 1
        if self.replay is not None:
            value = self.replay.leaf(ordinal, value)
        value = value[()] if isinstance(value, np.ndarray) and not value.ndim and value.dtype != object else value
        node = self.graph.input(f"leaf{ordinal}", value, True)
        tensor.node, tensor.leaf = node, True
        self.by_leaf[node.index] = node.owner = tensor
        if isinstance(tensor, View):
            tensor.renew = self.renew_leaf
        if self.replay is not None:
            self.entered[node.name] = node
        if tensor.extra is not None and tensor.extra.hooks:
            self.hooks[node.index] = tensor.extra.hooks
        for follow in tensor.extra.followed if tensor.extra is not None else ():
            follow(self, tensor)
        return tensor

    def enter_integers(self, name: str, value: Any, library: str) -> Any:
        """Return integers as an input that no derivative flows to; many digits of them are integers again."""
        whole = np.asarray(value, dtype=np.float64).astype(np.int64)[()]
        node = self.graph.input(f"leaf{self.ordinal}", whole, False)
        self.ordinal += 1
        node.owner = Tensor(node, "int64", library)
        extra_of(node.owner).name = name
        return whole.item() if library == "python" else Tensor(whole, "int64", library)

    def write(self, tensor: Tensor, made: Any, first: int | None = None, made_by: Any = None) -> None:
        """Give a tensor other numbers in place, with their derivatives; a view gives them to what it shows.

        ``first`` is the number of nodes before the operation that made them in place, if one did, and ``made_by`` what
        PyTorch calls that operation.
        """
        self._write(tensor, made, first, made_by)
        self.leave_rest(tensor)

    def leave_rest(self, tensor: Tensor) -> None:
        """Hand the numbers of a tensor on to what is left of it, and to those that were given the same memory."""
        extra = tensor.extra
        if extra is None:
            return
        if extra.rest is not None:
            extra.rest.node, extra.rest.version = constant(self, tensor.node), tensor.version
        for twin in [one() for one in extra.twins]:
            if twin is not None and twin is not tensor:
                twin.version += 1
                if twin.leaf and twin.active:
                    self.renew_leaf(twin, tensor.value)
                else:
                    twin.node = np.array(tensor.value)

    def _write(self, tensor: Tensor, made: Any, first: int | None, made_by: Any) -> None:
        if category(tensor.dtype) < 2 or kind_of(value_of(made)) != "f":
            made = as_dtype(value_of(made), tensor.dtype)
        self.refuse_leaf(tensor)
        old, is_leaf = tensor.node, tensor.leaf and tensor.active
        if isinstance(tensor, View):
            made = np.asarray(value_of(made)) if is_leaf else made
            if isinstance(tensor, Detached):
                self._write_detached(tensor, made, first, made_by)
            else:
                self._write_view(tensor, made, first)
            if not is_leaf:
                return
            tensor.seen = tensor.base.version
        made = laid_out_as(value_of(old), made)
        tensor.version += 1
        write = self._note_write(tensor, old, first)
        if tensor.leaf:
            self._write_leaf(tensor, old, made)
            return
        if tensor.active and self.f is not self.graph and not self.held.through:
            tensor.made_by = self.grad_fn_name(tensor)
            tensor.node = self.overwritten(old, made)
            return
        if tensor.active and type(made) not in NODES:  # it has a history still, through which nothing comes
            made = self.f(PUT, old, np.asarray(made, np.float64), key=(...,))
        tensor.node, tensor.made_by = made, made_by
        if type(made) in NODES:
            write.name = self.grad_fn_name(tensor)
        if tensor.extra is not None and tensor.extra.retains and type(made) in NODES:
            self.retained.pop(old.index, None)
            self.retained[made.index] = tensor

    def _note_write(self, tensor: Tensor, old: Any, first: int | None) -> Written:
        """Note a write to what a tensor showed; it is forgotten when that is gone."""
        count, writes = self.count, self.writes
        root, key = memory_root(old), memory_key(old)
        kept = ref(root, lambda _: writes.pop(key, None)) if isinstance(root, np.ndarray | Node) else root
        by = count if first is None else first
        write = writes[key] = Written(count, tensor.version, by, kept, ref(tensor), self.line)
        return write

    def _write_leaf(self, tensor: Tensor, old: Any, made: Any) -> None:
        """Give a leaf other numbers: it is a new leaf from then on."""
        if tensor.active:
            note(self, "update", tensor)
        if self.story is not None:
            self.story.overwrite(tensor, made)
        self.by_leaf.pop(old.index, None)
        self.hooks.pop(old.index, None)
        tensor.node = np.array(value_of(made))
        self.enter_leaf(tensor)

    def renew_leaf(self, leaf: Tensor, made: Any) -> None:
        """Give a leaf the numbers that the memory which it shows has now; backward reads them there."""
        old = leaf.node
        self._write_leaf(leaf, old, value_of(made))
        if self.held.live:
            old.value = value_of(leaf.node)

    def refuse_leaf(self, x: Tensor, what: str = "a leaf") -> None:
        """Raise what PyTorch raises for a write to a leaf, or to a view of one, while gradients are on."""
        made_input = self.always or (self.story is not None and x in self.story.made_inputs)
        if x.leaf and x.active and self.f is self.graph and x.library == "torch" and not made_input:
            what = "a view of a leaf" if type(x) is View else what
            self.fail("RuntimeError", f"{what} Variable that requires grad is being used in an in-place operation.")

    def overwritten(self, old: Any, made: Any) -> Any:
        """Return a node with other numbers and the history that it had, which a write past the record leaves."""
        if not self.held.live:
            return self.graph(ADD, old, self.graph(DETACH, self.graph(SUB, made, old)))
        new, before = value_of(made), value_of(old)
        new = np.asarray(new) if np.ndim(before) else np.asarray(new).reshape(())[()]
        return self.graph.enter(ADD, (old, np.asarray(new - before)), {}, new, (0,))

    def _write_detached(self, tensor: Tensor, made: Any, first: int | None, made_by: Any) -> None:
        """Write to what shows the memory of another tensor: its numbers change there, and its history does not."""
        base = tensor.base
        before, old = self.enable_grad(False), base.node
        is_plain = type(base) in (Tensor, View) and base.base is None and not (base.leaf and base.active)
        copied = self.held.live or (is_plain and type(made) not in NODES)
        self.write(base, np.array(value_of(made)) if copied else made, first)
        self.enable_grad(before)
        if type(tensor) is Data and type(old) in NODES:
            self.writes.pop(old.index, None)
            extra_of(base.root).unseen += 1
            if self.held.live:
                old.value = value_of(base.node)
        tensor.made_by = made_by
        tensor.shown, tensor.seen = made, base.version  # type: ignore[attr-defined]

    @property
    def count(self) -> int:
        """How many nodes there are."""
        return self.graph.count if isinstance(self.graph, LiveGraph) else len(self.graph.nodes)

    def _write_view(self, view: Tensor, made: Any, first: int | None) -> None:
        base = view.base
        recorded = self.f is self.graph and (base.active or (type(made) in NODES and made.active))
        if recorded and view.library == "torch":
            part: int = view.part  # type: ignore[attr-defined]
            if part >= 0:
                self.fail_as("several views", part, (self.grad_fn_name(view) or "").partition("Backward")[0])
            if base.active and not view.active:
                self.fail_as("view without grad")
        self.refuse_leaf(base, "a view of a leaf")
        if view.library == "torch" and any(
            step == 0 and length > 1 for step, length in zip(np.asarray(view.value).strides, view.shape, strict=True)
        ):
            self.fail_as("one memory")
        places, f, old = np.asarray(view.look(entry_numbers(base.shape))), self.f, base.node  # type: ignore[misc]
        if len(np.unique(places)) < places.size:  # of an expanded tensor: what was not written to shows what was
            changed = np.flatnonzero(np.ravel(value_of(view.node)) != np.ravel(value_of(made)))
            made = f(INDEX, f(RESHAPE, made, shape=(places.size,)), key=changed)
            places = np.ravel(places)[changed]
        if type(old) not in NODES and type(made) not in NODES:
            array, whole = np.array(old), category(base.dtype) < 2
            numbers = as_dtype(np.asarray(made, np.float64), base.dtype) if whole else made
            array.flat[np.ravel(places)] = np.ravel(numbers)
            self.write(base, array, first, "CopySlices")
        else:
            chosen = np.full(base.shape, -1)
            chosen.flat[np.ravel(places)] = np.arange(places.size)
            self.write(base, put_into(f, old, made, Selection(chosen, np.shape(value_of(made)))), first, "CopySlices")
        view.shown = base.node  # type: ignore[attr-defined]  # a result from now on, which is read anew

    def refuse_overlap(
        self, target: Tensor, operands: Sequence[Any], key: Any = ..., copied: bool = False, expanded: bool = False
    ) -> None:
        """Raise what PyTorch raises for a write to entries of a tensor that reads a part of them.

        ``copied`` says that an operand is written as it is, and ``expanded`` that it gets the shape before.
        """
        for x in operands if target.library == "torch" else ():
            if isinstance(x, Tensor) and x is not target and x.root is target.root:
                how = overlap(places_in(target)[as_view(key)], places_in(x), copied, expanded)
                if how == "refused":
                    self.fail_as("part of it read")
                if how:
                    self.note("overlapping-write", IN_TURN.format(f" of line {self.line}"))

    # ---- what happens
    def print(self, text: str) -> None:
        """Print a text, and note that it was printed; ``redirect_stdout`` has it written elsewhere."""
        if self.emit_to is not None:
            self.call(self.attribute(self.emit_to, "write"), [text])
            return
        self.written += len(text)
        if self.written > self.meter.budget.printed:
            raise over_budget("printed", self.meter.budget.printed, "the script prints too much")
        settle(self)
        self.log.add(Event("print", self.line, text=text))
        if self.emit is not None:
            self.emit(text)

    def event(self, event: Event) -> None:
        """Note what happened, unless a library's own code did it."""
        if not self.quiet:
            settle(self)
            self.log.add(event)

    def caught(self, error: Any) -> None:
        """Note that the script catches an exception of its own."""
        error.said = self.text(error.instance)
        self.event(Event("error", error.line or self.line, type=error.name, text=error.text, caught=True))

    def note(self, kind: str, message: str) -> None:
        """Leave a note on this run."""
        self.notes[kind, message] = None

    def fail(self, kind: str, text: str, about: int | str | None = None) -> Any:
        """Raise an exception of the script; ``about`` is what its advice names, such as the line behind it."""
        error = raised(kind, text)
        error.about = about
        raise error

    def fail_as(self, name: str, *parts: Any, about: int | str | None = None, **fields: Any) -> Any:
        """Raise what a library raises, by the name of its words."""
        self.fail(*said(name, *parts, **fields), about)

    def fail_with(self, words: tuple[str, str] | None) -> None:
        """Raise what a library says, where it says anything."""
        if words is not None:
            self.fail(*words)

    def refuse(self, what: str, hint: str | None = None, span: Span | None = None) -> GradcliError:
        """Return the error for what gradcli does not do."""
        return GradcliError("not-allowed", what, hint=hint, span=span)

    def require(self, *values: Any) -> None:
        """Refuse what a library gives that gradcli has not, where its numbers are needed; what only shows may stand."""
        for value in values:
            if isinstance(value, Foreign) and value.name.partition(".")[0] in self.unknown:
                raise value.needed()

    def bound(self, length: float, what: str) -> None:
        """Refuse a list or a text that is too long, or too much beside all others; a long one is gone through."""
        if length > self.meter.budget.items:
            raise over_budget("items", self.meter.budget.items, what)
        if length > LONG:
            self.meter.watch(int(length) // LONG)
            self.meter.spend(int(length))

    # ---- derivative calls
    def swept(
        self, outputs: list[Tensor], seeds: list[Any], targets: Any, retain: bool, create: bool, inputs: Any = None
    ) -> Any:
        """Return what a sweep gives: newly walked, or as another run recorded it; one inside of another is its own."""
        create, number = create or self.held.through, self.sweeps
        self.sweeps += not self.inside
        if self.replay is not None and not self.inside:
            return self.replay.sweep(self, number, outputs, seeds, targets, retain, create, inputs)
        try:
            return self.sweep([y.node for y in outputs], seeds, targets, retain, create)
        except Raised as error:
            if not self.inside:
                self.log.failed[number] = error.name, error.text
            raise

    def zeroed(self, tensor: Tensor) -> None:
        """Note that a gradient is set to zero."""
        owner = next((leaf for leaf in list(self.by_leaf.values()) if leaf.grad is tensor.root), None)
        if owner is not None:
            note(self, "zero", owner)

    # ---- calls
    def deepen(self) -> None:
        """Begin a call within others, which ends with one less of ``depth``; raises RecursionError as Python does."""
        self.calls += 1
        if not self.calls % TURNS:
            self.meter.turn(TURNS, "the calls do not end")
        self.depth += 1
        if self.depth > DEEPEST:
            self.depth -= 1
            self.fail("RecursionError", DEEP)

    @contextlib.contextmanager
    def deeper(self) -> Iterator[None]:
        """Enter a call within others."""
        self.deepen()
        try:
            yield
        finally:
            self.depth -= 1

    def over(self, made: Any, parts: Sequence[Any]) -> Any:
        """Return what walks over others, noted where one of these is a walk too; raises RecursionError for too many."""
        if any(hasattr(type(part), "__next__") for part in parts):
            self.walks.add(made)
            if len(self.walks) > WALKS:
                self.fail("RecursionError", DEEP)
        return made

    def builtin(self, name: str) -> Any:
        """Return one of Python's builtins."""
        return self.builtins[name]

    def function(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call a function of gradcli's table by a name that a script would call it by."""
        return self.call_table(self.table_function(name), list(arguments), named)


def span_of(place: Place, line: int) -> Span | None:
    """Return the characters of a line, without blanks around them; None where it has none."""
    lines = place.text.split("\n")
    row = lines[line - 1] if 0 < line <= len(lines) else ""
    first = sum(len(text) + 1 for text in lines[: line - 1]) + len(row) - len(row.lstrip())
    return (first, first + len(row.strip())) if row.strip() else None


def constant(run: Run, node: Any) -> Any:
    """Return a node as a constant: nothing flows through, but in what is recorded as a forward pass."""
    if type(node) not in NODES or run.held.through:
        return node
    return np.asarray(node.value) if run.held.live else run.graph(DETACH, node)


def memory_key(value: Any) -> Any:
    """Return what tells apart the memory that a value shows."""
    root = memory_root(value)
    return root.index if type(root) in NODES else id(root)


def memory_root(value: Any) -> Any:
    """Return the node, or the array, whose memory a value shows."""
    while looks_on(value) and shares(value.value, value_of(value.arguments[0])):
        value = value.arguments[0]
    return value if type(value) in NODES else owner_of(value)


def shares(shown: Any, whole: Any) -> bool:
    """Return whether what a view shows is the memory that it was made of: a reshape may have copied it."""
    arrays = isinstance(shown, np.ndarray) and isinstance(whole, np.ndarray)
    return not arrays or not shown.size or bool(np.may_share_memory(shown, whole))


def lay_out(made: Any) -> Any:
    """Return results of a function with the numbers of each one row by row in memory, but for views."""
    for one in made if isinstance(made, tuple) else (made,):
        if type(one) is Tensor and isinstance(one.value, np.ndarray) and not one.value.flags.c_contiguous:
            numbers = np.ascontiguousarray(one.value)
            if type(one.node) in NODES:
                one.node.value = numbers
            else:
                one.node = numbers
    return made


def show(base: Tensor, look: Any, made: Any, dtype: str, made_by: Any = None) -> View:
    """Return a view of a tensor, or of what that is a view of; of one of several views it is one of these too."""
    outer = base.look
    if outer is None or base.leaf or isinstance(base, Detached):
        return View(base, look, made, dtype, made_by)
    view = View(base.base, lambda node: look(outer(node)), made, dtype, made_by)
    view.library = base.library
    view.part = min(base.part, 0)  # type: ignore[attr-defined]
    return view


def places_in(x: Tensor) -> Any:
    """Return the places in the memory of its root that a tensor shows."""
    return entry_numbers(x.shape) if x.base is None else np.asarray(x.look(places_in(x.base)))  # type: ignore[misc]


def look_at(f: Any, node: Any, places: Any) -> Any:
    """Return the entries of a node at flat places."""
    if type(node) in NODES:
        flat = f(RESHAPE, node, shape=(int(np.prod(node.shape)),))
        return f(INDEX, flat, key=places)
    return np.asarray(node).reshape(-1)[places]
