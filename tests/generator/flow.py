"""Branches and loops, as recipes: see ``recipes`` for the holes and names in them."""

from __future__ import annotations

TEXT = """
# add to a number
$a = 0
for $i in range({n}):
    $a += {V}[$i]*$i
# put rows
$a = np.zeros(({m}, {n}))
for $i in range({m}):
    $a[$i] = {V}*$i + {U}[$i]
# put entries
$a = torch.empty({m}, {n})
for $i in range({m}):
    for $j in range({n}):
        $a[$i, $j] = {V}[$j]*{U}[$i] + {M}[$i, $j - 1]
# if
if {S} > {c}:
    $a = {V}
else:
    $a = {V}*2
# elif
if {S} > 1:
    $a = {V}
elif {S} > {c}:
    $a = {V}**2
elif {S} < -1:
    $a = {S}*{V}
else:
    $a = {V} + {S}
# if alone
$a = {V}
if sum($a) < {c}:
    $a = $a*{S}
    $a = $a + {V}
# if nested
$a = {V}
if {S} > {c}:
    if all({V} > {c}) or {S} < {c}:
        $a = $a*{S}
    else:
        pass
else:
    $a = -$a
# while with a counter
$k = 0
$a = {V}
while $k < 3:
    $a = $a*0.5 + {V}
    $k += 1
# while with a value
$a = {V}
while $a.norm() < 6:
    $a = $a*1.7
# while with a limit
$a, $k = {S:0.5,2}, 0
while $a < 9 and $k < 4:
    $a = $a**2 + {S:0.4,2}
    $k += 1
# break
$k = 0
$a = {V}
while True:
    $k += 1
    if $k > 3:
        break
    $a = sin($a) + {V}
# break on a value
$a = {S:0.5,1.5}
for $i in range(9):
    $a = $a*{S:1.2,2}
    if $a > 5:
        break
# continue
$a = {V}
for $i in range(4):
    if $i % 2 == 1:
        continue
    $a = $a*{S} + $i
# for
$a = {V}
for $i in range(3):
    $a = cos($a)*{S} + {V}
# for with a number
$a = 1
for $i in range(1, 4):
    $a = $a + {V:-1.5,1.5}**$i/$i
# for downward
$a = {V}
for $i in range({n} - 1, -1, -1):
    $a = $a*0.5 + {V}[$i]*{V}
# for rows
$a = zeros({n})
for $r in {M}:
    $a = $a + $r*{S}
# for entries
$a = 1.0
for $r in {V}:
    $a = $a*($r + {c})
# for a list
$a = {V}
for $r in [{S}, {c}, {S}]:
    $a = $a - $r*{V}
# for matrices
$a = eye({n})
for $r in {T}:
    $a = $a @ ($r.T @ $r)/3
# for in for
$a = 0
for $i in range({m}):
    for $j in range($i + 1):
        $a = $a + {M}[$i, $j % {n}]*{U}[$j]
# for in while
$a, $k = {V}, 0
while $k < 2:
    for $r in {U}:
        $a = $a*$r + {S}
    $k = $k + 1
# squaring
$a = {Q:-1,1}
for $i in range(2):
    $a = $a @ $a/2
# Newton
$a = {S:0.5,2}
for $i in range(4):
    $a = ($a + {S:0.5,2}/$a)/2
# recurrence
$b, $a = {S}, {S}
for $i in range(4):
    $b, $a = $a, $a*{S:-1,1} + $b
# running
$a = {V}*1
for $i in range(1, {n}):
    $a[$i] += $a[$i - 1]*{S}
# growth
$a = {V}[:1]
for $i in range(2):
    $a = cat([$a, {V}*$i])
# rows stacked
$a = {V}
for $r in {M}:
    $a = stack([$a.reshape(-1)[:{n}], $r*{S}])
# if in for
$a = 0
for $i in range({n}):
    if {V}[$i] > {c}:
        $a += {V}[$i]*{S}
    elif $i == 0:
        $a -= {S}
    else:
        $a = $a*2
# for over lengths
$b = {M}
$a = 0
for $i in range(len($b)):
    for $j in range($b.shape[1]):
        $a = $a*0.5 + $b[$i, $j]
# used after the loop
for $i in range({n}):
    $b = {V}[$i]*$i
$a = $b + $i*{V}
# last row
for $r in {M}:
    $b = $r*2
$a = $r*$b
# while in for
$a = {V}
for $i in range(2):
    $k = 0
    while $k <= $i:
        $a = $a*0.5 + {S}
        $k += 1
# break in for in for
$a = {V}
for $i in range(3):
    for $j in range(3):
        if $j > $i:
            break
        $a = $a*0.7 + $j*{V}
# power of a loop
$a = {S:0.5,1.5}*1
for $i in range(1, 4):
    $a **= $i/2
"""


def by_name(text):
    """Return the parts of a text, each under the name in the line before it."""
    parts = (part.partition("\n") for part in text.split("# ")[1:])
    return {name: body.rstrip("\n") for name, _, body in parts}


FLOW = by_name(TEXT)
