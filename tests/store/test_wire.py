"""Several commands under way at the same time, each with its own answer."""

from contextlib import ExitStack

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from synapse.store.connection import connect
from synapse.store.neighbourhood import read_subjects
from synapse.store.wire import held_wire, held_wires

ECHOES = [("ECHO", word) for word in ("one", "two", "three", "four", "five")]


@pytest.mark.parametrize("connections", [1, 2, 32, 100])
def test_answers_come_in_the_order_of_the_commands(falkordb_uri, connections):
    thought_of = []
    with redis.Redis.from_url(falkordb_uri, max_connections=connections) as client:
        with held_wires(client, 3) as ask:
            answers = ask(ECHOES, lambda: thought_of.append("once"))
        assert answers == [word.encode() for _, word in ECHOES]
        assert thought_of == ["once"]
        assert client.ping(), "the connections were given back"


@pytest.mark.parametrize("connections", [1, 100])
def test_what_is_to_do_is_done_once_even_where_the_first_command_is_refused(
    falkordb_uri, connections
):
    done = []

    def commands():
        yield ("NO-SUCH-COMMAND",)
        yield ECHOES[0]

    with redis.Redis.from_url(falkordb_uri, max_connections=connections) as client:
        with pytest.raises(redis.ResponseError), held_wires(client, 2) as ask:
            ask(commands(), lambda: done.append("once"))
        assert done == ["once"]


@pytest.mark.parametrize("bad", range(len(ECHOES)))
@pytest.mark.parametrize("connections", [1, 2, 100])
def test_after_a_refusal_no_answer_is_left_for_somebody_else(falkordb_uri, connections, bad):
    with redis.Redis.from_url(falkordb_uri, max_connections=connections) as client:
        commands = [*ECHOES[:bad], ("NO-SUCH-COMMAND",), *ECHOES[bad:]]
        with pytest.raises(redis.ResponseError), held_wires(client, 3) as ask:
            ask(commands, lambda: None)
        with held_wires(client, min(connections, 9)) as ask:
            assert ask(ECHOES[::-1], lambda: None) == [w.encode() for _, w in ECHOES[::-1]]


@pytest.mark.parametrize("connections", [1, 2, 9])
def test_as_many_threads_can_read_as_there_are_connections(falkordb_uri, connections):
    with (
        redis.Redis.from_url(falkordb_uri, max_connections=connections) as client,
        ExitStack() as at,
    ):
        asks = [at.enter_context(held_wires(client, 2)) for _ in range(connections)]
        for ask in asks:
            assert ask(ECHOES[:2], lambda: None) == [b"one", b"two"]


def test_what_fails_meanwhile_leaves_no_answer_behind(falkordb_uri):
    def fail():
        raise MemoryError

    with redis.Redis.from_url(falkordb_uri, max_connections=99) as client:
        with pytest.raises(MemoryError), held_wires(client, 2) as ask:
            ask(ECHOES, fail)
        with held_wires(client, 2) as ask:
            assert ask(ECHOES[3:], lambda: None) == [b"four", b"five"]


def test_one_connection_reads_the_same_as_two(falkordb_uri, connection, graph_name):
    connection.execute_command(
        "GRAPH.QUERY", graph_name,
        "UNWIND range(0, 8) AS n CREATE (:Entity {uuid: 'a' + n, name: 'A' + n})"
        "-[:RELATES_TO {uuid: 'f' + n, name: 'USES', fact: 'it is', episodes: ['e' + n]}]->"
        "(:Entity {uuid: 'b' + n, name: 'B' + n}), (:Episodic {uuid: 'e' + n})",
    )  # fmt: skip
    wanted = [f"a{n}" for n in range(9)]
    mark = "&" if "?" in falkordb_uri else "?"
    only_one = f"{falkordb_uri}{mark}max_connections=1"
    with connect(only_one) as client, connect(falkordb_uri) as other:
        alone, together = (
            sorted(
                (uuid, read.entities.name[read.facts.target[row]], read.episodes.uuid[episodes[0]])
                for row, uuid in enumerate(read.facts.uuid)
                for episodes in [read.facts.episodes[row]]
            )
            for read in (read_subjects(each, graph_name, wanted) for each in (client, other))
        )
    assert alone == together == [(f"f{n}", f"B{n}", f"e{n}") for n in range(9)]


_COMMANDS = [*ECHOES[:3], ("NO-SUCH-COMMAND",)]
_ASKED = st.tuples(
    st.sampled_from(_COMMANDS),
    st.sampled_from([None, *_COMMANDS]),
    st.sampled_from([None, OSError]),
)


@given(asked=st.lists(_ASKED, max_size=12))
def test_whatever_is_sent_ahead_each_command_gets_its_own_answer(falkordb_uri, asked):
    def told(ask, command, ahead, failure):
        def meanwhile():
            if failure:
                raise failure

        try:
            return ask(command, meanwhile, ahead)
        except (redis.ResponseError, OSError) as error:
            return type(error)

    with redis.Redis.from_url(falkordb_uri, max_connections=1) as client:
        with held_wire(client) as ask:
            for command, ahead, failure in asked:
                own = command[1].encode() if len(command) > 1 else redis.ResponseError
                assert told(ask, command, ahead, failure) == (failure or own)
        assert client.echo("no answer is left behind") == b"no answer is left behind"


@pytest.mark.parametrize("limit", ["max_connections=1", "max_connections=99"])
@pytest.mark.parametrize("odd", ["MATCH (b:Entity {uuid: 'b3'}) SET b.name = 7",
                                 "MATCH (e:Episodic {uuid: 'e3'}) SET e.group_id = [7]",
                                 "MATCH ()-[f {uuid: 'f3'}]->() SET f.fact = 7"])  # fmt: skip
def test_a_value_that_is_no_text_hides_nothing(falkordb_uri, connection, graph_name, limit, odd):
    for query in (
        "UNWIND range(0, 8) AS n CREATE (:Entity {uuid: 'a' + n, name: 'A' + n})"
        "-[:RELATES_TO {uuid: 'f' + n, name: 'USES', fact: 'it is', episodes: ['e' + n]}]->"
        "(:Entity {uuid: 'b' + n, name: 'B' + n}), (:Episodic {uuid: 'e' + n})",
        odd,
    ):
        connection.execute_command("GRAPH.QUERY", graph_name, query)
    mark = "&" if "?" in falkordb_uri else "?"
    with connect(f"{falkordb_uri}{mark}{limit}") as client:
        read = read_subjects(client, graph_name, [f"a{n}" for n in range(9)])
    assert sorted(read.facts.uuid) == [f"f{n}" for n in range(9)]
    assert len(read.entities) == 18 and len(read.episodes) == 9
