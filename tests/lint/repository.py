"""The files of the repository, for the tests that read them."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TEXT = {
    ".c",
    ".h",
    ".def",
    ".inc",
    ".py",
    ".pyi",
    ".md",
    ".toml",
    ".in",
    ".sh",
    ".tsv",
    ".json",
    "",
}


@cache
def files() -> tuple[Path, ...]:
    """List every file that git tracks, or would track, relative to the top."""
    argv = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=True)
    names = [Path(name) for name in done.stdout.splitlines()]
    return tuple(name for name in names if (TOP / name).is_file())


def matching(folder: str, *suffixes: str) -> list[Path]:
    """List the files under a folder that have one of the suffixes."""
    return [p for p in files() if p.parts[0] == folder and p.name.endswith(suffixes)]


def read(path: Path) -> str:
    return (TOP / path).read_text(encoding="utf-8")
