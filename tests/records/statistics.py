"""Covariances and correlations, the spread of what is no nan, and counts with weights."""

from __future__ import annotations

from records.record import record

record(
    "cov",
    recipes=["{M:-4,4}", "{V:-4,4}", "{M:-4,4}, correction=0"],
)

record(
    "corrcoef",
    recipes=["{M:-4,4}", "{V:-4,4}"],
)

record(
    "np.cov",
    recipes=["{M:-4,4}", "{M:-4,4}, rowvar=False", "{V:-4,4}, bias=True"],
)

record(
    "np.corrcoef",
    recipes=["{M:-4,4}", "{M:-4,4}, rowvar=False"],
)

for _name in ("np.nanvar", "np.nanstd"):
    record(
        _name,
        recipes=["{V:-4,4}", "{M:-4,4}, axis=1", "{M:-4,4}, 0, keepdims=True"],
    )

record(
    "bincount",
    recipes=["{f}(torch.tensor([0, 1, 1]), [{S}, {S}, {S}])", "{f}(torch.tensor([2, 0]), [{S}, {S}], minlength=4)"],
)
