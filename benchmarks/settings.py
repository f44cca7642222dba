"""What a run of the benchmarks is told, and which peers are there."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Settings:
    """How often and how long to measure."""

    rounds: int = 11
    quick: bool = False
    records: int = 1_000_000

    @property
    def limit(self) -> float:
        """Seconds after which a peer has no answer."""
        return 10.0 if self.quick else 60.0

    @property
    def many(self) -> int:
        """Records over which memory must be flat."""
        return min(self.records, 20_000) if self.quick else self.records

    @property
    def few(self) -> int:
        """Rounds for what takes seconds a run."""
        return min(self.rounds, 5)


def installed(name: str) -> bool:
    """Return whether a peer can be imported, without importing it; numpy and sympy come with gradcli."""
    return name in ("numpy", "sympy") or find_spec(name) is not None


def tell(text: str) -> None:
    """Say on standard error what is being done; a terminal shows each in the same line."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
