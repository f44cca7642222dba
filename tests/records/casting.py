"""Casts, and arrays made like others."""

import numpy as np
from mpmath import mp

from records import mathematics as m
from records.record import calls, record

record(
    "long",
    of_arrays=lambda x: m.built(x.shape, lambda place: mp.mpc(int(mp.re(x[place])))),
    flat=[([np.array([1.5, -2.5, 0.0, 3.0])], {})],
    pieces=[([[1.5, -0.25]], {})],
    recipes=["{E}.{f}()*{E}", "{V}[{V}.argmax().{f}()]"],
)

for _name in ("FloatTensor", "LongTensor"):
    record(_name, recipes=["{f}([1, 2])*{S}"])

calls(
    {
        "bool": ["{V}.{f}()*{V}", "{V} if {f}({S}) else -{V}"],
        "item": ["{V}.sum().{f}()*{V}"],
        "int": ["{f}({S})*{V}"],
        "tolist": ["{V}.{f}()*{V}"],
        "numpy": ["{V}.detach().{f}()*{V}"],
        "cpu": ["{V}.{f}()"],
        "contiguous": ["{M}.T.{f}()"],
        "np.ascontiguousarray": ["{M}.T"],
        "to": ["{V}.{f}(torch.float64)", '{V}.{f}("cpu")', "{V}.{f}({V})"],
        "type": ["{V}.{f}(torch.float64)"],
        "astype": ["{V}.{f}(float)"],
        "device": ['{V}.to({f}("cpu"))'],
        "BoolTensor": ["{f}([1, 0])*{S}"],
        "new_zeros": ["{V}.{f}({n}) + {V}"],
        "new_ones": ["{V}.{f}(({n},))*{V}"],
        "new_full": ["{V}.{f}(({n},), {S})"],
        "new_tensor": ["{V}.{f}([1.5, {c}])*{S}"],
        "logspace": ["{f}(0, 1, {n})*{V}", "{f}(-1, {c}, 3, base=2)*{S}"],
        "np.logspace": ["{f}(0, 1, {n})*{V}"],
        "range": ["{V}[{f}(2)]", "{V}[{f}({n} - 1, -1, -1)]"],
    }
)
