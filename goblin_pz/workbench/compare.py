"""Names of what digests hold, and how two of them are compared. Needs nothing compiled."""

from __future__ import annotations

from typing import Any

MAPPING_KEYS = ("mapping_xor_blake2b128", "mapping_sum_blake2b128", "mapping_square_sum_blake2b128")
STATE_KEYS = ("count", "score_sum", "min_member", "max_member", "min_score", "max_score")


def first_difference(wanted: dict[str, Any], found: dict[str, Any]) -> str | None:
    """Name the first entry where two digests differ; None when all are equal."""
    for key in wanted:
        if key not in found:
            return f"{key} is missing"
        if wanted[key] != found[key]:
            return f"{key}: wanted {wanted[key]}, found {found[key]}"
    return None
