"""What moves entries."""

import numpy as np

from records import constants as c
from records import mathematics as m
from records.record import record

record(
    "reshape",
    of_arrays=lambda x, shape: m.built(
        shape, lambda place: list(x.flat)[int(np.ravel_multi_index(place, shape)) if shape else 0]
    ),
    cases=[([(2, 3)], {"shape": (3, 2)}), ([(1,)], {"shape": ()})],
)

record(
    "permute",
    of_arrays=lambda x, dims: m.built(
        tuple(x.shape[d] for d in dims), lambda place: x[tuple(place[dims.index(axis)] for axis in range(x.ndim))]
    ),
    cases=[([(2, 3)], {"dims": (1, 0)}), ([(2, 1, 3)], {"dims": (2, 0, 1)})],
)

record(
    "expand",
    of_arrays=lambda x, shape: m.built(shape, lambda place: m.at(x, place)),
    cases=[([(3,)], {"shape": (2, 3)}), ([(2, 1)], {"shape": (2, 3)}), ([()], {"shape": (2,)})],
)

record(
    "flip",
    of_arrays=lambda x, dims: m.built(
        x.shape,
        lambda place: x[
            tuple((n - 1 - i if axis in dims else i for axis, (i, n) in enumerate(zip(place, x.shape, strict=True))))
        ],
    ),
    cases=[([(3,)], {"dims": (0,)}), ([(2, 3)], {"dims": (0, 1)})],
)

record(
    "roll",
    of_arrays=m.rolled,
    cases=[([(4,)], {"shifts": (1,), "dims": (0,)}), ([(2, 3)], {"shifts": (1, -2), "dims": (0, 1)})],
)

record(
    "tile",
    of_arrays=m.tiled,
    cases=[([(2,)], {"reps": (3,)}), ([(1, 2)], {"reps": (2, 2)}), ([(2,)], {"reps": (2, 1)})],
)

record(
    "repeat_interleave",
    of_arrays=m.repeated,
    cases=[([(3,)], {"repeats": 2, "dim": 0}), ([(2, 2)], {"repeats": 3, "dim": 1})],
)

record(
    "diag",
    of_arrays=m.diagonal,
    cases=[([(3,)], {"k": 0}), ([(2,)], {"k": -1}), ([(3, 3)], {"k": 1}), ([(2, 3)], {"k": 0})],
)

record(
    "diagonal",
    of_arrays=lambda x, offset: m.diagonal(x, k=offset),
    cases=[([(3, 3)], {"offset": 0}), ([(2, 3)], {"offset": 1}), ([(3, 2)], {"offset": -1})],
)

record("tril", of_arrays=m.triangle(lower=True), cases=[([(3, 3)], {"k": 0}), ([(2, 3)], {"k": 1})])

record("triu", of_arrays=m.triangle(lower=False), cases=[([(3, 3)], {"k": 0}), ([(2, 2, 2)], {"k": -1})])

record("clone", of_arrays=lambda x: x, cases=[([()], {}), ([(2, 3)], {})])

record(
    "index",
    of_arrays=lambda x, key: np.array(x[key], dtype=object),
    cases=[
        ([(4,)], {"key": 2}),
        ([(4,)], {"key": np.array([1, 1, -1])}),
        ([(2, 3)], {"key": (slice(None, None, -1), 1)}),
        ([(3,)], {"key": c.MASK}),
        ([(2, 3)], {"key": (Ellipsis, None, slice(1, 3))}),
    ],
)

record(
    "put",
    of_arrays=m.put,
    cases=[([(4,), ()], {"key": 1}), ([(3, 2), (2,)], {"key": (slice(0, 2),)}), ([(3,), (2,)], {"key": c.MASK})],
)

record(
    "stack",
    of_arrays=m.stacked,
    cases=[([(2,), (2,), (2,)], {"dim": 0}), ([(2, 2), (2, 2)], {"dim": 2}), ([(), ()], {"dim": 0})],
)

record(
    "cat",
    of_arrays=lambda *arrays, dim: m.joined(arrays, dim),
    cases=[([(2,), (1,), (3,)], {"dim": 0}), ([(2, 1), (2, 3)], {"dim": 1})],
)
