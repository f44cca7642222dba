"""Random scripts of lists, second names, functions and writes in place, whose oracle is PyTorch."""

from random import Random

START = """
import torch
import torch.nn.functional as F
def bump(t):
    t.add_(1)
def first(ts):
    return ts[0]
def both(t):
    return [t, t*2]
def grown(t):
    r = t*2
    r += 1
    return r
def same(t):
    return t
def swap(ts):
    ts[0], ts[-1] = ts[-1], ts[0]
a = x*1
b = x[:2]*2
c = x + 1
""".strip().splitlines()
SECOND = (
    "{}", "{}[:]", "{}.view(-1)", "{}.double()", "{}[0:2]", "{}.detach()", "torch.reshape({}, (-1,))", "{}.clone()",
    "{}*1", "{}.flatten()", "{}.data", "{}.unsqueeze(0)[0]", "torch.tensor_split({}, 2)[0]", "same({})", "grown({})",
)  # fmt: skip
ENTRY = ("{}", "{}", "{}*2", "{}.clone()", "same({})", "{}[0]", "{}[:]")
LISTS = (
    "{new} = {list}[:]", "{new} = {list}.copy()", "{new} = {list}", "{new} = both({name})", "{new} = both({list}[0])",
    "{new} = [{list}[-1], {list}[0]]", "{new} = [q*2 for q in {list}]", "{new} = [q for q in {list}]",
)  # fmt: skip
WRITES = (
    "{}[0] = 5.", "{}.mul_(3)", "{} += 1", "{}[0:1] *= 2", "{}[-1] += {other}[0]", "{}.add_(1)", "{} *= 2",
    "{0} = {0}*2", "bump({})", "F.relu({}, inplace=True)", "bump(same({}))", "{}.view(-1)[0] = 2.",
)  # fmt: skip
STORES = (
    "{list}[0] = {}*2", "{list}[0] = {list}[0]*2", "t = {list}[0]", "{list}[0] += 1", "{list}[-1] = {}",
    "swap({list})", "bump({list}[0])", "u = first({list})", "{list}[0], {list}[-1] = {list}[-1], {list}[0]",
    "for q in {list}:\n    q.mul_(2)", "for q in {list}:\n    q = q*2", "for q, r in zip({list}, [{}, {}]): q += r",
    "for i in range(len({list})):\n    {list}[i] = {list}[i] + 1", "{list}[0][0] = 3.", "t = first({list})*2",
    "for q in [{}, {list}[0]]:\n    bump(q)", "{list}[0][0] = {list}[0][0]*2", "{list}[0][0].mul_(2)",
)  # fmt: skip
NESTED = (
    "K = [[{0}, {1}], [{0}*2, {2}]]", "K[0][0] = {0}", "K[0][0].mul_(2)", "K[1][0] += 1", "r = K[0]\nr[0] = {0}",
    "t = K[0][1]", "K[1] = [{0}, {1}]", "r = K[1]\nbump(r[0])", "K[0], K[1] = K[1], K[0]", "K[-1][-1] = {0}*3",
    "for r in K:\n    for q in r:\n        c = c + q.sum()", "r = [{0}, {1}]\nK = [r, [{2}, {0}*2]]",
    "r = [{0}, {1}]\nK = [r, [{2}, {0}*2]]\nr[0] = {0}*3", "K.append([{0}, {1}])",
    "r = [{1}, {0}]\nK.append(r)\nr[1] = {2}",
    "r = [{0}, {1}*2]\nK = [r, r]", "r = [{0}, {1}*2]\nK = [r for _ in range(2)]\nK[0][1] = {0}*4", "K[1] = K[0]",
    "for k in range(2):\n    r = [{0}*k, {1}]\n    r[1] = r[1]*2\n    K.append(r)", "r = K[0]\nr.append({0})",
    "r = [{0}, {1}]\nfor k in range(2):\n    r[0] = r[0]*2\n    K.append(r)", "r = [{0}]\nK = [r]\nr.append({1})",
)  # fmt: skip
"""Statements on a list of lists, K; the first makes it."""
READS = (
    "for q in {list}:\n    c = c + q.sum()", "c = c + sum(e.sum() for e in {list})",
    "for i in range(len({list})):\n    c = c + {list}[i].sum()*(i+1)",
    "for i, e in enumerate({list}):\n    c = c + e.sum()*(i+1)", "c = c + torch.stack({list}).sum()",
    "s = torch.stack({list})\ns.mul_(2)\nc = c + s.sum()",
)  # fmt: skip
APPENDS = (
    "{list}.append({})", "for k in range(2):\n    {list}.append({})", "{list}.append({}*2)",
    "for k in range(2):\n    {0} = {0}*2\n    {list}.append({0})", "for r in [{}, {}*3]:\n    {list}.append(r)",
    "{list}.append({list}[0])", "for k in range(2):\n    {list}.append({})\n    c = c + sum([q for q in {list}]).sum()",
    "for k in range(2):\n    c = c + sum(q.sum() for q in {list})*k\n    {list}.append({})", "M = N = {list}",
    "M = N = []\nM.append({})\nN.append({}*3)", "N, M = {list}, [{}]\nN.append({})", "L, M = M, L",
    "L = M = [{0}, {1}*2]\nM[0] = {1}*3",
)  # fmt: skip


def random_lists(random: Random) -> str:
    """Return a script that reads ``x``, a vector of four numbers; its last line is the output."""
    names, lists, lines = ["a", "c"] + ["b"] * (random.random() < 0.2), [], list(START)
    for _ in range(random.randint(3, 8)):
        kind, name, other = random.random(), random.choice(names), random.choice(names)
        if kind < 0.2:
            names.append(random.choice("pqrs"))
            lines.append(f"{names[-1]} = {random.choice(SECOND).format(name)}")
        elif kind < 0.35 or not lists:
            lists.append(random.choice("LM"))
            entry = random.choice((ENTRY[:5], ENTRY))
            entries = [random.choice(entry).format(random.choice(names)) for _ in range(random.randint(1, 3))]
            lines.append(f"{lists[-1]} = [{', '.join(entries)}]")
        elif kind < 0.45:
            new = random.choice("LMN")
            lines.append(random.choice(LISTS).format(new=new, list=random.choice(lists).replace("K", "L"), name=name))
            lists.append(new)
        elif kind < 0.5:
            given = [random.choice(names) for _ in range(3)]
            lines.append(random.choice(NESTED if "K" in lists else NESTED[:1]).format(*given))
            lists.append("K")
        elif kind < 0.65:
            lines.append(random.choice(WRITES).format(name, other=other))
        else:
            chosen = random.choice((STORES, STORES, READS, APPENDS))
            lines.append(random.choice(chosen).format(name, other, list=random.choice(lists).replace("K", "L")))
            names += [one for one in "tu" if lines[-1].startswith(f"{one} =")]
    parts = [f"({random.choice(names)}**2).sum()" for _ in range(2)]
    parts += [f"({name}[{random.choice([0, -1])}]{'[0]' * (name == 'K')}**2).sum()" for name in lists]
    return "\n".join([*lines, f"y = {' + '.join(parts)}", "y"])
