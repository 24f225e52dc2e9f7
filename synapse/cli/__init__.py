"""The command line: the only place that prints or exits.

Heavy modules are imported inside the commands, so that ``--help`` answers at once.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from synapse import __version__
from synapse.cli.apply import apply
from synapse.cli.archive import app as archive
from synapse.cli.chat import chat
from synapse.cli.common import discard_output
from synapse.cli.complaint import complain
from synapse.cli.consolidate import consolidate
from synapse.cli.doctor import doctor
from synapse.cli.explain import explain
from synapse.cli.hermes import app as hermes
from synapse.cli.load import load
from synapse.cli.pin import pin, unpin
from synapse.cli.plan import plan
from synapse.cli.prune import prune
from synapse.cli.purge import purge
from synapse.cli.recall_log import recall_log
from synapse.cli.relations import relations
from synapse.cli.restore import restore
from synapse.cli.review import review
from synapse.cli.runs import runs
from synapse.cli.schedule import app as schedule
from synapse.cli.simulate import simulate
from synapse.cli.status import status
from synapse.cli.undo import undo
from synapse.errors import SynapseError, UsageError

INTERRUPTED = 130
_CLICK_ERROR: Any = typer.BadParameter.mro()[2]  # click's own or the copy that typer carries

app = typer.Typer(
    name="synapse",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
GROUPS = {"archive": archive, "hermes": hermes, "schedule": schedule}
for command in (
    chat, consolidate, plan, apply, prune, undo, restore, runs, status, doctor, explain, simulate,
    review, relations, recall_log, pin, unpin, purge, load,
):  # fmt: skip
    app.command()(command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"synapse-hippocampus {__version__}")
        raise typer.Exit


@app.callback()
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
        complain(f"unexpected {type(error).__name__}: {error}; add -v to see more", error, verbose)
        code = 1
    sys.exit(code)


def _invoke(arguments: list[str]) -> int:
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
