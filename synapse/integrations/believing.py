"""What a caller states, believed beside Graphiti: checked, written, and embedded if it can be."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from graphiti_core import Graphiti

from synapse.hippocampus.lexicon.words import split_name
from synapse.hippocampus.ports import MemoryStore
from synapse.integrations.aside import WORKING, Aside
from synapse.integrations.belief import Belief, Believer, Statement
from synapse.integrations.graph_names import graph_of, refuse_group
from synapse.integrations.moments import seconds_of
from synapse.integrations.relation_memory import RelationMemory
from synapse.integrations.texts import refuse_what_is_no_text


class Beliefs:
    """Believes statements in the groups of a Graphiti client.

    Args:
        graphiti: the client; its embedder is used.
        store: where the graphs are.
        relations: what graphs show about their relations.
        aside: where blocking work goes.
        clock: seconds since 1970.
    """

    def __init__(
        self, graphiti: Graphiti, store: MemoryStore, relations: RelationMemory, aside: Aside,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._graphiti = graphiti
        self._store = store
        self._relations = relations
        self._aside = aside
        self._clock = clock
        self._believer = Believer(store)

    async def believe(
        self, subject: str, relation: str, object: str, *,
        fact: str | None, valid_at: datetime | None, group_id: str | None,
    ) -> Belief:  # fmt: skip
        """Take a statement for true; see :meth:`Hippocampus.believe`."""
        refuse_what_is_no_text(
            subject=subject, relation=relation, object=object, fact="" if fact is None else fact
        )
        driver = self._graphiti.driver
        refuse_group(driver, group_id)
        graph, now_s = graph_of(driver, group_id), self._clock()
        subject, relation, object = subject.strip(), relation.strip(), object.strip()
        words = " ".join(split_name(relation)) or relation
        text = (fact or "").strip() or f"{subject} {words} {object}"
        since_s = now_s if valid_at is None else seconds_of(valid_at, "valid_at")
        said = Statement(subject, relation, object, text, since_s)
        group = driver.default_group_id if group_id is None else group_id

        def believe() -> Belief:
            relations = self._relations.of(graph)
            self._relations.tell(graph, 1)
            return self._believer.believe(graph, str(group), said, relations, now_s)

        belief = await self._aside.run(WORKING, believe)
        await self._embed(graph, belief, text)
        return belief

    async def _embed(self, graph: str, belief: Belief, text: str) -> None:
        """Embeddings of what is new; without them Graphiti still finds it by its words."""
        if belief.outcome == "confirmed":
            return
        uuids = [uuid for uuid, _ in belief.new_entities]
        names = [name for _, name in belief.new_entities]
        write = self._store.write_embeddings
        try:
            vectors = list(await self._graphiti.embedder.create_batch([*names, text]))
            entities = dict(zip(uuids, vectors, strict=False))
            await self._aside.run(WORKING, write, graph, "entity", entities)
            await self._aside.run(WORKING, write, graph, "fact", {belief.fact: vectors[-1]})
        except Exception as error:  # noqa: BLE001  the belief stands without its embedding
            self._aside.note_failure(error)
