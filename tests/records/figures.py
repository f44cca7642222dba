"""Reductions in mpmath at the rows of ``torch_rows``: y, or its derivative by one entry, where PyTorch loses digits."""

import numpy as np
from mpmath import mp


def numbers(array):
    return [mp.mpf(float(entry)) for entry in np.ravel(array)]


def norm(case, what, place, p):
    x = np.asarray(case.inputs["x"])
    line = numbers(x if case.program.count(",") < 2 else x[place[0]])
    total = mp.root(mp.fsum(abs(entry) ** p for entry in line), p)
    return total if what == "y" else mp.sign(x[place]) * (abs(mp.mpf(float(x[place]))) / total) ** (p - 1)


def std(case, what, place, correction):
    x = np.asarray(case.inputs["x"])
    line = numbers(x if case.program.count(",") < 1 else x[(slice(None), *place[1:])])
    mean, count = mp.fsum(line) / len(line), len(line) - correction
    root = mp.sqrt(mp.fsum((entry - mean) ** 2 for entry in line) / count)
    return root if what == "y" else (mp.mpf(float(x[place])) - mean) / (count * root)


def det(case, what, place):
    a = np.asarray(case.inputs["a"])
    minor = a if what == "y" else np.delete(np.delete(a, place[0], 0), place[1], 1)
    return (-1) ** sum(place) * mp.det(mp.matrix([numbers(row) for row in minor])) if minor.size else mp.mpf(1)


def var(case, what, place, correction):
    x = np.asarray(case.inputs["x"])
    line = numbers(x)
    mean, count = mp.fsum(line) / len(line), len(line) - correction
    if what == "y":
        return mp.fsum((entry - mean) ** 2 for entry in line) / count
    return 2 * (mp.mpf(float(x[place])) - mean) / count


def mean(case, what, place):
    del place
    line = numbers(case.inputs["x"])
    return mp.fsum(line) / len(line) if what == "y" else 1 / mp.mpf(len(line))


def product(case, what, place):
    line = numbers(case.inputs["x"])
    if what == "y":
        return mp.fprod(line)
    [j] = place
    return mp.fprod(line[:j] + line[j + 1 :])


def running_product(case, what, place):
    line, [j] = numbers(case.inputs["x"]), place
    if what == "y":
        return mp.fprod(line[: j + 1])
    return mp.fsum(mp.fprod(line[:j] + line[j + 1 : end]) for end in range(j + 1, len(line) + 1))
