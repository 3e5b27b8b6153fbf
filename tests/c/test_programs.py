"""The C tests and fuzzers, each program as one test of the suite."""

from __future__ import annotations

import re
import subprocess

import pytest

from c import cbuild

CASES = [
    (mode, p) for mode in ("debug", "release", "thread", "fuzz") for p in cbuild.programs(mode)
]
FUZZ_SECONDS = 5


@pytest.mark.parametrize(("mode", "source"), CASES, ids=[f"{m}-{p.stem}" for m, p in CASES])
def test_program(mode, source):
    (program,) = cbuild.build(mode, [source])
    done = subprocess.run(
        cbuild.command(mode, program, FUZZ_SECONDS),
        env=cbuild.environment(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=900,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-20_000:]
    if mode != "fuzz":
        closing = re.search(r"^(\d+) passed, 0 failed$", output, re.MULTILINE)
        assert closing, f"no closing line: {output[-2_000:]}"
        assert int(closing[1]) > 0, "no test ran"


def test_every_mode_has_programs():
    assert {mode for mode, _ in CASES} == {"debug", "release", "thread", "fuzz"}
