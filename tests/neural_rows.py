"""What PyTorch is asked about neural functions of several arguments, or of arrays with axes of their own."""

# ruff: noqa: E501 - a row is a line
# fmt: off

from __future__ import annotations

import re
from math import inf

from records.constants import CANCELS, SIGNED, WITH_NAN

SEEDS = (None, 0.0, inf)
PLANES = [[[1.0, -2.0], [0.0, -0.0]], [[3.0, 0.5], [-1.5, inf]]]


class Used:
    """Adds rows to a table with those inputs alone that the program names."""

    def __init__(self, row):
        self.row = row

    def __call__(self, program, torch=None, /, *, v=None, rtol=1e-12, atol=0.0, **inputs):
        used = {name: x for name, x in inputs.items() if re.search(rf"\b{name}\b(?!=)", program)}
        self.row(program, torch, v=v, rtol=rtol, atol=atol, **used)

    def each(self, programs, /, *, vs=(None,), **options):
        for program in programs.split(" | "):
            for v in vs:
                self(*program.strip().split(" => "), v=v, **options)


def add(table):
    """Add the rows to a table."""
    row = Used(table)
    row.each("F.threshold(x, 0.5, 20.) | F.threshold(x, 0., 0.) | F.threshold(x, 1., 1.) | F.threshold(x, 3., -1.)", vs=SEEDS, x=WITH_NAN)
    row.each("F.prelu(x, w) | x.prelu(w[0]) => x.prelu(w[:1]) | F.prelu(x, -w)", vs=SEEDS, x=PLANES, w=[0.25, -3.0])
    row.each("F.prelu(x, w)", vs=SEEDS, x=SIGNED, w=[0.25])
    row.each("F.glu(x) | F.glu(x, 0) | F.glu(x, dim=-2)", vs=(None, 0.0), x=PLANES, atol=CANCELS)
    row.each("F.glu(x.sqrt(), 0)", x=[0.0, 4.0, 0.0, 1.0])
    row.each(
        "jax.nn.softplus(x) => F.softplus(x, threshold=1e300) | jax.nn.gelu(x) => F.gelu(x, approximate='tanh') | jax.nn.softmax(x) => F.softmax(x, -1)"
        " | jax.nn.log_softmax(x) => F.log_softmax(x, -1) | jax.nn.logsumexp(x) => torch.logsumexp(x, (0, 1))",
        x=[[1.0, -2.0, 30.0], [0.0, 0.5, 4.0]], atol=CANCELS, rtol=1e-10)
    add_losses(row)
    add_layers(row)


SCORES, TARGETS = [[0.5, -1.0, 2.0], [1.5, 0.0, -0.0]], [[0.25, 1.0, 0.5], [0.125, 0.5, 3.0]]
SIGNS = "torch.tensor([[1., -1., 1.], [-1., 1., 0.]]).double()"
REDUCTIONS = ("", ', reduction="sum"', ', reduction="none"')
EDGE, OTHER = [0.0, 1.0, -1.0, 0.5, inf, 800.0, -800.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.5]


