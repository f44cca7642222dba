"""What moves entries."""

from __future__ import annotations

import numpy as np

from records import constants as c
from records import mathematics as m
from records import values as v
from records.record import record

record(
    "reshape",
    of_arrays=lambda x, shape: m.built(
        shape, lambda place: list(x.flat)[int(np.ravel_multi_index(place, shape)) if shape else 0]
    ),
    cases=[([(2, 3)], {"shape": (3, 2)}), ([(1,)], {"shape": ()})],
    recipes=["{M}, ({n}, -1)", "{M}, (-1,)", "{T}, (2, {m}*{n})"],
    programs={
        "A.reshape(3, -1)": [[0.5, -1.0], [2.0, 1.5], [0.7, -0.4]],
        "reshape(x, (3, 1))": v.x[:, None],
        "A.view(6)": [0.5, -1.0, 2.0, 1.5, 0.7, -0.4],
    },
)

record(
    "permute",
    of_arrays=lambda x, dims: m.built(
        tuple(x.shape[d] for d in dims), lambda place: x[tuple(place[dims.index(axis)] for axis in range(x.ndim))]
    ),
    cases=[([(2, 3)], {"dims": (1, 0)}), ([(2, 1, 3)], {"dims": (2, 0, 1)})],
    recipes=["{M}, (1, 0)", "{T}, (2, 0, 1)"],
    programs={"T.permute(2, 0, 1)": [[[1.0, 3.0], [0.5, 1.5]], [[2.0, 4.5], [-1.0, 0.2]]]},
)

record(
    "expand",
    of_arrays=lambda x, shape: m.built(shape, lambda place: m.at(x, place)),
    cases=[([(3,)], {"shape": (2, 3)}), ([(2, 1)], {"shape": (2, 3)}), ([()], {"shape": (2,)})],
    recipes=["{V}, ({m}, {n})", "{S}, ({n},)", "{U}[:, None], (-1, {n})"],
    programs={
        "expand(x, 2, 3)": [v.x, v.x],
        "x[:, None].expand(-1, 2)": np.array([v.x, v.x]).T,
        "np.broadcast_to(s, (2, 2))": [[v.s, v.s], [v.s, v.s]],
    },
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
    recipes=["{V}, (0,)", "{M}, (0, 1)", "{M}, 1"],
    programs={"flip(x)": [0.8, -1.2, 0.3], "torch.flip(A, (0,))": [v.A[1], v.A[0]]},
)

record(
    "roll",
    of_arrays=m.rolled,
    cases=[([(4,)], {"shifts": (1,), "dims": (0,)}), ([(2, 3)], {"shifts": (1, -2), "dims": (0, 1)})],
    recipes=["{V}, 1", "{M}, (1, -1), (0, 1)", "{M}, 2", "{M}, -1, 1"],
    programs={"roll(x, 1)": [0.8, 0.3, -1.2], "roll(A, (1, -1), (0, 1))": [[0.7, -0.4, 1.5], [-1.0, 2.0, 0.5]]},
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
    recipes=["{V}, 2", "{M}, 2, 0", "{M}, 2"],
    programs={
        "repeat_interleave(x, 2)": [0.3, 0.3, -1.2, -1.2, 0.8, 0.8],
        "np.repeat(A, 2, axis=0)": [v.A[0], v.A[0], v.A[1], v.A[1]],
    },
)

record(
    "diag",
    of_arrays=m.diagonal,
    cases=[([(3,)], {"k": 0}), ([(2,)], {"k": -1}), ([(3, 3)], {"k": 1}), ([(2, 3)], {"k": 0})],
    recipes=["{V}", "{Q}", "{V}, 1", "{M}, -1"],
    programs={
        "diag(x)": [[0.3, 0, 0], [0, -1.2, 0], [0, 0, 0.8]],
        "diag(S)": [2.0, 1.5, 1.8],
        "diag(x, 1)": [[0, 0.3, 0, 0], [0, 0, -1.2, 0], [0, 0, 0, 0.8], [0, 0, 0, 0]],
    },
)

record(
    "diagonal",
    of_arrays=lambda x, offset: m.diagonal(x, k=offset),
    cases=[([(3, 3)], {"offset": 0}), ([(2, 3)], {"offset": 1}), ([(3, 2)], {"offset": -1})],
    recipes=["{Q}", "{M}, 1"],
    programs={"diagonal(S)": [2.0, 1.5, 1.8], "S.diagonal(-1)": [0.1, 0.2]},
)

record(
    "linalg.diagonal",
    recipes=["{Q}", "{M}, offset=1"],
    programs={"linalg.diagonal(S)": [2.0, 1.5, 1.8], "torch.linalg.diagonal(S, offset=-1)": [0.1, 0.2]},
)

