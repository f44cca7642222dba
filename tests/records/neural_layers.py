"""Layers that few programs call: normalisation, attention, convolution, pooling, interpolation."""

from __future__ import annotations

import numpy as np

from records import values as v
from records.record import record

"""The first two axes of a batch of four."""


def attention(q, k, value):
    """Return softmax(q·kᵀ/√d)·v."""
    return v.softmax(q @ k.T / np.sqrt(q.shape[-1])) @ value


record(
    "batch_norm",
    recipes=[
        "{M:-4,4}, None, None, training=True",
        "{T:-4,4}, None, None, {U}, {U}, training=True, eps=0.1",
        "{M}, {V}, {V:0.3,2}, {V}, {V}",
        "{T}, {U}, {U:0.3,2}",
    ],
    programs={
        "F.batch_norm(A.T, None, None, b, b**2, True)": v.normal(v.A.T, (0,), v.b, v.b**2),
        "F.batch_norm(A.T, [0.1, -0.2], [0.5, 1.5])": (v.A.T - v.b) / np.sqrt(np.array([0.5, 1.5]) + 1e-5),
    },
)

record(
    "instance_norm",
    recipes=["{T:-4,4}", "{T:-4,4}, eps=0.1", "{T:-4,4}, None, None, {U}, {U}"],
    programs={"F.instance_norm(A[None])": v.normal(v.A[None], (2,))},
)

record(
    "group_norm",
    recipes=["{M:-4,4}, 1", "{T:-4,4}, {m}, {U}, {U}", "{T:-4,4}, 1, eps=0.1"],
    programs={
        "F.group_norm(T, 1)": v.normal(v.T, (1, 2)),
        "F.group_norm(A[None], 2, b)": v.normal(v.A[None], (2,), v.b[:, None]),
    },
)

record(
    "rms_norm",
    recipes=["{V:-4,4}, {n}", "{M:-4,4}, ({n},), {V}", "{M:-4,4}, ({m}, {n}), eps=0.01"],
    programs={
        "F.rms_norm(x, 3)": v.x / np.sqrt(np.mean(v.x**2) + 2.0**-52),
        "F.rms_norm(A, (3,), p, 0.1)": v.A / np.sqrt(np.mean(v.A**2, axis=1, keepdims=True) + 0.1) * v.p,
    },
)

record(
    "dropout",
    recipes=["{E}, training=False", "{E}, 0.0", "{E}, 0.3, False"],
    programs={"F.dropout(x, training=False)": v.x, "F.dropout(A, 0.3, False)": v.A, "F.dropout(x, p=0)": v.x},
)

record(
    "scaled_dot_product_attention",
    recipes=[
        "{M:-2,2}, {Q:-2,2}, {Q}",
        "{Q:-2,2}, {Q:-2,2}, {Q}, is_causal=True",
        "{M:-2,2}, {Q:-2,2}, {N}, {M:-1,1}, scale=0.5",
        "{T:-2,2}, {T:-2,2}, {T}",
        "{Q:-2,2}, {Q:-2,2}, {N}, ({V} > -9)",
    ],
    programs={
        "F.scaled_dot_product_attention(A, S, B)": attention(v.A, v.S, v.B),
        "F.scaled_dot_product_attention(x[None], S, B, is_causal=True)": v.B[:1],
        "F.scaled_dot_product_attention(x[None], S, B, (p > 0.3))": attention(v.x[None], v.S[1:], v.B[1:]),
    },
)

record(
    "bilinear",
    recipes=["{U}, {V}, {T}", "{M}, {M}, {Q}[None]", "{U}, {V}, {T}, [{S}, {S}]"],
    programs={"F.bilinear(b, b, T)": np.einsum("i,kij,j->k", v.b, v.T, v.b)},
)

