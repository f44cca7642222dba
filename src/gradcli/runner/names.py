"""Whose a name is: which variables a function, a class or a module assigns, and which it reads from round it.

What a name stands for that no variable has: builtins, modules that are imported, and members of these.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from gradcli.errors import GradcliError, Span
from gradcli.errors.hints import did_you_mean, instead_of
from gradcli.language.calls import find_constant, lacks
from gradcli.records import dataclass, field
from gradcli.runner.exceptions import raised
from gradcli.runner.library import (
    EFFECTS,
    HOMES,
    METHODS,
    READING,
    SAME,
    SHOWING_ONLY,
    TABLE,
    effect_error,
    load,
    look_up,
)
from gradcli.runner.python.calls import call_method, find_table
from gradcli.runner.state import Run
from gradcli.runner.values import TORCHS, UNBOUND, Class, DType, Foreign, Module, Tensor, kind_of

FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)


@dataclass(slots=True)
class Names:
    """What one scope does with names: ``free`` are those that it or a scope in it reads from round it.

    ``outward`` are those that ``:=`` of a comprehension assigns in the scope round it.
    """

    assigned: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    outward: set[str] = field(default_factory=set)


def parameters_of(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    parts = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in (*parts, arguments.vararg, arguments.kwarg) if a is not None]


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that belong to a scope itself, and the scopes in it; what is evaluated round it is left out."""
    waiting = list(body_of(node))
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, SCOPES):
            waiting.extend(around(part))
        else:
            waiting.extend(ast.iter_child_nodes(part))


def body_of(node: ast.AST) -> list[ast.AST]:
    """Return what is evaluated in a scope."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, COMPREHENSIONS):
        first, *rest = node.generators
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [first.target, *first.ifs, *rest, *values]
    return list(node.body)  # type: ignore[attr-defined]


def around(node: ast.AST) -> list[ast.AST]:
    """Return what of a scope is evaluated in the one round it: defaults, decorators, bases, the first iterable."""
    if isinstance(node, COMPREHENSIONS):
        return [node.generators[0].iter]
    parts: list[ast.AST] = []
    if isinstance(node, FUNCTIONS):
        parts += [*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *[k.value for k in node.keywords]]
    return [*parts, *getattr(node, "decorator_list", [])]


def names_of(node: ast.AST) -> Names:
    """Return what a scope does with names; a node keeps it, as each scope is asked for by those round it too."""
    names: Names | None = getattr(node, "names_of_scope", None)
    if names is not None:
        return names
    names = Names()
    node.names_of_scope = names  # type: ignore[attr-defined]
    if isinstance(node, FUNCTIONS):
        names.assigned |= set(parameters_of(node.args))
    inner: list[Names] = []
    outward: set[str] = set()
    for part in inside(node):
        note(names, part)
        if isinstance(part, SCOPES):
            inner.append(names_of(part))
            outward |= inner[-1].outward
        if isinstance(part, ast.NamedExpr) and isinstance(node, COMPREHENSIONS):
            outward.add(part.target.id)
    if isinstance(node, COMPREHENSIONS):
        names.outward, names.read = outward, names.read | outward
        names.assigned -= outward
    else:
        names.assigned |= outward
    names.assigned -= names.globals | names.nonlocals
    own = set() if isinstance(node, ast.ClassDef) else names.assigned
    for one in inner:
        names.shared |= one.free & own
        names.free |= one.free - own
    names.free |= (names.read | names.nonlocals) - names.assigned - names.globals
    return names


def note(names: Names, part: ast.AST) -> None:
    """Note what one node does with names."""
    match part:
        case ast.Name(id=name, ctx=ast.Load()):
            names.read.add(name)
        case ast.Name(id=name):
            names.assigned.add(name)
            if isinstance(part.ctx, ast.Del):
                names.read.add(name)
        case ast.Import() | ast.ImportFrom():
            names.assigned |= {(item.asname or item.name.partition(".")[0]) for item in part.names}
        case ast.Global():
            names.globals |= set(part.names)
        case ast.Nonlocal():
            names.nonlocals |= set(part.names)
        case (
            ast.FunctionDef(name=str(name)) | ast.ClassDef(name=str(name)) | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name))
        ):  # fmt: skip
            names.assigned.add(name)


NAMED: dict[type, str] = {ast.Name: "id", ast.Attribute: "attr", ast.FunctionDef: "name", ast.arg: "arg"}
"""Nodes whose name may be private to a class, with the field that has it."""


def make_private(node: ast.AST, kind: str = "") -> None:
    """Give names within a class that begin with two underscores the name of their class, as Python does."""
    for part in ast.iter_child_nodes(node):
        field = NAMED.get(type(part))
        name = getattr(part, field) if field else ""
        if field and kind and name.startswith("__") and not name.endswith("__"):
            setattr(part, field, f"_{kind.lstrip('_')}{name}")
        make_private(part, part.name if isinstance(part, ast.ClassDef) else kind)


def yields(node: ast.AST) -> bool:
    """Return whether a node has a ``yield`` of its own scope."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if part is node or not isinstance(part, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(part))
    return False