def add_losses(row):
    """Add the rows of losses."""
    for how in REDUCTIONS:
        row.each(
            f"F.smooth_l1_loss(x, t{how}) | F.smooth_l1_loss(x, t, beta=0.5{how}) | F.smooth_l1_loss(x, t, beta=0.{how}) | F.kl_div(x, t{how}) | F.kl_div(x, t, log_target=True{how})"
            f" | F.poisson_nll_loss(x, t{how}) | F.poisson_nll_loss(t, t, log_input=False, full=True{how}) | F.gaussian_nll_loss(x, x*2, t{how}) | F.gaussian_nll_loss(x, t, t, full=True, eps=0.3{how})"
            f" | F.hinge_embedding_loss(x, {SIGNS}{how}) | F.hinge_embedding_loss(x, {SIGNS}, margin=0.5{how}) | F.margin_ranking_loss(x, t, {SIGNS}{how}) | F.margin_ranking_loss(x, x*1, {SIGNS}{how})"
            f" | F.soft_margin_loss(x, {SIGNS}{how}) | F.cosine_embedding_loss(x, t, {SIGNS}[0, :2]{how}) | F.cosine_embedding_loss(x, t, {SIGNS}[1, :2], margin=0.1{how})"
            f" | F.triplet_margin_loss(x, t, t*2{how}) | F.triplet_margin_loss(x, x*1, t, swap=True, p=1{how}) | F.triplet_margin_loss(x, t, x*1, margin=9., eps=0.{how})"
            f" | F.multilabel_soft_margin_loss(x, t{how}) | F.multilabel_soft_margin_loss(x, t, t[0].detach(){how})"
            f" | F.mse_loss(x, t, weight=t*2{how}) | F.l1_loss(x, t, weight=t*2{how}) | F.huber_loss(x, t, weight=t*2{how})"
            f" | F.binary_cross_entropy_with_logits(x, t, pos_weight=t.detach(){how}) | F.binary_cross_entropy_with_logits(x, t, t[0].detach(){how}) | F.cross_entropy(x, t, t[0]{how}) | F.cross_entropy(x, t, label_smoothing=0.2{how})",
            x=SCORES, t=TARGETS, atol=CANCELS)
        for target in ("[2, 0]", "[1, -100]"):
            for options in ("", ", weight=torch.tensor([1., 2., 0.5]).double()", ", label_smoothing=0.25", ", ignore_index=IGNORED, weight=torch.tensor([1., 2., 0.5]).double(), label_smoothing=0.1"):
                options = options.replace("IGNORED", "2" if "2" in target else "-100")  # noqa: PLW2901
                row(f"F.cross_entropy(x, {target}{options}{how})", f"F.cross_entropy(x, torch.tensor({target}){options}{how})", x=SCORES, atol=CANCELS)
        row(f"F.nll_loss(x, [1, 0], weight=[1, 2, 3], ignore_index=0{how})", f"F.nll_loss(x, torch.tensor([1, 0]), weight=torch.tensor([1., 2., 3.]).double(), ignore_index=0{how})", x=SCORES)
        for options in ("", ", p=2", ", margin=0.5", ", weight=torch.tensor([1., 2., 3.]).double()"):
            row(f"F.multi_margin_loss(x, [1, 0]{options}{how})", f"F.multi_margin_loss(x, torch.tensor([1, 0]){options}{how})", x=SCORES)
        row(f"F.multilabel_margin_loss(x, [[1, -1, 0], [2, 0, -1]]{how})", f"F.multilabel_margin_loss(x, torch.tensor([[1, -1, 0], [2, 0, -1]]){how})", x=SCORES)
    row.each('F.smooth_l1_loss(x, t, reduction="none") | F.hinge_embedding_loss(x, t, reduction="none") | F.margin_ranking_loss(x, t, t*2, reduction="none")', vs=(None, inf), x=EDGE, t=OTHER)
    row.each("F.mse_loss(x, t, size_average=False) | F.mse_loss(x, t, reduce=False) | F.l1_loss(x, t, True) | F.l1_loss(x, t, size_average=False, reduce=True)", x=SCORES, t=TARGETS)


IMAGE, KERNEL = [[[1.0, -2.0, 0.5, 2.0], [0.0, 1.5, -1.0, 3.0], [2.0, 2.0, 1.0, -0.5]]], [[[[0.5, -1.0], [2.0, 0.25]]]]
TIES = [[[1.0, 1.0, 0.0, 2.0], [1.0, 0.0, 2.0, 2.0], [0.0, -0.0, -1.0, 2.0]]]