record(
    "conv1d",
    recipes=[
        "{M}, {M}[None]",
        "{T}, {M}[None, :, :2], padding=1",
        "{M}, {M}[:, None, :2], [{S}, {S}, {S}][:{m}], groups={m}",
        '{M}, {M}[None], padding="same"',
        "{M}, {M}[None, :, :2], stride=2, padding=2, dilation=2",
    ],
    programs={
        "F.conv1d(x[None], b[None, None])": [np.correlate(v.x, v.b)],
        "F.conv1d(A, S[:, :2, None], x)": v.S[:, :2] @ v.A + v.x[:, None],
        "F.conv1d(A, x[:2][:, None, None], groups=2)": v.A * v.x[:2, None],
        "F.conv1d(x[None], b[None, None], stride=2, padding=1)": [[v.x[0] * v.b[1], v.x[1:] @ v.b]],
    },
)

record(
    "conv2d",
    recipes=[
        "{T}, {T}[None, :, :2, :1]",
        "{M}[None], {M}[None, None], padding=(1, 0)",
        "{T}[None], {T}[:, :1, :1, None].expand(2, 2, 1, 1)",
    ],
    programs={
        "F.conv2d(A[None], B[:2][None, None])": [[[np.sum(v.A[:, k : k + 2] * v.B[:2]) for k in (0, 1)]]],
        "F.conv2d(T, T[:, :, :1, None][:1])": np.tensordot(v.T[0, :, 0], v.T, 1)[None],
    },
)

record(
    "conv3d",
    recipes=["{T}[None], {T}[None, None, :, :1, :1]", "{T}[None], {T}[None, None], padding=(0, 0, 1)"],
    programs={"F.conv3d(T[None], T[None, None])": np.sum(v.T**2).reshape(1, 1, 1, 1)},
)

record(
    "conv_transpose1d",
    recipes=[
        "{M}, {M}[:, None]",
        "{M}, {M}[:, None, :2], stride=2, output_padding=1",
        "{M}, {M}[:, None], [{S}], padding=1, dilation=2",
        "{M}, {M}[:, None, :2], None, 2, 1, 0, {m}",
    ],
    programs={
        "F.conv_transpose1d(x[None], b[None, None])": [np.convolve(v.x, v.b)],
        "F.conv_transpose1d(x[None], b[None, None], stride=2, padding=1)": [
            [v.x[0] * v.b[1], v.x[1] * v.b[0], v.x[1] * v.b[1], v.x[2] * v.b[0]]
        ],
    },
)

record(
    "conv_transpose2d",
    recipes=[
        "{M}[None], {Q}[None, None, :2, :2]",
        "{M}[None], {M}[None, None], padding=1",
        "{T}, {V}[:2][:, None, None, None], stride=2",
    ],
    programs={"F.conv_transpose2d(A[None], x[:2][None, None, None])": [[np.convolve(a, v.x[:2]) for a in v.A]]},
)

record(
    "conv_transpose3d",
    recipes=["{T}[None], {V}[None, None, None, None, :1]", "{T}[None], {S}*ones(1, 1, 1, 1, 2), padding=(0, 0, 1)"],
    programs={"F.conv_transpose3d(T[None], x[:1][None, None, None, None])": v.T[None] * v.x[0]},
)

