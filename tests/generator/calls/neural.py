"""Calls of layers and losses."""

# ruff: noqa: E501, UP031 - a call is a line
# fmt: off

import numpy as np

from generator.calls.kit import Kit, NotTaken, call, listed, literal, of_one_tensor, tensor

REDUCTION = {"reduction": "'sum'"}


def reduction(k: Kit):
    return {"reduction": repr(k.one(["mean", "sum", "none"]))}


@call
def glu(k: Kit):
    s = list(k.shape(1, 3))
    d = k.axis(tuple(s))
    s[d] = k.one([2, 4])
    return k.call("F.glu", "input dim", k.t(tuple(s)), k.dim(tuple(s), d))


@call
def prelu(k: Kit):
    s = k.shape(1, 3)
    channels = s[1] if len(s) > 1 else 1
    return k.call("F.prelu torch.prelu .prelu", "input weight", k.t(s), k.t((k.one([1, channels]),)))


@call
def similarities(k: Kit):
    _, s = k.any(1, 3)
    d = k.axis(s)
    a, b = k.t(s), k.t(s if k.chance(0.6) else k.narrower(s))
    if k.chance(0.5):
        return f"F.cosine_similarity({a}, {b}, dim={k.dim(s, d)}{k.one(['', ', eps=1e-3'])})"
    return k.call("F.pairwise_distance", "x1 x2", a, b, o={"p": k.one(["2.0", "1.0", "3.0", "float('inf')"]), "eps": 1e-3, "keepdim": k.one(["True", "False"])})


def channelled(k: Kit):
    return (k.rng.randint(1, 2), k.one([1, 2, 4]), *[k.rng.randint(1, 3) for _ in range(k.rng.randint(0, 2))])


@call
def batch_norm(k: Kit):
    s = channelled(k)
    c = (s[1],)
    training = k.one(["True", "False"])
    stats = ["torch.zeros(%d)" % c, "torch.ones(%d)" % c] if k.chance(0.5) else [k.t(c), k.t(c, "pos")]
    if training == "True" and k.chance(0.5):
        stats = ["None", "None"]
    return k.call("F.batch_norm", "input running_mean running_var", k.t(s), *stats, o={"weight": k.t(c), "bias": k.t(c)}, kw={"training": training, "momentum": 0.3, "eps": 1e-2})


@call
def other_norms(k: Kit):
    s = channelled(k)
    c = (s[1],)
    kind = k.one(["instance", "group", "rms", "layer", "lrn"])
    if kind == "instance":
        return k.call("F.instance_norm", "input", k.t(s), kw={"weight": k.t(c), "bias": k.t(c), "eps": 1e-2})
    if kind == "group":
        return k.call("F.group_norm", "input num_groups", k.t(s), k.one([g for g in (1, 2, 4) if s[1] % g == 0]), o={"weight": k.t(c), "bias": k.t(c), "eps": 1e-2})
    if kind == "lrn":
        return k.call("F.local_response_norm", "input size", k.t(s), k.rng.randint(1, 3), o={"alpha": 0.1, "beta": 0.6, "k": 2.0})
    last = s[-k.rng.randint(1, len(s)) :]
    shape = listed([str(m) for m in last], k.one("[("))
    if kind == "rms":
        return k.call("F.rms_norm torch.rms_norm", "input normalized_shape", k.t(s), shape, o={"weight": k.t(last), "eps": 1e-2})
    return k.call("F.layer_norm torch.layer_norm", "input normalized_shape", k.t(s), shape, o={"weight": k.t(last), "bias": k.t(last), "eps": 1e-2})


def per(k: Kit, axes, low, high, single=0.5):
    if k.chance(single):
        return str(k.rng.randint(low, high))
    return listed([str(k.rng.randint(low, high)) for _ in range(axes)], "(")


