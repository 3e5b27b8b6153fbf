"""Measure the tunable sizes of the core, one at a time, around their defaults.

Each variant is the core compiled anew with one number of csrc/base/config.h changed (leaf
capacities and the merge exponent are options of a set and need no build). Most of the stream goes
in by batches of a million, its last three million increments one by one or in batches; the table
says what each value costs in time and in bytes. Beside that, calls of 1 to 100,000 rows: where
sweeping pays. docs/design/tuning.md holds the table.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import common

sys.path.insert(0, str(common.TOP / "tests" / "c"))
import cbuild

LAST = 3_000_000  # increments that are measured
CALLS = (1, 2, 4, 16, 64, 1_000, 10_000, 100_000)  # rows a call
SIZES = {  # numbers of config.h, with the values to try beside their own
    "PZ_SPAN_MAX": ["128u * 1024u", "512u * 1024u", "1024u * 1024u"],
    "PZ_SLACK_DIVISOR": ["4u", "8u", "16u"],
    "PZ_TAIL_DIVISOR": ["1u", "2u", "8u"],
    "PZ_BRANCH_CAPACITY": ["32u", "128u"],
    "PZ_SMALL_CAPACITY": ["64u", "256u"],
}
OPTIONS = [  # merge exponent, member leaf capacity, order leaf capacity
    *((e, 0, 0) for e in (0.0, 0.25, 0.4, 0.6, 0.75, 1.0)),
    *((0.5, c, 0) for c in (128, 256, 1024)),
    *((0.5, 0, c) for c in (128, 256, 1024)),
    (0.5, 1024, 1024),
]

MAIN = common.TOP / "bench" / "c" / "points.c"


def compile_variant(name: str, value: str) -> Path:
    """Build the points program with a copy of the core that has one number changed."""
    folder = common.CACHE / "sweep"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(common.TOP / "csrc", folder / "csrc")
    config = folder / "csrc" / "base" / "config.h"
    text = config.read_text(encoding="utf-8")
    new, count = re.subn(rf"(#define {name} )[^/\n]*", rf"\g<1>{value} ", text)
    if count != 1:
        raise SystemExit(f"config.h defines {name} {count} times")
    config.write_text(new, encoding="utf-8")
    (program,) = cbuild.build("release", [MAIN], csrc=folder / "csrc", out=folder / "objects")
    return program


def measure(
    program: Path,
    path: Path,
    setting: str,
    words: list[Any],
    batches: tuple[int, ...] = (1, 100_000),
) -> list[dict[str, Any]]:
    """Run with each size of batch; give a row each."""
    rows = []
    first = max(path.stat().st_size // 4 - LAST, 0)
    for batch in batches:
        argv = [str(program), str(path), str(first), str(batch), "i32f32", *map(str, words)]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        figures = json.loads(done.stdout)
        columns = ("increments", "score", "rank", "range_100", "live", "allocated", "moved")
        rows.append(
            {"setting": setting, "batch": batch, **{c: figures.get(c, "") for c in columns}}
        )
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main() -> int:
    """Measure the defaults, then everything around them."""
    parser = common.options(__doc__.split("\n", 1)[0], 1_000_000, rounds=1)
    parser.add_argument("--only", default="", help="settings whose name holds this text")
    args = parser.parse_args()
    before = common.facts()
    path = Path(common.stream(args.members).filename)
    (plain,) = cbuild.build("release", [MAIN])
    rows = measure(plain, path, "defaults", [], CALLS)
    for exponent, member, order in OPTIONS:
        setting = (
            f"exponent {exponent} member leaf {member or 'default'} order {order or 'default'}"
        )
        if args.only in setting:
            rows += measure(plain, path, setting, [exponent, member, order])
    for name, values in SIZES.items():
        for value in values:
            setting = f"{name} {value}"
            if args.only in setting:
                rows += measure(compile_variant(name, value), path, setting, [])
    common.record("sweep", args.out, rows, before, members=args.members)
    return 0


if __name__ == "__main__":
    sys.exit(main())
