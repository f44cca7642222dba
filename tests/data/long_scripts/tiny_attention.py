"""One block of a transformer on a toy task: copy the token two steps back."""
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class GPTConfig:
    block_size: int = 8
    vocab_size: int = 5
    n_embd: int = 16
    n_head: int = 2
    dropout: float = 0.0


class Head(nn.Module):
    """One head of self-attention."""

    def __init__(self, cfg, head_size):
        super().__init__()
        self.key = nn.Linear(cfg.n_embd, head_size, bias=False)
        self.query = nn.Linear(cfg.n_embd, head_size, bias=False)
        self.value = nn.Linear(cfg.n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(cfg.block_size, cfg.block_size)))
        self.dropout = nn.Dropout(cfg.dropout)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        self.last = wei.detach()
        return self.dropout(wei) @ self.value(x)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        head_size = cfg.n_embd // cfg.n_head
        self.heads = nn.ModuleList([Head(cfg, head_size) for _ in range(cfg.n_head)])
        self.proj = nn.Linear(cfg.n_embd, cfg.n_embd)
        self.ffwd = nn.Sequential(nn.Linear(cfg.n_embd, 4 * cfg.n_embd), nn.ReLU(), nn.Linear(4 * cfg.n_embd, cfg.n_embd))
        self.ln1, self.ln2 = nn.LayerNorm(cfg.n_embd), nn.LayerNorm(cfg.n_embd)

    def forward(self, x):
        x = x + self.proj(torch.cat([h(self.ln1(x)) for h in self.heads], dim=-1))
        return x + self.ffwd(self.ln2(x))


class TinyGPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.tok = nn.Embedding(cfg.vocab_size, cfg.n_embd)
        self.pos = nn.Embedding(cfg.block_size, cfg.n_embd)
        self.block = Block(cfg)
        self.ln_f = nn.LayerNorm(cfg.n_embd)
        self.lm_head = nn.Linear(cfg.n_embd, cfg.vocab_size)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.2)
        if isinstance(module, nn.Linear) and module.bias is not None:
            torch.nn.init.zeros_(module.bias)

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.tok(idx) + self.pos(torch.arange(T, device=idx.device))
        logits = self.lm_head(self.ln_f(self.block(x)))
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(B * T, -1), targets.reshape(B * T), ignore_index=-1)
        return logits, loss


def batch(n, cfg):
    idx = torch.randint(cfg.vocab_size, (n, cfg.block_size))
    targets = torch.full_like(idx, -1)
    targets[:, 2:] = idx[:, :-2]
    return idx, targets


torch.manual_seed(1337)
cfg = GPTConfig()
print(cfg)
model = TinyGPT(cfg)
n_params = sum(p.numel() for p in model.parameters())
print(f"{n_params:,} parameters, buffers: {[n for n, _ in model.named_buffers()]}")
xb, yb = batch(2, cfg)
print(xb)
print(yb)
logits, loss = model(xb, yb)
print(logits.shape, loss)
loss.backward()
norms = {n: p.grad.norm().item() for n, p in model.named_parameters() if "weight" in n}
for n in sorted(norms, key=norms.get, reverse=True)[:4]:
    print(f"  {n:28s} {norms[n]:.4f}")
print(model.block.heads[0].last[0, :3, :4])
unused = [n for n, p in model.named_parameters() if p.grad is None]
print("without gradient:", unused)

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
losses = []
for it in range(12):
    xb, yb = batch(8, cfg)
    _, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(round(loss.item(), 3))
print(losses[:6])
print("last below first:", losses[-1] < losses[0])
