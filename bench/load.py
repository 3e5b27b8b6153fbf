"""Load unsorted pairs into a ranking that knows every rank and order.

Claim: at 10 million pairs at least 1.5 times pandas (rank and a copy sorted by score).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common
import numpy as np

from goblin_pz import PackedZSet


def ours(members: np.ndarray, scores: np.ndarray) -> Any:
    return PackedZSet.from_arrays(members, scores)


def with_numpy(members: np.ndarray, scores: np.ndarray) -> Any:
    by_id = np.argsort(members)
    ids, held = members[by_id], scores[by_id]
    order = np.argsort(held, kind="stable")
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ids, held, order, ranks


def with_pandas(members: np.ndarray, scores: np.ndarray) -> Any:
    import pandas as pd

    series = pd.Series(scores, index=members)
    return series, series.rank(method="first"), series.sort_values()


def with_polars(members: np.ndarray, scores: np.ndarray) -> Any:
    import polars as pl

    frame = pl.DataFrame({"id": members, "score": scores}).sort("score", "id")
    return frame.with_row_index("rank")


def with_duckdb(members: np.ndarray, scores: np.ndarray) -> Any:
    import duckdb

    db = duckdb.connect()
    db.register("pairs", {"id": members, "score": scores})
    db.execute(
        "create table z as select id, score, row_number() over (order by score, id) as rank "
        "from pairs order by score, id"
    )
    return db


def with_sorted_list(members: np.ndarray, scores: np.ndarray) -> Any:
    from sortedcontainers import SortedList

    known = dict(zip(members.tolist(), scores.tolist(), strict=True))
    return known, SortedList((s, m) for m, s in known.items())


def ways() -> dict[str, Callable[[np.ndarray, np.ndarray], Any]]:
    """Give every way there is on this machine."""
    found = {common.OURS: ours, "numpy": with_numpy}
    peers = {
        "pandas": with_pandas,
        "polars": with_polars,
        "duckdb": with_duckdb,
        "sortedcontainers": with_sorted_list,
    }
    found.update({name: way for name, way in peers.items() if common.available(name)})
    return found


def main() -> int:
    """Load the final state of the Wikipedia shape, in random order."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    args = parser.parse_args()
    before = common.facts()
    members, scores = common.shuffled(*common.counts(args.members))
    scores = scores.astype(np.float32)
    calls = {name: (lambda way=way: lambda: way(members, scores)) for name, way in ways().items()}
    rows = common.rows_of(common.alternate(calls, args.rounds), len(members))
    common.record("load", args.out, rows, before)
    failed: list[str] = []
    if args.members >= 10_000_000:
        ratio = {row["way"]: row["ours_is_times_faster"] for row in rows}["pandas"]
        common.claim(failed, ratio >= 1.5, f"{ratio:.2f} times pandas, at least 1.5")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
