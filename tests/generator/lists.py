"""Random scripts of lists, second names, functions and writes in place, whose oracle is PyTorch."""

from random import Random

from oracles import cases

TABLES = cases("list_forms.toml")

START = TABLES["START"].splitlines()
SECOND = TABLES["SECOND"]
ENTRY = TABLES["ENTRY"]
LISTS = TABLES["LISTS"]
WRITES = TABLES["WRITES"]
STORES = TABLES["STORES"]
NESTED = TABLES["NESTED"]
"""Statements on a list of lists, K; the first makes it."""
READS = TABLES["READS"]
APPENDS = TABLES["APPENDS"]


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
