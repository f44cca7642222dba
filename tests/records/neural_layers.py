"""Layers that few programs call: normalisation, attention, convolution, pooling, interpolation."""

from records.record import calls, record

BATCHES = {1: "{M}", 2: "{T}", 3: "{T}[None]"}
"""An array for each number of axes: it has as many, and channels."""
for n in (1, 2, 3):
    x, one = BATCHES[n], tuple(range(-n, 0))
    record(
        f"max_pool{n}d",
        recipes=[f"{x}, 2, 1", f"{x}, 2, padding=1", f"{x}, 2, 2, 1, ceil_mode=True", f"{x}, 2, 1, 1, 2"],
    )
    record(
        f"avg_pool{n}d",
        recipes=[
            f"{x}, 2, 1",
            f"{x}, 2, padding=1",
            f"{x}, 2, 2, 1, count_include_pad=False",
            f"{x}, 2, 2, 1, ceil_mode=True" + (", divisor_override=3" if n > 1 else ""),
        ],
    )
    record(
        f"adaptive_avg_pool{n}d",
        recipes=[f"{x}, 2", f"{x}, 1", f"{x}, {'None' if n == 1 else (None, *(2,) * (n - 1))}"],
    )
    record(
        f"adaptive_max_pool{n}d",
        recipes=[f"{x}, 2", f"{x}, 1", f"{x}, {'None' if n == 1 else (None, *(2,) * (n - 1))}"],
    )
    positive = x.replace("}", ":0.3,2}")
    record(f"lp_pool{n}d", recipes=[f"{positive}, 2, 2, 1", f"{positive}, 3, 2", f"{positive}, 1.5, 2, 1"])

calls(
    {
        "batch_norm": [
            "{M:-4,4}, None, None, training=True",
            "{T:-4,4}, None, None, {U}, {U}, training=True, eps=0.1",
            "{M}, {V}, {V:0.3,2}, {V}, {V}",
            "{T}, {U}, {U:0.3,2}",
        ],
        "instance_norm": ["{T:-4,4}", "{T:-4,4}, eps=0.1", "{T:-4,4}, None, None, {U}, {U}"],
        "group_norm": ["{M:-4,4}, 1", "{T:-4,4}, {m}, {U}, {U}", "{T:-4,4}, 1, eps=0.1"],
        "rms_norm": ["{V:-4,4}, {n}", "{M:-4,4}, ({n},), {V}", "{M:-4,4}, ({m}, {n}), eps=0.01"],
        "dropout": ["{E}, training=False", "{E}, 0.0", "{E}, 0.3, False"],
        "scaled_dot_product_attention": [
            "{M:-2,2}, {Q:-2,2}, {Q}",
            "{Q:-2,2}, {Q:-2,2}, {Q}, is_causal=True",
            "{M:-2,2}, {Q:-2,2}, {N}, {M:-1,1}, scale=0.5",
            "{T:-2,2}, {T:-2,2}, {T}",
            "{Q:-2,2}, {Q:-2,2}, {N}, ({V} > -9)",
        ],
        "bilinear": ["{U}, {V}, {T}", "{M}, {M}, {Q}[None]", "{U}, {V}, {T}, [{S}, {S}]"],
        "conv1d": [
            "{M}, {M}[None]",
            "{T}, {M}[None, :, :2], padding=1",
            "{M}, {M}[:, None, :2], [{S}, {S}, {S}][:{m}], groups={m}",
            '{M}, {M}[None], padding="same"',
            "{M}, {M}[None, :, :2], stride=2, padding=2, dilation=2",
        ],
        "conv2d": [
            "{T}, {T}[None, :, :2, :1]",
            "{M}[None], {M}[None, None], padding=(1, 0)",
            "{T}[None], {T}[:, :1, :1, None].expand(2, 2, 1, 1)",
        ],
        "conv3d": ["{T}[None], {T}[None, None, :, :1, :1]", "{T}[None], {T}[None, None], padding=(0, 0, 1)"],
        "conv_transpose1d": [
            "{M}, {M}[:, None]",
            "{M}, {M}[:, None, :2], stride=2, output_padding=1",
            "{M}, {M}[:, None], [{S}], padding=1, dilation=2",
            "{M}, {M}[:, None, :2], None, 2, 1, 0, {m}",
        ],
        "conv_transpose2d": [
            "{M}[None], {Q}[None, None, :2, :2]",
            "{M}[None], {M}[None, None], padding=1",
            "{T}, {V}[:2][:, None, None, None], stride=2",
        ],
        "conv_transpose3d": [
            "{T}[None], {V}[None, None, None, None, :1]",
            "{T}[None], {S}*ones(1, 1, 1, 1, 2), padding=(0, 0, 1)",
        ],
        "local_response_norm": ["{T}, 2", "{T}, 3, alpha=0.5, beta=0.5, k=2", "{T}[None], 1, 0.3"],
        "interpolate": [
            "{M}[None], scale_factor=2",
            '{M}[None], size=4, mode="linear"',
            '{M}[None, None], (3, 4), mode="bilinear", align_corners=True',
            '{T}, 2, mode="linear", align_corners=True',
            '{M}[None, None, :2, :1], scale_factor=2, mode="bilinear"',
        ],
        "pixel_shuffle": [
            "{f}({T}.reshape(-1, 1, 1)[:4], 2)",
            "{T}, 1",
            "{f}({T}[:, :2, :2].reshape(4, 2, 1), upscale_factor=2)",
        ],
        "pixel_unshuffle": ["{T}, 1", "{f}({T}.reshape(1, 2, -1)[..., :2], 2)", "{T}[:, :2, :2], downscale_factor=2"],
    }
)
