"""Calls of linear algebra."""

# ruff: noqa: E501, RUF059 - a call is a line
# fmt: off

import math

from generator.calls.kit import Kit, call, listed, literal


def n(k: Kit) -> int:
    return k.rng.randint(1, 3)


def batch(k: Kit):
    return k.one([(), (), (2,), (1, 2)])


def square(k: Kit, size=None, lead=None):
    """Return a square matrix, or a batch of them, far from singular."""
    size = size or n(k)
    return f"({k.t((*(batch(k) if lead is None else lead), size, size))} + {2 + size}*torch.eye({size}))", size


def symmetric(k: Kit, lead=None):
    size = n(k)
    x = k.t((*(batch(k) if lead is None else lead), size, size))
    return f"({x} + {x}.mT)", size


def definite(k: Kit):
    size = n(k)
    x = k.t((*batch(k), size, size))
    return f"({x} @ {x}.mT + torch.eye({size}))", size


@call
def matmul(k: Kit):
    a, b, c = n(k), n(k), n(k)
    left = k.one([(b,), (a, b), (2, a, b), (1, a, b)])
    right = k.one([(b,), (b, c), (2, b, c), (2, 1, b, c)])
    x, y = k.t(left), k.t(right)
    return k.one([f"{x} @ {y}", k.call("torch.matmul .matmul torch.linalg.matmul", "input other", x, y)])


@call
def products(k: Kit):
    a, b, c = n(k), n(k), n(k)
    kind = k.one(["mm", "mv", "bmm", "dot", "inner", "outer", "vdot", "ger"])
    left, right = {"mm": ((a, b), (b, c)), "mv": ((a, b), (b,)), "bmm": ((2, a, b), (2, b, c)), "dot": ((a,), (a,)), "vdot": ((a,), (a,)), "inner": k.one([((2, a), (3, a)), ((a,), (a,)), ((2, 1, a), (a,)), ((), (2, a))]), "outer": ((a,), (b,)), "ger": ((a,), (b,))}[kind]
    second = {"mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor", "outer": "vec2", "ger": "vec2"}.get(kind, "other")
    return k.call(f"torch.{kind} .{kind}", f"input {second}", k.t(left), k.t(right))


@call
def add_products(k: Kit):
    a, b, c = n(k), n(k), n(k)
    kind = k.one(["addmm", "addmv"])
    names, out, left, right = {"addmm": ("mat1 mat2", (a, c), (a, b), (b, c)), "addmv": ("mat vec", (a,), (a, b), (b,))}[kind]
    return k.call(f"torch.{kind} .{kind}", f"input {names}", k.t(k.narrower(out)), k.t(left), k.t(right), kw={"beta": k.one([literal(k.number()), "0"]), "alpha": literal(k.number())})


@call
def tensordot(k: Kit):
    a, b = n(k), n(k)
    x, y, dims = k.one([((2, a, b), (a, b, 2), "2"), ((2, a), (a, 3), "1"), ((a,), (b,), "0"), ((a, 2, b), (b, a), "([0, 2], [1, 0])"), ((a, b), (b, a), "[[1], [0]]"), ((a, b), (a, 2), "([-2], [0])")])
    return k.call("torch.tensordot", "a b", k.t(x), k.t(y), o={"dims": dims}) if dims == "2" else k.call("torch.tensordot", "a b dims", k.t(x), k.t(y), dims)


@call
def einsum(k: Kit):
    size = {c: n(k) for c in "ijkb"}
    spec = k.one(["ij,jk->ik", "ij,jk", "i,j->ij", "ii", "ii->i", "ij->ji", "ij->", "ij->j", "bij,bjk->bik", "...ij,...jk->...ik", "...i,...i->...", "i...->...", "b...i,ij->b...j", "ij,ij->i", "i,i", "i,ij,j->", "ij,kj", "ji", "ij, jk -> ik", "...ii->...i", "bi,bj->bij", "i,i,i->i", "...,...", "ij...,jk...->ik..."])
    terms = spec.replace(" ", "").split("->")[0].split(",")
    lead = k.one([(), (2,), (2, 1)])
    tensors = []
    for term in terms:
        head, dots, tail = term.partition("...")
        more = lead[k.rng.randint(0, len(lead)) :] if dots else ()
        tensors.append(k.t((*(size[c] for c in head), *more, *(size[c] for c in tail))))
    args = [repr(spec), *tensors] if k.chance(0.8) else [repr(spec), listed(tensors)]
    return f"torch.einsum({', '.join(args)})"


@call
def kron(k: Kit):
    return k.call("torch.kron .kron", "input other", k.t(k.shape(0, 2)), k.t(k.one([(), (2,), (1, 2), (2, 2)])))


@call
def cross(k: Kit):
    s = k.one([(3,), (2, 3), (3, 2), (1, 3, 2)])
    d = s.index(3)
    other = k.one([s, tuple(1 if m != 3 else m for m in s)])
    if k.chance(0.4):
        return f"torch.linalg.cross({k.t(s)}, {k.t(other)}, dim={k.dim(s, d)})"
    return k.call("torch.cross .cross", "input other dim", k.t(s), k.t(other), k.dim(s, d))


@call
def vecdot(k: Kit):
    _, s = k.any(1, 3)
    d = k.axis(s)
    return f"torch.linalg.vecdot({k.t(s)}, {k.t(s)}, dim={k.dim(s, d)})"


