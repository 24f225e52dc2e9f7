"""The indices of a graph: those that Graphiti creates, and whether a graph's are built.

FalkorDB 4.16 builds indices in the background. Until one is built, queries read without it; and the
server crashes where a query is planned with an index in the moment in which that is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from redis.exceptions import ResponseError

from synapse.store.cypher import only_row
from synapse.store.keys import Connection

_STOPWORDS = (
    "OPTIONS {stopwords: ['a','is','the','an','and','are','as','at','be','but','by','for','if',"
    "'in','into','it','no','not','of','on','or','such','that','their','then','there','these',"
    "'they','this','to','was','will','with']}"
)
_INDICES = (
    "INDEX FOR (n:Entity) ON (n.uuid, n.group_id, n.name, n.created_at)",
    "INDEX FOR (n:Episodic) ON (n.uuid, n.group_id, n.created_at, n.valid_at)",
    "INDEX FOR (n:Community) ON (n.uuid)",
    "INDEX FOR (n:Saga) ON (n.uuid, n.group_id, n.name)",
    "INDEX FOR ()-[e:RELATES_TO]-() ON (e.uuid, e.group_id, e.name, e.created_at, e.expired_at, "
    "e.valid_at, e.invalid_at)",
    "INDEX FOR ()-[e:MENTIONS]-() ON (e.uuid, e.group_id)",
    "INDEX FOR ()-[e:HAS_MEMBER]-() ON (e.uuid)",
    "INDEX FOR ()-[e:HAS_EPISODE]-() ON (e.uuid, e.group_id)",
    "INDEX FOR ()-[e:NEXT_EPISODE]-() ON (e.uuid, e.group_id)",
    "FULLTEXT INDEX FOR (n:Episodic) ON (n.content, n.source, n.source_description, n.group_id) "
    + _STOPWORDS,
    "FULLTEXT INDEX FOR (n:Entity) ON (n.name, n.summary, n.group_id) " + _STOPWORDS,
    "FULLTEXT INDEX FOR (n:Community) ON (n.name, n.group_id) " + _STOPWORDS,
    "FULLTEXT INDEX FOR ()-[e:RELATES_TO]-() ON (e.name, e.fact, e.group_id)",
)
"""What Graphiti creates in every graph that it opens."""

_UNDER_CONSTRUCTION = (
    "CALL db.indexes() YIELD status WHERE status <> 'OPERATIONAL' RETURN count(status)"
)
_FIRST_PAUSE_S = 0.0005
_PATIENCE_S = 20.0
"""After that a graph is written to although its indices are not built."""


def create_indices(connection: Connection, graph: str) -> None:
    """Create the indices that Graphiti creates, and wait for them; those that exist are left."""
    for index in _INDICES:
        try:
            connection.execute_command("GRAPH.QUERY", graph, f"CREATE {index}")
        except ResponseError as error:
            if "already indexed" not in str(error) and "already set" not in str(error):
                raise
    are_built(connection.execute_command, graph, _PATIENCE_S)


def are_built(ask: Callable[..., Any], graph: str, patience_s: float) -> bool:
    """Whether all indices of a graph are built, if need be after some waiting.

    Args:
        ask: gives the reply to a command.
        graph: name of the graph.
        patience_s: how long to wait at most.

    Raises:
        IncompleteRead: the server cuts its answers to nothing.
    """
    pause_s, left_s = _FIRST_PAUSE_S, patience_s
    while _under_construction_count(ask, graph):
        if left_s <= 0.0:
            return False
        time.sleep(min(pause_s, left_s))
        pause_s, left_s = pause_s * 2, left_s - pause_s
    return True


def _under_construction_count(ask: Callable[..., Any], graph: str) -> int:
    (count,) = only_row(ask("GRAPH.RO_QUERY", graph, _UNDER_CONSTRUCTION))
    return int(count)
