"""One replay: count, replay every variant in a process of its own, verify, keep the evidence.

The trace is read once for the independent count and the SHA-256 of its events, then once more for
every variant: into a child process with one set, with timed calls and samples between them. The
set's full content comes back, is compared with the count, and digested.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from .blocks import Block, Trace, TraceError
from .child import ChildSet
from .content import PAGE_ROWS, check_content
from .digests import digest
from .evidence import ResultWriter, to_json
from .layouts import FLOAT32_WHOLE, Layout
from .machine import machine_facts, version_facts
from .oracle import Oracle, Ordered
from .progress import Progress
from .report import report_text
from .sampler import read_memory
from .stats import RESULT_COLUMNS, SAMPLE_COLUMNS, result_row
from .tables import Row, write_tsv

COUNT_ROWS = 1 << 20
CHUNK_ROWS = 1 << 16
POINT_ROWS = 1 << 14
SAMPLES = 200


@dataclass(frozen=True)
class Options:
    """How to replay.

    Attributes
    ----------
    layouts : tuple of Layout
    score_rle : tuple of bool
        Settings to run: on, off or both.
    batch : int
        Events in one bulk call; 0 or 1: one by one through scalar calls.
    repeats : int
        Trials of every variant; with more than one their order is shuffled.
    merge_exponent : float or None
        None is the set's default.
    events : int or None
        Only so many events of the trace.
    seed : int
        Of the order of trials.
    """

    layouts: tuple[Layout, ...]
    score_rle: tuple[bool, ...] = (True, False)
    batch: int = 131_072
    repeats: int = 1
    merge_exponent: float | None = None
    events: int | None = None
    seed: int = 1


@dataclass(frozen=True)
class Variant:
    """One set to replay into."""

    layout: Layout
    score_rle: bool
    trial: int

    @property
    def name(self) -> str:
        """Such as ``int32-float32-rle-on``, with the trial from the second on."""
        name = f"{self.layout.name}-rle-{'on' if self.score_rle else 'off'}"
        return name if self.trial == 1 else f"{name}-trial-{self.trial}"


@dataclass
class Outcome:
    """What became of a replay.

    Attributes
    ----------
    folder : Path
    verified : bool
    problems : list of str
        Empty when verified.
    report : str
    """

    folder: Path
    verified: bool
    problems: list[str]
    report: str


@dataclass
class _Counted:
    """What pass 1 found."""

    oracle: Oracle
    facts: dict[str, Any]
    digests: dict[int, dict[str, Any]] = field(default_factory=dict)

    def digest_of(self, ordered: Ordered) -> dict[str, Any]:
        """Digest a state that the oracle keeps, once."""
        if id(ordered) not in self.digests:
            self.digests[id(ordered)] = digest(ordered.members, ordered.scores)
        return self.digests[id(ordered)]


@dataclass
class _Replayed:
    """What one variant gave."""

    run: dict[str, Any]
    samples: list[Row] = field(default_factory=list)
    digests: dict[str, Any] = field(default_factory=dict)
    problem: str | None = None


def limited(trace: Trace, rows: int, events: int | None) -> Iterator[Block]:
    """Read a trace up to a number of events."""
    left = events
    for block in trace.blocks(rows):
        if left is None:
            yield block
            continue
        if len(block) >= left:
            values = None if block.values is None else block.values[:left]
            yield Block(block.members[:left], values)
            return
        left -= len(block)
        yield block


def replay(trace: Trace, options: Options, folder: Path, progress: Progress) -> Outcome:
    """Replay a trace and write a result folder.

    Parameters
    ----------
    trace : Trace
    options : Options
    folder : Path
        Must not exist.
    progress : Progress

    Returns
    -------
    Outcome
        Not verified when a final state differs from the count or the input changed meanwhile.

    Raises
    ------
    TraceError
        When the input cannot be read or a member does not fit a layout.
    ChildError
        When the process of a set fails.
    FileExistsError
    """
    writer = ResultWriter(folder)
    try:
        return _replay(trace, options, writer, progress)
    except BaseException:
        writer.fail()
        raise


def _replay(trace: Trace, options: Options, writer: ResultWriter, progress: Progress) -> Outcome:
    begun = datetime.now(timezone.utc)
    machine = machine_facts()
    inputs = trace.inputs()
    counted = _count(trace, options, progress)
    _check_fit(counted.oracle, options.layouts)
    replayed = [
        _replay_variant(trace, options, variant, counted, progress)
        for variant in _variants(options)
    ]
    problems = [one.problem for one in replayed if one.problem is not None]
    if trace.inputs() != inputs:
        problems.append("the input changed while it was replayed")
    rows = [result_row(one.run, one.samples) for one in replayed]
    report = report_text(trace.title, counted.facts, rows, problems)
    for one in replayed:
        name = one.run["name"]
        writer.write(f"samples/{name}.tsv", write_tsv(one.samples, SAMPLE_COLUMNS), "samples")
        writer.write(f"digests/{name}.json", to_json(one.digests), "digests")
    writer.write("results.tsv", write_tsv(rows, RESULT_COLUMNS), "results")
    writer.write("report.txt", report, "report")
    manifest = {
        "started": begun.isoformat(timespec="seconds"),
        "ended": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "title": trace.title,
        "synthetic": trace.synthetic,
        "operation": trace.operation.value,
        "inputs": inputs,
        "trace": counted.facts,
        "options": {**asdict(options), "layouts": [layout.name for layout in options.layouts]},
        "machine": machine,
        "versions": version_facts(),
        "runs": [one.run for one in replayed],
        "problems": problems,
    }
    writer.finish(manifest, verified=not problems)
    return Outcome(writer.path, not problems, problems, report)


def _variants(options: Options) -> list[Variant]:
    variants = [
        Variant(layout, rle, trial)
        for trial in range(1, options.repeats + 1)
        for layout in options.layouts
        for rle in options.score_rle
    ]
    if options.repeats > 1:
        random.Random(options.seed).shuffle(variants)
    return variants


def _count(trace: Trace, options: Options, progress: Progress) -> _Counted:
    """Pass 1: the independent count and what identifies the events."""
    oracle = Oracle(trace.operation)
    members_sha, values_sha = hashlib.sha256(), hashlib.sha256()
    with_values = False
    started = time.perf_counter()
    progress.start("count", options.events)
    counting = 0.0
    for block in limited(trace, COUNT_ROWS, options.events):
        counted = time.perf_counter()
        oracle.add(block)
        counting += time.perf_counter() - counted
        members_sha.update(block.members.astype("<i8", copy=False).data)
        if block.values is not None:
            with_values = True
            values_sha.update(block.values.astype("<f8", copy=False).data)
        progress.step(len(block), 0, None)
    progress.end()
    if oracle.events == 0:
        raise TraceError(f"{trace.title}: no events")
    low, high = oracle.extremes()
    facts = {
        "events": oracle.events,
        "members": len(oracle),
        "min_member": low,
        "max_member": high,
        "members_sha256": members_sha.hexdigest(),
        "values_sha256": values_sha.hexdigest() if with_values else None,
        "rows_filtered_out": trace.skipped.filtered,
        "rows_without_member": trace.skipped.without_member,
        "reading_seconds": round(time.perf_counter() - started - counting, 3),
        "counting_seconds": round(counting, 3),
    }
    return _Counted(oracle, facts)


def _check_fit(oracle: Oracle, layouts: Sequence[Layout]) -> None:
    low, high = oracle.extremes()
    limits = np.iinfo(np.int32)
    narrow = [layout.name for layout in layouts if layout.member == "int32"]
    if narrow and (low < limits.min or high > limits.max):
        raise TraceError(f"members {low} to {high} do not fit {', '.join(narrow)}")


def chunk_rows(batch: int) -> int:
    """Events handed over at a time: whole batches, or a small piece of single events."""
    if batch <= 1:
        return POINT_ROWS
    return max(batch, CHUNK_ROWS // batch * batch)


def _replay_variant(
    trace: Trace, options: Options, variant: Variant, counted: _Counted, progress: Progress
) -> _Replayed:
    rows = chunk_rows(options.batch)
    with ChildSet(
        variant.layout,
        trace.operation,
        max(rows, PAGE_ROWS),
        score_rle=variant.score_rle,
        merge_exponent=options.merge_exponent,
    ) as child:
        samples = _Sampler(child, counted.facts["events"])
        started = time.perf_counter()
        progress.start(variant.name, counted.facts["events"])
        for block in limited(trace, rows, options.events):
            samples.note(len(block), *child.apply(block.members, block.values, options.batch))
            progress.step(len(block), samples.members, samples.allocated)
        samples.take("final")
        progress.end()
        feeding = time.perf_counter() - started - samples.seconds
        started = time.perf_counter()
        ordered = counted.oracle.ordered(variant.layout)
        problem, digests = check_content(child, variant.name, ordered, counted.digest_of(ordered))
        verification = time.perf_counter() - started
        run = {
            "name": variant.name,
            "layout": variant.layout.name,
            "score_rle": variant.score_rle,
            "trial": variant.trial,
            "feeding_seconds": round(feeding, 3),
            "verification_seconds": round(verification, 3),
            "verified": problem is None,
            "whole_counts_exact": bool(
                variant.layout.score == "float64"
                or len(ordered.scores) == 0
                or np.abs(ordered.scores[[0, -1]]).max() < FLOAT32_WHOLE
            ),
            "memory": samples.memory,
        }
    return _Replayed(run, samples.rows, digests, problem)


class _Sampler:
    """Samples one run: when idle, at equal progress, when members doubled, and at the end."""

    def __init__(self, child: ChildSet, events: int) -> None:
        self._child = child
        self._step = max(events / SAMPLES, 1.0)
        self._next_events, self._next_members = self._step, 1024
        self._events = 0
        self.members = 0
        self.seconds = self._cpu = 0.0
        self.rows: list[Row] = []
        self.memory: dict[str, Any] = {}
        self.allocated: int | None = None
        self.take("idle")

    def note(self, events: int, seconds: float, cpu_seconds: float, members: int) -> None:
        """Count a call, and sample when it is time."""
        self._events += events
        self.members = members
        self.seconds += seconds
        self._cpu += cpu_seconds
        if self._events < self._next_events and members < self._next_members:
            return
        self.take("sample")
        while self._next_events <= self._events:
            self._next_events += self._step
        while self._next_members <= members:
            self._next_members *= 2

    def take(self, kind: str) -> None:
        """Read the set's counters, then the kernel's."""
        self.memory = self._child.memory()
        self.allocated = int(self.memory["total_allocated_bytes"])
        kernel = read_memory(self._child.pid)
        self.rows.append(
            {
                "kind": kind,
                "events": self._events,
                "members": self.members,
                "seconds": round(self.seconds, 6),
                "cpu_seconds": round(self._cpu, 6),
                "allocated_bytes": self.allocated,
                **{f"{name}_bytes": amount for name, amount in kernel.as_dict().items()},
            }
        )
