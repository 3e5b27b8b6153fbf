"""Memory of a process as the kernel counts it, read by us while the process waits."""

from __future__ import annotations

import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

PROC = Path("/proc")
KIB = 1024


@dataclass(frozen=True)
class Memory:
    """One reading; bytes. None: the system does not say.

    Attributes
    ----------
    rss : int
        Resident in all: anonymous, file and shared memory.
    anon, file, shmem : int or None
        Its parts.
    peak : int or None
        The most that ever was resident (VmHWM).
    """

    rss: int
    anon: int | None
    file: int | None
    shmem: int | None
    peak: int | None

    def as_dict(self) -> dict[str, int | None]:
        """Give the parts by name."""
        return asdict(self)


def read_memory(pid: int, proc: Path = PROC) -> Memory:
    """Read a process's memory.

    Parameters
    ----------
    pid : int
    proc : Path
        Where the process file system is; where there is none, ``ps`` is asked.

    Returns
    -------
    Memory

    Raises
    ------
    ProcessLookupError
        When there is no such process.
    """
    if not (proc / "self").exists():
        return _ask_ps(pid)
    try:
        statm = (proc / str(pid) / "statm").read_text()
        status = (proc / str(pid) / "status").read_text()
    except FileNotFoundError:
        raise ProcessLookupError(f"no process {pid}") from None
    parts: dict[str, int] = {}
    for line in status.splitlines():
        name, _, rest = line.partition(":")
        if rest.endswith(" kB"):
            parts[name] = int(rest[:-3]) * KIB
    return Memory(
        rss=int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        anon=parts.get("RssAnon"),
        file=parts.get("RssFile"),
        shmem=parts.get("RssShmem"),
        peak=parts.get("VmHWM"),
    )


def _ask_ps(pid: int) -> Memory:
    answer = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0 or not answer.stdout.strip():
        raise ProcessLookupError(f"no process {pid}")
    return Memory(int(answer.stdout) * KIB, None, None, None, None)
