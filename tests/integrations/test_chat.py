"""A conversation with a stub of an OpenAI-compatible endpoint."""

import json
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

pytest.importorskip("graphiti_core")

from synapse.errors import REWRITTEN_WORDS, SynapseError
from synapse.integrations.chat import ChatBridge, opened_chat
from synapse.integrations.endpoint import Endpoint
from tests.conftest import REPOSITORY
from tests.integrations.test_hippocampus import beside, run, tell_moves
from tests.support.graphiti_world import embedding


def answer(content):
    choice = {"index": 0, "finish_reason": "stop",
              "message": {"role": "assistant", "content": content}}  # fmt: skip
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return json.dumps(body).encode()


class StubEndpoint(BaseHTTPRequestHandler):
    """Repeats what it was told; where a schema is wanted, it finds nothing to extract."""

    heard: ClassVar[list[dict]] = []

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["model"].startswith("sends "):
            self.send_raw(asked["model"].removeprefix("sends ").encode())
            return
        if self.path.endswith("/embeddings"):
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            rows = [{"object": "embedding", "index": i, "embedding": embedding(str(text))}
                    for i, text in enumerate(texts)]  # fmt: skip
            body = {"object": "list", "data": rows, "model": "m",
                    "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip
        elif asked["model"].startswith("refuses "):
            self.send_error(int(asked["model"].removeprefix("refuses ")))
            return
        elif asked["messages"][-1]["content"] == "Fail!":
            self.send_error(400)
            return
        elif asked["messages"][-1]["content"] == "Half a character?":
            self.heard.append(asked)
            self.send_raw(answer("\x1b[31mhalf \ud83e\0!"))
            return
        else:
            if "response_format" not in asked:
                self.heard.append(asked)
            said = asked["messages"][-1]["content"]
            nothing = {"extracted_entities": [], "edges": [], "summaries": []}
            content = json.dumps(nothing) if "response_format" in asked else f"You said: {said}"
            self.send_raw(answer(content))
            return
        self.send_raw(json.dumps(body).encode())

    def send_raw(self, raw):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_args):
        pass


@pytest.fixture
def endpoint():
    StubEndpoint.heard = []
    with ThreadingHTTPServer(("127.0.0.1", 0), StubEndpoint) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Endpoint(f"http://127.0.0.1:{server.server_port}/v1", "m")
        server.shutdown()
        thread.join()


def test_the_model_is_told_what_holds_and_a_question_is_not_ingested(
    falkordb_uri, graph_name, endpoint, store
):
    async def story():
        async with beside(falkordb_uri, graph_name) as (world, hippocampus):
            await tell_moves(world)
            await hippocampus.consolidate(graph_name, resolve=True)
            world.llm.facts = []
            bridge = ChatBridge(hippocampus, endpoint, graph_name)
            asked = await bridge.say("Where does Ann live?")
            stated = await bridge.say("The tea is hot.")
            await bridge.close()
            return asked, stated

    asked, stated = run(story())
    assert (asked.text, asked.stated, asked.problem) == ("You said: Where does Ann live?", "", "")
    system, user = StubEndpoint.heard[0]["messages"]
    assert '"Ann lives in Rome"' in system["content"].split("## Resolved changes")[0]
    assert '"Ann lives in Oslo"' not in system["content"].split("## Resolved changes")[0]
    assert user["content"] == "Where does Ann live?"
    assert (stated.stated, stated.problem) == ("The tea is hot.", "")
    assert [m["role"] for m in StubEndpoint.heard[1]["messages"]][-3:] == [
        "user", "assistant", "user"
    ]  # fmt: skip
    assert len(store.read_graph(graph_name).episodes) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Endpoint("http://127.0.0.1:9/v1", "m"), "nothing answers"),
        ("refuses 400", "too long"), ("refuses 401", "key"), ("refuses 404", "know the model"),
        ("refuses 413", "too long"), ("refuses 429", "wait"), ("refuses 500", "failed itself"),
    ],
)  # fmt: skip
def test_an_endpoint_that_fails_is_one_sentence(
    falkordb_uri, graph_name, endpoint, store, wrong, said
):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            asked = Endpoint(endpoint.url, wrong) if isinstance(wrong, str) else wrong
            bridge = ChatBridge(hippocampus, asked, graph_name)
            try:
                await bridge.say("Ann moved to Oslo.")
            finally:
                await bridge.close()

    with pytest.raises(SynapseError, match=said) as refused:
        run(story())
    assert len(str(refused.value)) < 130
    assert not REWRITTEN_WORDS.search(str(refused.value).replace(endpoint.url, ""))
    assert len(store.read_graph(graph_name).episodes) == 0


def chat(falkordb_uri, graph_name, endpoint, said, **environment):
    return subprocess.run(
        [sys.executable, "-m", "synapse", "chat", "--url", endpoint.url, "--model", "m",
         "--embedding-model", "m", "--group-id", graph_name],
        input=said,
        cwd=REPOSITORY, capture_output=True, encoding="utf-8", errors="surrogateescape",
        env={"FALKORDB_URI": falkordb_uri, "PATH": "", "PYTHONPATH": str(REPOSITORY),
             "GRAPHITI_TELEMETRY_ENABLED": "false"} | environment,
    )  # fmt: skip


