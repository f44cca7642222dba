"""What moves, joins and takes arrays apart, and puts borders round them: functions that few programs call."""

import numpy as np
from mpmath import mp

from records import mathematics as m
from records.record import calls, record

for _count, _rule in ((1, np.atleast_1d), (2, np.atleast_2d), (3, np.atleast_3d)):
    record(f"atleast_{_count}d", recipes=["{S}", "{V}*1", "{M}*1"])

record(
    "diag_embed",
    of_arrays=lambda x, offset: m.built(
        (*x.shape[:-1], x.shape[-1] + abs(offset), x.shape[-1] + abs(offset)),
        lambda place: x[(*place[:-2], place[-2] - max(-offset, 0))] if place[-1] - place[-2] == offset else mp.mpc(0),
    ),
    cases=[([(3,)], {"offset": 0}), ([(2, 2)], {"offset": -1}), ([(2,)], {"offset": 2})],
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
    recipes=["{V}.{f}(0, 2, 1)", "{M}.{f}(1, 2, 2)", "{T}.{f}(0, 1, 1)"],
)

_STACKED = {"hstack": np.hstack, "vstack": np.vstack, "dstack": np.dstack, "column_stack": np.column_stack}
for _name in _STACKED:
    record(_name, recipes=["[{V}, {V}]", "[{M}, {M}]", *(["[{S}, {V}]"] if _name == "hstack" else [])])

for _name, _cut in (("hsplit", np.hsplit), ("vsplit", np.vsplit), ("dsplit", np.dsplit)):
    _whole = {"hsplit": "A", "vsplit": "B", "dsplit": "T"}[_name]
    record(_name, recipes=["{f}({T}, (1,))[0]", *(["{f}({M}, (1,))[1]"] if _name != "dsplit" else [])])

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
)

calls(
    {
        "movedim": ["{M}, 0, 1", "{T}, (0, 1), (1, 2)", "{T}, 0, -1"],
        "swapdims": ["{M}, 0, 1", "{T}, 0, -1"],
        "adjoint": ["{M}", "{T}"],
        "view_as": ["{M}.{f}({N})", "{M}.reshape(-1).{f}({M})"],
        "expand_as": ["{V}.{f}({M})", "{S}.sin().{f}({V})"],
        "unflatten": ["{M}, 0, (1, -1)", "{M}.reshape(-1), 0, ({n}, {m})", "{M}, -1, ({n}, 1)"],
        "rot90": ["{M}", "{M}, 2", "{T}, -1, (2, 0)", "{Q}, 3"],
        "fliplr": ["{M}"],
        "flipud": ["{M}", "{V}"],
        "diagflat": ["{V}", "[{S}, {S}]", "{V}, -1"],
        "broadcast_tensors": ["{f}({V}, {M})[0]", "{f}({S}, {U})[0]*{f}({S}, {U})[1]"],
        "block_diag": ["{M}, {V}", "{S}, {M}"],
        "meshgrid": [
            '{f}({U}, {V}, indexing="ij")[0]',
            '{f}({U}, {V}, indexing="xy")[1]',
            '{f}([{V}, {V}], indexing="ij")[1]',
        ],
        "cartesian_prod": ["{V}, {U}", "{V}, {U}, [{S}]"],
        "chunk": ["{f}({V}, 2)[0]", "{f}({M}, 2, 1)[1]", "cat({f}({V}, {n}))"],
        "split": ["{f}({V}, 1)[1]", "{f}({M}, [1, {n} - 1], dim=1)[0]", "stack({f}({M}, 1))"],
        "tensor_split": ["{f}({V}, 2)[0]", "{f}({M}, (1,), 1)[1]"],
        "np.split": ["{f}({V}, {n})[0]", "{f}({M}, [1], 1)[1]"],
        "unbind": ["{f}({M})[0]", "{f}({M}, 1)[-1]", "stack({f}({T}, 2))"],
        "narrow": ["{V}, 0, 0, 2", "{M}, 1, 1, 1", "{M}, 0, -1, 1"],
        "select": ["{M}, 0, 1", "{T}, -1, 0"],
        "np.pad": [
            "{V}, 1",
            "{M}, ((1, 0), (0, 1))",
            '{V}, (1, 1), mode="symmetric"',
            '{V}, 1, mode="wrap"',
            '{V}, 1, "edge"',
        ],
        "F.unfold": ["{f}({T}, 2)", "{f}({T}[None], 1)", "{f}({T}[:1], 2, padding=1, stride=3)"],
        "F.fold": ["{f}({T}.reshape(1, 2, -1)[:, :, :2].repeat(1, 2, 1), ({f2}, 2), 2)".replace("{f2}", "3")],
    }
)
