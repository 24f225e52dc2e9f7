"""Newer facts that only seem to replace the older one are asked about, never written."""

from __future__ import annotations

import pytest

from tests.support.hostile_pairs import Pair, pairs
from tests.unit.test_contradiction_sentences import outcome


def become(pair: Pair) -> str:
    return outcome(pair.older, pair.newer.target, pair.newer.text, pair.newer.relation)


@pytest.mark.parametrize("pair", [pytest.param(p, id=p.newer.text) for p in pairs("ask")])
def test_what_only_seems_to_replace_is_never_certain(pair: Pair) -> None:
    assert become(pair) != "written"


@pytest.mark.parametrize("pair", [pytest.param(p, id=p.newer.text) for p in pairs("write")])
def test_what_replaces_is_certain(pair: Pair) -> None:
    assert become(pair) == "written"