BATCHES = {1: "{M}", 2: "{T}", 3: "{T}[None]"}
"""An array for each number of axes: it has as many, and channels."""
A, T = {1: v.A, 2: v.T, 3: v.T[None]}, {1: "A", 2: "T", 3: "T[None]"}
TOPS = {1: v.A[:, 1:2] * 0 + np.array([[0.5], [1.5]]), 2: np.max(v.T, axis=(1, 2), keepdims=True), 3: 4.5}
for n in (1, 2, 3):
    x, one = BATCHES[n], tuple(range(-n, 0))
    record(
        f"max_pool{n}d",
        recipes=[f"{x}, 2, 1", f"{x}, 2, padding=1", f"{x}, 2, 2, 1, ceil_mode=True", f"{x}, 2, 1, 1, 2"],
        programs={f"F.max_pool{n}d({T[n]}, 2)": TOPS[n] + np.zeros((*A[n].shape[:-n], *(1,) * n))},
    )
    record(
        f"avg_pool{n}d",
        recipes=[
            f"{x}, 2, 1",
            f"{x}, 2, padding=1",
            f"{x}, 2, 2, 1, count_include_pad=False",
            f"{x}, 2, 2, 1, ceil_mode=True" + (", divisor_override=3" if n > 1 else ""),
        ],
        programs={
            f"F.avg_pool{n}d({T[n]}, 2)": np.mean(A[n][..., :2], axis=one, keepdims=True),
            f"F.avg_pool{n}d({T[n]}, 1, 1)": A[n],
        },
    )
    record(
        f"adaptive_avg_pool{n}d",
        recipes=[f"{x}, 2", f"{x}, 1", f"{x}, {'None' if n == 1 else (None, *(2,) * (n - 1))}"],
        programs={f"F.adaptive_avg_pool{n}d({T[n]}, 1)": np.mean(A[n], axis=one, keepdims=True)},
    )
    record(
        f"adaptive_max_pool{n}d",
        recipes=[f"{x}, 2", f"{x}, 1", f"{x}, {'None' if n == 1 else (None, *(2,) * (n - 1))}"],
        programs={f"F.adaptive_max_pool{n}d({T[n]}, 1)": np.max(A[n], axis=one, keepdims=True)},
    )
    positive = x.replace("}", ":0.3,2}")
    record(
        f"lp_pool{n}d",
        recipes=[f"{positive}, 2, 2, 1", f"{positive}, 3, 2", f"{positive}, 1.5, 2, 1"],
        programs={f"F.lp_pool{n}d({T[n]}**2, 1, 2)": np.sum(A[n][..., :2] ** 2, axis=one, keepdims=True)},
    )

record(
    "local_response_norm",
    recipes=["{T}, 2", "{T}, 3, alpha=0.5, beta=0.5, k=2", "{T}[None], 1, 0.3"],
    programs={
        "F.local_response_norm(T, 1, 0.5)": v.T / (1 + 0.5 * v.T**2) ** 0.75,
        "F.local_response_norm(T, 4, 0.5, 1)": v.T / (1 + 0.125 * np.sum(v.T**2, axis=1, keepdims=True)),
    },
)

record(
    "interpolate",
    recipes=[
        "{M}[None], scale_factor=2",
        '{M}[None], size=4, mode="linear"',
        '{M}[None, None], (3, 4), mode="bilinear", align_corners=True',
        '{T}, 2, mode="linear", align_corners=True',
        '{M}[None, None, :2, :1], scale_factor=2, mode="bilinear"',
    ],
    programs={
        "F.interpolate(T, scale_factor=2)": np.repeat(v.T, 2, axis=2),
        'F.interpolate(T, size=3, mode="linear", align_corners=True)': np.stack(
            [v.T[..., 0], np.mean(v.T, axis=2), v.T[..., 1]], axis=2
        ),
        'F.interpolate(T, size=1, mode="area")': np.mean(v.T, axis=2, keepdims=True),
        'F.interpolate(T[None], size=(1, 2), mode="bilinear")': np.mean(v.T[None], axis=2, keepdims=True),
    },
)

record(
    "pixel_shuffle",
    recipes=["{f}({T}.reshape(-1, 1, 1)[:4], 2)", "{T}, 1", "{f}({T}[:, :2, :2].reshape(4, 2, 1), upscale_factor=2)"],
    programs={
        "F.pixel_shuffle(T.reshape(4, 2, 1), 2)": v.T.reshape(1, 2, 2, 2, 1).transpose(0, 3, 1, 4, 2).reshape(1, 4, 2)
    },
)

record(
    "pixel_unshuffle",
    recipes=["{T}, 1", "{f}({T}.reshape(1, 2, -1)[..., :2], 2)", "{T}[:, :2, :2], downscale_factor=2"],
    programs={"F.pixel_unshuffle(T, 2)": v.T.reshape(8, 1, 1)},
)

record(
    "channel_shuffle",
    recipes=["{T}, 1", "{f}(cat([{M}, {M}])[None], 2)", "{T}, {m}"],
    programs={"torch.channel_shuffle(T.reshape(1, 4, 2), 2)": v.T.reshape(1, 4, 2)[:, [0, 2, 1, 3]]},
)
