"""The kinds of assignments, as recipes: see ``recipes`` for the holes and names in them.

``$x`` is a vector among the inputs, which gets a new value.
"""

from __future__ import annotations

from generator.flow import FLOW, by_name

TEXT = """
# assign
$a = {E}
# add
$a = {V}*1
$a += {S}
# sub
$a = {M}*1
$a -= {V}
# mul
$a = {V} + 0
$a *= {V}
# div
$a = {M} + {S}
$a /= {V:0.3,2}
# power
$a = {V:0.3,2}*1
$a **= {V:-2,2}
# remainder
$a = {V}*3
$a %= {S:0.5,2}
# floor
$b = {V}*3
$b //= {S:0.5,2}
$a = $b*{V}
# product
$a = {Q}*1
$a @= {Q}
# rebind
$x = $x*{c} + {V}
$a = $x**2
# unpack
$b, $c = {V}, {S}
$a = $b*$c
# unpack an array
$b, $c = [{S}, {S}]
$a = $b - $c*{V}
# unpack rows
$b, $c = {T}
$a = $b*$c
# unpack a pair
$b, $i = sort({V})
$a = $b*{V}[$i]
# unpack into a list
[$b, $c] = {V}, {V}
$a = $b - $c/2
# swap
$b, $c = {V}, {V}
$b, $c = $c, $b
$a = $b/2 - $c**2
# semicolons
$b = {V}; $c = {S}; $a = $b*$c
# put
$a = zeros({n})
$a[0] = {S}
$a[1:] = {S}
# put and change
$a = zeros({n})
$a[0] = {S}
$a[1:] += {S}
$a[-1] -= {S}
$a[:-1] /= {S:0.4,2}
# put at a list
$a = {V}*1
$a[[1, 0]] = [{S}, {S}]
$a[[0]] *= {S}
# put at a mask
$b = {V} + 0
$a = $b.clone()
$a[$b > {c}] = {S}
$a[$b < {c}] *= 2
# put a column
$a = {M}*1
$a[:, 0] = {U}
$a[-1] *= {V}
$a[0, 1] **= 2
# put at dots
$a = {T} + 0
$a[..., 0] = {S}
$a[0, ...] *= {S}
$a[1, None, 0] = {V}
# put with a step
$a = {V}.clone()
$a[::2] = {S}
$a[-2] += {S}
# put twice
$a = {V}*1
$a[0] = $a[1]*{S}
$a[1] = $a[0]**2
$a[0] += $a[1]
# put reversed
$a = {V}*1
$a[:] = $a[::-1]*{S}
$a[:2] = $a[[1, 0]]
# clone
$b = {V}*1
$a = $b.clone()
$b[0] = {S}
$a = $a + $b
# part and write
$b = {V}*1
$c = $b[1:]*2
$b[0] = {S}
$b[1] = {S}
$a = sum($c) + $b
# copy and write
$b = {V}*1
$c = $b[[0, 1]]
$b[0] = {S}
$a = [$c[0], $c[1], $b[0], $b[1]]
# view forgotten
$b = {V}*1
$c = $b[0]
$c = $c*2
$b[0] = {S}
$a = $b*$c
# write then part
$b = {M}*1
$b[0] = {V}
$c = $b[:, 0]
$a = $c[:, None]*$b.T[0, 0]
# mask kept
$m = {V} > {c}
$a = where($m, {V}, {S})*{V} - $m*{S}
# mask written
$m = {V} > {c}
$a = {V}*1
$a[$m] = 0
$a[~$m] *= {S}
# written in two
$a = zeros({m}, {n})
$a[0] = {V}
$a[1:] = {V}*2
$a[:, -1] += {U}
$a[0, 0] = $a[1, 1]*$a[0, 1]
# same name
$a = {V}
$a = $a*$a
$a = $a - $a/2
# sort and indices
$b = sort({V}, descending=True)
$a = $b.values*{V}[$b.indices] + $b[0]
# max and place
$b, $i = torch.max({M}, dim=1)
$a = $b*{V}[$i]
# choices
$a = {V} if {S} > {c} else {V}*2 if {S} < {c} else {V}[::-1]
# sum used twice
$b = {V} + {V}
$a = {anywhere}({c} - $b)*{anywhere}(-($b - {V}))
# sum taken away
$b = ({V} + {V})*-1
$a = {anywhere}($b - {c}) - {c}*($b + {anywhere}({V} - ($b + {V})))
# number taken from a sum of sums
$b = {S} - ({S} + {c})
$a = {anywhere}({c} - ($b + {V})) + $b
# constants
$b = {V}.detach()
$c = linspace(0, 1, {n})
$a = $b*{V} + $c
"""

STATEMENTS = by_name(TEXT) | FLOW
"""The text of each kind of statement by its name."""
