"""What reduces along axes, or picks entries by their values."""

from mpmath import mp

from records import constants as c
from records import figures
from records import mathematics as m
from records.record import MoreExact, calls, record

record(
    "sum",
    of_arrays=m.reducing(mp.fsum),
    cases=c.REDUCED,
    recipes=["{E}", "{M}, 0", "{M}, dim=1, keepdim=True", "{T}, (0, 2)", "{M}, axis=-1, keepdims=True"],
)

record(
    "mean",
    of_arrays=m.reducing(lambda g: mp.fsum(g) / len(g)),
    cases=c.REDUCED,
    recipes=["{E}", "{M}, 1", "{T}, dim=(1, 2)", "{M}, axis=0, keepdims=True"],
    more_exact=[MoreExact("torch.mean(x)", "PyTorch's sum overflows", figure=figures.mean)],
)

record(
    "logsumexp",
    of_arrays=m.reducing(lambda g: mp.log(mp.fsum(mp.exp(x) for x in g))),
    cases=c.REDUCED,
    recipes=["{V:-3,3}", "{M:-3,3}, 0", "{M:-3,3}, dim=1, keepdim=True"],
)

record(
    "prod",
    of_arrays=m.reducing(mp.fprod),
    cases=[*c.REDUCED, ([(10,)], {"dim": (0,), **c.GONE})],
    further=[([[*c.LONG, 0.0]], {"dim": (0,), **c.GONE}), ([[[2.0, 0.0], [3.0, 1.5]]], {"dim": (1,), **c.GONE})],
    recipes=["{V}", "{M}, 1", "{M}, dim=0, keepdim=True", "{M}"],
    more_exact=[MoreExact("torch.prod(x) | torch.prod(x, 0)", "PyTorch's products overflow", figure=figures.product)],
)

record(
    "cumsum",
    of_arrays=m.along(lambda line, i: mp.fsum(line[: i + 1])),
    cases=c.ALONG,
    recipes=["{V}", "{M}, 1", "{T}, dim=0"],
)

record(
    "cumprod",
    of_arrays=m.along(lambda line, i: mp.fprod(line[: i + 1])),
    cases=[*c.ALONG, ([(1,)], {"dim": 0}), ([(10,)], {"dim": 0}), ([(2, 9)], {"dim": 1})],
    further=[([[*c.LONG, 0.0, 2.0]], {"dim": 0}), ([[2.0, 0.0, 3.0]], {"dim": 0})],
    recipes=["{V}", "{M}, 1", "{M}, dim=0"],
    more_exact=[MoreExact("torch.cumprod(x, 0)", "PyTorch's products overflow", figure=figures.running_product)],
)

record(
    "amax",
    of_arrays=m.reducing(lambda g: max(g, key=mp.re)),
    cases=c.REDUCED,
    kink=([0.5, 2.0, 2.0], [0.5, 2.0, 1.0]),
    recipes=["{M}, (0, 1)", "{M}, axis=0", "{V}", "{M}, dim=1, keepdim=True"],
)

record(
    "max",
    of_arrays=m.reducing(lambda g: max(g, key=mp.re)),
    cases=c.WHOLE,
    kink=([0.5, 2.0, 2.0], [0.5, 2.0, 1.0]),
    recipes=["{E}", "{M}, dim=1).values", "{M}, dim=0)[0]", "{V}, {V}", "{M}, dim=1, keepdim=True).values"],
)

record(
    "min",
    of_arrays=m.reducing(lambda g: min(g, key=mp.re)),
    cases=c.WHOLE,
    kink=([0.5, 0.5, 2.0], [0.5, 2.0, 2.0]),
    recipes=["{E}", "{M}, dim=1).values", "{M}, dim=0)[0]", "{V}, {V}", "{M}, dim=0, keepdim=True)[0]"],
)

record(
    "amin",
    of_arrays=m.reducing(lambda g: min(g, key=mp.re)),
    cases=c.REDUCED,
    kink=([0.5, 0.5, 2.0], [0.5, 2.0, 2.0]),
    recipes=["{M}, (0, 1)", "{M}, axis=0", "{V}", "{T}, dim=(0, 2)"],
)

record(
    "median",
    of_arrays=m.reducing(m.middle),
    cases=c.WHOLE,
    kink=([0.5, 2.0, 2.0], [0.5, 2.0, 3.0]),
    recipes=["{V}", "{M}, dim=1).values", "{M}"],
)

record(
    "argmax",
    of_arrays=m.reducing(lambda g: m.first(g, max)),
    flat=[([c.GRID], {"dim": 1, "keepdim": False}), ([c.GRID], {"dim": None, "keepdim": False})],
    recipes=["{V}[{f}({V})]", "{V}[{f}({M}, dim=1)]", "{V}*{f}({V})"],
)

