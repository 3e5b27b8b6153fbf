"""``python -m goblin_pz``: the same command as ``goblin-pz``."""

from __future__ import annotations

from goblin_pz.workbench.cli import main

if __name__ == "__main__":
    main()
