"""The columns of a table, put together from the parts in which it was read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count as numbers
from typing import Any

import numpy as np

from synapse import __version__
from synapse.hippocampus.model import Floats, Ints
from synapse.hippocampus.ports import Hear
from synapse.store.table import BETWEEN_FIELDS, Part, Table


@dataclass(slots=True)
class Columns:
    """All fields of a table; column ``k`` of a kind is the ``k``-th expression of that kind."""

    count: int = 0
    ids: list[Ints] = field(default_factory=list)
    uuids: list[str] = field(default_factory=list)
    times: list[Floats] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    word_counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    word_codes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Which word of the vocabulary each one is, one item's words after the other's."""
    vocabulary: list[str] = field(default_factory=list)


class Collector:
    """Turns the parts of a table into its columns, keeping only what the columns keep.

    Args:
        table: what is read.
        only_bones: compare all fields, but keep only ids and uuids.
        digested: whether anybody will ask for the digest.
        hear: is given the texts as they are understood.
    """

    def __init__(
        self,
        table: Table,
        *,
        only_bones: bool = False,
        digested: bool = True,
        hear: Hear | None = None,
    ) -> None:
        self.table = table
        self.count = 0
        """How many items there are."""
        self._only_bones = only_bones
        self._hear = hear
        self._digest = _Digest(table) if digested else None
        self._ids: list[list[Ints]] = [[] for _ in table.ids]
        self._uuids: list[str] = []
        self._times: list[Floats] = []
        self._names: list[list[str]] = [[] for _ in table.names]
        self._texts: list[list[str]] = [[] for _ in table.texts]
        self._word_counts: list[Ints] = []
        self._word_codes: list[Ints] = []
        self._decoded = _Decoded()
        self._vocabulary: defaultdict[bytes, int] = defaultdict(numbers().__next__)

    def digest(self) -> bytes:
        """Names everything that was added, in its order, whatever the parts it came in."""
        return self._digest.value() if self._digest else b""

    def add(self, part: Part) -> None:
        """The next items of the table."""
        self.count += part.count
        if self._digest:
            self._digest.add(part)
        for known_ids, ids in zip(self._ids, part.ids, strict=True):
            known_ids.append(ids)
        if self.table.uuid:
            self._uuids += part.uuid_texts()
        if not self._only_bones:
            self._understand(part)

    def bones(self) -> Columns:
        """Ids and uuids."""
        return Columns(self.count, self._all_ids(), self._uuids)

    def columns(self) -> Columns:
        """Everything."""
        times = np.concatenate(self._times, axis=1) if self._times else self._no_times()
        return Columns(
            self.count,
            self._all_ids(),
            self._uuids,
            list(times),
            self._names,
            self._texts,
            _concatenated(self._word_counts),
            _concatenated(self._word_codes),
            self.vocabulary(),
        )

    def vocabulary(self) -> list[str]:
        """Every word of the items that are understood."""
        return [word.decode("utf-8", "replace") for word in self._vocabulary]

    def _understand(self, part: Part) -> None:
        fields = part.split_fields(self.table)
        columns = iter(fields.scalars[len(self.table.times) :])
        self._times.append(part.times(self.table))
        for names in self._names:
            names += map(self._decoded.__getitem__, next(columns))
        for texts in self._texts:
            told = _decode(next(columns))
            texts += told
            if self._hear is not None:
                self._hear(told)
        self._word_counts.append(fields.lengths)
        codes = map(self._vocabulary.__getitem__, fields.words)
        self._word_codes.append(np.fromiter(codes, np.int64, len(fields.words)))

    def _all_ids(self) -> list[Ints]:
        return [_concatenated(parts) for parts in self._ids]

    def _no_times(self) -> Floats:
        return np.zeros((len(self.table.times), 0))


class _Digest:
    """Names the items of a table, however they were divided into parts."""

    def __init__(self, table: Table) -> None:
        self.count = 0
        self.table = table
        self._ids = [sha256() for _ in table.ids]
        self._uuids, self._fields, self._odd = sha256(), sha256(), sha256()

    def add(self, part: Part) -> None:
        if not part.count:
            return
        for known, ids in zip(self._ids, part.ids, strict=True):
            known.update(ids.tobytes())
        if self.count and self.table.uuid:
            self._uuids.update(BETWEEN_FIELDS)
        if self.count and self.table.width:
            self._fields.update(BETWEEN_FIELDS)
        self._uuids.update(part.uuids)
        self._fields.update(part.fields)
        for item, place, lengths in part.odd:
            self._odd.update(f"{self.count + item} {place} {lengths}\n".encode())
        self.count += part.count

    def value(self) -> bytes:
        # Another version may make other columns of the same bytes.
        whole = sha256(f"synapse {__version__} {self.table} {self.count}".encode())
        for each in (*self._ids, self._uuids, self._fields, self._odd):
            whole.update(each.digest())
        return whole.digest()


class _Decoded(dict[bytes, str]):
    def __missing__(self, raw: bytes) -> str:
        text = self[raw] = raw.decode("utf-8", "replace")
        return text


def _decode(column: list[bytes]) -> list[str]:
    try:
        return list(map(bytes.decode, column))
    except UnicodeDecodeError:
        return [text.decode("utf-8", "replace") for text in column]


def _concatenated(parts: list[Any]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
