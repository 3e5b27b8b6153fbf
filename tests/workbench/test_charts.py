"""Charts: what they say in words, that they are readable, and that they repeat byte for byte."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image

from goblin_pz.workbench import barchart, chartstyle, curves, published
from goblin_pz.workbench.charts import draw, main_layout
from goblin_pz.workbench.evidence import load_verified
from goblin_pz.workbench.stats import Spread

SVG = "{http://www.w3.org/2000/svg}"


def samples_of(members: int, per_member: float) -> list[dict]:
    """Made-up samples of a large run."""
    rows = []
    for step in range(11):
        count = members * step // 10
        rows.append(
            {
                "kind": "idle" if step == 0 else "final" if step == 10 else "sample",
                "events": 18 * count,
                "members": count,
                "allocated_bytes": int(per_member * count) + 300,
                "rss_bytes": 40_000_000 + int(1.1 * per_member * count),
            }
        )
    return rows


@pytest.fixture(scope="module")
def plot():
    made = chartstyle.pyplot()
    with made.rc_context(chartstyle.STYLE):
        yield made


def texts(path) -> str:
    root = ElementTree.parse(path).getroot()
    return " ".join("".join(element.itertext()) for element in root.iter(f"{SVG}text"))


def test_charts_of_a_result(result):
    paths = draw(result)
    names = sorted(path.name for path in paths)
    assert names == [
        "memory-per-member.png",
        "memory-per-member.svg",
        "rle-by-layout.png",
        "rle-by-layout.svg",
    ]
    rows = {(row["layout"], row["score_rle"]): row for row in load_verified(result).rows}
    per_member = rows["int32-float32", True]["allocated_bytes_per_member"]
    shown = texts(result / "charts/memory-per-member.svg")
    assert f"allocated, RLE on: {per_member:.2f}" in shown
    assert "Redis 7.2.4: 100.4 (published)" in shown
    assert "synthetic Wikipedia shape" in shown
    assert "final state verified" in shown
    bars = texts(result / "charts/rle-by-layout.svg")
    for row in rows.values():
        assert f"{row['allocated_bytes_per_member']:.2f}" in bars
    assert {"20.9", "27.0", "66.2", "78.4"} <= set(bars.split())
    with pytest.raises(FileExistsError):
        draw(result)


@pytest.mark.parametrize("name", ["memory-per-member", "rle-by-layout"])
def test_words_for_those_who_do_not_see(result, name):
    draw(result)
    root = ElementTree.parse(result / f"charts/{name}.svg").getroot()
    assert root.get("role") == "img"
    title, description = root[0], root[1]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert re.search(r"\d", title.text)
    assert len(description.text) > 100
    with Image.open(result / f"charts/{name}.png") as image:
        assert image.text["Description"] == description.text
        assert image.text["Title"] == title.text


def test_charts_repeat_byte_for_byte(result):
    draw(result)
    draw(result, result / "again")
    for path in (result / "charts").glob("*.svg"):
        text = path.read_text()
        assert text == (result / "again" / path.name).read_text()
        assert not re.search(r"[ \t]$", text, re.MULTILINE)


def test_totals_are_drawn_beside_the_published(plot, tmp_path):
    runs = {True: samples_of(80_000_000, 2.6)}
    curves.draw_total(plot, runs, "int32-float32", "A note.", tmp_path)
    shown = texts(tmp_path / "memory-total.svg")
    assert "0.194 GiB at 80.0 M members; published engines 1.63 to 7.55 GiB" in shown
    assert "this run, allocated, RLE on: 0.194 GiB" in shown
    assert "this run, RSS growth, RLE on: 0.213 GiB" in shown
    for label in ("Redis 7.2.4: 7.55", "Redis 8.8: 5.47", "Valkey 9.1: 5.21", "Dragonfly: 4.53"):
        assert f"{label} GiB (published)" in shown


def test_totals_without_rss(plot, tmp_path):
    samples = [{**row, "rss_bytes": None} for row in samples_of(6_000_000, 2.6)]
    curves.draw_total(plot, {False: samples}, "int64-float64", "A note.", tmp_path)
    shown = texts(tmp_path / "memory-total.svg")
    assert "RSS growth" not in shown
    assert "allocated, RLE off" in shown


def test_a_lone_point_is_seen(plot, tmp_path, monkeypatch):
    lines = []
    monkeypatch.setattr(curves, "save", lambda figure, *_: lines.extend(figure.axes[0].lines) or [])
    curves.draw_growth(plot, {True: samples_of(100, 3.0)}, "int32-float32", "A note.", tmp_path)
    plot.close("all")
    lone = [line for line in lines if len(line.get_xdata()) == 1]
    assert len(lone) == 1
    assert lone[0].get_marker() == "o"


def test_axes_start_at_zero(plot, tmp_path, monkeypatch):
    limits = []
    monkeypatch.setattr(
        curves, "save", lambda figure, *_: limits.extend(a.get_ylim() for a in figure.axes) or []
    )
    monkeypatch.setattr(
        barchart, "save", lambda figure, *_: limits.extend(a.get_ylim() for a in figure.axes) or []
    )
    runs = {True: samples_of(10_000_000, 2.6), False: samples_of(10_000_000, 9.0)}
    curves.draw_growth(plot, runs, "int32-float32", "A note.", tmp_path)
    curves.draw_total(plot, runs, "int32-float32", "A note.", tmp_path)
    row = {"layout": "int32-float32", "score_rle": True, "allocated_bytes_per_member": 2.5}
    barchart.draw_bars(plot, [row], "A note.", tmp_path)
    plot.close("all")
    assert len(limits) == 4
    assert all(low == 0 < high for low, high in limits)


def test_every_line_has_its_own_look():
    looks = [*curves.LOOKS.values(), *curves.ALLOCATED.values(), *curves.RESIDENT.values()]
    assert len({(look.colour, str(look.dashes), look.marker) for look in looks}) == len(looks)
    assert len({(str(look.dashes), look.marker) for look in looks}) == len(looks)  # without colour
    assert {curve.engine for curve in published.growth_curves()} == set(curves.LOOKS)


@pytest.mark.parametrize(
    ("wanted", "placed"),
    [
        ([5.0], [5.0]),
        ([5.0, 5.0], [5.0, 6.0]),
        ([9.9, 9.8, 2.0], [10.0, 9.0, 2.0]),
        ([0.0, 0.1, 0.2], [0.0, 1.0, 2.0]),
    ],
)
def test_labels_are_pushed_apart(wanted, placed):
    found = chartstyle.spread_labels(wanted, gap=1.0, low=0.0, high=10.0)
    assert found == pytest.approx(placed)


def test_rss_is_left_out_where_pages_outweigh_the_set():
    points = curves.resident_points(samples_of(1_000, 3.0))
    assert points[0][0] >= 125
    assert len(points[0]) == len(points[1])
    assert curves.allocated_points(samples_of(100, 3.0))[0] == [100.0]


def test_published_table_is_that_of_the_study():
    ends = {curve.engine: curve for curve in published.growth_curves()}
    gib = {engine: round(curve.rss_bytes[-1] / published.GIB, 2) for engine, curve in ends.items()}
    assert gib == {
        "goblin-packed-int32-float32-rle-on": 1.63,
        "goblin-packed-int32-float32": 2.10,
        "goblin-standard": 3.46,
        "dragonfly": 4.53,
        "valkey-9.1": 5.21,
        "redis-8.8": 5.47,
        "redis-7.2.4": 7.55,
    }
    assert all(curve.members[-1] == 80_798_328 for curve in ends.values())
    assert round(published.allocated_per_member("int32-float32", rle=True), 1) == 20.9
    assert len(published.rle_matrix()) == 12


def test_the_title_of_bars_says_what_rle_saves():
    def spread(value: float) -> Spread:
        return Spread(value, value, value, 1)

    both = {("a", True): spread(2.0), ("a", False): spread(4.0)}
    assert barchart.finding(both, ["a"]) == "Score RLE saves 50.0 % of the set's bytes"
    both |= {("b", True): spread(3.0), ("b", False): spread(4.0)}
    assert "25.0 to 50.0 %" in barchart.finding(both, ["a", "b"])
    assert "2.00 bytes" in barchart.finding({("a", True): spread(2.0)}, ["a"])


def test_the_studys_layout_is_shown_first(result):
    loaded = load_verified(result)
    assert main_layout(loaded) == "int32-float32"
    for row in loaded.rows:
        row["layout"] = "uuid-float64"
    assert main_layout(loaded) == "uuid-float64"
