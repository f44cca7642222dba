"""What moves, joins and takes arrays apart, and puts borders round them: functions that few programs call."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from records import mathematics as m
from records import values as v
from records.record import record

record(
    "movedim",
    recipes=["{M}, 0, 1", "{T}, (0, 1), (1, 2)", "{T}, 0, -1"],
    programs={"movedim(T, 0, 2)": np.moveaxis(v.T, 0, 2), "A.moveaxis(1, 0)": v.A.T},
)

record(
    "swapdims",
    recipes=["{M}, 0, 1", "{T}, 0, -1"],
    programs={"A.swapdims(0, 1)": v.A.T},
)

record(
    "adjoint",
    recipes=["{M}", "{T}"],
    programs={"A.adjoint()": v.A.T, "adjoint(T)": np.swapaxes(v.T, 1, 2)},
)

record(
    "view_as",
    recipes=["{M}.{f}({N})", "{M}.reshape(-1).{f}({M})"],
    programs={"A.view_as(B)": v.A.reshape(3, 2), "A.reshape_as(B)*B": v.A.reshape(3, 2) * v.B},
)

record(
    "expand_as",
    recipes=["{V}.{f}({M})", "{S}.sin().{f}({V})"],
    programs={"x.expand_as(A)": [v.x, v.x]},
)

record(
    "unflatten",
    recipes=["{M}, 0, (1, -1)", "{M}.reshape(-1), 0, ({n}, {m})", "{M}, -1, ({n}, 1)"],
    programs={"unflatten(x, 0, (3, 1))": v.x[:, None], "A.unflatten(-1, (1, 3))": v.A[:, None]},
)

for _count, _rule in ((1, np.atleast_1d), (2, np.atleast_2d), (3, np.atleast_3d)):
    record(
        f"atleast_{_count}d",
        recipes=["{S}", "{V}*1", "{M}*1"],
        programs={f"atleast_{_count}d(x)": _rule(v.x), f"atleast_{_count}d(s, A)[1]": _rule(v.A)},
    )

record(
    "rot90",
    recipes=["{M}", "{M}, 2", "{T}, -1, (2, 0)", "{Q}, 3"],
    programs={"rot90(A)": np.rot90(v.A), "T.rot90(3, (1, 2))": np.rot90(v.T, 3, (1, 2))},
)

record("fliplr", recipes=["{M}"], programs={"fliplr(A)": v.A[:, ::-1]})
record("flipud", recipes=["{M}", "{V}"], programs={"flipud(A)": v.A[::-1]})

record(
    "diagflat",
    recipes=["{V}", "[{S}, {S}]", "{V}, -1"],
    programs={"diagflat(x)": np.diag(v.x), "torch.diagflat(A, offset=1)": np.diagflat(v.A, 1)},
)
record(
    "diag_embed",
    of_arrays=lambda x, offset: m.built(
        (*x.shape[:-1], x.shape[-1] + abs(offset), x.shape[-1] + abs(offset)),
        lambda place: x[(*place[:-2], place[-2] - max(-offset, 0))] if place[-1] - place[-2] == offset else mp.mpc(0),
    ),
    cases=[([(3,)], {"offset": 0}), ([(2, 2)], {"offset": -1}), ([(2,)], {"offset": 2})],
    recipes=["{V}", "{M}", "{V}, 1", "{V}, -1, 1, 0"],
    programs={"diag_embed(x)": np.diag(v.x), "x.diag_embed(1)": np.diag(v.x, 1)},
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
    recipes=["{V}.{f}(0, 2, 1)", "{M}.{f}(1, 2, 2)", "{T}.{f}(0, 1, 1)"],
    programs={"x.unfold(0, 2, 1)": [v.x[:2], v.x[1:]], "A.unfold(1, 1, 2)": v.A[:, ::2, None]},
)

record(
    "broadcast_tensors",
    recipes=["{f}({V}, {M})[0]", "{f}({S}, {U})[0]*{f}({S}, {U})[1]"],
    programs={"broadcast_tensors(x, A)[0]": [v.x, v.x]},
)

_STACKED = {"hstack": np.hstack, "vstack": np.vstack, "dstack": np.dstack, "column_stack": np.column_stack}
for _name, _stack in _STACKED.items():
    record(
        _name,
        recipes=["[{V}, {V}]", "[{M}, {M}]", *(["[{S}, {V}]"] if _name == "hstack" else [])],
        programs={f"{_name}([x, p])": _stack([v.x, v.p]), f"{_name}((A, A*2))": _stack([v.A, 2 * v.A])},
    )

record(
    "block_diag",
    recipes=["{M}, {V}", "{S}, {M}"],
    programs={"block_diag(x, s)": [[*v.x, 0], [0, 0, 0, v.s]]},
)

record(
    "meshgrid",
    recipes=['{f}({U}, {V}, indexing="ij")[0]', '{f}({U}, {V}, indexing="xy")[1]', '{f}([{V}, {V}], indexing="ij")[1]'],
    programs={"meshgrid(b, x)[1]": [v.x, v.x], "np.meshgrid(x, b)[0]": [v.x, v.x]},
)

record(
    "cartesian_prod",
    recipes=["{V}, {U}", "{V}, {U}, [{S}]"],
    programs={"cartesian_prod(b, x)": [[i, j] for i in v.b for j in v.x]},
)

record(
    "combinations",
    recipes=["{V}", "{V}, 2, True", "{V}, 1"],
    programs={"combinations(x)": [v.x[[0, 1]], v.x[[0, 2]], v.x[[1, 2]]]},
)

record(
    "chunk",
    recipes=["{f}({V}, 2)[0]", "{f}({M}, 2, 1)[1]", "cat({f}({V}, {n}))"],
    programs={
        "chunk(x, 2)[1]": v.x[2:],
        "A.chunk(3, dim=1)[0]": v.A[:, :1],
        "a, c = x.chunk(2); a*c": v.x[:2] * v.x[2],
    },
)

record(
    "split",
    recipes=["{f}({V}, 1)[1]", "{f}({M}, [1, {n} - 1], dim=1)[0]", "stack({f}({M}, 1))"],
    programs={"split(x, 2)[1]": v.x[2:], "A.split((1, 2), dim=1)[1]": v.A[:, 1:]},
)

record(
    "tensor_split",
    recipes=["{f}({V}, 2)[0]", "{f}({M}, (1,), 1)[1]"],
    programs={"tensor_split(x, 2)[0]": v.x[:2], "np.array_split(A, 2, axis=1)[1]": v.A[:, 2:]},
)

record(
    "np.split",
    recipes=["{f}({V}, {n})[0]", "{f}({M}, [1], 1)[1]"],
    programs={"np.split(x, 3)[2]": v.x[2:], "np.split(A, [1, 2], axis=1)[1]": v.A[:, 1:2]},
)

for _name, _cut in (("hsplit", np.hsplit), ("vsplit", np.vsplit), ("dsplit", np.dsplit)):
    _whole = {"hsplit": "A", "vsplit": "B", "dsplit": "T"}[_name]
    record(
        _name,
        recipes=["{f}({T}, (1,))[0]", *(["{f}({M}, (1,))[1]"] if _name != "dsplit" else [])],
        programs={f"{_name}({_whole}, (1,))[1]": _cut(getattr(v, _whole), (1,))[1]},
    )

record(
    "unbind",
    recipes=["{f}({M})[0]", "{f}({M}, 1)[-1]", "stack({f}({T}, 2))"],
    programs={
        "unbind(A)[1]": v.A[1],
        "A.unbind(1)[0]": v.A[:, 0],
        "a, c, d = A.unbind(1); a*c - d": v.A[:, 0] * v.A[:, 1] - v.A[:, 2],
    },
)

record(
    "narrow",
    recipes=["{V}, 0, 0, 2", "{M}, 1, 1, 1", "{M}, 0, -1, 1"],
    programs={"narrow(x, 0, 1, 2)": v.x[1:], "A.narrow(1, 0, 2)": v.A[:, :2]},
)

record(
    "select",
    recipes=["{M}, 0, 1", "{T}, -1, 0"],
    programs={"select(A, 1, -1)": v.A[:, -1], "A.select(0, 1)": v.A[1]},
)

record(
    "pad",
    of_arrays=lambda x, pads: m.built(
        tuple(n + a + b for n, (a, b) in zip(x.shape, pads, strict=True)),
        lambda place: m.inside(x, [i - a for i, (a, _) in zip(place, pads, strict=True)]),
    ),
    cases=[([(3,)], {"pads": ((1, 2),)}), ([(2, 3)], {"pads": ((0, 1), (-1, 1))})],
    recipes=[
        "{V}, (1, 0)",
        "{M}, (0, 1, 2, 0), value={c}",
        '{M}, (1, 1), mode="replicate"',
        '{M}, (1, 0), mode="reflect"',
        '{M}, (1, 2), mode="circular"',
        "{M}, (-1, 1)",
    ],
    programs={"F.pad(x, (1, 1))": [0, *v.x, 0], 'F.pad(A, (1, 0), "replicate")': np.pad(v.A, ((0, 0), (1, 0)), "edge")},
)

record(
    "np.pad",
    recipes=[
        "{V}, 1",
        "{M}, ((1, 0), (0, 1))",
        '{V}, (1, 1), mode="symmetric"',
        '{V}, 1, mode="wrap"',
        '{V}, 1, "edge"',
    ],
    programs={
        "np.pad(x, 1)": [0, *v.x, 0],
        'np.pad(A, ((0, 0), (1, 1)), mode="reflect")': np.pad(v.A, ((0, 0), (1, 1)), "reflect"),
    },
)

record(
    "F.unfold",
    recipes=["{f}({T}, 2)", "{f}({T}[None], 1)", "{f}({T}[:1], 2, padding=1, stride=3)"],
    programs={"F.unfold(T, 1)": v.T.reshape(2, 4), "F.unfold(T[:1], 2)": v.T[0].reshape(4, 1)},
)

_COLUMNS = v.T.reshape(4, 2)
FOLDED = [[_COLUMNS[:2, 0], _COLUMNS[2:, 0] + _COLUMNS[:2, 1], _COLUMNS[2:, 1]]]
"""The windows of two rows that are a column each: the middle row is in both."""

record(
    "F.fold",
    recipes=["{f}({T}.reshape(1, 2, -1)[:, :, :2].repeat(1, 2, 1), ({f2}, 2), 2)".replace("{f2}", "3")],
    programs={"F.fold(T.reshape(4, 2), (3, 2), 2)": FOLDED},
)
