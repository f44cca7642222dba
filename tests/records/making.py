"""What makes arrays."""

from __future__ import annotations

from records import constants as c
from records.record import record

record(
    "detach",
    of_arrays=lambda x: x,
    flat=[([c.HALVES], {})],
    recipes=["{E}.{f}()*{E}"],
)

record(
    "zeros",
    recipes=["{f}({m}, {n}) + {M}", "{V} - {f}(({n},))"],
)

record(
    "ones",
    recipes=["{f}({n})*{S}", "{f}(({m}, {n}))*{V}"],
)

record(
    "full",
    recipes=["({m}, {n}), {S}", "({n},), {S}"],
)

record(
    "eye",
    recipes=["{f}({n})*{V}", "{f}({m}, {n}) @ {V}", "{Q} - {S}*{f}({n})"],
)

record(
    "arange",
    recipes=["{V:0.3,2}**{f}({n})", "{f}(1, {n} + 1)*{V}", "{f}(0, 2, 0.5)*{S}"],
)

record(
    "linspace",
    recipes=["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4)*{S}"],
)

record(
    "np.linspace",
    recipes=["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4, endpoint=False)*{S}"],
)

record(
    "zeros_like",
    recipes=["{f}({M}) + {V}"],
)

record(
    "ones_like",
    recipes=["{f}({V})*{S}"],
)

record(
    "full_like",
    recipes=["{M}, {S}"],
)

record(
    "float",
    recipes=["{E}"],
)

record(
    "double",
    recipes=["{E}"],
)

record(
    "tensor",
    recipes=["{f}([1.5, {c}])*{S}", "{f}([[{c}], [-0.5]]) + {V}"],
)

record(
    "np.array",
    recipes=["{f}([1.5, {c}])*{S}", "{f}([{S}, {S}])"],
)

record(
    "np.asarray",
    recipes=["{f}([0.5, {c}])*{S}", "{f}({V})"],
)

record(
    "as_tensor",
    recipes=["{f}([0.5, {c}])*{S}", "{f}([[{c}], [2]])*{V}"],
)
