"""Random memories that are changed, killed, completed and brought back, on a real server."""

from __future__ import annotations

import math
import os
import signal
import traceback
from collections.abc import Callable
from dataclasses import astuple, dataclass
from itertools import count, product
from random import Random
from typing import Any

from synapse.hippocampus.applier import Job
from synapse.hippocampus.changes import GraphChanges
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.plan_file import Ends, MemoryPlan, PlannedChange, Seen
from synapse.hippocampus.scope import Scope
from synapse.store import open_store
from synapse.store.falkordb import FalkorStore
from synapse.store.indices import create_indices
from tests.properties.test_archive import build
from tests.support.canonical_dump import canonical_dump
from tests.support.dying import DyingConnection

CONFIG = HippocampusConfig()
TEXTS = ("plain", 'say "hi" \\', "🧠 naïve", "x\r\n\t", '"}) DETACH DELETE n //', "", " blanks ")
STAMPS = (None, "", "soon", "2026-01-05T08:00:00Z", "2026-02-05T08:00:00.000001+00:00")
NOW_S = 1_767_225_600.0


@dataclass
class Tally:
    """What some rounds have come to."""

    rounds: int = 0
    changes: int = 0
    """Ends written and memories moved, in plans."""
    kills: int = 0
    completed: int = 0
    """Killed runs that were completed by applying the plan again."""
    differences: int = 0
    """Rounds after which the graph was not what it had been."""
    lost: int = 0
    """Memories that were neither in the graph nor in the archive at some point."""
    doubled: int = 0
    """Memories that came back more than once."""
    not_made: int = 0
    """Planned changes that were not made, though nothing stood in their way."""

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Tally(*(mine + theirs for mine, theirs in pairs))

    @property
    def is_clean(self) -> bool:
        """Whether nothing at all went wrong."""
        return not (self.differences or self.lost or self.doubled or self.not_made)


class Ground:
    """One graph that is filled and emptied again and again; its indices are made once."""

    def __init__(self, uri: str, graph: str) -> None:
        self.uri, self.graph = uri, graph
        self.store = open_store(uri)
        assert isinstance(self.store, FalkorStore)
        self.connection: Any = self.store._connection
        create_indices(self.connection, graph)

    def empty(self) -> None:
        """Remove everything but the indices."""
        self.connection.execute_command("GRAPH.QUERY", self.graph, "MATCH (n) DELETE n")
        for key in self.connection.scan_iter(match=f"synapse:{{{self.graph}}}:*"):
            self.connection.delete(key)

    def fill(self, random: Random) -> list[str]:
        """A random memory; returns the uuids of what is in it."""
        entities = [
            (random.sample(["Person", "with blank"], random.randint(0, 2)),
             {"number": random.choice([1, 0.1, True, 2**53])}, _vector(random),
             random.choice(TEXTS))
            for _ in range(random.randint(2, 6))
        ]  # fmt: skip
        edges = [
            (random.randint(0, 9), random.randint(0, 9), _fact(random), _vector(random),
             random.random() < 0.7)
            for _ in range(random.randint(1, 12))
        ]  # fmt: skip
        links = [
            (random.randint(0, 9), random.randint(0, 6), random.choice(TEXTS))
            for _ in range(random.randint(0, 6))
        ]
        return build(self.connection, self.graph, entities, edges, links)

    def plan(self, random: Random, memories: list[str]) -> MemoryPlan:
        """Random ends of some facts, and a move of some other memories."""
        facts = [memory for memory in memories if memory.startswith("f")]
        states = self.store.read_facts(self.graph, facts)
        ended = random.sample(facts, random.randint(0, len(facts)))
        changes = []
        for fact in ended:
            by = random.choice([None, *(other for other in facts if other != fact)])
            changes.append(PlannedChange(
                do="end", memory=fact, text=states[fact].text, by=by,
                was=Ends(**states[fact].ends),
                to=Ends(invalid_at=random.choice(STAMPS[3:]), expired_at=STAMPS[-1]),
                before=states[fact].digest, by_before=None if by is None else states[by].digest,
                reason="missed", evidence="…", claim=_claim(fact, by),
            ))  # fmt: skip
        others = [memory for memory in memories if memory not in ended]
        images = self.store.read_images(self.graph, [m for m in others if random.random() < 0.7])
        changes += [
            PlannedChange(do="archive", memory=i.uuid, kind=i.kind, before=i.digest, reason="faded")
            for i in images.values()
        ]
        return MemoryPlan(
            graph=self.graph, now="2026-01-01T00:00:00Z", config_digest=CONFIG.digest,
            seen=Seen(entities=len(memories), facts=len(facts)), changes=tuple(changes),
        )  # fmt: skip

    def changes_by(self, store: FalkorStore) -> GraphChanges:
        """What a person has."""
        return GraphChanges(store, Scope(self.graph), CONFIG)

    def apply(self, store: FalkorStore, plan: MemoryPlan, name: str) -> Any:
        job = Job(name, "apply", NOW_S, max_changes=1_000)
        return self.changes_by(store).apply(plan, job, f"token of {name}")

    def undo(self, store: FalkorStore, by: str) -> Any:
        return self.changes_by(store).undo("run", Job(by, "undo", NOW_S), f"token of {by}")

    def killed(self, at_write: int, after: bool, act: Callable[[FalkorStore], Any]) -> bool:
        """Do something in a process that kills itself at one write; whether it came that far."""
        child = os.fork()
        if not child:
            try:
                own: Any = open_store(self.uri)
                end = DyingConnection(
                    own._connection, at_write, after, lambda: os.kill(os.getpid(), signal.SIGKILL)
                )
                act(FalkorStore(end, self.uri))
                os._exit(0)
            except Exception:  # noqa: BLE001  a child must not go on as a second test run
                traceback.print_exc()
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL), "the child failed in another way"
        # As if the minute had passed after which the lock of a dead run expires.
        self.connection.unlink(f"synapse:{{{self.graph}}}:lock")
        return status == signal.SIGKILL

    def missing(self, memories: list[str]) -> int:
        """How many memories are neither in the graph nor in the archive."""
        there = self.store.read_images(self.graph, memories).keys()
        return len(
            set(memories) - there - self.store.read_archived_images(self.graph, memories).keys()
        )

    def is_begun(self) -> bool:
        """Whether the run stands in the journal."""
        return "run" in self.store.read_journal(self.graph)

    def close(self) -> None:
        self.store.close()


