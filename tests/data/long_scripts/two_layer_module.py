"""A two-layer net for two half moons, with nn.Module, from scratch data to accuracy."""
import math
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


def make_moons(n: int, noise: float):
    """n points, two classes."""
    t = torch.linspace(0, math.pi, n // 2)
    upper = torch.stack([torch.cos(t), torch.sin(t)], dim=1)
    lower = torch.stack([1 - torch.cos(t), 0.5 - torch.sin(t)], dim=1)
    X = torch.cat([upper, lower])
    y = torch.cat([torch.zeros(n // 2), torch.ones(n // 2)]).long()
    return X + noise * torch.randn(n, 2), y


class TwoLayerNet(nn.Module):
    def __init__(self, D_in: int, H: int, D_out: int, p: float = 0.0):
        super().__init__()
        self.linear1 = nn.Linear(D_in, H)
        self.linear2 = nn.Linear(H, D_out)
        self.drop = nn.Dropout(p)
        self.history: List[float] = []

    def forward(self, x):
        h_relu = self.linear1(x).clamp(min=0)
        return self.linear2(self.drop(h_relu))

    def extra_repr(self):
        return f"history={len(self.history)}"

    @property
    def num_parameters(self):
        return sum(p.numel() for p in self.parameters() if p.requires_grad)


def accuracy(model, X, y):
    model.eval()
    with torch.no_grad():
        hits = (model(X).argmax(dim=1) == y).float().mean().item()
    model.train()
    return hits


torch.manual_seed(1234)
X, y = make_moons(40, 0.05)
X_train, y_train = X[::2], y[::2]
X_test, y_test = X[1::2], y[1::2]
print(X_train.shape, y_train.shape, X_train.dtype, y_train.dtype)
print("class counts", torch.bincount(y_train).tolist())

model = TwoLayerNet(2, 12, 2)
print(model)
print("parameters:", model.num_parameters)
for name, param in model.named_parameters():
    print(f"  {name:16s} {str(tuple(param.shape)):10s} mean |w| {param.abs().mean().item():.4f}")

criterion = nn.CrossEntropyLoss()
first = criterion(model(X_train), y_train)
print(first)
first.backward()
print("bias gradient sums to zero:", abs(model.linear2.bias.grad.sum().item()) < 1e-6)
print(model.linear2.bias.grad)

optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
for epoch in range(60):
    optimizer.zero_grad()
    outputs = model(X_train)
    loss = criterion(outputs, y_train)
    l2 = sum((p ** 2).sum() for p in model.parameters() if p.dim() > 1)
    total = loss + 1e-4 * l2
    total.backward()
    optimizer.step()
    model.history.append(loss.item())
    if epoch in (0, 1, 2, 5):
        print(f"epoch {epoch:2d}: loss {loss.item():.3f}, l2 {l2.item():.3f}")
print("decreased:", model.history[-1] < 0.5 * model.history[0], len(model.history))
print("train accuracy above 0.85:", accuracy(model, X_train, y_train) > 0.85)
print("test accuracy above 0.8:", accuracy(model, X_test, y_test) > 0.8)
print(model.training, model)

# one gradient with respect to the input
probe = torch.tensor([[0.0, 1.0]], requires_grad=True)
F.softmax(model(probe), dim=1)[0, 0].backward()
print("input gradient", probe.grad.shape, torch.isfinite(probe.grad).all().item())
state = {k: tuple(v.shape) for k, v in model.state_dict().items()}
print(state)
