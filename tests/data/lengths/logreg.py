import torch
import torch.nn.functional as F

X = torch.tensor([[0.5, 1.2], [1.5, -0.3], [-1.0, 0.8]])
t = torch.tensor([1., 0., 1.])
w = torch.tensor([0.1, -0.2], requires_grad=True)
b = torch.tensor(0.05, requires_grad=True)
z = X @ w + b
p = torch.sigmoid(z)
loss = -(t*torch.log(p) + (1-t)*torch.log(1-p)).mean()
loss.backward()
print(w.grad, b.grad)
