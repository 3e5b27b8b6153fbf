"""The fixtures of the unit tests: one layout fixture, six ways."""

from __future__ import annotations

import pytest

from unit.layouts import LAYOUTS, SIZES, Layout


@pytest.fixture(params=LAYOUTS, ids=lambda layout: layout.name)
def layout(request: pytest.FixtureRequest) -> Layout:
    """One of the six layouts."""
    return request.param


@pytest.fixture(params=SIZES, ids=lambda size: f"n{size}")
def size(request: pytest.FixtureRequest) -> int:
    """A number of members: from one block to many leaves."""
    return request.param