class Yields(ast.NodeTransformer):
    """Takes the yields out of an expression: each is a statement of its own before it, that names what it is sent."""

    def __init__(self, names: set[str], steps: list[ast.stmt]) -> None:
        self.names, self.steps = names, steps

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> ast.expr:
        """Name what is sent."""
        self.generic_visit(node)
        name = f"sent {len(self.names)}"
        self.names.add(name)
        self.steps.append(ast.Assign([ast.Name(name, ast.Store())], node))
        return ast.Name(name, ast.Load())

    visit_YieldFrom = visit_Yield  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Leave the scopes in it."""
        return node


# ---- what a name stands for that no variable has

ROOTS = (*HOMES, "scipy")
SHOWING = (
    "matplotlib", "tqdm", "seaborn", "plotly", "IPython", "pylab", "torchviz", "tensorboard", "rich", "termcolor",
    "plt", "sns", "torchvision", "sklearn", "pandas", "wandb", "torchsummary", "torchinfo", "os", "pathlib", "graphviz",
    "networkx", "torch.utils.tensorboard", "sympy", "scipy", "PIL", "cv2", "psutil", "pickle", "platform",
)  # fmt: skip
"""Modules of which scripts use what only shows: what would have an effect is refused where it is called."""
COMPUTING = {"torchvision", "sklearn", "pandas", "sympy", "scipy", "PIL", "cv2"}
"""Those of them that compute or hold data: what they give is refused where its numbers are needed."""
MODULES = (
    *HOMES,
    "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.parameter", "torch.nn.modules",
    "torch.optim", "torch.optim.lr_scheduler", "torch.autograd", "torch.autograd.functional",
    "torch.autograd.function", "torch.autograd.forward_ad", "torch.autograd.graph", "torch.autograd.grad_mode",
    "torch.func", "torch.utils", "torch.utils.checkpoint", "torch.utils.hooks", "torch.autograd.gradcheck",
    "torch.utils.data", "torch.utils.data.sampler", "torch.utils.data.dataset", "torch.utils.data.dataloader",
    "torch.accelerator", "torch.distributions", "torch.linalg", "torch.special", "torch.cuda", "torch.amp",
    "torch.cuda.amp", "torch.backends", "torch.backends.cudnn", "torch.random", "torch.testing", "torch.fft",
    "torch.version", "torch.jit", "torch.types", "torch.backends.mps", "torch.mps", "numpy.random", "numpy.linalg",
    "numpy.testing", "numpy.typing", "jax.numpy", "jax.numpy.linalg", "jax.nn", "jax.random", "jax.lax", "jax.ops",
    "jax.scipy", "jax.scipy.special", "jax.tree_util", "jax.errors", "jax.tree", "jax.flatten_util", "jax.typing",
    "jax.core", "jax.debug", "jax.scipy.linalg", "jax.scipy.stats", "jax.test_util", "jax.nn.initializers",
    "autograd.numpy", "autograd.numpy.random", "autograd.numpy.linalg", "autograd.scipy", "autograd.extend",
    "autograd.core", "autograd.misc", "autograd.misc.optimizers", "autograd.test_util",
    "autograd.differential_operators", "autograd.scipy.special", "autograd.scipy.stats", "collections.abc", "scipy",
    "scipy.special", "scipy.linalg", "autograd.scipy.stats.norm", "autograd.scipy.stats.multivariate_normal", "sklearn",
    "sklearn.datasets", "sklearn.model_selection", "sklearn.preprocessing",
)  # fmt: skip
"""Modules that scripts import, by their full names."""


def member(run: Run, name: str) -> Any:
    """Return what a full dotted name stands for; UNBOUND where gradcli has nothing of it."""
    value = run.resolved.get(name)
    if value is None:
        value = resolve(run, name)
        if value is not UNBOUND:
            run.resolved[name] = value
    return value


def resolve(run: Run, name: str) -> Any:
    """Return what a full dotted name stands for, newly looked up."""
    value = look_up(name)
    if value is not UNBOUND:
        return value
    from gradcli.runner.library import find_prelude

    value = find_prelude(run, name)
    if value is not UNBOUND:
        return value
    if name in MODULES:
        return Module(name)
    if name.startswith(("autograd.numpy.", "autograd.scipy.")):
        return member(run, name.removeprefix("autograd."))
    constant = find_constant(name.replace("numpy.", "np.", 1).replace("jax.np.", "jnp.").replace("autograd.np.", "np."))
    if isinstance(constant, str):
        library = "torch" if name.startswith("torch") else "jax" if name.startswith("jax") else "numpy"
        aliases = TORCHS | {"single": "float32", "int_": "int64", "intp": "int64", "bool_": "bool"}
        return DType(aliases.get(constant, constant), library)
    if constant is not None:
        return constant
    table = find_table(name)
    if table is not None or not (name.startswith("torch.") and name.endswith("_")):
        return UNBOUND if table is None else table
    last = name.rpartition(".")[2]
    if find_table(name.removesuffix("_")) is None and last not in METHODS:
        return UNBOUND  # else it writes to its first argument, as the method does: ``torch.relu_``
    return lambda run, x, *arguments, **named: call_method(run, x, last, list(arguments), named)


def member_of(run: Run, module: Module, name: str) -> Any:
    """Return a member of a module; raises AttributeError as Python does, or refuses what gradcli does not have."""
    full = f"{module.name}.{name}"
    value = member(run, full)
    if value is UNBOUND and full.startswith("sklearn."):
        note_foreign(run, "sklearn")
        return Foreign(full)
    if value is UNBOUND:
        error = unknown_member(full)
        if lacks(module.name, name):
            raise raised("AttributeError", f"module '{module.name}' has no attribute '{name}'", cause=error)
        raise error
    return value


def unknown_member(full: str) -> GradcliError:
    """Return the error for a name of a library that gradcli does not have."""
    if full in EFFECTS or full in READING:
        return effect_error(full)
    module, _, last = full.rpartition(".")
    names = [n.rpartition(".")[2] for n in TABLE if n.startswith(f"{module}.")]
    from gradcli.ops import spellings
    from gradcli.runner.library import prelude_index

    names += [n.rpartition(".")[2] for n in prelude_index() if n.rpartition(".")[0] == module]
    short = module.replace("numpy", "np").replace("torch.nn.functional", "F")
    names += [n.rpartition(".")[2] for n in spellings() if n.rpartition(".")[0] == short]
    written = instead_of("written", last)
    hint = f"write {written}" if written else did_you_mean(last, names)
    return GradcliError("unknown-name", f"'{full}' is not part of gradcli", hint=hint)


def global_name(run: Run, name: str, span: Span | None, assigned: bool = False) -> Any:
    """Return what a name stands for that has no value: a builtin, or a library's name without import.

    One that the script assigns elsewhere is no library's.

    Raises NameError.
    """
    from gradcli.runner.python.builtins import BUILTINS

    if name in run.given:
        return given_value(run, name, span)
    if name in BUILTINS:
        return BUILTINS[name]
    if name in EFFECTS:
        raise effect_error(name, span)
    for module in reversed(run.stars):
        value = member(run, f"{module}.{name}")
        if value is not UNBOUND:
            return value
    value = UNBOUND if assigned else library_name(run, name)
    if value is UNBOUND and not assigned:
        for module in reversed(run.stars):
            if module not in MODULES:
                note_foreign(run, module.partition(".")[0])
                return Foreign(f"{module}.{name}")
    return run.fail("NameError", f"name '{name}' is not defined") if value is UNBOUND else value


MODULES_THEMSELVES = ("torch", "math", "numpy", "jax", "random", "itertools", "functools")
"""Modules that a script may name without an import."""
WITHOUT_IMPORT = ("torch", "torch.autograd", "torch.nn", "torch.nn.functional")
"""Modules whose names a script may have without saying where they are from, as a formula does."""


def library_name(run: Run, name: str) -> Any:
    """Return what a name stands for that is a library's though none is imported; UNBOUND for no such name."""
    if name in SAME:
        return Module(SAME[name])
    if name in MODULES_THEMSELVES:
        return Module(name)
    for module in WITHOUT_IMPORT:
        value = member(run, f"{module}.{name}")
        if value is not UNBOUND:
            return value
    if name in SHOWING:
        return Foreign(name)
    return find_table(name) or UNBOUND  # as a formula spells it


