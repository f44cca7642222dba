"""Casts, and arrays made like others."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from generator import arrays, placing, shapes
from records import mathematics as m
from records.record import record

record(
    "long",
    of_arrays=lambda x: m.built(x.shape, lambda place: mp.mpc(int(mp.re(x[place])))),
    flat=[([np.array([1.5, -2.5, 0.0, 3.0])], {})],
    pieces=[([[1.5, -0.25]], {})],
    oracle=placing.cut,
    recipes=["{E}.{f}()*{E}", "{V}[{V}.argmax().{f}()]"],
)

record(
    "bool",
    oracle=lambda x: arrays.Array(placing.truths(x)),
    recipes=["{V}.{f}()*{V}", "{V} if {f}({S}) else -{V}"],
)

record(
    "item",
    oracle=placing.held,
    recipes=["{V}.sum().{f}()*{V}"],
)

record(
    "int",
    oracle=placing.cut,
    recipes=["{f}({S})*{V}"],
)

record(
    "tolist",
    oracle=placing.held,
    recipes=["{V}.{f}()*{V}"],
)
record(
    "numpy",
    oracle=arrays.array,
    recipes=["{V}.detach().{f}()*{V}"],
)
record(
    "cpu",
    oracle=arrays.array,
    recipes=["{V}.{f}()"],
)
record(
    "contiguous",
    oracle=shapes.moving(np.array),
    recipes=["{M}.T.{f}()"],
)
record(
    "np.ascontiguousarray",
    oracle=shapes.moving(np.array),
    recipes=["{M}.T"],
)
record(
    "to",
    oracle=lambda x, *_, **__: arrays.array(x),
    recipes=["{V}.{f}(torch.float64)", '{V}.{f}("cpu")', "{V}.{f}({V})"],
)
record(
    "type",
    oracle=lambda x, _: arrays.array(x),
    recipes=["{V}.{f}(torch.float64)"],
)
record(
    "astype",
    oracle=lambda x, _: arrays.array(x),
    recipes=["{V}.{f}(float)"],
)
record(
    "device",
    oracle=lambda name: name,
    recipes=['{V}.to({f}("cpu"))'],
)

for _name in ("FloatTensor", "LongTensor"):
    record(
        _name,
        oracle=shapes.moving(np.array),
        recipes=["{f}([1, 2])*{S}"],
    )
record(
    "BoolTensor",
    oracle=lambda x: arrays.Array(placing.truths(x)),
    recipes=["{f}([1, 0])*{S}"],
)

record(
    "new_zeros",
    oracle=placing.constants(0.0),
    recipes=["{V}.{f}({n}) + {V}"],
)
record(
    "new_ones",
    oracle=placing.constants(1.0),
    recipes=["{V}.{f}(({n},))*{V}"],
)
record(
    "new_full",
    oracle=lambda x, shape, value: shapes.filled(shape, value),
    recipes=["{V}.{f}(({n},), {S})"],
)
record(
    "new_tensor",
    oracle=lambda x, data: arrays.array(data),
    recipes=["{V}.{f}([1.5, {c}])*{S}"],
)
record(
    "logspace",
    oracle=shapes.fixed(
        lambda start, end, steps, base=10.0: np.power(base, np.linspace(float(start), float(end), steps))
    ),
    recipes=["{f}(0, 1, {n})*{V}", "{f}(-1, {c}, 3, base=2)*{S}"],
)
record(
    "np.logspace",
    oracle=shapes.fixed(np.logspace),
    recipes=["{f}(0, 1, {n})*{V}"],
)
record(
    "range",
    oracle=range,
    recipes=["{V}[{f}(2)]", "{V}[{f}({n} - 1, -1, -1)]"],
)
