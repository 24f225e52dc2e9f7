"""A real TLS in front of a server that speaks none."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import redis


class Certificates(NamedTuple):
    """Files of one authority, and of a server and a client that it vouches for."""

    authority: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path


def certificates(folder: Path, host: str) -> Certificates:
    """Make them; the server's names one host alone."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    authority, key = folder / "ca.pem", folder / "ca.key"
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-batch")
    _openssl(*new, "-x509", "-days", "2", "-subj", "/CN=ours", "-keyout", key, "-out", authority)
    made = []
    for name, more in (
        ("server", f"subjectAltName=DNS:{host}"),
        ("client", "basicConstraints=CA:FALSE"),
    ):
        own, own_key, asked = (folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
        extra = folder / f"{name}.ext"
        extra.write_text(more)
        _openssl(*new, "-subj", f"/CN={name}", "-keyout", own_key, "-out", asked)
        _openssl(
            "x509", "-req", "-in", asked, "-CA", authority, "-CAkey", key, "-CAcreateserial",
            "-days", "2", "-extfile", extra, "-out", own,
        )  # fmt: skip
        made += [own, own_key]
    return Certificates(authority, *made)


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@contextmanager
def in_tls(uri: str, known: Certificates, wants_client: bool = False) -> Iterator[int]:
    """The port of this machine at which the server of an address is reached by TLS.

    Args:
        uri: where the server is.
        known: the certificates.
        wants_client: whether a client has to show one that the authority vouches for.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(known.server, known.server_key)
    if wants_client:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(known.authority)
    place = redis.ConnectionPool.from_url(uri).connection_kwargs
    loop = asyncio.new_event_loop()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if "path" in place:
            answers, questions = await asyncio.open_unix_connection(place["path"])
        else:
            answers, questions = await asyncio.open_connection(
                place["host"], place.get("port", 6379)
            )
        await asyncio.gather(_copy(reader, questions), _copy(answers, writer))

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)

    listening = loop.run_until_complete(listen())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        listening.close()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()
