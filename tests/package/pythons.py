"""The Pythons of this machine that goblin_pz supports, and which NumPy each is to be tried with."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

SUPPORTED = [(3, 10), (3, 11), (3, 12), (3, 13)]
OLDEST_NUMPY = "numpy==1.26.*"
LAST_WITH_OLDEST_NUMPY = (3, 12)


def _version(python: str) -> tuple[int, int] | None:
    """Ask an interpreter for its version; None when it cannot make environments."""
    code = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = done.stdout.split(".")
    return int(major), int(minor)


@cache
def found() -> dict[tuple[int, int], str]:
    """Give one interpreter a version: this one, those of pyenv, those on the path."""
    candidates = [sys.executable]
    for folder in sorted(Path.home().glob(".pyenv/versions/3.*")):
        if re.fullmatch(r"3\.\d+\.\d+", folder.name):
            candidates.append(str(folder / "bin" / "python"))
    for major, minor in SUPPORTED:
        if python := shutil.which(f"python{major}.{minor}"):
            candidates.append(python)
    by_version: dict[tuple[int, int], str] = {}
    for python in candidates:
        version = _version(python)
        if version in SUPPORTED:
            by_version.setdefault(version, python)
    return by_version


def cases() -> list[tuple[str, str, str]]:
    """Give (name, interpreter, NumPy requirement) for every combination to be tried."""
    out = []
    for version, python in sorted(found().items()):
        name = "py{}.{}".format(*version)
        out.append((name, python, "numpy"))
        if version <= LAST_WITH_OLDEST_NUMPY:
            out.append((f"{name}-numpy1.26", python, OLDEST_NUMPY))
    return out