def is_known(name: str, called: bool) -> bool:
    """Return whether a name stands for what no script needs to assign; a function of the table is ``called``."""
    from gradcli.runner.library import prelude_index
    from gradcli.runner.python.builtins import BUILTINS

    if name in BUILTINS or name in SAME or name in SHOWING or name in EFFECTS or name in MODULES_THEMSELVES:
        return True
    full = [f"{module}.{name}" for module in WITHOUT_IMPORT]
    return (called and find_table(name) is not None) or any(
        look_up(one) is not UNBOUND or one in prelude_index() or (called and find_table(one) is not None)
        for one in full
    )


def imported(run: Run, name: str, whole: str) -> Any:
    """Return what ``import`` gives: a module, or what stands for one that only shows."""
    root = whole.partition(".")[0]
    if whole in MODULES or root in ("torch", "numpy", "jax"):
        if whole not in MODULES:
            value, (owner, _, last) = member(run, whole), whole.rpartition(".")
            if value is UNBOUND and whole not in SHOWING and (root != "torch" or lacks(owner, last)):
                run.fail("ModuleNotFoundError", f"No module named '{whole}'")
        load(root)
        return Module(name)
    note_foreign(run, root)
    return Foreign(name)


def note_foreign(run: Run, root: str) -> None:
    """Note that a script imports what gradcli does not have, and whether that is known to compute no numbers of it."""
    run.note("foreign", f"{root} is not part of gradcli: what a script calls of it to show something is left out")
    if root not in SHOWING or root in COMPUTING:
        run.unknown.add(root)


