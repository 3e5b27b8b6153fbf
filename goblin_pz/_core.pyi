import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final, Literal, SupportsIndex, TypeAlias, TypeVar, final, overload
from uuid import UUID

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

_Self = TypeVar("_Self", bound=PackedZSet)

_Member: TypeAlias = int | np.integer[Any] | UUID | bytes
_Members: TypeAlias = npt.NDArray[Any] | Sequence[Any]
_Score: TypeAlias = float | np.integer[Any] | np.floating[Any]
_Scores: TypeAlias = npt.NDArray[Any] | Sequence[Any]
_MemberType: TypeAlias = Literal["int32", "int64", "uuid"] | npt.DTypeLike
_ScoreType: TypeAlias = Literal["float32", "float64"] | npt.DTypeLike
_Pairs: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]
_Source: TypeAlias = Mapping[Any, Any] | Iterable[tuple[Any, Any]] | PackedZSet | Any
_Path: TypeAlias = str | os.PathLike[str]
_RankMethod: TypeAlias = Literal["ordinal", "min", "max", "dense", "average"]
_Aggregate: TypeAlias = Literal["sum", "min", "max"]
_QuantileMethod: TypeAlias = Literal["linear", "lower", "higher", "nearest", "midpoint"]

TRACEMALLOC_DOMAIN: Final[int]

