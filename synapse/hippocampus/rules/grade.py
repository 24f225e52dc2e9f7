"""How surely a sentence says what it seems to say."""

from __future__ import annotations

from typing import Literal

Grade = Literal["plainly", "perhaps", "doubtfully", "not"]
UNREAD_CONFIDENCE = 0.8
"""The most where a sentence is not wholly understood."""
REVIEW_RATIO = 0.6
"""What is left of a confidence where a sentence tells a story, a wish, somebody's opinion."""
