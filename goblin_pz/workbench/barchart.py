"""Score RLE on and off, a group of bars for every layout, the published ones beside."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .chartstyle import INK, OFF_COLOUR, ON_COLOUR, save
from .published import allocated_per_member
from .stats import Spread, spreads
from .tables import Row

WIDTH = 0.2
COLUMN = "allocated_bytes_per_member"
PUBLISHED_NOTE = (
    "Published bars (outlined): allocated bytes a member after 1.483 billion increments of "
    "80.8 million members, 12 concurrent runs, one trial (goblin-core study)."
)


def saving(figures: dict[tuple[str, bool], Spread], layout: str) -> float | None:
    """Give the share of bytes that RLE saves, in percent; None when a setting is missing."""
    on, off = figures.get((layout, True)), figures.get((layout, False))
    return None if on is None or off is None else 100.0 * (1.0 - on.median / off.median)


def finding(figures: dict[tuple[str, bool], Spread], layouts: Sequence[str]) -> str:
    """Say in one line what the bars show."""
    savings = [value for value in (saving(figures, name) for name in layouts) if value is not None]
    if not savings:
        lowest = min(spread.median for spread in figures.values())
        return f"Packed set holds a member in {lowest:.2f} bytes or more, by layout"
    low, high = min(savings), max(savings)
    share = f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"
    return f"Score RLE saves {share} % of the set's bytes"


def draw_bars(plot: Any, rows: Sequence[Row], note: str, target: Path) -> list[Path]:
    """Draw the bars and save them as rle-by-layout."""
    figures = spreads(rows, COLUMN)
    layouts = list(dict.fromkeys(row["layout"] for row in rows))
    title = finding(figures, layouts)
    figure, axes = plot.subplots(figsize=(max(7.0, 2.1 * len(layouts) + 2.5), 5.6))
    figure.subplots_adjust(left=0.1, right=0.98, top=0.85, bottom=0.24)
    described = []
    for at, layout in enumerate(layouts):
        for place, rle in ((-1.5, False), (-0.5, True)):
            spread = figures.get((layout, rle))
            if spread is not None:
                _own_bar(axes, at + place * WIDTH, spread, rle)
                described.append(f"{layout} RLE {'on' if rle else 'off'} {spread.median:.2f}")
        for place, rle in ((0.5, False), (1.5, True)):
            value = allocated_per_member(layout, rle=rle)
            _published_bar(axes, at + place * WIDTH, value, rle)
            described.append(f"{layout} RLE {'on' if rle else 'off'} {value:.1f} published")
    axes.set_xticks(range(len(layouts)), layouts)
    axes.set_ylabel("allocated bytes a member")
    axes.set_ylim(0, axes.get_ylim()[1] * 1.05)
    axes.tick_params(axis="x", length=0)
    _legend(plot, axes)
    figure.suptitle(title, x=0.02, ha="left", fontsize=12, fontweight="bold")
    lines = textwrap.wrap(f"{note} {PUBLISHED_NOTE}", int(figure.get_figwidth() * 15))
    figure.text(0.02, 0.02, "\n".join(lines), fontsize=8, va="bottom")
    return save(figure, target / "rle-by-layout", title, "; ".join(described) + f". {note}")


def _own_bar(axes: Any, x: float, spread: Spread, rle: bool) -> None:
    axes.bar(
        x,
        spread.median,
        WIDTH * 0.92,
        color=ON_COLOUR if rle else OFF_COLOUR,
        edgecolor="white",
        hatch=None if rle else "//",
    )
    if spread.trials > 1:
        errors = [[spread.median - spread.low], [spread.high - spread.median]]
        axes.errorbar(x, spread.median, yerr=errors, color=INK, capsize=3, linewidth=1)
    _value(axes, x, spread.high, f"{spread.median:.2f}", "bold")


def _published_bar(axes: Any, x: float, value: float, rle: bool) -> None:
    axes.bar(
        x,
        value,
        WIDTH * 0.92,
        facecolor="white",
        edgecolor=ON_COLOUR if rle else OFF_COLOUR,
        linewidth=1.3,
        hatch=None if rle else "//",
    )
    _value(axes, x, value, f"{value:.1f}", "normal")


def _value(axes: Any, x: float, y: float, text: str, weight: str) -> None:
    axes.annotate(
        text,
        (x, y),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=8,
        fontweight=weight,
    )


def _legend(plot: Any, axes: Any) -> None:
    patch = plot.matplotlib.patches.Patch
    handles = [
        patch(facecolor=OFF_COLOUR, edgecolor="white", hatch="//", label="RLE off, this run"),
        patch(facecolor=ON_COLOUR, label="RLE on, this run"),
        patch(facecolor="white", edgecolor=OFF_COLOUR, hatch="//", label="RLE off, published"),
        patch(facecolor="white", edgecolor=ON_COLOUR, label="RLE on, published"),
    ]
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=4,
        frameon=False,
        fontsize=8,
    )
