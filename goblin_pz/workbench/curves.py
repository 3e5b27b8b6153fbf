"""Memory against members: this run's curves, alone and beside the published ones."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .chartstyle import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Look,
    label_ends,
    save,
)
from .extras import need
from .published import GIB, SOURCE, Curve, growth_curves
from .stats import growth, per_member
from .tables import Row

Runs = Mapping[bool, Sequence[Row]]
Points = tuple[list[float], list[float]]

LOOKS = {
    "redis-7.2.4": Look(VERMILLION, "-", "o"),
    "redis-8.8": Look(ORANGE, "-", "s"),
    "valkey-9.1": Look(BLUE, "-", "^"),
    "dragonfly": Look(PURPLE, "-", "D"),
    "goblin-standard": Look(GREEN, "-", "v"),
    "goblin-packed-int32-float32": Look(SKY, (0, (5, 2)), "P"),
    "goblin-packed-int32-float32-rle-on": Look(SKY, "-", "X"),
}
ALLOCATED = {True: Look(BLACK, "-"), False: Look(BLACK, (0, (6, 2)))}
RESIDENT = {True: Look(GREY, (0, (1, 1))), False: Look(GREY, (0, (3, 1, 1, 1)))}
FEW_MEMBERS = 1024
RSS_SHARE = 8
LETTERS = 8.5


def allocated_points(samples: Sequence[Row]) -> Points:
    """Give members and allocated bytes a member; from 1,024 members on (earlier: headers)."""
    kept = [sample for sample in samples if sample["members"] >= FEW_MEMBERS] or [samples[-1]]
    return (
        [float(sample["members"]) for sample in kept],
        [sample["allocated_bytes"] / sample["members"] for sample in kept],
    )


def resident_points(samples: Sequence[Row]) -> Points:
    """Give members and RSS growth a member, from an eighth of the final members on.

    Before that the pages that a process touches once outweigh the set.
    """
    least = max(samples[-1]["members"] / RSS_SHARE, 1)
    pairs = [
        (float(sample["members"]), per_member(amount, sample["members"]))
        for sample, amount in zip(samples, growth(samples), strict=True)
        if sample["members"] >= least
    ]
    return [x for x, _ in pairs], [y for _, y in pairs if y is not None]


def published_points(curve: Curve) -> Points:
    """Give members and RSS bytes a member of every published sample that has members."""
    pairs = [(m, rss / m) for m, rss in zip(curve.members, curve.rss_bytes, strict=True) if m]
    return [float(x) for x, _ in pairs], [y for _, y in pairs]


def final_allocated(samples: Sequence[Row]) -> float:
    """Give the final allocated bytes a member."""
    return float(samples[-1]["allocated_bytes"]) / float(samples[-1]["members"])


def switch(rle: bool) -> str:
    """Name an RLE setting."""
    return "RLE on" if rle else "RLE off"


def plain_number(value: float, _: object = None) -> str:
    """Write a number of members on an axis: 1 k, 20 M."""
    for unit, letter in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:,.3g}{letter}"
    return f"{value:g}"


def _line(axes: Any, points: Points, look: Look, wide: float) -> None:
    axes.plot(
        *points,
        color=look.colour,
        linestyle=look.dashes,
        linewidth=wide,
        marker=look.marker or ("o" if len(points[0]) == 1 else ""),  # a lone point has no line
        markersize=4,
        markevery=max(len(points[0]) // 8, 1),
        markerfacecolor="white",
    )


def _members_axis(axes: Any) -> None:
    ticker = need("matplotlib.ticker", "drawing charts")
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    subs = (1, 2, 5) if high < 100 * low else (1,)
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=9))
    axes.xaxis.set_major_formatter(plain_number)
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("members (logarithmic)")


def _finish(axes: Any, unit: str, top: float) -> None:
    axes.set_ylim(0, top)
    axes.set_ylabel(unit)


def draw_growth(plot: Any, runs: Runs, layout: str, note: str, target: Path) -> list[Path]:
    """Draw bytes a member against members: left this run alone, right beside the published."""
    curves = growth_curves()
    best = final_allocated(runs.get(True, next(iter(runs.values()))))
    members = int(next(iter(runs.values()))[-1]["members"])
    title = (
        f"Packed set ({layout}): {best:.2f} bytes a member at {members:,} members; "
        f"published engines end at {curves[0].bytes_per_member:.1f} to "
        f"{curves[-1].bytes_per_member:.1f}"
    )
    figure, (own, beside) = plot.subplots(1, 2, figsize=(13, 5.6))
    figure.subplots_adjust(left=0.06, right=0.79, wspace=0.66, top=0.86, bottom=0.2)
    own_ends = _draw_own(own, runs)
    beside_ends = _draw_beside(beside, runs, curves)
    own.set_title("this run", fontsize=10, loc="left")
    beside.set_title("beside the published runs (whole server processes)", fontsize=10, loc="left")
    figure.suptitle(title, x=0.06, ha="left", fontsize=12, fontweight="bold")
    _foot(figure, f"{note} RSS growth is drawn from an eighth of the members on. {SOURCE}.")
    figure.canvas.draw()
    label_ends(own, own_ends, LETTERS)
    label_ends(beside, beside_ends, LETTERS)
    described = "; ".join(text for *_, text, _ in (*own_ends, *beside_ends))
    return save(figure, target / "memory-per-member", title, f"Final values: {described}. {note}")


def _foot(figure: Any, text: str) -> None:
    figure.text(0.06, 0.02, "\n".join(textwrap.wrap(text, 170)), fontsize=8, va="bottom")


def _draw_own(axes: Any, runs: Runs) -> list[tuple[float, float, str, str]]:
    ends = []
    top = 1.0
    for rle, samples in runs.items():
        for points, look, what in (
            (allocated_points(samples), ALLOCATED[rle], "allocated"),
            (resident_points(samples), RESIDENT[rle], "RSS growth"),
        ):
            if not points[1]:
                continue
            _line(axes, points, look, 1.8)
            end = points[1][-1]
            ends.append((points[0][-1], end, f"{what}, {switch(rle)}: {end:.2f}", look.colour))
            top = max(top, *points[1])
    _members_axis(axes)
    _finish(axes, "bytes a member", top * 1.15)
    return ends


def _draw_beside(
    axes: Any, runs: Runs, curves: Sequence[Curve]
) -> list[tuple[float, float, str, str]]:
    ends = []
    top = 1.0
    for curve in curves:
        points, look = published_points(curve), LOOKS[curve.engine]
        _line(axes, points, look, 1.2)
        text = f"{curve.label}: {curve.bytes_per_member:.1f} (published)"
        ends.append((points[0][-1], points[1][-1], text, look.colour))
        top = max(top, *points[1])
    rle = True if True in runs else next(iter(runs))
    points = allocated_points(runs[rle])
    _line(axes, points, ALLOCATED[True], 2.2)
    end = points[1][-1]
    ends.append((points[0][-1], end, f"this run, allocated, {switch(rle)}: {end:.2f}", BLACK))
    _members_axis(axes)
    _finish(axes, "bytes a member", top * 1.08)
    return ends


def draw_total(plot: Any, runs: Runs, layout: str, note: str, target: Path) -> list[Path]:
    """Draw GiB against millions of members, beside the published curves."""
    curves = growth_curves()
    rle = True if True in runs else next(iter(runs))
    samples = runs[rle]
    final = samples[-1]["allocated_bytes"] / GIB
    millions = samples[-1]["members"] / 1e6
    title = (
        f"Packed set ({layout}): {final:.3f} GiB at {millions:.1f} M members; "
        f"published engines {curves[0].rss_bytes[-1] / GIB:.2f} to "
        f"{curves[-1].rss_bytes[-1] / GIB:.2f} GiB at 80.8 M"
    )
    figure, axes = plot.subplots(figsize=(11, 6))
    figure.subplots_adjust(left=0.07, right=0.74, top=0.9, bottom=0.18)
    ends = []
    for curve in curves:
        points = ([m / 1e6 for m in curve.members], [rss / GIB for rss in curve.rss_bytes])
        look = LOOKS[curve.engine]
        _line(axes, points, look, 1.2)
        text = f"{curve.label}: {points[1][-1]:.2f} GiB (published)"
        ends.append((points[0][-1], points[1][-1], text, look.colour))
    for amounts, look, what in (
        ([sample["allocated_bytes"] for sample in samples], ALLOCATED[True], "allocated"),
        (growth(samples), RESIDENT[True], "RSS growth"),
    ):
        if any(amount is None for amount in amounts):
            continue
        own = (
            [sample["members"] / 1e6 for sample in samples],
            [float(amount or 0) / GIB for amount in amounts],
        )
        _line(axes, own, look, 2.2)
        text = f"this run, {what}, {switch(rle)}: {own[1][-1]:.3f} GiB"
        ends.append((own[0][-1], own[1][-1], text, look.colour))
    axes.set_xlabel("members (millions)")
    axes.set_xlim(0, None)
    _finish(axes, "memory, GiB (2**30 bytes)", max(end[1] for end in ends) * 1.08)
    figure.suptitle(title, x=0.07, ha="left", fontsize=12, fontweight="bold")
    _foot(figure, f"{note} {SOURCE}.")
    figure.canvas.draw()
    label_ends(axes, ends, LETTERS)
    described = "; ".join(text for *_, text, _ in ends)
    return save(figure, target / "memory-total", title, f"Final values: {described}. {note}")
