"""Ranks of many members in one call.

Claim: at 10 million members and 1 million asked for, at least 2 times pandas' rank and reindex. A
ranking that never changes may keep its ranks: the reindex alone is shown as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common
import numpy as np

from goblin_pz import PackedZSet


def holders(members: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[np.ndarray], Any]]:
    """Give a function from asked members to ranks for every way there is."""
    z = PackedZSet.from_arrays(members, scores)
    order = np.argsort(members)
    ids, held = members[order], scores[order]

    def in_columns(asked: np.ndarray) -> np.ndarray:
        by_score = np.argsort(held, kind="stable")
        ranks = np.empty(len(held), np.int64)
        ranks[by_score] = np.arange(len(held))
        return ranks[np.searchsorted(ids, asked)]

    ways: dict[str, Callable[[np.ndarray], Any]] = {common.OURS: z.rank, "numpy": in_columns}
    if common.available("pandas"):
        import pandas as pd

        # Ascending ids, so that equal scores rank by id as ours do.
        series = pd.Series(held, index=ids)
        kept = series.rank(method="first")
        kept.reindex(ids[:1])
        ways["pandas rank and reindex"] = lambda asked: (
            series.rank(method="first").reindex(asked).to_numpy() - 1
        )
        ways["pandas reindex of kept ranks"] = lambda asked: kept.reindex(asked).to_numpy() - 1
    return ways


def main() -> int:
    """Ask for members in random order."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    parser.add_argument("--asked", type=int, default=1_000_000)
    args = parser.parse_args()
    before = common.facts()
    members, scores = common.shuffled(*common.counts(args.members))
    held = holders(members, scores.astype(np.float32))
    asked = np.random.default_rng(common.SEED).choice(members, args.asked)
    answers = {name: way(asked) for name, way in held.items()}
    for name, answer in answers.items():
        assert np.array_equal(answer, answers[common.OURS]), name

    calls = {name: (lambda way=way: lambda: way(asked)) for name, way in held.items()}
    rows = common.rows_of(common.alternate(calls, args.rounds), args.asked)
    common.record("rank", args.out, rows, before, asked=args.asked)
    failed: list[str] = []
    if args.members >= 10_000_000:
        times = {row["way"]: row["ours_is_times_faster"] for row in rows}
        ratio = times["pandas rank and reindex"]
        common.claim(failed, ratio >= 2, f"{ratio:.2f} times pandas' rank and reindex, at least 2")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
