"""The factors of elimination, ranks, distances of rows, and layers with a bound on their length."""

from records.record import record

record("matrix_rank", recipes=["{f}([[{S:0.5,1} + 2, {S}], [0.0, {S:0.5,1}]])*{S}"])
