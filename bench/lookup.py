"""Scores of many members in one call.

Claim: at 10 million members and 1 million asked for, at least 4 times pandas' reindex of a series
whose index is new, as it is after a member came or went: the first question then builds the hash
table of the index. A series that stays as it is keeps that table, beside its columns; it is shown
as well, with nothing claimed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common
import numpy as np

from goblin_pz import PackedZSet


def holders(members: np.ndarray, scores: np.ndarray) -> dict[str, Callable[[np.ndarray], Any]]:
    """Give a function from asked members to scores for every way there is."""
    z = PackedZSet.from_arrays(members, scores)
    order = np.argsort(members)
    ids, held = members[order], scores[order]

    def in_columns(asked: np.ndarray) -> np.ndarray:
        at = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
        return np.where(ids[at] == asked, held[at], np.float32(np.nan))

    ways: dict[str, Callable[[np.ndarray], Any]] = {common.OURS: z.score, "numpy": in_columns}
    if common.available("pandas"):
        import pandas as pd

        kept = pd.Series(scores, index=members)
        kept.reindex(members[:1])  # builds the hash table
        ways["pandas, new index"] = lambda asked: (
            pd.Series(scores, index=pd.Index(members)).reindex(asked).to_numpy()
        )
        ways["pandas, index with its table"] = lambda asked: kept.reindex(asked).to_numpy()
    if common.available("polars"):
        import polars as pl

        frame = pl.DataFrame({"id": members, "score": scores})
        ways["polars"] = lambda asked: (
            pl.DataFrame({"id": asked})
            .join(frame, on="id", how="left", maintain_order="left")["score"]
            .to_numpy()
        )
    if common.available("duckdb"):
        import duckdb

        db = duckdb.connect()
        db.register("pairs", {"id": members, "score": scores})
        db.execute("create table z as select * from pairs")

        def in_duckdb(asked: np.ndarray) -> np.ndarray:
            db.register("asked", {"id": asked, "place": np.arange(len(asked))})
            text = "select score from asked left join z using (id) order by place"
            return np.ma.filled(db.execute(text).fetchnumpy()["score"], np.nan)

        ways["duckdb"] = in_duckdb
    return ways


def main() -> int:
    """Ask for members in random order, one in a hundred unknown."""
    parser = common.options(__doc__.split("\n", 1)[0], 10_000_000)
    parser.add_argument("--asked", type=int, default=1_000_000)
    args = parser.parse_args()
    before = common.facts()
    members, scores = common.shuffled(*common.counts(args.members))
    scores = scores.astype(np.float32)
    held = holders(members, scores)
    rng = np.random.default_rng(common.SEED)

    asked = rng.choice(members, args.asked)
    asked[::100] = -1
    answers = {name: way(asked) for name, way in held.items()}
    for name, answer in answers.items():
        assert np.array_equal(answer, answers[common.OURS], equal_nan=True), name

    calls = {name: (lambda way=way: lambda: way(asked)) for name, way in held.items()}
    rows = common.rows_of(common.alternate(calls, args.rounds), args.asked)
    common.record("lookup", args.out, rows, before, asked=args.asked)
    failed: list[str] = []
    if args.members >= 10_000_000:
        times = {row["way"]: row["ours_is_times_faster"] for row in rows}
        ratio = times["pandas, new index"]
        text = f"{ratio:.2f} times pandas' reindex of a new index, at least 4"
        common.claim(failed, ratio >= 4, text)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
