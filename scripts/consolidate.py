#!/usr/bin/env python3
"""The cron entry point: the same as ``synapse consolidate``."""

import sys

from synapse.cli import main

main(["consolidate", *sys.argv[1:]])
