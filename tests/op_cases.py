"""Points for every op: values in its domain, of each shape that its rules tell apart, and with each of its options."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.ops import OPS


def has_derivative(op):
    return callable(op.vjps) or (any(rule is not None for rule in op.vjps) and not op.step)


DIFFERENTIABLE = {name for name, op in OPS.items() if has_derivative(op)}
UNARY_SHAPES = [((),), ((4,),), ((2, 3),)]
BINARY_SHAPES = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((), (2, 2)), ((2, 1), (1, 3)), ((3,), (1,))]
OPTIONS = {
    "leaky_relu": [{"negative_slope": 0.01}, {"negative_slope": 0.3}],
    "elu": [{"alpha": 1.0}, {"alpha": 0.5}],
    "softplus": [{"beta": 1.0, "threshold": 20.0}, {"beta": 3.0, "threshold": 1.0}, {"beta": 0.5, "threshold": np.inf}],
    "gelu": [{"approximate": "none"}, {"approximate": "tanh"}],
}
INSTEAD = {"remainder": ((2.2, 2.8), (0.97, 1.03))}
"""Domains in which no derivative is 0 everywhere: a % b has the derivative -2 by b here."""
MASK = np.array([True, False, True])
KEPT, GONE = {"keepdim": True}, {"keepdim": False}
REDUCED = [([(3,)], {"dim": (0,), **GONE}), ([(2, 3)], {"dim": (0, 1), **KEPT}), ([(2, 3)], {"dim": (1,), **GONE}),
           ([(2, 2, 2)], {"dim": (0, 2), **GONE}), ([()], {"dim": (), **GONE})]  # fmt: skip
ALONG = [([(4,)], {"dim": 0}), ([(2, 3)], {"dim": 0}), ([(2, 3)], {"dim": 1})]
WHOLE = [([(5,)], {"dim": (0,), **GONE}), ([(2, 3)], {"dim": (0, 1), **KEPT})]
# fmt: off
STRUCTURAL = {
    "sqrt0": [([()], {}), ([(3,)], {})],
    "where": [([MASK, (3,), (3,)], {}), ([MASK, (2, 3), ()], {}), ([MASK, (), (3,)], {})],
    "index": [([(4,)], {"key": 2}), ([(4,)], {"key": np.array([1, 1, -1])}), ([(2, 3)], {"key": (slice(None, None,
        -1), 1)}),
              ([(3,)], {"key": MASK}), ([(2, 3)], {"key": (Ellipsis, None, slice(1, 3))})],
    "reshape": [([(2, 3)], {"shape": (3, 2)}), ([(1,)], {"shape": ()})],
    "permute": [([(2, 3)], {"dims": (1, 0)}), ([(2, 1, 3)], {"dims": (2, 0, 1)})],
    "expand": [([(3,)], {"shape": (2, 3)}), ([(2, 1)], {"shape": (2, 3)}), ([()], {"shape": (2,)})],
    "flip": [([(3,)], {"dims": (0,)}), ([(2, 3)], {"dims": (0, 1)})],
    "roll": [([(4,)], {"shifts": (1,), "dims": (0,)}), ([(2, 3)], {"shifts": (1, -2), "dims": (0, 1)})],
    "tile": [([(2,)], {"reps": (3,)}), ([(1, 2)], {"reps": (2, 2)}), ([(2,)], {"reps": (2, 1)})],
    "repeat_interleave": [([(3,)], {"repeats": 2, "dim": 0}), ([(2, 2)], {"repeats": 3, "dim": 1})],
    "diag": [([(3,)], {"k": 0}), ([(2,)], {"k": -1}), ([(3, 3)], {"k": 1}), ([(2, 3)], {"k": 0})],
    "diagonal": [([(3, 3)], {"offset": 0}), ([(2, 3)], {"offset": 1}), ([(3, 2)], {"offset": -1})],
    "tril": [([(3, 3)], {"k": 0}), ([(2, 3)], {"k": 1})],
    "triu": [([(3, 3)], {"k": 0}), ([(2, 2, 2)], {"k": -1})],
    "clone": [([()], {}), ([(2, 3)], {})],
    "stack": [([(2,), (2,), (2,)], {"dim": 0}), ([(2, 2), (2, 2)], {"dim": 2}), ([(), ()], {"dim": 0})],
    "cat": [([(2,), (1,), (3,)], {"dim": 0}), ([(2, 1), (2, 3)], {"dim": 1})],
    "put": [([(4,), ()], {"key": 1}), ([(3, 2), (2,)], {"key": (slice(0, 2),)}), ([(3,), (2,)], {"key": MASK})],
    "sum": REDUCED, "mean": REDUCED, "prod": [*REDUCED, ([(10,)], {"dim": (0,), **GONE})], "logsumexp": REDUCED,
    "amax": REDUCED, "amin": REDUCED, "max": WHOLE, "min": WHOLE, "median": WHOLE,
    "norm": [(shapes, {**static, "p": p}) for shapes, static in REDUCED for p in (1.0, 2.0, 3.0, 2.5, 1.5, 0.5)]
            + [([(2, 1)], {"dim": (1,), "p": 2.0, **keep}) for keep in (KEPT, GONE)],
    "var": [(shapes, {**static, "correction": c}) for shapes, static in REDUCED[:4] for c in (0.0, 1.0)],
    "cumsum": ALONG, "cumprod": [*ALONG, ([(1,)], {"dim": 0}), ([(10,)], {"dim": 0}), ([(2, 9)], {"dim": 1})],
    "softmax": ALONG, "log_softmax": ALONG,
    "pick": [([(5,)], {"kind": "sort", "dim": 0}), ([(2, 3)], {"kind": "sort", "dim": 1, "descending": True}),
             *(([(2, 4)], {"kind": kind, "dim": 1, **keep}) for kind in ("max", "min", "median") for keep in (KEPT,
                 GONE))],
    "matmul": [([(3,), (3,)], {}), ([(2, 3), (3,)], {}), ([(3,), (3, 2)], {}), ([(2, 3), (3, 2)], {}),
               ([(2, 2, 3), (3, 2)], {}), ([(2, 1, 2, 2), (3, 2, 1)], {}), ([(3,), (2, 3, 1)], {}), ([(2, 2, 3),
                   (3,)], {})],
    "einsum": [([(2,), (3,)], {"spec": "i,j->ij"}), ([(3, 3)], {"spec": "ii->"}), ([(2, 3), (3, 2), (2,)],
        {"spec": "ab,bc,c->a"}),
               ([(3, 3), (3,)], {"spec": "ii,i->i"}), ([(2, 3)], {"spec": "ij->ji"})],
    "det": [([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(4, 4)], {}), ([(2, 2, 2)], {})],
    "inv": [([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(2, 2, 2)], {})],
    "solve": [([(3, 3), (3,)], {}), ([(2, 2), (2, 3)], {}), ([(2, 2, 2), (2, 2)], {}), ([(2, 2), (3, 2, 1)], {})],
}
LONG = [0.5, 1.5, -0.7, 2.0, 0.9, 1.1, -1.3, 0.6, 1.2]
# fmt: on
OVERFLOWING = np.array([[[2.0, 1.0], [0.5, 3.0]], [[1e200, 0.0], [0.0, 1e200]]])
"""A batch of matrices; the determinant of one is beyond double precision."""


def distinct(shape, rng):
    """Return positive numbers at least 0.1 apart, in no order, so that no step of a difference crosses a tie."""
    count = int(np.prod(shape))
    return (0.4 + 0.2 * rng.permutation(count) + rng.uniform(0.0, 0.1, count)).reshape(shape)


def bounds_of(op, argument):
    domain = INSTEAD.get(op.name, op.domain)
    return domain[min(argument, len(domain) - 1)]


def in_domain(op, shapes, rng):
    return [rng.uniform(*bounds_of(op, k), shape) for k, shape in enumerate(shapes)]


def elementwise_cases():
    for name in sorted(DIFFERENTIABLE - set(STRUCTURAL)):
        op = OPS[name]
        for shapes in BINARY_SHAPES if len(op.vjps) == 2 else UNARY_SHAPES:
            for static in OPTIONS.get(name, [{}]):
                values = in_domain(op, shapes, np.random.default_rng(sum(map(ord, name))))
                yield pytest.param(op, values, static, id=f"{name} {shapes} {static or ''}")


def structural_cases():
    for name, table in STRUCTURAL.items():
        for arguments, static in table:
            rng = np.random.default_rng(7)
            values = [a if isinstance(a, np.ndarray) else distinct(a, rng) for a in arguments]
            if name in ("det", "inv", "solve"):
                values[0] = values[0] + 2 * np.eye(len(values[0].T))  # far from singular, where differences do badly
            shapes = [np.shape(value) for value in values]
            yield pytest.param(OPS[name], values, static, id=f"{name} {shapes} {static or ''}")


CASES = [*elementwise_cases(), *structural_cases()]
