"""Entries put into an array or left out of it, choices among several arrays, and lines between points."""

from records.record import calls

calls(
    {
        "append": ["{V}, {S}", "{M}, {V}", "[{V}], [{V}], axis=1"],
        "insert": ["{V}, 1, {S}", "{M}, 0, {S}, axis=1", "{V}, -1, [{S}, {S}]"],
        "delete": ["{V}, 1", "{M}, [0], axis=1", "{M}, -1"],
        "np.select": ["{f}([{S} > 0.05], [{V}], {S})", "{f}([{S} > 0.05, {S} > 0.1], [{V}, {S}])"],
        "interp": ["{S}, [-2.0, 0.31, 2.5], [{S}, {S}, {S}]"],
    }
)
