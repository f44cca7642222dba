"""What moves, joins and takes arrays apart, and puts borders round them: functions that few programs call."""

from mpmath import mp

from records import mathematics as m
from records.record import record

record(
    "diag_embed",
    of_arrays=lambda x, offset: m.built(
        (*x.shape[:-1], x.shape[-1] + abs(offset), x.shape[-1] + abs(offset)),
        lambda place: x[(*place[:-2], place[-2] - max(-offset, 0))] if place[-1] - place[-2] == offset else mp.mpc(0),
    ),
    cases=[([(3,)], {"offset": 0}), ([(2, 2)], {"offset": -1}), ([(2,)], {"offset": 2})],
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
)

record(
    "pad",
    of_arrays=lambda x, pads: m.built(
        tuple(n + a + b for n, (a, b) in zip(x.shape, pads, strict=True)),
        lambda place: m.inside(x, [i - a for i, (a, _) in zip(place, pads, strict=True)]),
    ),
    cases=[([(3,)], {"pads": ((1, 2),)}), ([(2, 3)], {"pads": ((0, 1), (-1, 1))})],
)
