"""Synapse: the hippocampus for Graphiti.

Importing the package is free: it loads neither numpy, redis nor Graphiti.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synapse.integrations.graphiti import Hippocampus as Hippocampus

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name != "Hippocampus":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from synapse.integrations.graphiti import Hippocampus

    return Hippocampus
