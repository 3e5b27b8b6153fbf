"""The six layouts, and members on their way in and out of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .blocks import Int64Array

FLOAT32_WHOLE = 2**24  # up to here FLOAT32 holds every whole number


@dataclass(frozen=True)
class Layout:
    """The types of a set.

    Attributes
    ----------
    member : {"int32", "int64", "uuid"}
    score : {"float32", "float64"}
    """

    member: str
    score: str

    @property
    def name(self) -> str:
        """Such as ``int32-float32``."""
        return f"{self.member}-{self.score}"

    @property
    def member_dtype(self) -> np.dtype[Any]:
        """Element type of member arrays: int32, int64 or V16."""
        return np.dtype("V16" if self.member == "uuid" else self.member)

    @property
    def score_dtype(self) -> np.dtype[Any]:
        """Element type of score arrays."""
        return np.dtype(self.score)

    def encode(self, members: Int64Array) -> npt.NDArray[Any]:
        """Convert members to the layout's type; UUIDs are the 64 bits behind 8 zero bytes.

        Raises
        ------
        OverflowError
            For an INT32 layout, when a member does not fit.
        """
        if self.member == "uuid":
            wide = np.zeros((len(members), 2), ">u8")
            wide[:, 1] = members.view(np.uint64)
            return wide.view("V16").reshape(len(members))
        narrow = members.astype(self.member_dtype)
        if self.member == "int32" and not np.array_equal(narrow, members):
            first = int(np.flatnonzero(narrow != members)[0])
            raise OverflowError(f"member {members[first]} does not fit INT32")
        return narrow

    def decode(self, members: npt.NDArray[Any]) -> Int64Array:
        """Convert members of the layout's type back; the inverse of `encode`.

        Raises
        ------
        ValueError
            For a UUID whose first 8 bytes are not zero.
        """
        if self.member == "uuid":
            wide = np.ascontiguousarray(members).view(">u8").reshape(-1, 2)
            if np.any(wide[:, 0]):
                raise ValueError("a UUID that is no zero-extended member")
            return wide[:, 1].astype(np.uint64).view(np.int64)
        return members.astype(np.int64)

    def member_order(self, members: Int64Array) -> npt.NDArray[Any]:
        """Give keys that sort members as the layout does: UUIDs by their bytes."""
        return members.view(np.uint64) if self.member == "uuid" else members


LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout(member, score)
        for member in ("int32", "int64", "uuid")
        for score in ("float32", "float64")
    )
}


def parse_layouts(text: str) -> list[Layout]:
    """Read a comma-separated list of layout names, or ``all``.

    Raises
    ------
    ValueError
        For a name that is no layout.
    """
    if text == "all":
        return list(LAYOUTS.values())
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in LAYOUTS]
    if unknown or not names:
        raise ValueError(
            f"no layout {', '.join(unknown) or text!r}: there are {', '.join(LAYOUTS)}"
        )
    return [LAYOUTS[name] for name in dict.fromkeys(names)]
