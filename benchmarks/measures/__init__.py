"""The measures of ``benchmarks/quality.py``: one file each, and what they share."""
