"""Losses that few programs call."""

from __future__ import annotations

import math

import numpy as np

from records import values as v
from records.record import record

SIGNS, ONES = "[1, -1, 1][:{n}]", "[1, -1, 1][:{m}]"


def record_loss(name, recipes, programs):
    """Enter the record of a loss, in the mean, in sum and as it is."""
    told = [f"{recipe}{how}" for recipe, how in zip(recipes, HOW * len(recipes), strict=False)]
    record(name, recipes=[*told, f'{recipes[0]}, reduction="none"'], programs=programs)


HOW = ["", ', reduction="sum"', ', reduction="none"']

record_loss(
    "smooth_l1_loss",
    ["{V}, {V}", "{M}, {M}, beta=0.4", "{V}, {V}, beta=2"],
    {
        "F.smooth_l1_loss(x, p)": v.huber(v.x - v.p),
        "F.smooth_l1_loss(x, p, beta=0.3)": v.huber(v.x - v.p, 0.3) / 0.3,
        "F.smooth_l1_loss(x, p, beta=0)": np.mean(np.abs(v.x - v.p)),
    },
)

record(
    "kl_div",
    recipes=[
        "log_softmax({V:-3,3}, 0), {V:0.1,1}",
        '{M}, {M:0.1,1}, reduction="batchmean"',
        '{M}, {M:-2,1}, log_target=True, reduction="sum"',
    ],
    programs={
        "F.kl_div(x, p)": np.mean(v.p * (np.log(v.p) - v.x)),
        'F.kl_div(A, A*2, reduction="batchmean", log_target=True)': np.sum(np.exp(2 * v.A) * v.A) / 2,
    },
)

record_loss(
    "poisson_nll_loss",
    ["{V:-2,2}, {V:0.2,3}", "{M:0.2,2}, {M:0.2,3}, log_input=False", "{V:-2,2}, {V:1.5,3}, full=True"],
    {
        "F.poisson_nll_loss(x, p)": np.mean(np.exp(v.x) - v.p * v.x),
        "F.poisson_nll_loss(p, t, log_input=False, eps=0.1)": np.mean(v.p - v.t * np.log(v.p + 0.1)),
    },
)

record_loss(
    "gaussian_nll_loss",
    ["{V}, {V}, {V:0.3,2}", "{M}, {M}, {U:0.3,2}, full=True", "{M}, {M}, {U:0.3,2}[:, None]"],
    {
        "F.gaussian_nll_loss(x, t, p)": np.mean(np.log(v.p) + (v.x - v.t) ** 2 / v.p) / 2,
        "F.gaussian_nll_loss(x, t, 1.5, full=True)": np.mean(np.log(1.5) + (v.x - v.t) ** 2 / 1.5) / 2
        + math.log(2 * math.pi) / 2,
    },
)

record_loss(
    "hinge_embedding_loss",
    [f"{{V}}, {SIGNS}", f"{{M}}, {SIGNS}, margin=0.4", f"{{V}}, -{SIGNS}"],
    {"F.hinge_embedding_loss(x, [1, -1, 1])": (0.3 + 2.2 + 0.8) / 3},
)

record_loss(
    "margin_ranking_loss",
    [f"{{V}}, {{V}}, {SIGNS}", f"{{V}}, {{V}}, {SIGNS}, margin=0.6", "{M}, {M}, {M}"],
    {"F.margin_ranking_loss(x, p, [1, -1, 1], margin=0.2)": (0.1 + 0.0 + 0.1) / 3},
)

record_loss(
    "triplet_margin_loss",
    ["{V}, {V}, {V}", "{M}, {M}, {M}, margin=2.5", "{M}, {M}, {M}, swap=True, p=3, margin=4.0"],
    {
        "F.triplet_margin_loss(x, p, t, eps=0)": 1 + np.linalg.norm(v.x - v.p) - np.linalg.norm(v.x - v.t),
        "F.triplet_margin_loss(x, p, t, 9.0, 1, 0)": 9 + np.sum(np.abs(v.x - v.p)) - np.sum(np.abs(v.x - v.t)),
    },
)

record_loss(
    "soft_margin_loss",
    [f"{{V:-3,3}}, {SIGNS}", f"{{M:-3,3}}, {SIGNS}"],
    {"F.soft_margin_loss(x, [1, -1, 1])": np.mean(np.log(1 + np.exp(-v.x * np.array([1, -1, 1]))))},
)

record_loss(
    "cosine_embedding_loss",
    ["{V:0.3,2}, {V:-2,-0.3}, 1", f"{{M:0.3,2}}, {{M:0.3,2}}, {ONES}", f"{{M:0.3,2}}, {{M}}, {ONES}, margin=0.3"],
    {"F.cosine_embedding_loss(x, p, 1)": 1 - v.x @ v.p / math.sqrt((v.x @ v.x + 1e-12) * (v.p @ v.p + 1e-12))},
)

record_loss(
    "multi_margin_loss",
    ["{V}, 0", "{M}, {classes}, margin=0.7", "{M}, {classes}, p=2", "{M}, {classes}, weight=[1, 2, 3][:{n}]"],
    {"F.multi_margin_loss(x, 1)": (2.5 + 3.0) / 3, "F.multi_margin_loss(x, 1, p=2)": (2.5**2 + 3.0**2) / 3},
)

record_loss(
    "multilabel_margin_loss",
    ["{V}, [1, -1, -1][:{n}]", "{M}, [[1, -1, 0][:{n}], [0, -1, -1][:{n}], [1, -1, -1][:{n}]][:{m}]"],
    {"F.multilabel_margin_loss(x, [1, -1, 0])": (2.5 + 3.0) / 3, "F.multilabel_margin_loss(x, [2, 0, -1])": 0.0},
)

record_loss(
    "multilabel_soft_margin_loss",
    ["{V:-2,2}, {V:0.1,0.9}", "{M:-2,2}, {M:0.1,0.9}", "{M:-2,2}, {M:0.1,0.9}, weight={V}"],
    {"F.multilabel_soft_margin_loss(x, t)": np.mean(np.log(1 + np.exp(v.x)) - v.t * v.x)},
)
