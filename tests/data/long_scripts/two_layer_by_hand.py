# A two-layer net: every step of the backward pass by hand, against autograd.
# Exercise of lecture 5: "becoming a backprop ninja"
import torch
import torch.nn.functional as F

torch.manual_seed(42)

n_in, n_hidden, n_out, batch = 6, 8, 4, 5
g = torch.Generator().manual_seed(2147483647)
X = torch.randn((batch, n_in), generator=g)
Yb = torch.randint(0, n_out, (batch,), generator=g)
print("labels", Yb)

W1 = torch.randn((n_in, n_hidden), generator=g) * (5 / 3) / (n_in ** 0.5)
b1 = torch.randn(n_hidden, generator=g) * 0.1
W2 = torch.randn((n_hidden, n_out), generator=g) * 0.1
b2 = torch.randn(n_out, generator=g) * 0.1
bngain = torch.randn((1, n_hidden), generator=g) * 0.1 + 1.0
bnbias = torch.randn((1, n_hidden), generator=g) * 0.1
parameters = [W1, b1, W2, b2, bngain, bnbias]
print(sum(p.nelement() for p in parameters))
for p in parameters:
    p.requires_grad = True
n = batch


def cmp(s, dt, t):
    ex = torch.all(dt.abs() * 0 == t.grad * 0).item()
    app = torch.allclose(dt, t.grad, atol=1e-6)
    maxdiff = (dt - t.grad).abs().max().item()
    print(f"{s:15s} | shapes: {str(ex):5s} | approximate: {str(app):5s} | small: {maxdiff < 1e-6}")


# forward pass, in small steps
hprebn = X @ W1 + b1
bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
bndiff = hprebn - bnmeani
bndiff2 = bndiff ** 2
bnvar = 1 / (n - 1) * (bndiff2).sum(0, keepdim=True)
bnvar_inv = (bnvar + 1e-5) ** -0.5
bnraw = bndiff * bnvar_inv
hpreact = bngain * bnraw + bnbias
h = torch.tanh(hpreact)
logits = h @ W2 + b2
logit_maxes = logits.max(1, keepdim=True).values
norm_logits = logits - logit_maxes
counts = norm_logits.exp()
counts_sum = counts.sum(1, keepdims=True)
counts_sum_inv = counts_sum ** -1
probs = counts * counts_sum_inv
logprobs = probs.log()
loss = -logprobs[range(n), Yb].mean()

for p in parameters:
    p.grad = None
steps = {"logprobs": logprobs, "probs": probs, "counts_sum_inv": counts_sum_inv, "counts_sum": counts_sum, "counts": counts,
         "norm_logits": norm_logits, "logit_maxes": logit_maxes, "logits": logits, "h": h, "hpreact": hpreact, "bnraw": bnraw,
         "bnvar_inv": bnvar_inv, "bnvar": bnvar, "bndiff2": bndiff2, "bndiff": bndiff, "hprebn": hprebn, "bnmeani": bnmeani}
for t in steps.values():
    t.retain_grad()
loss.backward()
print("loss", f"{loss.item():.5f}")

dlogprobs = torch.zeros_like(logprobs)
dlogprobs[range(n), Yb] = -1.0 / n
dprobs = (1.0 / probs) * dlogprobs
dcounts_sum_inv = (counts * dprobs).sum(1, keepdim=True)
dcounts = counts_sum_inv * dprobs
dcounts_sum = (-counts_sum ** -2) * dcounts_sum_inv
dcounts += torch.ones_like(counts) * dcounts_sum
dnorm_logits = counts * dcounts
dlogits = dnorm_logits.clone()
dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)
dlogits += F.one_hot(logits.max(1).indices, num_classes=logits.shape[1]) * dlogit_maxes
dh = dlogits @ W2.T
dW2 = h.T @ dlogits
db2 = dlogits.sum(0)
dhpreact = (1.0 - h ** 2) * dh
dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
dbnraw = bngain * dhpreact
dbnbias = dhpreact.sum(0, keepdim=True)
dbndiff = bnvar_inv * dbnraw
dbnvar_inv = (bndiff * dbnraw).sum(0, keepdim=True)
dbnvar = (-0.5 * (bnvar + 1e-5) ** -1.5) * dbnvar_inv
dbndiff2 = (1.0 / (n - 1)) * torch.ones_like(bndiff2) * dbnvar
dbndiff += (2 * bndiff) * dbndiff2
dhprebn = dbndiff.clone()
dbnmeani = (-dbndiff).sum(0)
dhprebn += 1.0 / n * (torch.ones_like(hprebn) * dbnmeani)
dW1 = X.T @ dhprebn
db1 = dhprebn.sum(0)

for name, ours, t in [("logprobs", dlogprobs, logprobs), ("probs", dprobs, probs), ("counts", dcounts, counts), ("logits", dlogits, logits),
                      ("h", dh, h), ("W2", dW2, W2), ("b2", db2, b2), ("hpreact", dhpreact, hpreact), ("bngain", dbngain, bngain),
                      ("bnbias", dbnbias, bnbias), ("bnvar", dbnvar, bnvar), ("hprebn", dhprebn, hprebn), ("W1", dW1, W1), ("b1", db1, b1)]:
    cmp(name, ours, t)

with torch.no_grad():
    fast = F.softmax(logits, 1)
    fast[range(n), Yb] -= 1
    fast /= n
print("in one step:", torch.allclose(fast, logits.grad, atol=1e-6))
print(dlogits)
print(fast.sum(1).abs().max().item() < 1e-6)
