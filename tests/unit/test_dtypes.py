"""The NumPy boundary: what is converted exactly, what is refused, and how it is told."""

from __future__ import annotations

import array
import collections
import uuid
from typing import Any

import numpy as np
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]


def strided_ways(values: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The same values, lying in memory in every way there is."""
    n = len(values)
    spread = np.empty(3 * n, values.dtype)
    spread[::3] = values
    column = np.empty((n, 3), values.dtype, order="C")
    column[:, 1] = values
    record = np.zeros(n, [("pad", "u1"), ("value", values.dtype)])  # unaligned
    record["value"] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    fortran = np.empty((n, 2), values.dtype, order="F")
    fortran[:, 1] = values
    return {
        "contiguous": values,
        "every third": spread[::3],
        "backwards": values[::-1].copy()[::-1],
        "column": column[:, 1],
        "fortran column": fortran[:, 1],
        "field": record["value"],
        "read-only": frozen,
        "from bytes": np.frombuffer(values.tobytes(), values.dtype),
        "other order": values.astype(values.dtype.newbyteorder()),
    }


@pytest.mark.parametrize("member", ["int32", "int64"])
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("order", ["<", ">"])
def test_integer_members(member: str, dtype: str, order: str) -> None:
    """Every width and byte order, at the ends of what both types hold."""
    info, mine = np.iinfo(dtype), np.iinfo(member)
    low, high = max(int(info.min), mine.min), min(int(info.max), mine.max)
    numbers = [low, low + 1, 0, 1, 100, high - 1, high]
    z = PackedZSet(member)
    members = np.array(numbers, np.dtype(dtype).newbyteorder(order))
    z.add(members, np.arange(7))
    assert sorted(z) == sorted(set(numbers))
    assert z.score(members)[-1] == 6.0
    for name, way in strided_ways(members).items():
        assert z.contains(way).all(), name
        assert z.rank(way).tolist() == z.rank(numbers).tolist(), name


@pytest.mark.parametrize("score", ["float32", "float64"])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", ["<", ">"])
def test_float_scores(score: str, dtype: str, order: str) -> None:
    values = [1.5, -2.25, 0.0, float("inf"), float("-inf"), 5.96e-08, 65504.0, 0.333]
    scores = np.array(values, np.dtype(dtype).newbyteorder(order))
    wanted = scores.astype(score).tolist()
    for name, way in strided_ways(scores).items():
        z = PackedZSet("int64", score)
        z.add(np.arange(len(values)), way)
        assert z.score(np.arange(len(values))).tolist() == wanted, name


@pytest.mark.parametrize("score", ["float32", "float64"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_scores(score: str, dtype: str) -> None:
    """Exact in the score type, or refused at the first that is not."""
    bits = 24 if score == "float32" else 53
    info = np.iinfo(dtype)
    candidates = [0, 1, -1, 2**bits, 2**bits - 1, -(2**bits), 2**63 - 2**40, 2**63, -(2**63)]
    fine = [c for c in candidates if info.min <= c <= info.max]
    z = PackedZSet("int64", score)
    z.add(range(len(fine)), np.array(fine, dtype))
    assert z.score(range(len(fine))).tolist() == [float(c) for c in fine]
    for bad in (2**bits + 1, -(2**bits) - 1, int(info.max)):
        if not info.min <= bad <= info.max or float(np.dtype(score).type(bad)) == bad:
            continue
        scores = np.array([0, 1, bad, bad], dtype)
        message = rf"scores\[2\]: a value of dtype {scores.dtype} is not exact in {score}"
        with pytest.raises(ValueError, match=message):
            z.add(range(4), scores)
        with pytest.raises(ValueError, match=r"scores\[2\]: the integer is not exact"):
            z.add(range(4), scores.tolist())
        with pytest.raises(ValueError, match="scores: the integer is not exact"):
            z.add(1, int(bad))
        with pytest.raises(ValueError, match="scores: the integer is not exact"):
            z.add(1, scores[3])


def test_lossy_integers_become_ties_only_by_will() -> None:
    big = np.array([1009651914519660511, 1009651914519660512, 1009651914519660544])
    z = PackedZSet()
    with pytest.raises(ValueError, match=r"scores\[0\].*convert it to float first"):
        z.add([1, 2, 3], big)
    z.add([1, 2, 3], big.astype(float))
    assert z.rank([1, 2, 3], method="min").tolist() == [0, 0, 0]


def test_members_out_of_range() -> None:
    narrow, wide = PackedZSet("int32"), PackedZSet("int64")
    for call in (narrow.score, narrow.rank, narrow.contains, narrow.remove, narrow.incrby):
        with pytest.raises(OverflowError, match=r"members\[2\]: a value of dtype int64 does not"):
            call(np.array([1, 2, 3_000_000_000, -(2**40)]))
        with pytest.raises(OverflowError, match=r"members\[1\]: 3000000000000 does not fit int32"):
            call([1, 3_000_000_000_000])
        with pytest.raises(OverflowError, match="members: 3000000000 does not fit int32"):
            call(3_000_000_000)
    with pytest.raises(OverflowError, match=r"members\[1\]: a value of dtype uint64"):
        wide.add(np.array([2**63 - 1, 2**63], "u8"), 1.0)
    with pytest.raises(OverflowError, match=r"members\[1\]: the integer does not fit int64"):
        wide.add([1, 2**2000], 1.0)
    with pytest.raises(OverflowError, match="members: the integer does not fit int64"):
        wide.add(-(2**63) - 1, 1.0)
    with pytest.raises(OverflowError, match=r"members\[5\]"):
        narrow.score(np.array([[0, 1, 2], [3, 4, 2**31]]))  # counted in C order
    assert len(narrow) == len(wide) == 0


def test_close_large_ids_stay_apart() -> None:
    z = PackedZSet()
    z.add(np.array([2**62 + 25, 1378774140726870442], "u8"), [1, 2])
    assert z.score(np.array([1378774140726870528, 2**62 + 24, 2**62 + 25], "u8")).tolist()[2] == 1
    assert np.isnan(z.score([1378774140726870528])[0])


class Index:
    """Not a number, but gives one."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_integer_like_objects() -> None:
    z = PackedZSet()
    z.add([Index(5), np.int8(3), np.uint64(2**63 - 1)], 1.0)
    assert sorted(z) == [3, 5, 2**63 - 1]
    assert z[Index(5)] == z[np.int16(5)] == z.score(np.uint8(5)) == 1.0
    assert sorted(PackedZSet.from_arrays(range(4), 1.0)) == [0, 1, 2, 3]
    assert sorted(PackedZSet.from_arrays(collections.deque([2, 1]), 1.0)) == [1, 2]
    assert sorted(PackedZSet.from_arrays(array.array("i", [2, 1]), array.array("d", [1, 2]))) == [
        1,
        2,
    ]
    assert z.score([[3, 5]]).shape == (1, 2)
    assert z.score(()).shape == (0,)
    assert z.score(memoryview(array.array("q", [3]))).tolist() == [1.0]


BAD_SCALARS = [True, False, np.True_, 1.0, np.float64(1), "1", b"1", 1j, None, object(), {}, {1}]


@pytest.mark.parametrize("bad", BAD_SCALARS, ids=repr)
def test_no_members(bad: object) -> None:
    z = PackedZSet({1: 1.0})
    for call in (z.score, z.rank, z.contains, z.remove, z.incrby):
        with pytest.raises((TypeError, ValueError), match="members: "):
            call(bad)
        with pytest.raises((TypeError, ValueError), match=r"members\[1\]: "):
            call([1, bad])
        column = np.array([1, None], dtype=object)
        column[1] = bad
        with pytest.raises((TypeError, ValueError), match=r"members\[1\]: "):
            call(column)
    with pytest.raises((TypeError, ValueError), match="member"):
        z[bad]
    assert dict(z.items()) == {1: 1.0}


@pytest.mark.parametrize(
    "dtype", ["bool", "f4", "f8", "M8[s]", "m8[s]", "c16", "U3", "S3", "V8", "f2", "longdouble"]
)
def test_no_member_dtypes(dtype: str) -> None:
    z = PackedZSet()
    bad = np.zeros(3, dtype)
    for call in (z.score, z.rank, z.contains, z.remove, z.incrby):
        with pytest.raises(
            TypeError, match=f"members: an array of dtype {bad.dtype}".replace("[", r"\[")
        ):
            call(bad)
        with pytest.raises(TypeError, match="members"):
            call(bad[0])


@pytest.mark.parametrize(
    "bad", [True, np.True_, "1", b"1", 1j, None, object(), np.longdouble(1)], ids=repr
)
def test_no_scores(bad: object) -> None:
    z = PackedZSet()
    with pytest.raises((TypeError, ValueError), match="scores: "):
        z.add(1, bad)
    with pytest.raises((TypeError, ValueError), match=r"scores\[1\]: "):
        z.add([1, 2], [1.0, bad])
    with pytest.raises((TypeError, ValueError), match="amounts: "):
        z.incrby(1, bad)
    with pytest.raises((TypeError, ValueError), match="score: "):
        z[1] = bad
    assert len(z) == 0


@pytest.mark.parametrize("dtype", ["bool", "M8[s]", "m8[s]", "c8", "U3", "V16", "longdouble"])
def test_no_score_dtypes(dtype: str) -> None:
    bad = np.zeros(2, dtype)
    with pytest.raises(TypeError, match=r"scores: an array of dtype .* holds no scores"):
        PackedZSet().add([1, 2], bad)


def test_swapped_arguments_are_told_apart() -> None:
    with pytest.raises(TypeError, match="members: an array of dtype float64 holds no integer"):
        PackedZSet().add(np.array([0.5, 1.5]), np.array([1, 2]))


def test_missing_values() -> None:
    z = PackedZSet()
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match=r"members\[1\]: a missing value"):
            z.score(np.array([1, missing], dtype=object))
    with pytest.raises(ValueError, match=r"scores\[1\]: a missing value"):
        z.add([1, 2], np.array([1.0, None], dtype=object))
    assert z.add(np.array([1, 2**40], dtype=object), np.array([1, 2.5], dtype=object)) == (2, 0)


