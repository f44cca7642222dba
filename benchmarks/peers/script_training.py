"""A network of 2→16→1 by stochastic gradient descent, as a course has it: run by PyTorch and by ``gradcli run``."""

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.rand(64, 2) * 2 - 1
y = (x[:, :1] * x[:, 1:]).detach()
net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(1000):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
