"""
Minimal character level RNN, with the cell written out as matrices.
Backpropagation through time by autograd, AdaGrad by hand.
"""
import numpy as np
import torch

data = "hello world, hello rnn. "
chars = sorted(set(data))
data_size, vocab_size = len(data), len(chars)
print("data has %d characters, %d unique." % (data_size, vocab_size))
char_to_ix = {ch: i for i, ch in enumerate(chars)}
ix_to_char = {i: ch for i, ch in enumerate(chars)}

hidden_size = 10
seq_length = 6
learning_rate = 1e-1
torch.manual_seed(0)


def param(*size, scale=0.3):
    t = torch.randn(*size) * scale
    t.requires_grad_()
    return t


Wxh = param(hidden_size, vocab_size)
Whh = param(hidden_size, hidden_size)
Why = param(vocab_size, hidden_size)
bh = torch.zeros(hidden_size, 1, requires_grad=True)
by = torch.zeros(vocab_size, 1, requires_grad=True)
params = dict(Wxh=Wxh, Whh=Whh, Why=Why, bh=bh, by=by)


def lossFun(inputs, targets, hprev):
    """Loss of one sequence, the state after it, and the states on the way."""
    hs = {-1: hprev}
    loss = 0
    for t in range(len(inputs)):
        x = torch.zeros((vocab_size, 1))
        x[inputs[t]] = 1
        hs[t] = torch.tanh(Wxh @ x + Whh @ hs[t - 1] + bh)
        y = Why @ hs[t] + by
        p = torch.exp(y) / torch.sum(torch.exp(y))
        loss = loss - torch.log(p[targets[t], 0])
    return loss, hs[len(inputs) - 1], hs


@torch.no_grad()
def sample(h, seed_ix, n):
    """Greedy characters after a seed."""
    x = torch.zeros((vocab_size, 1))
    x[seed_ix] = 1
    ixes = []
    for _ in range(n):
        h = torch.tanh(Wxh @ x + Whh @ h + bh)
        y = Why @ h + by
        ix = int(y.argmax())
        x = torch.zeros((vocab_size, 1))
        x[ix] = 1
        ixes.append(ix)
    return "".join(ix_to_char[i] for i in ixes)


# gradients of one sequence: how far back do they reach
inputs = [char_to_ix[ch] for ch in data[:seq_length]]
targets = [char_to_ix[ch] for ch in data[1:seq_length + 1]]
loss, h, hs = lossFun(inputs, targets, torch.zeros(hidden_size, 1))
for t in range(seq_length):
    hs[t].retain_grad()
loss.backward()
print(f"loss {loss.item():.4f}, expected about {-np.log(1.0 / vocab_size) * seq_length:.1f}")
for t in range(seq_length):
    print(t, repr(data[t]), f"{hs[t].grad.norm().item():.4f}")
print("by.grad", by.grad.squeeze().tolist()[:3])

# gradient check of three entries by central differences, in doubles
for name in ("Wxh", "Whh", "by"):
    w = params[name]
    i = (1, 2) if w.shape[1] > 1 else (1, 0)
    delta = 1e-2
    with torch.no_grad():
        old = w[i].item()
        w[i] = old + delta
        up = lossFun(inputs, targets, torch.zeros(hidden_size, 1))[0].item()
        w[i] = old - delta
        down = lossFun(inputs, targets, torch.zeros(hidden_size, 1))[0].item()
        w[i] = old
    numeric = (up - down) / (2 * delta)
    print(f"{name}: close to the numeric gradient: {abs(numeric - w.grad[i].item()) < 1e-2}")

for p in params.values():
    p.grad = None
mem = {name: torch.zeros_like(p) for name, p in params.items()}
smooth_loss = -np.log(1.0 / vocab_size) * seq_length
n = pos = 0
hprev = torch.zeros(hidden_size, 1)
while n < 60:
    if pos + seq_length + 1 >= len(data) or n == 0:
        hprev, pos = torch.zeros(hidden_size, 1), 0
    inputs = [char_to_ix[ch] for ch in data[pos:pos + seq_length]]
    targets = [char_to_ix[ch] for ch in data[pos + 1:pos + seq_length + 1]]
    loss, hprev, _ = lossFun(inputs, targets, hprev)
    hprev = hprev.detach()
    loss.backward()
    smooth_loss = smooth_loss * 0.9 + loss.item() * 0.1
    for name, p in params.items():
        with torch.no_grad():
            p.grad.clamp_(-5, 5)
            mem[name] += p.grad * p.grad
            p -= learning_rate * p.grad / torch.sqrt(mem[name] + 1e-8)
            p.grad.zero_()
    if n % 20 == 0:
        print(f"iter {n}, smooth loss: {smooth_loss:.2f}")
    pos += seq_length
    n += 1
print("learned:", smooth_loss < 8.0, len(sample(torch.zeros(hidden_size, 1), char_to_ix["h"], 12)))
