"""Facts of the machine that a figure depends on; no names of hosts or people."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import goblin_pz

PACKAGES = ("numpy", "matplotlib", "pyarrow", "zstandard", "click", "tqdm")


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def _field(text: str | None, name: str) -> str | None:
    for line in (text or "").splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    return None


def machine_facts() -> dict[str, Any]:
    """Give processor, memory, kernel and settings; None where the system does not say."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _field(_text("/proc/cpuinfo"), "model name") or platform.processor() or None,
        "cores": os.cpu_count(),
        "cores_usable": None if cores is None else len(cores),
        "memory": _field(_text("/proc/meminfo"), "MemTotal"),
        "swap": _field(_text("/proc/meminfo"), "SwapTotal"),
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "transparent_hugepage": _text("/sys/kernel/mm/transparent_hugepage/enabled"),
        "overcommit_memory": _text("/proc/sys/vm/overcommit_memory"),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_before": [round(load, 2) for load in os.getloadavg()],
    }


def version_facts() -> dict[str, Any]:
    """Give versions of this package, its bytes' SHA-256, Python and what it works with."""
    packages: dict[str, str | None] = {}
    for name in PACKAGES:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = None
    return {
        "goblin_pz": goblin_pz.__version__,
        "goblin_pz_sha256": package_sha256(),
        "python": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "byte_order": sys.byteorder,
        "packages": {**packages, "numpy": np.__version__},
    }


def package_sha256() -> str:
    """Hash the package's Python and compiled files, in the order of their names."""
    digest = hashlib.sha256()
    root = Path(goblin_pz.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".so", ".pyd") and path.is_file():
            digest.update(path.relative_to(root).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