def test_a_byte_that_is_no_character_ends_no_conversation(
    falkordb_uri, graph_name, endpoint, store
):
    done = chat(falkordb_uri, graph_name, endpoint, "Wh\udcff?\nWho?\n\n", PYTHONIOENCODING="ascii")
    assert done.stdout.splitlines() == ["You said: Wh\\ufffd?", "You said: Who?"]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_talks_line_by_line(falkordb_uri, graph_name, endpoint, store):
    done = chat(falkordb_uri, graph_name, endpoint, "Ann moved to Oslo.\nWhere is Ann?\n\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["You said: Ann moved to Oslo.", "You said: Where is Ann?"]
    assert "not remembered" not in done.stderr
    assert len(store.read_graph(graph_name).episodes) == 1


async def told_after(falkordb_uri, graph_name, endpoint, *turns):
    """What the bridge answers to the turns; the sentence where one fails."""
    replies = []
    async with beside(falkordb_uri, graph_name) as (_, hippocampus):
        bridge = ChatBridge(hippocampus, endpoint, graph_name)
        for turn in turns:
            try:
                replies.append((await bridge.say(turn)).text)
            except SynapseError as error:
                replies.append(str(error))
        await bridge.close()
    return replies


def test_half_a_character_in_an_answer_spoils_nothing(falkordb_uri, graph_name, endpoint):
    turns = "Half a character?", "Who are you?", "Where am I?"
    first, *others = run(told_after(falkordb_uri, graph_name, endpoint, *turns))
    assert first == "\x1b[31mhalf ?!"
    assert others == ["You said: Who are you?", "You said: Where am I?"]
    assert StubEndpoint.heard[-1]["messages"][1]["content"] == first


def test_what_the_model_is_told_of_earlier_turns_fits_into_a_budget(
    falkordb_uri, graph_name, endpoint
):
    long = "What is " + "z" * 4_000 + "?"
    run(told_after(falkordb_uri, graph_name, endpoint, *[long] * 3, "Who?", "z" * 20_000 + "?"))
    heard = [[m["content"] for m in one["messages"]] for one in StubEndpoint.heard]
    assert [len(messages) for messages in heard] == [1, 3, 3, 3, 5]
    assert heard[3] == [long, f"You said: {long}", "Who?"]
    assert heard[4][-3:] == ["Who?", "You said: Who?", "z" * 20_000 + "?"]


def test_short_turns_are_kept_up_to_a_count(falkordb_uri, graph_name, endpoint):
    run(told_after(falkordb_uri, graph_name, endpoint, *["Who?"] * 12))
    assert [len(one["messages"]) for one in StubEndpoint.heard] == [*range(1, 21, 2), 21, 21]


def test_a_turn_that_fails_is_not_kept(falkordb_uri, graph_name, endpoint):
    run(told_after(falkordb_uri, graph_name, endpoint, "Fail!", "Who?"))
    assert [m["content"] for m in StubEndpoint.heard[-1]["messages"]] == ["Who?"]


def test_an_endpoint_that_never_answers_is_not_waited_for(
    falkordb_uri, graph_name, endpoint, monkeypatch
):
    monkeypatch.setattr("synapse.integrations.chat.ANSWER_WITHIN_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mute = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1", "m")
        (told,) = run(told_after(falkordb_uri, graph_name, mute, "Who?"))
    assert "has not answered within" in told
    assert len(told) < 130


def test_a_turn_that_fails_does_not_end_the_conversation(falkordb_uri, graph_name, endpoint, store):
    done = chat(falkordb_uri, graph_name, endpoint, "Fail!\nHalf a character?\nWho?\n\n")
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["\\x1b[31mhalf ?!", "You said: Who?"]
    (sentence,) = done.stderr.splitlines()
    assert "too long" in sentence


@pytest.mark.parametrize(
    "body",
    [
        "{", "<html>proxy</html>", "{}", '{"choices": []}', '{"choices": [{"message": null}]}',
        '{"choices": [{}]}', "null", "[1]", '{"choices": [{"message": {"content": [1]}}]}', "\\xff",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_said_in_one_sentence(falkordb_uri, graph_name, endpoint, body):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            bridge = ChatBridge(hippocampus, replace(endpoint, model=f"sends {body}"), graph_name)
            with pytest.raises(SynapseError, match="no chat completion") as refused:
                await bridge.say("I moved to Oslo.")
            await bridge.close()
            return refused.value

    assert len(str(run(story()))) < 130


@pytest.mark.parametrize(
    "body", ["{", "{}", '{"data": []}', '{"data": [{}]}', '{"data": [{"embedding": null}]}', "[1]"]
)
def test_what_is_no_embedding_ends_no_conversation(falkordb_uri, graph_name, endpoint, body):
    deaf = replace(endpoint, embedding_model=f"sends {body}")

    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            await hippocampus.believe("Ann", "LIVES_IN", "Oslo", group_id=graph_name)
        async with opened_chat(falkordb_uri, deaf, graph_name) as bridge:
            with pytest.raises(SynapseError, match="no embedding") as refused:
                await bridge.say("Who lives there?")
            return str(refused.value), (await bridge.say("Ann")).text

    told, answered = run(story())
    assert len(told) < 130
    assert answered == "You said: Ann"  # a name is looked up without an embedding


def test_a_turn_that_the_search_refuses_is_answered_without_a_query_on_stderr(
    falkordb_uri, graph_name, endpoint
):
    done = chat(falkordb_uri, graph_name, endpoint, "Ann moved to Oslo.\n_?\nWho?\n\n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["You said: _?", "You said: Who?"]
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("Synapse could not do its part (ResponseError)")
