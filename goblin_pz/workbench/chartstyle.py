"""How every chart looks and is saved: colours with a second cue, labels, text for screen readers.

Colours are those of Okabe and Ito, told apart by people with any colour vision; each line also
has its own dashes or mark, so that grey print works too.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .extras import need

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, BLACK, GREY = "#E69F00", "#56B4E9", "#000000", "#555555"
OFF_COLOUR, ON_COLOUR = "#788681", "#548a08"
INK = "#222222"
GRID = "#dddddd"

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": GRID,
    "axes.axisbelow": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "goblin_pz",
    "figure.dpi": 100,
}


@dataclass(frozen=True)
class Look:
    """Colour and second cue of one line."""

    colour: str
    dashes: Any = "-"
    marker: str = ""


def pyplot() -> Any:
    """Import matplotlib, drawing to files only."""
    matplotlib = need("matplotlib", "drawing charts")
    matplotlib.use("Agg")
    return need("matplotlib.pyplot", "drawing charts")


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Push label positions apart until none are nearer than `gap`.

    Parameters
    ----------
    wanted : sequence of float
        Where each label would stand, in any order.
    gap, low, high : float
        Least distance, and the room; labels leave it only when they do not fit at all.

    Returns
    -------
    list of float
        In the order of `wanted`; the order from low to high stays.
    """
    order = sorted(range(len(wanted)), key=lambda at: wanted[at])
    placed = [wanted[at] for at in order]
    for at in range(len(placed)):
        floor = low if at == 0 else placed[at - 1] + gap
        placed[at] = max(placed[at], floor)
    for at in reversed(range(len(placed))):
        ceiling = high if at == len(placed) - 1 else placed[at + 1] - gap
        placed[at] = min(placed[at], ceiling)
    result = [0.0] * len(placed)
    for at, position in zip(order, placed, strict=True):
        result[at] = position
    return result


def label_ends(axes: Any, ends: Sequence[tuple[float, float, str, str]], size: float) -> None:
    """Label lines at their ends, right of the axes, instead of a legend.

    Parameters
    ----------
    axes : matplotlib Axes
        Its limits are final.
    ends : sequence of (x, y, text, colour)
    size : float
        Of the letters, in points.
    """
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height
    gap = (high - low) * size * 1.35 * axes.figure.dpi / 72 / height
    places = spread_labels([end[1] for end in ends], gap, low + gap / 2, high - gap / 2)
    right = axes.get_xlim()[1]
    for (x, y, text, colour), place in zip(ends, places, strict=True):
        axes.annotate(
            f" {text}",
            xy=(x, y),
            xytext=(right, place),
            textcoords="data",
            va="center",
            ha="left",
            fontsize=size,
            color=INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.7,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )


def save(figure: Any, stem: Path, title: str, description: str) -> list[Path]:
    """Save a figure as SVG and PNG with its text for those who do not see it.

    Parameters
    ----------
    figure : matplotlib Figure
    stem : Path
        Without suffix; the files must not exist.
    title, description : str
        Into <title> and <desc> of the SVG and the text chunks of the PNG.

    Returns
    -------
    list of Path
    """
    svg, png = stem.with_suffix(".svg"), stem.with_suffix(".png")
    for path in (svg, png):
        if path.exists():
            raise FileExistsError(f"{path} exists")
    figure.savefig(svg, metadata={"Date": None, "Creator": None})
    figure.savefig(png, dpi=144, metadata={"Title": title, "Description": description})
    pyplot().close(figure)
    text = svg.read_text(encoding="utf-8")
    start = text.index("<svg ")
    head = text.index(">", start)
    names = ' role="img" aria-labelledby="chart-title chart-desc"'
    told = (
        f'\n <title id="chart-title">{html.escape(title)}</title>'
        f'\n <desc id="chart-desc">{html.escape(description)}</desc>'
    )
    text = text[:head] + names + text[head] + told + text[head + 1 :]
    lines = [line.rstrip() for line in text.splitlines()]
    svg.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [svg, png]
