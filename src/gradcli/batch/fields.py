"""Which fields an answer has, and how much has to be computed for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gradcli.errors import Budget, GradcliError
from gradcli.errors.suggest import did_you_mean

BY_REVERSE_MODE = ("program", "inputs", "v", "grad")
"""Fields that reverse mode alone can answer, and ``output`` where its formulas are left out."""
BY_NUMBERS = ("vjp", "backward", "agreement")
"""Fields that need J by its numbers."""
FIELDS = (
    *("program", "inputs", "output", "forward", "v", "jacobian", "vjp", "grad"),
    *("backward", "stages", "agreement", "notes"),
)
"""The fields of an answer that can be chosen, in its order."""
WITHOUT_SYMBOLS = ("program", "inputs", "output", "v", "grad")
"""The fields that there are without the symbolic route."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What every answer of a batch has: ``only`` these fields, all where it is None.

    ``debug`` lets a fault of gradcli end the batch with its traceback.
    """

    symbolic: bool = True
    only: frozenset[str] | None = None
    strict: bool = False
    budget: Budget = field(default_factory=Budget)
    debug: bool = False

    @property
    def reverse_alone(self) -> bool:
        """Whether the symbolic route is not needed."""
        return not self.symbolic or (self.only is not None and self.only <= set(BY_REVERSE_MODE))

    @property
    def numbers_do(self) -> bool:
        """Whether J is needed by its numbers at most."""
        return self.only is not None and self.only <= {*BY_REVERSE_MODE, *BY_NUMBERS}


def fields_of(only: Iterable[str] | None, symbolic: bool) -> frozenset[str] | None:
    """Return the chosen fields, None for all; raises ``option`` for one that there is not, or not without symbols."""
    if only is None:
        return None
    chosen = frozenset(only)
    for name in sorted(chosen):
        if name not in FIELDS:
            hint = did_you_mean(name, FIELDS) or f"there is {', '.join(FIELDS)}"
            raise GradcliError("option", f"an answer has no field '{name[:40]}' to choose", hint=hint)
        if not symbolic and name not in WITHOUT_SYMBOLS:
            raise GradcliError(
                "option",
                f"{name} needs the symbolic route, which --no-symbolic leaves out",
                hint=f"without it there is {', '.join(WITHOUT_SYMBOLS)}",
            )
    if not chosen:
        raise GradcliError("option", "no field is chosen", hint=f"there is {', '.join(FIELDS)}")
    return chosen
