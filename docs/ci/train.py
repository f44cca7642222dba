import torch

W = torch.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
x = torch.tensor([1.0, 2.0])
loss = torch.tanh(W @ x).pow(2).sum()
loss.backward()
