"""Bytes a member, exactly as the sets count them and as the kernel sees them.

Every row is a process of its own that replays the Wikipedia shape (synthetic) into one set and
reads `memory()` and its own resident size after the last call, with nothing else kept. The bounds
asserted at 10 million pages: INT32/FLOAT32 in batches of 1 million 3.0 bytes a member, resident at
most 15 % above what was counted; random 32-bit ids 5.6; random UUIDs 34; INT64/FLOAT64 within 0.2
of INT32/FLOAT32; one by one at 1 million 3.6; a set of 10 members 320 bytes.
"""

from __future__ import annotations

import json
import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import common
import numpy as np

from goblin_pz import PackedZSet

BATCH = 1_000_000
LAYOUTS = [(m, s) for m in ("int32", "int64", "uuid") for s in ("float32", "float64")]
# The published study's matrix, after 1.48 billion increments of 80.8 million members; SOURCES
# beside it says where it is from.
MATRIX = "goblin_pz/workbench/data/wikimedia-rle-matrix-goblin-memory.tsv"


def resident(field: str) -> int:
    """Read one field of this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def as_uuids(ids: np.ndarray) -> np.ndarray:
    """Scramble page ids into 16 random-looking bytes each, one to one."""
    x = ids.astype(np.uint64)
    words = []
    for salt in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03):
        y = (x + np.uint64(1)) * np.uint64(salt)
        y = (y ^ (y >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words.append(y ^ (y >> np.uint64(31)))
    return np.stack(words, axis=1).view("V16").ravel()


def replay(job: dict[str, Any]) -> dict[str, Any]:
    """Replay one job in this process and give its figures."""
    z = PackedZSet(job["member"], job["score"], score_rle=job["rle"])
    events = common.stream(job["pages"], job["ids"])
    z.incrby(as_uuids(events[:1]) if job["member"] == "uuid" else events[:1])  # imports, pages in
    start = resident("RssAnon")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    if job["batch"] == 1:
        incrby = z.incrby
        for at in range(1, len(events), BATCH):
            for member in events[at : at + BATCH].tolist():
                incrby(member)
    else:
        # Rows go through a mapping of our own, for what malloc is given back it may keep.
        width = 16 if job["member"] == "uuid" else np.dtype(job["member"]).itemsize
        mapping = mmap.mmap(-1, job["batch"] * width)
        rows = np.frombuffer(mapping, "V16" if job["member"] == "uuid" else job["member"])
        for at in range(1, len(events), job["batch"]):
            batch = events[at : at + job["batch"]]
            rows[: len(batch)] = as_uuids(batch) if job["member"] == "uuid" else batch
            z.incrby(rows[: len(batch)])
        del rows
        mapping.close()
    after, peak = resident("RssAnon"), resident("VmHWM") - resident("RssFile")
    memory = z.memory()
    n = len(z)
    row = {
        "layout": f"{job['member']}/{job['score']}",
        "ids": job["ids"],
        "rle": "on" if job["rle"] else "off",
        "batch": job["batch"],
        "members": n,
        "allocated": memory["total_allocated_bytes"] / n,
        "live": memory["arena_live_bytes"] / n,
        "resident": (after - start) / n,
        "resident_at_peak": (peak - start) / n,
    }
    z.optimize()
    row["optimized"] = z.memory()["total_allocated_bytes"] / n
    return row


def published() -> dict[tuple[str, str], float]:
    """Give the published allocated bytes a member by layout and score RLE."""
    lines = (common.TOP / MATRIX).read_text(encoding="utf-8").splitlines()
    names = lines[0].split("\t")
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]
    return {
        (r["layout"].replace("-", "/"), r["rle"]): int(r["total_allocated_bytes"])
        / int(r["member_count"])
        for r in rows
    }


def in_process(job: dict[str, Any]) -> dict[str, Any]:
    """Run one job in a new process."""
    argv = [sys.executable, __file__, "--job", json.dumps(job)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def small_sets() -> list[dict[str, Any]]:
    """Give total bytes of sets of a few members, for every layout."""
    rows = []
    for size in (0, 1, 10, 100, 1_000):
        row: dict[str, Any] = {"members": size}
        ids, scores = np.arange(1, size + 1, dtype=np.int32), np.arange(size) % 20 + 1.0
        for member, score in LAYOUTS:
            z = PackedZSet(member, score)
            z.add(as_uuids(ids) if member == "uuid" else ids, scores)
            row[f"{member}/{score}"] = z.memory()["total_allocated_bytes"]
        rows.append(row)
    return rows


def jobs(pages: int) -> list[dict[str, Any]]:
    """List what is measured: all layouts with RLE on and off, other ids, and one by one."""
    base = {"pages": pages, "ids": "dense", "batch": min(BATCH, pages), "rle": True}
    out = [{**base, "member": m, "score": s, "rle": r} for m, s in LAYOUTS for r in (True, False)]
    narrow = {**base, "member": "int32", "score": "float32"}
    out.append({**narrow, "ids": "random"})
    out.append({**narrow, "batch": 1, "pages": max(pages // 10, 1)})
    return out


def bounds(rows: list[dict[str, Any]], small: list[dict[str, Any]], failed: list[str]) -> None:
    """Check the figures that are promised at 10 million pages."""

    def find(layout: str, **want: Any) -> dict[str, Any]:
        wanted = {"layout": layout, "ids": "dense", "rle": "on", **want}
        return next(r for r in rows if all(r[k] == v for k, v in wanted.items()))

    narrow, wide = find("int32/float32", batch=BATCH), find("int64/float64")
    limits = [
        ("dense, in batches", narrow["allocated"], 3.0),
        ("the same, resident above counted", narrow["resident"] / narrow["allocated"], 1.15),
        ("INT64/FLOAT64 above INT32/FLOAT32", wide["allocated"] - narrow["allocated"], 0.2),
        ("random 32-bit ids", find("int32/float32", ids="random")["allocated"], 5.6),
        ("random UUIDs", find("uuid/float32")["allocated"], 34.0),
        ("dense, one by one", find("int32/float32", batch=1)["allocated"], 3.6),
        ("ten members, largest layout", max(list(small[2].values())[1:]), 320),
    ]
    for text, value, limit in limits:
        common.claim(failed, value <= limit, f"{text}: {value:.3f}, at most {limit}")


def main() -> int:
    """Measure every job in turn."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    parser.add_argument("--job", type=json.loads, help="replay one job in this process")
    args = parser.parse_args()
    if args.job is not None:
        print(json.dumps(replay(args.job)))
        return 0
    before = common.facts()
    rows = []
    theirs = published()
    for job in jobs(args.members):
        row = in_process(job)
        dense = job["ids"] == "dense" and job["batch"] > 1
        row["published"] = theirs[row["layout"], row["rle"]] if dense else ""
        rows.append(row)
        print(f"{row['layout']} {row['ids']} rle {row['rle']}: {row['allocated']:.3f}", flush=True)
    small = small_sets()
    common.record("memory", args.out, rows, before)
    common.record("memory_small", args.out, small, before)
    failed: list[str] = []
    if args.members >= 10_000_000:
        bounds(rows, small, failed)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
