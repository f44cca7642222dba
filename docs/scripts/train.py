import torch

w = torch.tensor([2.0, -1.0], requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
t = torch.tensor([1.0, 0.0])
optimizer = torch.optim.SGD([w], lr=0.05)
for step in range(3):
    loss = ((x @ w - t) ** 2).mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), w.grad)
