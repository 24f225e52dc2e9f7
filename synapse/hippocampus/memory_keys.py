"""Keys of memories: 16 bytes each, whatever their uuids are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.bytes_]

_GROUPS_OF_DIGITS = ((0, 8), (9, 13), (14, 18), (19, 23), (24, 36))
"""In a UUID in canonical form."""
_SLAB_UUIDS_COUNT = 8_192


def memory_keys(uuids: Sequence[str]) -> Keys:
    """A fixed-size key for each memory: a UUID's own 16 bytes, else a digest of the string.

    Graphiti accepts any string as uuid. Canonical UUIDs (lower case, 36 characters) keep their
    bytes; every other string gets BLAKE2b-128, so two strings never share a key in practice.

    Args:
        uuids: any strings.

    Returns:
        Shape (len(uuids),), dtype ``S16``.

    Source: RFC 9562 (UUIDs), RFC 7693 (BLAKE2).

    >>> memory_keys(["00000000-0000-0000-0000-00000000000a"])[0][-1:]
    b'\\n'
    """
    keys = np.empty(len(uuids), "S16")
    # What is needed on the way stays small, and so is not new memory each time.
    for start in range(0, len(uuids), _SLAB_UUIDS_COUNT):
        slab = uuids[start : start + _SLAB_UUIDS_COUNT]
        keys[start : start + len(slab)] = np.frombuffer(_keys_of_slab(slab), "S16")
    return keys


def trace_keys(entity_uuids: Sequence[str], fact_uuids: Sequence[str]) -> Keys:
    """The keys under which traces are kept: those of the entities, then those of the facts.

    An entity and a fact may share a uuid, so an entity's key has one bit flipped that no two
    valid UUIDs differ in alone: the first of the variant.

    Returns:
        Shape (len(entity_uuids) + len(fact_uuids),), dtype ``S16``.

    >>> entity, fact = trace_keys(["a"], ["a"])
    >>> entity == fact, fact == memory_keys(["a"])[0]
    (False, True)
    """
    entities = memory_keys(entity_uuids).view(np.uint8).reshape(-1, 16).copy()
    entities[:, 8] ^= 0x80
    facts = memory_keys(fact_uuids).view(np.uint8).reshape(-1, 16)
    return np.concatenate([entities, facts]).reshape(-1).view("S16")


def _keys_of_slab(uuids: Sequence[str]) -> bytes:
    if set(map(len, uuids)) == {36}:
        packed = _packed_if_canonical("".join(uuids))
        if packed is not None:
            return packed
    return b"".join(map(_memory_key, uuids))


def _packed_if_canonical(joined: str) -> bytes | None:
    """The bytes of UUIDs that stand one after the other, if all are in canonical form."""
    if len(joined) % 36 or not joined.isascii():
        return None
    cells = np.frombuffer(joined.encode("ascii"), np.uint8).reshape(-1, 36)
    if not (cells[:, [8, 13, 18, 23]] == ord("-")).all():
        return None
    groups = np.concatenate([cells[:, a:b] for a, b in _GROUPS_OF_DIGITS], axis=1)
    digits = groups.tobytes().decode("ascii")
    if digits != digits.lower():
        return None
    try:
        packed = bytes.fromhex(digits)
    except ValueError:
        return None
    return packed if len(packed) * 36 == len(joined) * 16 else None  # fromhex skips white space


def _memory_key(uuid: str) -> bytes:
    packed = _packed_if_canonical(uuid) if len(uuid) == 36 else None
    if packed is not None:
        return packed
    return hashlib.blake2b(uuid.encode("utf-8", "surrogatepass"), digest_size=16).digest()