def add_layers(row):
    """Add the rows of layers; x is an image of one channel, or has what stands behind it."""
    near = {"rtol": 1e-10, "atol": 1e-14}
    for text in (
        "F.batch_norm(x, None, None, training=True)", "F.batch_norm(x, None, None, w, w*2, True, eps=0.1)", "F.instance_norm(x)", "F.instance_norm(x, None, None, w, w, eps=0.1)",
        "F.group_norm(x, 1)", "F.group_norm(x, 3, w, w*2)", "F.rms_norm(x, (4,))", "F.rms_norm(x, (3, 4), x[0], 0.1)", "F.batch_norm(x, torch.tensor([1., 2., 3.]).double(), torch.tensor([0., 1., 4.]).double(), w)",
    ):
        row(f"{text}*c", x=IMAGE, w=[1.0, -2.0, 0.5], c=[[[0.5, -1.0, 2.0, 0.25], [1.0, 0.0, -3.0, 1.0], [0.0, 2.0, 1.0, -1.0]]], **near)
    row.each("F.dropout(x, training=False) | F.dropout(x, 0.) | F.dropout2d(x, 0.5, False) | F.alpha_dropout(x, training=False)", x=IMAGE)
    for mask in ("", ", is_causal=True", ", scale=0.5", ", attn_mask=q[:, :1]", ", attn_mask=(q > 0)", ", attn_mask=(q > 9)"):
        row(f"F.scaled_dot_product_attention(q, q*2, q + 1{mask})", q=[[0.5, -1.0], [2.0, 0.25]], **near)
    row.each("F.bilinear(a, a*2, w) | F.bilinear(a[0], a[1], w, a[0, :1])", a=[[0.5, -1.0], [2.0, 0.25]], w=KERNEL[0])
    for options in ("", ", stride=2", ", padding=1", ", padding=(1, 0), dilation=(1, 2)", ', padding="same"', ', padding="valid", stride=(1, 2)'):
        row.each(f"F.conv2d(x, w{options}) | F.conv1d(x[0], w[0, 0, 0].expand(1, 3, 2){options.replace('(1, 0)', '1').replace('(1, 2)', '2')})", vs=(None, 0.0), x=IMAGE, w=KERNEL, **near)
    for options in ("", ", stride=2", ", padding=1", ", stride=2, padding=(1, 0), output_padding=(0, 1)", ", dilation=2"):
        row.each(f"F.conv_transpose2d(x, w{options}) | F.conv_transpose1d(x[0], w[0, 0, 0].expand(3, 1, 2){options.replace('(1, 0)', '1').replace('(0, 1)', '1')})", vs=(None, 0.0), x=IMAGE, w=KERNEL, **near)
    row.each("F.conv1d(x[0], w[0, 0, 0].expand(3, 1, 2), w[0, 0, :, 0].repeat(2)[:3], groups=3) | F.conv_transpose1d(x[0], w[0, 0, 0].expand(3, 2, 2), groups=3) | F.conv3d(x[None], w[None], padding=1) | F.conv_transpose3d(x[None], w[None], stride=2)", x=IMAGE, w=KERNEL, **near)
    for x in (IMAGE, TIES):
        for n, image in ((1, "x[0]"), (2, "x"), (3, "x[None]")):
            most, mean = (f"F.{kind}_pool{n}d({image}, " for kind in ("max", "avg"))
            window = "(1, 2, 2)" if n == 3 else "2"
            row.each(f"{most}{window}) | {most}{window}, 1) | {most}{window}, 2, padding={(0, 1, 1) if n == 3 else 1}, ceil_mode=True) | {most}{window}, 1, dilation={(1, 2, 1) if n == 3 else 2})", x=x)
            row.each(f"{mean}{window}) | {mean}{window}, 1) | {mean}{window}, 2, {(0, 1, 1) if n == 3 else 1}, True) | {mean}{window}, 2, {(0, 1, 1) if n == 3 else 1}, count_include_pad=False)", x=x, **near)
            row.each(f"F.adaptive_avg_pool{n}d({image}, {(1, 2, 2) if n == 3 else 2}) | F.adaptive_max_pool{n}d({image}, {(1, 2, 2) if n == 3 else 2})", x=x, **near)
            row(f"F.lp_pool{n}d({image}**2 + 1, 3, {window})", x=x, **near)
    row.each("F.avg_pool2d(x, 2, divisor_override=3) | F.max_pool2d(x, 2, return_indices=True)[0] | F.local_response_norm(x, 2, 0.5) | F.local_response_norm(x, 3, 0.1, 0.5, 2.)", x=IMAGE, **near)
    for mode in ('"nearest"', '"nearest-exact"', '"linear"', '"linear", align_corners=True', '"area"'):
        for size in ("scale_factor=2", "size=3", "size=6", "scale_factor=1.5"):
            row(f"F.interpolate(x, {size}, mode={mode})", x=IMAGE, **near)
            two = mode.replace('"linear', '"bilinear')
            row(f"F.interpolate(x[None], {size}, mode={two})", x=IMAGE, **near)
    row.each('F.interpolate(x[None], scale_factor=2, mode="bicubic") | F.interpolate(x[None], size=(5, 2), mode="bicubic", align_corners=True) | F.interpolate(x[None, None], scale_factor=2, mode="trilinear")', x=IMAGE, **near)
    row.each("F.pixel_shuffle(x.reshape(4, 3, 1), 2) | F.pixel_unshuffle(x[:, :2], 2) | torch.channel_shuffle(x.reshape(1, 4, 3), 2)", x=IMAGE)
