"""``synapse archive``: what was archived, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from synapse.cli.common import (
    AsJson,
    ConfigFile,
    GraphName,
    GroupId,
    Verbose,
    archive_scope,
    opened_store,
    read_settings,
)
from synapse.cli.told import line
from synapse.errors import UsageError, shown

if TYPE_CHECKING:
    from synapse.hippocampus.archived import ArchivedMemory
    from synapse.hippocampus.image import MemoryImage
    from synapse.hippocampus.ports import MemoryStore
    from synapse.hippocampus.scope import Scope

app = typer.Typer(name="archive", help="What was archived, and is kept.", no_args_is_help=True)

NAME_CHARACTERS = 100


@app.command("list")
def list_archive(
    run: Annotated[str | None, typer.Option(metavar="RUN", help="Only what this run did.")] = None,
    tombstones: Annotated[
        bool, typer.Option("--all", help="Also what was restored or purged.")
    ] = False,
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """List the memories in the archive, oldest first, each with its reason."""
    from synapse.hippocampus.bring_back import run_named

    with _archive(config, graph, group_id) as (_, _, entries):
        wanted = None if run is None else run_named(entries, run)
    shown = [
        entry
        for entry in entries
        if (tombstones or entry.has_content) and wanted in (None, entry.run_id)
    ]
    if as_json:
        print(json.dumps([_entry_dict(entry) for entry in shown]))
    elif shown:
        print("\n".join(map(_entry_text, shown)))
    elif entries:
        print("Nothing of it is in the archive any more; --all shows what was.")
    else:
        print("Nothing is archived here.")
    return 0


@app.command()
def show(
    memory: Annotated[str, typer.Argument(help="Uuid of an archived entity or fact, or its name.")],
    group_id: GroupId = None,
    graph: GraphName = None,
    config: ConfigFile = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> int:
    """Show everything that the archive knows about one memory."""
    from synapse.hippocampus.archived import named_in
    from synapse.hippocampus.scope import listed

    with _archive(config, graph, group_id) as (store, scope, entries):
        uuids = list(named_in(entries, memory))
        if not uuids:
            raise UsageError(
                f"the archive knows no memory {shown(memory)}; see synapse archive list"
            )
        if len(uuids) > 1:
            raise UsageError(
                f"{len(uuids)} memories are named {shown(memory)}; give a uuid: {listed(uuids)}"
            )
        image = store.read_archived_images(scope.graph, uuids).get(uuids[0])
    about = [entry for entry in entries if entry.uuid == uuids[0]]
    if as_json:
        content = None if image is None else _image_dict(image)
        print(json.dumps({"entries": [_entry_dict(e) for e in about], "content": content}))
        return 0
    print("\n".join(map(_entry_text, about)))
    if image is None:
        is_lost = any(entry.has_content for entry in about)
        why = "lost or damaged" if is_lost else "not in the archive: it was restored or purged"
        print(f"  its content is {why}")
    else:
        print("\n".join(_image_lines(image)))
    return 0


@contextmanager
def _archive(
    config: Path | None, graph: str | None, group_id: str | None
) -> Iterator[tuple[MemoryStore, Scope, list[ArchivedMemory]]]:
    """The store, and what the archive of one graph or group knows."""
    settings = read_settings(config)
    with opened_store(settings) as store:
        scope = archive_scope(store, settings, graph, group_id)
        yield (
            store,
            scope,
            [
                entry
                for entry in store.read_archive(scope.graph)
                if scope.whole_graph or entry.group_id == scope.group_id
            ],
        )


def _entry_dict(entry: ArchivedMemory) -> dict[str, Any]:
    return {**asdict(entry), "at": _moment(entry)}


def _entry_text(entry: ArchivedMemory) -> str:
    name = line(entry.name)
    name = name if len(name) <= NAME_CHARACTERS else name[: NAME_CHARACTERS - 1] + "…"
    by = " by a person" if entry.by_person else ""
    return (
        f"{entry.uuid}  {entry.kind}  {entry.state}  {_moment(entry)}  run {entry.run_id}\n"
        f"  {name or '(no name is kept)'}\n"
        f"  archived{by}: {entry.reason}"
    )


def _moment(entry: ArchivedMemory) -> str:
    from synapse.hippocampus.stamps import iso_time

    return "(when is not known)" if entry.is_damaged else iso_time(entry.at_s)


def _image_lines(image: MemoryImage) -> list[str]:
    lines = [f"  labels      {', '.join(image.labels)}"] if image.labels else []
    if image.ends:
        named = zip(("from", "to"), image.ends, image.end_names, strict=True)
        lines += [f"  {which:<10}  {line(name)} ({uuid})" for which, uuid, name in named]
    for name, value in sorted(_plain(image.properties).items()):
        shown = f"({len(value)} numbers)" if name in _vectors(image) else json.dumps(value)
        lines.append(f"  {name}: {shown}")
    for link in image.links:
        arrow = "to" if link.is_outgoing else "from"
        lines.append(f"  {link.type} {arrow} {link.other_label} {link.other}")
    return lines


def _image_dict(image: MemoryImage) -> dict[str, Any]:
    return {
        "uuid": image.uuid,
        "kind": image.kind,
        "labels": list(image.labels),
        "ends": list(image.ends),
        "properties": _plain(image.properties),
        "vectors": _vectors(image),
        "links": [
            {
                "type": link.type,
                "other": link.other,
                "is_outgoing": link.is_outgoing,
                "properties": _plain(link.properties),
            }
            for link in image.links
        ],
    }


def _vectors(image: MemoryImage) -> list[str]:
    """Names of the properties that are vectors."""
    from synapse.hippocampus.image import Vector

    return sorted(name for name, value in image.properties.items() if isinstance(value, Vector))


def _plain(properties: Any) -> dict[str, Any]:
    from synapse.hippocampus.image import Vector

    return {
        name: list(value.numbers) if isinstance(value, Vector) else value
        for name, value in properties.items()
    }
