"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import orders, orders_quantiles, pointwise, pointwise_masks, reducing, running, special

__all__ = ["orders", "orders_quantiles", "pointwise", "pointwise_masks", "reducing", "running", "special"]
