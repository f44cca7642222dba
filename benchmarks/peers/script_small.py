"""A script as short as one can be that asks for a gradient: what it takes is the start."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x**2).sum().backward()
print(x.grad)