@call
def conv(k: Kit):
    axes = k.one([1, 1, 2, 2, 3])
    groups = k.one([1, 1, 2])
    cin, cout = groups * k.rng.randint(1, 2), groups * k.rng.randint(1, 2)
    kernel = tuple(k.rng.randint(1, 3 if axes < 3 else 2) for _ in range(axes))
    size = tuple(k.rng.randint(m, m + 2 if axes < 3 else m + 1) for m in kernel)
    x = k.t((*k.one([(), (1,), (2,)]), cin, *size))
    o = {"bias": k.t((cout,)), "stride": per(k, axes, 1, 2), "padding": k.one([per(k, axes, 0, 1), "'same'", "'valid'"]), "dilation": per(k, axes, 1, 2), "groups": groups}
    text = k.call(f"F.conv{axes}d torch.conv{axes}d", "input weight", x, k.t((cout, cin // groups, *kernel)), o=o)
    return text if groups == 1 or "groups" in text else text[:-1] + f", groups={groups})"


@call
def conv_transpose(k: Kit):
    axes = k.one([1, 1, 2])
    groups = k.one([1, 1, 2])
    cin, cout = groups * k.rng.randint(1, 2), k.rng.randint(1, 2)
    kernel = tuple(k.rng.randint(1, 3) for _ in range(axes))
    x = k.t((*k.one([(), (1,)]), cin, *(k.rng.randint(1, 3) for _ in range(axes))))
    o = {"bias": k.t((cout * groups,)), "stride": per(k, axes, 1, 3), "padding": per(k, axes, 0, 1), "output_padding": per(k, axes, 0, 1), "groups": groups, "dilation": per(k, axes, 1, 2)}
    text = k.call(f"F.conv_transpose{axes}d torch.conv_transpose{axes}d", "input weight", x, k.t((cin, cout, *kernel)), o=o)
    return text if groups == 1 or "groups" in text else text[:-1] + f", groups={groups})"


@call
def pool(k: Kit):
    axes = k.one([1, 1, 2, 2, 3])
    size = tuple(k.rng.randint(2, 4 if axes < 3 else 2) for _ in range(axes))
    x = k.t((*k.one([(), (1,), (2,)]), 1, *size))
    kernel, stride, padding = per(k, axes, 1, 3 if axes < 3 else 2), per(k, axes, 1, 2), per(k, axes, 0, 1)
    kind = k.one(["max", "avg", "adaptive_avg", "adaptive_max", "lp"])
    flag = lambda: k.one(["True", "False"])  # noqa: E731
    if kind == "max":
        return k.call(f"F.max_pool{axes}d", "input kernel_size", x, kernel, o={"stride": stride, "padding": padding, "dilation": per(k, axes, 1, 2), "ceil_mode": flag(), "return_indices": flag()})
    if kind == "avg":
        return k.call(f"F.avg_pool{axes}d", "input kernel_size", x, kernel, o={"stride": stride, "padding": padding, "ceil_mode": flag(), "count_include_pad": flag()} | ({"divisor_override": 2} if axes > 1 else {}))
    if kind == "lp":
        return k.call(f"F.lp_pool{axes}d", "input norm_type kernel_size", x, k.one([1, 2, 3]), kernel, o={"stride": stride, "ceil_mode": flag()})
    out = k.one([str(k.rng.randint(1, 3)), listed([str(k.rng.randint(1, 3)) for _ in range(axes)], "("), listed([k.one(["None", "2"]) for _ in range(axes)], "(")])
    return k.call(f"F.{kind}_pool{axes}d", "input output_size", x, out, o={"return_indices": flag()} if kind == "adaptive_max" else {})


@call
def interpolate(k: Kit):
    axes = k.one([1, 2])
    x = k.t((1, k.rng.randint(1, 2), *(k.rng.randint(1, 3) for _ in range(axes))))
    mode = k.one([["nearest", "linear", "area", "nearest-exact"], ["nearest", "bilinear", "bicubic", "area", "nearest-exact"]][axes - 1])
    how = k.one([f"size={per(k, axes, 1, 4)}", f"scale_factor={k.one(['2', '1.5', '0.6'])}"])
    corners = k.one(["", ", align_corners=True", ", align_corners=False"]) if "linear" in mode or "cubic" in mode else ""
    return f"F.interpolate({x}, {how}, mode={mode!r}{corners})"


@call
def attention(k: Kit):
    lead = k.one([(), (1,), (2,), (1, 2)])
    a, b, d, e = (k.rng.randint(1, 3) for _ in range(4))
    q, key, v = k.t((*lead, a, d)), k.t((*lead, b, d)), k.t((*lead, b, e))
    more = k.one(["", f", {k.t((a, b))}", f", attn_mask={tensor(np.array([[k.chance(0.7) or j == 0 for j in range(b)] for _ in range(a)]))}", ", is_causal=True", ", scale=0.3", ", None, 0.0, True", ", dropout_p=0.0"])
    return f"F.scaled_dot_product_attention({q}, {key}, {v}{more})"


@call
def plain_losses(k: Kit):
    _, s = k.any(0, 3)
    x, y = k.t(s), k.t(s)
    name, o = k.one([("F.mse_loss", {}), ("F.l1_loss", {}), ("F.huber_loss", {"delta": 0.7}), ("F.smooth_l1_loss", {"beta": 0.7}), ("F.kl_div", {"log_target": k.one(["True", "False"])}), ("F.soft_margin_loss", {})])
    if name == "F.kl_div":
        y = k.t(s, "pos")
        return k.call(name, "input target", x, y, kw={"reduction": repr(k.one(["mean", "sum", "none", "batchmean"])), **o})
    return k.call(name, "input target", x, y, kw={**reduction(k), **o})


@call
def binary_losses(k: Kit):
    _, s = k.any(0, 3)
    if k.chance(0.5):
        return k.call("F.binary_cross_entropy", "input target", k.t(s, "unit"), k.t(s, "unit"), o={"weight": k.t(k.narrower(s), "pos")} if k.chance(0.5) else {}, kw=reduction(k))
    return k.call("F.binary_cross_entropy_with_logits", "input target", k.t(s), k.t(s, "unit"), o={"weight": k.t(k.narrower(s), "pos")} if k.chance(0.5) else {}, kw=reduction(k) | {"pos_weight": k.t(k.narrower(s), "pos")})


@call
def classes(k: Kit):
    c = k.rng.randint(1, 4)
    lead = k.one([(), (1,), (2,), (3,)])
    rest = tuple(k.rng.randint(1, 2) for _ in range(k.rng.randint(0, 2))) if lead else ()
    x = k.t((*lead, c, *rest))
    target = k.index((*lead, *rest), c)
    if k.chance(0.3):
        target = target.replace("0", "-100", 1)
    name = k.one(["F.cross_entropy", "F.nll_loss"])
    if name == "F.cross_entropy" and k.chance(0.3):
        target = k.t((*lead, c, *rest), "unit")
        return k.call(name, "input target", x, target, o={"weight": k.t((c,), "pos")}, kw=reduction(k) | {"label_smoothing": 0.2})
    kw = {**reduction(k), "ignore_index": k.one([-100, 0, 1])} | ({"label_smoothing": 0.2} if name == "F.cross_entropy" else {})
    weight = [round(k.rng.uniform(0.1, 2), 2) for _ in range(c)]
    return k.call(name, "input target", x, target, o={"weight": f"torch.tensor({weight})"}, kw=kw)


@call
def rates(k: Kit):
    _, s = k.any(0, 2)
    if k.chance(0.5):
        log = k.one(["True", "False"])
        return k.call("F.poisson_nll_loss", "input target log_input", k.t(s, "pos" if log == "False" else "any"), k.t(s, "pos"), log, o={"full": k.one(["True", "False"])}, kw={"eps": 1e-3, **reduction(k)})
    return k.call("F.gaussian_nll_loss", "input target var", k.t(s), k.t(s), k.t(s if k.chance(0.7) or not s else (*s[:-1], 1), "pos"), o={"full": k.one(["True", "False"]), "eps": 1e-2}, kw=reduction(k))


def signs(k: Kit, shape):
    return tensor(np.array([k.one([-1.0, 1.0]) for _ in range(int(np.prod(shape)))]).reshape(shape))


@call
def signed_losses(k: Kit):
    s = k.shape(1, 2)
    kind = k.one(["hinge", "ranking", "cosine", "triplet", "soft"])
    if kind == "hinge":
        return k.call("F.hinge_embedding_loss", "input target", k.t(s), signs(k, s), o={"margin": 0.5}, kw=reduction(k))
    if kind == "ranking":
        return k.call("F.margin_ranking_loss", "input1 input2 target", k.t(s), k.t(s), signs(k, s), o={"margin": 0.3}, kw=reduction(k))
    if kind == "soft":
        return k.call("F.soft_margin_loss", "input target", k.t(s), signs(k, s), kw=reduction(k))
    m = k.rng.randint(1, 3)
    if kind == "cosine":
        return k.call("F.cosine_embedding_loss", "input1 input2 target", k.t((m, 3)), k.input((m, 3)), signs(k, (m,)), o={"margin": 0.2}, kw=reduction(k))
    return k.call("F.triplet_margin_loss", "anchor positive negative", k.t((m, 3)), k.t((m, 3)), k.t((m, 3)), o={"margin": 2.0, "p": k.one([2, 1, 3]), "eps": 1e-3, "swap": k.one(["True", "False"])}, kw=reduction(k))


@call
def multi_losses(k: Kit):
    b, c = k.rng.randint(1, 3), k.rng.randint(2, 4)
    kind = k.one(["multi", "label", "soft"])
    if kind == "multi":
        return k.call("F.multi_margin_loss", "input target", k.t((b, c)), k.index((b,), c), o={"p": k.one([1, 2]), "margin": 0.7, "weight": k.one(["None", "torch.tensor(%s)" % [0.5 + j for j in range(c)]])}, kw=reduction(k))
    if kind == "soft":
        return k.call("F.multilabel_soft_margin_loss", "input target", k.t((b, c)), k.t((b, c), "unit"), kw=reduction(k) | {"weight": k.t((c,), "pos")})
    rows = [[*sorted(k.rng.sample(range(c), k.rng.randint(0, c - 1))), *[-1] * c][:c] for _ in range(b)]
    return k.call("F.multilabel_margin_loss", "input target", k.t((b, c)), f"torch.tensor({rows})", kw=reduction(k))


@call
def fold(k: Kit):
    if k.mode == "empty":
        raise NotTaken
    return f"F.unfold({k.t((1, 1, 3, 3))}, {literal(2)})"


of_one_tensor(
    ("softmax", (0, 4), lambda k, x, s: k.call("F.softmax F.log_softmax F.softmin torch.softmax .softmax torch.log_softmax .log_softmax torch.special.softmax torch.special.log_softmax", "input dim", x, k.dim(s))),
    ("normalize", (1, 3), lambda k, x, s: k.call("F.normalize", "input", x, o={"p": k.one(["2.0", "1.0", "3.0", "float('inf')"]), "dim": k.dim(s) if len(s) < 2 else k.dims(s), "eps": 1e-3})),
    ("layers", (2, 3), lambda k, x, s: k.one([f"nn.{name}({args})({x})" for name, args in (("ReLU", ""), ("LeakyReLU", "0.2"), ("ELU", "1.5"), ("Softmax", f"dim={k.dim(s)}"), ("LogSoftmax", k.dim(s)), ("GELU", ""), ("SiLU", ""), ("Tanh", ""), ("Sigmoid", ""), ("Softplus", "2."), ("Hardtanh", "-0.5, 0.5"), ("Flatten", ""), ("Flatten", "0"), ("GELU", "'tanh'"), ("Threshold", "0.1, 2."), ("Softshrink", "0.4"))]
         + [f"nn.MSELoss(reduction='sum')({x}, {k.t(s)})", f"nn.L1Loss()({x}, {k.t(s)})", f"nn.SmoothL1Loss(beta=0.5)({x}, {k.t(s)})", f"nn.CosineSimilarity(dim={k.dim(s)})({x}, {k.t(s)})"])),
)
