"""Covariances and correlations, the spread of what is no nan, and counts with weights."""

from __future__ import annotations

import numpy as np

from generator import arrays
from generator import functions as f
from generator.placing import positions
from records.record import record


def covariance(x, correction=1):
    """Return the covariances of rows, entry by entry."""
    rows = [arrays.Array(row) for row in np.atleast_2d(arrays.numbers(x))]
    apart = [row - f.mean(row) for row in rows]
    over = rows[0].shape[0] - correction
    found = [[arrays.numbers(f.sum_(a * b) / over)[()] for b in apart] for a in apart]
    return arrays.Array(np.array(found, dtype=object).reshape(() if len(rows) == 1 else (len(rows), len(rows))))


def correlation(x):
    """Return the correlations of rows, entry by entry."""
    found = arrays.numbers(covariance(x))
    if not np.shape(found):
        return arrays.Array(found) / arrays.Array(found)
    roots = [arrays.numbers(f.sqrt(arrays.Array(found[k, k])))[()] for k in range(len(found))]
    return arrays.Array(np.array([[c / roots[i] / roots[j] for j, c in enumerate(r)] for i, r in enumerate(found)]))


def counted(x, weights=None, minlength=0):
    """Return the sums of weights by their places."""
    places = positions(x)
    given = np.ones(len(places)) if weights is None else arrays.numbers(weights)
    found = [sum(given[places == k], 0 * given[0]) for k in range(max(int(places.max()) + 1, minlength))]
    return arrays.Array(np.array(found, dtype=object))


def observed(x, y=None, rowvar=True, **_):
    """Return the variables of one or two arrays as rows."""
    data = arrays.numbers(x)
    rows = np.atleast_2d(data if rowvar or data.ndim < 2 else data.T)
    return arrays.Array(rows if y is None else np.concatenate([rows, np.atleast_2d(arrays.numbers(y))]))


record(
    "cov",
    oracle=covariance,
    recipes=["{M:-4,4}", "{V:-4,4}", "{M:-4,4}, correction=0"],
)

record(
    "corrcoef",
    oracle=correlation,
    recipes=["{M:-4,4}", "{V:-4,4}"],
)

record(
    "np.cov",
    oracle=lambda x, y=None, rowvar=True, bias=False: covariance(observed(x, y, rowvar), int(not bias)),
    recipes=["{M:-4,4}", "{M:-4,4}, rowvar=False", "{V:-4,4}, bias=True"],
)

record(
    "np.corrcoef",
    oracle=lambda x, y=None, rowvar=True: correlation(observed(x, y, rowvar)),
    recipes=["{M:-4,4}", "{M:-4,4}, rowvar=False"],
)

for _name, _rule in (("np.nanvar", f.var), ("np.nanstd", f.std)):
    record(
        _name,
        oracle=lambda x, dim=None, correction=0, keepdim=False, rule=_rule: rule(
            x, dim, correction=correction, keepdim=keepdim
        ),
        recipes=["{V:-4,4}", "{M:-4,4}, axis=1", "{M:-4,4}, 0, keepdims=True"],
    )

record(
    "bincount",
    oracle=counted,
    recipes=["{f}(torch.tensor([0, 1, 1]), [{S}, {S}, {S}])", "{f}(torch.tensor([2, 0]), [{S}, {S}], minlength=4)"],
)
