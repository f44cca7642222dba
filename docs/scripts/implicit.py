import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = 3 * x**2
y.backward()
print(x.grad)
