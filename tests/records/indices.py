"""Positions, and what picks and writes entries at them."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from generator import placing
from records import constants as c
from records import mathematics as m
from records.record import record


def put(x, places, entries):
    """Return a copy of x with entries written at places."""
    found = np.array(x)
    found[places] = entries
    return found


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
    oracle=placing.nonzero,
    recipes=["{V}[{f}({V})[:, 0]]", "{M}[{f}({M} > {c}, as_tuple=True)]", "{V}[({V} > {c}).{f}()[:, 0]]"],
)

record(
    "np.nonzero",
    oracle=lambda x: placing.nonzero(x, as_tuple=True),
    recipes=["{V}[{f}({V} > {c})[0]]", "{M}[{f}({M})]"],
)

record(
    "argwhere",
    oracle=placing.nonzero,
    recipes=["{V}[{f}({V})[:, 0]]"],
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
    oracle=placing.counted,
    recipes=["{f}([-1, 0, 1], {V})*{V}", "{f}([-1, 0, 1], {M}, right=True)*{V}"],
)

record(
    "np.searchsorted",
    oracle=lambda edges, values, side="left": placing.counted(edges, values, side == "right"),
    recipes=["{f}([-1, 0, 1], {V})*{V}", "{f}([-1, 0, 1], {M}, 'right')*{V}"],
)

record(
    "bucketize",
    oracle=lambda values, edges, right=False: placing.counted(edges, values, right),
    recipes=["{f}({V}, [-1, 0, 1])*{V}"],
)

record(
    "np.digitize",
    oracle=lambda values, edges, right=False: placing.counted(edges, values, not right),
    recipes=["{f}({V}, [-1, 0, 1])*{V}"],
)

for _name, _rule in (("tril_indices", np.tril_indices), ("triu_indices", np.triu_indices)):
    record(
        _name,
        oracle=lambda row, col, diagonal=0, rule=_rule: placing.integers(rule(row, diagonal, col)),
        recipes=["{Q}[{f}({n}, {n})[0], {f}({n}, {n})[1]]"],
    )
    record(
        f"np.{_name}",
        oracle=lambda n, diagonal=0, m=None, rule=_rule: [placing.integers(part) for part in rule(n, diagonal, m)],
        recipes=["{Q}[{f}({n})]", "{Q}[{f}({n}, k=-1)[0]]"],
    )

record(
    "one_hot",
    oracle=placing.hot,
    recipes=["{f}(torch.tensor([0, 1]), {n})*{V}", "{f}(torch.tensor([1, 0]))*{S}"],
)

record(
    "gather",
    oracle=placing.gathered,
    recipes=[
        "{V}, 0, torch.tensor([1, 0, 1])",
        "{M}, 1, torch.tensor([[0, 1], [1, 1]])",
        "{M}, 0, torch.tensor([[1, 0]])",
    ],
)

record(
    "take_along_dim",
    oracle=placing.along_broadcast,
    recipes=[
        "{M}, torch.tensor([[1, 0]]), 1",
        "{M}, torch.tensor([0, 1, 1])",
        "{M}, torch.tensor([[0], [1]]), dim=0",
    ],
)

record(
    "index_select",
    oracle=placing.selected,
    recipes=["{V}, 0, torch.tensor([1, 1])", "{M}, 1, torch.tensor([1, 0, 0])"],
)

record(
    "take",
    oracle=placing.taken,
    recipes=["{V}, torch.tensor([1, -1])", "{M}, torch.tensor([[3], [0]])"],
)

record(
    "np.take",
    oracle=placing.taken,
    recipes=["{V}, [1, -1]", "{M}, [1, 0], axis=1"],
)

record(
    "masked_select",
    oracle=placing.masked,
    recipes=["{V}, {V} > {c}", "{M}, {V} < 9"],
)

record(
    "np.compress",
    oracle=placing.compressed,
    recipes=["{V} < 9, {V}", "{U} < 9, {M}, axis=0"],
)

record(
    "masked_fill",
    oracle=placing.filled,
    recipes=["{M}, {M} > {c}, 0.5", "{M}, {V} > {c}, {S}"],
)

record(
    "Tensor.where",
    oracle=placing.chosen,
    recipes=["{V}.{f}({V} > {c}, {V})", "{M}.{f}({M} > {c}, 0.5)"],
)

record(
    "embedding",
    oracle=placing.embedded,
    recipes=["torch.tensor([1, 0, 1]), {M}", "torch.tensor([1, 0]), {M}, padding_idx=1"],
)

_AT = "0, torch.tensor([1, 0])"
record(
    "scatter",
    oracle=placing.scattered(placing.last),
    recipes=[f"{{V}}, {_AT}, {{U}}[:2]", "{M}, 1, torch.tensor([[1], [0]]), {c}", "{V}, 0, torch.tensor([1]), {c}"],
)

record(
    "scatter_add",
    oracle=placing.scattered(placing.total),
    recipes=["{V}, 0, torch.tensor([1, 1]), {V}[:2]", "{M}, 0, torch.tensor([[1, 0], [1, 1]]), {Q}[:2, :2]"],
)

record(
    "scatter_reduce",
    oracle=placing.scatter_reduced,
    recipes=[f'{{V}}, 0, torch.tensor([1, 1]), {{V}}[:2], "{kind}"' for kind in placing.BY_NAME]
    + ['{V}, 0, torch.tensor([1, 1]), {V}[:2], "mean", include_self=False'],
)

record(
    "index_add",
    oracle=placing.index_added,
    recipes=["{V}, 0, torch.tensor([1, 1]), {V}[:2]", "{M}, 1, torch.tensor([0]), {U}[:, None], alpha=2"],
)


record(
    "index_copy",
    oracle=placing.layered(placing.last),
    recipes=["{V}, 0, torch.tensor([1, 0]), {V}[:2]", "{M}, 1, torch.tensor([0]), {U}[:, None]"],
)

record(
    "index_fill",
    oracle=placing.index_filled,
    recipes=["{V}, 0, torch.tensor([1]), {S}", "{M}, 1, torch.tensor([0, 1]), {c}"],
)

record(
    "index_put",
    oracle=placing.index_written,
    recipes=[
        "{V}, (torch.tensor([1, 0]),), {V}[:2]",
        "{M}, (torch.tensor([1, 1]), torch.tensor([0, 0])), {S}, accumulate=True",
    ],
)
