"""Positions, and what picks and writes entries at them."""

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import calls, record

record(
    "places",
    of_arrays=lambda x: m.built(x.shape, lambda place: mp.mpc(int(mp.re(x[place])))),
    flat=[([np.array([0.0, 2.0, -1.0])], {}), ([np.array(1.0)], {})],
    called=["gather"],
)

record(
    "nonzero",
    of_arrays=lambda x: np.argwhere(np.array([[entry != 0 for entry in row] for row in np.atleast_2d(x)])),
    flat=[([c.GRID], {})],
    pieces=[([[[1.0, 0.0], [0.0, 2.0]]], {})],
    recipes=["{V}[{f}({V})[:, 0]]", "{M}[{f}({M} > {c}, as_tuple=True)]", "{V}[({V} > {c}).{f}()[:, 0]]"],
)

record(
    "searchsorted",
    of_arrays=lambda edges, values, right: m.built(
        values.shape,
        lambda place: sum(
            mp.re(edge) <= mp.re(values[place]) if right else mp.re(edge) < mp.re(values[place]) for edge in edges
        ),
    ),
    flat=[
        ([np.array([-1.0, 0.0, 2.0]), np.array([0.0, 3.0, -2.0])], {"right": False}),
        ([np.array([-1.0, 0.0, 2.0]), np.array([0.0, 3.0, -2.0])], {"right": True}),
    ],
    pieces=[([[0.0, 1.0], [0.5, 2.0]], {"right": True})],
    recipes=["{f}([-1, 0, 1], {V})*{V}", "{f}([-1, 0, 1], {M}, right=True)*{V}"],
)

for _name, _rule in (("tril_indices", np.tril_indices), ("triu_indices", np.triu_indices)):
    record(_name, recipes=["{Q}[{f}({n}, {n})[0], {f}({n}, {n})[1]]"])
    record(f"np.{_name}", recipes=["{Q}[{f}({n})]", "{Q}[{f}({n}, k=-1)[0]]"])

_AT = "0, torch.tensor([1, 0])"

calls(
    {
        "np.nonzero": ["{V}[{f}({V} > {c})[0]]", "{M}[{f}({M})]"],
        "argwhere": ["{V}[{f}({V})[:, 0]]"],
        "np.searchsorted": ["{f}([-1, 0, 1], {V})*{V}", "{f}([-1, 0, 1], {M}, 'right')*{V}"],
        "bucketize": ["{f}({V}, [-1, 0, 1])*{V}"],
        "np.digitize": ["{f}({V}, [-1, 0, 1])*{V}"],
        "one_hot": ["{f}(torch.tensor([0, 1]), {n})*{V}", "{f}(torch.tensor([1, 0]))*{S}"],
        "gather": [
            "{V}, 0, torch.tensor([1, 0, 1])",
            "{M}, 1, torch.tensor([[0, 1], [1, 1]])",
            "{M}, 0, torch.tensor([[1, 0]])",
        ],
        "take_along_dim": [
            "{M}, torch.tensor([[1, 0]]), 1",
            "{M}, torch.tensor([0, 1, 1])",
            "{M}, torch.tensor([[0], [1]]), dim=0",
        ],
        "index_select": ["{V}, 0, torch.tensor([1, 1])", "{M}, 1, torch.tensor([1, 0, 0])"],
        "take": ["{V}, torch.tensor([1, -1])", "{M}, torch.tensor([[3], [0]])"],
        "np.take": ["{V}, [1, -1]", "{M}, [1, 0], axis=1"],
        "masked_select": ["{V}, {V} > {c}", "{M}, {V} < 9"],
        "np.compress": ["{V} < 9, {V}", "{U} < 9, {M}, axis=0"],
        "masked_fill": ["{M}, {M} > {c}, 0.5", "{M}, {V} > {c}, {S}"],
        "Tensor.where": ["{V}.{f}({V} > {c}, {V})", "{M}.{f}({M} > {c}, 0.5)"],
        "embedding": ["torch.tensor([1, 0, 1]), {M}", "torch.tensor([1, 0]), {M}, padding_idx=1"],
        "scatter": [
            f"{{V}}, {_AT}, {{U}}[:2]",
            "{M}, 1, torch.tensor([[1], [0]]), {c}",
            "{V}, 0, torch.tensor([1]), {c}",
        ],
        "scatter_add": ["{V}, 0, torch.tensor([1, 1]), {V}[:2]", "{M}, 0, torch.tensor([[1, 0], [1, 1]]), {Q}[:2, :2]"],
        "scatter_reduce": [
            f'{{V}}, 0, torch.tensor([1, 1]), {{V}}[:2], "{kind}"' for kind in ("sum", "mean", "prod", "amax", "amin")
        ]
        + ['{V}, 0, torch.tensor([1, 1]), {V}[:2], "mean", include_self=False'],
        "index_add": ["{V}, 0, torch.tensor([1, 1]), {V}[:2]", "{M}, 1, torch.tensor([0]), {U}[:, None], alpha=2"],
        "index_copy": ["{V}, 0, torch.tensor([1, 0]), {V}[:2]", "{M}, 1, torch.tensor([0]), {U}[:, None]"],
        "index_fill": ["{V}, 0, torch.tensor([1]), {S}", "{M}, 1, torch.tensor([0, 1]), {c}"],
        "index_put": [
            "{V}, (torch.tensor([1, 0]),), {V}[:2]",
            "{M}, (torch.tensor([1, 1]), torch.tensor([0, 0])), {S}, accumulate=True",
        ],
    }
)
