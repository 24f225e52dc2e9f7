"""Graphiti, host programs and memory files."""
