"""Points for every op: values in its domain, of each shape that its rules tell apart, and with each of its options."""

import numpy as np
import pytest

from records import OPS, RECORDS, has_derivative

DIFFERENTIABLE = {name for name, op in OPS.items() if has_derivative(op)}
UNARY_SHAPES = [((),), ((4,),), ((2, 3),)]
BINARY_SHAPES = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((), (2, 2)), ((2, 1), (1, 3)), ((3,), (1,))]
STRUCTURAL = {name for name in DIFFERENTIABLE if name in RECORDS and RECORDS[name].cases}


def distinct(shape, rng):
    """Return positive numbers at least 0.1 apart, in no order, so that no step of a difference crosses a tie."""
    count = int(np.prod(shape))
    return (0.4 + 0.2 * rng.permutation(count) + rng.uniform(0.0, 0.1, count)).reshape(shape)


def bounds_of(op, argument):
    domain = RECORDS[op.name].domain or op.domain
    return domain[min(argument, len(domain) - 1)]


def in_domain(op, shapes, rng):
    return [rng.uniform(*bounds_of(op, k), shape) for k, shape in enumerate(shapes)]


def elementwise_cases():
    for name in sorted(DIFFERENTIABLE & set(RECORDS) - STRUCTURAL):
        op = OPS[name]
        for shapes in BINARY_SHAPES if len(op.vjps) == 2 else UNARY_SHAPES:
            for static in RECORDS[name].options:
                values = in_domain(op, shapes, np.random.default_rng(sum(map(ord, name))))
                yield pytest.param(op, values, static, id=f"{name} {shapes} {static or ''}")


def structural_cases():
    for name, known in RECORDS.items():
        for arguments, static in known.cases:
            rng = np.random.default_rng(7)
            values = [a if isinstance(a, np.ndarray) else distinct(a, rng) for a in arguments]
            if name in ("det", "inv", "solve"):
                values[0] = values[0] + 2 * np.eye(len(values[0].T))  # far from singular, where differences do badly
            shapes = [np.shape(value) for value in values]
            yield pytest.param(OPS[name], values, static, id=f"{name} {shapes} {static or ''}")


CASES = [*elementwise_cases(), *structural_cases()]
