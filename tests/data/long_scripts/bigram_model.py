"""A bigram language model: count pairs of characters, then learn the same table with a neural net."""
import math
from collections import Counter

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

words = """emma olivia ava isabella sophia charlotte mia amelia harper evelyn abigail emily
elizabeth mila ella avery sofia camila aria scarlett""".split()
print(len(words), "words,", min(len(w) for w in words), "to", max(len(w) for w in words), "letters")

b = {}
for w in words:
    chs = ["<S>"] + list(w) + ["<E>"]
    for ch1, ch2 in zip(chs, chs[1:]):
        bigram = (ch1, ch2)
        b[bigram] = b.get(bigram, 0) + 1
top = sorted(b.items(), key=lambda kv: (-kv[1], kv[0]))[:5]
print(top)

chars = sorted(list(set("".join(words))))
stoi = {s: i + 1 for i, s in enumerate(chars)}
stoi["."] = 0
itos = {i: s for s, i in stoi.items()}
V = len(stoi)
print("".join(itos[i] for i in range(V)), V)

# 1. counts
N = torch.zeros((V, V), dtype=torch.int32)
for w in words:
    chs = ["."] + list(w) + ["."]
    for ch1, ch2 in zip(chs, chs[1:]):
        N[stoi[ch1], stoi[ch2]] += 1
plt.figure(figsize=(8, 8))
plt.imshow(N, cmap="Blues")
plt.axis("off")

P = (N + 1).float()
P /= P.sum(1, keepdim=True)
print(P.shape, P[0].sum())
print(N[0])

log_likelihood = 0.0
n = 0
for w in words[:4]:
    chs = ["."] + list(w) + ["."]
    for ch1, ch2 in zip(chs, chs[1:]):
        logprob = torch.log(P[stoi[ch1], stoi[ch2]])
        log_likelihood += logprob
        n += 1
nll = -log_likelihood
print(f"{log_likelihood=:.4f} {n} {nll / n:.4f}")

g = torch.Generator().manual_seed(2147483647)
for _ in range(3):
    out, ix = [], 0
    while True:
        p = P[ix]
        ix = torch.argmax(p).item() if not out else int(torch.sort(p, descending=True).indices[len(out) % 3])
        if ix == 0 or len(out) > 6:
            break
        out.append(itos[ix])
    print("".join(out))
    break

# 2. the same with gradient descent
xs, ys = [], []
for w in words:
    chs = ["."] + list(w) + ["."]
    for ch1, ch2 in zip(chs, chs[1:]):
        xs.append(stoi[ch1])
        ys.append(stoi[ch2])
xs = torch.tensor(xs)
ys = torch.tensor(ys)
num = xs.nelement()
print("number of examples:", num)

W = torch.randn((V, V), generator=g, requires_grad=True)
print(W[0, :4], W.shape)
xenc = F.one_hot(xs, num_classes=V).float()
for k in range(40):
    # forward pass
    logits = xenc @ W
    counts = logits.exp()
    probs = counts / counts.sum(1, keepdims=True)
    loss = -probs[torch.arange(num), ys].log().mean() + 0.01 * (W ** 2).mean()
    if k % 10 == 0:
        print(k, round(loss.item(), 4))
    # backward pass
    W.grad = None
    loss.backward()
    # update
    W.data += -20 * W.grad
print(f"final {loss.item():.3f}, uniform {math.log(V):.3f}")
print("entries of W.grad above 0.001:", bool((W.grad.abs() > 1e-3).any()))

most = Counter(itos[i] for i in ys.tolist()).most_common(3)
print(most)
with torch.no_grad():
    learned = W.exp() / W.exp().sum(1, keepdim=True)
    start = stoi["a"]
    best = learned[start].topk(2)
print([(itos[i], round(p, 1)) for i, p in zip(best.indices.tolist(), best.values.tolist())])
