"""What walks over the entries of NumPy's arrays, with their places."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradcli.runner.libraries.numpy_arrays import array
from gradcli.runner.library import native
from gradcli.runner.python.containers import subscript
from gradcli.runner.state import Run, look_at, show
from gradcli.runner.values import Context, Tensor


@native("numpy.ndenumerate")
def ndenumerate(run: Run, x: Tensor) -> Any:
    """Yield the places of an array with their entries."""
    for place in np.ndindex(x.shape):
        yield place, subscript(run, x, place)


@native("numpy.ndindex")
def ndindex(run: Run, *shape: Any) -> Any:
    """Yield the places of a shape."""
    parts = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    for place in np.ndindex(tuple(parts)):
        run.meter.turn()
        yield place


class Walk(Context):
    """``np.nditer`` of one array: at one entry after the other, each of which shows the array's memory.

    ``places`` are those of the entries in the order of the walk, ``at`` says how many it has left behind.
    """

    def __init__(self, run: Run, x: Tensor, flags: Any, order: str) -> None:
        super().__init__(self)
        self.run, self.x, self.flags = run, x, flags
        self.places = list(np.ndindex(x.shape))
        if order == "F":
            self.places.sort(key=lambda place: place[::-1])
        self.at = 0
        self.begun = False

    def entry(self) -> Tensor:
        """Return the entry where the walk is, as an array without axes."""
        run, place = self.run, np.ravel_multi_index(self.place(), self.x.shape) if self.x.shape else 0
        run.meter.turn()
        return show(self.x, lambda node: look_at(run.f, node, place), look_at(run.f, self.x.node, place), self.x.dtype)

    def place(self) -> Any:
        """Return the place of the entry where the walk is; raises ValueError past its end."""
        if self.at >= len(self.places):
            self.run.fail("ValueError", "Iterator is past the end")
        return self.places[self.at]

    def index(self, run: Run) -> int:
        """Return the number of the entry where the walk is."""
        if "f_index" in self.flags:
            return int(np.ravel_multi_index(self.place()[::-1], self.x.shape[::-1]))
        if "c_index" not in self.flags:
            run.fail("ValueError", "Iterator does not have an index")
        return int(np.ravel_multi_index(self.place(), self.x.shape))

    def multi_index(self, run: Run) -> Any:
        """Return the place of the entry where the walk is."""
        if "multi_index" not in self.flags:
            run.fail("ValueError", "Iterator is not tracking a multi-index")
        return self.place()

    def forward(self, run: Run) -> bool:
        """Go on to the next entry, and return whether there is one."""
        run.meter.turn()
        self.at = min(self.at + 1, len(self.places))
        return self.at < len(self.places)

    def __next__(self) -> Any:
        """Return the next entry, as a ``for`` asks for it: the walk stays at the one that it gave."""
        if self.begun:
            self.forward(self.run)
        self.begun = True
        if self.at >= len(self.places):
            raise StopIteration
        return self.entry()

    def __iter__(self) -> Walk:
        """Return itself."""
        return self

    def subscript(self, run: Run, key: Any) -> Any:
        """Return the entry of an array of the walk, of which there is one."""
        if key != 0:
            run.fail("IndexError", f"Iterator operand index {key} is out of bounds")
        return self.entry()

    attributes: ClassVar[dict[str, Any]] = {
        "finished": lambda run, me: me.at >= len(me.places),
        "multi_index": lambda run, me: me.multi_index(run),
        "index": lambda run, me: me.index(run),
        "iterindex": lambda run, me: me.at,
        "itersize": lambda run, me: len(me.places),
        "value": lambda run, me: me.entry(),
        "iternext": lambda run, me: me.forward,
        "reset": lambda run, me: lambda run: setattr(me, "at", 0),
        "close": lambda run, me: lambda run: None,
        "operands": lambda run, me: (me.x,),
        "shape": lambda run, me: me.x.shape,
        "ndim": lambda run, me: len(me.x.shape),
    }


@native("numpy.nditer")
def nditer(run: Run, op: Any, flags: Any = (), op_flags: Any = None, *, order: str = "K", **_: Any) -> Any:
    """Return a walk over the entries of an array."""
    if isinstance(op, list | tuple) and any(isinstance(part, Tensor) and part.shape for part in op):
        raise run.refuse("np.nditer of several arrays is not part of gradcli")
    x = op if isinstance(op, Tensor) else array(run, op)
    if "external_loop" in flags:
        raise run.refuse("np.nditer with external_loop is not part of gradcli")
    laid_out = np.asarray(x.value).flags
    if order == "K" and laid_out.f_contiguous and not laid_out.c_contiguous:
        order = "F"
    return Walk(run, x, flags, order)
