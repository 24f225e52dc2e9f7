"""The plugin of Hermes that comes with Synapse: commands for people, one look for the agent.

Hermes finds it where Synapse is installed beside it, and uses it after ``hermes plugins enable
synapse``. Everything runs as a program of its own, so that nothing heavy is loaded into Hermes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

COMMANDS = ("status", "consolidate", "explain")
_PROGRAM = (sys.executable, "-P", "-m", "synapse")
_ANSWER_WITHIN_S = 60.0

EXPLAIN: dict[str, Any] = {
    "name": "synapse_explain",
    "description": (
        "Look at one long-term memory: how strong it is and why, when it will fade, and whether"
        " another fact contradicts it. Changes nothing."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "memory": {
                "type": "string",
                "description": "Uuid of a fact or an entity, or the name of an entity.",
            },
            "group_id": {
                "type": "string",
                "description": "Group of the memory; leave it out for the usual one.",
            },
        },
        "required": ["memory"],
    },
}


def register(ctx: Any) -> None:
    """What Hermes calls with the place to register at."""
    ctx.register_cli_command(
        name="synapse",
        help="The sleep of a Graphiti memory: status, consolidate, explain",
        setup_fn=_set_up,
        handler_fn=_run,
    )
    ctx.register_tool(
        name=EXPLAIN["name"],
        toolset="synapse",
        schema=EXPLAIN,
        handler=explain,
        description=EXPLAIN["description"],
    )


def explain(arguments: dict[str, Any], **_: Any) -> str:
    """The agent's look at one memory, as JSON."""
    group = arguments.get("group_id")
    options = [f"--group-id={group}"] if group else []
    command = [*_PROGRAM, "explain", "--json", *options, "--", str(arguments.get("memory", ""))]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_ANSWER_WITHIN_S,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return json.dumps({"error": "the memory could not be looked at; ask synapse status"})
    if done.returncode:
        return json.dumps({"error": (done.stderr.splitlines() or ["no answer"])[0]})
    return done.stdout.strip()


def _set_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see: synapse COMMAND --help")


def _run(asked: argparse.Namespace) -> None:
    """Become the command: Hermes drops what a handler returns, but not how it exits."""
    sys.exit(subprocess.run([*_PROGRAM, asked.command, *asked.arguments]).returncode)
