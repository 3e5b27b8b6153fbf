"""Write the Wikipedia shape's page ids, in time order, to a file of int32.

    python bench/stream.py PAGES dense|full-scale|random SEED FILE

The generator is the workbench's own; the workload is synthetic and always to be labelled so.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from goblin_pz import _workload

BLOCK = 1 << 20


def main() -> None:
    """Stream block by block, so that memory stays small whatever the size."""
    pages, ids, seed, target = sys.argv[1:]
    shape = _workload.Shape("wikipedia", int(pages), seed=int(seed), ids=ids)
    block = np.empty(BLOCK, np.int64)
    partial = Path(target + ".partial")
    with partial.open("wb") as file:
        while (written := shape.fill(block)) > 0:
            file.write(block[:written].astype(np.int32).tobytes())
    partial.rename(target)


main()
