"""Decompositions of matrices as textbooks define them, analytic in mpmath's complex numbers."""

import numpy as np
from mpmath import mp

from records import mathematics as m


def identity(n):
    return m.built((n, n), lambda place: mp.mpc(place[0] == place[1]))


def reals(a):
    return np.array([[float(mp.re(x)) for x in row] for row in a])


def symmetric(a):
    return (a + a.T) / 2


def roots(a):
    """Return the roots of det(a - λ·1), the smallest real part first (Faddeev and LeVerrier)."""
    n, part, coefficients = len(a), identity(len(a)), [mp.mpc(1)]
    for k in range(1, n + 1):
        product = m.matmul(a, part)
        coefficients.append(-sum(product[i, i] for i in range(n)) / k)
        part = product + coefficients[-1] * identity(n)
    return sorted(mp.polyroots(coefficients, maxsteps=400, extraprec=400), key=mp.re)


def null_vector(a):
    """Return the x with a·x = 0 and x·x = 1 for a matrix whose rank is one less: a row of its cofactors."""
    n = len(a)
    minor = lambda i, j: np.delete(np.delete(a, i, 0), j, 1)  # noqa: E731
    rows = [[(-1) ** (i + j) * m.determinant(minor(i, j)) for j in range(n)] for i in range(n)]
    best = max(rows, key=lambda row: sum(abs(x) ** 2 for x in row))
    length = mp.sqrt(sum(x * x for x in best))
    return np.array([x / length for x in best], dtype=object)


def like(found, guide):
    """Return columns with the signs of those of a guide of doubles: a choice that no definition makes."""
    signs = [1 if np.sum(reals(found)[:, k] * guide[:, k]) > 0 else -1 for k in range(guide.shape[1])]
    return found * np.array(signs, dtype=object)


def eigenvalues(a):
    return np.array(roots(symmetric(a)), dtype=object)


def mean_of_equals(x, least):
    """Return each number as the mean of those in its row that are equal but for a step of a difference, 0 as 0."""

    def entry(place):
        row = x[place[:-1]]
        same = [other for other in row if abs(other - x[place]) < 1e-9]
        return 0 * x[place] if least >= 0 and abs(x[place]) < 1e-9 else sum(same) / len(same)

    return m.built(x.shape, entry)


def eigenvectors(a):
    s = symmetric(a)
    columns = np.array([null_vector(s - x * identity(len(s))) for x in roots(s)], dtype=object).T
    return like(columns, np.linalg.eigh(reals(s))[1])


def short(a):
    """Return the shorter of A·Aᵀ and Aᵀ·A."""
    return m.matmul(a, a.T) if a.shape[0] <= a.shape[1] else m.matmul(a.T, a)


def singular_values(a):
    return np.array([mp.sqrt(x) for x in roots(short(a))[::-1]], dtype=object)


def singular_vectors(a, side):
    both = m.matmul(a, a.T) if side == "U" else m.matmul(a.T, a)
    count = min(a.shape)
    values = roots(short(a))[::-1]
    u, _, vt = np.linalg.svd(reals(a), full_matrices=False)
    if len(both) == count:
        columns = [null_vector(both - x * identity(len(both))) for x in values]
    else:
        far = singular_vectors(a, "V" if side == "U" else "U")
        onto = a if side == "U" else a.T
        columns = [m.matmul(onto, far[:, k]) / mp.sqrt(x) for k, x in enumerate(values)]
    return like(np.array(columns, dtype=object).T, u if side == "U" else vt.T)


def cholesky(a):
    a, n = symmetric(a), len(a)
    low = m.built((n, n), lambda place: mp.mpc(0))
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - sum(low[i, k] * low[j, k] for k in range(j))
            low[i, j] = mp.sqrt(rest) if i == j else rest / low[j, j]
    return low


def orthogonal(a):
    columns = []
    for x in a.T:
        rest = x - sum((sum(x * q) * q for q in columns), 0 * x)
        columns.append(rest / mp.sqrt(sum(rest * rest)))
    return like(np.array(columns, dtype=object).T, np.linalg.qr(reals(a))[0])


def logabsdet(a):
    det = m.determinant(a)
    return mp.log(-det if mp.re(det) < 0 else det)


def pinv(a):
    if a.shape[0] >= a.shape[1]:
        return m.matmul(m.inverse(m.matmul(a.T, a)), a.T)
    return m.matmul(a.T, m.inverse(m.matmul(a, a.T)))


def exponential(a):
    term = total = identity(len(a))
    for k in range(1, 120):
        term = m.matmul(term, a) / k
        total = total + term
    return total
