"""Verification: the whole content of a set against the independent count."""

from __future__ import annotations

from typing import Any

import numpy as np

from .child import ChildSet
from .compare import first_difference
from .digests import StateDigest
from .oracle import Ordered

PAGE_ROWS = 1 << 20


def check_content(
    child: ChildSet, name: str, ordered: Ordered, wanted: dict[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """Compare a set's whole content, entry by entry, and its digests.

    Parameters
    ----------
    child : ChildSet
    name : str
        Of the run, to begin the answer with.
    ordered : Ordered
        What the set must hold.
    wanted : dict
        The digests of `ordered`.

    Returns
    -------
    problem : str or None
        The first difference; None when there is none.
    digests : dict
        ``wanted`` and ``found``.
    """
    found = StateDigest()
    problem: str | None = None
    at = 0
    while True:
        members, scores = child.page(at, at + PAGE_ROWS)
        if not len(members):
            break
        stop = at + len(members)
        wanted_members, wanted_scores = ordered.members[at:stop], ordered.scores[at:stop]
        if problem is None:
            problem = _difference(wanted_members, members, wanted_scores, scores, at)
        found.update(members, scores)
        at = stop
    if problem is None and at != len(ordered.members):
        problem = f"{at} members, wanted {len(ordered.members)}"
    digests = {"wanted": wanted, "found": found.result()}
    if problem is None:
        problem = first_difference(digests["wanted"], digests["found"])
    return (None if problem is None else f"{name}: {problem}"), digests


def _difference(
    wanted_members: np.ndarray[Any, Any],
    members: np.ndarray[Any, Any],
    wanted_scores: np.ndarray[Any, Any],
    scores: np.ndarray[Any, Any],
    at: int,
) -> str | None:
    if len(wanted_members) != len(members):
        return f"more than the {at + len(wanted_members)} members wanted"
    same = (wanted_members == members) & (wanted_scores == scores)
    if same.all():
        return None
    first = int(np.flatnonzero(~same)[0])
    return (
        f"rank {at + first}: member {members[first]} with score {scores[first]}, "
        f"wanted {wanted_members[first]} with {wanted_scores[first]}"
    )
