"""The type stubs from a user's side."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import goblin_pz


def test_typed_program(tmp_path: Path) -> None:
    """All of typed.py checks, and each of its mistakes is seen (an unused ignore is an error)."""
    source = Path(__file__).with_name("typed.py")
    copy = tmp_path / "typed_program.py"  # on its own, away from the project's configuration
    copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", copy.name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(goblin_pz.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
