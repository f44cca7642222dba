"""What stands in notebooks, and what it is here: types, draws, and lines without effect."""

from __future__ import annotations

INSTEAD_OF_LAYER = dict.fromkeys(
    ("ModuleList", "ModuleDict", "Module"),
    "write its layers one after the other, with W and b of your own: F.relu(F.linear(x, W, b))",
)
"""What to write for a layer that holds others."""
WRAPPERS = {
    "torch.autograd.Variable",
    "torch.nn.Parameter",
    "torch.nn.parameter.Parameter",
    "jax.numpy.array",
    "jax.numpy.asarray",
}
"""What gives its first argument as it is."""
RENAMED = {"torch.from_numpy": "torch.as_tensor"}
UNSET = {"torch.Tensor", "torch.FloatTensor", "torch.DoubleTensor"}
"""What takes numbers, or lengths of what has no set values."""
EMPTY = {"torch.empty", "torch.empty_like", "np.empty", "numpy.empty", "np.empty_like", "numpy.empty_like"}
"""What has no set values until it is written to."""
VALUELESS = {"random", "unset"}
"""Kinds of errors of what has other numbers at every run: an input that gets its value from outside."""
FLOATS = {
    "torch.float",
    "torch.float32",
    "torch.float64",
    "torch.double",
    "torch.FloatTensor",
    "torch.DoubleTensor",
    "numpy.float32",
    "numpy.float64",
    "numpy.double",
    "jax.numpy.float32",
    "jax.numpy.float64",
}
"""Types of which all numbers are here."""
UNTOUCHED = {"cuda", "cpu", "requires_grad_", "retain_grad"}
"""Methods that give the numbers as they are."""
RANDOM_FUNCTIONS = ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "empty_strided")
DRAWS = (
    *(f"torch.{name}" for name in RANDOM_FUNCTIONS),
    "torch.distributions.",
    "torch.nn.init.",
    "numpy.random.",
    "jax.random.",
)
"""Full names, or their beginnings, of what draws numbers at random."""
SHOWING = {"print", "display", "pprint", "input", "breakpoint"}
"""Functions that show values and change none."""
SHOWING_METHODS = {
    "tolist",
    "item",
    "numpy",
    "type",
    "stride",
    "is_contiguous",
    "is_floating_point",
    "eval",
    "train",
    "head",
    "retain_grad",
}
"""Methods that show values and change none."""
SETTINGS = (
    "torch.manual_seed",
    "torch.seed",
    "torch.cuda.manual_seed",
    "torch.set_default",
    "torch.set_printoptions",
    "torch.set_num",
    "torch.backends.",
    "torch.autograd.set_detect_anomaly",
    "numpy.random.seed",
    "numpy.set_",
    "jax.config.",
)
"""Full names, or their beginnings, of what sets how numbers are drawn, kept or printed."""
IN_PLACE = {"add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/=", "pow_": "**="}
"""Methods that are augmented assignments."""
WITHOUT_GRADIENT = {
    "torch.no_grad",
    "torch.inference_mode",
    "torch.autograd.no_grad",
    "torch.autograd.grad_mode.no_grad",
}
WITH_GRADIENT = (
    "torch.enable_grad",
    "torch.set_grad_enabled",
    "torch.autograd.enable_grad",
    "torch.autograd.grad_mode.enable_grad",
    "torch.autograd.set_grad_enabled",
    "torch.autograd.set_detect_anomaly",
    "torch.autograd.detect_anomaly",
    "torch.autograd.anomaly_mode.",
    "torch.autograd.profiler.",
    "jax.",
)
"""What ``with`` may begin with: blocks without a gradient, and those that change nothing."""
