"""A hundred thousand turns of training: what a turn leaves is let go."""

import torch

x = torch.tensor([1.0, 2.0, 3.0])
w = torch.zeros(3, requires_grad=True)
for _ in range(100_000):
    loss = ((w * x - 1) ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
print(f"{loss.item():.4f}")