def test_masked_arrays() -> None:
    z = PackedZSet()
    ids = np.ma.array([1, 2, 3], mask=[False, True, False])
    scores = np.ma.array([1.0, 2.0, 3.0], mask=[False, False, True])
    with pytest.raises(TypeError, match=r"members\[1\]: the array hides"):
        z.add(ids, 1.0)
    with pytest.raises(TypeError, match=r"scores\[2\]: the array hides"):
        z.add([1, 2, 3], scores)
    assert z.add(np.ma.array([1, 2]), np.ma.array([1.0, 2.0], mask=[False, False])) == (2, 0)


def test_subclasses_of_arrays(tmp_path: Any) -> None:
    np.arange(5).tofile(tmp_path / "ids")
    mapped = np.memmap(tmp_path / "ids", np.int64, "r")
    z = PackedZSet()
    assert z.add(mapped, 1.0) == (5, 0)
    assert type(z.score(mapped)) is np.ndarray


def test_too_large_for_float32() -> None:
    z = PackedZSet("int32", "float32")
    largest, above = 3.4028235677973362e38, 3.4028235677973366e38
    z.add([1, 2, 3], [largest, -largest, 16777217.5])
    top = float(np.finfo("f4").max)
    assert z.score([1, 2, 3]).tolist() == [top, -top, 16777218.0]
    with pytest.raises(OverflowError, match="scores: the value is too large for float32"):
        z.add(1, above)
    with pytest.raises(OverflowError, match=r"scores\[1\]: the value is too large"):
        z.add([1, 2], [1.0, above])
    with pytest.raises(OverflowError, match=r"scores\[1\]: a value of dtype float64 is too large"):
        z.add([1, 2, 3], np.array([1, -1e39, float("nan")]))
    with pytest.raises(ValueError, match=r"scores\[1\]: NaN"):
        z.add([1, 2, 3], np.array([1, float("nan"), 1e39]))
    with pytest.raises(OverflowError, match="scores: the value is too large"):
        z.add(1, 2**200)
    with pytest.raises(OverflowError, match="scores: the integer is too large"):
        PackedZSet().add(1, 10**400)
    z.add([4, 5, 6], np.array([7e-46, 8e-46, float("inf")]))
    assert z.score([4, 5, 6]).tolist() == [0.0, float(np.float32(1.4e-45)), float("inf")]


