"""The layers of ``torch.nn`` by name: the function that each one is, and those that begin with random weights."""

from __future__ import annotations

LEGACY = "size_average reduce reduction"
OF_BATCH = "running_mean=None running_var=None training=True"
POOL = "kernel_size stride padding"
FUNCTIONS = {
    "ReLU": "F.relu inplace", "ReLU6": "F.relu6 inplace", "Sigmoid": "torch.sigmoid", "Tanh": "torch.tanh",
    "LogSigmoid": "F.logsigmoid", "Softsign": "F.softsign", "Tanhshrink": "F.tanhshrink", "SiLU": "F.silu inplace",
    "Mish": "F.mish inplace", "Hardswish": "F.hardswish inplace", "Hardsigmoid": "F.hardsigmoid inplace",
    "Hardtanh": "F.hardtanh min_val max_val inplace", "LeakyReLU": "F.leaky_relu negative_slope inplace",
    "RReLU": "F.rrelu lower upper inplace training=True", "ELU": "F.elu alpha inplace", "CELU": "F.celu alpha inplace",
    "SELU": "F.selu inplace", "GELU": "F.gelu approximate", "PReLU": "F.prelu -num_parameters init:weight weight=0.25",
    "Softplus": "F.softplus beta threshold", "Softmin": "F.softmin dim", "Softmax": "F.softmax dim",
    "LogSoftmax": "F.log_softmax dim", "Softmax2d": "F.softmax dim=-3", "Softshrink": "F.softshrink lambd",
    "Hardshrink": "F.hardshrink lambd", "Threshold": "F.threshold threshold value inplace", "GLU": "F.glu dim",
    "Flatten": "torch.flatten start_dim end_dim start_dim=1", "Unflatten": "torch.unflatten dim unflattened_size:sizes",
    "L1Loss": f"F.l1_loss {LEGACY}", "MSELoss": f"F.mse_loss {LEGACY}",
    "SmoothL1Loss": f"F.smooth_l1_loss {LEGACY} beta",
    "HuberLoss": "F.huber_loss reduction delta", "KLDivLoss": f"F.kl_div {LEGACY} log_target",
    "PoissonNLLLoss": "F.poisson_nll_loss log_input full size_average eps reduce reduction",
    "GaussianNLLLoss": "F.gaussian_nll_loss full eps reduction",
    "HingeEmbeddingLoss": f"F.hinge_embedding_loss margin {LEGACY}",
    "MarginRankingLoss": f"F.margin_ranking_loss margin {LEGACY}",
    "TripletMarginLoss": f"F.triplet_margin_loss margin p eps swap {LEGACY}",
    "CosineEmbeddingLoss": f"F.cosine_embedding_loss margin {LEGACY}", "SoftMarginLoss": f"F.soft_margin_loss {LEGACY}",
    "MultiMarginLoss": f"F.multi_margin_loss p margin weight {LEGACY}",
    "MultiLabelMarginLoss": f"F.multilabel_margin_loss {LEGACY}",
    "MultiLabelSoftMarginLoss": f"F.multilabel_soft_margin_loss weight {LEGACY}",
    "BCELoss": f"F.binary_cross_entropy weight {LEGACY}",
    "BCEWithLogitsLoss": f"F.binary_cross_entropy_with_logits weight {LEGACY} pos_weight",
    "NLLLoss": "F.nll_loss weight size_average ignore_index reduce reduction",
    "CrossEntropyLoss": "F.cross_entropy weight size_average ignore_index reduce reduction label_smoothing",
    **{f"MaxPool{n}d": f"F.max_pool{n}d {POOL} dilation return_indices ceil_mode" for n in (1, 2, 3)},
    "AvgPool1d": f"F.avg_pool1d {POOL} ceil_mode count_include_pad",
    **{f"AvgPool{n}d": f"F.avg_pool{n}d {POOL} ceil_mode count_include_pad divisor_override" for n in (2, 3)},
    **{f"AdaptiveAvgPool{n}d": f"F.adaptive_avg_pool{n}d output_size" for n in (1, 2, 3)},
    **{f"AdaptiveMaxPool{n}d": f"F.adaptive_max_pool{n}d output_size return_indices" for n in (1, 2, 3)},
    **{f"LPPool{n}d": f"F.lp_pool{n}d norm_type kernel_size stride ceil_mode" for n in (1, 2, 3)},
    **{f"ZeroPad{n}d": "F.pad padding:pad" for n in (1, 2, 3)},
    **{f"ConstantPad{n}d": "F.pad padding:pad value" for n in (1, 2, 3)},
    **{f"ReflectionPad{n}d": "F.pad padding:pad mode='reflect'" for n in (1, 2, 3)},
    **{f"ReplicationPad{n}d": "F.pad padding:pad mode='replicate'" for n in (1, 2, 3)},
    **{f"CircularPad{n}d": "F.pad padding:pad mode='circular'" for n in (1, 2, 3)},
    "Upsample": "F.interpolate size scale_factor mode align_corners recompute_scale_factor",
    "UpsamplingNearest2d": "F.interpolate size scale_factor",
    "UpsamplingBilinear2d": "F.interpolate size scale_factor mode='bilinear' align_corners=True",
    "PixelShuffle": "F.pixel_shuffle upscale_factor", "PixelUnshuffle": "F.pixel_unshuffle downscale_factor",
    "ChannelShuffle": "F.channel_shuffle groups", "CosineSimilarity": "F.cosine_similarity dim eps dim=1",
    "PairwiseDistance": "F.pairwise_distance p eps keepdim",
    "LocalResponseNorm": "F.local_response_norm size alpha beta k",
    "LayerNorm": "F.layer_norm normalized_shape eps -elementwise_affine -bias",
    "RMSNorm": "F.rms_norm normalized_shape eps -elementwise_affine",
    "GroupNorm": "F.group_norm num_groups -num_channels eps -affine",
    **{f"InstanceNorm{n}d": "F.instance_norm -num_features eps -momentum -affine" for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": f"F.batch_norm -num_features eps -momentum -affine {OF_BATCH}" for n in (1, 2, 3)},
    "Dropout": "F.dropout p inplace training=True", "AlphaDropout": "F.alpha_dropout p inplace training=True",
    "FeatureAlphaDropout": "F.feature_alpha_dropout p inplace training=True",
    **{f"Dropout{n}d": f"F.dropout{n}d p inplace training=True" for n in (1, 2, 3)},
    "Unfold": "F.unfold kernel_size dilation padding stride",
    "Fold": "F.fold output_size kernel_size dilation padding stride",
    "Identity": "F.dropout p=0",
}  # fmt: skip
"""By the name of a layer: its function, and what its constructor takes in order.

``a:b`` is called b by the function, ``-a`` has no part in the value, ``a=1`` is what the function is given if not said
otherwise.
"""
RANDOM = {
    "Linear": "F.linear(x, W, b)", "Bilinear": "F.bilinear(x1, x2, W, b)", "Embedding": "F.embedding(i, W)",
    **{f"Conv{n}d": f"F.conv{n}d(x, W, b)" for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": f"F.conv_transpose{n}d(x, W, b)" for n in (1, 2, 3)},
    **dict.fromkeys(("RNN", "LSTM", "GRU", "RNNCell"), "h = tanh(W @ x + U @ h + b) and its like in a loop"),
    **dict.fromkeys(("LSTMCell", "GRUCell", "EmbeddingBag", "Transformer"), "its equations with these weights"),
    "MultiheadAttention": "F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv)",
}  # fmt: skip
"""Layers that begin with random weights, by what to write with weights that are given."""
WINDOWS = "-in_channels -out_channels -kernel_size stride padding"
WEIGHTED = {
    "Linear": "F.linear -in_features -out_features -bias",
    "Bilinear": "F.bilinear -in1_features -in2_features -out_features -bias",
    **{f"Conv{n}d": f"F.conv{n}d {WINDOWS} dilation groups -bias" for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": f"F.conv_transpose{n}d {WINDOWS} output_padding groups -bias dilation" for n in (1, 2, 3)},
}  # fmt: skip
"""Those of them that a snippet may have with its weights as inputs: the function, and the constructor's arguments."""
