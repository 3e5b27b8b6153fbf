"""What the state machines feed a set: few keys and scores, so that they meet, and all the extremes.

Members are named by small integers that `Layout.member` spreads over the type, so that one script
reads the same for every layout.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .reference import Member, Pair

LAYOUTS = [(m, s) for m in ("int32", "int64", "uuid") for s in ("float32", "float64")]
F32 = np.finfo(np.float32)
SCORES = [
    *(0.0, -0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 0.1, 254.0, 255.0, 256.0, 65534.0, 65535.0, 65536.0),
    *(2.0**24, 2.0**24 + 1, 2.0**32 - 1, 2.0**53, -(2.0**31), math.inf, -math.inf),
    *(float(F32.max), -float(F32.max), float(F32.tiny), float(F32.smallest_subnormal), 5e-324),
    *(float(np.nextafter(np.float32(0.1), np.float32(k))) for k in (0, 1)),
]
BAD_FOR_FLOAT32 = 3.4028235677973366e38  # the least double that rounds beyond float32


@dataclass(frozen=True)
class Layout:
    """The types of a set, and the ways between the model's values and NumPy's."""

    member: str
    score: str

    @property
    def bits(self) -> int:
        return {"int32": 32, "int64": 64, "uuid": 128}[self.member]

    @property
    def narrow(self) -> bool:
        return self.score == "float32"

    def spread(self, number: int, step: int) -> Member:
        """Give the member of a number: its multiple of an odd `step`, wrapped into the type."""
        value = (number * step) % 2**self.bits
        if self.member == "uuid":
            return value.to_bytes(16, "big")
        return value - (value >> (self.bits - 1) << self.bits)

    def extremes(self) -> list[Member]:
        half = 2 ** (self.bits - 1)
        if self.member == "uuid":
            values = (0, 1, half - 1, half, 2 * half - 1, 2**64 - 1, 2**64)
            return [value.to_bytes(16, "big") for value in values]
        return [-half, 1 - half, -1, 0, 1, half - 2, half - 1]

    def scalar(self, member: Member) -> Any:
        return uuid.UUID(bytes=member) if isinstance(member, bytes) else member

    def from_scalar(self, value: Any) -> Member:
        return value.bytes if isinstance(value, uuid.UUID) else value

    def members(self, members: Sequence[Member]) -> np.ndarray:
        if self.member == "uuid":
            return np.frombuffer(b"".join(members), dtype="V16")
        return np.array(members, dtype=self.member)

    def scores(self, scores: Sequence[float]) -> np.ndarray:
        """Give scores as float64, which a float32 set rounds at the door."""
        return np.array(scores, dtype=np.float64)

    def pairs(self, columns: tuple[np.ndarray, np.ndarray]) -> list[Pair]:
        """Read back two result columns, checking their types and that no zero is negative."""
        members, scores = columns
        assert members.dtype == np.dtype("V16" if self.member == "uuid" else self.member)
        assert scores.dtype == np.dtype(self.score)
        assert members.shape == scores.shape
        assert not np.any(np.signbit(scores) & (scores == 0))
        if self.member == "uuid":
            raw = members.tobytes()
            keys: list[Member] = [raw[i : i + 16] for i in range(0, len(raw), 16)]
        else:
            keys = members.tolist()
        return list(zip(keys, scores.astype(np.float64).tolist(), strict=True))


numbers = st.integers(0, 40)
scores = st.sampled_from(SCORES)
bounds = scores | st.sampled_from([0.05, 1.5, 1e39, -1e39])
flags = st.sampled_from(
    [
        *({}, {}, {"nx": True}, {"xx": True}, {"gt": True}, {"lt": True}),
        *({"xx": True, "gt": True}, {"xx": True, "lt": True}),
    ]
)
positions = st.integers(-50, 50)


@st.composite
def runs(draw: st.DrawFn, longest: int) -> tuple[list[int], list[float]]:
    """Many members with few scores: long equal runs, in rising, falling or mixed order."""
    count = draw(st.integers(1, longest))
    first, step = draw(st.integers(0, longest)), draw(st.sampled_from([1, -1, 3, 7]))
    few = draw(st.lists(scores, min_size=1, max_size=4))
    each = draw(st.sampled_from([1, 5, 40]))
    rows = range(count)
    return [first + step * i for i in rows], [few[i // each % len(few)] for i in rows]
