"""Zero copy and out=: native arrays are read where they lie, results written where asked for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout

N = 100_000
SLACK = 20_000  # bytes; a copy of a column of N rows takes at least 400,000


def traced_peak(call: Callable[[], object]) -> int:
    """Bytes that Python and NumPy held at most during a call, beyond those before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        result = call()
        peak = tracemalloc.get_traced_memory()[1]
        del result
    finally:
        tracemalloc.stop()
    return peak - before


def lying(values: Any, how: str, path: Path) -> Any:
    """The values in one of the ways that need no copy."""
    n = len(values)
    if how == "strided":
        spread = np.empty(2 * n, values.dtype)
        spread[::2] = values
        return spread[::2]
    if how == "reversed":
        return values[::-1].copy()[::-1]
    if how == "field":
        record = np.zeros(n, [("pad", "V3"), ("value", values.dtype)])
        record["value"] = values
        return record["value"]
    if how == "memmap":
        values.tofile(path)
        return np.memmap(path, values.dtype, "r")
    frozen = values.copy()
    frozen.flags.writeable = how != "read-only"
    return frozen


WAYS = ["contiguous", "strided", "reversed", "field", "memmap", "read-only"]


@pytest.mark.parametrize("how", WAYS)
def test_inputs_are_not_copied(layout: Layout, how: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).permutation(N)
    members = lying(layout.ids(numbers), how, tmp_path / "members")
    scores = lying(np.sqrt(numbers).astype(layout.score), how, tmp_path / "scores")
    bytes_before = members.tobytes(), scores.tobytes()
    z = layout.new()
    own = 40 * N  # what the set itself may hold is traced too
    assert (
        traced_peak(lambda: z.add(members, scores)) <= z.memory()["total_allocated_bytes"] + SLACK
    )
    assert z.memory()["total_allocated_bytes"] < own
    out = np.empty(N, layout.score)
    ranks = np.empty(N, np.int64)
    found = np.empty(N, bool)
    assert traced_peak(lambda: z.score(members, out=out)) < SLACK
    assert traced_peak(lambda: z.rank(members, out=ranks)) < SLACK
    assert traced_peak(lambda: z.contains(members, out=found)) < SLACK
    assert np.array_equal(out, scores)
    assert sorted(ranks.tolist()) == list(range(N))
    assert found.all()
    grown = z.memory()["total_allocated_bytes"]
    peak = traced_peak(lambda: z.incrby(members, scores, out=out))
    assert peak <= max(grown, z.memory()["total_allocated_bytes"]) + SLACK
    assert traced_peak(lambda: z.remove(members)) < SLACK
    assert (members.tobytes(), scores.tobytes()) == bytes_before


def test_the_measure_sees_copies() -> None:
    """Were a column copied, the tests above would notice."""
    z = PackedZSet({1: 1.0})
    swapped = np.arange(N).astype(">i8")
    out = np.empty(N)
    assert traced_peak(lambda: z.score(swapped, out=out)) > 8 * N


def test_results_are_written_once(layout: Layout) -> None:
    z = layout.filled({n: float(n) for n in range(N)})
    row = layout.member_dtype.itemsize + layout.score_dtype.itemsize
    assert traced_peak(lambda: z.range()) < row * N + SLACK
    members, scores = np.empty(N, layout.member_dtype), np.empty(N, layout.score)
    assert traced_peak(lambda: z.range(out=(members, scores))) < SLACK
    assert layout.numbers(members[:3]) == [0, 1, 2]
    result = z.range()
    assert all(a.base is None and a.flags.owndata for a in result)


def outs(dtype: Any, n: int) -> dict[str, np.ndarray[Any, Any]]:
    """Outputs of every writable form."""
    return {
        "contiguous": np.empty(n, dtype),
        "strided": np.empty(3 * n, dtype)[::3],
        "reversed": np.empty(n, dtype)[::-1],
        "field": np.zeros(n, [("pad", "u1"), ("value", dtype)])["value"],
        "column": np.empty((n, 2), dtype)[:, 1],
    }


