"""What makes arrays."""

from __future__ import annotations

import numpy as np

from generator import arrays, shapes
from records import constants as c
from records.record import record

record(
    "detach",
    of_arrays=lambda x: x,
    flat=[([c.HALVES], {})],
    oracle=shapes.detached,
    recipes=["{E}.{f}()*{E}"],
)

record(
    "zeros",
    oracle=shapes.fixed(lambda *shape: np.zeros(shapes.whole(shape))),
    recipes=["{f}({m}, {n}) + {M}", "{V} - {f}(({n},))"],
)

record(
    "ones",
    oracle=shapes.fixed(lambda *shape: np.ones(shapes.whole(shape))),
    recipes=["{f}({n})*{S}", "{f}(({m}, {n}))*{V}"],
)

record(
    "full",
    oracle=shapes.filled,
    recipes=["({m}, {n}), {S}", "({n},), {S}"],
)

record(
    "eye",
    oracle=shapes.fixed(np.eye),
    recipes=["{f}({n})*{V}", "{f}({m}, {n}) @ {V}", "{Q} - {S}*{f}({n})"],
)

record(
    "arange",
    oracle=shapes.fixed(lambda *bounds: np.arange(*bounds, dtype=np.float64)),
    recipes=["{V:0.3,2}**{f}({n})", "{f}(1, {n} + 1)*{V}", "{f}(0, 2, 0.5)*{S}"],
)

record(
    "linspace",
    oracle=shapes.fixed(lambda start, end, steps: np.linspace(float(start), float(end), int(steps))),
    recipes=["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4)*{S}"],
)

record(
    "np.linspace",
    oracle=shapes.fixed(np.linspace),
    recipes=["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4, endpoint=False)*{S}"],
)

record(
    "zeros_like",
    oracle=lambda x: arrays.array(np.zeros(arrays.array(x).shape)),
    recipes=["{f}({M}) + {V}"],
)

record(
    "ones_like",
    oracle=lambda x: arrays.array(np.ones(arrays.array(x).shape)),
    recipes=["{f}({V})*{S}"],
)

record(
    "full_like",
    oracle=lambda x, fill_value: shapes.filled(arrays.array(x).shape, fill_value),
    recipes=["{M}, {S}"],
)

record(
    "float",
    oracle=shapes.moving(np.array),
    recipes=["{E}"],
)

record(
    "double",
    oracle=arrays.array,
    recipes=["{E}"],
)

record(
    "tensor",
    oracle=shapes.moving(np.array),
    recipes=["{f}([1.5, {c}])*{S}", "{f}([[{c}], [-0.5]]) + {V}"],
)

record(
    "np.array",
    oracle=arrays.array,
    recipes=["{f}([1.5, {c}])*{S}", "{f}([{S}, {S}])"],
)

record(
    "np.asarray",
    oracle=arrays.array,
    recipes=["{f}([0.5, {c}])*{S}", "{f}({V})"],
)

record(
    "as_tensor",
    oracle=arrays.array,
    recipes=["{f}([0.5, {c}])*{S}", "{f}([[{c}], [2]])*{V}"],
)
