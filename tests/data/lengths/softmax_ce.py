import torch

z = torch.tensor([2.0, 1.0, 0.1], requires_grad=True)
t = torch.tensor([0., 1., 0.])
e = torch.exp(z - z.max())
s = e / e.sum()
loss = -(t * torch.log(s)).sum()
loss.backward()
print(z.grad)
