"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import jax_nn, neural_activations

__all__ = ["jax_nn", "neural_activations"]
