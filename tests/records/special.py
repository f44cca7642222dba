"""Special functions: of gamma, of the normal distribution and of entropy."""

import numpy as np
from mpmath import mp

from records import mathematics as m
from records.record import record


def inverse(function, slope, start):
    """Return the inverse of a function at a number near the real axis, by Newton's method from the real root."""

    def definition(x):
        y = mp.mpc(start(mp.re(x)))
        for _ in range(4):
            y -= (function(y) - x) / slope(y)
        return y

    return definition


def log_gamma(x):
    """Return log |Γ(x)|."""
    gamma = mp.gamma(x)
    return mp.log(gamma if mp.re(gamma) > 0 else -gamma)


ERF_ROOT = inverse(mp.erf, lambda y: 2 / mp.sqrt(mp.pi) * mp.exp(-y * y), mp.erfinv)

record(
    "erfc",
    definition=mp.erfc,
    derivatives=(lambda x: -2 * mp.exp(-x * x) / mp.sqrt(mp.pi),),
    value=lambda x: mp.erfc(x) if abs(x) < m.FAR else 2 * mp.mpf(x < 0),
)


record(
    "erfinv",
    definition=ERF_ROOT,
    derivatives=(lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2),),
    value=mp.erfinv,
    within=(-1, 1),
)

record(
    "ndtr",
    definition=lambda x: mp.erfc(-x / mp.sqrt(2)) / 2,
    derivatives=(m.density,),
    value=m.phi,
    within=(-36, np.inf),
)


record(
    "lgamma",
    definition=log_gamma,
    derivatives=(mp.digamma,),
    value=lambda x: mp.re(mp.loggamma(x)),
    further=[([[-0.5, -1.5, -2.5, -3.7, -20.3]], {})],
    within=(0, np.inf),
    zeros=[1.4616321449683623, 1.4616321449683622, 1 + 1e-9, 2 - 1e-9, 0.5, 1.4999, 2.5001],
)

record(
    "digamma",
    definition=mp.digamma,
    derivatives=(lambda x: mp.psi(1, x),),
    further=[([[-0.5, -1.5, -2.5, -3.7, -20.3]], {})],
    within=(0, np.inf),
    zeros=[1.4616321449683623, 1.4616321449683622, 1.46, 1.47],
)

record(
    "polygamma",
    definition=lambda n, x: mp.psi(int(mp.re(n)), x),
    cases=[([np.array(float(n)), (3,)], {}) for n in (1, 2, 3)],
    further=[([np.array(2.0), [-0.5, -1.7, -40.3, 30.0]], {}), ([np.array(1.0), [-0.5, -1.7, -40.3, 1e3]], {})],
)


record("logit", definition=lambda x: mp.log(x / (1 - x)), derivatives=(lambda x: 1 / (x * (1 - x)),), within=(0, 1))
