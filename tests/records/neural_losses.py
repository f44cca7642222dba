"""Losses that few programs call."""

from records.record import record

SIGNS, ONES = "[1, -1, 1][:{n}]", "[1, -1, 1][:{m}]"


def record_loss(name, recipes):
    """Enter the record of a loss, in the mean, in sum and as it is."""
    told = [f"{recipe}{how}" for recipe, how in zip(recipes, HOW * len(recipes), strict=False)]
    record(name, recipes=[*told, f'{recipes[0]}, reduction="none"'])


HOW = ["", ', reduction="sum"', ', reduction="none"']

record_loss("smooth_l1_loss", ["{V}, {V}", "{M}, {M}, beta=0.4", "{V}, {V}, beta=2"])

record(
    "kl_div",
    recipes=[
        "log_softmax({V:-3,3}, 0), {V:0.1,1}",
        '{M}, {M:0.1,1}, reduction="batchmean"',
        '{M}, {M:-2,1}, log_target=True, reduction="sum"',
    ],
)

record_loss(
    "poisson_nll_loss",
    ["{V:-2,2}, {V:0.2,3}", "{M:0.2,2}, {M:0.2,3}, log_input=False", "{V:-2,2}, {V:1.5,3}, full=True"],
)

record_loss(
    "gaussian_nll_loss", ["{V}, {V}, {V:0.3,2}", "{M}, {M}, {U:0.3,2}, full=True", "{M}, {M}, {U:0.3,2}[:, None]"]
)

record_loss("hinge_embedding_loss", [f"{{V}}, {SIGNS}", f"{{M}}, {SIGNS}, margin=0.4", f"{{V}}, -{SIGNS}"])

record_loss("margin_ranking_loss", [f"{{V}}, {{V}}, {SIGNS}", f"{{V}}, {{V}}, {SIGNS}, margin=0.6", "{M}, {M}, {M}"])

record_loss(
    "triplet_margin_loss", ["{V}, {V}, {V}", "{M}, {M}, {M}, margin=2.5", "{M}, {M}, {M}, swap=True, p=3, margin=4.0"]
)

record_loss("soft_margin_loss", [f"{{V:-3,3}}, {SIGNS}", f"{{M:-3,3}}, {SIGNS}"])

record_loss(
    "cosine_embedding_loss",
    ["{V:0.3,2}, {V:-2,-0.3}, 1", f"{{M:0.3,2}}, {{M:0.3,2}}, {ONES}", f"{{M:0.3,2}}, {{M}}, {ONES}, margin=0.3"],
)

record_loss(
    "multi_margin_loss",
    ["{V}, 0", "{M}, {classes}, margin=0.7", "{M}, {classes}, p=2", "{M}, {classes}, weight=[1, 2, 3][:{n}]"],
)

record_loss(
    "multilabel_margin_loss",
    ["{V}, [1, -1, -1][:{n}]", "{M}, [[1, -1, 0][:{n}], [0, -1, -1][:{n}], [1, -1, -1][:{n}]][:{m}]"],
)

record_loss(
    "multilabel_soft_margin_loss",
    ["{V:-2,2}, {V:0.1,0.9}", "{M:-2,2}, {M:0.1,0.9}", "{M:-2,2}, {M:0.1,0.9}, weight={V}"],
)
