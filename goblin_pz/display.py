"""What a notebook shows of a set."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import PackedZSet

ROWS = 10


def to_html(zset: PackedZSet) -> str:
    """Describe a set as HTML: one line of facts and a table of its highest entries.

    Parameters
    ----------
    zset : PackedZSet
        The set.

    Returns
    -------
    str
        A fragment without styles of its own.
    """
    members, scores = zset.top(ROWS)
    rows = "".join(
        f"<tr><td>{rank}</td><td>{escape(_text(member))}</td><td>{float(score)!r}</td></tr>"
        for rank, (member, score) in enumerate(zip(members, scores, strict=True))
    )
    more = len(zset) - len(members)
    foot = f"<p>and {more:,} more</p>" if more > 0 else ""
    return (
        f"<div><p><code>{escape(repr(zset))}</code></p>"
        "<table><thead><tr><th>rank from the top</th><th>member</th><th>score</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{foot}</div>"
    )


def _text(member: Any) -> str:
    """Write an integer in digits, 16 bytes as a UUID."""
    if member.dtype.kind != "V":
        return str(int(member))
    digits = member.tobytes().hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
