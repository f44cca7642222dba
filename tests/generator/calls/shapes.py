"""Calls that move, join, cut and pick entries, and that write them elsewhere."""

# ruff: noqa: E501, RUF059 - a call is a line
# fmt: off

import math

from generator.calls.kit import Kit, NotTaken, call, listed, literal, of_one_tensor


def many(k: Kit, shape, count=None):
    return [k.t(shape) for _ in range(count or k.rng.randint(1, 3))]


@call
def reshape(k: Kit):
    x, s = k.any(0, 4)
    n = math.prod(s)
    ways = [[-1], [n], [1, -1], [-1, 1]] + [[d, n // d] for d in (2, 3, 4) if n and n % d == 0]
    to = [str(d) for d in k.one(ways)]
    return k.one([f"torch.reshape({x}, {listed(to, '(')})", f"{x}.reshape({', '.join(to)})", f"{x}.reshape({listed(to)})",
                  f"{x}.view({', '.join(to)})", f"torch.reshape(input={x}, shape={listed(to, '(')})"])


@call
def permute(k: Kit):
    x, s = k.any(0, 4)
    order = k.rng.sample(range(len(s)), len(s))
    dims = [k.dim(s, d) for d in order]
    if not dims or k.chance(0.5):
        return k.call("torch.permute .permute", "input dims", x, listed(dims, "("))
    return f"{x}.permute({', '.join(dims)})"


@call
def movedim(k: Kit):
    x, s = k.any(1, 4)
    n = k.rng.randint(1, len(s))
    src, dst = ([k.dim(s, d) for d in k.rng.sample(range(len(s)), n)] for _ in range(2))
    if n == 1 and k.chance(0.7):
        return k.call("torch.movedim .movedim torch.moveaxis .moveaxis", "input source destination", x, src[0], dst[0])
    return k.call("torch.movedim .movedim torch.moveaxis", "input source destination", x, listed(src, "("), listed(dst, "("))


@call
def expand(k: Kit):
    x, s = k.any(0, 3)
    to = [str(k.one([-1, n]) if n != 1 else k.one([1, 2, 3])) for n in s]
    lead = [str(k.one([1, 2]))] * k.rng.randint(0, 1)
    sizes = lead + to
    if not sizes:
        raise NotTaken
    return k.one([f"{x}.expand({', '.join(sizes)})", f"{x}.expand({listed(sizes, '(')})",
                  f"torch.broadcast_to({x}, {listed(sizes, '(')})", f"{x}.broadcast_to({listed(sizes, '(')})", f"{x}.expand_as({k.t(s)})", f"{x}.view_as({k.t(s)})", f"{x}.reshape_as({k.t(s)})"])


@call
def roll(k: Kit):
    x, s = k.any(1, 3)
    if k.chance(0.4):
        n = k.rng.randint(1, len(s))
        dims = [k.dim(s, d) for d in k.rng.sample(range(len(s)), n)]
        return k.call("torch.roll .roll", "input shifts dims", x, listed([str(k.rng.randint(-4, 4)) for _ in dims], "("), listed(dims, "("))
    return k.call("torch.roll .roll", "input shifts", x, k.rng.randint(-4, 4), o={"dims": lambda: k.dim(s)})


@call
def diagonal(k: Kit):
    x, s = k.any(2, 3)
    a, b = k.rng.sample(range(len(s)), 2)
    name = k.one(["torch.diagonal", ".diagonal"])
    o = {"offset": k.rng.randint(-2, 2)} | ({"dim1": k.dim(s, a), "dim2": k.dim(s, b)} if k.chance(0.5) else {})
    return k.call(name, "input", x, o=o)


@call
def diag_embed(k: Kit):
    x, s = k.any(1, 2)
    o = {"offset": k.rng.randint(-2, 2)} | ({"dim1": k.one([0, -2]), "dim2": k.one([-1, 1])} if k.chance(0.3) else {})
    return k.call("torch.diag_embed .diag_embed", "input", x, o=o)


@call
def stack(k: Kit):
    _, s = k.any(0, 3)
    d = k.rng.randint(-len(s) - 1, len(s))
    return k.call("torch.stack", "tensors", listed(many(k, s), k.one("[(")), o={"dim": d})


@call
def cat(k: Kit):
    _, s = k.any(1, 3)
    d = k.axis(s)
    parts = [k.t((*s[:d], k.one([1, 2, s[d]]), *s[d + 1 :])) for _ in range(k.rng.randint(1, 3))]
    return k.call("torch.cat torch.concat torch.concatenate", "tensors dim", listed(parts, k.one("[(")), k.dim(s, d))


@call
def several(k: Kit):
    name = k.one(["atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "block_diag", "meshgrid", "cartesian_prod"])
    s = k.shape(1, 1) if name in ("meshgrid", "cartesian_prod") else k.shape(0, 2)
    parts = [k.t(k.shape(1, 1) if name in ("meshgrid", "cartesian_prod") else k.narrower(s)) for _ in range(k.rng.randint(1, 3))]
    more = [k.one(["indexing='ij'", "indexing='xy'"])] * (name == "meshgrid")
    return f"torch.{name}({', '.join([*parts, *more])})"


@call
def tile(k: Kit):
    x, s = k.any(0, 3)
    reps = [str(k.one([1, 1, 2])) for _ in range(max(len(s) + k.rng.randint(0, 1), 1))]
    return k.one([f"{x}.repeat({', '.join(reps)})", f"{x}.repeat({listed(reps, '(')})", f"{x}.tile({listed(reps[-2:], '(')})", f"torch.tile({x}, {listed(reps, '(')})", f"torch.tile(input={x}, dims={listed(reps, '(')})"])


@call
def repeat_interleave(k: Kit):
    x, s = k.any(1, 3)
    if k.chance(0.5):
        return k.call("torch.repeat_interleave .repeat_interleave", "input repeats", x, k.rng.randint(1, 3), o={"dim": lambda: k.dim(s)})
    d = k.axis(s)
    reps = [k.rng.randint(0, 2) for _ in range(s[d])]
    return k.call("torch.repeat_interleave .repeat_interleave", "input repeats dim", x, f"torch.tensor({reps}, dtype=torch.long)", k.dim(s, d))


@call
def unflatten(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    ways = [[-1], [s[d]], [1, -1]] + [[f, s[d] // f] for f in (2, 3) if s[d] and s[d] % f == 0]
    return k.call("torch.unflatten .unflatten", "input dim sizes", x, k.dim(s, d), listed([str(n) for n in k.one(ways)], k.one("[(")))


@call
def unfold(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    return f"{x}.unfold({k.dim(s, d)}, {k.rng.randint(1, max(s[d], 1))}, {k.one([1, 2, 3])})"


@call
def split(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    if k.chance(0.4):
        cut = k.rng.randint(0, s[d])
        return k.call("torch.split .split torch.split_with_sizes", "tensor split_size_or_sections dim", x, f"[{cut}, {s[d] - cut}]", k.dim(s, d)) if k.chance(0.8) else f"{x}.split_with_sizes([{cut}, {s[d] - cut}], {k.dim(s, d)})"
    return k.call("torch.split .split", "tensor split_size_or_sections", x, k.rng.randint(1, 3), o={"dim": lambda: k.dim(s, d)} if s[d] else {})


@call
def tensor_split(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    where = k.one([str(k.rng.randint(1, 4)), f"[{k.rng.randint(0, 2)}, {k.rng.randint(2, 5)}]", f"(1, {k.rng.randint(-2, 3)})"])
    return f"{k.one(['torch.tensor_split(' + x + ', ', x + '.tensor_split('])}{where}, dim={k.dim(s, d)})"


@call
def xsplit(k: Kit):
    name, low = k.one([("hsplit", 1), ("vsplit", 2), ("dsplit", 3)])
    x, s = k.any(low, 3)
    return k.call(f"torch.{name} .{name}", "input indices_or_sections", x, k.one([1, 2, "[1]", "[1, 2]"]))


@call
def narrow(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    start = k.rng.randint(0, s[d])
    length = k.rng.randint(0 if k.mode == "empty" else min(1, s[d] - start), s[d] - start)
    return k.call("torch.narrow .narrow", "input dim start length", x, k.dim(s, d), start - s[d] * (k.chance(0.2) and 0 < start < s[d]), length)


@call
def select(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    return k.call("torch.select .select", "input dim index", x, k.dim(s, d), k.rng.randint(-s[d], s[d] - 1) if s[d] else 0)


MODES = ["constant", "reflect", "replicate", "circular"]


@call
def pad(k: Kit):
    mode = k.one(MODES)
    axes = k.rng.randint(1, 2)
    if mode == "constant":
        x, s = k.any(1, 4)
        axes = min(axes, len(s))
        sizes = [k.rng.randint(-1, 2) for _ in range(2 * axes)]
        return k.call("F.pad torch.nn.functional.pad", "input pad", x, listed([str(p) for p in sizes], k.one("[(")), o={"mode": "'constant'", "value": literal(k.number())})
    s = k.shape(axes + 1, axes + 2)
    x = k.t(s)
    sizes = [k.rng.randint(0, max(min(s[-1 - d // 2] - 1, 2), 0)) for d in range(2 * axes)]
    return k.call("F.pad torch.nn.functional.pad", "input pad mode", x, listed([str(p) for p in sizes], k.one("[(")), repr(mode))


@call
def gather(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    return k.call("torch.gather .gather", "input dim index", x, k.dim(s, d), k.index(k.within(s, d), s[d]))


@call
def take_along_dim(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    if k.chance(0.2):
        return k.call("torch.take_along_dim .take_along_dim", "input indices", x, k.index((3,), s[0] if len(s) == 1 else 1))
    i = tuple(k.rng.randint(1, 3) if e == d else k.one([1, n]) for e, n in enumerate(s))
    return k.call("torch.take_along_dim .take_along_dim", "input indices dim", x, k.index(i, s[d], True), k.dim(s, d))


@call
def index_select(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    return k.call("torch.index_select .index_select", "input dim index", x, k.dim(s, d), k.index((k.rng.randint(1, 3),), s[d]))


@call
def take(k: Kit):
    x, s = k.any(1, 3)
    n = math.prod(s)
    return k.call("torch.take .take", "input index", x, k.index(k.shape(0, 2), n, True))


@call
def masked(k: Kit):
    x, s = k.any(0, 3)
    if k.chance(0.4):
        return k.call("torch.masked_select .masked_select", "input mask", x, k.mask(k.narrower(s)))
    value = k.one([literal(k.number()), k.t(())])
    return k.call("torch.masked_fill .masked_fill", "input mask value", x, k.mask(k.narrower(s)), value)


@call
def scatter(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    i = tuple(min(a, b) for a, b in zip(k.within(s, d), s, strict=True))
    kind = k.one(["src", "value", "add", "reduce", "reduce_"])
    if kind == "src":
        i = tuple(1 if e == d else m for e, m in enumerate(i))
    index = k.index(i, s[d])
    if kind == "add":
        return k.call("torch.scatter_add .scatter_add", "input dim index src", x, k.dim(s, d), index, k.t(i))
    if kind == "reduce":
        return k.call("torch.scatter_reduce .scatter_reduce", "input dim index src reduce", x, k.dim(s, d), index, k.t(i), repr(k.one(["sum", "mean", "prod", "amax", "amin"])), kw={"include_self": k.one(["True", "False"])})
    if kind == "reduce_":
        return f"{x}.scatter({k.dim(s, d)}, {index}, {literal(k.number())}, reduce={k.one(['add', 'multiply'])!r})"
    return k.call("torch.scatter .scatter", "input dim index " + kind, x, k.dim(s, d), index, k.t(i) if kind == "src" else literal(k.number()))


@call
def index_writes(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    n = k.rng.randint(1, 3)
    kind = k.one(["add", "copy", "fill", "reduce"])
    index, source = k.index((n,), s[d], once=kind == "copy"), k.t((*s[:d], n, *s[d + 1 :]))
    if kind == "add":
        return k.call("torch.index_add .index_add", "input dim index source", x, k.dim(s, d), index, source, kw={"alpha": literal(k.number())})
    if kind == "copy":
        return k.call("torch.index_copy .index_copy", "input dim index source", x, k.dim(s, d), index, source)
    return k.call("torch.index_fill .index_fill", "input dim index value", x, k.dim(s, d), index, k.one([literal(k.number()), k.t(())]))


@call
def index_put(k: Kit):
    x, s = k.any(1, 3)
    n = k.rng.randint(1, 3)
    axes = k.rng.randint(1, len(s))
    adds = k.chance(0.4)
    where = [k.index((n,), s[d], once=not adds and d == 0) for d in range(axes)]
    values = k.t((n, *s[axes:]))
    return k.call("torch.index_put .index_put", "input indices values", x, listed(where, "("), values, o={} if adds is False else {"accumulate": "True"}) if not adds else f"{x}.index_put({listed(where, '(')}, {values}, accumulate=True)"


@call
def put(k: Kit):
    x, s = k.any(1, 2)
    n = math.prod(s)
    i = (k.rng.randint(1, 3),)
    return k.call("torch.put .put", "input index source", x, k.index(i, n, once=True), k.t(i), o={"accumulate": "True"}) if k.chance(0.5) else f"{x}.put({k.index(i, n, True)}, {k.t(i)}, accumulate=True)"


@call
def indexing(k: Kit):
    x, s = k.any(1, 3)
    if 0 in s:
        raise NotTaken
    parts = []
    for n in s[: k.rng.randint(1, len(s))]:
        parts.append(k.one([k.index((2,), n, True), k.index((2, 1), n), str(k.rng.randint(-n, n - 1)), ":", f"{k.rng.randint(-n, n)}:", "::2", f"[{k.rng.randrange(n)}, 0]", "None", "..."]))
        if parts.count("...") > 1:
            parts[-1] = ":"
    while len([p for p in parts if p not in ("None", "...")]) > len(s):
        parts.pop()
    return f"{x}[{', '.join(parts)}]" if k.chance(0.8) else f"{x}[{k.mask(s)}]"


@call
def one_hot(k: Kit):
    n = k.rng.randint(1, 4)
    return k.call("F.one_hot torch.nn.functional.one_hot", "tensor", k.index(k.shape(0, 2), n), o={"num_classes": k.one([-1, n, n + 1])})


@call
def positions(k: Kit):
    x, s = k.any(1, 2)
    edges = f"torch.tensor({sorted(k.rng.sample([-2.0, -1.0, 0.0, 0.5, 1.0, 1.5], 3))})"
    return k.one([lambda: k.call("torch.searchsorted", "sorted_sequence input", edges, x, kw={"right": "True"}), lambda: k.call("torch.bucketize", "input boundaries", x, edges, kw={"right": k.one(["True", "False"])}),
                  lambda: k.call("torch.argsort .argsort", "input", x, o={"dim": k.dim(s), "descending": "True"}), lambda: k.call("torch.argmax .argmax torch.argmin .argmin", "input", x, o={"dim": k.dim(s), "keepdim": k.one(["True", "False"])}),
                  lambda: f"torch.{k.one(['tril', 'triu'])}_indices({k.rng.randint(1, 3)}, {k.rng.randint(1, 3)}, {k.rng.randint(-1, 1)})", lambda: f"{x}.nonzero()", lambda: f"torch.argwhere({x} > 0)"])()


@call
def spatial(k: Kit):
    r = 2
    kind = k.one(["pixel_shuffle", "pixel_unshuffle", "channel_shuffle"])
    shape = {"pixel_shuffle": (*k.shape(0, 1), 4, *k.one([(1, 2), (2, 2)])), "pixel_unshuffle": (*k.shape(0, 1), 1, 2, 4), "channel_shuffle": (1, 4, 2)}[kind]
    return k.call(f"F.{kind} torch.{kind}", "input " + {"pixel_shuffle": "upscale_factor", "pixel_unshuffle": "downscale_factor", "channel_shuffle": "groups"}[kind], k.t(shape), r)


of_one_tensor(
    ("flatten", (0, 4), lambda k, x, s: k.call("torch.flatten .flatten", "input", x, o={"start_dim": lambda: k.dim(s, 0), "end_dim": lambda: k.dim(s, max(len(s) - 1, 0))})),
    ("one_argument", (0, 4), lambda k, x, s: k.call("torch.ravel .ravel .t torch.t .T.contiguous torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.squeeze "
         "torch.msort .msort torch.clone .clone .adjoint torch.adjoint torch.fliplr .fliplr torch.flipud .flipud .contiguous .double .cpu torch.detach", "input", x)),
    ("attributes", (0, 4), lambda k, x, s: x + k.one([".T", ".mT", ".mH", ".H", ".data", ".real", ".to(torch.float64)", ".type(torch.float64)", ".to('cpu')", ".type_as(x0)", ".requires_grad_()"])),
    ("one_dim", (1, 4), lambda k, x, s: k.call("torch.unsqueeze .unsqueeze torch.squeeze .squeeze torch.unbind .unbind", "input dim", x, k.dim(s))),
    ("unsqueeze", (0, 3), lambda k, x, s: k.call("torch.unsqueeze .unsqueeze", "input dim", x, k.rng.randint(-len(s) - 1, len(s)))),
    ("squeeze", (1, 4), lambda k, x, s: k.call("torch.squeeze .squeeze", "input dim", x, k.dims(s))),
    ("two_dims", (1, 4), lambda k, x, s: k.call("torch.transpose .transpose torch.swapaxes .swapaxes torch.swapdims .swapdims", "input dim0 dim1", x, k.dim(s), k.dim(s))),
    ("flip", (1, 3), lambda k, x, s: k.call("torch.flip .flip", "input dims", x, listed([k.dim(s, d) for d in k.rng.sample(range(len(s)), k.rng.randint(0, len(s)))], k.one("[(")))),
    ("rot90", (2, 3), lambda k, x, s: k.call("torch.rot90 .rot90", "input", x, o={"k": k.rng.randint(-3, 5), "dims": listed([k.dim(s, d) for d in k.rng.sample(range(len(s)), 2)])})),
    ("diag", (1, 2), lambda k, x, s: k.call("torch.diag .diag torch.diagflat", "input", x, o={} if k.chance(0.5) else {"offset": k.rng.randint(-2, 2)}) if k.chance(0.3) else k.call("torch.diag .diag", "input", x, o={"diagonal": k.rng.randint(-2, 2)})),
    ("linalg_diagonal", (2, 3), lambda k, x, s: k.call("torch.linalg.diagonal", "A", x, kw={"offset": k.rng.randint(-1, 1)})),
    ("triangles", (2, 4), lambda k, x, s: k.call("torch.tril .tril torch.triu .triu", "input", x, o={"diagonal": k.rng.randint(-2, 2)})),
    ("stacks", (0, 3), lambda k, x, s: k.call("torch.hstack torch.vstack torch.dstack torch.column_stack torch.row_stack", "tensors", listed([x, *many(k, s)], k.one("[(")))),
    ("combinations", (1, 1), lambda k, x, s: k.call("torch.combinations", "input", x, o={"r": k.rng.randint(1, 3), "with_replacement": k.one(["True", "False"])})),
    ("chunk", (1, 3), lambda k, x, s: k.call("torch.chunk .chunk torch.tensor_split .tensor_split", "input " + "chunks", x, k.rng.randint(1, 4), o={}) if k.chance(0.3) else k.call("torch.chunk .chunk", "input chunks", x, k.rng.randint(1, 4), o={"dim": lambda: k.dim(s)})),
    ("embedding", (2, 2), lambda k, w, s: k.call("F.embedding torch.nn.functional.embedding", "input weight", k.index(k.shape(0, 2), s[0]), w, o={"padding_idx": k.rng.randint(-s[0], s[0] - 1) if s[0] else 0})),
)
