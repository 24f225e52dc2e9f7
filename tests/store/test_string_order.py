"""Why times are never compared in Cypher, and that they order right without it."""

import warnings

from synapse.hippocampus.config import HippocampusConfig
from synapse.hippocampus.stages import Thoughts
from synapse.store.times import parse_times

SAME_MOMENT = ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00", "2026-03-01T17:30:00+05:30",
               "2026-03-01T12:00:00", "2026-03-01T12:00:00.000000+00:00")  # fmt: skip


def test_canary_does_this_server_compare_indexed_strings_wrongly(connection, graph_name):
    """Warns, never fails: Synapse does not depend on the answer."""

    def ask(query):
        return connection.execute_command("GRAPH.QUERY", graph_name, query)

    ask("CREATE INDEX FOR (n:Entity) ON (n.created_at)")
    ask("UNWIND range(100, 199) AS i CREATE (:Entity {created_at: '2026-' + toString(i)})")
    rows = ask("MATCH (n:Entity) WHERE n.created_at < '2026-150' RETURN count(n)")[1][0][0]
    assert rows >= 50
    if rows != 50:
        warnings.warn(f"this server's < on an indexed string returns {rows} of 50", stacklevel=1)


def test_every_way_to_write_a_moment_is_the_same_moment(connection, graph_name, store):
    stamps = [*SAME_MOMENT, "2026-03-01T11:59:59.999999Z", "2026-03-01T13:00:00+00:30", "", "soon"]
    query = (
        "CREATE (a:Entity {uuid: 'a', name: 'A'}), (b:Entity {uuid: 'b', name: 'B'}) "
        "WITH a, b UNWIND $stamps AS s "
        "CREATE (a)-[:RELATES_TO {uuid: s, fact: '', created_at: s}]->(b)"
    )
    literal = "[" + ", ".join(f"'{stamp}'" for stamp in stamps) + "]"
    connection.execute_command("GRAPH.QUERY", graph_name, f"CYPHER stamps={literal} {query}")
    facts = store.read_graph(graph_name).facts
    times = dict(zip(facts.uuid, facts.created_at_s.tolist(), strict=True))
    noon = parse_times([b"2026-03-01T12:00:00+00:00"])[0]
    assert {times[stamp] for stamp in SAME_MOMENT} == {noon}
    assert times["2026-03-01T11:59:59.999999Z"] < noon < times["2026-03-01T13:00:00+00:30"]
    assert times["soon"] != times["soon"]  # unknown, not zero

    thoughts = Thoughts(store.read_graph(graph_name), noon + 400 * 86_400.0, HippocampusConfig())
    strength = dict(zip(thoughts.snapshot.memory_uuids, thoughts.standing.strength, strict=True))
    assert strength["soon"] == 1.0 > strength[SAME_MOMENT[0]]


def test_a_point_in_place_of_labels_hides_nothing(connection, graph_name, store):
    connection.execute_command(
        "GRAPH.QUERY",
        graph_name,
        "CREATE (:Entity:Person {uuid: 'a', labels: point({latitude: 1, longitude: 2})}), "
        "(:Entity {uuid: 'b', labels: ['Entity', 'Team']}), (:Entity {uuid: 'c'})",
    )
    entities = store.read_graph(graph_name).entities
    assert dict(zip(entities.uuid, entities.labels, strict=True)) == {
        "a": ("Person",),
        "b": ("Team",),
        "c": (),
    }
