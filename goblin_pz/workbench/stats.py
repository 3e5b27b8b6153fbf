"""From samples to results: what a run used, a member and a second."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .tables import Row

SAMPLE_COLUMNS = (
    "kind",
    "events",
    "members",
    "seconds",
    "cpu_seconds",
    "allocated_bytes",
    "rss_bytes",
    "anon_bytes",
    "file_bytes",
    "shmem_bytes",
    "peak_bytes",
)
RESULT_COLUMNS = (
    "run",
    "layout",
    "score_rle",
    "trial",
    "events",
    "members",
    "seconds",
    "events_per_second",
    "cpu_seconds",
    "allocated_bytes",
    "allocated_bytes_per_member",
    "rss_growth_bytes",
    "rss_bytes_per_member",
    "peak_growth_bytes",
    "feeding_seconds",
    "verification_seconds",
    "verified",
)
KINDS = ("idle", "sample", "final")


def growth(samples: Sequence[Row], column: str = "rss_bytes") -> list[int | None]:
    """Give a reading's growth since the idle one, a sample each; None where one is missing."""
    idle = samples[0][column]
    return [
        None if idle is None or sample[column] is None else int(sample[column]) - int(idle)
        for sample in samples
    ]


def per_member(amount: int | None, members: int) -> float | None:
    """Divide bytes by members; None when there are none."""
    return None if amount is None or members == 0 else amount / members


def result_row(run: dict[str, Any], samples: Sequence[Row]) -> Row:
    """Make one row of results.

    Parameters
    ----------
    run : dict
        Of the manifest: name, layout, score_rle, trial, feeding and verification seconds, verified.
    samples : sequence of dict
        The first is the idle reading, the last the final one.

    Returns
    -------
    dict
        With the keys `RESULT_COLUMNS`.
    """
    idle, final = samples[0], samples[-1]
    if idle["kind"] != "idle" or final["kind"] != "final":
        raise ValueError(f"{run['name']}: samples lack the idle or the final reading")
    members, seconds = int(final["members"]), float(final["seconds"])
    rss_growth = growth(samples)[-1]
    peak = None if final["peak_bytes"] is None else final["peak_bytes"] - idle["rss_bytes"]
    return {
        "run": run["name"],
        "layout": run["layout"],
        "score_rle": run["score_rle"],
        "trial": run["trial"],
        "events": final["events"],
        "members": members,
        "seconds": seconds,
        "events_per_second": final["events"] / seconds if seconds else None,
        "cpu_seconds": final["cpu_seconds"],
        "allocated_bytes": final["allocated_bytes"],
        "allocated_bytes_per_member": per_member(final["allocated_bytes"], members),
        "rss_growth_bytes": rss_growth,
        "rss_bytes_per_member": per_member(rss_growth, members),
        "peak_growth_bytes": peak,
        "feeding_seconds": run["feeding_seconds"],
        "verification_seconds": run["verification_seconds"],
        "verified": run["verified"],
    }


@dataclass(frozen=True)
class Spread:
    """A figure over repeated trials."""

    median: float
    low: float
    high: float
    trials: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarize at least one value."""
        return cls(statistics.median(values), min(values), max(values), len(values))


def spreads(rows: Sequence[Row], column: str) -> dict[tuple[str, bool], Spread]:
    """Summarize a column over the trials of every layout and RLE setting, in order of rows."""
    groups: dict[tuple[str, bool], list[float]] = {}
    for row in rows:
        if row[column] is not None:
            groups.setdefault((row["layout"], is_on(row["score_rle"])), []).append(row[column])
    return {key: Spread.of(values) for key, values in groups.items()}


def is_on(flag: object) -> bool:
    """Read a flag from a result or from its table."""
    return flag is True or flag == "on"
