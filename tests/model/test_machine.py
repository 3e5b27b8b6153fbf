"""Run the state machines over every layout, merge exponent and leaf size."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from model.machine import Config, Machine
from model.values import LAYOUTS, Layout

# A longer run by hand: GOBLIN_PZ_EXAMPLES=500 python -m pytest tests/model
EXAMPLES = int(os.environ.get("GOBLIN_PZ_EXAMPLES", "50"))
TINY, REAL = 4, None


@pytest.mark.parametrize("capacity", [TINY, REAL], ids=["tiny", "real"])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    "layout", [Layout(m, s) for m, s in LAYOUTS], ids=[f"{m}-{s}" for m, s in LAYOUTS]
)
def test_machine(layout, exponent, capacity):
    longest = 120 if capacity == TINY else 2_000
    config = Config(layout, exponent, capacity, longest)
    machine = type("Configured", (Machine,), {"config": config})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES if capacity == TINY else max(EXAMPLES // 3, 1),
            stateful_step_count=40,
            deadline=None,
            phases=[phase for phase in Phase if phase is not Phase.explain],
            suppress_health_check=list(HealthCheck),
        ),
    )
