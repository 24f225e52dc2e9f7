"""A health check hears of every run, and no run hears of the health check."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from synapse.demo import DEMO_NOW


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    """A service that writes down what it is asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.server.asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    server.url = f"http://127.0.0.1:{server.server_port}/check"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_run_is_announced_and_its_end_told(consolidate, demo, service, slash):
    url = service.url + slash
    ended = consolidate("--group-id", demo, "--now", DEMO_NOW, SYNAPSE_HEALTH_CHECK_URL=url)
    assert ended.code == 0 and ended.summary["status"] == "ok"
    assert sorted(service.asked) == ["/check/0", "/check/start"]


@pytest.mark.parametrize(
    ("arguments", "uri", "code"),
    [
        (["--group-id", "nobody"], None, 2),
        ([], "redis://localhost:1", 75),
    ],
)
def test_a_failure_is_told_with_its_code(
    consolidate, falkordb_uri, demo, service, arguments, uri, code
):
    ended = consolidate(*arguments, uri=uri or falkordb_uri, SYNAPSE_HEALTH_CHECK_URL=service.url)
    assert ended.code == code
    assert sorted(service.asked) == [f"/check/{code}", "/check/start"]


def test_a_service_that_is_gone_or_silent_changes_nothing(consolidate, demo):
    command = ("--group-id", demo, "--now", DEMO_NOW)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for url in (
            f"http://127.0.0.1:{port}/x",
            "http://127.0.0.1:1/x",
            "https://\x7f^/",
            "http://",
        ):
            ended = consolidate(*command, SYNAPSE_HEALTH_CHECK_URL=url)
            assert (ended.code, ended.err, ended.summary["status"]) == (0, "", "ok"), url
