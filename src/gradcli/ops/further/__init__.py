"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import special

__all__ = ["special"]
