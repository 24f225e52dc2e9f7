"""The prompt block keeps within its budget, whatever script it is written in."""

from math import ceil

from hypothesis import example, given
from hypothesis import strategies as st

from synapse.hippocampus.context import ACTIVE_TITLE, ActiveFact, Change, context_block

TEXTS = st.text(min_size=1, max_size=60) | st.text("安住在奥斯陆東京に住むサーバ🧠 ab", min_size=1)
NUMBERS = st.sampled_from(["", "1 of 2", "2 of 2"])
FACTS = st.builds(ActiveFact, TEXTS, st.sampled_from(["", "2026-01-05"]), st.floats(0, 1), NUMBERS)
CHANGES = st.builds(Change, TEXTS, TEXTS, st.sampled_from(["", "2026-02-01"]), NUMBERS)


def tokens_at_most(block: str) -> int:
    """A token for each character that is not ASCII, four for what needs four bytes."""
    plain = sum(c.isascii() for c in block)
    return ceil(plain / 4) + sum(4 if c > "\uffff" else 1 for c in block if not c.isascii())


@given(st.lists(FACTS, max_size=8), st.lists(CHANGES, max_size=4), st.integers(-5, 300))
@example([ActiveFact("住" * 400)] * 2, [Change("東" * 400, "京" * 400)], 900)
def test_a_block_has_no_more_tokens_than_it_may(active, changes, max_tokens):
    block = context_block(active, changes, max_tokens)
    assert tokens_at_most(block) <= max(0, max_tokens)


@given(st.lists(FACTS, max_size=8), st.lists(CHANGES, max_size=4))
def test_with_budget_enough_nothing_is_left_out(active, changes):
    block = context_block(active, changes, 100_000)
    lines = [line for line in block.splitlines() if line.startswith("- ")]
    told = len({(f.text, f.since, f.of) for f in active}) + len(set(changes))
    assert len(lines) <= told
    assert (ACTIVE_TITLE in block) == bool(active)
    assert ("numbered" in block.partition("\n")[0]) == any(f.of for f in (*active, *changes))


def test_a_chinese_fact_takes_a_token_a_character():
    facts = [ActiveFact("安住在奥斯陆" * 4 + str(n), strength=n / 10) for n in range(9)]
    told = context_block(facts, [], 100).count("住在") // 4
    assert 1 <= told <= 3
