"""What makes arrays."""

from records import constants as c
from records.record import calls, record

record("detach", of_arrays=lambda x: x, flat=[([c.HALVES], {})], recipes=["{E}.{f}()*{E}"])

calls(
    {
        "zeros": ["{f}({m}, {n}) + {M}", "{V} - {f}(({n},))"],
        "ones": ["{f}({n})*{S}", "{f}(({m}, {n}))*{V}"],
        "full": ["({m}, {n}), {S}", "({n},), {S}"],
        "eye": ["{f}({n})*{V}", "{f}({m}, {n}) @ {V}", "{Q} - {S}*{f}({n})"],
        "arange": ["{V:0.3,2}**{f}({n})", "{f}(1, {n} + 1)*{V}", "{f}(0, 2, 0.5)*{S}"],
        "linspace": ["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4)*{S}"],
        "np.linspace": ["{V}*{f}(0, 1, {n})", "{f}(-1, {c}, 4, endpoint=False)*{S}"],
        "zeros_like": ["{f}({M}) + {V}"],
        "ones_like": ["{f}({V})*{S}"],
        "full_like": ["{M}, {S}"],
        "float": ["{E}"],
        "double": ["{E}"],
        "tensor": ["{f}([1.5, {c}])*{S}", "{f}([[{c}], [-0.5]]) + {V}"],
        "np.array": ["{f}([1.5, {c}])*{S}", "{f}([{S}, {S}])"],
        "np.asarray": ["{f}([0.5, {c}])*{S}", "{f}({V})"],
        "as_tensor": ["{f}([0.5, {c}])*{S}", "{f}([[{c}], [2]])*{V}"],
    }
)
