"""Casts, and arrays made like others."""

from __future__ import annotations

import numpy as np
from mpmath import mp

from records import mathematics as m
from records import values as v
from records.record import record

record(
    "long",
    of_arrays=lambda x: m.built(x.shape, lambda place: mp.mpc(int(mp.re(x[place])))),
    flat=[([np.array([1.5, -2.5, 0.0, 3.0])], {})],
    pieces=[([[1.5, -0.25]], {})],
    recipes=["{E}.{f}()*{E}", "{V}[{V}.argmax().{f}()]"],
    programs={"x.long()*p": [0, -0.5, 0], "x.int() + p": [0.2, -0.5, 0.7]},
)

record(
    "bool",
    recipes=["{V}.{f}()*{V}", "{V} if {f}({S}) else -{V}"],
    programs={"x.bool()*p": v.p},
)

record(
    "item",
    recipes=["{V}.sum().{f}()*{V}"],
    programs={"s.item()*0 + p": v.p},
    values={"float(s)*p": v.s * v.p},
)

record(
    "int",
    recipes=["{f}({S})*{V}"],
    programs={"int(x[1])*p": -v.p},
)

record(
    "tolist",
    recipes=["{V}.{f}()*{V}"],
    programs={"x.tolist()*0 + p": v.p},
    values={"torch.tensor(x.tolist())*p": v.x * v.p},
)
record(
    "numpy",
    recipes=["{V}.detach().{f}()*{V}"],
    programs={"x.detach().numpy()*0 + p": v.p},
    values={"x.detach().numpy()*p": v.x * v.p},
)
record("cpu", recipes=["{V}.{f}()"], programs={"x.cpu()": v.x, "x.cuda(0)*p": v.x * v.p})
record("contiguous", recipes=["{M}.T.{f}()"], programs={"A.T.contiguous()": v.A.T})
record("np.ascontiguousarray", recipes=["{M}.T"], programs={"np.ascontiguousarray(x)": v.x})
record(
    "to",
    recipes=["{V}.{f}(torch.float64)", '{V}.{f}("cpu")', "{V}.{f}({V})"],
    programs={"x.to(torch.float64)": v.x, "(x > 0).to(x)*p": (v.x > 0) * v.p, 'x.to("cuda:0", torch.double)': v.x},
)
record(
    "type",
    recipes=["{V}.{f}(torch.float64)"],
    programs={
        "x.type(torch.DoubleTensor)": v.x,
        "(x > 0).type_as(p)*p": (v.x > 0) * v.p,
    },
)
record(
    "astype",
    recipes=["{V}.{f}(float)"],
    programs={"x.astype(float)*p": v.x * v.p},
)
record("device", recipes=['{V}.to({f}("cpu"))'], programs={'x.to(torch.device("cpu"))': v.x})

for _name in ("FloatTensor", "LongTensor"):
    record(
        _name,
        recipes=["{f}([1, 2])*{S}"],
        programs={f"torch.{_name}([1, 2, 3])*x": v.x * [1, 2, 3]},
    )
record(
    "BoolTensor",
    recipes=["{f}([1, 0])*{S}"],
    programs={"torch.BoolTensor([1, 0, 1])*x": v.x * [1, 0, 1]},
)

record("new_zeros", recipes=["{V}.{f}({n}) + {V}"], programs={"x.new_zeros(3) + p": v.p})
record("new_ones", recipes=["{V}.{f}(({n},))*{V}"], programs={"x.new_ones((3,))*p": v.p})
record(
    "new_full",
    recipes=["{V}.{f}(({n},), {S})"],
    programs={"x.new_full((2,), s)": [v.s, v.s]},
)
record(
    "new_tensor",
    recipes=["{V}.{f}([1.5, {c}])*{S}"],
    programs={"x.new_tensor([1, 2, 3])*x": v.x * [1, 2, 3]},
)
record(
    "logspace",
    recipes=["{f}(0, 1, {n})*{V}", "{f}(-1, {c}, 3, base=2)*{S}"],
    programs={"logspace(0, 2, 3)*x": v.x * [1, 10, 100]},
)
record(
    "np.logspace",
    recipes=["{f}(0, 1, {n})*{V}"],
    programs={"np.logspace(0, 2, 3)*x": v.x * [1, 10, 100]},
)
record(
    "range",
    recipes=["{V}[{f}(2)]", "{V}[{f}({n} - 1, -1, -1)]"],
    programs={"x[range(2, -1, -1)]": v.x[::-1]},
)
