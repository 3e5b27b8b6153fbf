"""The demonstration: a synthetic Wikipedia and a real git history, in under two minutes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from .blocks import Trace
from .charts import draw
from .gitlog import git_trace, head_commit
from .layouts import LAYOUTS
from .progress import Progress
from .run import Options, Outcome, replay
from .shapes import shape_trace

LAYOUT_NAMES = ("int32-float32", "int64-float64")
PAGES_LEAST, PAGES_MOST = 1_000_000, 4_000_000
PROBE_PAGES = 100_000
SEED = 1


@dataclass(frozen=True)
class Shown:
    """One replay of the demonstration and its charts."""

    outcome: Outcome
    charts: list[Path]


def default_folder() -> Path:
    """Name a result folder by the time."""
    return Path(f"goblin-pz-demo-{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}")


def demo(
    out: Path, repository: Path, pages: int | None, seconds: float, progress: Progress
) -> list[Shown]:
    """Replay both inputs into the study's layout and the default, RLE on and off.

    Parameters
    ----------
    out : Path
        A new folder; gets one result folder an input.
    repository : Path
        Whose git history is replayed, if it has one.
    pages : int or None
        Of the Wikipedia shape; None finds out how many fit the time: 1 to 4 million.
    seconds : float
        About how long all may take.
    progress : Progress

    Returns
    -------
    list of Shown
        Only verified ones have charts.
    """
    begun = time.monotonic()
    out.mkdir(parents=True)
    layouts = tuple(LAYOUTS[name] for name in LAYOUT_NAMES)
    shown = []
    if head_commit(repository) is not None:
        shown.append(
            _show(git_trace(repository), Options(layouts, batch=1_024), out / "git", progress)
        )
    else:
        progress.say("no git history here: the demonstration goes on without")
    if pages is None:
        probe = time.monotonic()
        trace = shape_trace("wikipedia", PROBE_PAGES, SEED)
        outcome = replay(trace, Options(layouts), out / "wikipedia-probe", progress)
        shown.append(Shown(outcome, []))
        spent = time.monotonic() - probe
        pages = fitting_pages(seconds - (time.monotonic() - begun), spent)
    trace = shape_trace("wikipedia", pages, SEED)
    shown.append(_show(trace, Options(layouts), out / "wikipedia", progress))
    return shown


def fitting_pages(left: float, probe_seconds: float) -> int:
    """Choose how many pages to replay.

    Parameters
    ----------
    left : float
        Seconds that remain.
    probe_seconds : float
        What `PROBE_PAGES` took, starting processes and drawing included.

    Returns
    -------
    int
        A whole number of millions, 1 to 4; more members cost somewhat more each, so only two
        thirds of the time are planned for.
    """
    fitting = PROBE_PAGES * (left / 1.5) / max(probe_seconds, 0.1)
    return max(PAGES_LEAST, min(int(fitting // 1_000_000) * 1_000_000, PAGES_MOST))


def _show(trace: Trace, options: Options, folder: Path, progress: Progress) -> Shown:
    outcome = replay(trace, options, folder, progress)
    return Shown(outcome, draw(folder) if outcome.verified else [])
