import torch

x = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5]], requires_grad=True)
gamma = torch.tensor([1.0, 0.5], requires_grad=True)
beta = torch.tensor([0.0, 0.1], requires_grad=True)
mu = x.mean(0)
xc = x - mu
var = (xc ** 2).mean(0)
std = torch.sqrt(var + 1e-5)
xhat = xc / std
y = gamma * xhat + beta
loss = (y ** 3).sum()
loss.backward()
print(x.grad)
