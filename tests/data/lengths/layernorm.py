import torch

x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
g = torch.tensor([1.0, 0.5, 2.0], requires_grad=True)
mu = x.mean()
var = ((x - mu) ** 2).mean()
xhat = (x - mu) / torch.sqrt(var + 1e-5)
y = g * xhat
y.backward(torch.tensor([1.0, 0.0, 0.0]))
print(x.grad)
