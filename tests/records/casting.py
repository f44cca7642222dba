"""Casts, and arrays made like others."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from records import mathematics as m
from records.record import record

record(
    "long",
    of_arrays=lambda x: m.built(x.shape, lambda place: mp.mpc(int(mp.re(x[place])))),
    flat=[([np.array([1.5, -2.5, 0.0, 3.0])], {})],
    pieces=[([[1.5, -0.25]], {})],
    recipes=["{E}.{f}()*{E}", "{V}[{V}.argmax().{f}()]"],
)

record(
    "bool",
    recipes=["{V}.{f}()*{V}", "{V} if {f}({S}) else -{V}"],
)

record(
    "item",
    recipes=["{V}.sum().{f}()*{V}"],
)

record(
    "int",
    recipes=["{f}({S})*{V}"],
)

record(
    "tolist",
    recipes=["{V}.{f}()*{V}"],
)
record(
    "numpy",
    recipes=["{V}.detach().{f}()*{V}"],
)
record(
    "cpu",
    recipes=["{V}.{f}()"],
)
record(
    "contiguous",
    recipes=["{M}.T.{f}()"],
)
record(
    "np.ascontiguousarray",
    recipes=["{M}.T"],
)
record(
    "to",
    recipes=["{V}.{f}(torch.float64)", '{V}.{f}("cpu")', "{V}.{f}({V})"],
)
record(
    "type",
    recipes=["{V}.{f}(torch.float64)"],
)
record(
    "astype",
    recipes=["{V}.{f}(float)"],
)
record(
    "device",
    recipes=['{V}.to({f}("cpu"))'],
)

for _name in ("FloatTensor", "LongTensor"):
    record(
        _name,
        recipes=["{f}([1, 2])*{S}"],
    )
record(
    "BoolTensor",
    recipes=["{f}([1, 0])*{S}"],
)

record(
    "new_zeros",
    recipes=["{V}.{f}({n}) + {V}"],
)
record(
    "new_ones",
    recipes=["{V}.{f}(({n},))*{V}"],
)
record(
    "new_full",
    recipes=["{V}.{f}(({n},), {S})"],
)
record(
    "new_tensor",
    recipes=["{V}.{f}([1.5, {c}])*{S}"],
)
record(
    "logspace",
    recipes=["{f}(0, 1, {n})*{V}", "{f}(-1, {c}, 3, base=2)*{S}"],
)
record(
    "np.logspace",
    recipes=["{f}(0, 1, {n})*{V}"],
)
record(
    "range",
    recipes=["{V}[{f}(2)]", "{V}[{f}({n} - 1, -1, -1)]"],
)