@call
def of_square(k: Kit):
    x, size = square(k)
    return k.call("torch.det .det torch.linalg.det torch.inverse .inverse torch.linalg.inv torch.logdet .logdet torch.slogdet torch.linalg.slogdet torch.matrix_exp torch.linalg.matrix_exp .matrix_exp torch.linalg.cond torch.pinverse torch.linalg.pinv torch.linalg.svdvals", "input", x)


@call
def trace(k: Kit):
    return k.call("torch.trace .trace", "input", k.t((n(k), n(k))))


@call
def matrix_power(k: Kit):
    x, _ = square(k)
    return k.call("torch.matrix_power .matrix_power torch.linalg.matrix_power", "input n", x, k.rng.randint(-2, 4))


@call
def solve(k: Kit):
    x, size = square(k, lead=k.one([(), (2,)]))
    return k.call("torch.linalg.solve", "A B", x, k.t(k.one([(size, 2), (size,) if "eye" in x and x.count("x") else (size, 1), (2, size, 1)])), kw={"left": "True"})


@call
def solve_left(k: Kit):
    x, size = square(k, lead=())
    return f"torch.linalg.solve({x}, {k.t((2, size))}, left=False)"


@call
def triangular(k: Kit):
    x, size = square(k, lead=k.one([(), (2,)]))
    b = k.t(k.one([(size, 2), (2, size, 1)]))
    right, more = k.one(["True", "False"]), k.one(["", ", unitriangular=True"])
    if k.chance(0.3):
        return f"torch.linalg.solve_triangular({x}, {k.t((2, size))}, upper={right}, left=False{more})"
    return f"torch.linalg.solve_triangular({x}, {b}, upper={right}{more})"


@call
def cholesky(k: Kit):
    x, size = definite(k)
    kind = k.one(["torch.linalg.cholesky", "torch.cholesky", "torch.cholesky_solve", "torch.cholesky_inverse"])
    if kind.endswith("solve"):
        return f"torch.cholesky_solve({k.t((size, 2))}, torch.linalg.cholesky({x}){k.one(['', ', upper=False'])})"
    if kind.endswith("inverse"):
        return f"torch.cholesky_inverse(torch.linalg.cholesky({x}))"
    return f"{kind}({x}{k.one(['', ', upper=True', ', upper=False'])})"


@call
def spectra(k: Kit):
    x, _ = symmetric(k)
    if k.chance(0.5):
        return f"torch.linalg.eigvalsh({x}{k.one(['', ', UPLO=' + repr('U'), ', ' + repr('L')])})"
    if k.chance(0.5):
        return f"torch.linalg.eigh({x})[0]"
    return f"torch.linalg.eigh({x})[1]**2"


@call
def singular(k: Kit):
    x = k.t((*batch(k), n(k), n(k)))
    return k.one([f"torch.linalg.svdvals({x})", f"torch.linalg.svd({x}, full_matrices=False)[{k.rng.randrange(3)}].abs()", f"torch.linalg.svd({x}, False).S", f"torch.svd({x}).S", f"torch.svd({x})[{k.one([0, 2])}]**2", f"torch.linalg.matrix_norm({x}, 2)", f"torch.linalg.cond({x})"])


@call
def qr(k: Kit):
    a, b = n(k), n(k)
    x = k.t((*batch(k), max(a, b), min(a, b)))
    return k.one([f"torch.linalg.qr({x})", f"torch.qr({x})", f"torch.linalg.qr({x}, mode='reduced')", f"torch.linalg.qr({x}, 'r').R", f"torch.linalg.qr({x}).R"])


@call
def pseudo(k: Kit):
    x = k.t((*batch(k), n(k), n(k)))
    return k.one([f"torch.linalg.pinv({x})", f"torch.pinverse({x})", f"torch.linalg.pinv({x}, rtol=1e-10)", f"torch.linalg.pinv({x}, rcond=1e-10)"])


@call
def lstsq(k: Kit):
    a, b = n(k) + 1, n(k)
    a = max(a, b)
    x = f"({k.t((a, b))} + torch.eye({a}, {b})*3)"
    return f"torch.linalg.lstsq({x}, {k.t((a, 2))}).solution"


@call
def chains(k: Kit):
    a, b, c, d = n(k), n(k), n(k), n(k)
    return f"torch.linalg.multi_dot([{k.one([k.t((a, b)), k.t((b,))])}, {k.t((b, c))}, {k.one([k.t((c, d)), k.t((c,))])}])"


@call
def distances(k: Kit):
    p = k.one(["1", "2", "3", "0.", "float('inf')", "2.5", "0.5"])
    if k.chance(0.5):
        m = n(k)
        lead = k.one([(), (2,)])
        return k.call("torch.cdist", "x1 x2", k.t((*lead, n(k), m)), k.t((*lead, n(k), m)), o={"p": p})
    x, s = k.any(0, 2)
    return k.call("torch.dist .dist", "input other", x, k.t(k.narrower(s)), o={"p": p})


@call
def linear_more(k: Kit):
    m, o = n(k), n(k)
    return k.one([lambda: k.call("F.linear", "input weight", k.t((*k.shape(0, 2), m)), k.t((o, m)), o={"bias": k.t((o,))}), lambda: k.call("F.bilinear", "input1 input2 weight", k.t((2, m)), k.t((2, o)), k.t((3, m, o)), o={"bias": k.t((3,))}),
        lambda: f"{k.t(())}*{math.pi}"])()
