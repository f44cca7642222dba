"""Arrays of duals with the operators, the indexing and the shared memory of PyTorch's tensors."""

from __future__ import annotations

import operator

import numpy as np

from generator.duals import Dual, dual

lifted = np.frompyfunc(lambda x: x if isinstance(x, Dual) else dual(x), 1, 1)


def single(x):
    """Return one dual as a numpy array without axes."""
    data = np.empty((), dtype=object)
    data[()] = x
    return data


def boxed(x):
    """Return one number or numpy's numbers as a numpy array of duals; masks and positions stay as they are."""
    if isinstance(x, Dual):
        return single(x)
    data = np.asarray(x)
    if data.dtype == bool or (data.dtype.kind == "i" and isinstance(x, np.ndarray | np.generic)):
        return data
    return lifted(data) if data.ndim else single(dual(data.item()))


def array(x):
    """Return a value of a program as an array: a number, a display of arrays, numbers of numpy."""
    if isinstance(x, Array):
        return x
    if isinstance(x, Pair):
        return x.values
    return Array(np.stack([numbers(item) for item in x]) if isinstance(x, list | tuple) else boxed(x))


def numbers(x):
    """Return the numpy array of duals of a value."""
    data = array(x).data
    if data.dtype == object:
        return data
    return lifted(data) if data.ndim else single(dual(data.item()))


def each(rule):
    """Return an elementwise function of arrays from one of numbers."""

    return lambda *arguments: array(np.frompyfunc(rule, len(arguments), 1)(*[array(x).data for x in arguments]))


def of_duals(rule):
    """Return an elementwise function from one of duals."""
    return each(lambda *x: rule(*[dual(item) for item in x]))


def compared(rule):
    """Return a comparison of arrays; its result is a mask."""
    same = np.frompyfunc(rule, 2, 1)
    return lambda a, b: Array(np.asarray(same(array(a).data, array(b).data), dtype=bool))


def masked(rule):
    """Return an operator on masks."""
    return lambda *masks: Array(np.asarray(rule(*[array(mask).data for mask in masks])))


def swapped(rule):
    """Return an operator with its sides changed over."""
    return lambda a, b: rule(b, a)


def product(a, b):
    """Return ``a @ b``; numpy's own product of objects runs on after an exception of theirs."""
    x, y = numbers(a), numbers(b)
    rows, columns = x[None] if x.ndim == 1 else x, y[:, None] if y.ndim == 1 else y
    found = np.add.reduce(rows[..., :, :, None] * columns[..., None, :, :], axis=-2)
    found = found[..., 0, :] if x.ndim == 1 else found
    return array(found[..., 0] if y.ndim == 1 else found)


class Operators:
    """What displays of numbers and arrays have in common: arithmetic, entry by entry."""

    __hash__ = None
    __slots__ = ()


ARITHMETIC = {
    **{name: each(getattr(operator, name)) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")},
    "matmul": product,
}
for _name, _rule in ARITHMETIC.items():
    setattr(Operators, f"__{_name}__", _rule)
    setattr(Operators, f"__r{_name}__", swapped(_rule))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Operators, f"__{_name}__", compared(getattr(operator, _name)))
Operators.__neg__ = each(operator.neg)
Operators.__pos__ = each(lambda x: x)
Operators.__and__ = masked(np.logical_and)
Operators.__or__ = masked(np.logical_or)
Operators.__invert__ = masked(np.logical_not)


class Display(Operators, tuple):
    """A list as a program writes it: the language takes it for an array."""

    __slots__ = ()

    def __getitem__(self, key):
        return array(self)[key]


def key_part(part):
    """Return one part of an index as numpy takes it."""
    if isinstance(part, Array) and part.data.dtype == object:
        part = Array(np.frompyfunc(lambda entry: int(entry.value), 1, 1)(part.data).astype(int))
    if isinstance(part, Array):
        return part.data if part.data.ndim else int(part.data)
    return np.array(list(part)) if isinstance(part, Display | range) else part


def key_of(key):
    """Return an index as numpy takes it; the dots at its end keep a view even of a single entry."""
    parts = tuple(key_part(part) for part in (key if type(key) in (tuple, list) else (key,)))
    return parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)


class Array(Operators):
    """Duals, truth values or positions with axes; indexing gives views and augmented assignment writes in place."""

    def __init__(self, data):
        self.data = data

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    T = property(lambda self: Array(self.data.T))
    mT = property(lambda self: Array(np.swapaxes(self.data, -1, -2)))  # noqa: N815
    values = property(lambda self: self)

    def __getitem__(self, key):
        return Array(self.data[key_of(key)])

    def __setitem__(self, key, value):
        self.data[key_of(key)] = numbers(value)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self.data)))

    def __bool__(self):
        return bool(self.data.item())

    def __index__(self):
        return int(self.data)


def in_place(rule):
    """Return an augmented assignment: the entries change where they are, for every variable that shows them."""

    def apply(self, other):
        self.data[...] = numbers(rule(self, other))
        return self

    return apply


for _name, _rule in ARITHMETIC.items():
    setattr(Array, f"__i{_name}__", in_place(_rule))


class Pair:
    """What max, min, median and sort give along an axis."""

    def __init__(self, values, indices):
        self.values, self.indices = values, indices

    def __iter__(self):
        return iter((self.values, self.indices))

    def __getitem__(self, position):
        return (self.values, self.indices)[position]