def random_rounds(ground: Ground, rounds_count: int, seed: int = 0) -> Tally:
    """Random memories, random plans, and kills at random writes."""
    tally = Tally()
    for number in range(rounds_count):
        random = Random(f"{seed}-{number}")
        tally += one_round(
            ground, random,
            kill_at=random.randint(1, 30) if random.random() < 0.5 else 0,
            after=random.random() < 0.5,
            completes=random.random() < 0.5,
            undo_kill_at=random.randint(1, 20) if random.random() < 0.25 else 0,
        )  # fmt: skip
    return tally


def every_point(ground: Ground, seed: int = 35) -> Tally:
    """One run, killed before and after each of its writes; then completed, or undone, or both."""
    tally = Tally()
    for completes, is_undo_killed, after in product((True, False), repeat=3):
        for at_write in count(1):
            apply_at, undo_at = (0, at_write) if is_undo_killed else (at_write, 0)
            told = one_round(ground, Random(seed), apply_at, after, completes, undo_at)
            tally += told
            if not told.kills:
                break
    return tally


def one_round(
    ground: Ground, random: Random, kill_at: int, after: bool, completes: bool, undo_kill_at: int
) -> Tally:
    """Fill, plan, apply, perhaps kill and complete, undo, compare.

    Args:
        ground: where.
        random: what the memory and the plan are made of.
        kill_at: the write, from 1, at which the run is killed; 0 for never.
        after: whether the server has carried out that write by then.
        completes: whether a killed run is completed before it is undone.
        undo_kill_at: the write at which the undoing is killed.
    """
    ground.empty()
    memories = ground.fill(random)
    before, plan = canonical_dump(ground.uri, ground.graph), ground.plan(random, memories)
    tally = Tally(rounds=1, changes=len(plan.changes))
    is_killed = bool(kill_at) and ground.killed(
        kill_at, after, lambda store: ground.apply(store, plan, "run")
    )
    tally.kills += is_killed
    tally.lost += ground.missing(memories)
    if not is_killed or completes:
        ground.apply(ground.store, plan, "run")  # does nothing where a survivor has done it
        tally.completed += is_killed
        tally.not_made += not_made(ground, plan)
        tally.lost += ground.missing(memories)
    if undo_kill_at and ground.is_begun():
        tally.kills += ground.killed(undo_kill_at, after, lambda store: ground.undo(store, "dead"))
        tally.lost += ground.missing(memories)
    if ground.is_begun():
        ground.undo(ground.store, "undo")
        tally.doubled += len(ground.undo(ground.store, "again").applied.done)
    tally.differences += canonical_dump(ground.uri, ground.graph) != before
    return tally


def plan_to_archive(ground: Ground, *uuids: str) -> MemoryPlan:
    """A plan that moves these memories."""
    images = ground.store.read_images(ground.graph, uuids).values()
    changes = tuple(
        PlannedChange(do="archive", memory=i.uuid, kind=i.kind, before=i.digest, reason="faded")
        for i in images
    )
    return MemoryPlan(
        graph=ground.graph, now="2026-01-01T00:00:00Z", config_digest=CONFIG.digest,
        seen=Seen(entities=len(uuids)), changes=changes,
    )  # fmt: skip


def not_made(ground: Ground, plan: MemoryPlan) -> int:
    """Changes that were to be made: all, but entities on which a fact still hangs."""
    named = {change.memory for change in plan.changes}
    states = ground.store.read_facts(ground.graph, named)
    images = ground.store.read_images(ground.graph, named)
    return sum(
        states[c.memory].ends != c.to.model_dump() if c.to is not None
        else c.memory in images and not images[c.memory].facts
        for c in plan.changes
    )  # fmt: skip


def _fact(random: Random) -> dict[str, Any]:
    times = {name: random.choice(STAMPS) for name in ("valid_at", "invalid_at", "expired_at")}
    return {name: value for name, value in times.items() if value is not None} | {
        "p": random.choice([math.pi, -1, "x", [1, 2]])
    }


def _vector(random: Random) -> list[float] | None:
    return [random.choice([0.5, -2.0, 0.1]) for _ in range(3)] if random.random() < 0.5 else None


def _claim(fact: str, by: str | None) -> dict[str, Any]:
    return {
        "verdict": "missed", "by": by, "rule": "any", "confidence": 0.9, "digest": f"of {fact}",
        "attempts": 1, "reverts": 0,
    }  # fmt: skip
