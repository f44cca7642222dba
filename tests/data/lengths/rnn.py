import torch

Wx = torch.tensor([[0.5, -0.1], [0.2, 0.3]], requires_grad=True)
Wh = torch.tensor([[0.1, 0.4], [-0.2, 0.2]], requires_grad=True)
b = torch.zeros(2, requires_grad=True)
xs = torch.tensor([[1.0, 0.5], [-0.3, 0.8], [0.2, -1.0]])
h = torch.zeros(2)
for t in range(3):
    h = torch.tanh(Wx @ xs[t] + Wh @ h + b)
loss = (h ** 2).sum()
loss.backward()
print(Wh.grad)
