"""What the texts of facts say one by one, worked out while others are still on their way.

Whoever reads a graph has to wait for the database most of the time. What is worked out from each
text alone can be worked out then, slab by slab, and is there when the graph is complete.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synapse.hippocampus.keywords import count_hits
from synapse.hippocampus.lexicon.english_changes import LANGUAGES
from synapse.hippocampus.model import Floats, Ints
from synapse.hippocampus.rules.spoken import PhraseHearing, PhraseSearch
from synapse.hippocampus.share import words_counts


class Hearing(PhraseHearing):
    """Hears texts, and tells about them later; about others as well, once it has read them.

    Args:
        emotion_words: keywords to count.

    >>> hearing, texts = Hearing(["urgent"]), ["Fix it, it is urgent", "A no longer uses B"]
    >>> hearing.hear(texts[:1])
    >>> hearing.hear(texts[1:])
    >>> hearing.emotion_hits(texts).tolist(), hearing.words_counts(texts).tolist()
    ([1, 0], [5.0, 5.0])
    """

    def __init__(self, emotion_words: Sequence[str]) -> None:
        self._emotion_words = emotion_words
        super().__init__(lambda: PhraseSearch(LANGUAGES))

    def _begin(self) -> None:
        super()._begin()
        self._emotion_hits, self._words_counts = [np.zeros(0, np.int64)], [np.zeros(0)]

    def hear(self, texts: Sequence[str]) -> None:
        """The next texts of the graph."""
        super().hear(texts)
        self._emotion_hits.append(count_hits(texts, self._emotion_words).astype(np.int32))
        self._words_counts.append(words_counts(texts).astype(np.int32))

    def emotion_hits(self, texts: Sequence[str]) -> Ints:
        """Keywords in each text."""
        self._require(texts)
        return np.concatenate(self._emotion_hits).astype(np.int64)

    def words_counts(self, texts: Sequence[str]) -> Floats:
        """Words of each text, see :func:`~synapse.hippocampus.share.words_counts`."""
        self._require(texts)
        return np.concatenate(self._words_counts).astype(np.float64)