@disjoint_base
class PackedZSet:
    def __new__(
        cls: type[_Self],
        member: Any = "int64",
        score: Any = "float64",
        *,
        score_rle: bool = True,
        merge_exponent: float = 0.5,
    ) -> _Self: ...
    @classmethod
    def from_arrays(
        cls: type[_Self],
        members: _Members,
        scores: _Scores | _Score,
        member: _MemberType | None = None,
        score: _ScoreType | None = None,
        *,
        score_rle: bool = True,
        merge_exponent: float = 0.5,
    ) -> _Self: ...
    @classmethod
    def from_items(
        cls: type[_Self],
        source: _Source,
        member: _MemberType = "int64",
        score: _ScoreType = "float64",
        *,
        score_rle: bool = True,
        merge_exponent: float = 0.5,
    ) -> _Self: ...
    @classmethod
    def from_series(
        cls: type[_Self],
        series: Any,
        member: _MemberType | None = None,
        score: _ScoreType | None = None,
        *,
        score_rle: bool = True,
        merge_exponent: float = 0.5,
    ) -> _Self: ...
    @classmethod
    def from_frame(
        cls: type[_Self],
        frame: Any,
        members: Any = "member",
        scores: Any = "score",
        member: _MemberType | None = None,
        score: _ScoreType | None = None,
        *,
        score_rle: bool = True,
        merge_exponent: float = 0.5,
    ) -> _Self: ...
    @classmethod
    def load(
        cls: type[_Self],
        file: _Path | IO[bytes],
        *,
        score_rle: bool | None = None,
        merge_exponent: float | None = None,
    ) -> _Self: ...
    @property
    def layout(self) -> str: ...
    @property
    def member_dtype(self) -> np.dtype[Any]: ...
    @property
    def score_dtype(self) -> np.dtype[Any]: ...
    @property
    def score_rle(self) -> bool: ...
    @property
    def merge_exponent(self) -> float: ...
    @overload
    def score(self, members: _Member, *, out: None = None) -> float | None: ...
    @overload
    def score(
        self, members: _Members, *, out: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any]: ...
    @overload
    def contains(self, members: _Member, *, out: None = None) -> bool: ...
    @overload
    def contains(
        self, members: _Members, *, out: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]: ...
    @overload
    def rank(
        self,
        members: _Member,
        *,
        reverse: bool = False,
        method: Literal["average"],
        out: None = None,
    ) -> float | None: ...
    @overload
    def rank(
        self,
        members: _Member,
        *,
        reverse: bool = False,
        method: Literal["ordinal", "min", "max", "dense"] = "ordinal",
        out: None = None,
    ) -> int | None: ...
    @overload
    def rank(
        self,
        members: _Members,
        *,
        reverse: bool = False,
        method: _RankMethod = "ordinal",
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]: ...
    def add(
        self,
        members: _Member | _Members,
        scores: _Score | _Scores,
        *,
        nx: bool = False,
        xx: bool = False,
        gt: bool = False,
        lt: bool = False,
    ) -> tuple[int, int]: ...
    @overload
    def incrby(self, members: _Member, amounts: _Score = 1, *, out: None = None) -> float: ...
    @overload
    def incrby(
        self, members: _Members, amounts: _Score | _Scores = 1, *, out: None = None
    ) -> None: ...
    @overload
    def incrby(
        self,
        members: _Members,
        amounts: _Score | _Scores = 1,
        *,
        out: npt.NDArray[Any] | Literal[True],
    ) -> npt.NDArray[Any]: ...
    def remove(self, members: _Member | _Members) -> int: ...
    def update(self, source: _Source) -> tuple[int, int]: ...
    def range(
        self,
        start: SupportsIndex | None = 0,
        stop: SupportsIndex | None = None,
        *,
        reverse: bool = False,
        out: tuple[npt.NDArray[Any] | None, npt.NDArray[Any] | None] | None = None,
    ) -> _Pairs: ...
    def range_by_score(
        self,
        low: _Score | None = None,
        high: _Score | None = None,
        *,
        low_open: bool = False,
        high_open: bool = False,
        reverse: bool = False,
        offset: SupportsIndex = 0,
        limit: SupportsIndex | None = None,
    ) -> _Pairs: ...
    def count(
        self,
        low: _Score | None = None,
        high: _Score | None = None,
        *,
        low_open: bool = False,
        high_open: bool = False,
    ) -> int: ...
    def top(self, k: SupportsIndex) -> _Pairs: ...
    def bottom(self, k: SupportsIndex) -> _Pairs: ...
    def around(self, member: _Member, k: SupportsIndex, *, reverse: bool = False) -> _Pairs: ...
    @overload
    def quantile(self, q: float, *, method: _QuantileMethod = "linear") -> float: ...
    @overload
    def quantile(
        self, q: npt.NDArray[Any] | Sequence[Any], *, method: _QuantileMethod = "linear"
    ) -> npt.NDArray[np.float64]: ...
    def remove_range(
        self, start: SupportsIndex | None, stop: SupportsIndex | None, *, reverse: bool = False
    ) -> int: ...
    def remove_range_by_score(
        self,
        low: _Score | None,
        high: _Score | None,
        *,
        low_open: bool = False,
        high_open: bool = False,
    ) -> int: ...
    @overload
    def pop_min(self, count: None = None) -> tuple[Any, float]: ...
    @overload
    def pop_min(self, count: SupportsIndex) -> _Pairs: ...
    @overload
    def pop_max(self, count: None = None) -> tuple[Any, float]: ...
    @overload
    def pop_max(self, count: SupportsIndex) -> _Pairs: ...
    def items(self, *, reverse: bool = False) -> Iterator[tuple[Any, float]]: ...
    def scan(
        self, cursor: int = 0, count: SupportsIndex = 512
    ) -> tuple[int, npt.NDArray[Any], npt.NDArray[Any]]: ...
    def sample(
        self,
        k: int,
        *,
        replace: bool = False,
        seed: int | np.random.Generator | None = None,
    ) -> _Pairs: ...
    def union(
        self: _Self,
        /,
        *others: PackedZSet,
        weights: Sequence[_Score] | None = None,
        aggregate: _Aggregate = "sum",
    ) -> _Self: ...
    def intersection(
        self: _Self,
        /,
        *others: PackedZSet,
        weights: Sequence[_Score] | None = None,
        aggregate: _Aggregate = "sum",
    ) -> _Self: ...
    def difference(self: _Self, /, *others: PackedZSet) -> _Self: ...
    def copy(self: _Self) -> _Self: ...
    def clear(self) -> None: ...
    def optimize(self) -> None: ...
    def save(self, file: _Path | IO[bytes]) -> None: ...
    def to_series(self, *, reverse: bool = False) -> Any: ...
    def to_frame(self, *, reverse: bool = False) -> Any: ...
    def memory(self) -> dict[str, Any]: ...
    def leaves(self) -> dict[str, npt.NDArray[Any]]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __getitem__(self, key: Any, /) -> float: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __reversed__(self) -> Iterator[Any]: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    def __copy__(self: _Self) -> _Self: ...
    def __deepcopy__(self: _Self, memo: Any, /) -> _Self: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]: ...
    def __sizeof__(self) -> int: ...
    def _repr_html_(self) -> str: ...
    @classmethod
    def _from_bytes(
        cls: type[_Self],
        data: Any,
        *,
        score_rle: bool | None = None,
        merge_exponent: float | None = None,
    ) -> _Self: ...
    def _to_bytes(self) -> bytes: ...
    def _save_fd(self, file: Any, /) -> None: ...
    def _nth(self, positions: _Members, /) -> _Pairs: ...
    def _validate(self) -> None: ...
    def _dump(self) -> str: ...
    def _work(self) -> dict[str, int]: ...
    def _limit(self, slots: int, spans: int, /) -> None: ...

@final
class PackedZSetIterator:
    def __iter__(self) -> PackedZSetIterator: ...
    def __next__(self) -> Any: ...
    def __length_hint__(self) -> int: ...

def load(
    file: _Path | IO[bytes],
    *,
    score_rle: bool | None = None,
    merge_exponent: float | None = None,
) -> PackedZSet: ...
def _restore(cls: type[PackedZSet], data: Any, /) -> PackedZSet: ...
