"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import casting, fresh, joins, padding, picks, positions, scatters, shapes, splits, writes

__all__ = ["casting", "fresh", "joins", "padding", "picks", "positions", "scatters", "shapes", "splits", "writes"]
