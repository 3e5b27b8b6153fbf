"""Read everything in order of (score, member).

Claim: at 10 million members at least 50 times SortedDict, read to the same result: a column of
members and one of scores. Its keys as a list are shown too: that copies pointers to pairs which
stay Python objects, so it is the least that any walk of it costs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common
import numpy as np
from sortedcontainers import SortedDict

from goblin_pz import PackedZSet


def holders(members: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Give a call that reads everything for every way there is."""
    z = PackedZSet.from_arrays(members, scores)
    out = (np.empty(len(z), members.dtype), np.empty(len(z), scores.dtype))
    keys = zip(scores.tolist(), members.tolist(), strict=True)
    ordered = SortedDict.fromkeys(keys)

    def into_columns() -> tuple[np.ndarray, np.ndarray]:
        return (
            np.array([member for _, member in ordered], members.dtype),
            np.array([score for score, _ in ordered], scores.dtype),
        )

    ways: dict[str, Callable[[], Any]] = {
        common.OURS: z.range,
        "goblin_pz into given arrays": lambda: z.range(out=out),
        "SortedDict into columns": into_columns,
        "SortedDict, list of its keys": lambda: list(ordered),
        "numpy lexsort of unsorted columns": lambda: members[np.lexsort((members, scores))],
    }
    if common.available("pandas"):
        import pandas as pd

        series = pd.Series(scores, index=members)
        ways["pandas sort_values of unsorted series"] = series.sort_values
    return ways


def main() -> int:
    """Check that the orders agree, then time."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    args = parser.parse_args()
    before = common.facts()
    members, scores = common.shuffled(*common.counts(args.members))
    held = holders(members, scores.astype(np.float32))
    ours, theirs = held[common.OURS](), held["SortedDict into columns"]()
    assert np.array_equal(ours[0], theirs[0])
    assert np.array_equal(ours[1], theirs[1])
    del ours, theirs
    calls = {name: (lambda way=way: way) for name, way in held.items()}
    rows = common.rows_of(common.alternate(calls, args.rounds), len(members))
    common.record("ordered_read", args.out, rows, before)
    failed: list[str] = []
    if args.members >= 10_000_000:
        times = {row["way"]: row["ours_is_times_faster"] for row in rows}
        ratio = times["SortedDict into columns"]
        common.claim(failed, ratio >= 50, f"{ratio:.1f} times SortedDict into columns, at least 50")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