def test_comparisons_after_rounding() -> None:
    z = PackedZSet("int32", "float32")
    assert z.add(1, 0.1) == (1, 0)
    assert z.add(1, 0.1) == (0, 0)
    assert z.add([1, 1], [0.1, 0.1], gt=True) == (0, 0)


def test_shapes_must_match() -> None:
    z = PackedZSet()
    for members, scores, shapes in [
        ([1, 2], [1.0], r"members of shape \(2,\) and scores of shape \(1,\)"),
        (1, [1.0], r"members of shape \(\) and scores of shape \(1,\)"),
        (np.zeros((2, 3), int), np.zeros(6), r"\(2, 3\) and scores of shape \(6,\)"),
        (np.zeros((2, 3), int), np.zeros((3, 2)), r"\(2, 3\) and scores of shape \(3, 2\)"),
    ]:
        with pytest.raises(ValueError, match=shapes):
            z.add(members, scores)
    with pytest.raises(ValueError, match=r"amounts of shape \(3,\) do not match"):
        z.incrby([1, 2], [1, 2, 3])
    with pytest.raises(TypeError, match=r"members\[0\]: an integer is needed, not list"):
        z.score([[1], [2, 3]])


def test_broadcast(layout: Layout) -> None:
    z = layout.new()
    same = np.broadcast_to(layout.ids([5])[0], 1000)
    assert z.incrby(same) is None
    assert z.incrby(same, np.broadcast_to(np.float32(2), 1000), out=True)[-1] == 3000.0
    assert z.add(layout.ids(range(1000)), 7) == (999, 1)