record(
    "tril",
    of_arrays=m.triangle(lower=True),
    cases=[([(3, 3)], {"k": 0}), ([(2, 3)], {"k": 1})],
    recipes=["{Q}", "{M}, 1", "{T}, -1"],
    programs={
        "tril(S)": [[2.0, 0, 0], [0.1, 1.5, 0], [-0.7, 0.2, 1.8]],
        "A.tril(1)": [[0.5, -1.0, 0], [1.5, 0.7, -0.4]],
    },
)

record(
    "triu",
    of_arrays=m.triangle(lower=False),
    cases=[([(3, 3)], {"k": 0}), ([(2, 2, 2)], {"k": -1})],
    recipes=["{Q}", "{M}, diagonal=1", "{Q}, -1"],
    programs={
        "triu(S)": [[2.0, 0.3, -0.5], [0, 1.5, 0.4], [0, 0, 1.8]],
        "triu(S, -1)": [[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [0, 0.2, 1.8]],
    },
)

record(
    "clone",
    of_arrays=lambda x: x,
    cases=[([()], {}), ([(2, 3)], {})],
    recipes=["{E}"],
    programs={"clone(x)": v.x, "y = x.clone(); y[0] = s*y[1]; y": v.clone_and_put()},
)

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
    recipes=["{V}.{f}(torch.tensor([1, 0]), {V}[:2])", "{M}.{f}(torch.tensor([3, 3]), {V}[:2], accumulate=True)"],
    programs={"A.put(torch.tensor([5, 0]), b)": [[v.b[1], *v.A[0, 1:]], [*v.A[1, :2], v.b[0]]]},
)

record(
    "stack",
    of_arrays=m.stacked,
    cases=[([(2,), (2,), (2,)], {"dim": 0}), ([(2, 2), (2, 2)], {"dim": 2}), ([(), ()], {"dim": 0})],
    recipes=["[{V}, {V}]", "[{V}, {V}, {V}], dim=1", "[{S}, {S}]", "[{M}, {M}], axis=-1"],
    programs={"stack([x, p])": [v.x, v.p], "torch.stack([x, p, x], dim=1)": np.array([v.x, v.p, v.x]).T},
)

record(
    "cat",
    of_arrays=lambda *arrays, dim: m.joined(arrays, dim),
    cases=[([(2,), (1,), (3,)], {"dim": 0}), ([(2, 1), (2, 3)], {"dim": 1})],
    recipes=["[{V}, {U}]", "[{M}, {M}], 1", "[{M}, {Q}], dim=0", "[{M}, {V}[None]]"],
    programs={"cat([x, p])": [*v.x, *v.p], "np.concatenate([A, S], axis=0)": [*v.A, *v.S]},
)

record(
    "ravel",
    recipes=["{M}", "{T}"],
    programs={"ravel(A)": [*v.A[0], *v.A[1]]},
)

record(
    "flatten",
    recipes=["{M}", "{T}, 1", "{T}, 0, 1"],
    programs={"flatten(A)": [*v.A[0], *v.A[1]], "T.flatten(1)": [[1.0, 2.0, 3.0, 4.5], [0.5, -1.0, 1.5, 0.2]]},
)

record(
    "squeeze",
    recipes=["{V}[None]", "{V}[:, None], 1", "{M}, 0"],
    programs={"squeeze(x[None])": v.x, "x[:, None].squeeze(1)": v.x},
)

record(
    "unsqueeze",
    recipes=["{V}, 0", "{V}, -1", "{M}, 1"],
    programs={"unsqueeze(x, 0)": [v.x], "x.unsqueeze(-1)": v.x[:, None]},
)

record(
    "transpose",
    recipes=["{M}, 0, 1", "{T}, 0, -1"],
    programs={
        "A.transpose(0, 1)": v.A.T,
        "torch.transpose(T, 0, 2)": [[[1.0, 0.5], [3.0, 1.5]], [[2.0, -1.0], [4.5, 0.2]]],
        "A.T": v.A.T,
    },
)

record(
    "t",
    recipes=["{M}", "{V}"],
    programs={"A.t()": v.A.T, "t(x)": v.x},
)

record(
    "np.transpose",
    recipes=["{M}", "{T}, (1, 0, 2)"],
    programs={"np.transpose(A)": v.A.T, "np.transpose(T, (1, 0, 2))": [[v.T[0, 0], v.T[1, 0]], [v.T[0, 1], v.T[1, 1]]]},
)

record(
    "repeat",
    recipes=["{V}, (2,)", "{M}, (2, 1)", "{V}, (2, 1)"],
    programs={"x.repeat(2)": [*v.x, *v.x], "np.tile(A, (2, 1))": [v.A[0], v.A[1], v.A[0], v.A[1]]},
)
