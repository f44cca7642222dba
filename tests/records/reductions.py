"""What reduces along axes, or picks entries by their values."""

from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import record

record("sum", of_arrays=m.reducing(mp.fsum), cases=c.REDUCED)

record("mean", of_arrays=m.reducing(lambda g: mp.fsum(g) / len(g)), cases=c.REDUCED)

record("logsumexp", of_arrays=m.reducing(lambda g: mp.log(mp.fsum(mp.exp(x) for x in g))), cases=c.REDUCED)

record(
    "prod",
    of_arrays=m.reducing(mp.fprod),
    cases=[*c.REDUCED, ([(10,)], {"dim": (0,), **c.GONE})],
    further=[([[*c.LONG, 0.0]], {"dim": (0,), **c.GONE}), ([[[2.0, 0.0], [3.0, 1.5]]], {"dim": (1,), **c.GONE})],
)

record("cumsum", of_arrays=m.along(lambda line, i: mp.fsum(line[: i + 1])), cases=c.ALONG)

record(
    "cumprod",
    of_arrays=m.along(lambda line, i: mp.fprod(line[: i + 1])),
    cases=[*c.ALONG, ([(1,)], {"dim": 0}), ([(10,)], {"dim": 0}), ([(2, 9)], {"dim": 1})],
    further=[([[*c.LONG, 0.0, 2.0]], {"dim": 0}), ([[2.0, 0.0, 3.0]], {"dim": 0})],
)

record(
    "amax", of_arrays=m.reducing(lambda g: max(g, key=mp.re)), cases=c.REDUCED, kink=([0.5, 2.0, 2.0], [0.5, 2.0, 1.0])
)

record("max", of_arrays=m.reducing(lambda g: max(g, key=mp.re)), cases=c.WHOLE, kink=([0.5, 2.0, 2.0], [0.5, 2.0, 1.0]))

record("min", of_arrays=m.reducing(lambda g: min(g, key=mp.re)), cases=c.WHOLE, kink=([0.5, 0.5, 2.0], [0.5, 2.0, 2.0]))

record(
    "amin", of_arrays=m.reducing(lambda g: min(g, key=mp.re)), cases=c.REDUCED, kink=([0.5, 0.5, 2.0], [0.5, 2.0, 2.0])
)

record("median", of_arrays=m.reducing(m.middle), cases=c.WHOLE, kink=([0.5, 2.0, 2.0], [0.5, 2.0, 3.0]))

record(
    "argmax",
    of_arrays=m.reducing(lambda g: m.first(g, max)),
    flat=[([c.GRID], {"dim": 1, "keepdim": False}), ([c.GRID], {"dim": None, "keepdim": False})],
)

record(
    "argmin",
    of_arrays=m.reducing(lambda g: m.first(g, min)),
    flat=[([c.GRID], {"dim": 0, "keepdim": True}), ([c.GRID], {"dim": None, "keepdim": False})],
    pieces=[
        ([[3.0, 1.0, 2.0, 1.0]], {"dim": None, "keepdim": False}),
        ([[[3.0, 1.0], [1.0, 2.0]]], {"dim": 1, "keepdim": False}),
    ],
)

record(
    "any",
    of_arrays=m.reducing(lambda g: any(mp.re(x) != 0 for x in g)),
    flat=[([c.GRID], c.DIMS), ([c.GRID], {"dim": (0, 1), "keepdim": True})],
    pieces=[
        ([[[True, False], [False, False]]], {"dim": (1,), "keepdim": False}),
        ([[[0.0, 0.0], [0.0, 2.0]]], {"dim": (1,), "keepdim": False}),
    ],
)

record(
    "all",
    of_arrays=m.reducing(lambda g: all(mp.re(x) != 0 for x in g)),
    flat=[([c.GRID], c.DIMS), ([c.GRID > 5], c.DIMS)],
    pieces=[([[[1.0, 3.0], [0.0, 2.0]]], {"dim": (1,), "keepdim": False})],
)

record(
    "norm",
    of_arrays=m.reducing(m.norm),
    cases=[(shapes, {**static, "p": p}) for shapes, static in c.REDUCED for p in (1.0, 2.0, 3.0, 2.5, 1.5, 0.5)]
    + [([(2, 1)], {"dim": (1,), "p": 2.0, **keep}) for keep in (c.KEPT, c.GONE)],
    kink=([0.0, 0.0], [0.0, 2.0]),
    kink_options={**c.AXES, "p": 2.0},
)

record(
    "var",
    of_arrays=m.reducing(m.variance),
    cases=[(shapes, {**static, "correction": c}) for shapes, static in c.REDUCED[:4] for c in (0.0, 1.0)],
)

record("sqrt0", definition=mp.sqrt, cases=[([()], {}), ([(3,)], {})], called=["std"])

record(
    "logcumsumexp", of_arrays=m.along(lambda line, i: mp.log(mp.fsum(mp.exp(x) for x in line[: i + 1]))), cases=c.ALONG
)
