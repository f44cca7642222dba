"""The Jacobian of a case as numbers, with PyTorch: ``jacobian_torch.py CASE N [--check]``."""

import torch
from arrays import functions
from inputs import arguments, differentiated, seed, wanted

case, n, check = wanted()
torch.set_num_threads(1)
given = [torch.from_numpy(array) for array in arguments(case, n)]
count = len(differentiated(case, given))
f = functions(torch, torch.sum, n)[case]
found = torch.autograd.functional.jacobian(lambda *first: f(*first, *given[count:]), tuple(given[:count]))
if check:
    rows = max(f(*given).numel(), 1)
    parts = [torch.from_numpy(seed(rows)) @ J.reshape(rows, -1) for J in found]
    print(torch.cat(parts).tolist())
