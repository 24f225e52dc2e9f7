"""Synapse: the hippocampus for Graphiti.

Importing the package is free: it loads neither numpy, redis nor Graphiti.
"""

__version__ = "0.1.0"
