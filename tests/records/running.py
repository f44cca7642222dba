"""Reductions that are made of others, differences, areas, and running sums in logarithms."""

from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import calls, record

for _name in ("nansum", "nanmean", "np.nanprod", "np.nanmax", "np.nanmin"):
    record(_name, recipes=["{V}", "{M}, 0" if not _name.startswith("np.") else "{M}, axis=0", "{M}"])

for _name in ("std_mean", "var_mean"):
    record(_name, recipes=["{V:-4,4})[0]", "{M:-4,4}, 0)[1]", "{M:-4,4}, dim=1, correction=0)[0]"])

record(
    "logcumsumexp",
    of_arrays=m.along(lambda line, i: mp.log(mp.fsum(mp.exp(x) for x in line[: i + 1]))),
    cases=c.ALONG,
    recipes=["{V:-3,3}, 0", "{M:-3,3}, 1", "{M:-3,3}, dim=0"],
)

calls(
    {
        "aminmax": ["{V})[0]", "{M}, dim=1)[1]", "{M}, dim=0, keepdim=True)[0]"],
        "np.ptp": ["{V}", "{M}, axis=1"],
        "np.average": ["{V}", "{V}, weights={V:0.3,2}", "{M}, axis=1, weights={V:0.3,2}", "{M}, axis=0"],
        "np.cumprod": ["{M}", "{M}, axis=1"],
        "diff": ["{V}", "{M}, dim=0", "{T}, 1, 2", "{V}, prepend={V}", "{V}, append={U}, n=2"],
        "gradient": ["{V})[0]", "{M})[1]", "{V}, spacing=0.5)[0]", "{V}, dim=0, edge_order=1)[0]"],
        "np.gradient": ["{V}", "{V}, 0.5", "{M}, axis=1", "{M})[0]"],
        "trapezoid": ["{V}", "{M}, dx=0.5", "{M}, dim=0", "{V}, {V}", "{M}, {V}"],
        "cumulative_trapezoid": ["{V}", "{M}, dx=0.5", "{M}, dim=0", "{V}, {V}"],
    }
)
