"""Calls that work entry by entry, reductions, running ones and orders."""

# ruff: noqa: E501, RUF059 - a call is a line
# fmt: off

from generator.calls.kit import CALLS, Kit, call, listed, literal, of_one_tensor

UNARY = {
    "any": "sin cos tanh sinh cosh atan asinh arctan arcsinh exp expm1 exp2 square abs absolute neg negative sign sgn floor ceil trunc fix round sigmoid erf erfc erfinv_ sinc "
    "relu deg2rad rad2deg frac positive isnan isfinite isinf signbit isposinf isneginf logical_not nan_to_num special.erf special.erfc special.expit special.exp2 special.expm1 special.ndtr special.sinc special.softmax_ "
    "F.relu F.relu6 F.silu F.mish F.hardswish F.hardsigmoid F.softsign F.tanhshrink F.logsigmoid F.selu F.sigmoid F.tanh tan",
    "pos": "log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma special.gammaln special.digamma special.psi mvlgamma_ special.log1p",
    "unit": "logit asin acos atanh erfinv arcsin arccos arctanh special.logit special.erfinv",
    "over": "acosh arccosh lgamma digamma log",
}


def unary(domain, name):
    def make(k: Kit):
        x, s = k.any(0, 4, domain)
        if "." in name:
            return k.call(f"torch.{name}" if name.startswith("special") else f"{name} torch.nn.functional.{name[2:]}", "input", x)
        return k.call(f"torch.{name} .{name}", "input", x)

    return make


for _domain, _names in UNARY.items():
    for _name in _names.split():
        if not _name.endswith("_"):
            CALLS[f"{_name}/{_domain}"] = unary(_domain, _name)

BINARY = {
    "any any": "mul multiply maximum minimum fmax fmin add sub subtract hypot atan2 arctan2 logaddexp logaddexp2 copysign eq ne gt ge lt le greater less greater_equal less_equal not_equal max min heaviside logical_and logical_or logical_xor isclose ldexp clamp_min clamp_max",
    "any over": "div divide true_divide remainder fmod floor_divide",
    "pos any": "pow float_power",
    "any pos": "xlogy special.xlogy remainder",
}


def binary(domains, name):
    def make(k: Kit):
        first, second = domains.split()
        _, s = k.any(0, 3)
        a, b = k.t(k.narrower(s) if k.chance(0.3) else s, first), k.beside(s, second)
        if name in ("add", "sub", "subtract") and k.chance(0.3):
            return k.call(f"torch.{name} .{name}", "input other", a, b, kw={"alpha": literal(k.number())})
        if name in ("div", "divide"):
            return k.call(f"torch.{name} .{name}", "input other", a, b, kw={"rounding_mode": k.one(["None", "'floor'", "'trunc'"])})
        if name == "isclose":
            return k.call("torch.isclose .isclose", "input other", a, b, o={"rtol": 0.1, "atol": 0.5, "equal_nan": "True"})
        if "." in name:
            return k.call(f"torch.{name}", "input other", a, b)
        return k.call(f"torch.{name} .{name}", ("input exponent" if "pow" in name else "input values" if name == "heaviside" else "input other"), a, b)

    return make


for _domain, _names in BINARY.items():
    for _name in _names.split():
        CALLS[f"{_name}/{_domain}"] = binary(_domain, _name)


@call
def operators(k: Kit):
    _, s = k.any(0, 3)
    op = k.one(["+", "-", "*", "/", "**", "%", "//"])
    a, b = k.t(k.narrower(s), "pos" if op == "**" else "any"), k.beside(s, "over" if op in ("/", "%", "//") else "any")
    return f"{a} {op} {b}" if k.chance(0.7) else f"{b} {op} {a}"


@call
def clamp(k: Kit):
    x, s = k.any(0, 3)
    low, high = (k.one([literal(k.number()), k.t(k.narrower(s))]) for _ in range(2))
    if low.startswith("x") != high.startswith("x") or low.startswith("a") != high.startswith("a"):
        return k.call("torch.clamp .clamp torch.clip .clip", "input min", x, low)
    return k.call("torch.clamp .clamp torch.clip .clip", "input", x, o={"min": low, "max": high})


@call
def where(k: Kit):
    _, s = k.any(0, 3)
    if k.chance(0.4):
        return k.call(".where", "input condition other", k.t(s), k.mask(k.narrower(s)), k.beside(s))
    return k.call("torch.where", "condition input other", k.mask(s), k.beside(s), k.t(k.narrower(s)))


