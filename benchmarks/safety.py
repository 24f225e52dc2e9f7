"""Whether anything is lost: random memories are changed, killed, completed and brought back.

Each round fills a graph with a random memory, plans random ends and moves, applies the plan (half
of the runs are killed by signal 9 at a random write command, half of those are completed), undoes
it (a quarter of these runs is killed too), and compares every property of every node and edge with
what was there. Then one run, and its undoing, are killed before and after each single write.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from synapse.store.embedded import EmbeddedServer
from tests.support.rounds import Ground, Tally, every_point, random_rounds


def main() -> int:
    """Run both and print a line for each; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="syn-") as folder,
        EmbeddedServer(folder) as server,
        closing(Ground(server.uri, "safety")) as ground,
    ):
        tallies = {
            "random rounds": random_rounds(ground, options.rounds, options.seed),
            "every write": every_point(ground),
        }
    if options.json:
        print(json.dumps({name: asdict(tally) for name, tally in tallies.items()}))
    else:
        print(*(_text(name, tally) for name, tally in tallies.items()), sep="\n")
    return int(not all(tally.is_clean for tally in tallies.values()))


def _text(name: str, tally: Tally) -> str:
    return name + ": " + ", ".join(f"{n} {what}" for what, n in asdict(tally).items())


if __name__ == "__main__":
    sys.exit(main())
