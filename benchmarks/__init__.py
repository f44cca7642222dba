"""Every figure that gradcli promises, side by side with its peers: ``python -m benchmarks``.

Why not pyperf: it runs one benchmark after the other, each in worker processes of its own, and compares their means
afterwards. On a machine that other people use too, the minute in which a contestant ran then decides the ratio. Here
all contestants of a figure run in turn within a round, and a ratio is taken round by round, so that what slows the
machine down slows both sides of the ratio.
"""
