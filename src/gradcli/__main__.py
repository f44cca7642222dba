"""``gradcli`` and ``python -m gradcli``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code; an interrupt while modules load is quiet too."""
    try:
        from gradcli.cli.app import run  # noqa: PLC0415

        code = run()
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    main()
