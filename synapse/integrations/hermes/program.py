"""The ``hermes`` program: asked to do things, and never believed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from synapse.errors import SynapseError
from synapse.integrations.hermes.home import HermesHome
from synapse.settings import environment_of_hermes

_PATIENCE_S = 120.0
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Hermes:
    """Runs ``hermes cron`` for one profile.

    Args:
        home: of the profile.

    Raises:
        SynapseError: there is no such program.
    """

    def __init__(self, home: HermesHome) -> None:
        beside = Path(sys.executable).with_name("hermes")  # where Synapse is Hermes' plugin
        found = shutil.which("hermes") or (str(beside) if beside.is_file() else None)
        if found is None:
            raise SynapseError("there is no hermes program on the PATH; add its folder to PATH")
        self._program = found
        self._home = home

    def cron(self, *arguments: str) -> str:
        """Run ``hermes cron``; what it printed. Its exit code says nothing."""
        self._home.make()
        command = [self._program, "-p", self._home.profile, "cron", *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self._home.folder,
                env=environment_of_hermes(self._home.root),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=_PATIENCE_S,
            )
        except subprocess.TimeoutExpired as error:
            raise SynapseError(
                f"hermes cron {arguments[0]} did not end within {_PATIENCE_S:g} s; try it by hand"
            ) from error
        except OSError as error:
            raise SynapseError(f"cannot run {self._program}: {error.strerror}") from error
        return _COLOUR.sub("", done.stdout)

    def silence_of_gateway(self) -> str | None:
        """Why Hermes does not run any job by itself now, in its own words."""
        for line in self.cron("status").splitlines():
            if line.lstrip().startswith(("✗", "⚠")):
                return line.strip(" ✗⚠")
        return None
