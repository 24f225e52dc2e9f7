"""The ledger of a room as it is kept: understood only when somebody looks at a decision."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np


def as_kept(entry: Mapping[str, Any]) -> bytes:
    """One decision as it is kept: equal ones in equal bytes.

    >>> as_kept({"state": "found", "by": "b"})
    b'{"by": "b", "state": "found"}'
    """
    return json.dumps(entry, sort_keys=True).encode()


def ledger_digest(ledger: Mapping[str, Mapping[str, Any]]) -> str:
    """Names the decisions about all facts.

    >>> ledger_digest({"a": {}, "b": {}}) == ledger_digest({"b": {}, "a": {}})
    True
    """
    if isinstance(ledger, KeptLedger):
        return ledger.digest
    return _digest({u.encode("utf-8", "surrogatepass"): as_kept(e) for u, e in ledger.items()})


class KeptLedger(Mapping[str, Any]):
    """Decisions by the uuid of the fact.

    Args:
        kept: uuid and decision as they are kept.
        understand: makes the decisions of them.

    >>> ledger = KeptLedger({b"fact": b'{"by": "b"}'}, lambda: {"fact": {"by": "b"}})
    >>> ledger == {"fact": {"by": "b"}}, ledger_digest(ledger) == ledger_digest(dict(ledger))
    (True, True)
    """

    def __init__(
        self, kept: Mapping[bytes, bytes], understand: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._kept = kept
        self._understand = understand

    @cached_property
    def digest(self) -> str:
        """As :func:`ledger_digest`."""
        return _digest(self._kept)

    @cached_property
    def _entries(self) -> Mapping[str, Any]:
        return self._understand()

    def __getitem__(self, fact: str) -> Any:
        return self._entries[fact]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _digest(kept: Mapping[bytes, bytes]) -> str:
    texts = list(chain.from_iterable(sorted(kept.items())))
    # The lengths tell where each one ends.
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return blake2b(lengths.tobytes() + b"".join(texts), digest_size=12).hexdigest()
