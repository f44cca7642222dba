"""Positions, and what picks and writes entries at them."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records import values as v
from records.record import record


def put(x, places, entries):
    """Return a copy of x with entries written at places."""
    found = np.array(x)
    found[places] = entries
    return found


def plus(x, places, entries):
    """Return a copy of x with entries added at places."""
    found = np.array(x)
    np.add.at(found, places, entries)
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
    recipes=["{V}[{f}({V})[:, 0]]", "{M}[{f}({M} > {c}, as_tuple=True)]", "{V}[({V} > {c}).{f}()[:, 0]]"],
    programs={"x[nonzero(x > 0)[:, 0]]": v.x[[0, 2]], "A[(A < 0).nonzero(as_tuple=True)]": v.A[v.A < 0]},
)

record(
    "np.nonzero",
    recipes=["{V}[{f}({V} > {c})[0]]", "{M}[{f}({M})]"],
    programs={"x[np.nonzero(x > 0)[0]]": v.x[[0, 2]]},
)

record(
    "argwhere",
    recipes=["{V}[{f}({V})[:, 0]]"],
    programs={"A[0][argwhere(A[0] > 0)[:, 0]]": v.A[0][v.A[0] > 0]},
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
    programs={"searchsorted([-1, 0, 1], x)*s": np.array([2, 0, 2]) * v.s},
)

record(
    "np.searchsorted",
    recipes=["{f}([-1, 0, 1], {V})*{V}", "{f}([-1, 0, 1], {M}, 'right')*{V}"],
    programs={
        "np.searchsorted([-1, 0, 1], x)*s": np.array([2, 0, 2]) * v.s,
        "np.searchsorted([1, 2, 2], [1, 2], 'left')*s": np.array([0, 1]) * v.s,
        "np.searchsorted([1, 2, 2], [1, 2], side='right')*s": np.array([1, 3]) * v.s,
    },
)

record(
    "bucketize",
    recipes=["{f}({V}, [-1, 0, 1])*{V}"],
    programs={"bucketize(x, [-1, 0, 1])*s": np.array([2, 0, 2]) * v.s},
)

record(
    "np.digitize",
    recipes=["{f}({V}, [-1, 0, 1])*{V}"],
    programs={"np.digitize(x, [-1, 0, 1])*s": np.array([2, 0, 2]) * v.s},
)

for _name, _rule in (("tril_indices", np.tril_indices), ("triu_indices", np.triu_indices)):
    record(
        _name,
        recipes=["{Q}[{f}({n}, {n})[0], {f}({n}, {n})[1]]"],
        programs={f"i = {_name}(3, 3, 1); S[i[0], i[1]]": v.S[_rule(3, 1)]},
    )
    record(
        f"np.{_name}",
        recipes=["{Q}[{f}({n})]", "{Q}[{f}({n}, k=-1)[0]]"],
        programs={f"S[np.{_name}(3)]": v.S[_rule(3)]},
    )

record(
    "one_hot",
    recipes=["{f}(torch.tensor([0, 1]), {n})*{V}", "{f}(torch.tensor([1, 0]))*{S}"],
    programs={"F.one_hot(torch.tensor([2, 0]))*x": [[0, 0, v.x[2]], [v.x[0], 0, 0]]},
)

record(
    "gather",
    recipes=[
        "{V}, 0, torch.tensor([1, 0, 1])",
        "{M}, 1, torch.tensor([[0, 1], [1, 1]])",
        "{M}, 0, torch.tensor([[1, 0]])",
    ],
    programs={
        "gather(A, 1, torch.tensor([[2, 2], [0, 1]]))": [[v.A[0, 2], v.A[0, 2]], [v.A[1, 0], v.A[1, 1]]],
        "x.gather(0, torch.tensor([1, 1]))": v.x[[1, 1]],
    },
)

record(
    "take_along_dim",
    recipes=[
        "{M}, torch.tensor([[1, 0]]), 1",
        "{M}, torch.tensor([0, 1, 1])",
        "{M}, torch.tensor([[0], [1]]), dim=0",
    ],
    programs={"take_along_dim(A, torch.tensor([[2], [0]]), 1)": [[v.A[0, 2]], [v.A[1, 0]]]},
)

record(
    "index_select",
    recipes=["{V}, 0, torch.tensor([1, 1])", "{M}, 1, torch.tensor([1, 0, 0])"],
    programs={"index_select(A, 1, torch.tensor([2, 2]))": v.A[:, [2, 2]]},
)

record(
    "take",
    recipes=["{V}, torch.tensor([1, -1])", "{M}, torch.tensor([[3], [0]])"],
    programs={"take(A, torch.tensor([[5, 0]]))": [[v.A[1, 2], v.A[0, 0]]]},
)

record(
    "np.take",
    recipes=["{V}, [1, -1]", "{M}, [1, 0], axis=1"],
    programs={"np.take(A, [2, 0], axis=1)": v.A[:, [2, 0]]},
)

record(
    "masked_select",
    recipes=["{V}, {V} > {c}", "{M}, {V} < 9"],
    programs={"masked_select(A, A > 0)": v.A[v.A > 0]},
)

record(
    "np.compress",
    recipes=["{V} < 9, {V}", "{U} < 9, {M}, axis=0"],
    programs={"np.compress(x > 0, A, axis=1)": v.A[:, v.x > 0]},
)

record(
    "masked_fill",
    recipes=["{M}, {M} > {c}, 0.5", "{M}, {V} > {c}, {S}"],
    programs={"masked_fill(x, x < 0, s)": np.where(v.x < 0, v.s, v.x)},
)

record(
    "Tensor.where",
    recipes=["{V}.{f}({V} > {c}, {V})", "{M}.{f}({M} > {c}, 0.5)"],
    programs={"x.where(x > 0, p)": np.where(v.x > 0, v.x, v.p)},
)

record(
    "embedding",
    recipes=["torch.tensor([1, 0, 1]), {M}", "torch.tensor([1, 0]), {M}, padding_idx=1"],
    programs={"F.embedding(torch.tensor([1, 0, 1]), A)": v.A[[1, 0, 1]]},
)

record(
    "scatter",
    recipes=[
        "{V}, 0, torch.tensor([1, 0]), {U}[:2]",
        "{M}, 1, torch.tensor([[1], [0]]), {c}",
        "{V}, 0, torch.tensor([1]), {c}",
    ],
    programs={"scatter(x, 0, torch.tensor([2, 0]), b)": put(v.x, [2, 0], v.b)},
)

record(
    "scatter_add",
    recipes=["{V}, 0, torch.tensor([1, 1]), {V}[:2]", "{M}, 0, torch.tensor([[1, 0], [1, 1]]), {Q}[:2, :2]"],
    programs={"x.scatter_add(0, torch.tensor([1, 1]), b)": plus(v.x, [1, 1], v.b)},
)

record(
    "scatter_reduce",
    recipes=[f'{{V}}, 0, torch.tensor([1, 1]), {{V}}[:2], "{kind}"' for kind in ("sum", "mean", "prod", "amax", "amin")]
    + ['{V}, 0, torch.tensor([1, 1]), {V}[:2], "mean", include_self=False'],
    programs={'scatter_reduce(x, 0, torch.tensor([1, 1]), b, "prod")': [0.3, -1.2 * v.b[0] * v.b[1], 0.8]},
)

record(
    "index_add",
    recipes=["{V}, 0, torch.tensor([1, 1]), {V}[:2]", "{M}, 1, torch.tensor([0]), {U}[:, None], alpha=2"],
    programs={"index_add(A, 1, torch.tensor([2, 2]), b*A[:, :2])": plus(v.A, (slice(None), [2, 2]), v.b * v.A[:, :2])},
)


record(
    "index_copy",
    recipes=["{V}, 0, torch.tensor([1, 0]), {V}[:2]", "{M}, 1, torch.tensor([0]), {U}[:, None]"],
    programs={"index_copy(x, 0, torch.tensor([2, 0]), b)": put(v.x, [2, 0], v.b)},
)

record(
    "index_fill",
    recipes=["{V}, 0, torch.tensor([1]), {S}", "{M}, 1, torch.tensor([0, 1]), {c}"],
    programs={"index_fill(A, 1, torch.tensor([2, 0]), s)": put(v.A, (slice(None), [2, 0]), v.s)},
)

record(
    "index_put",
    recipes=[
        "{V}, (torch.tensor([1, 0]),), {V}[:2]",
        "{M}, (torch.tensor([1, 1]), torch.tensor([0, 0])), {S}, accumulate=True",
    ],
    programs={"index_put(A, (torch.tensor([0, 1]), torch.tensor([2, 0])), b)": put(v.A, ([0, 1], [2, 0]), v.b)},
)
