"""The set under measurement: the only module of the workbench that imports the compiled set."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

import goblin_pz

from .blocks import Operation
from .layouts import Layout

AnyArray = npt.NDArray[Any]


class PackedEngine:
    """A `goblin_pz.PackedZSet` under the few calls that a replay makes.

    Parameters
    ----------
    layout : Layout
    operation : Operation
    score_rle : bool
    merge_exponent : float or None
        None is the set's default.
    """

    def __init__(
        self, layout: Layout, operation: Operation, *, score_rle: bool, merge_exponent: float | None
    ) -> None:
        options: dict[str, Any] = {"score_rle": score_rle}
        if merge_exponent is not None:
            options["merge_exponent"] = merge_exponent
        self._set = goblin_pz.PackedZSet(layout.member, layout.score, **options)
        self._add = operation is Operation.ZADD

    def __len__(self) -> int:
        """Members."""
        return len(self._set)

    def apply(self, members: AnyArray, values: AnyArray | None) -> None:
        """Apply events in one bulk call.

        Parameters
        ----------
        members : ndarray of the layout's member type, shape (n,)
        values : ndarray of the layout's score type, shape (n,), or None
            None only for ZINCRBY: increments of 1.
        """
        if values is None:
            self._set.incrby(members)
        elif self._add:
            self._set.add(members, values)
        else:
            self._set.incrby(members, values)

    def apply_each(self, members: list[Any], values: list[float] | None) -> None:
        """Apply events one by one, a scalar call each; see `apply`."""
        if values is None:
            increment = self._set.incrby
            for member in members:
                increment(member)
            return
        call: Any = self._set.add if self._add else self._set.incrby
        for member, value in zip(members, values, strict=True):
            call(member, value)

    def memory(self) -> dict[str, Any]:
        """Give the set's own counters."""
        return dict(self._set.memory())

    def page(self, start: int, stop: int) -> tuple[AnyArray, AnyArray]:
        """Give members and scores of positions start to stop, in rank order."""
        members, scores = self._set.range(start, stop)
        return members, scores
