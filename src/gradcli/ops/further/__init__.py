"""Functions that few programs call: importing this package enters them beside the others."""

from gradcli.ops.further import (
    jax_nn,
    neural_activations,
    neural_convolution,
    neural_layers,
    neural_losses,
    neural_margins,
    neural_pooling,
    neural_resizing,
)

__all__ = [
    "jax_nn",
    "neural_activations",
    "neural_convolution",
    "neural_layers",
    "neural_losses",
    "neural_margins",
    "neural_pooling",
    "neural_resizing",
]
