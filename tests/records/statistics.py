"""Covariances and correlations, the spread of what is no nan, and counts with weights."""

from records.record import calls, record

for _name in ("np.nanvar", "np.nanstd"):
    record(_name, recipes=["{V:-4,4}", "{M:-4,4}, axis=1", "{M:-4,4}, 0, keepdims=True"])

calls(
    {
        "cov": ["{M:-4,4}", "{V:-4,4}", "{M:-4,4}, correction=0"],
        "corrcoef": ["{M:-4,4}", "{V:-4,4}"],
        "np.cov": ["{M:-4,4}", "{M:-4,4}, rowvar=False", "{V:-4,4}, bias=True"],
        "np.corrcoef": ["{M:-4,4}", "{M:-4,4}, rowvar=False"],
        "bincount": [
            "{f}(torch.tensor([0, 1, 1]), [{S}, {S}, {S}])",
            "{f}(torch.tensor([2, 0]), [{S}, {S}], minlength=4)",
        ],
    }
)
