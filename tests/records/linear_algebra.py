"""Products of matrices and vectors, and what belongs to square matrices."""

from records import constants as c
from records import figures
from records import mathematics as m
from records.record import MoreExact, calls, record

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
    recipes=["{M}, {V}", "{M}, {N}", "{V}, {V}", "{V}, {N}"],
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
    recipes=[
        '"ij,j->i", {M}, {V}',
        '"ij,jk,k->", {M}, {N}, {U}',
        '"ij", {M} + 0',
        '"ii->i", {Q}*1',
        '"ij->j", -{M}',
        '"aij,jk->aik", {T}, {N}',
        '"i,j", {V}, {U}',
        '"ij,ij", {M}, {M}',
        '"ii", {Q} + {Q}',
        '"...ij,...jk->...ik", {T}, {N}',
        '"...j,j", {T}, {V}',
        "{M}, [0, 1], {V}, [1], [0]",
    ],
)

record(
    "det",
    of_arrays=m.each_matrix(m.determinant),
    cases=[([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(4, 4)], {}), ([(2, 2, 2)], {})],
    further=[([c.NEARLY_SINGULAR], {}), ([[c.NEARLY_SINGULAR, c.NEARLY_SINGULAR.T]], {})],
    recipes=["{Q}", "{Q} + 2*eye({n})"],
    more_exact=[
        MoreExact("torch.det(a)", "PyTorch solves with the determinant, which underflows to 0", figure=figures.det)
    ],
)

record(
    "inv",
    of_arrays=m.each_matrix(m.inverse),
    cases=[([(1, 1)], {}), ([(2, 2)], {}), ([(3, 3)], {}), ([(2, 2, 2)], {})],
    recipes=["{Q:-1,1} + 3*eye({n})", "{Q}"],
)

record(
    "solve",
    of_arrays=m.solution,
    cases=[([(3, 3), (3,)], {}), ([(2, 2), (2, 3)], {}), ([(2, 2, 2), (2, 2)], {}), ([(2, 2), (3, 2, 1)], {})],
    recipes=["{Q:-1,1} + 3*eye({n}), {V}", "{Q:-1,1} - 3*eye({n}), {N}"],
)

calls(
    {
        "dot": ["{M}, {V}", "{M}, {N}", "{V}, {V}"],
        "torch.dot": ["{V}, {V}"],
        "mm": ["{M}, {N}", "{Q}, {Q}"],
        "mv": ["{M}, {V}"],
        "bmm": ["{T}, {W}"],
        "inner": ["{V}, {V}", "{M}, {V}", "{T}, {M}", "{S}, {V}"],
        "outer": ["{V}, {U}"],
        "trace": ["{Q}", "{M}"],
        "np.trace": ["{Q}", "{M}, 1", "{M}, offset=-1"],
    }
)
