"""Everything that touches FalkorDB; :func:`open_store` is the way in.

Importing the package loads neither redis nor numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from synapse.errors import ConfigurationError

if TYPE_CHECKING:
    from synapse.store.falkordb import FalkorStore

_SERVERS = ("redis://", "rediss://", "unix://", "falkor://", "falkors://")
_EMBEDDED = "embedded:"


def open_store(
    uri: str, *, may_create: bool = True, tls: Mapping[str, Any] = MappingProxyType({})
) -> FalkorStore:
    """Open the store at an address; ``close()`` it when done.

    Args:
        uri: ``redis://``, ``rediss://`` (TLS) or ``unix://`` for a server that runs, or
            ``embedded:<folder>`` for a private server that keeps its data in the folder and
            stops when the store is closed.
        may_create: whether a folder without a memory may become one.
        tls: what a ``rediss://`` connection trusts and shows, as redis-py's ``ssl_…`` options.

    Raises:
        ConfigurationError: the address has another form, or its folder holds no memory.
        StoreError: the server does not answer as it must.
    """
    if uri.startswith(_SERVERS):
        from synapse.store.falkordb import FalkorStore

        return FalkorStore.open(uri, tls=tls)
    if uri.startswith(_EMBEDDED) and uri != _EMBEDDED:
        return _open_embedded(uri.removeprefix(_EMBEDDED), may_create)
    raise ConfigurationError(
        "the database address must be redis://, rediss:// or unix:// and a place, "
        "or embedded: and a folder; check FALKORDB_URI"
    )


def _open_embedded(folder: str, may_create: bool) -> FalkorStore:
    from synapse.store.embedded import EmbeddedServer
    from synapse.store.falkordb import FalkorStore

    server = EmbeddedServer(folder)
    if not (may_create or server.has_data):
        place = str(server.folder)
        place = place if len(place) <= 60 else f"…{place[-59:]}"
        raise ConfigurationError(f"no memory is kept in {place}; check FALKORDB_URI, or load one")
    server.start()
    try:
        return FalkorStore.open(server.uri, on_close=server.stop)
    except BaseException:
        server.stop()
        raise
