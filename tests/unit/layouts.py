"""The six layouts as the tests see them, and small helpers around them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from goblin_pz import PackedZSet


@dataclass(frozen=True)
class Layout:
    """One pair of member and score types. Members are named by small integers."""

    member: str
    score: str

    @property
    def name(self) -> str:
        return f"{self.member}_{self.score}".upper()

    @property
    def member_dtype(self) -> np.dtype[Any]:
        return np.dtype("V16" if self.member == "uuid" else self.member)

    @property
    def score_dtype(self) -> np.dtype[Any]:
        return np.dtype(self.score)

    def new(self, **options: Any) -> PackedZSet:
        return PackedZSet(self.member, self.score, **options)

    def ids(self, numbers: Iterable[int]) -> Any:
        """Members as an array of the layout's dtype; the order of the numbers is kept."""
        plain = np.array(list(numbers), dtype=np.int64)
        if self.member != "uuid":
            return plain.astype(self.member)
        rows = np.zeros((len(plain), 16), np.uint8)
        rows[:, :8] = (plain.view(np.uint64) ^ np.uint64(1 << 63)).astype(">u8")[:, None].view("u1")
        return rows.view("V16").reshape(-1)

    def one(self, number: int) -> Any:
        """A member as a Python object."""
        if self.member != "uuid":
            return number
        return uuid.UUID(bytes=self.ids([number])[0].tobytes())

    def numbers(self, members: Any) -> list[int]:
        """What `ids` was made of."""
        if self.member != "uuid":
            return [int(member) for member in members]
        raw = [bytes(m.tobytes() if hasattr(m, "tobytes") else m.bytes)[:8] for m in members]
        return [int.from_bytes(r, "big") - (1 << 63) for r in raw]

    def filled(self, scores: dict[int, float], **options: Any) -> PackedZSet:
        z = self.new(**options)
        z.add(self.ids(scores), np.array(list(scores.values()), dtype=self.score))
        return z

    def content(self, z: PackedZSet) -> dict[int, float]:
        """Everything, in order."""
        members, scores = z.range()
        return dict(zip(self.numbers(members), scores.tolist(), strict=True))


LAYOUTS = [Layout(m, s) for m in ("int32", "int64", "uuid") for s in ("float32", "float64")]

# The same behaviour is wanted of a set in one block, at the edge of that, and of real trees.
SIZES = [1, 10, 128, 129, 600, 5000]
