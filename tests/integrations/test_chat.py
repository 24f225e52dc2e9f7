"""A conversation with a stub of an OpenAI-compatible endpoint."""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

pytest.importorskip("graphiti_core")

from synapse.errors import SynapseError
from synapse.integrations.chat import ChatBridge, Endpoint
from tests.conftest import REPOSITORY
from tests.integrations.test_hippocampus import beside, run, tell_moves
from tests.support.graphiti_world import embedding


class StubEndpoint(BaseHTTPRequestHandler):
    """Repeats what it was told; where a schema is wanted, it finds nothing to extract."""

    heard: ClassVar[list[dict]] = []

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
            rows = [{"object": "embedding", "index": i, "embedding": embedding(str(text))}
                    for i, text in enumerate(texts)]  # fmt: skip
            body = {"object": "list", "data": rows, "model": "m",
                    "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip
        elif asked["model"].startswith("sends "):
            self.send_raw(asked["model"].removeprefix("sends ").encode())
            return
        elif asked["model"] == "unknown":
            self.send_error(404)
            return
        else:
            if "response_format" not in asked:
                self.heard.append(asked)
            said = asked["messages"][-1]["content"]
            nothing = {"extracted_entities": [], "edges": [], "summaries": []}
            content = json.dumps(nothing) if "response_format" in asked else f"You said: {said}"
            message = {"role": "assistant", "content": content}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m",
                    "choices": [choice]}  # fmt: skip
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
    [(Endpoint("http://127.0.0.1:9/v1", "m"), "nothing answers"), (None, "refuses model")],
)
def test_an_endpoint_that_fails_is_one_sentence(
    falkordb_uri, graph_name, endpoint, store, wrong, said
):
    async def story():
        async with beside(falkordb_uri, graph_name) as (_, hippocampus):
            bridge = ChatBridge(hippocampus, wrong or Endpoint(endpoint.url, "unknown"), graph_name)
            await bridge.say("Ann moved to Oslo.")

    with pytest.raises(SynapseError, match=said):
        run(story())
    assert len(store.read_graph(graph_name).episodes) == 0


def test_the_command_talks_line_by_line(falkordb_uri, graph_name, endpoint, store):
    done = subprocess.run(
        [sys.executable, "-m", "synapse", "chat", "--url", endpoint.url, "--model", "m",
         "--embedding-model", "m", "--group-id", graph_name],
        input="Ann moved to Oslo.\nWhere is Ann?\n\n",
        cwd=REPOSITORY, capture_output=True, text=True,
        env={"FALKORDB_URI": falkordb_uri, "PATH": "", "PYTHONPATH": str(REPOSITORY),
             "GRAPHITI_TELEMETRY_ENABLED": "false"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["You said: Ann moved to Oslo.", "You said: Where is Ann?"]
    assert "not remembered" not in done.stderr
    assert len(store.read_graph(graph_name).episodes) == 1


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
