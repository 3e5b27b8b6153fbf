"""Check a folder of traces against the final states that were computed elsewhere.

The folder holds the traces and ``expected-final-state.json``: for each trace the digests and
totals of its final state. `TRACES` says which columns make the events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .blocks import Columns, Operation, TraceError
from .compare import MAPPING_KEYS, STATE_KEYS, first_difference
from .digests import digest, lexical_order
from .engines import PackedEngine
from .layouts import Layout
from .traces import ShapeChoice, open_trace

EXPECTED = "expected-final-state.json"
BATCH = 8_192
PAGE = 1 << 20

_PAGES = Columns("page_id")
_FILES = Columns("file_id")
_TARGETS = Columns("target_id")
_PLAYERS = Columns("player", "rating")

TRACES: dict[str, tuple[Operation, Columns]] = {
    "wikipedia-edits-jodie.tsv.gz": (Operation.ZINCRBY, _PAGES),
    "wikiticker-2015-09-12.tsv.gz": (Operation.ZINCRBY, _PAGES),
    "git-history-git.tsv.gz": (Operation.ZINCRBY, _FILES),
    "git-history-buildroot.tsv.gz": (Operation.ZINCRBY, _FILES),
    "git-history-numpy.tsv.gz": (Operation.ZINCRBY, _FILES),
    "git-history-combined.tsv.gz": (Operation.ZINCRBY, _FILES),
    "collegemsg.tsv.gz": (Operation.ZINCRBY, _TARGETS),
    "enron-messages.tsv.gz": (Operation.ZINCRBY, _TARGETS),
    "movielens-latest-small-ratings.csv.gz": (
        Operation.ZINCRBY,
        Columns("movieId", sort="timestamp"),
    ),
    "lichess-zadd-trace.tsv.gz": (Operation.ZADD, _PLAYERS),
    "tennis-atp-rankings-2020s.tsv.gz": (Operation.ZADD, Columns("player_id", "points")),
    "lichess-rating-history.tsv.gz": (
        Operation.ZADD,
        Columns("player", "rating", filters=(("kind", "rapid"),)),
    ),
}


@dataclass(frozen=True)
class Check:
    """One trace replayed into one set.

    Attributes
    ----------
    trace, layout : str
    score_rle : bool
    events, members : int
    problem : str or None
        The first difference; None when everything agrees.
    """

    trace: str
    layout: str
    score_rle: bool
    events: int
    members: int
    problem: str | None


def check_folder(folder: Path, layouts: list[Layout]) -> Iterator[Check]:
    """Replay every trace into every layout, RLE on and off, and compare the final states.

    Parameters
    ----------
    folder : Path
    layouts : list of Layout

    Yields
    ------
    Check

    Raises
    ------
    TraceError
        When the expected states or a trace are missing, or a trace is not known here.
    """
    path = folder / EXPECTED
    if not path.is_file():
        raise TraceError(f"{path}: no such file")
    expected: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    for name, wanted in expected.items():
        if name not in TRACES:
            raise TraceError(f"{name}: which columns make its events is not known")
        for layout in layouts:
            for rle in (True, False):
                yield _check(folder, name, wanted, layout, rle=rle)


def _check(folder: Path, name: str, wanted: dict[str, Any], layout: Layout, *, rle: bool) -> Check:
    operation, columns = TRACES[name]
    trace = open_trace(str(folder / name), operation, columns, ShapeChoice())
    engine = PackedEngine(layout, operation, score_rle=rle, merge_exponent=None)
    events = 0
    for block in trace.blocks(BATCH):
        values = None if block.values is None else block.values.astype(layout.score_dtype)
        engine.apply(layout.encode(block.members), values)
        events += len(block)
    found = {"events": events, **_state(engine, layout)}
    keys = ["events", *STATE_KEYS, *MAPPING_KEYS]
    keys += ["ordered_sha256_numeric_ties", "ordered_sha256_lexical_ties"]
    problem = first_difference({key: wanted[key] for key in keys}, found)
    return Check(name, layout.name, rle, events, len(engine), problem)


def _state(engine: PackedEngine, layout: Layout) -> dict[str, Any]:
    pages = [engine.page(at, at + PAGE) for at in range(0, len(engine), PAGE)]
    members = np.concatenate([layout.decode(page[0]) for page in pages])
    scores = np.concatenate([page[1] for page in pages]).astype(np.float64)
    state = digest(members, scores)
    order = lexical_order(members, scores)
    state["ordered_sha256_numeric_ties"] = state["ordered_sha256"]
    state["ordered_sha256_lexical_ties"] = digest(members[order], scores[order])["ordered_sha256"]
    return state
