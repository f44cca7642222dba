"""The backward pass as plain records: a rule for each named value, and the paths over single numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gradcli.ops.declare import Array
from gradcli.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the backward pass: the cotangent of a named value, vᵀ·∂y/∂name, and the rule that made it.

    - ``name``: the value's, as in ``Forward``.
    - ``text``: the rule in the language, in which ``h.grad`` is the cotangent of h; None where it has no text.
    - ``value``: what reverse mode has there, in the value's shape.
    - ``uses``: how many uses of the value handed on a part of it.
    - ``is_input``: whether the value is an input.
    - ``base``: the program's own name for it, of which ``name`` may be one of several: y of y1, y2 …
    - ``made``: the formula of a value that the program does not name; None for others.
    - ``on_every_path``: whether every path from the inputs to y runs through the value.

    >>> [(rule.name, rule.text) for rule in gradcli.explain("h = x**2; sin(h)*h", x=1.0).rules]
    [('y', 'v'), ('h', 'sin(h) + h*cos(h)'), ('x', 'h.grad*2*x')]
    """

    name: str
    text: str | None
    value: Array
    uses: int = 1
    is_input: bool = False
    base: str = ""
    made: str | None = None
    on_every_path: bool = False


@dataclass(frozen=True, slots=True)
class BackwardPass:
    """The ``rules`` of the backward pass, and the long arrays that they use and the program does not name.

    Of a long program ``left_out`` rules are missing, those before number ``gap``. ``shapes`` has the shape of what
    stands in a rule, by its name there, ``names`` what rules call each node, by its index.
    """

    rules: list[Rule]
    constants: dict[str, Array]
    left_out: int = 0
    gap: int = 0
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)

    def input_rule(self, name: str) -> Rule | None:
        """Return the rule of an input."""
        return next((rule for rule in self.rules if rule.is_input and rule.name == name), None)

    def entry(self, name: str) -> str | None:
        """Return the rule of entry [i,j,…] of an input, where that is a plain function of entries; None elsewhere."""
        from gradcli.explanation.by_index import entry_of

        rule = self.input_rule(name)
        return None if rule is None or rule.text is None else entry_of(rule.text, rule.value.shape, self.shapes)


@dataclass(frozen=True, slots=True)
class Path:
    """One way from an input to the output, over values that are single numbers.

    - ``names``: those of the values on the way, the input first.
    - ``factors``: the derivative of each value by the one before it, with all others fixed.

    >>> [(path.names, path.product) for path in gradcli.explain("h = 3*x; h*h + x", x=1.0).paths["x"]]
    [(('x', 'h', 'y'), 18.0), (('x', 'y'), 1.0)]
    """

    names: tuple[str, ...]
    factors: tuple[float, ...]

    @property
    def product(self) -> float:
        """What the path adds to the derivative."""
        return math.prod(self.factors)
