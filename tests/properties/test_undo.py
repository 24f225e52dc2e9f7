"""Applying and undoing leaves any graph exactly as it was, wherever it is killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.rounds import Ground, one_round


@pytest.fixture
def ground(falkordb_uri: str, graph_name: str) -> Iterator[Ground]:
    opened = Ground(falkordb_uri, graph_name)
    yield opened
    opened.close()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    random=st.randoms(use_true_random=False),
    kill_at=st.integers(0, 30),
    after=st.booleans(),
    completes=st.booleans(),
    undo_kill_at=st.integers(0, 20),
)
def test_apply_and_undo_is_identity(ground: Ground, **chosen: object) -> None:
    tally = one_round(ground, **chosen)  # type: ignore[arg-type]
    assert tally.is_clean, tally
