"""Applying and undoing leaves any graph exactly as it was, wherever it is killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse.hippocampus.applier import Job
from tests.properties.test_archive import OWN_EDGES, build_people
from tests.support.canonical_dump import canonical_dump
from tests.support.rounds import NOW_S, Ground, one_round, plan_to_archive


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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edges=OWN_EDGES,
    first=st.sets(st.integers(0, 3), min_size=1, max_size=3),
    embedded=st.sets(st.integers(0, 3)),
    is_first_undone_first=st.booleans(),
    is_undone_one_by_one=st.booleans(),
)
def test_two_runs_undone_in_any_order_bring_every_edge_back(
    ground: Ground,
    edges: Any,
    first: set[int],
    embedded: set[int],
    is_first_undone_first: bool,
    is_undone_one_by_one: bool,
) -> None:
    ground.empty()
    names = build_people(ground.connection, ground.graph, edges, embedded)
    before = canonical_dump(ground.uri, ground.graph)
    runs = {"one": [names[place] for place in first]}
    runs["two"] = [name for name in names if name not in runs["one"]]
    for run_id, uuids in runs.items():
        applied = ground.apply(ground.store, plan_to_archive(ground, *uuids), run_id)
        assert applied.done == set(uuids) and not applied.left
    order = list(runs) if is_first_undone_first else list(reversed(runs))
    changes = ground.changes_by(ground.store)
    for run_id in order:
        for uuid in runs[run_id][:1] if is_undone_one_by_one else []:
            back = changes.restore(uuid, Job(f"back {uuid}", "restore", NOW_S), "token")
            assert back.done == {uuid}
        undone = changes.undo(run_id, Job(f"undo {run_id}", "undo", NOW_S), "token").applied
        assert not undone.left
    assert canonical_dump(ground.uri, ground.graph) == before
