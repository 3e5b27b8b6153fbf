from typing import Any, TypeAlias

# Anything that exports a buffer; the run-time checks its element type.
_Buffer: TypeAlias = Any

class Shape:
    def __new__(
        cls,
        kind: str,
        entities: int,
        *,
        seed: int = 1,
        ids: str = "dense",
        room_records: int = 268435456,
    ) -> Shape: ...
    @property
    def events(self) -> int: ...
    def fill(self, ids: _Buffer, values: _Buffer = None, ticks: _Buffer = None, /) -> int: ...

def digest_rows(members: _Buffer, scores: _Buffer, sums: _Buffer, /) -> bytes | None: ...
def scan_lines(
    text: _Buffer,
    separator: str,
    quoted: bool,
    final: bool,
    columns: tuple[tuple[int, _Buffer], ...],
    filters: tuple[tuple[int, bytes], ...],
    first_line: int,
    /,
) -> tuple[int, int, int, int, int]: ...
def write_lines(columns: tuple[_Buffer, ...], separator: str, /) -> bytes: ...
