import math
import torch

Q = torch.tensor([[1.0, 0.5], [-0.3, 0.8]], requires_grad=True)
K = torch.tensor([[0.2, -1.0], [0.7, 0.4]], requires_grad=True)
V = torch.tensor([[1.5, -0.5], [0.3, 2.0]], requires_grad=True)
scores = Q @ K.T / math.sqrt(2)
A = torch.softmax(scores, dim=1)
out = A @ V
out.backward(torch.ones(2, 2))
print(Q.grad)
