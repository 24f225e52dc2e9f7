"""Synapse beside a live Graphiti: notices surprises, remembers recalls, answers with what holds.

::

    hippocampus = Hippocampus(graphiti)
    await hippocampus.add_episode(...)               # Graphiti's result plus .surprises
    facts = await hippocampus.search("where do we deploy?")
    block = await hippocampus.context("auth service")

Graphiti is used, not changed: nothing of it is replaced, and no model is called. Where Synapse
itself fails, the caller's ingestion or search goes on; the failure is logged once and counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import uuid4

from graphiti_core import Graphiti
from redis.exceptions import RedisError

from synapse.errors import StoreError, shown
from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.consolidation import ConsolidationEngine
from synapse.hippocampus.explanation import Explanation, find_memory
from synapse.hippocampus.explanation import explain as explained
from synapse.hippocampus.gate import QuestionGate, Turn
from synapse.hippocampus.prediction_error import PredictionErrorDetector
from synapse.hippocampus.recollector import Recollector
from synapse.hippocampus.run import Outcome, Run
from synapse.hippocampus.scope import Scope
from synapse.integrations.aside import BRIEFING, TELLING, WORKING, Aside
from synapse.integrations.belief import WAIT_FOR_LOCK_S, Belief
from synapse.integrations.believing import Beliefs
from synapse.integrations.briefing import Briefer
from synapse.integrations.counts import refuse_what_is_no_count
from synapse.integrations.graph_names import argument, graph_of, server_tls, server_uri
from synapse.integrations.ingestion import Noticed
from synapse.integrations.listening import Listener
from synapse.integrations.moments import seconds_of
from synapse.integrations.observation import Observer
from synapse.integrations.recall import RecalledFacts, RecalledResults
from synapse.integrations.recaller import Recaller
from synapse.integrations.relation_memory import RelationMemory
from synapse.integrations.texts import plain, refuse_what_is_no_text
from synapse.settings import load_settings
from synapse.store import open_store


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of one turn."""

    turn: Turn
    ingested: Any | None
    """Graphiti's result for what was stated, ``None`` if nothing was."""
    recalled: RecalledFacts
    """What is known about what was asked, empty if nothing was."""


