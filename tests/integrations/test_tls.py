"""A client whose connections use TLS in a way of its own is followed in that."""

import asyncio
import ssl
from types import SimpleNamespace

import pytest
import redis.asyncio

pytest.importorskip("graphiti_core")

from falkordb.asyncio import FalkorDB
from graphiti_core.driver.falkordb_driver import FalkorDriver

from synapse.errors import ConfigurationError, StoreUnreachable
from synapse.integrations.graph_names import server_tls, server_uri
from synapse.integrations.graphiti import Hippocampus
from synapse.store import open_store
from tests.support.tls import certificates, in_tls


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return certificates(tmp_path_factory.mktemp("tls"), "localhost")


def beside_tls(port, graph, host="localhost", **options):
    """What a hippocampus beside a client with these options finds wrong."""

    async def story():
        client = FalkorDB(host=host, port=port, ssl=True, **options)
        driver = FalkorDriver(falkor_db=client, database=graph)
        await driver._init_task
        graphiti = SimpleNamespace(driver=driver, embedder=None)
        try:
            hippocampus = Hippocampus(graphiti)
            status = await hippocampus.status(graph)
            await hippocampus.close()
            return status["problem"]
        finally:
            await driver.close()

    return asyncio.run(story())


def test_an_authority_of_its_own_is_trusted(falkordb_uri, graph_name, known):
    with in_tls(falkordb_uri, known) as port:
        trusted = {"ssl_ca_certs": str(known.authority)}
        assert beside_tls(port, graph_name, **trusted, ssl_check_hostname=True) == ""
        assert beside_tls(port, graph_name, "127.0.0.1", **trusted, ssl_check_hostname=False) == ""
        text = known.authority.read_text()
        assert beside_tls(port, graph_name, ssl_ca_data=text) == ""
        assert beside_tls(port, graph_name, "127.0.0.1", ssl_cert_reqs=None) == ""
        assert beside_tls(port, graph_name, ssl_cert_reqs=ssl.CERT_NONE) == ""


def test_a_certificate_of_its_own_is_shown(falkordb_uri, graph_name, known):
    shown = {
        "ssl_ca_certs": str(known.authority),
        "ssl_certfile": str(known.client),
        "ssl_keyfile": str(known.client_key),
    }
    with in_tls(falkordb_uri, known, wants_client=True) as port:
        assert beside_tls(port, graph_name, **shown) == ""


def test_no_more_is_trusted_than_the_client_does(falkordb_uri, known):
    pool = redis.asyncio.Redis(port=1, ssl=True).connection_pool
    driver = SimpleNamespace(
        client=SimpleNamespace(connection=SimpleNamespace(connection_pool=pool))
    )
    with in_tls(falkordb_uri, known) as port:
        pool.connection_kwargs |= {"port": port, "ssl_ca_certs": str(known.authority)}
        open_store(server_uri(driver), tls=server_tls(driver)).close()
        for place, options, said in (
            ("localhost", {"ssl_ca_certs": None}, "is not trusted"),
            ("127.0.0.1", {"ssl_ca_certs": str(known.authority)}, "names another host"),
        ):
            pool.connection_kwargs |= {"host": place, **options}
            with pytest.raises(StoreUnreachable, match=said):
                open_store(server_uri(driver), tls=server_tls(driver))


def test_an_address_names_files_of_its_own(falkordb_uri, known):
    with in_tls(falkordb_uri, known, wants_client=True) as port:
        files = f"ssl_certfile={known.client}&ssl_keyfile={known.client_key}"
        address = f"rediss://localhost:{port}?ssl_ca_certs={known.authority}&{files}"
        open_store(address).close()


class OwnKind(redis.asyncio.SSLConnection):
    """What it does about TLS nobody else knows."""


def test_a_connection_of_an_unknown_kind_is_told_in_a_sentence():
    pool = redis.asyncio.ConnectionPool(OwnKind, host="localhost", port=1)
    driver = SimpleNamespace(
        client=SimpleNamespace(connection=SimpleNamespace(connection_pool=pool))
    )
    assert server_uri(driver) == "rediss://localhost:1"
    with pytest.raises(ConfigurationError, match=r"OwnKind.*uri=") as refused:
        Hippocampus(SimpleNamespace(driver=driver))
    assert len(str(refused.value)) < 130


def test_without_tls_nothing_is_taken_over():
    pool = redis.asyncio.ConnectionPool(host="localhost", port=1)
    driver = SimpleNamespace(
        client=SimpleNamespace(connection=SimpleNamespace(connection_pool=pool))
    )
    assert server_tls(driver) == {}