@call
def three(k: Kit):
    x, s = k.any(0, 3)
    a, b = k.t(k.narrower(s)), k.t(k.narrower(s), "over")
    kind = k.one(["addcmul", "addcdiv", "lerp", "rsub"])
    if kind == "lerp":
        return k.call("torch.lerp .lerp", "input end weight", x, a, k.one([literal(k.number()), b]))
    if kind == "rsub":
        return k.call("torch.rsub", "input other", x, k.one([a, literal(k.number())]), kw={"alpha": literal(k.number())})
    return k.call(f"torch.{kind} .{kind}", "input tensor1 tensor2", x, a, b, kw={"value": literal(k.number())})


@call
def optioned(k: Kit):
    x, s = k.any(0, 3)
    n = lambda: literal(k.number())  # noqa: E731
    p = lambda: literal(k.number("over"))  # noqa: E731
    name, o = k.one([
        ("torch.round .round", {"!decimals": lambda: k.rng.randint(-1, 3)}), ("torch.nan_to_num .nan_to_num", {"nan": n, "posinf": n, "neginf": n}),
        ("F.leaky_relu", {"negative_slope": n}), ("F.elu", {"alpha": n}), ("F.celu", {"alpha": p}), ("F.softplus", {"beta": p, "threshold": p}),
        ("F.gelu", {"!approximate": "'tanh'"}), ("F.hardshrink torch.hardshrink .hardshrink", {"lambd": p}), ("F.softshrink", {"lambd": p}), ("F.hardtanh", {"min_val": "-1.5", "max_val": p}),
        ("F.rrelu", {"lower": "0.1", "upper": "0.3"}), ("F.dropout", {"p": "0.3"}), ("F.selu torch.selu", {}), ("F.logsigmoid", {}), ("F.dropout", {"p": 0.0, "training": "True"}),
        ("torch.logit .logit torch.special.logit", {"eps": 0.2}), ("F.alpha_dropout", {"p": 0.0}),
    ])
    kw = {key[1:]: value for key, value in o.items() if key[0] == "!"}
    o = {key: value for key, value in o.items() if key[0] != "!"}
    if name == "F.dropout" and "training" not in o:
        return k.call(name, "input p training", x, 0.3, "False")
    return k.call(name, "input", x, o=o, kw=kw)


# --- reductions ---
KEEP = ["True", "False"]


@call
def reductions(k: Kit):
    x, s = k.any(0, 4)
    if k.chance(0.3):
        return k.call("torch.sum .sum torch.mean .mean torch.prod .prod torch.max .max torch.min .min torch.amax .amax torch.amin .amin torch.median .median torch.var .var torch.std .std "
                      "torch.norm .norm torch.any .any torch.all .all torch.nansum .nansum torch.nanmean torch.nanmedian .argmax .argmin torch.count_nonzero torch.aminmax torch.std_mean torch.var_mean torch.linalg.vector_norm torch.linalg.norm", "input", x)
    return k.call("torch.sum .sum torch.mean .mean torch.amax .amax torch.amin .amin torch.logsumexp .logsumexp torch.special.logsumexp torch.nansum torch.nanmean torch.any torch.all", "input dim", x, k.dims(s), o={"keepdim": k.one(KEEP)})


@call
def typed(k: Kit):
    x, s = k.any(0, 3)
    kind = k.one(["torch.double", "torch.float64"])
    return k.one([f"torch.sum({x}, dtype={kind})", f"{x}.sum({k.dim(s)}, dtype={kind})", f"{x}.mean({k.dim(s)}, True, dtype={kind})", f"{x}.cumsum({k.dim(s)}, dtype={kind})", f"torch.prod({x}, dtype={kind})", f"F.softmax({x}, {k.dim(s)}, dtype={kind})",
                  f"{x}.log_softmax(dim={k.dim(s)}, dtype={kind})", f"torch.nansum({x}, dtype={kind})", f"torch.ones_like({x}, dtype={kind})*{x}", f"torch.zeros({tuple(s)}, dtype={kind}) + {x}", f"torch.arange(3, dtype={kind})*{k.t((3,))}",
                  f"torch.tensor([1, 2, 3], dtype={kind})*{k.t((3,))}", f"({x} > 0).sum()*{x}", f"({x} > 0).double()*{x}", f"({x} > 0).to({kind})*{x}", f"({x} > 0).long()*{x}", f"({x} > 0).float().mean()*1.0*{x}", f"({x} > 0)*{x}", f"torch.full_like({x}, 2.5)*{x}",
                  f"{x}.new_tensor([2.])*{x}", f"{x}.new_ones({tuple(s)})*{x}", f"{x}.new_full({tuple(s)}, 3.)*{x}", f"{x}.numel()*{x}", f"{x}.size({k.dim(s)})*{x}" if s else f"{x}.dim()*{x}", f"{x}.shape[{k.dim(s)}]*{x}" if s else f"len({x}.shape)*{x}",
                  f"torch.full({tuple(s)}, 1.5)*{x}", f"torch.linspace(0, 1, 3)*{k.t((3,))}", f"torch.logspace(0, 1, 3)*{k.t((3,))}", f"torch.logspace(0, 1, steps=3, base=2)*{k.t((3,))}", f"torch.arange(1, 4)*{k.t((3,))}", f"torch.arange(0, 1.5, 0.5)*{k.t((3,))}",
                  f"torch.eye(2, 3) + {k.t((2, 3))}", f"torch.tensor([1, 2, 3])/{k.t((3,), 'over')}", f"torch.tensor([True, False, True])*{k.t((3,))}", f"torch.tensor([1, 2, 3])**{k.t((3,))}", f"{k.t((3,), 'pos')}**torch.tensor([1, 2, 3])",
                  f"torch.tensor([5, -3, 2]) % {k.t((3,), 'over')}", f"torch.tensor([7, 8, 9])//torch.tensor([2, 3, 4])*{k.t((3,))}", f"torch.tensor([7, 8, 9]).float().mean()*{x}", f"torch.tensor([3, 1, 2]).sort().values*{k.t((3,))}",
                  f"torch.tensor([3, 1, 2]).cumsum(0)*{k.t((3,))}", f"torch.tensor([3, 1, 2]).prod()*{x}", f"torch.tensor([3, 1, 2]).max()*{x}", f"torch.tensor([-3, 1]).abs().sum()*{x}", f"(torch.tensor([7, 8, 9]) % 4)*{k.t((3,))}"])


