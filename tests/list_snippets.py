"""Random snippets of lists, second names and writes in place, whose oracle is PyTorch."""

from __future__ import annotations

from random import Random

START = ["import torch", "a = x*1", "b = x[:2]*2", "c = x + 1"]
SECOND = (
    "{}", "{}[:]", "{}.view(-1)", "{}.double()", "{}[0:2]", "{}.detach()", "torch.reshape({}, (-1,))", "{}.clone()",
    "{}*1", "{}.flatten()", "{}.data", "{}.unsqueeze(0)[0]", "torch.tensor_split({}, 2)[0]",
)  # fmt: skip
ENTRY = ("{}", "{}[0]", "{}*2", "{}.clone()")
WRITES = (
    "{}[0] = 5.", "{}.mul_(3)", "{} += 1", "{}[0:1] *= 2",
    "{}[-1] += {other}[0]", "{}.add_(1)", "{} *= 2", "{0} = {0}*2",
)  # fmt: skip
STORES = ("{list}[0] = {}*2", "{list}[0] = {list}[0]*2", "t = {list}[0]", "{list}[0] += 1", "{list}[-1] = {}")
READS = (
    "for q in {list}:\n    c = c + q.sum()", "c = c + sum(e.sum() for e in {list})",
    "for i in range(len({list})):\n    c = c + {list}[i].sum()*(i+1)",
    "for i, e in enumerate({list}):\n    c = c + e.sum()*(i+1)",
)  # fmt: skip


def snippet(random: Random) -> str:
    """Return a snippet that reads ``x``, a vector of four numbers; its last line is the output."""
    names, lists, lines = ["a", "b", "c"], [], list(START)
    for _ in range(random.randint(3, 8)):
        kind, name = random.random(), random.choice(names)
        if kind < 0.2:
            names.append(random.choice("pqrs"))
            lines.append(f"{names[-1]} = {random.choice(SECOND).format(name)}")
        elif kind < 0.4:
            lists.append(random.choice("LM"))
            entries = [random.choice(ENTRY).format(random.choice(names)) for _ in range(random.randint(1, 3))]
            lines.append(f"{lists[-1]} = [{', '.join(entries)}]")
        elif kind < 0.7 or not lists:
            lines.append(random.choice(WRITES).format(name, other=random.choice(names)))
        else:
            chosen = random.choice((STORES, READS, ["{list}.append({})"]))
            lines.append(random.choice(chosen).format(name, list=random.choice(lists)))
            names += ["t"] if lines[-1].startswith("t =") else []
    parts = [f"({random.choice(names)}**2).sum()" for _ in range(2)]
    parts += [f"({name}[{random.choice([0, -1])}]**2).sum()" for name in lists]
    return "\n".join([*lines, f"y = {' + '.join(parts)}", "y"])
