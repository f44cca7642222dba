# Physics informed neural network for the damped oscillator
#     m u'' + mu u' + k u = 0,   u(0) = 1, u'(0) = 0
import numpy as np
import torch
import torch.nn as nn
import matplotlib.pyplot as plt


def oscillator(d, w0, x):
    """The exact solution, underdamped."""
    assert d < w0
    w = np.sqrt(w0 ** 2 - d ** 2)
    phi = np.arctan(-d / w)
    A = 1 / (2 * np.cos(phi))
    return torch.exp(-d * x) * 2 * A * torch.cos(phi + w * x)


class FCN(nn.Module):
    """A fully connected network."""

    def __init__(self, N_INPUT, N_OUTPUT, N_HIDDEN, N_LAYERS):
        super().__init__()
        activation = nn.Tanh
        self.fcs = nn.Sequential(*[nn.Linear(N_INPUT, N_HIDDEN), activation()])
        self.fch = nn.Sequential(*[nn.Sequential(*[nn.Linear(N_HIDDEN, N_HIDDEN), activation()]) for _ in range(N_LAYERS - 1)])
        self.fce = nn.Linear(N_HIDDEN, N_OUTPUT)

    def forward(self, x):
        x = self.fcs(x)
        x = self.fch(x)
        return self.fce(x)


d, w0 = 1.0, 4.0
mu, k = 2 * d, w0 ** 2
x = torch.linspace(0, 1, 50).view(-1, 1)
y = oscillator(d, w0, x).view(-1, 1)
print(x.shape, y.shape, f"{y[0].item():.3f} {y[-1].item():.3f}")
x_data, y_data = x[0:20:5], y[0:20:5]
plt.plot(x, y, label="Exact solution")
plt.scatter(x_data, y_data, color="tab:orange")
plt.legend()

# derivative of the exact solution by autograd solves the equation
xx = torch.linspace(0, 1, 5).view(-1, 1).requires_grad_(True)
u = oscillator(d, w0, xx)
du = torch.autograd.grad(u, xx, torch.ones_like(u), create_graph=True)[0]
d2u = torch.autograd.grad(du, xx, torch.ones_like(du), create_graph=True)[0]
residual = d2u + mu * du + k * u
print("residual of the exact solution is small:", residual.abs().max().item() < 1e-4)
print("u'(0) is small:", abs(du[0].item()) < 1e-5)

torch.manual_seed(123)
model = FCN(1, 1, 8, 2)
print(model)
x_physics = torch.linspace(0, 1, 12).view(-1, 1).requires_grad_(True)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
files = []
for i in range(41):
    optimizer.zero_grad()

    yh = model(x_data)
    loss1 = torch.mean((yh - y_data) ** 2)

    yhp = model(x_physics)
    dx = torch.autograd.grad(yhp, x_physics, torch.ones_like(yhp), create_graph=True)[0]
    dx2 = torch.autograd.grad(dx, x_physics, torch.ones_like(dx), create_graph=True)[0]
    physics = dx2 + mu * dx + k * yhp
    loss2 = (1e-4) * torch.mean(physics ** 2)

    loss = loss1 + loss2
    loss.backward()
    if i == 0:
        for name, p in model.named_parameters():
            print(f"  {name:14s} |grad| {p.grad.norm().item():.4f}")
    optimizer.step()

    if i % 10 == 0:
        print(f"{i:3d} data {loss1.item():.4f} physics {loss2.item():.5f}")
    if (i + 1) % 20 == 0:
        yh = model(x).detach()
        files.append("plots/pinn_%.8i.png" % (i + 1))
        plt.figure(figsize=(8, 4))
        plt.plot(x, yh)
        plt.close("all")
print(files)
print("better than a constant:", ((model(x_data) - y_data) ** 2).mean().item() < y_data.var().item())
