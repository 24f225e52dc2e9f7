"""Which graph, and which memories in it, a caller means.

Graphiti 0.23 and later keep one FalkorDB graph per group and the default group in
``default_db``; older versions keep all groups in one graph, and some calls still leave strays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from synapse.errors import UnknownGraph, shown
from synapse.hippocampus.model import DEFAULT_GROUPS

_LISTED_NAMES = 6
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Scope:
    """One graph, and whether all of it is meant."""

    graph: str
    group_id: str | None = None
    """The group that the caller named, if any."""
    whole_graph: bool = True
    """False: only the memories that carry ``group_id``."""


def choose_scope(
    graphs: Sequence[str], *, graph: str | None, group_id: str | None, default_graph: str
) -> Scope:
    """Decide which graph to open.

    A group opens the graph of its name if there is one; otherwise it is looked for inside
    ``graph`` or the default graph. Both together always mean the group inside that graph.

    Raises:
        UnknownGraph: there is no such graph; the message lists those there are.

    >>> choose_scope(["a", "default_db"], graph=None, group_id="a", default_graph="default_db")
    Scope(graph='a', group_id='a', whole_graph=True)
    >>> choose_scope(["default_db"], graph=None, group_id="b", default_graph="default_db")
    Scope(graph='default_db', group_id='b', whole_graph=False)
    """
    if group_id is not None and graph is None and group_id in graphs:
        return Scope(group_id, group_id)
    wanted = graph if graph is not None else default_graph
    if wanted not in graphs:
        group = f"group {shown(group_id)} and no " if group_id and graph is None else ""
        raise UnknownGraph(
            f"there is no {group}graph {shown(wanted)} here; graphs: {listed(graphs)}"
        )
    return Scope(wanted, group_id, whole_graph=group_id is None)


def require_group(scope: Scope, group_ids: Collection[str]) -> None:
    """Refuse a group that the graph does not hold.

    Raises:
        UnknownGraph: the message lists the groups there are.
    """
    if scope.whole_graph or scope.group_id is None:
        return
    wanted = DEFAULT_GROUPS if scope.group_id in DEFAULT_GROUPS else {scope.group_id}
    if not wanted & set(group_ids):
        raise UnknownGraph(
            f"there is no group {shown(scope.group_id)} in graph {shown(scope.graph)}; "
            f"groups there: {listed(sorted(group_ids))}"
        )


def listed(names: Sequence[str]) -> str:
    """A few names and how many more.

    >>> listed(["a", "b"]), listed([]), listed([str(i) for i in range(8)])
    ('a, b', 'none', '0, 1, 2, 3, 4, 5 and 2 more')
    """
    shown = ", ".join(name[:_SHOWN_CHARACTERS] for name in names[:_LISTED_NAMES])
    more = len(names) - _LISTED_NAMES
    return (shown or "none") + (f" and {more} more" if more > 0 else "")
