"""Use an installed goblin_pz from outside its repository, with nothing but NumPy at hand."""

from __future__ import annotations

import pickle
import sys
import tempfile
import uuid
from pathlib import Path

import numpy as np

import goblin_pz

REPOSITORY = Path(__file__).resolve().parents[2]


def main() -> None:
    """Fill a set of every layout; check scores, ranks, order, pickling and files."""
    where = Path(goblin_pz.__file__).resolve()
    assert REPOSITORY not in where.parents, f"imported from the repository: {where}"
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 50, 20_000).astype(np.float64)
    for member in ("int32", "int64", "uuid"):
        ids = rng.permutation(20_000)
        members = ids.astype(member) if member != "uuid" else as_uuids(ids)
        expected = np.lexsort((ids, scores))
        for score in ("float32", "float64"):
            z = goblin_pz.PackedZSet(member, score)
            assert z.add(members, scores) == (20_000, 0)
            z._validate()
            got, order = z.range()
            assert np.array_equal(got, members[expected])
            assert np.array_equal(order, scores[expected])
            assert np.array_equal(z.rank(members[expected]), np.arange(20_000))
            assert pickle.loads(pickle.dumps(z)) == z
            with tempfile.TemporaryDirectory() as folder:
                z.save(Path(folder) / "set.pz")
                assert goblin_pz.load(Path(folder) / "set.pz") == z
            assert z.memory()["total_allocated_bytes"] < 20_000 * 45
    print("ok", goblin_pz.__version__, sys.version.split()[0], np.__version__)


def as_uuids(ids: np.ndarray) -> np.ndarray:
    """Give 16-byte members that are ordered as the numbers are."""
    return np.frombuffer(b"".join(uuid.UUID(int=int(i)).bytes for i in ids), dtype="V16")


main()
