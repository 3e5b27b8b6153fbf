"""pandas in and out."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from goblin_pz import PackedZSet
from unit.layouts import Layout


def test_to_series(layout: Layout) -> None:
    z = layout.filled({3: 1.0, 1: 2.5, 2: 1.0})
    series = z.to_series()
    assert (series.name, series.index.name, series.dtype) == ("score", "member", layout.score)
    assert series.tolist() == [1.0, 1.0, 2.5]
    assert list(series.index) == [layout.one(n) for n in (2, 3, 1)]
    assert list(z.to_series(reverse=True).index) == [layout.one(n) for n in (1, 3, 2)]
    assert PackedZSet.from_series(series, layout.member) == z
    assert layout.new().to_series().tolist() == []


def test_to_frame(layout: Layout) -> None:
    z = layout.filled({3: 1.0, 1: 2.5})
    frame = z.to_frame(reverse=True)
    assert list(frame.columns) == ["member", "score"]
    assert frame["score"].tolist() == [2.5, 1.0]
    assert frame["member"].tolist() == [layout.one(1), layout.one(3)]
    assert PackedZSet.from_frame(frame, member=layout.member) == z
    renamed = frame.rename(columns={"member": "page", "score": "edits"})
    same = PackedZSet.from_frame(renamed, "page", "edits", layout.member, score_rle=False)
    assert same == z
    assert same.score_rle is False


def test_update_from_pandas() -> None:
    z = PackedZSet({1: 1.0})
    series = pd.Series([5.0, 2.0], index=[1, 2])
    assert z.update(series) == (1, 1)
    assert z.update(pd.DataFrame({"score": [7], "member": [3]})) == (1, 0)
    assert dict(z.items()) == {2: 2.0, 1: 5.0, 3: 7.0}
    assert PackedZSet(series) == PackedZSet({1: 5.0, 2: 2.0})
    with pytest.raises(ValueError, match="no column 'score'"):
        z.update(pd.DataFrame({"member": [1]}))
    with pytest.raises(TypeError, match="Series or DataFrame"):
        z.update(pd.Index([1, 2]))


def test_columns_as_arguments() -> None:
    """Series, Index and nullable columns go wherever an array goes."""
    frame = pd.DataFrame({"id": [5, 3, 9], "points": [1.0, 2.0, 3.0]})
    z = PackedZSet.from_arrays(frame["id"], frame["points"])
    assert z.score(frame["id"]).tolist() == [1.0, 2.0, 3.0]
    assert z.rank(pd.Index([9, 5])).tolist() == [2, 0]
    assert z.contains(pd.array([5, 4], dtype="Int64")).tolist() == [True, False]
    assert z.incrby(
        frame["id"].astype("Int64"), frame["points"].astype("Float64"), out=True
    ).tolist() == [2.0, 4.0, 6.0]
    assert z.score(pd.RangeIndex(3, 6)).tolist()[0] == 4.0
    assert z.score(pd.Categorical([5, 3])).tolist() == [2.0, 4.0]


def test_missing_values_are_refused_by_position() -> None:
    z = PackedZSet()
    ids = pd.Series([1, None, 3], dtype="Int64")
    for call in (z.score, z.rank, z.incrby):
        with pytest.raises(ValueError, match=r"members\[1\]: a missing value"):
            call(ids.astype(object))
    with pytest.raises((TypeError, ValueError), match="members"):
        z.score(ids)
    scores = pd.Series([1.0, 2.0, None], dtype="Float64", index=[1, 2, 3])
    with pytest.raises(ValueError, match=r"scores\[2\]: "):
        z.update(scores)
    with pytest.raises(ValueError, match=r"scores\[2\]: "):
        PackedZSet.from_series(scores)
    with pytest.raises(ValueError, match=r"members\[1\]: a missing value"):
        PackedZSet.from_frame(pd.DataFrame({"member": ids, "score": [1.0, 2.0, 3.0]}))
    assert len(z) == 0


def test_other_columns_are_no_members() -> None:
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01"]), "flag": [True], "name": ["a"]})
    for name in frame:
        with pytest.raises((TypeError, ValueError), match="members"):
            PackedZSet().score(frame[name])


def test_dtypes_survive() -> None:
    series = pd.Series(np.array([1, 2], "f4"), index=pd.Index([1, 2], dtype="int32"))
    assert PackedZSet.from_series(series).layout == "INT32_FLOAT32"
    assert PackedZSet.from_series(series, "int64", "float64").layout == "INT64_FLOAT64"
    nullable = pd.DataFrame({"member": pd.array([1], "Int32"), "score": pd.array([1], "Float32")})
    assert PackedZSet.from_frame(nullable).layout == "INT32_FLOAT32"


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    z = PackedZSet({1: 1.0})
    for call in (z.to_series, z.to_frame):
        with pytest.raises(ImportError, match=r"pandas is needed .*goblin_pz\[workbench\]"):
            call()
