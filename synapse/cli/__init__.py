"""The command line: the only place that prints or exits.

Only the command that is asked for is loaded, and heavy modules are imported inside it, so that
``--help`` answers at once.
"""

from __future__ import annotations

import errno
import signal
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

from synapse import __version__
from synapse.cli.common import discard_output
from synapse.cli.complaint import complain
from synapse.errors import SynapseError, UsageError

INTERRUPTED = 130
_WITHOUT_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CLICK_ERROR: Any = typer.BadParameter.mro()[2]  # click's own or the copy that typer carries

COMMANDS = {
    "chat": "chat", "consolidate": "consolidate", "plan": "plan", "apply": "apply",
    "prune": "prune", "undo": "undo", "restore": "restore", "runs": "runs", "status": "status",
    "doctor": "doctor", "explain": "explain", "simulate": "simulate", "review": "review",
    "relations": "relations", "recall-log": "recall_log", "pin": "pin", "unpin": "pin",
    "purge": "purge", "load": "load",
}  # fmt: skip
"""The module of each command; the function has the command's name."""
GROUPS = ("archive", "hermes", "schedule")


def command_line(names: Iterable[str] = (*COMMANDS, *GROUPS)) -> typer.Typer:
    """The command line with these commands and groups."""
    app = typer.Typer(
        name="synapse",
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_common)
    for name in names:
        module = import_module(f"synapse.cli.{COMMANDS.get(name, name)}")
        if name in COMMANDS:
            app.command()(getattr(module, name.replace("-", "_")))
        else:
            app.add_typer(module.app, name=name)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"synapse-hippocampus {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Say which.")
    ] = False,
) -> None:
    """The sleep that a Graphiti memory lacks: score, fade, find contradictions, report."""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in ([], *([group] for group in GROUPS)):
        arguments.append("--help")
    verbose = "-v" in arguments or "--verbose" in arguments
    if not verbose:
        warnings.simplefilter("ignore")
    signal.signal(signal.SIGTERM, _interrupt)
    if isinstance(sys.stdout, TextIOWrapper):
        # A memory may hold a character that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _invoke(arguments)
    except SynapseError as error:
        complain(str(error), error, verbose)
        code = error.exit_code
    except KeyboardInterrupt:
        complain("interrupted; what was already written stays valid", None, verbose)
        code = INTERRUPTED
    except BrokenPipeError:
        discard_output()
        code = 1
    except Exception as error:  # noqa: BLE001  the last line of defence: a person reads this
        complain(_unexpected(error), error, verbose)
        code = 1
    sys.exit(code)


def _unexpected(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in _WITHOUT_ROOM:
        why = (error.strerror or "").lower()
        return f"the output was not written: {why}; what was done stands, see synapse runs"
    return f"unexpected {type(error).__name__}: {error}; add -v to see more"


def _invoke(arguments: list[str]) -> int:
    asked = arguments[:1]
    app = command_line(asked) if {*COMMANDS, *GROUPS}.issuperset(asked) else command_line()
    try:
        code = app(args=arguments, prog_name="synapse", standalone_mode=False) or 0
    except _CLICK_ERROR as problem:
        raise UsageError(f"{problem.format_message()} (see synapse --help)") from None
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer turns the interrupt into a code
        raise KeyboardInterrupt
    return int(code)


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough
    raise KeyboardInterrupt
