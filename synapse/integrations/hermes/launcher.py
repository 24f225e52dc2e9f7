"""The file in Hermes' script folder that becomes the batch."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from synapse.errors import SynapseError

NAME = "synapse-consolidate.sh"
_MARK = "# Written by `synapse hermes install`; the next one writes it anew."
_BEGINNING = f"""\
#!/usr/bin/env bash
{_MARK}
# Addresses and passwords belong into the environment of Hermes (its .env), not into this file.
set -euo pipefail
"""


def launcher_text(interpreter: str, arguments: Sequence[str]) -> str:
    """A script that becomes ``synapse consolidate`` with these arguments.

    ``exec``, so that the process which Hermes may have to end is the batch itself. ``-P``, so that
    no file beside the launcher is taken for a module.

    >>> print(launcher_text("/my python", ["--group-id", "it's"]).splitlines()[-1])
    exec '/my python' -P -m synapse consolidate --group-id 'it'"'"'s'
    """
    command = [interpreter, "-P", "-m", "synapse", "consolidate", *arguments]
    return f"{_BEGINNING}exec {shlex.join(command)}\n"


def read_launcher(file: Path) -> str | None:
    """The launcher that is there, or nothing.

    Raises:
        SynapseError: a file of that name is there which Synapse did not write.
    """
    try:
        text = os.fsdecode(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SynapseError(f"cannot read {_shown(file)}: {error.strerror}; check it") from error
    if _MARK not in text:
        raise SynapseError(f"{_shown(file)} was not written by Synapse; move it away first")
    return text


def write_launcher(file: Path, text: str) -> None:
    """Put the launcher into its place, whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=file.parent, prefix=".synapse-")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(os.fsencode(text))
            Path(unfinished).chmod(0o700)
            Path(unfinished).replace(file)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SynapseError(f"cannot write {_shown(file)}: {error.strerror}") from error


def remove_launcher(file: Path) -> bool:
    """Take the launcher away; whether one was there."""
    if read_launcher(file) is None:
        return False
    try:
        file.unlink()
    except OSError as error:
        raise SynapseError(f"cannot remove {_shown(file)}: {error.strerror}") from error
    return True


def _shown(file: Path) -> str:
    text = str(file)
    return text if len(text) <= 60 else f"…{text[-59:]}"
