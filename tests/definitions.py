"""The mathematics of every op in mpmath, as textbooks define it: nothing here is shared with numpy's or sympy's rules.

A definition takes arrays whose entries are mpmath's complex numbers and is analytic in them; comparisons look at the
real parts. So f(x + ih) has f(x) as its real and h·f'(x) as its imaginary part, to all digits for so small an h.
"""

import mpmath
import numpy as np
from mpmath import mp

from records import RECORDS
from records.mathematics import at, built, exact

mp.dps = 60
TINY = mpmath.mpf(10) ** -40
"""The step h: the error of f'(x) is of the order of h², far below the digits carried."""


def entrywise(definition):
    """Return the definition of arrays from that of their entries."""

    def of_arrays(*arrays, **static):
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        return built(shape, lambda place: definition(*(at(x, place) for x in arrays), **static))

    return of_arrays


DEFINITIONS = {
    name: known.of_arrays or entrywise(known.definition)
    for name, known in RECORDS.items()
    if known.of_arrays or known.definition
}


def real(found):
    """Return the real parts as they are, in mpmath's digits; truth values and integers as numbers."""
    return built(np.shape(found), lambda place: mp.re(mp.mpc(np.asarray(found, dtype=object)[place])))


def value(name, values, static):
    """Return an op's value by its definition, in all its digits."""
    return real(DEFINITIONS[name](*map(exact, values), **static))


def jacobian(name, values, static, argument):
    """Return by its definition an op's Jacobian as a matrix in all its digits, output by argument."""
    columns = []
    for i in range(np.size(values[argument])):
        moved = [exact(x) for x in values]
        moved[argument].flat[i] += mp.mpc(0, TINY)
        found = DEFINITIONS[name](*moved, **static)
        columns.append([mp.im(mp.mpc(entry)) / TINY for entry in np.ravel(found)])
    return np.array(columns, dtype=object).reshape(len(columns), -1).T


def floats(found):
    return np.array([float(entry) for entry in np.ravel(found)]).reshape(np.shape(found))


def elementwise(name, *values, **static):
    """Return by its definition an elementwise function of arrays, as floats."""
    return floats(value(name, values, static))
