"""Graphs written by Graphiti's own classes, without a network and the same every time.

The language model is a script: a test says which facts an episode states and which known facts
each of them repeats or contradicts; everything else (de-duplication, dating, invalidation, saving)
is Graphiti's own code on a real FalkorDB::

    async def story(world: World) -> None:
        await world.episode("Alice uses PostgreSQL.", at=MONDAY,
                            facts=[Fact("Alice", "USES", "PostgreSQL", "Alice uses PostgreSQL")])

    write(falkordb_uri, graph_name, story)
"""

from __future__ import annotations

import ast
import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from falkordb.asyncio import FalkorDB  # type: ignore[import-untyped]
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.falkordb_driver import FalkorDriver
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.graphiti import AddEpisodeResults, AddTripletResults
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig, ModelSize
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.prompts.models import Message
from pydantic import BaseModel

T = TypeVar("T")

EMBEDDING_SIZE = 16
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
WHEN_SAID = datetime.max.replace(tzinfo=UTC)
"""Stands for the time of the episode that states the fact."""

OWN_GROUP = "the name of the graph"
"""Stands for what Graphiti has done since 0.23: a group is a graph of the same name."""


UNDER_CONSTRUCTION = "CALL db.indexes() YIELD status WHERE status <> 'OPERATIONAL' RETURN status"


class Fact(NamedTuple):
    """One fact an episode states. ``valid_at=None`` leaves it undated."""

    source: str
    relation: str
    target: str
    text: str
    valid_at: datetime | None = WHEN_SAID
    invalid_at: datetime | None = None
    contradicts: Sequence[str] = ()
    """Texts of known facts that this one makes false."""
    repeats: Sequence[str] = ()
    """Texts of known facts between the same entities that say the same."""


class Script(NamedTuple):
    """What one episode says."""

    facts: Sequence[Fact] = ()
    entities: Sequence[str] = ()
    said_at: datetime = NEW_YEAR


_NOTHING = Script()


class ScriptedLLM(LLMClient):
    """Answers each of Graphiti's questions from the script of the current episode.

    Every asyncio task has a script of its own, so that episodes can be told at once.
    """

    def __init__(self) -> None:
        super().__init__(LLMConfig(api_key="none", model="script"))
        self._script = ContextVar("script", default=_NOTHING)

    def tell(self, script: Script) -> None:
        """Answer from this script in the current task."""
        self._script.set(script)

    @property
    def facts(self) -> Sequence[Fact]:
        """What the current episode states."""
        return self._script.get().facts

    @facts.setter
    def facts(self, facts: Sequence[Fact]) -> None:
        self.tell(self._script.get()._replace(facts=facts))

    async def _generate_response(
        self,
        messages: list[Message],
        response_model: type[BaseModel] | None = None,
        max_tokens: int = 0,
        model_size: ModelSize = ModelSize.medium,
        *,
        model: str | None = None,
    ) -> dict[str, Any]:
        question = response_model.__name__ if response_model else "nothing"
        answers: dict[str, Callable[[str], dict[str, Any]]] = {
            "ExtractedEntities": self._name_entities,
            "NodeResolutions": lambda prompt: {"entity_resolutions": []},
            "ExtractedEdges": self._state_facts,
            "EdgeDuplicate": self._compare,
            "EdgeTimestamps": lambda prompt: {"valid_at": None, "invalid_at": None},
            "SummarizedEntities": lambda prompt: {"summaries": []},
            "Summary": lambda prompt: {"summary": "A summary."},
            "SagaSummary": lambda prompt: {"summary": "A summary."},
            "SummaryDescription": lambda prompt: {"description": "A description."},
        }
        assert question in answers, f"Graphiti asks for {question}, which the script lacks"
        return answers[question](messages[-1].content)

    def _name_entities(self, prompt: str) -> dict[str, Any]:
        ends = [end for fact in self.facts for end in (fact.source, fact.target)]
        names = dict.fromkeys([*ends, *self._script.get().entities])
        return {"extracted_entities": [{"name": n, "entity_type_id": 0} for n in names]}

    def _state_facts(self, prompt: str) -> dict[str, Any]:
        return {"edges": [self._stated(fact) for fact in self.facts]}

    def _stated(self, fact: Fact) -> dict[str, Any]:
        said_at = self._script.get().said_at
        valid_at = said_at if fact.valid_at is WHEN_SAID else fact.valid_at
        return {
            "source_entity_name": fact.source,
            "target_entity_name": fact.target,
            "relation_type": fact.relation,
            "fact": fact.text,
            "valid_at": valid_at and valid_at.isoformat(),
            "invalid_at": fact.invalid_at and fact.invalid_at.isoformat(),
        }

    def _compare(self, prompt: str) -> dict[str, Any]:
        text = _section(prompt, "NEW FACT")
        fact = next((fact for fact in self.facts if fact.text == text), None)
        same_ends = ast.literal_eval(_section(prompt, "EXISTING FACTS"))
        others = ast.literal_eval(_section(prompt, "FACT INVALIDATION CANDIDATES"))
        return {
            "duplicate_facts": _numbers(same_ends, fact.repeats if fact else ()),
            "contradicted_facts": _numbers([*same_ends, *others], fact.contradicts if fact else ()),
        }


