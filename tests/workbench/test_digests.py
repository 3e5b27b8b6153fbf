"""The published digest scheme, against hashlib row by row."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from goblin_pz._workload import digest_rows
from goblin_pz.workbench.compare import MAPPING_KEYS, first_difference
from goblin_pz.workbench.digests import StateDigest, digest, lexical_order


def by_hand(rows: list[tuple[str, str]]) -> dict[str, str]:
    """The scheme as docs/workbench.md words it, on texts."""
    ordered, sums = hashlib.sha256(), [0, 0, 0]
    for member, score in rows:
        for text in (member, score):
            ordered.update(len(text).to_bytes(4, "little") + text.encode())
        message = f"{member}\0{score}".encode()
        hashed = hashlib.blake2b(message, digest_size=16, person=b"wiki-zset-v1").digest()
        number = int.from_bytes(hashed, "little")
        sums = [sums[0] ^ number, sums[1] + number, sums[2] + number * number]
    named = zip(MAPPING_KEYS, sums, strict=True)
    return {
        "ordered_sha256": ordered.hexdigest(),
        **{key: f"{number % 2**128:032x}" for key, number in named},
    }


def check(members: list[int], scores: list[float], texts: list[str]) -> dict:
    wanted = by_hand(list(zip(map(str, members), texts, strict=True)))
    found = digest(np.array(members, np.int64), np.array(scores, np.float64))
    assert first_difference(wanted, found) is None
    return found


def test_whole_scores():
    random = np.random.default_rng(1)
    members = random.integers(-(2**63), 2**63 - 1, 3_000).tolist()
    scores = np.sort(random.integers(-(2**53), 2**53, 3_000)).tolist()
    found = check(members, scores, list(map(str, scores)))
    assert found["all_scores_integral"]
    assert found["score_sum"] == sum(scores)
    assert (found["min_member"], found["max_member"]) == (min(members), max(members))
    assert (found["min_score"], found["max_score"]) == (scores[0], scores[-1])


def test_edges_of_whole_scores():
    low, high = -(2**63), 2**63 - 1024
    check([low, 0, 2**63 - 1], [-0.0, 1.0, float(high)], ["0", "1", str(high)])


def test_other_scores_are_shortest_texts():
    scores = [-1.5, 0.1, 2.0, 1e300]
    found = check([1, 2, 3, 4], scores, ["-1.5", "0.1", "2", str(int(1e300))])
    assert not found["all_scores_integral"]


def test_pieces_do_not_matter():
    members, scores = np.arange(1_000), np.sort(np.arange(1_000) % 7).astype(np.float64)
    scores[990:] = 6.5
    whole = digest(members, scores)
    pieces = StateDigest()
    for at in range(0, 1_000, 37):
        pieces.update(members[at : at + 37], scores[at : at + 37])
    assert pieces.result() == whole


def test_mapping_sums_do_not_depend_on_order_but_see_every_change():
    members, scores = np.arange(50), np.arange(50.0)
    one, other = digest(members, scores), digest(members[::-1], scores[::-1])
    assert [one[key] for key in MAPPING_KEYS] == [other[key] for key in MAPPING_KEYS]
    assert one["ordered_sha256"] != other["ordered_sha256"]
    swapped = digest(members, np.r_[scores[1], scores[0], scores[2:]])
    assert all(one[key] != swapped[key] for key in MAPPING_KEYS)


def test_published_text_of_one_row():
    text = digest_rows(np.array([8228]), np.array([1937.0]), bytearray(48))
    assert text == b"\x04\0\0\x008228\x04\0\0\x001937"


def test_lexical_order_is_that_of_texts():
    members = np.array([5, 10, 9, 100, -1])
    scores = np.array([1.0, 1.0, 1.0, 0.0, 1.0])
    ordered = members[lexical_order(members, scores)].tolist()
    assert ordered == [100, -1, 10, 5, 9]


def test_first_difference_names_it():
    assert first_difference({"a": 1}, {"a": 1, "b": 2}) is None
    assert first_difference({"a": 1, "b": 2}, {"a": 1}) == "b is missing"
    assert first_difference({"a": 1}, {"a": 2}) == "a: wanted 1, found 2"


def test_wrong_buffers_are_refused():
    members, scores = np.arange(3), np.arange(3.0)
    with pytest.raises(TypeError, match="members must hold native int64"):
        digest_rows(scores, scores, bytearray(48))
    with pytest.raises(TypeError, match="scores must hold native float64"):
        digest_rows(members, members, bytearray(48))
    with pytest.raises(ValueError, match="of one length"):
        digest_rows(members, scores[:2], bytearray(48))
    with pytest.raises(ValueError, match="48 bytes"):
        digest_rows(members, scores, bytearray(47))


def test_a_fractional_row_changes_nothing():
    sums = bytearray(range(48))
    assert digest_rows(np.arange(2), np.array([1.0, 0.5]), sums) is None
    assert sums == bytearray(range(48))