@call
def spread(k: Kit):
    x, s = k.any(0, 3)
    name = k.one(["var", "std", "std_mean", "var_mean"])
    names = f"torch.{name}" + f" .{name}" * ("mean" not in name)
    if k.chance(0.3):
        return k.call(names, "input unbiased", x, k.one(KEEP))
    if k.chance(0.3):
        return k.call(names, "input dim unbiased", x, k.dims(s), k.one(KEEP), o={"keepdim": k.one(KEEP)})
    return k.call(names, "input", x, o={"dim": lambda: k.one([k.dims(s), "None"])}, kw={"correction": k.rng.randint(0, 2), "keepdim": k.one(KEEP)})


@call
def norms(k: Kit):
    x, s = k.any(0, 3)
    p = k.one(["1", "2", "3", "0.5", "2.5", "0", "-1", "float('inf')", "-float('inf')", "torch.inf"])
    if k.chance(0.3):
        return k.call("torch.norm .norm", "input", x, o={"p": k.one([p, "'fro'"]), "dim": lambda: k.dims(s), "keepdim": k.one(KEEP)})
    if k.chance(0.4):
        return f"torch.linalg.vector_norm({x}, ord={p}, dim={k.dims(s)}, keepdim={k.one(KEEP)})"
    return k.call("torch.linalg.vector_norm" + " torch.linalg.norm" * (len(s) == 1), "x", x, o={"ord": p, "dim": lambda: k.dims(s), "keepdim": k.one(KEEP)})


@call
def matrix_norms(k: Kit):
    x, s = k.any(2, 3)
    p = k.one(["1", "-1", "2", "-2", "torch.inf", "-torch.inf", "'fro'", "'nuc'"])
    if k.chance(0.5):
        return k.call("torch.linalg.matrix_norm", "A", x, o={"ord": p, "dim": k.one(["(-2, -1)", "(0, 1)", "(1, 0)"]), "keepdim": k.one(KEEP)})
    return k.call("torch.linalg.norm", "A", k.t(s[-2:]), o={"ord": p, "dim": k.one(["(0, 1)", "(-2, -1)"]), "keepdim": k.one(KEEP)})


@call
def orders(k: Kit):
    x, s = k.any(0, 3)
    d = k.axis(s)
    n = s[d] if s else 1
    kind = k.one(["sort", "topk", "kthvalue"])
    if kind == "sort":
        return k.call("torch.sort .sort", "input", x, o={"dim": k.dim(s, d), "descending": k.one(KEEP)}) if k.chance(0.8) else f"torch.sort({x}, dim={k.dim(s, d)}, stable=True, descending={k.one(KEEP)})"
    if kind == "topk":
        return k.call("torch.topk .topk", "input k", x, k.rng.randint(1, n) if d == len(s) - 1 and n else 1, o={"dim": k.dim(s, d), "largest": k.one(KEEP), "sorted": "True"}) if d == len(s) - 1 else f"torch.topk({x}, {k.rng.randint(0, n)}, {k.dim(s, d)})"
    return f"{k.one(['torch.kthvalue(' + x + ', ', x + '.kthvalue('])}{k.rng.randint(1, max(n, 1))}, {k.dim(s, d)}, keepdim={k.one(KEEP)})"


