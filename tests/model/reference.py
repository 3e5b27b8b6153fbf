"""A sorted set in plain Python: a dict and a sorted list, with the rules of `PackedZSet`.

It is the oracle of the state machines, so it is written to be read: every rule of docs/decisions.md
that concerns values stands here once, in the plainest form. Members are ints or 16-byte strings,
scores Python floats that are exactly what the packed set stores.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

Member = int | bytes
Pair = tuple[Member, float]


class Refused(Exception):  # noqa: N818 (it is an answer, not an error)
    """A call that must raise `kind` (ValueError or OverflowError) naming row `index`."""

    def __init__(self, kind: type[Exception], index: int) -> None:
        super().__init__(kind.__name__, index)
        self.kind = kind
        self.index = index


class Reference:
    """The model of one set; `narrow` says whether scores are float32."""

    def __init__(self, narrow: bool, pairs: Iterable[Pair] = ()) -> None:
        self.narrow = narrow
        self.scores: dict[Member, float] = dict(pairs)
        self.order: list[tuple[float, Member]] = sorted((s, m) for m, s in self.scores.items())

    # ---- values ----
    def stored(self, value: float, row: int) -> float:
        """Give what is stored for a value: narrowed once, -0.0 folded, NaN and overflow refused."""
        if math.isnan(value):
            raise Refused(ValueError, row)
        if self.narrow:
            try:
                (value,) = struct.unpack("<f", struct.pack("<f", value))
            except OverflowError:
                raise Refused(OverflowError, row) from None
        return value + 0.0  # -0.0 + 0.0 is 0.0

    def _put(self, member: Member, score: float) -> None:
        self._drop(member)
        self.scores[member] = score
        insort(self.order, (score, member))

    def _drop(self, member: Member) -> bool:
        if member not in self.scores:
            return False
        del self.order[bisect_left(self.order, (self.scores.pop(member), member))]
        return True

    # ---- changes ----
    def add(
        self,
        pairs: Sequence[Pair],
        nx: bool = False,
        xx: bool = False,
        gt: bool = False,
        lt: bool = False,
    ) -> tuple[int, int]:
        """Set scores row by row; give how many rows added and how many changed a score."""
        rows = [(m, self.stored(s, i)) for i, (m, s) in enumerate(pairs)]
        added = updated = 0
        for member, score in rows:
            old = self.scores.get(member)
            if old is None:
                if not xx:
                    self._put(member, score)
                    added += 1
            elif not nx and score != old and not (gt and score < old) and not (lt and score > old):
                self._put(member, score)
                updated += 1
        return added, updated

    def incr(self, pairs: Sequence[Pair]) -> list[float]:
        """Add amounts row by row; give the score after each row."""
        after: dict[Member, float] = {}
        sums = []
        for row, (member, amount) in enumerate(pairs):
            old = after.get(member, self.scores.get(member, 0.0))
            after[member] = self.stored(old + amount, row)  # narrowed once, after the sum
            sums.append(after[member])
        for member, score in after.items():
            self._put(member, score)
        return sums

    def remove(self, members: Iterable[Member]) -> int:
        return sum(self._drop(m) for m in members)

    def remove_pairs(self, pairs: Sequence[Pair]) -> int:
        return self.remove([m for m, _ in pairs])

    def pop(self, count: int, highest: bool) -> list[Pair]:
        gone = self.range(0, count, highest)
        self.remove_pairs(gone)
        return gone

    # ---- questions ----
    def range(self, start: int, stop: int | None, reverse: bool = False) -> list[Pair]:
        entries = self.order[::-1] if reverse else self.order
        return [(m, s) for s, m in entries[start:stop]]

    def range_by_score(
        self,
        low: float,
        high: float,
        low_open: bool = False,
        high_open: bool = False,
        reverse: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Pair]:
        found = [
            (m, s)
            for s, m in self.order
            if (s > low if low_open else s >= low) and (s < high if high_open else s <= high)
        ]
        if reverse:
            found.reverse()
        return found[offset : None if limit is None else offset + limit]

    def rank(self, member: Member, reverse: bool = False, method: str = "ordinal") -> float | None:
        score = self.scores.get(member)
        if score is None:
            return None
        entries = [(-s if reverse else s, m) for s, m in self.order]
        mine = -score if reverse else score
        lower = [s for s, _ in entries if s < mine]
        equal = [m for s, m in entries if s == mine]
        at = equal.index(member)
        first, last = len(lower), len(lower) + len(equal) - 1
        return {
            "ordinal": first + (len(equal) - 1 - at if reverse else at),
            "min": first,
            "max": last,
            "dense": len(set(lower)),
            "average": (first + last) / 2,
        }[method]

    # ---- several sets ----
    def combine(
        self,
        op: str,
        others: Sequence[Reference],
        weights: Sequence[float] | None = None,
        aggregate: str = "sum",
    ) -> Reference:
        """Give the union, intersection or difference, in argument order, narrowed once."""
        sets = [self, *others]
        if op == "difference":
            left = {m: s for m, s in self.scores.items() if all(m not in o.scores for o in others)}
            return Reference(self.narrow, left.items())
        out: dict[Member, float] = {}
        for z, weight in zip(sets, weights or [1.0] * len(sets), strict=True):
            for member, score in z.scores.items():
                value = _defined(score * weight)
                if member not in out:
                    out[member] = value
                elif aggregate == "sum":
                    out[member] = _defined(out[member] + value)
                else:
                    out[member] = (min if aggregate == "min" else max)(out[member], value)
        if op == "intersection":
            out = {m: s for m, s in out.items() if all(m in z.scores for z in sets)}
        return Reference(self.narrow, [(m, self.stored(s, 0)) for m, s in out.items()])


def _defined(value: float) -> float:
    """Infinity times zero, and infinity less infinity, count as zero, as in Redis."""
    return 0.0 if math.isnan(value) else value
