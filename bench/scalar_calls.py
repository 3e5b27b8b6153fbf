"""One member a call, from Python.

Claim: a score within 3 times of what dict takes; rank and update beside SortedDict's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import common
import numpy as np
from sortedcontainers import SortedDict

from goblin_pz import PackedZSet


class RankedDict:
    """A dict of scores and a SortedDict by (score, member), kept in step."""

    def __init__(self, members: list[int], scores: list[float]) -> None:
        self.known = dict(zip(members, scores, strict=True))
        self.order = SortedDict.fromkeys((s, m) for m, s in self.known.items())

    def rank(self, member: int) -> int:
        return self.order.index((self.known[member], member))

    def incrby(self, member: int) -> float:
        old = self.known[member]
        del self.order[old, member]
        self.known[member] = old + 1.0
        self.order[old + 1.0, member] = None
        return old + 1.0


def every(call: Callable[[int], Any], members: list[int]) -> Callable[[], None]:
    """Give a call that does `call` for each member, with the loop's cost in every way alike."""

    def run() -> None:
        for member in members:
            call(member)

    return run


def main() -> int:
    """Time each kind of call by itself."""
    parser = common.options(__doc__.split("\n", 1)[0], 1_000_000)
    parser.add_argument("--calls", type=int, default=100_000)
    args = parser.parse_args()
    before = common.facts()
    members, scores = common.shuffled(*common.counts(args.members))
    z = PackedZSet.from_arrays(members, scores)
    peer = RankedDict(members.tolist(), scores.tolist())
    asked = np.random.default_rng(common.SEED).choice(members, args.calls).tolist()
    kinds = {
        "score": {common.OURS: z.score, "peer": peer.known.get},
        "z[m]": {common.OURS: z.__getitem__, "peer": peer.known.__getitem__},
        "rank": {common.OURS: z.rank, "peer": peer.rank},
        "incrby": {common.OURS: z.incrby, "peer": peer.incrby},
    }
    peers = {"score": "dict.get", "z[m]": "dict", "rank": "SortedDict", "incrby": "SortedDict"}
    rows = []
    for kind, calls in kinds.items():
        ways = {n: (lambda c=c: every(c, asked)) for n, c in calls.items()}
        times = common.alternate(ways, args.rounds)
        ratio, low, high = common.spread(
            [ours / theirs for ours, theirs in zip(times[common.OURS], times["peer"], strict=True)]
        )
        rows.append(
            {
                "call": kind,
                "ours_ns": common.spread(times[common.OURS])[0] / args.calls * 1e9,
                "peer": peers[kind],
                "peer_ns": common.spread(times["peer"])[0] / args.calls * 1e9,
                "ours_takes_times": ratio,
                "ratio_low": low,
                "ratio_high": high,
            }
        )
    assert z.range()[0].tolist() == [member for _, member in peer.order]
    common.record("scalar_calls", args.out, rows, before, members=args.members)
    failed: list[str] = []
    if args.members >= 1_000_000:
        ratio = rows[0]["ours_takes_times"]
        common.claim(failed, ratio <= 3, f"a score takes {ratio:.2f} times dict.get, at most 3")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
