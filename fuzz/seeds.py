"""Write the seed corpus from the tests' data: ``python fuzz/seeds.py FOLDER``."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HOME / "tests"), str(HOME / "src")]

from fuzz.lines import VALUE_TEXTS  # noqa: E402
from fuzz.scripts import harms, sources  # noqa: E402
from fuzz.soup import STRANGE, valid_programs  # noqa: E402

PROGRAM, VALUE, SCRIPT = b"\x60", b"\xc0", b"\xe0"


def seeds() -> set[bytes]:
    """Return one input for each program, each value and each script that the tests know."""
    known = {PROGRAM + text.encode("utf-8", "surrogatepass") for text in (*valid_programs(), *STRANGE)}
    known |= {SCRIPT + text.encode("utf-8", "surrogatepass") for text in (*sources(), *harms())}
    return known | {VALUE + text.encode() for text in VALUE_TEXTS}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds():
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