@pytest.mark.parametrize("size_", [5, 1000])
def test_forms_of_out(layout: Layout, size_: int) -> None:
    z = layout.filled({n: float(n % 7) for n in range(size_)})
    members = layout.ids(range(size_))
    wanted, ranks, found = z.score(members), z.rank(members), z.contains(members)
    for name, out in outs(layout.score_dtype, size_).items():
        assert z.score(members, out=out) is out, name
        assert np.array_equal(out, wanted), name
        copy = z.copy()
        assert copy.incrby(members, 2, out=out) is out
        assert np.array_equal(out, wanted + 2), name
    for out in outs(np.dtype("i8"), size_).values():
        assert z.rank(members, out=out) is out
        assert np.array_equal(out, ranks)
    for out in outs(np.dtype("f8"), size_).values():
        z.rank(members, method="average", out=out)
        assert np.array_equal(out, z.rank(members, method="average"))
    for out in outs(np.dtype(bool), size_).values():
        assert z.contains(members, out=out) is out
        assert np.array_equal(out, found)
    first, second = z.range()
    for a, b in zip(
        outs(layout.member_dtype, size_).values(),
        outs(layout.score_dtype, size_).values(),
        strict=True,
    ):
        got = z.range(out=(a, b))
        assert got[0] is a
        assert got[1] is b
        assert np.array_equal(a, first)
        assert np.array_equal(b, second)
    only = np.empty(size_, layout.score)
    assert z.range(out=(None, only))[1] is only
    grid = np.empty((2, 3), layout.score, order="C")
    assert z.score(members[:1].repeat(6).reshape(2, 3), out=grid).shape == (2, 3)


def test_refused_outs() -> None:
    z = PackedZSet({n: float(n) for n in range(10)})
    members = np.arange(10)
    frozen = np.empty(10)
    frozen.flags.writeable = False
    for out, error, message in [
        (np.empty(10, "f4"), TypeError, "out: an array of dtype float64 is needed, not float32"),
        (np.empty(10, ">f8"), TypeError, "out: an array of dtype float64 is needed"),
        ([0.0] * 10, TypeError, "out: an array is needed, not list"),
        (np.empty(9), ValueError, r"out: an array of shape \(10,\) is needed, not \(9,\)"),
        (np.empty((10, 1)), ValueError, "out: an array of shape"),
        (frozen, ValueError, "out: the array is read-only"),
        (np.lib.stride_tricks.as_strided(np.empty(1), (10,), (0,)), ValueError, "overlap each"),
        (members.view("f8"), ValueError, "out: its memory overlaps that of members"),
    ]:
        for call in (z.score, lambda m, out: z.incrby(m, 1, out=out)):
            with pytest.raises(error, match=message):
                call(members, out=out)
    amounts = np.ones(10)
    with pytest.raises(ValueError, match="out: its memory overlaps that of amounts"):
        z.incrby(members, amounts, out=amounts)
    with pytest.raises(ValueError, match="one stride apart"):
        z.score(np.zeros((2, 3), int), out=np.empty((3, 2)).T)
    for call in (z.score, z.rank, z.contains, z.incrby):
        with pytest.raises(TypeError, match="out: one member gives one number"):
            call(1, out=np.empty(1))
        with pytest.raises(TypeError, match="out: one member gives one number"):
            call(np.array(1), out=np.empty(()))
    assert z.score(members).tolist() == members.tolist()


def test_refused_outs_of_range() -> None:
    z = PackedZSet({n: float(n) for n in range(10)})
    shared = np.empty(20)
    for out, error, message in [
        (np.empty(10), TypeError, r"a tuple \(members, scores\)"),
        ((np.empty(10, int), np.empty(9)), ValueError, r"shape \(10,\) is needed"),
        ((np.empty(10), np.empty(10)), TypeError, "dtype int64 is needed"),
        ((shared[:10].view(int), shared[5:15]), ValueError, "overlaps that of the other"),
    ]:
        with pytest.raises(error, match=message):
            z.range(out=out)
    assert z.range(2, 4, out=(np.empty(2, int), np.empty(2)))[0].tolist() == [2, 3]


def test_fields_of_one_array_do_not_overlap() -> None:
    """Columns that share their extent but not a byte are fine."""
    z = PackedZSet({n: float(n) for n in range(100)})
    table = np.zeros(100, [("id", "i8"), ("score", "f8"), ("rank", "i8")])
    table["id"] = np.arange(100)
    z.score(table["id"], out=table["score"])
    z.rank(table["id"], out=table["rank"])
    z.range(out=(table["id"], table["score"]))
    assert table["score"].tolist() == table["rank"].tolist() == list(range(100))
    z.score(table["id"][::-1], out=table["score"])
    assert table["score"].tolist() == list(range(100))[::-1]
    packed = np.zeros(100, "i8").view([("id", "i4"), ("rest", "i4")])
    with pytest.raises(ValueError, match="overlaps"):
        PackedZSet("int32").score(packed["id"], out=packed.view("f8"))
