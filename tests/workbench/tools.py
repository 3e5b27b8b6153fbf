"""What several of the workbench's tests use."""

from __future__ import annotations

import numpy as np

from goblin_pz.workbench.blocks import Operation


class Table:
    """A table with one column of each kind, and its events as plain Python."""

    def __init__(self, rows: int = 500, seed: int = 7) -> None:
        random = np.random.default_rng(seed)
        self.time = random.permutation(rows).astype(np.int64)
        self.player = random.integers(-5, 60, rows)
        self.points = np.round(random.normal(0, 50, rows), 2)
        self.kind = random.choice(np.array(["rapid", "blitz"]), rows)

    def columns(self) -> dict[str, np.ndarray]:
        return {
            "time": self.time,
            "player": self.player,
            "points": self.points,
            "kind": self.kind,
        }

    def text(self, separator: str, *, header: bool = True, newline: str = "\n") -> str:
        lines = [separator.join(self.columns())] if header else []
        for row in zip(*(column.tolist() for column in self.columns().values()), strict=True):
            lines.append(separator.join(map(str, row)))
        return newline.join(lines) + newline

    def events(self, *, kind: str | None = None, by_time: bool = False) -> list[tuple[int, float]]:
        rows = list(
            zip(
                self.time.tolist(),
                self.player.tolist(),
                self.points.tolist(),
                self.kind.tolist(),
                strict=True,
            )
        )
        if by_time:
            rows.sort(key=lambda row: row[0])
        return [(row[1], row[2]) for row in rows if kind in (None, row[3])]


def events_of(trace, rows: int = 64) -> list[tuple[int, float]]:
    """All events of a trace; 1.0 where an event has no value."""
    events = []
    for block in trace.blocks(rows):
        assert 0 < len(block) <= rows
        values = [1.0] * len(block) if block.values is None else block.values.tolist()
        events += zip(block.members.tolist(), values, strict=True)
    return events


def final_state(events, operation: Operation) -> dict[int, float]:
    """What events leave behind, one at a time in plain Python."""
    state: dict[int, float] = {}
    for member, value in events:
        state[member] = value if operation is Operation.ZADD else state.get(member, 0.0) + value
    return state
