"""Errors of PyTorch that are pasted in place of the program that raised them: what each means, and what to try.

Nothing here is part of the language. It words the hint of a text that was refused.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.errors import Span


class Reported(NamedTuple):
    """Where the message of an error stands in a text, what it means, and what to do."""

    span: Span
    meaning: str
    way: str


SNIPPET = "paste the lines that raised it, as they stand: gradcli explain script.py"
MEANINGS: tuple[tuple[str, str, str], ...] = (
    ("grad can be implicitly created only for scalar outputs",
     "y has several entries, and backward() was given no v: a weight for each entry of y",
     "gradcli explain 'x**2' --x 1.,2. --v 1,1 shows J and what v does to it"),
    ("does not require grad and does not have a grad_fn",
     "no input of what backward was called on has requires_grad=True, or it was detached on the way",
     SNIPPET),
    ("Trying to backward through the graph a second time",
     "a first backward has freed what the second one needs",
     "give both as --v V1 --v V2; in PyTorch the first one takes retain_graph=True"),
    ("has been modified by an inplace operation",
     "a value that backward reads was written to after it was used",
     SNIPPET),
    ("view of a leaf Variable that requires grad is being used in an in-place operation",
     "an entry of an input is written to in place",
     "write to a copy: y = x.clone()"),
    ("leaf Variable that requires grad is being used in an in-place operation",
     "an input is written to in place",
     "write x = x + 1 for x += 1, or change it under torch.no_grad()"),
    ("Mismatch in shape: grad_output",
     "v has another shape than y",
     "v has an entry for each entry of y: gradcli explain 'x**2' --x 1.,2. --v 1,1"),
    ("Tensors of floating point",
     "a tensor of integers has no gradient",
     "write 1. for 1 in the tensor, or dtype=torch.float32"),
    ("appears to not have been used in the graph",
     "y does not depend on one of the tensors that it is differentiated by",
     SNIPPET),
    ("attribute of a Tensor that is not a leaf Tensor is being accessed",
     ".grad is kept for inputs alone, unless retain_grad() asks for it",
     "gradcli shows the gradient of every value, under Backward"),
    ("Can't call numpy() on Tensor that requires grad",
     "NumPy knows nothing of gradients",
     "write x.detach().numpy()"),
    ("a Tensor with {} elements cannot be converted to Scalar",
     "one number is needed, and the tensor has several",
     "pick an entry, x[0], or reduce it, x.sum()"),
    ("shapes cannot be multiplied",
     "the inner sizes of a product of matrices differ: (n, m) @ (m, k)",
     SNIPPET),
    ("The size of tensor a ({}) must match the size of tensor b ({})",
     "the shapes do not go together: sizes are equal, or one of them is 1",
     SNIPPET),
    ("expected scalar type",
     "the tensors have numbers of different types",
     "gradcli has float64 alone: the same lines run here, and x.float() makes them run there"),
)  # fmt: skip
"""What a message of PyTorch holds, what it means, and what to do."""


def reported(text: str) -> Reported | None:
    """Return what a text says that holds a message of PyTorch; None for any other text."""
    for message, meaning, way in MEANINGS:
        found = re.search(re.escape(message).replace(r"\{\}", r"\d+"), text, re.IGNORECASE)
        if found:
            return Reported(found.span(), meaning, way)
    return None
