"""Covariances and correlations, the spread of what is no nan, and counts with weights."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.record import record

record(
    "cov",
    recipes=["{M:-4,4}", "{V:-4,4}", "{M:-4,4}, correction=0"],
    programs={
        "torch.cov(A)": np.cov(v.A),
        "x.cov()": np.cov(v.x),
        "cov(A, aweights=p)": np.cov(v.A, aweights=v.p),
        "cov(A, fweights=torch.tensor([1, 2, 1]), aweights=p)": np.cov(v.A, fweights=[1, 2, 1], aweights=v.p),
        "cov(A, correction=0, fweights=torch.tensor([1, 2, 1]))": np.cov(v.A, ddof=0, fweights=[1, 2, 1]),
    },
)

record(
    "corrcoef",
    recipes=["{M:-4,4}", "{V:-4,4}"],
    programs={"torch.corrcoef(A)": np.corrcoef(v.A), "x.corrcoef()": 1.0},
)

record(
    "np.cov",
    recipes=["{M:-4,4}", "{M:-4,4}, rowvar=False", "{V:-4,4}, bias=True"],
    programs={
        "np.cov(A)": np.cov(v.A),
        "np.cov(x, p)": np.cov(v.x, v.p),
        "np.cov(A, rowvar=False)": np.cov(v.A, rowvar=False),
        "np.cov(A, ddof=0, aweights=p)": np.cov(v.A, ddof=0, aweights=v.p),
    },
)

record(
    "np.corrcoef",
    recipes=["{M:-4,4}", "{M:-4,4}, rowvar=False"],
    programs={"np.corrcoef(x, p)": np.corrcoef(v.x, v.p), "np.corrcoef(B.T)[0, 1]": np.corrcoef(v.B.T)[0, 1]},
)

for _name, _value in (("np.nanvar", np.var), ("np.nanstd", np.std)):
    record(
        _name,
        recipes=["{V:-4,4}", "{M:-4,4}, axis=1", "{M:-4,4}, 0, keepdims=True"],
        programs={
            f"{_name}(x)": _value(v.x),
            f"{_name}(A, axis=1, ddof=1)": _value(v.A, axis=1, ddof=1),
        },
        values={
            f"{_name}(where(A > 1.8, 0*log(-A), A), axis=0)": getattr(np, _name[3:])(
                np.where(v.A > 1.8, np.nan, v.A), axis=0
            ),
        },
    )

record(
    "bincount",
    recipes=["{f}(torch.tensor([0, 1, 1]), [{S}, {S}, {S}])", "{f}(torch.tensor([2, 0]), [{S}, {S}], minlength=4)"],
    programs={
        "np.bincount([0, 1, 1], x)": [v.x[0], v.x[1] + v.x[2]],
        "torch.bincount(torch.tensor([0, 1, 1]), minlength=3)*x": np.array([1, 2, 0]) * v.x,
    },
)
