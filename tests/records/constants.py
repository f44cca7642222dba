"""Numbers, shapes and options that several records share."""

import numpy as np

MASK = np.array([True, False, True])
KEPT, GONE = {"keepdim": True}, {"keepdim": False}
REDUCED = [
    ([(3,)], {"dim": (0,), **GONE}),
    ([(2, 3)], {"dim": (0, 1), **KEPT}),
    ([(2, 3)], {"dim": (1,), **GONE}),
    ([(2, 2, 2)], {"dim": (0, 2), **GONE}),
    ([()], {"dim": (), **GONE}),
]
ALONG = [([(4,)], {"dim": 0}), ([(2, 3)], {"dim": 0}), ([(2, 3)], {"dim": 1})]
WHOLE = [([(5,)], {"dim": (0,), **GONE}), ([(2, 3)], {"dim": (0, 1), **KEPT})]
LONG = [0.5, 1.5, -0.7, 2.0, 0.9, 1.1, -1.3, 0.6, 1.2]
OVERFLOWING = np.array([[[2.0, 1.0], [0.5, 3.0]], [[1e200, 0.0], [0.0, 1e200]]])
"""A batch of matrices; the determinant of one is beyond double precision."""
AXES = {"dim": (0,), **GONE}
NEARLY_SINGULAR = np.array([[1.0, 2, 3, 4], [4, 3, 1, 2], [5, 5, 4, 6 + 1e-7], [2, 0, 1, 3]])
HALVES = np.array([-2.5, -2.0, -1.5, -0.5, -0.3, 0.0, 0.3, 0.5, 1.5, 2.0, 2.5])
PAIR = [np.array([[1.0, -2.0, 0.0]]), np.array([[0.0], [1.0], [-2.0]])]
TRUTHS = [np.array([[True, False]]), np.array([[True], [False]])]
GRID = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [3.0, 1.0, 2.0]])
DIMS = {"dim": (1,), "keepdim": False}
ULP = 2.0**-52
PLANE = [x for size in (1e-300, 1e-160, 1e-9, 0.3, 1 + 2**-40, 40.0, 1e9, 1e160, 1e300) for x in (size, -size)]
POSITIVE = [x for x in PLANE if x > 0]
EXPONENTS = [-700.0, -2.0, -0.5, -1e-9, 1e-300, 0.3, 1.0, 1.5, 3.0, 1e3, 1 - 2**-50]
SCORES = [sign * x for x in (1e-300, 1e-9, 0.5, 0.999, 1.0, 40.0, 300.0) for sign in (1, -1)]
CHANCES = [1e-10, 0.1, 0.25, 0.5, 0.5 + 1e-9, 0.7, 1 - 2**-20, 1 - 2**-38]
TARGETS = [0.0, 1e-300, 1e-12, 0.3, 0.5, 0.5000001, 1 - ULP / 2, 1.0]

SCALES = [1e-300, 1e-200, 1e-160, 1e-100, 1e-20, 1e-10, 1e-8, 1e-5, 1e-3, 0.1]
MIDDLE = [0.5 - ULP / 4, 0.5, 0.9, 1 - 2**-20, 1 - 2**-40, 1 - ULP / 2, 1.0, 1 + ULP, 1 + 2**-30, 1.5, 2.0, 3.0, 8.3]
SATURATED = [17.0, 20.0, 30.0, 37.5, 40.0, 100.0, 300.0, 350.0, 600.0, 700.0, 709.0, 740.0]
FARTHEST = [1e3, 1e5, 1e8, 1e15, 1e16, 1e22, 1e100, 1e153, 1e160, 1e200, 1e300]
LINE = [x for size in (*SCALES, *MIDDLE, *SATURATED, *FARTHEST) for x in (size, -size)]
"""Hard points of functions of one number: tiny, huge and saturated ones, and both sides of edges."""
