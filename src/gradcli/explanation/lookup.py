"""What renderers may ask of an answer that is not computed with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from gradcli.explanation.effect import Broadcast, Dust, Effect, Passes, Samples, Trial
from gradcli.explanation.parts import BackwardPass, Path
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.explanation.parts import Picture, Step, Tape
    from gradcli.formulas.index_rules import IndexRule


class Lookup(Protocol):
    """What is computed from an answer only when it is read: tables show it, and the document leaves it out."""

    @property
    def values(self) -> dict[str, Array]:
        """The numbers of the names that formulas use."""

    @property
    def effect(self) -> Effect:
        """What v did."""

    @property
    def dust(self) -> dict[str, Dust]:
        """Where numbers are what rounding has left of 0, by variable."""

    @property
    def trial(self) -> Trial | None:
        """The gradient in one entry beside a difference quotient; None where no entry can be moved."""

    @property
    def passes(self) -> Passes:
        """How many passes give all of J."""

    @property
    def broadcasts(self) -> list[Broadcast]:
        """The inputs that an operation repeats to another shape."""

    @property
    def samples(self) -> Samples | None:
        """What each sample of a mean adds to the gradient; None where the output is no mean over samples."""

    @property
    def by_choice(self) -> bool:
        """Whether values decide which entries have a path to y, so that others may have one elsewhere."""

    @property
    def has_steps(self) -> bool:
        """Whether the backward pass has more than one step, or adds up."""

    @property
    def backward_pass(self) -> BackwardPass:
        """The lines of the backward pass, without the factor that a v of 1 is."""

    @property
    def backward_by_any_v(self) -> BackwardPass:
        """The lines of the backward pass as they are for every v."""

    @property
    def tape(self) -> Tape:
        """The recorded graph with what the sweep back did."""

    @property
    def picture(self) -> Picture:
        """The graph as it is drawn, by the names of the program."""

    def picture_by_entry(self, answer: Any) -> Picture | None:
        """Return the graph entry by entry, for an answer whose program names nothing between; None for all others."""

    @property
    def steps(self) -> list[Step]:
        """How each derivative is found, rule by rule."""

    @property
    def paths(self) -> dict[str, list[Path]]:
        """The paths from each input that few lead from."""

    def link(self, above: str, below: str) -> Sparse | None:
        """Return the derivative of one named value by another, with its other arguments fixed; None where not held."""

    def true_rules(self, answer: Any, name: str) -> list[IndexRule]:
        """Return the rules of an answer's Jacobian by one variable, none of which is another number at this point."""

    def keep_digits(self, formula: str) -> str:
        """Return a formula in a form that keeps its digits in saturation; itself where there is no other."""

    def evaluate(
        self, text: str, names: Mapping[str, Any], cotangents: Mapping[str, Any] | None = None
    ) -> Array | None:
        """Return what a text of the language is worth, ``NAME.grad`` in it too; None for what is not read."""
