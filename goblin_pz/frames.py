"""To and from pandas. pandas is imported when one of these functions is called, and only then."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from ._core import PackedZSet

    Set = TypeVar("Set", bound=PackedZSet)

MEMBER = "member"
SCORE = "score"


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "pandas is needed for this: install it, or goblin_pz[workbench]"
        ) from error
    return pandas


def _entries(zset: PackedZSet, reverse: bool) -> tuple[Any, Any]:
    """Read everything; UUIDs become objects, for pandas has no 16-byte type."""
    members, scores = zset.range(reverse=reverse)
    if zset.member_dtype.kind == "V":
        objects = np.empty(len(members), dtype=object)
        objects[:] = [uuid.UUID(bytes=member.tobytes()) for member in members]
        return objects, scores
    return members, scores


def to_series(zset: PackedZSet, *, reverse: bool = False) -> Any:
    """Make a Series of scores over members; see `PackedZSet.to_series`.

    Parameters
    ----------
    zset : PackedZSet
        The set.
    reverse : bool, default False
        Highest first.

    Returns
    -------
    pandas.Series
        In order.
    """
    pandas = _pandas()
    members, scores = _entries(zset, reverse)
    return pandas.Series(scores, index=pandas.Index(members, name=MEMBER), name=SCORE)


def to_frame(zset: PackedZSet, *, reverse: bool = False) -> Any:
    """Make a DataFrame of two columns; see `PackedZSet.to_frame`.

    Parameters
    ----------
    zset : PackedZSet
        The set.
    reverse : bool, default False
        Highest first.

    Returns
    -------
    pandas.DataFrame
        In order.
    """
    pandas = _pandas()
    members, scores = _entries(zset, reverse)
    return pandas.DataFrame({MEMBER: members, SCORE: scores})


def _plain(values: Any) -> Any:
    """Give the values of an Index or Series as an array, missing ones kept visible.

    A nullable column with missing values becomes an array of objects, so that the set can refuse
    it at the right row; NumPy's own conversion may turn them into NaN first.
    """
    dtype = values.dtype
    if getattr(dtype, "na_value", None) is not None and not isinstance(dtype, np.dtype):
        if values.isna().any():
            return values.to_numpy(dtype=object)
        numpy_dtype = getattr(dtype, "numpy_dtype", None)
        if numpy_dtype is not None:
            return values.to_numpy(dtype=numpy_dtype)
    return values.to_numpy()


def columns_of(source: Any) -> tuple[Any, Any]:
    """Take members and scores from a Series or DataFrame, for `PackedZSet.update`.

    Parameters
    ----------
    source : pandas.Series or pandas.DataFrame
        A Series has members as its index; a DataFrame has columns 'member' and 'score'.

    Returns
    -------
    tuple of array
        ``(members, scores)``, shape (n,).

    Raises
    ------
    TypeError
        The source is something else of pandas.
    ValueError
        A column is missing.
    """
    pandas = _pandas()
    if isinstance(source, pandas.Series):
        return _plain(source.index), _plain(source)
    if isinstance(source, pandas.DataFrame):
        return _two_columns(source, MEMBER, SCORE)
    raise TypeError(f"a Series or DataFrame is needed, not {type(source).__name__}")


def _two_columns(frame: Any, members: Any, scores: Any) -> tuple[Any, Any]:
    for label in (members, scores):
        if label not in frame.columns:
            raise ValueError(f"the frame has no column {label!r}")
    return _plain(frame[members]), _plain(frame[scores])


def from_series(cls: type[Set], series: Any, *layout: Any, **options: Any) -> Set:
    """Make a set from a Series; see `PackedZSet.from_series`.

    Parameters
    ----------
    cls : type
        PackedZSet or a subclass.
    series : pandas.Series
        Its index gives the members, its values the scores.
    *layout, **options : optional
        As for `PackedZSet.from_arrays`.

    Returns
    -------
    PackedZSet
        A new set.
    """
    return cls.from_arrays(_plain(series.index), _plain(series), *layout, **options)


def from_frame(
    cls: type[Set],
    frame: Any,
    members: Any = MEMBER,
    scores: Any = SCORE,
    *layout: Any,
    **options: Any,
) -> Set:
    """Make a set from two columns; see `PackedZSet.from_frame`.

    Parameters
    ----------
    cls : type
        PackedZSet or a subclass.
    frame : pandas.DataFrame
        Where the columns are.
    members, scores : column labels
        Which columns.
    *layout, **options : optional
        As for `PackedZSet.from_arrays`.

    Returns
    -------
    PackedZSet
        A new set.
    """
    return cls.from_arrays(*_two_columns(frame, members, scores), *layout, **options)
