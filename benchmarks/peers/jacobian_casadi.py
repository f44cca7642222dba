"""The Jacobian of a case as a graph of scalar symbols, with CasADi: ``jacobian_casadi.py CASE N [--check]``."""

import casadi
import numpy as np
from arrays import functions
from inputs import arguments, differentiated, seed, shapes, wanted

case, n, check = wanted()
given = arguments(case, n)
symbols = {
    name: casadi.SX.sym(name, *(np.shape(array) or (1, 1))) for name, array in zip(shapes(case, n), given, strict=True)
}
y = functions(casadi, casadi.sum1, n)[case](*symbols.values())
by = [casadi.vec(symbols[name].T) for name in differentiated(case, symbols)]
J = casadi.jacobian(y, casadi.vertcat(*by))
if check:
    numbers = casadi.Function("J", list(symbols.values()), [J])(*given)
    print((seed(y.numel()) @ numbers.full()).tolist())
