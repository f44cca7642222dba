"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import orders, pointwise, pointwise_masks, special

__all__ = ["orders", "pointwise", "pointwise_masks", "special"]
