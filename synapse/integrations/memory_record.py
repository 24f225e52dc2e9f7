"""One record of a memory file: its values as a graph can hold them, or the sentence why not."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal
from uuid import UUID

from synapse.errors import UsageError

Kind = Literal["entity", "fact", "episode", "mention"]
Properties = dict[str, Any]

OBSERVATION = "OBSERVED"
"""Relation name of a statement about one entity."""

_TIMES = ("created_at", "valid_at", "invalid_at", "expired_at", "reference_time")
_TEXTS = ("uuid", "name", "summary", "fact", "content", "source_description")
_GRAPHITI_LABELS = frozenset({"Entity", "Episodic", "Community", "Saga"})
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Record:
    """One object of a memory file, and where it stands there."""

    where: str
    kind: Kind
    values: Mapping[str, Any]


def shown(value: object, width: int = 40) -> str:
    """A value as it may stand in a sentence: on one line, shortened, quoted where it is text."""
    text = json.dumps(clean(value), ensure_ascii=False) if isinstance(value, str) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 1]}…"


def properties_of(record: Record) -> Properties:
    """The record's values as a database can hold them; unknown ones are kept, empty ones not."""
    attributes = record.values.get("attributes")
    values = dict(record.values)
    if isinstance(attributes, dict):
        del values["attributes"]
        values = attributes | values
    item: Properties = {}
    for key, value in values.items():
        if key in _TIMES:
            value = iso_utc(value, f"{record.where}: {key}") if value not in (None, "") else None
        if key in _TEXTS and not isinstance(value, str | None):
            raise UsageError(f"{record.where}: {key} is not text but {shown(value)}")
        if value is not None and not (key in ("uuid", "name") and value == ""):
            item[clean(key)] = _storable(value)
    return item


def _storable(value: Any) -> Any:
    """A scalar, a list of scalars, or JSON text of anything else."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and isfinite(value):
        return value
    if isinstance(value, int) and value in _INT64:
        return value
    if isinstance(value, list) and all(isinstance(v, str | int | float) for v in value):
        return [_storable(v) for v in value]
    return json.dumps(value)


def clean(text: str) -> str:
    """Text without NUL and without halves of surrogate pairs, which FalkorDB cannot store.

    >>> clean("caf\\u00e9 \\ud83d \\0") == "caf\\u00e9 \\ufffd \\ufffd"
    True
    """
    text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def iso_utc(value: Any, what: str) -> str:
    """The time as Graphiti writes it: ISO 8601 in UTC. A time without an offset is UTC.

    Raises:
        UsageError: ``value`` is no ISO 8601 time; the sentence begins with ``what``.

    >>> iso_utc("2026-01-05T09:30:00+02:00", "created_at"), iso_utc("2026-01-05", "valid_at")
    ('2026-01-05T07:30:00+00:00', '2026-01-05T00:00:00+00:00')
    """
    try:
        time = datetime.fromisoformat(value)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{what} {shown(value, 24)} is no time like 2026-01-05T09:30Z") from error
    return time.isoformat()


def observations_key(record: Record) -> str:
    """Where an entity's observations stand; some files with ``nodeType`` call them metadata."""
    values = record.values
    is_metadata = "nodeType" in values and isinstance(values.get("metadata"), list)
    return "metadata" if is_metadata and "observations" not in values else "observations"


def observed_facts(record: Record) -> list[Properties]:
    """The facts that an entity's observations are, without their ends."""
    facts: list[Properties] = []
    for number, value in enumerate(list_of(record, observations_key(record)), 1):
        where = f"{record.where}, observation {number}"
        fields = {"text": value} if isinstance(value, str) else value
        if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
            raise UsageError(f"{where}: neither text nor an object with text and timestamp")
        item = properties_of(Record(where, "fact", fields))
        timestamp = item.pop("timestamp", None)
        if timestamp not in (None, ""):
            item["valid_at"] = iso_utc(timestamp, f"{where}: timestamp")
        item |= {"name": OBSERVATION, "fact": item.pop("text"), "episodes": []}
        if item["fact"].strip():
            facts.append(item)
    return facts


def list_of(record: Record, key: str) -> list[Any]:
    """The list under a key; a missing one is empty."""
    value = record.values.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise UsageError(f"{record.where}: {key} must be a list, not {shown(value)}")
    return value


def texts_of(record: Record, key: str) -> list[str]:
    """The list of uuids under a key."""
    values = list_of(record, key)
    if not all(isinstance(value, str) for value in values):
        raise UsageError(f"{record.where}: {key} must hold uuids as text, not {shown(values)}")
    return [clean(value) for value in values]


def name_of(item: Properties, record: Record) -> str:
    """The name that an entity must have."""
    name = item.get("name", "")
    if not name.strip():
        raise UsageError(f"{record.where}: the entity has no name")
    return str(name)


def take_first(item: Properties, keys: Iterable[str]) -> str | None:
    """Take out the first of the keys that holds text."""
    for key in keys:
        if isinstance(item.get(key), str) and item[key]:
            return str(item.pop(key))
    return None


def labels_of(record: Record, entity_type: str | None) -> list[str]:
    """Types of an entity besides ``Entity`` itself."""
    given = (str(label) for label in list_of(record, "labels"))
    labels = [label if _LABEL.fullmatch(label) else label_of(label) for label in given]
    if entity_type is not None:
        labels.append(label_of(entity_type))
    return [label for label in dict.fromkeys(labels) if label and label not in _GRAPHITI_LABELS]


def label_of(entity_type: str) -> str:
    """The label that stands for a type, in the form of Graphiti's types; empty if there is none.

    >>> label_of("user preference"), label_of("STORAGE_PATH"), label_of("2nd try"), label_of("项目")
    ('UserPreference', 'StoragePath', '', '')
    """
    plain = unicodedata.normalize("NFKD", entity_type).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", plain)
    label = "".join(w.capitalize() if w.isupper() else w[0].upper() + w[1:] for w in words)
    return label if _LABEL.fullmatch(label) else ""


def relation_words(relation_type: str) -> str:
    """A relation type as lower-case words.

    >>> relation_words("DEPENDS_ON"), relation_words("dependsOn"), relation_words("depends on")
    ('depends on', 'depends on', 'depends on')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", relation_type)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().lower()


def is_uuid(text: str) -> bool:
    """Whether a text has the form of a UUID."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
