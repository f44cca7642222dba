"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import linear_axes, linear_products

__all__ = ["linear_axes", "linear_products"]
