"""Memory files that people already have, read into one :class:`GraphDocument`.

Two families of files are understood, each as one JSON document or as JSON lines:

* *Graphiti-shaped*: lists named ``entities`` (or ``nodes``), ``facts`` (or ``edges``),
  ``episodes`` and ``mentions``, with Graphiti's own property names; or one object per line that
  says what it is in ``type`` or by its keys.
* *MCP memory*: entities with ``observations`` (texts, or objects with ``text`` and
  ``timestamp``) and an ``entityType`` or ``nodeType``; relations with ``from``, ``to`` and
  ``relationType``.

A file is taken as a whole or not at all: whatever is wrong in it is one
:class:`~synapse.errors.UsageError` that names the line or the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from synapse.errors import UsageError
from synapse.integrations.memory_document import MemoryDocument, document_of
from synapse.integrations.memory_record import Kind, Record, shown

MAX_FILE_BYTES = 512 * 1024 * 1024
"""A larger file is refused: it is held in memory as a whole."""

SECTIONS: dict[str, Kind] = {
    "entities": "entity",
    "nodes": "entity",
    "facts": "fact",
    "edges": "fact",
    "relations": "fact",
    "relationships": "fact",
    "episodes": "episode",
    "mentions": "mention",
}
"""The lists a document may hold, and what their items are."""

TYPES: dict[str, Kind] = {
    "entity": "entity",
    "node": "entity",
    "fact": "fact",
    "edge": "fact",
    "relation": "fact",
    "relationship": "fact",
    "episode": "episode",
    "mention": "mention",
}
"""What the ``type`` of a line may say about the kind of its record."""

_GROUP_ID = re.compile(r"[A-Za-z0-9_-]+")


def read_memory_file(path: Path, *, group_id: str, now_iso: str) -> MemoryDocument:
    """Read a memory file as the memory of one group.

    The same file gives the same uuids every time, so loading it twice adds nothing.

    Args:
        path: a JSON or JSON-lines file in UTF-8, of at most :data:`MAX_FILE_BYTES`.
        group_id: the group that every item gets, whatever the file says; letters, digits, ``_``
            and ``-``.
        now_iso: the time of items that carry none, ISO 8601.

    Raises:
        UsageError: the file cannot be read or something in it is wrong.
    """
    if not _GROUP_ID.fullmatch(group_id):
        raise UsageError(
            f"group id {shown(group_id)} is not possible: use letters, digits, _ and - only"
        )
    records = list(_records(_text(path), _short(path)))
    return document_of(records, group_id=group_id, now_iso=now_iso)


def _text(path: Path) -> str:
    where, file_name = _tail(path), _short(path)
    try:
        with path.open("rb") as stream:  # a device may be endless
            raw = stream.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise UsageError(f"{file_name} is larger than {MAX_FILE_BYTES >> 20} MiB: split it")
        text = raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"there is no file {where}: check the path") from None
    except IsADirectoryError:
        raise UsageError(f"{where} is a folder: name the file in it") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file_name} is not UTF-8 text (byte {error.start + 1}): save it as UTF-8"
        ) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot read {where}: {reason}") from error
    if not text.strip():
        raise UsageError(f"{file_name} is empty: it should hold a memory as JSON")
    return text


def _tail(path: Path, width: int = 80) -> str:
    """The end of a path, on one line."""
    text = " ".join(str(path).split())
    return text if len(text) <= width else "…" + text[1 - width :]


def _short(path: Path) -> str:
    """The file's name as it begins every sentence about its content."""
    return shown(path.name, 24).strip('"')


def _records(text: str, file_name: str) -> Iterator[Record]:
    """Every record of a document, an array of records or a file of JSON lines."""
    if _holds_json_lines(text):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                where = f"{file_name}, line {number}"
                yield _recognised(_parsed(line, file_name, number), where)
        return
    whole = _parsed(text, file_name, 1)
    if isinstance(whole, list):
        for number, item in enumerate(whole, 1):
            yield _recognised(item, f"{file_name}, record {number}")
    elif isinstance(whole, dict) and not SECTIONS.keys().isdisjoint(whole):
        yield from _section_records(whole, file_name)
    else:
        yield _recognised(whole, f"{file_name}, record 1")


def _holds_json_lines(text: str) -> bool:
    """Whether the first line is a whole object and not the only one."""
    first, _, rest = text.strip().partition("\n")
    if not rest or not first.startswith("{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _parsed(text: str, file_name: str, first_line: int) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise UsageError(
            f"{file_name}, line {line}: not JSON at column {error.colno} ({error.msg}): repair it"
        ) from error
    except RecursionError as error:
        raise UsageError(f"{file_name}, line {first_line}: nested too deeply to read") from error
    except ValueError as error:
        raise UsageError(
            f"{file_name}, line {first_line} on: a number that JSON cannot hold ({shown(error)})"
        ) from error


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _section_records(whole: dict[str, Any], file_name: str) -> Iterator[Record]:
    for section, items in whole.items():
        kind = SECTIONS.get(section)
        if kind is None:
            if isinstance(items, list) and any(isinstance(item, dict) for item in items):
                raise UsageError(
                    f"{file_name}: cannot load {shown(section)}, only entities, facts, "
                    "episodes, mentions: remove it"
                )
            continue
        if not isinstance(items, list):
            raise UsageError(f"{file_name}: {section} must be a list of objects")
        for number, item in enumerate(items, 1):
            where = f"{file_name}, {section} record {number}"
            if kind == "fact" and isinstance(item, list) and len(item) == 3:
                item = dict(zip(("from", "relationType", "to"), item, strict=True))
            if not isinstance(item, dict):
                raise UsageError(f"{where}: not an object but {shown(item)}")
            yield Record(where, kind, _without_kind(item, kind))


def _without_kind(item: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """The record without a ``type`` that only says what kind of record it is."""
    if TYPES.get(str(item.get("type")).lower()) != kind:
        return item
    return {key: value for key, value in item.items() if key != "type"}


def _recognised(item: Any, where: str) -> Record:
    """The record that an object is, by its ``type`` or by its keys."""
    if not isinstance(item, dict):
        raise UsageError(f"{where}: not an object but {shown(item)}")
    named = item.get("type")
    kind = TYPES.get(named.lower()) if isinstance(named, str) else None
    if kind is not None:
        return Record(where, kind, _without_kind(item, kind))
    kind = _kind_by_keys(item)
    if kind is None or (named is not None and "observations" not in item):
        what = f"type {shown(named)} is" if named is not None else "this record is"
        raise UsageError(f"{where}: {what} no entity, fact, relation, episode or mention")
    return Record(where, kind, item)


def _kind_by_keys(item: dict[str, Any]) -> Kind | None:
    """Tell records apart that do not say what they are.

    >>> _kind_by_keys({"from": "Ada", "to": "engine", "relationType": "designs"})
    'fact'
    >>> _kind_by_keys({"episode": "e1", "entity": "n1"})
    'mention'
    """
    if {"source_node_uuid", "target_node_uuid"} <= item.keys():
        return "fact" if {"fact", "name"} & item.keys() else "mention"
    if {"from", "to"} <= item.keys() or {"source", "target"} <= item.keys():
        return "fact"
    if {"episode", "entity"} <= item.keys() or {"episode_uuid", "entity_uuid"} <= item.keys():
        return "mention"
    if {"observations", "summary", "entityType", "nodeType", "entity_type"} & item.keys():
        return "entity"
    return "episode" if "content" in item else None
