"""Traces from git: one increment for every file that a commit changed, oldest commit first.

Files are numbered from 0 by first appearance. Merges carry no files, renames are new files, as
``git log --reverse --no-renames --name-only`` lists them. The history is that of one commit,
named when the trace is made, so that it reads the same each time.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .blocks import Block, Operation, Skipped, Trace, TraceError, rebatch

MARK = b"\x01"  # begins a commit's line; git quotes file names that hold it
PIECE = 1 << 16


def _git(path: Path, *arguments: str) -> list[str]:
    return ["git", "-C", str(path), "-c", "core.quotePath=true", *arguments]


def head_commit(path: Path) -> str | None:
    """Give the commit checked out in a repository, or None when there is none or no git."""
    try:
        answer = subprocess.run(
            _git(path, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


@dataclass
class GitTrace(Trace):
    """A repository's history as increments of file numbers."""

    path: Path = field(default=Path(), kw_only=True)
    commit: str = field(default="HEAD", kw_only=True)

    def inputs(self) -> list[dict[str, Any]]:
        """Describe the commit that names the whole history."""
        return [{"name": f"git:{self.path.resolve().name}", "commit": self.commit}]

    def blocks(self, rows: int) -> Iterator[Block]:
        """Read the history; see `Trace.blocks`. Costs git's own time and a dict of paths."""
        self.skipped = Skipped()
        yield from rebatch(self._pieces(), rows)

    def _pieces(self) -> Iterator[Block]:
        command = _git(
            self.path,
            "log",
            "--reverse",
            "--no-renames",
            "--name-only",
            "--format=%x01",
            self.commit,
            "--",
        )
        numbers: dict[bytes, int] = {}
        events: list[int] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stdout:
                name = line.rstrip(b"\n")
                if name and not name.startswith(MARK):
                    events.append(numbers.setdefault(name, len(numbers)))
                    if len(events) == PIECE:
                        yield Block(np.array(events, np.int64), None)
                        events.clear()
            complaint = process.stderr.read().decode(errors="replace").strip()
        if process.returncode != 0:
            raise TraceError(f"git log of {self.path.name}: {complaint}")
        if events:
            yield Block(np.array(events, np.int64), None)


def git_trace(path: Path) -> GitTrace:
    """Make a trace of the history of the commit checked out at a path.

    Raises
    ------
    TraceError
        When there is no git, no repository, or no commit yet.
    """
    commit = head_commit(path)
    if commit is None:
        raise TraceError(f"git:{path}: no git history there")
    return GitTrace(
        Operation.ZINCRBY, f"git history of {path.resolve().name}", path=path, commit=commit
    )
