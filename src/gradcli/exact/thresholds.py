"""How many digits are right, few or lost: every bound by which an answer judges a number.

Digits are counted as -log10 of the relative error, 16 at most. What an answer may *cost* is said where it is spent.
"""

from __future__ import annotations

from decimal import Decimal

EPS = 2.0**-52
"""The relative distance of two doubles."""
ROUNDING = 64 * EPS
"""Times the sizes of the terms that were added up: what rounding alone may cause."""
VISIBLE = 1e-9
"""Relative error, within what rounding explains, from which an answer says that digits are lost."""
WRONG = 1e-6
"""Relative error of a derivative from which it is wrong."""
ALL = 16.0
"""Right digits of a double that is the nearest to the true number."""
RIGHT = 15.0
"""Right digits from which a formula of the user's is right."""
SURE = 12.0
"""Right digits of both routes with which they agree, however much more rounding than was reckoned lies between them."""
TOLD = 9.0
"""Right digits below which an answer says how many there are."""
FEWEST = 6.0
"""Right digits below which a printed number is wrong."""
SAME = Decimal(10) ** -20
"""Relative difference of two settings of digits that agree; also how small, beside its terms, a number is that is 0."""
NOTHING = Decimal("1e-18")
"""Relative distance that is the same number: the truth is known to so many digits."""
MEASURED = Decimal("1e-12")
"""Relative distance of a number that was computed elsewhere in double precision."""
CLOSE = Decimal(10) ** -6
"""``WRONG`` among decimals."""
