"""Where a Hermes keeps its jobs and scripts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from synapse.errors import SynapseError, UsageError, shown

DEFAULT_PROFILE = "default"
_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class HermesHome:
    """The folder of one profile."""

    folder: Path
    profile: str = DEFAULT_PROFILE

    @property
    def root(self) -> Path:
        """The folder that all profiles share."""
        return self.folder if self.profile == DEFAULT_PROFILE else self.folder.parent.parent

    @property
    def jobs_file(self) -> Path:
        """The list of scheduled jobs."""
        return self.folder / "cron" / "jobs.json"

    @property
    def scripts(self) -> Path:
        """The one folder that scripts of jobs may lie in."""
        return self.folder / "scripts"

    @property
    def environment_file(self) -> Path:
        """Settings that Hermes hands to its jobs."""
        return self.folder / ".env"

    def output(self, job_id: str) -> Path:
        """What the runs of a job printed, one file each."""
        return self.folder / "cron" / "output" / job_id

    def make(self) -> None:
        """Make the folder and the one of the scripts, where they are missing.

        Raises:
            SynapseError: they cannot be made.
        """
        try:
            self.scripts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SynapseError(
                f"cannot make {str(self.scripts)[-60:]}: {error.strerror}; check HERMES_HOME"
            ) from error

    def names_in_environment_file(self) -> set[str]:
        """Variables that the environment file sets; never their values."""
        try:
            text = self.environment_file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return set()
        return set(re.findall(r"^[ \t]*(?:export[ \t]+)?(\w+)[ \t]*=", text, re.MULTILINE))


def find_home(named: Path | None, profile: str | None) -> HermesHome:
    """The home of a profile; without one, of the profile that ``hermes`` itself would take.

    Args:
        named: ``HERMES_HOME``: the root, or the folder of a profile.
        profile: asked for by name.

    Raises:
        UsageError: there is no such profile, or the home cannot be one.

    >>> find_home(Path("/srv/hermes/profiles/coder"), None).profile
    'coder'
    """
    try:
        root = (named or Path.home() / ".hermes").expanduser().absolute()
    except RuntimeError:
        raise UsageError("HERMES_HOME begins with ~ and a user unknown here; correct it") from None
    if root.is_file():
        raise UsageError(f"HERMES_HOME is no folder but a file: {str(root)[-60:]}; correct it")
    own = None
    if root.parent.name == "profiles":
        root, own = root.parent.parent, root.name
    chosen = profile or own or _active(root)
    if chosen == DEFAULT_PROFILE:
        return HermesHome(root)
    folder = root / "profiles" / chosen
    if not _PROFILE.fullmatch(chosen) or (chosen != own and not folder.is_dir()):
        raise UsageError(f"Hermes has no profile {shown(chosen)}; hermes profile list shows them")
    return HermesHome(folder, chosen)


def _active(root: Path) -> str:
    try:
        return (root / "active_profile").read_text(encoding="utf-8").strip() or DEFAULT_PROFILE
    except (OSError, UnicodeDecodeError):
        return DEFAULT_PROFILE
