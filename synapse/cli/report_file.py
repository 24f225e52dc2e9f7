"""Where ``--report-file`` goes: whole or not at all, and never in place of something else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from synapse.errors import SynapseError, UsageError


class ReportFile:
    """A file that is checked before the run and written after it.

    Raises:
        UsageError: nothing can be written there.
    """

    def __init__(self, path: Path, what: str = "report") -> None:
        self._path = path
        self._what = what
        try:
            target = path.resolve()
            named = path.name and not path.is_dir()
            is_there = path.exists() or (target.parent.is_dir() and not target.is_symlink())
            writable = os.access(path if path.exists() else target.parent, os.W_OK)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except RuntimeError as error:  # what pathlib before Python 3.13 says of links in a circle
            raise self._unusable("the links there lead in a circle") from error
        if not named or not is_there or not writable:
            raise self._unusable("no such folder, a folder itself, or not writable")

    def write(self, content: dict[str, Any]) -> None:
        """Write JSON; a reader finds the old report or the new one, never half of it."""
        self.write_text(json.dumps(content))

    def write_text(self, content: str) -> None:
        """Write text, whole or not at all."""
        try:
            if self._path.exists() and not self._path.is_file():
                with self._path.open("w", encoding="utf-8") as device:
                    device.write(content)
            else:
                self._replace(self._path.resolve(), content)
        except OSError as error:
            raise SynapseError(
                f"the run is complete, but its {self._what} was not written: {error.strerror}"
            ) from error

    @staticmethod
    def _replace(target: Path, content: str) -> None:
        half_written = target.with_name(f".synapse-report-{os.getpid()}")
        try:
            with half_written.open("w", encoding="utf-8") as stream:
                stream.write(content)
            if target.exists():
                half_written.chmod(target.stat().st_mode & 0o777)
            half_written.replace(target)
        finally:
            half_written.unlink(missing_ok=True)

    def _unusable(self, why: str) -> UsageError:
        return UsageError(f"cannot write the {self._what} file {str(self._path)[:60]!r}: {why}")
