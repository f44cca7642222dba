import torch

X = torch.tensor([[1.0, 2.0], [2.0, 0.5], [3.0, -1.0]])
y = torch.tensor([1.0, 2.0, 3.0])
w = torch.zeros(2, requires_grad=True)
pred = X @ w
loss = ((pred - y) ** 2).mean()
loss.backward()
print(w.grad)
