"""What every bench shares: options, machine facts, alternated timing, ratios, recorded results.

A bench names several ways of doing the same thing. The ways run in turn, in a new order each
round, so that a slow spell of the machine hits all of them. A ratio is taken within each round and
given as the median over the rounds, with the smallest and the largest beside it.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

import goblin_pz

TOP = Path(__file__).resolve().parents[1]
CACHE = TOP / "build" / "bench"
SEED = 20260101
PEERS = ("numpy", "pandas", "polars", "duckdb", "sortedcontainers")
OURS = "goblin_pz"

Timings = dict[str, list[float]]
# A way prepares one round (not timed) and gives the call to be timed.
Way = Callable[[], Callable[[], Any]]


def options(description: str, members: int, rounds: int = 10) -> argparse.ArgumentParser:
    """Make the parser that every bench starts from."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--members", type=int, default=members, help=f"default {members:,}")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"default {rounds}")
    parser.add_argument(
        "--out", type=Path, default=TOP / "bench" / "results" / "local", help="folder for results"
    )
    return parser


def _settings(words: Sequence[str]) -> list[str]:
    """Leave out where the results go: it is not a condition of the run."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word.split("=")[0] != "--out":
            kept.append(word)
        skip = word == "--out"
    return kept


def facts() -> dict[str, Any]:
    """Give what a reader must know of the machine and the software to judge a figure."""
    cpu = platform.processor()
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    versions = {OURS: goblin_pz.__version__}
    for name in PEERS:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "absent"
    return {
        "utc": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "governor": governor.read_text(encoding="utf-8").strip()
        if governor.exists()
        else "unknown",
        "load_before": [round(x, 2) for x in os.getloadavg()],
        "python": platform.python_version(),
        "compiler": platform.python_compiler(),
        "versions": versions,
        "argv": [Path(sys.argv[0]).name, *_settings(sys.argv[1:])],
    }


def alternate(ways: Mapping[str, Way], rounds: int) -> Timings:
    """Time every way once a round, in a shuffled order; give seconds by way."""
    times: Timings = {name: [] for name in ways}
    order = random.Random(SEED)
    for _ in range(rounds):
        for name in order.sample(list(ways), len(ways)):
            call = ways[name]()
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            result = call()
            times[name].append(time.perf_counter() - start)
            gc.enable()
            del result, call
    return times


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Give median, smallest and largest."""
    return statistics.median(values), min(values), max(values)


def rows_of(times: Timings, work: int, ours: str = OURS) -> list[dict[str, Any]]:
    """Turn timings into rows: rate in million items a second, and ours against each way."""
    rows = []
    for name, seconds in times.items():
        middle, best, worst = spread(seconds)
        ratio, low, high = spread([s / o for s, o in zip(seconds, times[ours], strict=True)])
        rows.append(
            {
                "way": name,
                "million_per_s": work / middle / 1e6,
                "slowest": work / worst / 1e6,
                "fastest": work / best / 1e6,
                "ours_is_times_faster": ratio,
                "ratio_low": low,
                "ratio_high": high,
                "rounds": len(seconds),
            }
        )
    return rows


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Lay rows out as text; every row has the keys of the first."""
    names = list(rows[0])
    cells = [names, *([_text(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def record(
    name: str, out: Path, rows: Sequence[Mapping[str, Any]], before: Mapping[str, Any], **more: Any
) -> None:
    """Print the rows and write them as JSON (with the facts) and TSV."""
    print(f"== {name}  ({before['cpu']}, {before['cores']} cores, load {before['load_before']})")
    print(table(rows))
    out.mkdir(parents=True, exist_ok=True)
    document = {"bench": name, "facts": before, **more, "rows": list(rows)}
    (out / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    lines = ["\t".join(rows[0]), *("\t".join(str(v) for v in row.values()) for row in rows)]
    (out / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def claim(failed: list[str], holds: bool, text: str) -> None:
    """Print whether a claim holds and remember it when it does not."""
    print(f"{'holds' if holds else 'BROKEN'}: {text}")
    if not holds:
        failed.append(text)


def available(name: str) -> bool:
    """Tell whether an optional peer is installed; the table then says when it is not."""
    return importlib.util.find_spec(name) is not None


# ---- the synthetic workload -------------------------------------------------------------------
def stream(pages: int, ids: str = "dense") -> np.ndarray:
    """Give the Wikipedia shape's page ids in time order, mapped from a file (int32, read-only).

    The file is made by another process, whose time and memory so stay out of every figure, and is
    kept under build/bench.
    """
    path = CACHE / f"wikipedia-{ids}-{pages}-{SEED}.i32"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        script = Path(__file__).with_name("stream.py")
        argv = [sys.executable, str(script), str(pages), ids, str(SEED), str(path)]
        subprocess.run(argv, check=True)
    return np.memmap(path, dtype=np.int32, mode="r")


def counts(pages: int, ids: str = "dense") -> tuple[np.ndarray, np.ndarray]:
    """Give (page ids ascending, float64 counts) at the end of the stream."""
    path = CACHE / f"wikipedia-{ids}-{pages}-{SEED}-counts.npy"
    if not path.exists():
        found, number = np.unique(stream(pages, ids), return_counts=True)
        np.save(path, np.stack([found.astype(np.float64), number.astype(np.float64)]))
    members, scores = np.load(path)
    return members.astype(np.int32), scores


def shuffled(*columns: np.ndarray) -> list[np.ndarray]:
    """Give the columns in one random order."""
    order = np.random.default_rng(SEED).permutation(len(columns[0]))
    return [np.ascontiguousarray(column[order]) for column in columns]
