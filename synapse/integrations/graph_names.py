"""Where a Graphiti client keeps its groups, and how its server is reached."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import redis.asyncio

from synapse.errors import ConfigurationError, UsageError, shown
from synapse.integrations.texts import refuse_what_is_no_text

DEFAULT_GRAPH = "default_db"
_TLS = (redis.SSLConnection, redis.asyncio.SSLConnection)
_GROUP = re.compile(r"[A-Za-z0-9_-]+")


def server_uri(driver: Any) -> str:
    """The address of the server that a ``FalkorDriver`` talks to. It may hold the password.

    Raises:
        ConfigurationError: the driver is no FalkorDB driver, or its client hides its address.
    """
    kind, known = _connections(driver)
    number = known.get("db") or 0
    if "path" in known:
        return _with_login("unix", f"{known['path']}{f'?db={number}' if number else ''}", known)
    if "host" not in known:
        raise ConfigurationError(
            "Graphiti's driver does not show its FalkorDB; give Hippocampus(graphiti, uri=...)"
        )
    host = f"[{known['host']}]" if ":" in str(known["host"]) else str(known["host"])
    scheme = "rediss" if issubclass(kind, _TLS) else "redis"
    place = f"{host}:{known.get('port', 6379)}{f'/{number}' if number else ''}"
    return _with_login(scheme, place, known)


def server_tls(driver: Any) -> dict[str, Any]:
    """What the client's own connections trust and show in TLS; nothing where they use none.

    Raises:
        ConfigurationError: they are of a kind of their own, which may do anything.
    """
    kind, known = _connections(driver)
    if not issubclass(kind, _TLS):
        return {}
    if kind not in _TLS:
        raise ConfigurationError(
            f"what {shown(kind.__name__)} does in TLS is unknown; "
            "give Hippocampus(graphiti, uri=...)"
        )
    return {name: value for name, value in known.items() if name.startswith("ssl_")}


def _connections(driver: Any) -> tuple[type, dict[str, Any]]:
    """Of which kind the connections of a driver's client are, and what they are made with."""
    connection = getattr(getattr(driver, "client", None), "connection", None)
    pool = getattr(connection, "connection_pool", None)
    return getattr(pool, "connection_class", object), dict(getattr(pool, "connection_kwargs", {}))


def _with_login(scheme: str, place: str, known: dict[str, Any]) -> str:
    user, password = known.get("username") or "", known.get("password") or ""
    login = f"{quote(user, safe='')}:{quote(password, safe='')}@" if user or password else ""
    return f"{scheme}://{login}{place}"


def graph_of(driver: Any, group_id: str | None) -> str:
    """The FalkorDB graph in which Graphiti keeps a group.

    Since graphiti-core 0.23 that is the graph of the group's name. The default group, ``_``,
    lives in the driver's database if it was named by ``None``, else in ``default_db``.

    Raises:
        UsageError: the group's name is no text.
    """
    refuse_what_is_no_text(group_id="" if group_id is None else group_id)
    if group_id is None or group_id == "":
        return str(getattr(driver, "_database", DEFAULT_GRAPH))
    return DEFAULT_GRAPH if group_id in ("_", "\\_") else group_id


def refuse_group(driver: Any, group_id: Any) -> None:
    """Refuse the name of a group that Graphiti would not search: what is written there is lost.

    Args:
        driver: Graphiti's; its own default group is fine.
        group_id: the name.

    Raises:
        UsageError: it is no such name.
    """
    if group_id in (None, "", getattr(driver, "default_group_id", None)):
        return
    if not isinstance(group_id, str) or not _GROUP.fullmatch(group_id):
        raise UsageError(
            f"group_id {shown(str(group_id))} is no group of Graphiti's; use letters, digits, "
            "dashes and underscores"
        )


def each_once(group_ids: Any) -> list[str] | None:
    """The names of groups to search in; ``None`` where a caller names none.

    Graphiti searches a group as often as it is named, and of a text each letter, for which it
    makes a graph.

    Raises:
        UsageError: they are no list of names.

    >>> each_once(("ann", "bob", "ann"))
    ['ann', 'bob']
    """
    if group_ids is None:
        return None
    if isinstance(group_ids, str):
        raise UsageError(f"group_ids must be a list of names; write [{shown(group_ids)}]")
    if isinstance(group_ids, Mapping | bytes) or not isinstance(group_ids, Iterable):
        told = type(group_ids).__name__
        raise UsageError(f"group_ids must be a list of names, not {told}; leave it out for all")
    names = list(group_ids)
    for name in names:
        refuse_what_is_no_text(**{"a name in group_ids": name})
        if not name:
            raise UsageError("a name in group_ids is empty; leave group_ids out for all")
    return list(dict.fromkeys(names))


def argument(function: Callable[..., Any], name: str, args: Any, options: Any) -> Any:
    """What a call gives for one of the function's parameters, ``None`` where it says nothing."""
    return inspect.signature(function).bind_partial(*args, **options).arguments.get(name)


def searched_graphs(
    home: Any, group_ids: Sequence[str] | None, driver: Any
) -> Callable[[str], str]:
    """In which graph Graphiti's search has found what bears a group's name.

    Without groups it searches the driver's own database, whatever groups that holds; with groups
    it searches the graph of each.

    Args:
        home: the client's driver.
        group_ids: groups to search in.
        driver: the driver that the search was given, if any.
    """
    own = graph_of(home, None)
    if not group_ids or (driver is not None and list(group_ids) == [own]):
        searched = graph_of(home if driver is None else driver, None)
        return lambda _group_id: searched
    return lambda group_id: graph_of(home, group_id)