class Hippocampus:
    """The memory's own view of one Graphiti client; use it for several groups at once.

    Args:
        graphiti: an open client on FalkorDB; it stays usable as before.
        uri: address of the server, where the client's driver does not show it.
        config: the constants; by default what ``synapse.toml`` and the environment say.
        clock: seconds since 1970.

    Raises:
        ConfigurationError, StoreError: the server cannot be reached or used.
    """

    def __init__(
        self,
        graphiti: Graphiti,
        *,
        uri: str | None = None,
        config: HippocampusConfig | None = None,
        clock: Callable[[], float] = lambda: datetime.now(UTC).timestamp(),
    ) -> None:
        self.graphiti = graphiti
        self.config = config or load_settings().hippocampus
        self.aside = Aside()
        self._clock = clock
        driver = graphiti.driver
        self._store = (
            open_store(uri) if uri else open_store(server_uri(driver), tls=server_tls(driver))
        )
        self._relations = RelationMemory(self._store, self.config.relations, clock)
        self.recaller = Recaller(
            graphiti, self._store, self.config, self._relations, clock, self.aside
        )
        observer = Observer(self._store, PredictionErrorDetector(self.config.contradictions))
        self._listener = Listener(graphiti, observer, self._relations, self.aside, clock)
        self._beliefs = Beliefs(graphiti, self._store, self._relations, self.aside, clock)
        self._briefer = Briefer(self._store, self.config)
        self._gate = QuestionGate()

    async def close(self) -> None:
        """Write what is still to be written and free the connections; Graphiti stays open."""
        if self.aside.is_closed:
            return
        await self.aside.run(WORKING, self.recaller.recorder.close)
        await asyncio.to_thread(self.aside.close)
        self._store.close()

    async def add_episode(self, *args: Any, **options: Any) -> Any:
        """``Graphiti.add_episode``; its result, with what was noticed as ``surprises``."""
        group_id = argument(self.graphiti.add_episode, "group_id", args, options)
        result = await self.graphiti.add_episode(*args, **options)
        return await self._listener.observed(result, graph_of(self.graphiti.driver, group_id))

    async def add_episode_bulk(self, *args: Any, **options: Any) -> Any:
        """``Graphiti.add_episode_bulk``; its result, with what was noticed as ``surprises``."""
        group_id = argument(self.graphiti.add_episode_bulk, "group_id", args, options)
        result = await self.graphiti.add_episode_bulk(*args, **options)
        return await self._listener.observed(result, graph_of(self.graphiti.driver, group_id))

    async def add_triplet(self, *args: Any, **options: Any) -> Any:
        """``Graphiti.add_triplet``; its result, with what was noticed as ``surprises``."""
        return await self._listener.observed(await self.graphiti.add_triplet(*args, **options))

    async def observe(self, result: Any) -> list[Noticed]:
        """What a result of Graphiti's means for what was known; recorded once, told each time.

        Args:
            result: what ``add_episode``, ``add_episode_bulk`` or ``add_triplet`` has returned;
                of anything else nothing is noticed, and that is counted as a failure.
        """
        return await self._listener.noticed(result)

    async def search(self, query: str, *args: Any, **options: Any) -> RecalledFacts:
        """``Graphiti.search``, by relevance and strength; see :meth:`Recaller.search`."""
        return await self.recaller.search(query, *args, **options)

    async def search_(self, query: str, *args: Any, **options: Any) -> RecalledResults:
        """``Graphiti.search_``, by relevance and strength; see :meth:`Recaller.search_`."""
        return await self.recaller.search_(query, *args, **options)

    async def hear(
        self, text: str, *, group_id: str | None = None, num_results: int = 10, **episode: Any
    ) -> Heard:
        """Take one turn: what it states is ingested, what it asks is looked up, never believed.

        Args:
            text: the turn.
            group_id: the group it belongs to.
            num_results: for what is asked.
            episode: further arguments of ``add_episode``, such as ``source_description``.
        """
        refuse_what_is_no_text(text=text, group_id="" if group_id is None else group_id)
        refuse_what_is_no_count(num_results=num_results)
        turn, result, recalled = self._gate.split(plain(text)), None, RecalledFacts()
        if turn.stated:
            said = {
                "name": turn.stated[:80], "source_description": "turn",
                "reference_time": datetime.fromtimestamp(self._clock(), UTC), **episode,
            }  # fmt: skip
            result = await self.add_episode(episode_body=turn.stated, group_id=group_id, **said)
        if turn.asked:
            groups = [group_id] if group_id else None
            recalled = await self.search(turn.asked, group_ids=groups, num_results=num_results)
        return Heard(turn, result, recalled)

    async def believe(
        self, subject: str, relation: str, object: str, *,
        fact: str | None = None, valid_at: datetime | None = None, group_id: str | None = None,
    ) -> Belief:  # fmt: skip
        """Take a statement for true at once, without a model; see :meth:`Believer.believe`.

        Args:
            subject, object: names of entities; unknown ones are created.
            relation: its name, as ``LIVES_IN``.
            fact: the sentence; by default, or if it is blank, the three names one after the other.
            valid_at: since when it holds; by default now.
            group_id: the group it belongs to.

        Raises:
            UsageError: what is said is none, ``valid_at`` stands for no moment, or Graphiti knows
                no such groups.
            StoreError: it could not be written.
        """
        return await self._beliefs.believe(
            subject, relation, object, fact=fact, valid_at=valid_at, group_id=group_id
        )

    async def context(
        self, about: str, *, group_id: str | None = None, max_tokens: int = 1_000,
        at: datetime | None = None, num_results: int = 10,
    ) -> str:  # fmt: skip
        """A prompt block: *verified active memory* and *resolved changes*, within a budget.

        Without a store, or where that refuses Graphiti's search, the block is empty, and that is
        counted as a failure. A group without a graph has none either, and none is created.

        Args:
            about: the name of an entity, or a question.
            group_id: the group to look in.
            max_tokens: budget.
            at: as of this moment instead of now.
            num_results: facts to look up for a question.
        """
        refuse_what_is_no_text(about=about)
        refuse_what_is_no_count(max_tokens=max_tokens, num_results=num_results)
        at_s = self._clock() if at is None else seconds_of(at, "at")
        if self.aside.skips(TELLING):
            return ""
        try:
            return await self._brief(plain(about), group_id, at_s, at, max_tokens, num_results)
        except (StoreError, RedisError) as error:
            self.aside.note_failure(error)
            return ""

    async def consolidate(
        self, group_id: str | None = None, *, schemas: bool = False, prune: bool = False,
        resolve: bool = False, dry_run: bool = False,
    ) -> Outcome:  # fmt: skip
        """The batch on one group, in a thread: the same engine and report as the command's."""
        run = Run(
            self._scope(group_id), self._clock(), uuid4().hex, schemas=schemas, prune=prune,
            resolve=resolve, dry_run=dry_run, lock_wait_s=WAIT_FOR_LOCK_S,
        )  # fmt: skip
        engine = ConsolidationEngine(self._store, self.config, perf_counter)
        outcome = await self.aside.run(WORKING, engine.consolidate, run)
        self._relations.forget(run.scope.graph)
        return outcome

    async def explain(self, memory: str, group_id: str | None = None) -> Explanation:
        """One memory: its score by factor, its curve, and what would save it.

        Args:
            memory: uuid of an entity or fact, or an entity's name.
            group_id: the group to look in.
        """

        refuse_what_is_no_text(memory=memory)

        def look() -> Explanation:
            recollector = Recollector(self._store, self.config)
            thoughts = recollector.recollect(self._scope(group_id), self._clock())
            row = find_memory(thoughts.snapshot, memory, thoughts.recalled.archive)
            return explained(thoughts, row)

        return await self.aside.run(WORKING, look)

    async def status(self, group_id: str | None = None) -> dict[str, Any]:
        """What is kept beside a group's graph, and what went wrong here since the start.

        Where the store cannot be read, ``problem`` says why, and what it keeps is ``None``; where
        it has no graph for the group, it says that.
        """
        graph, room, problem = graph_of(self.graphiti.driver, group_id), None, ""
        try:
            room = await self.aside.run(TELLING, self._store.summarize_room, graph)
            if graph not in await self.aside.run(TELLING, self._store.graphs):
                problem = f"there is no graph {shown(graph)} on this server; check the group's name"
        except StoreError as error:
            problem = str(error)
        return {
            "graph": graph,
            "problem": problem,
            "traces": room and room.traces_count,
            "surprises": room and room.surprises_count,
            "recalls": room and room.recalls_count,
            "last_run": room and room.last_run,
            "failures": dict(self.aside.failures),
            "skipped": self.aside.skipped_count,
            "lost_recalls": self.recaller.recorder.lost_count,
        }

    async def flush(self) -> bool:
        """Wait until every recall so far stands in the ledger; return whether it does."""
        return await self.aside.run(WORKING, self.recaller.recorder.flush)

    async def _brief(
        self, about: str, group_id: str | None, at_s: float, at: datetime | None,
        max_tokens: int, num_results: int,
    ) -> str:  # fmt: skip
        graph, only = graph_of(self.graphiti.driver, group_id), None
        named = await self.aside.run(TELLING, self._store.find_entities, graph, [about])
        subjects = {uuid for uuids in named.values() for uuid in uuids}
        if not subjects:
            if graph not in await self.aside.run(TELLING, self._store.graphs):
                return ""  # Graphiti's search would create it
            facts = await self.search(
                about, group_ids=[group_id] if group_id else None,
                num_results=num_results, at=at, asked=False,
            )  # fmt: skip
            subjects = {edge.source_node_uuid for edge in facts}
            only = {edge.uuid for edge in facts}

        whose = group_id if group_id == graph else None  # the default group has several names

        def brief() -> str:
            relations = self._relations.of(graph)
            return self._briefer.brief(graph, subjects, relations, at_s, max_tokens, only, whose)

        return await self.aside.run(BRIEFING, brief) if subjects else ""

    def _scope(self, group_id: str | None) -> Scope:
        return Scope(graph_of(self.graphiti.driver, group_id), group_id)