record(
    "argmin",
    of_arrays=m.reducing(lambda g: m.first(g, min)),
    flat=[([c.GRID], {"dim": 0, "keepdim": True}), ([c.GRID], {"dim": None, "keepdim": False})],
    pieces=[
        ([[3.0, 1.0, 2.0, 1.0]], {"dim": None, "keepdim": False}),
        ([[[3.0, 1.0], [1.0, 2.0]]], {"dim": 1, "keepdim": False}),
    ],
    recipes=["{V}[{f}({V})]", "{U}[{f}({N}, dim=1)]"],
)

record(
    "any",
    of_arrays=m.reducing(lambda g: any(mp.re(x) != 0 for x in g)),
    flat=[([c.GRID], c.DIMS), ([c.GRID], {"dim": (0, 1), "keepdim": True})],
    pieces=[
        ([[[True, False], [False, False]]], {"dim": (1,), "keepdim": False}),
        ([[[0.0, 0.0], [0.0, 2.0]]], {"dim": (1,), "keepdim": False}),
    ],
    recipes=["{V}*2 if {f}({V} > 0) else {V}", "where({f}({M} > {c}, dim=0), {V}, {S})"],
)

record(
    "all",
    of_arrays=m.reducing(lambda g: all(mp.re(x) != 0 for x in g)),
    flat=[([c.GRID], c.DIMS), ([c.GRID > 5], c.DIMS)],
    pieces=[([[[1.0, 3.0], [0.0, 2.0]]], {"dim": (1,), "keepdim": False})],
    recipes=["{V}*2 if {f}({V} > {c}) else {V}", "where({f}({M} < {c}, dim=1), {U}, {S})"],
)

record(
    "norm",
    of_arrays=m.reducing(m.norm),
    cases=[(shapes, {**static, "p": p}) for shapes, static in c.REDUCED for p in (1.0, 2.0, 3.0, 2.5, 1.5, 0.5)]
    + [([(2, 1)], {"dim": (1,), "p": 2.0, **keep}) for keep in (c.KEPT, c.GONE)],
    kink=([0.0, 0.0], [0.0, 2.0]),
    kink_options={**c.AXES, "p": 2.0},
    recipes=[
        "{V}",
        "{M}, p=3, dim=1",
        '{M}, "fro"',
        "{V}, p=1",
        "{V}, math.inf",
        "{V}, -math.inf",
        "{V}, -2",
        '[[{S}, {S}], [{S}, {S}]], "nuc"',
        "{E}, p=1.5",
        "{M}, dim=0, keepdim=True",
    ],
    more_exact=[
        MoreExact(
            "torch.norm(x) | torch.linalg.norm(x)",
            "PyTorch takes powers of the entries, which overflow and underflow",
            {"p": 2},
            figure=figures.norm,
        ),
        MoreExact(
            "torch.norm(x, 3) | torch.norm(x, 3, 1)",
            "PyTorch takes powers of the entries, which overflow and underflow",
            {"p": 3},
            figure=figures.norm,
        ),
    ],
)

record(
    "var",
    of_arrays=m.reducing(m.variance),
    cases=[(shapes, {**static, "correction": c}) for shapes, static in c.REDUCED[:4] for c in (0.0, 1.0)],
    recipes=["{V}", "{M}, 0", "{M}, dim=1, correction=0", "{V}, unbiased=False", "{T}, (0, 1), keepdim=True"],
    more_exact=[
        MoreExact("torch.var(x)", "PyTorch's sum of the entries overflows", {"correction": 1}, figure=figures.var),
        MoreExact(
            "torch.var(x, correction=2) | torch.var(x, 0, correction=2)",
            "PyTorch's sum of the entries overflows",
            {"correction": 2},
            figure=figures.var,
        ),
    ],
)

record("sqrt0", definition=mp.sqrt, cases=[([()], {}), ([(3,)], {})], called=["std"])

record(
    "std",
    recipes=["{V:-4,4}", "{M:-4,4}, 0", "{M:-4,4}, dim=1, correction=0"],
    more_exact=[
        MoreExact("torch.std(x) | torch.std(x, 0)", "PyTorch takes squares", {"correction": 1}, figure=figures.std)
    ],
)

calls(
    {
        "np.cumsum": ["{M}", "{M}, axis=1"],
        "sort": ["{V}).values", "{M}, dim=0, descending=True)[0]", "{V}, descending=True).values"],
        "np.sort": ["{M}", "{V}", "{M}, axis=0"],
        "np.median": ["{V}", "{M}, axis=1", "{M}"],
        "np.var": ["{M}", "{V}, ddof=1", "{M}, axis=1"],
        "np.std": ["{M:-4,4}", "{V:-4,4}, ddof=1", "{M:-4,4}, axis=1"],
        "linalg.norm": ["{M}", "{V}, ord=3", "{M}, axis=1", "{V}, np.inf", "[[{S}, {S}], [{S}, {S}]], 2"],
    }
)
