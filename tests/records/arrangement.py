"""What moves, joins and takes arrays apart, and puts borders round them: functions that few programs call."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from generator import placing, shapes
from records import mathematics as m
from records.record import record

record(
    "movedim",
    oracle=shapes.moving(np.moveaxis),
    recipes=["{M}, 0, 1", "{T}, (0, 1), (1, 2)", "{T}, 0, -1"],
)

record(
    "swapdims",
    oracle=shapes.moving(np.swapaxes),
    recipes=["{M}, 0, 1", "{T}, 0, -1"],
)

record(
    "adjoint",
    oracle=shapes.moving(lambda x: np.swapaxes(x, -1, -2)),
    recipes=["{M}", "{T}"],
)

record(
    "view_as",
    oracle=lambda x, other: shapes.moving(lambda x: x.reshape(other.shape))(x),
    recipes=["{M}.{f}({N})", "{M}.reshape(-1).{f}({M})"],
)

record(
    "expand_as",
    oracle=lambda x, other: shapes.moving(lambda x: np.broadcast_to(x, other.shape))(x),
    recipes=["{V}.{f}({M})", "{S}.sin().{f}({V})"],
)

record(
    "unflatten",
    oracle=shapes.moving(
        lambda x, dim, sizes: x.reshape(*x.shape[: dim % x.ndim], *sizes, *x.shape[dim % x.ndim + 1 :])
    ),
    recipes=["{M}, 0, (1, -1)", "{M}.reshape(-1), 0, ({n}, {m})", "{M}, -1, ({n}, 1)"],
)

for _count, _rule in ((1, np.atleast_1d), (2, np.atleast_2d), (3, np.atleast_3d)):
    record(
        f"atleast_{_count}d",
        oracle=shapes.moving(_rule),
        recipes=["{S}", "{V}*1", "{M}*1"],
    )

record(
    "rot90",
    oracle=shapes.moving(lambda x, k=1, dims=(0, 1): np.rot90(x, k, dims)),
    recipes=["{M}", "{M}, 2", "{T}, -1, (2, 0)", "{Q}, 3"],
)

record(
    "fliplr",
    oracle=shapes.moving(np.fliplr),
    recipes=["{M}"],
)
record(
    "flipud",
    oracle=shapes.moving(np.flipud),
    recipes=["{M}", "{V}"],
)

record(
    "diagflat",
    oracle=shapes.moving(np.diagflat),
    recipes=["{V}", "[{S}, {S}]", "{V}, -1"],
)
record(
    "diag_embed",
    of_arrays=lambda x, offset: m.built(
        (*x.shape[:-1], x.shape[-1] + abs(offset), x.shape[-1] + abs(offset)),
        lambda place: x[(*place[:-2], place[-2] - max(-offset, 0))] if place[-1] - place[-2] == offset else mp.mpc(0),
    ),
    cases=[([(3,)], {"offset": 0}), ([(2, 2)], {"offset": -1}), ([(2,)], {"offset": 2})],
    oracle=shapes.moving(placing.embed_diagonal),
    recipes=["{V}", "{M}", "{V}, 1", "{V}, -1, 1, 0"],
)

record(
    "unfold",
    of_arrays=lambda x, dim, size, step: m.built(
        (*x.shape[:dim], (x.shape[dim] - size) // step + 1, *x.shape[dim + 1 :], size),
        lambda place: x[(*place[:dim], place[dim] * step + place[-1], *place[dim + 1 : -1])],
    ),
    cases=[
        ([(4,)], {"dim": 0, "size": 2, "step": 1}),
        ([(2, 3)], {"dim": 1, "size": 2, "step": 1}),
        ([(5, 2)], {"dim": 0, "size": 2, "step": 2}),
    ],
    oracle=shapes.moving(placing.stretches),
    recipes=["{V}.{f}(0, 2, 1)", "{M}.{f}(1, 2, 2)", "{T}.{f}(0, 1, 1)"],
)

record(
    "broadcast_tensors",
    oracle=lambda *arrays: [placing.Array(x) for x in np.broadcast_arrays(*[placing.numbers(x) for x in arrays])],
    recipes=["{f}({V}, {M})[0]", "{f}({S}, {U})[0]*{f}({S}, {U})[1]"],
)

_STACKED = {"hstack": np.hstack, "vstack": np.vstack, "dstack": np.dstack, "column_stack": np.column_stack}
for _name, _stack in _STACKED.items():
    record(
        _name,
        oracle=lambda tensors, stack=_stack: placing.Array(stack([placing.numbers(x) for x in tensors])),
        recipes=["[{V}, {V}]", "[{M}, {M}]", *(["[{S}, {V}]"] if _name == "hstack" else [])],
    )

record(
    "block_diag",
    oracle=placing.block_diagonal,
    recipes=["{M}, {V}", "{S}, {M}"],
)

record(
    "meshgrid",
    oracle=placing.grid,
    recipes=['{f}({U}, {V}, indexing="ij")[0]', '{f}({U}, {V}, indexing="xy")[1]', '{f}([{V}, {V}], indexing="ij")[1]'],
)

record(
    "cartesian_prod",
    oracle=placing.all_pairs,
    recipes=["{V}, {U}", "{V}, {U}, [{S}]"],
)

record(
    "combinations",
    oracle=placing.choices,
    recipes=["{V}", "{V}, 2, True", "{V}, 1"],
)

record(
    "chunk",
    oracle=placing.parts(
        lambda x, chunks, dim=0: np.array_split(
            x, range(-(-x.shape[dim] // chunks), x.shape[dim], -(-x.shape[dim] // chunks)), dim
        )
    ),
    recipes=["{f}({V}, 2)[0]", "{f}({M}, 2, 1)[1]", "cat({f}({V}, {n}))"],
)

record(
    "split",
    oracle=placing.parts(
        lambda x, size, dim=0: np.array_split(
            x, np.cumsum(size)[:-1] if isinstance(size, list | tuple) else range(size, x.shape[dim], size), dim
        )
    ),
    recipes=["{f}({V}, 1)[1]", "{f}({M}, [1, {n} - 1], dim=1)[0]", "stack({f}({M}, 1))"],
)

record(
    "tensor_split",
    oracle=placing.parts(np.array_split),
    recipes=["{f}({V}, 2)[0]", "{f}({M}, (1,), 1)[1]"],
)

record(
    "np.split",
    oracle=placing.parts(np.split),
    recipes=["{f}({V}, {n})[0]", "{f}({M}, [1], 1)[1]"],
)

for _name, _cut in (("hsplit", np.hsplit), ("vsplit", np.vsplit), ("dsplit", np.dsplit)):
    _whole = {"hsplit": "A", "vsplit": "B", "dsplit": "T"}[_name]
    record(
        _name,
        oracle=placing.parts(_cut),
        recipes=["{f}({T}, (1,))[0]", *(["{f}({M}, (1,))[1]"] if _name != "dsplit" else [])],
    )

record(
    "unbind",
    oracle=placing.parts(lambda x, dim=0: list(np.moveaxis(x, dim, 0))),
    recipes=["{f}({M})[0]", "{f}({M}, 1)[-1]", "stack({f}({T}, 2))"],
)

record(
    "narrow",
    oracle=shapes.moving(
        lambda x, dim, start, length: np.take(x, range(start % x.shape[dim], start % x.shape[dim] + length), dim)
    ),
    recipes=["{V}, 0, 0, 2", "{M}, 1, 1, 1", "{M}, 0, -1, 1"],
)

record(
    "select",
    oracle=shapes.moving(lambda x, dim, index: np.take(x, index, dim)),
    recipes=["{M}, 0, 1", "{T}, -1, 0"],
)

record(
    "pad",
    of_arrays=lambda x, pads: m.built(
        tuple(n + a + b for n, (a, b) in zip(x.shape, pads, strict=True)),
        lambda place: m.inside(x, [i - a for i, (a, _) in zip(place, pads, strict=True)]),
    ),
    cases=[([(3,)], {"pads": ((1, 2),)}), ([(2, 3)], {"pads": ((0, 1), (-1, 1))})],
    oracle=placing.padded,
    recipes=[
        "{V}, (1, 0)",
        "{M}, (0, 1, 2, 0), value={c}",
        '{M}, (1, 1), mode="replicate"',
        '{M}, (1, 0), mode="reflect"',
        '{M}, (1, 2), mode="circular"',
        "{M}, (-1, 1)",
    ],
)

record(
    "np.pad",
    oracle=placing.numpy_padded,
    recipes=[
        "{V}, 1",
        "{M}, ((1, 0), (0, 1))",
        '{V}, (1, 1), mode="symmetric"',
        '{V}, 1, mode="wrap"',
        '{V}, 1, "edge"',
    ],
)

record(
    "F.unfold",
    oracle=placing.windows,
    recipes=["{f}({T}, 2)", "{f}({T}[None], 1)", "{f}({T}[:1], 2, padding=1, stride=3)"],
)

record(
    "F.fold",
    oracle=placing.folded,
    recipes=["{f}({T}.reshape(1, 2, -1)[:, :, :2].repeat(1, 2, 1), ({f2}, 2), 2)".replace("{f2}", "3")],
)
