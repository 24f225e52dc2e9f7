"""Runs that end by themselves before their host ends them."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from typing import Any

import pytest

from synapse.cli.consolidate import _consolidated
from synapse.cli.time_limit import TimeLimit
from synapse.demo import DEMO_NOW, demo_path
from synapse.errors import TimeUp
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine, Run
from synapse.hippocampus.ports import LOCK_TTL_S
from synapse.hippocampus.scope import Scope
from synapse.integrations.memory_file import read_memory_file
from synapse.settings import Connection, Settings
from synapse.store.memory import InMemoryStore
from tests.faults.test_batches import start

NOW_S = 1_783_000_000.0
SETTINGS = Settings(connection=Connection(), hippocampus=HippocampusConfig())


def filled(store: InMemoryStore, *graphs: str) -> Any:
    for graph in graphs:
        store.write_memory(graph, read_memory_file(demo_path(), group_id=graph, now_iso=DEMO_NOW))
    return store


def test_a_batch_that_waits_for_a_dead_server_ends_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"redis://127.0.0.1:{silent.getsockname()[1]}"
        batch = start(uri, "--group-id", "g", "--max-seconds", "1")
        out, err = batch.communicate(timeout=25)  # the answer itself would be awaited for 30 s
    assert batch.returncode == 75
    assert err.startswith("the run reached its limit of 1 s") and len(err.splitlines()) == 1
    assert json.loads(out)["status"] == "failed"


class Endless(InMemoryStore):
    """Reads the graph ``slow`` for ever."""

    def read_graph(self, graph: str, hear: Any = None) -> Any:
        while graph == "slow":
            pass
        return super().read_graph(graph, hear)


def test_what_was_done_before_the_limit_is_reported_and_the_rest_named():
    store = filled(Endless(), "a", "slow", "z")
    runs = [Run(Scope(name), NOW_S, name, full_lists=True) for name in ("a", "slow", "z")]
    with TimeLimit(2.0) as limit:
        outcomes, full = _consolidated(store, SETTINGS, runs, limit)
    assert [outcome.report.status for outcome in outcomes] == ["ok", "failed", "failed"]
    assert all(isinstance(outcome.error, TimeUp) for outcome in outcomes[1:])
    assert [one["graph"] for one in full] == ["a", "slow", "z"] and "all" in full[0]["retention"]
    assert store.read_room("z").revision == 0 and store.lock_holder("slow") is None
    with pytest.raises(TimeUp):
        limit.check()


class Clock:
    """A clock that moves by hand."""

    now_s = 0.0

    def time(self) -> float:
        return self.now_s


WRITES = ("acquire_lock", "apply", "change_ends", "release_lock", "summarize_room", "read_facts")


class Ringing:
    """A store during whose n-th call the time is over, before or after the call itself."""

    def __init__(self, store: Any, call: int, *, before: bool) -> None:
        self._store, self._left, self._before = store, call, before

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in WRITES:
            return method

        def called(*arguments: Any) -> Any:
            self._left -= 1
            if self._left == 0 and self._before:
                raise TimeUp("over")
            result = method(*arguments)
            if self._left == 0:
                raise TimeUp("over")
            return result

        return called

    @property
    def rang(self) -> bool:
        return self._left <= 0


def kept(store: InMemoryStore) -> Any:
    snapshot, room = store.read_graph("g"), store.read_room("g")
    ends = dict(zip(snapshot.facts.uuid, snapshot.facts.invalid_at_s.tolist(), strict=True))
    ledger = {fact: entry["state"] for fact, entry in room.ledger.items()}
    return repr(sorted(ends.items())), ledger, room.traces.tobytes(), store.lock_holder("g")


@pytest.mark.parametrize("before", [True, False])
def test_whenever_the_time_is_over_the_next_run_completes_the_work(before):
    run = Run(Scope("g"), NOW_S, "run", resolve=True)
    whole = filled(InMemoryStore(), "g")
    done = ConsolidationEngine(whole, HippocampusConfig(), lambda: 0.0).consolidate(run)
    assert done.report.contradictions.resolved > 0
    call, clock = 0, Clock()
    while True:
        call += 1
        store = filled(InMemoryStore(clock.time), "g")
        ringing: Any = Ringing(store, call, before=before)
        first = ConsolidationEngine(ringing, HippocampusConfig(), lambda: 0.0).consolidate(run)
        if not ringing.rang:
            break
        clock.now_s += LOCK_TTL_S + 1  # a lock whose release was cut off expires
        second = replace(run, run_id="next")
        ConsolidationEngine(store, HippocampusConfig(), lambda: 0.0).consolidate(second)
        assert kept(store) == kept(whole), (call, first.report.error)
    assert call > 8
