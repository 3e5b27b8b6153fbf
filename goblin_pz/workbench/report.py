"""Results as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .stats import Spread, is_on, spreads
from .tables import Row, aligned

SMALL = 100_000
HEADER = (
    "layout",
    "RLE",
    "members",
    "bytes/member",
    "RSS growth/member",
    "peak RSS growth",
    "events/s",
    "seconds",
    "verified",
)


def size_text(amount: float | None) -> str:
    """Write bytes with a binary unit."""
    if amount is None:
        return "-"
    for unit in ("B", "KiB", "MiB"):
        if abs(amount) < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.2f} GiB"


def _spread_text(spread: Spread | None, form: str) -> str:
    if spread is None:
        return "-"
    text = format(spread.median, form)
    if spread.trials > 1:
        text += f" ({format(spread.low, form)} to {format(spread.high, form)})"
    return text


def result_lines(rows: Sequence[Row]) -> str:
    """Lay out results, a line for every layout and RLE setting; medians over trials."""
    columns = {
        name: spreads(rows, name)
        for name in (
            "allocated_bytes_per_member",
            "rss_bytes_per_member",
            "events_per_second",
            "seconds",
        )
    }
    keys = list(dict.fromkeys((row["layout"], is_on(row["score_rle"])) for row in rows))
    table = [HEADER]
    for key in keys:
        group = [row for row in rows if (row["layout"], is_on(row["score_rle"])) == key]
        peaks = [row["peak_growth_bytes"] for row in group if row["peak_growth_bytes"] is not None]
        table.append(
            (
                key[0],
                "on" if key[1] else "off",
                f"{group[0]['members']:,}",
                _spread_text(columns["allocated_bytes_per_member"].get(key), ".2f"),
                _spread_text(columns["rss_bytes_per_member"].get(key), ".2f"),
                size_text(max(peaks)) if peaks else "-",
                _spread_text(columns["events_per_second"].get(key), ",.0f"),
                _spread_text(columns["seconds"].get(key), ".2f"),
                "yes" if all(is_on(row["verified"]) for row in group) else "NO",
            )
        )
    return aligned(table)


def report_text(
    title: str, facts: dict[str, Any], rows: Sequence[Row], problems: Sequence[str]
) -> str:
    """Write the whole report: what was replayed, the table, and what it does not say."""
    trials = max((row["trial"] for row in rows), default=1)
    parts = [
        f"{title}\n{facts['events']:,} events, {facts['members']:,} members "
        f"({facts['min_member']} to {facts['max_member']})\n",
        result_lines(rows),
        "bytes/member: the set's own count of everything it owns. RSS growth: resident memory of "
        "its\nprocess beyond the idle reading. Seconds: the calls into the set alone.\n",
        "One trial: no spread is known.\n"
        if trials == 1
        else f"{trials} trials in shuffled order: medians, with lowest and highest.\n",
    ]
    if facts["members"] < SMALL:
        parts.append(
            f"Below {SMALL:,} members RSS growth is mostly code pages and scratch, not the set.\n"
        )
    parts += [f"NOT VERIFIED: {problem}\n" for problem in problems]
    return "\n".join(parts)
