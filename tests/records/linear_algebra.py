"""Products of matrices and vectors, and what belongs to square matrices."""

from records import constants as c
from records import mathematics as m
from records.record import record

record(
    "matmul",
    of_arrays=m.matmul,
    cases=[
        ([(3,), (3,)], {}),
        ([(2, 3), (3,)], {}),
        ([(3,), (3, 2)], {}),
        ([(2, 3), (3, 2)], {}),
        ([(2, 2, 3), (3, 2)], {}),
        ([(2, 1, 2, 2), (3, 2, 1)], {}),
        ([(3,), (2, 3, 1)], {}),
        ([(2, 2, 3), (3,)], {}),
    ],
)

record(
    "einsum",
    of_arrays=m.einsum,
    cases=[
        ([(2,), (3,)], {"spec": "i,j->ij"}),
        ([(3, 3)], {"spec": "ii->"}),
        ([(2, 3), (3, 2), (2,)], {"spec": "ab,bc,c->a"}),
        ([(3, 3), (3,)], {"spec": "ii,i->i"}),
        ([(2, 3)], {"spec": "ij->ji"}),
    ],
)

record(
    "det",
    of_arrays=m.each_matrix(m.determinant),
    cases=[([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(4, 4)], {}), ([(2, 2, 2)], {})],
    further=[([c.NEARLY_SINGULAR], {}), ([[c.NEARLY_SINGULAR, c.NEARLY_SINGULAR.T]], {})],
)

record(
    "inv", of_arrays=m.each_matrix(m.inverse), cases=[([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(2, 2, 2)], {})]
)

record(
    "solve",
    of_arrays=m.solution,
    cases=[([(3, 3), (3,)], {}), ([(2, 2), (2, 3)], {}), ([(2, 2, 2), (2, 2)], {}), ([(2, 2), (3, 2, 1)], {})],
)