def _section(prompt: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", prompt, re.DOTALL)
    assert found, f"Graphiti's prompt has no section {name} any more"
    return found[1]


def _numbers(known: Sequence[dict[str, Any]], texts: Iterable[str]) -> list[int]:
    by_text = {fact["fact"]: fact["idx"] for fact in known}
    missing = [text for text in texts if text not in by_text]
    assert not missing, f"Graphiti did not offer {missing} for comparison, only {list(by_text)}"
    return [by_text[text] for text in texts]


class WordEmbedder(EmbedderClient):
    """Counts words in hashed buckets: texts with the same words are near each other."""

    async def create(self, input_data: Any) -> list[float]:
        return embedding(input_data if isinstance(input_data, str) else input_data[0])

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [embedding(text) for text in input_data_list]


def embedding(text: str) -> list[float]:
    """The vector of a text, length :data:`EMBEDDING_SIZE`, Euclidean norm 1."""
    vector = [0.01] * EMBEDDING_SIZE
    for word in re.findall(r"\w+", text.lower()):
        vector[hashlib.blake2b(word.encode(), digest_size=1).digest()[0] % EMBEDDING_SIZE] += 1.0
    norm = sum(x * x for x in vector) ** 0.5
    return [x / norm for x in vector]


class OverlapRanker(CrossEncoderClient):
    """Ranks passages by the share of the question's words they hold."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        words = set(query.lower().split())
        scores = [(p, len(words & set(p.lower().split())) / max(1, len(words))) for p in passages]
        return sorted(scores, key=lambda scored: -scored[1])


class World:
    """One graph and the Graphiti that writes it. ``group_id=None`` is Graphiti's default group."""

    def __init__(self, driver: FalkorDriver, group_id: str | None) -> None:
        self.driver = driver
        self.group_id = group_id
        self.llm = ScriptedLLM()
        self.embedder = WordEmbedder()
        self.graphiti = Graphiti(
            graph_driver=driver,
            llm_client=self.llm,
            embedder=self.embedder,
            cross_encoder=OverlapRanker(),
        )

    @property
    def stored_group(self) -> str:
        """What Graphiti writes as ``group_id``."""
        return self.driver.default_group_id if self.group_id is None else self.group_id

    async def episode(
        self,
        text: str,
        at: datetime = NEW_YEAR,
        facts: Sequence[Fact | tuple[Any, ...]] = (),
        entities: Sequence[str] = (),
        **options: Any,
    ) -> AddEpisodeResults:
        """``Graphiti.add_episode``; ``entities`` are mentioned without a fact."""
        self.llm.tell(Script([Fact(*fact) for fact in facts], entities, at))
        return await self.graphiti.add_episode(
            **{
                "name": text[:40],
                "episode_body": text,
                "source": EpisodeType.text,
                "source_description": "test",
                "reference_time": at,
                "group_id": self.group_id,
                **options,
            }
        )

    async def triplet(
        self, source: EntityNode, fact: Fact | tuple[Any, ...], target: EntityNode
    ) -> AddTripletResults:
        """``Graphiti.add_triplet``; the names of ``fact`` are ignored in favour of the nodes."""
        stated = Fact(*fact)
        self.llm.facts = [stated]
        edge = self.edge(source, stated.relation, target, stated.text, {})
        edge.valid_at = None if stated.valid_at is WHEN_SAID else stated.valid_at
        edge.invalid_at = stated.invalid_at
        return await self.graphiti.add_triplet(source, edge, target)

    async def entity(self, name: str, **properties: Any) -> EntityNode:
        """``EntityNode.save``."""
        node = EntityNode(
            **{"name": name, "group_id": self.stored_group, "created_at": NEW_YEAR, **properties}
        )
        await node.generate_name_embedding(self.embedder)
        await node.save(self.driver)
        return node

    async def fact(
        self, source: EntityNode, relation: str, target: EntityNode, text: str, **properties: Any
    ) -> EntityEdge:
        """``EntityEdge.save``; properties such as ``valid_at`` and ``episodes`` as in Graphiti."""
        edge = self.edge(source, relation, target, text, properties)
        await edge.generate_embedding(self.embedder)
        await edge.save(self.driver)
        return edge

    async def bare_episode(
        self, text: str, at: datetime = NEW_YEAR, **properties: Any
    ) -> EpisodicNode:
        """``EpisodicNode.save``: an episode from which nothing was extracted."""
        node = EpisodicNode(
            **{
                "name": text[:40],
                "group_id": self.stored_group,
                "source": EpisodeType.text,
                "source_description": "test",
                "content": text,
                "valid_at": at,
                "created_at": at,
                **properties,
            }
        )
        await node.save(self.driver)
        return node

    async def mention(
        self, episode: EpisodicNode, entity: EntityNode, **properties: Any
    ) -> EpisodicEdge:
        """``EpisodicEdge.save``: the episode mentions the entity."""
        edge = EpisodicEdge(
            **{
                "source_node_uuid": episode.uuid,
                "target_node_uuid": entity.uuid,
                "group_id": self.stored_group,
                "created_at": NEW_YEAR,
                **properties,
            }
        )
        await edge.save(self.driver)
        return edge

    async def cypher(self, query: str, **parameters: Any) -> list[list[Any]]:
        """Rows of a query on the graph, for what Graphiti itself cannot write."""
        result = await self.driver.client.select_graph(self.driver._database).query(
            query, parameters
        )
        return list(result.result_set)

    def edge(
        self,
        source: EntityNode,
        relation: str,
        target: EntityNode,
        text: str,
        properties: dict[str, Any],
    ) -> EntityEdge:
        """A fact that is not saved yet."""
        return EntityEdge(
            **{
                "source_node_uuid": source.uuid,
                "target_node_uuid": target.uuid,
                "name": relation,
                "fact": text,
                "group_id": self.stored_group,
                "created_at": NEW_YEAR,
                **properties,
            }
        )


@asynccontextmanager
async def graphiti_world(
    uri: str, database: str, group_id: str | None = OWN_GROUP
) -> AsyncIterator[World]:
    """A world on the graph ``database``, with Graphiti's indices, closed at the end."""
    driver = FalkorDriver(falkor_db=FalkorDB.from_url(uri), database=database)
    try:
        assert driver._init_task is not None
        await driver._init_task  # the indices, which the driver starts to build by itself
        world = World(driver, database if group_id == OWN_GROUP else group_id)
        # The database crashes where an index is replaced while a query is planned with it.
        while await world.cypher(UNDER_CONSTRUCTION):
            await asyncio.sleep(0)
        yield world
    finally:
        await driver.close()


def write(
    uri: str,
    database: str,
    story: Callable[[World], Awaitable[T]],
    group_id: str | None = OWN_GROUP,
) -> T:
    """Run ``story`` in a world of its own event loop and return what it returns."""

    async def run() -> T:
        async with graphiti_world(uri, database, group_id) as world:
            return await story(world)

    return asyncio.run(run())
