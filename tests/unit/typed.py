"""A typed program, checked by mypy in test_typing.py and never run: the stubs say what is meant."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import goblin_pz
from goblin_pz import PackedZSet

Column = npt.NDArray[Any]


class Board(PackedZSet):
    """A subclass keeps its type."""


def lookups(z: PackedZSet, ids: npt.NDArray[np.int64]) -> None:
    assert_type(z.score(1), float | None)
    assert_type(z.score(ids), Column)
    assert_type(z.score([1, 2]), Column)
    assert_type(z.contains(1), bool)
    assert_type(z.contains(ids), npt.NDArray[np.bool_])
    assert_type(z.rank(1), int | None)
    assert_type(z.rank(1, method="average"), float | None)
    assert_type(z.rank(ids, reverse=True, method="dense"), Column)
    assert_type(z[1], float)
    assert_type(1 in z, bool)
    assert_type(len(z), int)


def changes(z: PackedZSet, ids: npt.NDArray[np.int64]) -> None:
    assert_type(z.add(1, 2.0), tuple[int, int])
    assert_type(z.add(ids, np.ones(3), gt=True), tuple[int, int])
    assert_type(z.incrby(1), float)
    assert_type(z.incrby(uuid.UUID(int=1), 0.5), float)
    assert_type(z.incrby(ids, 1, out=True), Column)
    assert_type(z.incrby(ids, 1, out=np.empty(3)), Column)
    assert_type(z.remove(ids), int)
    assert_type(z.update({1: 2.0}), tuple[int, int])
    assert_type(z.pop_min(), tuple[Any, float])
    assert_type(z.pop_max(3), tuple[Column, Column])
    z[1] = 2.0
    del z[1]


def ranges(z: PackedZSet) -> None:
    assert_type(z.range(0, -1, reverse=True), tuple[Column, Column])
    assert_type(z.range_by_score(0, limit=5), tuple[Column, Column])
    assert_type(z.count(0, 5, low_open=True), int)
    assert_type(z.quantile(0.5), float)
    assert_type(z.quantile([0.5]), npt.NDArray[np.float64])
    assert_type(z.items(), Iterator[tuple[Any, float]])
    assert_type(z.scan(), tuple[int, Column, Column])


def wholes(board: Board) -> None:
    assert_type(board.copy(), Board)
    assert_type(board.union(board, weights=[1, 2.5]), Board)
    assert_type(Board.from_arrays([1], [2.0]), Board)
    assert_type(Board("int32", np.float32, score_rle=False), Board)
    assert_type(PackedZSet.load("file"), PackedZSet)
    assert_type(goblin_pz.load("file", merge_exponent=1), PackedZSet)
    assert_type(goblin_pz.__version__, str)


def mistakes(z: PackedZSet) -> None:
    z.score(1.5)  # type: ignore[call-overload]
    z.rank(1, method="best")  # type: ignore[call-overload]
    z.union({1: 2.0})  # type: ignore[arg-type]
    z.incrby(1, out=True)  # type: ignore[call-overload]
    z.layout = "INT32_FLOAT32"  # type: ignore[misc]
