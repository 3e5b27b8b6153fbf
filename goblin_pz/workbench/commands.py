"""The commands of ``goblin-pz``. Exit status 0: done and verified; 1: not; 2: wrong usage.

What needs the compiled modules is imported by the commands that use it: ``verify`` and ``charts``
work without a build.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from goblin_pz import __version__

from .blocks import Columns, Operation, TraceError
from .charts import draw
from .child import ChildError
from .evidence import UnverifiedError, load_verified
from .layouts import parse_layouts
from .progress import progress_for
from .report import report_text
from .tables import aligned

if TYPE_CHECKING:
    from .run import Outcome

FOLDER = click.Path(path_type=Path)
EXISTING = click.Path(path_type=Path, exists=True, file_okay=False)


def fail(message: object) -> NoReturn:
    """End with status 1 and a message."""
    raise click.ClickException(str(message))


def end_with_status(verified: bool) -> None:
    """Exit with status 1 when something did not verify."""
    if not verified:
        raise SystemExit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="goblin-pz")
def command() -> None:
    """Replay traces into packed sorted sets, verify them, and draw what they cost."""


def _columns(
    member: str | None,
    increment: str | None,
    score: str | None,
    filters: tuple[str, ...],
    sort: str | None,
    sep: str | None,
    header: bool,
) -> Columns | None:
    if increment is not None and score is not None:
        raise click.UsageError("--increment and --score exclude each other")
    if member is None:
        return None
    pairs = []
    for text in filters:
        name, equals, value = text.partition("=")
        if not equals:
            raise click.UsageError(f"--filter {text}: write COLUMN=TEXT")
        pairs.append((name, value))
    separator = {"tab": "\t", "comma": ",", "space": " "}.get(sep or "", sep)
    return Columns(member, increment or score, tuple(pairs), sort, separator, header)


def _rle(text: str) -> tuple[bool, ...]:
    return {"on": (True,), "off": (False,), "both": (True, False)}[text]


def _default_folder(name: str) -> Path:
    return Path(f"goblin-pz-{name}-{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}")


def _several(options: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_table_options = _several(
    [
        click.option("--member", metavar="COL", help="Column of the members."),
        click.option("--increment", metavar="COL", help="Column of increments (else 1 a row)."),
        click.option("--score", metavar="COL", help="Column of scores: ZADD instead of ZINCRBY."),
        click.option(
            "--filter", "filters", metavar="COL=TEXT", multiple=True, help="Keep equal rows only."
        ),
        click.option("--sort", metavar="COL", help="Sort by this column first."),
        click.option("--sep", metavar="CHAR", help="Separator: a character, tab, comma, space."),
        click.option("--header/--no-header", default=True, help="Whether line 1 names columns."),
    ]
)
_shape_options = _several(
    [
        click.option(
            "--pages", "--players", "entities", type=click.IntRange(1), help="Of a shape."
        ),
        click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=1, show_default=True),
        click.option(
            "--ids",
            type=click.Choice(["dense", "full-scale", "random"]),
            default="dense",
            show_default=True,
            help="Page ids of a shape.",
        ),
    ]
)


@command.command()
@click.argument("input_name", metavar="INPUT")
@_table_options
@_shape_options
@click.option("--layouts", default="int32-float32", show_default=True, help="Names, or all.")
@click.option("--rle", type=click.Choice(["on", "off", "both"]), default="both", show_default=True)
@click.option(
    "--batch",
    type=click.IntRange(0),
    default=131_072,
    show_default=True,
    help="Events a bulk call; 0 or 1: one by one.",
)
@click.option("--events", type=click.IntRange(1), help="Only so many events.")
@click.option("--repeats", type=click.IntRange(1), default=1, show_default=True)
@click.option("--merge-exponent", type=click.FloatRange(0, 1), help="Else the set's default.")
@click.option("--charts/--no-charts", default=True, show_default=True)
@click.option("--out", type=FOLDER, help="Result folder, new.")
def replay(
    input_name: str,
    member: str | None,
    increment: str | None,
    score: str | None,
    filters: tuple[str, ...],
    sort: str | None,
    sep: str | None,
    header: bool,
    entities: int | None,
    seed: int,
    ids: str,
    layouts: str,
    rle: str,
    batch: int,
    events: int | None,
    repeats: int,
    merge_exponent: float | None,
    charts: bool,
    out: Path | None,
) -> None:
    """Replay INPUT into sets and keep the evidence.

    INPUT is a file (.tsv, .csv, also .gz, .bz2, .zst; .npy, .npz, .parquet), git:PATH,
    shape:wikipedia or shape:lichess. Every final state is compared with an independent count.
    """
    from .run import Options
    from .run import replay as run_replay
    from .traces import ShapeChoice, open_trace

    columns = _columns(member, increment, score, filters, sort, sep, header)
    operation = Operation.ZINCRBY if score is None else Operation.ZADD
    folder = out or _default_folder("replay")
    progress = progress_for()
    try:
        options = Options(
            tuple(parse_layouts(layouts)), _rle(rle), batch, repeats, merge_exponent, events, seed
        )
        trace = open_trace(input_name, operation, columns, ShapeChoice(entities, seed, ids))
        outcome = run_replay(trace, options, folder, progress)
    except (TraceError, ChildError, FileExistsError, ValueError) as error:
        fail(error)
    _show(outcome, draw(folder) if charts and outcome.verified else [])
    end_with_status(outcome.verified)


def _show(outcome: Outcome, paths: list[Path]) -> None:
    click.echo(outcome.report)
    for path in paths:
        click.echo(f"chart: {path}")
    click.echo(f"result folder: {outcome.folder}")


@command.command()
@click.option("--pages", type=click.IntRange(1_000), help="Else 1 to 4 million, by --seconds.")
@click.option("--seconds", type=click.FloatRange(10), default=90.0, show_default=True)
@click.option("--repository", type=EXISTING, default=Path(), help="Git history to replay [here].")
@click.option("--out", type=FOLDER, help="Folder for the results, new.")
def demo(pages: int | None, seconds: float, repository: Path, out: Path | None) -> None:
    """Show what a set costs: a synthetic Wikipedia, and the git history here if there is one."""
    from .demo import default_folder
    from .demo import demo as run_demo

    try:
        shown = run_demo(out or default_folder(), repository, pages, seconds, progress_for())
    except (TraceError, ChildError, FileExistsError) as error:
        fail(error)
    for one in shown:
        _show(one.outcome, one.charts)
        click.echo()
    end_with_status(all(one.outcome.verified for one in shown))


@command.command()
@click.argument("kind", type=click.Choice(["wikipedia", "lichess"]))
@_shape_options
@click.option("--out", type=FOLDER, required=True, help="A new .tsv, .csv, .npz or .parquet file.")
def shapes(kind: str, entities: int | None, seed: int, ids: str, out: Path) -> None:
    """Write a synthetic workload to a file."""
    from .shapes import write_shape
    from .traces import ShapeChoice, open_shape

    try:
        trace = open_shape(kind, ShapeChoice(entities, seed, ids))
        rows = write_shape(trace, out)
    except (TraceError, FileExistsError) as error:
        fail(error)
    click.echo(f"{trace.title}: {rows:,} rows in {out} (synthetic)")


@command.command("check-traces")
@click.argument("folder", type=EXISTING)
@click.option("--layouts", default="all", show_default=True)
def check_traces(folder: Path, layouts: str) -> None:
    """Replay every trace of FOLDER and compare with its expected-final-state.json."""
    from .folders import check_folder

    rows = [("trace", "layout", "RLE", "events", "members", "result")]
    fine = True
    try:
        for check in check_folder(folder, parse_layouts(layouts)):
            fine = fine and check.problem is None
            rle = "on" if check.score_rle else "off"
            events, members = f"{check.events:,}", f"{check.members:,}"
            rows.append((check.trace, check.layout, rle, events, members, check.problem or "equal"))
    except (TraceError, ValueError) as error:
        fail(error)
    click.echo(aligned(rows, left=2), nl=False)
    click.echo(f"{len(rows) - 1} replays, {'all equal' if fine else 'NOT ALL EQUAL'}")
    end_with_status(fine and len(rows) > 1)


@command.command()
@click.argument("result", type=EXISTING)
def verify(result: Path) -> None:
    """Check a result folder again from end to end, and print its table."""
    try:
        checked = load_verified(result)
    except UnverifiedError as error:
        fail(error)
    manifest = checked.manifest
    click.echo(report_text(manifest["title"], manifest["trace"], checked.rows, []), nl=False)
    click.echo(f"\nverified: {len(manifest['files'])} files, {len(checked.rows)} runs")


@command.command()
@click.argument("result", type=EXISTING)
@click.option("--out", type=FOLDER, required=True, help="A new folder.")
def charts(result: Path, out: Path) -> None:
    """Draw the charts of a result folder anew; needs no build of the set."""
    try:
        paths = draw(result, out)
    except (UnverifiedError, FileExistsError) as error:
        fail(error)
    for path in paths:
        click.echo(f"chart: {path}")