@call
def quantile(k: Kit):
    x, s = k.any(0, 3)
    q = k.one(["0.5", "0.3", "0.", "1.", "torch.tensor([0.1, 0.75])", "torch.tensor(0.25)"])
    return k.call("torch.quantile .quantile torch.nanquantile .nanquantile", "input q", x, q, o={"dim": lambda: k.one([k.dim(s), "None"]), "keepdim": k.one(KEEP)}, kw={"interpolation": repr(k.one(["linear", "lower", "higher", "nearest", "midpoint"]))})


@call
def with_nan(k: Kit):
    x, s = k.any(1, 2)
    broken = f"torch.where({x} > {literal(k.number())}, {x}, float('nan'))"
    return k.one([f"torch.nansum({broken}, {k.dim(s)})", f"torch.nanmean({broken}, {k.dim(s)})", f"torch.nanmedian({broken})", f"torch.nan_to_num({broken}, 0.5)", f"torch.nanquantile({broken}, 0.4)", f"torch.nanquantile({broken}, 0.4, {k.dim(s)})", f"torch.nansum({broken})", f"torch.fmax({broken}, {x})", f"torch.fmin({broken}, {k.t(s)})"])


@call
def diff(k: Kit):
    x, s = k.any(1, 3)
    d = k.axis(s)
    side = (*s[:d], k.rng.randint(1, 2), *s[d + 1 :])
    return k.call("torch.diff .diff", "input", x, o={"n": k.rng.randint(0, 2), "dim": k.dim(s, d)}) if k.chance(0.6) else f"torch.diff({x}, dim={k.dim(s, d)}, {k.one(['prepend', 'append'])}={k.t(side)})"


@call
def trapezoid(k: Kit):
    y, s = k.any(1, 3)
    d = k.axis(s)
    name = k.one(["torch.trapezoid", "torch.trapz", "torch.cumulative_trapezoid"])
    if k.chance(0.5):
        return f"{name}({y}, {k.t(s if k.chance(0.5) else (s[d],))}, dim={k.dim(s, d)})"
    return f"{name}({y}, dx={literal(k.number('over'))}, dim={k.dim(s, d)})" if k.chance(0.6) else f"{name}({y})"


@call
def comparisons(k: Kit):
    x, s = k.any(0, 2)
    other = k.t(s)
    return k.one([f"torch.equal({x}, {other})", f"torch.allclose({x}, {other}, atol=1.)", f"torch.count_nonzero({x} > 0, {k.dim(s)})", f"torch.count_nonzero({x}, dim={k.dim(s)})", f"torch.histc({x}, 3, -2, 2)", f"torch.histc({x}, bins=4)", f"({x} > {other}).any()", f"({x} > 0).all({k.dim(s)})", f"({x} > 0).sum({k.dim(s)})", f"torch.bitwise_and({x} > 0, {other} > 0)", f"({x} > 0) ^ ({other} > 0)", f"~({x} > 0)", f"torch.logical_not({x} > 0)", f"(({x} > 0) & ({other} < 1)).sum()", f"torch.aminmax({x}, dim={k.dim(s)})" if s else f"torch.aminmax({x})"])


of_one_tensor(
    ("power", (0, 2), lambda k, x, s: k.one([f"{x}**{k.rng.randint(-2, 4)}", f"torch.pow({x}, {k.rng.randint(-1, 4)})", f"{k.one(['2', '0.5', '3.'])}**{x}", f"torch.pow(2, {x})", f"torch.float_power({x}, 2)", f"torch.square({x})"])),
    ("threshold", (0, 3), lambda k, x, s: k.call("F.threshold torch.threshold", "input threshold value", x, literal(k.number()), literal(k.number()))),
    ("polygamma", (0, 2, 'pos'), lambda k, x, s: k.one([f"torch.polygamma({k.rng.choice([0, 2, 3])}, {x})", f"torch.special.polygamma({k.rng.choice([0, 2])}, {x})"])),
    ("one_dim_reductions", (0, 3), lambda k, x, s: k.call("torch.max .max torch.min .min torch.median .median torch.prod .prod .argmax .argmin torch.mode .mode torch.nanmedian .nanmedian", "input dim", x, k.dim(s), o={"keepdim": k.one(KEEP)})),
    ("running", (0, 3), lambda k, x, s: k.call("torch.cumsum .cumsum torch.cumprod .cumprod torch.cummax .cummax torch.cummin .cummin torch.logcumsumexp .logcumsumexp", "input dim", x, k.dim(s))),
    ("gradient", (1, 2), lambda k, x, s: k.call("torch.gradient", "input", x, kw={"spacing": literal(k.number("over")), "dim": k.dim(s), "edge_order": k.one([1, 2])})),
    ("lists", (0, 2), lambda k, x, s: f"torch.stack({listed([f'{x}*2', f'{x}.exp()'])}, {k.rng.randint(-len(s) - 1, len(s))})"),
)
