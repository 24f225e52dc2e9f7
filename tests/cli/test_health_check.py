"""A health check hears of every run, and no run hears of the health check."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import monotonic

import pytest

from synapse.cli.time_limit import TimeLimit
from synapse.demo import DEMO_NOW
from synapse.integrations.health_check import HealthCheck


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
    assert service.asked == ["/check/start", "/check/0"]


def test_a_query_stays_behind_the_word(consolidate, demo, service):
    url = f"{service.url}/?create=1#here"
    assert consolidate("--group-id", demo, SYNAPSE_HEALTH_CHECK_URL=url).code == 0
    assert service.asked == ["/check/start?create=1", "/check/0?create=1"]


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
    assert service.asked == ["/check/start", f"/check/{code}"]


@pytest.fixture
def trickle() -> Iterator[str]:
    """A service whose answer never ends: a line now and then, and each in time."""
    closing = Event()
    server = socket.create_server(("127.0.0.1", 0))

    def answer(caller: socket.socket) -> None:
        with caller, suppress(OSError):
            caller.recv(1000)
            caller.sendall(b"HTTP/1.1 200 OK\r\n")
            while not closing.wait(0.2):
                caller.sendall(b"X-More: to come\r\n")

    def listen() -> None:
        with suppress(OSError):
            while True:
                Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

    Thread(target=listen, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}/x"
    closing.set()
    server.close()


@pytest.fixture
def silence() -> Iterator[str]:
    """A service that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x"


@pytest.mark.parametrize("url", ["silence", "trickle", "http://127.0.0.1:1/x"])
def test_a_service_that_is_gone_or_slow_changes_nothing(consolidate, demo, request, url):
    url = url if ":" in url else request.getfixturevalue(url)
    command = ("--group-id", demo, "--now", DEMO_NOW)
    ended = consolidate(*command, SYNAPSE_HEALTH_CHECK_URL=url)
    assert (ended.code, ended.err, ended.summary["status"]) == (0, "", "ok")


@pytest.mark.parametrize("service_that_is_slow", ["silence", "trickle"])
@pytest.mark.parametrize("limit_s", [None, 2])
def test_leaving_takes_no_longer_than_promised(request, service_that_is_slow, limit_s):
    url = request.getfixturevalue(service_that_is_slow)
    with HealthCheck(url, limit_s) as check:
        assert check.parting_s == (1.0 if limit_s is None else 0.2)
        began = monotonic()
    assert monotonic() - began < check.parting_s + 0.5


def test_the_last_call_is_within_the_limit_of_the_run(monkeypatch):
    rung = []
    monkeypatch.setattr(signal, "setitimer", lambda _, *seconds: rung.append(seconds[0]))
    with TimeLimit(5, reserved_s=HealthCheck("http://x", 5).parting_s) as limit:
        assert rung == [4.5]
    assert "its limit of 5 s" in str(limit.error())
    with TimeLimit(5, reserved_s=HealthCheck(None, 5).parting_s):
        assert rung[-1] == 5


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ftp://x", "begin with https://"),
        ("https://x y/", "no spaces"),
        ("https://\x7f^/", "no spaces"),
        ("http://ü.example/", "no spaces"),
        ("http://", "no spaces"),
        ("https://u:s3cret@host/x", "no user name"),
        ("http://[::1/x", "host or its port"),
        ("http://host:port/x", "host or its port"),
        ("http://host:99999999/x", "host or its port"),
        ("http:///x", "host or its port"),
    ],
)
def test_an_address_that_cannot_be_called_is_refused(consolidate, url, says):
    ended = consolidate(SYNAPSE_HEALTH_CHECK_URL=url, uri="redis://localhost:1")
    assert ended.code == 2 and says in ended.err and "health_check_url" in ended.err
    assert "s3cret" not in ended.err + ended.out and len(ended.err.splitlines()) == 1