# ---- UUIDs ----


def test_uuid_members() -> None:
    ids = [uuid.UUID(int=i << 64 | 7) for i in range(300)]
    raw = np.frombuffer(b"".join(u.bytes for u in ids), np.uint8).reshape(-1, 16)
    wide = np.zeros((300, 20), np.uint8)
    wide[:, 2:18] = raw
    ways = {
        "V16": raw.view("V16").reshape(-1),
        "uint8": raw,
        "columns": wide[:, 2:18],
        "fortran": np.asfortranarray(raw),
        "UUIDs": ids,
        "bytes": [u.bytes for u in ids],
        "objects": np.array(ids, dtype=object),
        "void scalars": list(raw.view("V16").reshape(-1)),
    }
    for name, way in ways.items():
        z = PackedZSet("uuid")
        assert z.add(way, np.arange(300)) == (300, 0), name
        assert z.rank(way).tolist() == list(range(300)), name
        assert list(z) == ids, name
    z = PackedZSet("uuid")
    z.add(raw.reshape(3, 100, 16), 1.0)
    assert z.score(raw.reshape(3, 100, 16)).shape == (3, 100)
    one = raw[5]
    for member in (ids[5], ids[5].bytes, one.view("V16")[0], one.view("V16").reshape(()), one):
        assert z.score(member) == 1.0
        assert member in z


@pytest.mark.parametrize(
    "bad",
    [str(uuid.UUID(int=1)), 1, b"short", b"x" * 17, None, True, np.void(b"12345678")],
    ids=repr,
)
def test_no_uuids(bad: object) -> None:
    z = PackedZSet("uuid")
    with pytest.raises((TypeError, ValueError), match="members: "):
        z.add(bad, 1.0)
    with pytest.raises((TypeError, ValueError), match=r"members\[1\]: "):
        z.score([uuid.UUID(int=1), bad])


@pytest.mark.parametrize(
    "shape_and_dtype", ["3:S16", "3:i8", "3,15:u1", "3,16:i1", "3:V8", "3:U16"]
)
def test_no_uuid_arrays(shape_and_dtype: str) -> None:
    shape, dtype = shape_and_dtype.split(":")
    bad = np.zeros(tuple(map(int, shape.split(","))), dtype)
    with pytest.raises(TypeError, match=r"members: .*holds no UUIDs; give dtype V16"):
        PackedZSet("uuid").score(bad)


def test_structured_members_are_no_uuids() -> None:
    with pytest.raises(TypeError, match="holds no UUIDs"):
        PackedZSet("uuid").score(np.zeros(3, "i8,i8"))
