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
    try:
        from synapse.integrations.graphiti import Hippocampus
    except ModuleNotFoundError as error:
        if (error.name or "").startswith(__name__):
            raise
        raise ModuleNotFoundError(
            "Hippocampus needs Graphiti: pip install 'synapse-hippocampus[graphiti]'"
            f" ({error.name} is missing)",
            name=error.name,
        ) from error

    return Hippocampus
