"""What makes arrays."""

from __future__ import annotations

import numpy as np

from records import constants as c
from records import values as v
from records.record import record

record(
    "detach",
    of_arrays=lambda x: x,
    flat=[([c.HALVES], {})],
    recipes=["{E}.{f}()*{E}"],
    programs={"x.detach()*0 + p": v.p},
    values={"x.detach() + p": v.x + v.p},
)

record(
    "zeros",
    recipes=["{f}({m}, {n}) + {M}", "{V} - {f}(({n},))"],
    programs={"y = zeros(2, 3); y[0] = x; y": [v.x, 0 * v.x]},
)

record(
    "ones",
    recipes=["{f}({n})*{S}", "{f}(({m}, {n}))*{V}"],
    programs={"ones(2, 3)*x": [v.x, v.x]},
)

record(
    "full",
    recipes=["({m}, {n}), {S}", "({n},), {S}"],
    programs={"full((2, 2), s)": [[v.s, v.s], [v.s, v.s]]},
)

record(
    "eye",
    recipes=["{f}({n})*{V}", "{f}({m}, {n}) @ {V}", "{Q} - {S}*{f}({n})"],
    programs={"S - s*eye(3)": [[1.3, 0.3, -0.5], [0.1, 0.8, 0.4], [-0.7, 0.2, 1.1]]},
)

record(
    "arange",
    recipes=["{V:0.3,2}**{f}({n})", "{f}(1, {n} + 1)*{V}", "{f}(0, 2, 0.5)*{S}"],
    programs={"x**arange(1, 4)": [v.x[0], v.x[1] ** 2, v.x[2] ** 3]},
)

record(
    "linspace",
    recipes=["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4)*{S}"],
    programs={"x*linspace(0, 1, 3)": [0, v.x[1] / 2, v.x[2]]},
)

record(
    "np.linspace",
    recipes=["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4, endpoint=False)*{S}"],
    programs={
        "x*np.linspace(0, 1, 3)": [0, v.x[1] / 2, v.x[2]],
        "np.linspace(0, 1, 4, False)*s": v.s * np.arange(4) / 4,
    },
)

record(
    "zeros_like",
    recipes=["{f}({M}) + {V}"],
    programs={"zeros_like(x) + p*x": v.p * v.x},
)

record(
    "ones_like",
    recipes=["{f}({V})*{S}"],
    programs={"ones_like(x)*s": [v.s, v.s, v.s]},
)

record(
    "full_like",
    recipes=["{M}, {S}"],
    programs={"full_like(x, s)": [v.s, v.s, v.s]},
)

record(
    "float",
    recipes=["{E}"],
    programs={"x.float()": v.x},
)

record(
    "double",
    recipes=["{E}"],
    programs={"x.double()*p": v.x * v.p},
)

record(
    "tensor",
    recipes=["{f}([1.5, {c}])*{S}", "{f}([[{c}], [-0.5]]) + {V}"],
    programs={"torch.tensor([1.0, 2.0, 3.0])*x": [v.x[0], 2 * v.x[1], 3 * v.x[2]]},
)

record(
    "np.array",
    recipes=["{f}([1.5, {c}])*{S}", "{f}([{S}, {S}])"],
    programs={"np.array([1, 2, 3])*x": [v.x[0], 2 * v.x[1], 3 * v.x[2]], "jnp.array([s, s**2])": [v.s, v.s**2]},
)

record(
    "np.asarray",
    recipes=["{f}([0.5, {c}])*{S}", "{f}({V})"],
    programs={"np.asarray([1, 2, 3])*x": [v.x[0], 2 * v.x[1], 3 * v.x[2]], "jnp.asarray(x)": v.x},
)

record(
    "as_tensor",
    recipes=["{f}([0.5, {c}])*{S}", "{f}([[{c}], [2]])*{V}"],
    programs={"torch.as_tensor([1.0, 2.0, 3.0])*x": [v.x[0], 2 * v.x[1], 3 * v.x[2]]},
)