def imported_from(run: Run, module: str, name: str) -> Any:
    """Return what ``from module import name`` gives."""
    root = module.partition(".")[0]
    if module in MODULES or (root in ROOTS and root != "scipy" and module not in SHOWING):
        full = f"{module}.{name}"
        value = member(run, full)
        if value is not UNBOUND:
            return value
        if lacks(module, name):
            raise raised("ImportError", f"cannot import name '{name}' from '{module}' (unknown location)")
        if root in ("torch", "numpy", "jax", "math"):
            raise unknown_member(full)
        if root != "sklearn" and root not in SHOWING_ONLY:  # importing it alone changes no number

            def refuse(_run: Run, *_: Any, **__: Any) -> Any:
                raise unknown_member(full)

            return Class(name, [], dict.fromkeys(("__body__", "__instancecheck__"), refuse), refuse, full)
    note_foreign(run, module if module in SHOWING else root)
    return Foreign(f"{module}.{name}")


# ---- variables that a script leaves free
def given_value(run: Run, name: str, span: Span | None = None) -> Any:
    """Return the value of a variable that the script leaves free, the same object each time it is read."""
    value = run.given[name]
    if isinstance(value, GradcliError):  # why a function has nothing of that name
        raise GradcliError(value.kind, value.message, span=span, hint=value.hint)
    if isinstance(value, np.ndarray | np.generic):
        value = run.given[name] = free_value(run, name, value)
    return value


def free_value(run: Run, name: str, value: Any) -> Any:
    """Return a variable that the script leaves free: an array of the library that it uses, or a number of Python's.

    Integers are constants. Floats are a leaf in PyTorch, and in any library where the script runs again. A number that
    the script asks for nothing (``x.grad``, ``x.sum()``) is one of Python's, if no gradient is by it.
    """
    text, whole, again = run.place.text, kind_of(value) == "i", run.replay is not None
    value = np.asarray(run.replay.leaf(run.ordinal, value) if again else value)
    library = library_of_text(text)
    asked = re.search(
        rf"(?<![\w.]){re.escape(name)}\s*\.\s*[A-Za-z_]|\([^()\n]*\b{re.escape(name)}\b[^()\n]*\)\.backward", text
    )
    leafless = ".backward(" in text and not MAKES_LEAVES.search(text)
    if not value.shape and not asked and (whole or library != "torch" or not (again or leafless)):
        library = "python"
    load(library)  # its methods, which a script may call without an import
    if not again and (whole or library != "torch"):
        return value.item() if library == "python" else run.make(value, library=library)
    if whole:
        return run.enter_integers(name, value, library)
    dtype = "float32" if library in ("torch", "jax") else "float64"
    return run.enter_leaf(Tensor(value, dtype, library) if again else run.make(value.astype(np.float64)))


WORDS_OF = {
    "torch": re.compile(r"\btorch\b|\.backward\(|requires_grad|(?<!jax)(?<!autograd)\.grad\b"),
    "jax": re.compile(r"\bj(?:np|ax)\b"), "numpy": re.compile(r"\b(?:np|numpy)\b"), "math": re.compile(r"\bmath\b"),
}  # fmt: skip
"""What a script that uses a library has words of."""
MAKES_LEAVES = re.compile(r"requires_grad|\bnn\.(?!functional)|Parameter")
"""What a script says that has leaves of its own."""


def library_of_text(text: str) -> str:
    """Return whose arrays the variables are that a script leaves free, as far as its words say."""
    return library_among({root for root, pattern in WORDS_OF.items() if pattern.search(text)})


def library_among(roots: Collection[str]) -> str:
    """Return whose arrays inputs are: PyTorch's, unless another library is used alone; ``math`` has numbers."""
    order = {"torch": "torch", "jax": "jax", "numpy": "numpy", "math": "python"}
    return next((library for root, library in order.items() if root in roots), "torch")
