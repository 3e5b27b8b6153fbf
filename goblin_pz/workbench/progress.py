"""What a person sees while a replay runs: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol, TextIO

from .extras import need

LINE_SECONDS = 10.0
BAR_SECONDS = 0.25


class Progress(Protocol):
    """Where a run reports how far it is."""

    def say(self, text: str) -> None:
        """Show one line that stays."""

    def start(self, name: str, total: int | None) -> None:
        """Begin a part of `total` events (None: not known)."""

    def step(self, events: int, members: int, allocated: int | None) -> None:
        """Events done further, and what the set holds now."""

    def end(self) -> None:
        """End the part."""


class Quiet:
    """Shows nothing."""

    def say(self, text: str) -> None:
        """Show nothing."""

    def start(self, name: str, total: int | None) -> None:
        """Show nothing."""

    def step(self, events: int, members: int, allocated: int | None) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""


def figures(members: int, allocated: int | None) -> str:
    """Give members and bytes a member as short text."""
    text = f"{members:,} members"
    if allocated is not None and members:
        text += f", {allocated / members:.2f} B/member"
    return text


class Lines:
    """Plain lines, at most one in ten seconds: for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._name, self._total = "", 0
        self._done = 0
        self._begun = self._shown = 0.0

    def say(self, text: str) -> None:
        """Write a line."""
        print(text, file=self._stream, flush=True)

    def start(self, name: str, total: int | None) -> None:
        """Begin a part."""
        self._name, self._total, self._done = name, total or 0, 0
        self._begun = self._shown = time.monotonic()

    def step(self, events: int, members: int, allocated: int | None) -> None:
        """Write a line when the last is ten seconds old."""
        self._done += events
        now = time.monotonic()
        if now - self._shown < LINE_SECONDS:
            return
        self._shown = now
        rate = self._done / (now - self._begun)
        left = f", {(self._total - self._done) / rate:.0f} s left" if self._total else ""
        self.say(
            f"{self._name}: {self._done:,} events, {rate:,.0f}/s, "
            f"{figures(members, allocated)}{left}"
        )

    def end(self) -> None:
        """Say how it went."""
        spent = time.monotonic() - self._begun
        self.say(f"{self._name}: {self._done:,} events in {spent:.1f} s")


class Bar:
    """A bar with rate, members, bytes a member and time left; needs tqdm."""

    def __init__(self, stream: TextIO) -> None:
        self._tqdm = need("tqdm", "the progress bar").tqdm
        self._stream = stream
        self._bar: Any = None

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._tqdm.write(text, file=self._stream)

    def start(self, name: str, total: int | None) -> None:
        """Show a new bar."""
        self._bar = self._tqdm(
            total=total,
            desc=name,
            unit=" events",
            unit_scale=True,
            mininterval=BAR_SECONDS,
            file=self._stream,
            dynamic_ncols=True,
        )

    def step(self, events: int, members: int, allocated: int | None) -> None:
        """Move the bar."""
        self._bar.set_postfix_str(figures(members, allocated), refresh=False)
        self._bar.update(events)

    def end(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()


def progress_for(stream: TextIO | None = None) -> Progress:
    """Give a bar when the stream (standard error) is a terminal, else lines."""
    target = sys.stderr if stream is None else stream
    return Bar(target) if target.isatty() else Lines(target)
