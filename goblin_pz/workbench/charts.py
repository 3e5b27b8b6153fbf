"""The charts of a result that passed every check.

`draw` takes a result folder and checks it first; nothing is drawn from one that fails. The
compiled set is not needed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from .barchart import draw_bars
from .chartstyle import STYLE, pyplot
from .curves import draw_growth, draw_total
from .evidence import Result, load_verified, sha256_of, to_json
from .stats import is_on

MAIN_LAYOUTS = ("int32-float32", "int64-float64")
TOTAL_FROM = 5_000_000  # members from which totals can be told apart beside the published ones


def main_layout(result: Result) -> str:
    """Choose the layout that the curves show: the study's, else the default, else the first."""
    layouts = [row["layout"] for row in result.rows]
    return next((name for name in MAIN_LAYOUTS if name in layouts), layouts[0])


def foot(result: Result) -> str:
    """Say under a chart what it rests on."""
    facts, machine = result.manifest["trace"], result.manifest["machine"]
    trials = max(row["trial"] for row in result.rows)
    return (
        f"{result.manifest['title']}: {facts['events']:,} events, {facts['members']:,} members, "
        f"batches of {result.manifest['options']['batch']:,}; "
        f"{'one trial' if trials == 1 else f'{trials} trials'}, "
        f"{machine['cores']} cores, {machine['system']} {machine['architecture']}; "
        "final state verified."
    )


def draw(folder: Path, out: Path | None = None) -> list[Path]:
    """Draw all charts of a result folder.

    Parameters
    ----------
    folder : Path
    out : Path, optional
        A new folder; by default ``charts`` within the result folder.

    Returns
    -------
    list of Path
        SVG and PNG files; beside them sources.json with the hashes of what they rest on.

    Raises
    ------
    UnverifiedError
        When the folder fails any check.
    FileExistsError
        When `out` exists.
    MissingExtraError
        Without matplotlib.
    """
    result = load_verified(folder)
    plot = pyplot()
    target = folder / "charts" if out is None else out
    target.mkdir(parents=True)
    with plot.rc_context(STYLE):
        paths = _draw_all(plot, result, target)
    sources: dict[str, Any] = {
        "source": folder.name,
        "manifest_sha256": sha256_of(folder / "manifest.json"),
        "charts": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths},
    }
    (target / "sources.json").write_text(to_json(sources), encoding="utf-8")
    return paths


def _draw_all(plot: Any, result: Result, target: Path) -> list[Path]:
    layout = main_layout(result)
    runs = {
        is_on(row["score_rle"]): result.samples[row["run"]]
        for row in result.rows
        if row["layout"] == layout and row["trial"] == 1
    }
    note = foot(result)
    paths = draw_growth(plot, runs, layout, note, target)
    if result.manifest["trace"]["members"] >= TOTAL_FROM:
        paths += draw_total(plot, runs, layout, note, target)
    return paths + draw_bars(plot, result.rows, note, target)
