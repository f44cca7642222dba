"""What imports make of names: the library and the function that each stands for, and how the language writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradcli.errors import GradcliError
from gradcli.errors.counting import listed
from gradcli.errors.suggest import INSTEAD_OF_WORD
from gradcli.language.names import CONSTANTS, TYPES, dotted
from gradcli.ops import spellings

LIBRARIES = ("torch", "numpy", "jax", "math", "scipy", "autograd")
USUAL = {
    "torch": "torch",
    "np": "numpy",
    "numpy": "numpy",
    "jnp": "jax.numpy",
    "jax": "jax",
    "math": "math",
    "scipy": "scipy",
    "nn": "torch.nn",
    "F": "torch.nn.functional",
}
"""What these names stand for without an import."""
SAME_AS = (("autograd.numpy", "numpy"), ("autograd.scipy", "scipy"), ("autograd.", "jax."))
"""Names of the package autograd, and those that mean the same."""
SHORTER = (
    ("torch.nn.functional.", "F."),
    ("torch.nn.", "nn."),
    ("torch.", "torch."),
    ("numpy.", "np."),
    ("jax.numpy.", "jnp."),
    ("jax.numpy.", "np."),
    ("torch.", ""),
)
"""How the language writes the names of a library, the first that it knows."""


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import makes and the dotted name that it stands for; raises ``not-allowed``."""
    for item in node.names:
        module = item.name if isinstance(node, ast.Import) else f"{node.module}.{item.name}"
        if module.partition(".")[0] not in LIBRARIES or item.name == "*":
            known = listed(LIBRARIES, len(LIBRARIES))
            raise GradcliError(
                "not-allowed",
                f"'import' is not part of the language but for {known}",
                hint=f"leave it out; {INSTEAD_OF_WORD['import']}",
            )
        if isinstance(node, ast.Import) and item.asname is None:
            module = module.partition(".")[0]
        yield item.asname or module.rpartition(".")[2], usual_name(module)


def usual_name(full: str) -> str:
    """Return the full name of what the package autograd has too, any other as it is."""
    return next((usual + full.removeprefix(own) for own, usual in SAME_AS if full.startswith(own)), full)


class Names:
    """The names of libraries and of their functions in a snippet.

    ``of_python`` says that all others are Python's own, even where nothing is imported.
    """

    def __init__(self) -> None:
        self.meanings: dict[str, str] = {}
        self.of_python = False

    @property
    def of_any(self) -> bool:
        """Whether names without a library are Python's own."""
        return bool(self.meanings) or self.of_python

    def add(self, node: ast.Import | ast.ImportFrom) -> None:
        """Take the names of an import; raises ``not-allowed``."""
        self.meanings |= dict(imported(node))

    def full(self, node: ast.expr) -> str | None:
        """Return the full name of what a dotted name stands for; None where it begins with no library's."""
        name = dotted(node)
        if name is None:
            return None
        root, dot, rest = name.partition(".")
        meaning = self.meanings.get(root) or (USUAL.get(root) if dot else None)
        return None if meaning is None else usual_name(meaning + dot + rest)

    def written(self, node: ast.expr) -> str | None:
        """Return how the language writes a library's name, None where it reads the name as it stands."""
        full, name = self.full(node), dotted(node)
        if full is None or name is None:
            return None
        root = name.partition(".")[0]
        means = self.meanings.get(root)
        usual = means is None or means == USUAL.get(root)
        bare = root == name and means == f"torch.{name}"
        if (usual or bare) and known(name):
            return None
        ways = [short + full.removeprefix(long) for long, short in SHORTER if full.startswith(long)]
        return next((way for way in [*ways, full] if known(way)), full if full != name else None)


def known(name: str) -> bool:
    """Return whether the language has a function, a constant or a type of this name."""
    return name in CONSTANTS or name in TYPES or name in spellings()
