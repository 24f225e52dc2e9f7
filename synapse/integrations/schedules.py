"""The batch, written down for cron, systemd and Kubernetes.

Each text says in a line each what happens when two runs overlap, when the machine was off, which
time zone holds, and what an exit code means there.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from synapse.addresses import OPTIONS, PASSWORD
from synapse.errors import UsageError, shown

NAME = "synapse-consolidate"
_DAY_MINUTES = 1440
_AT = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_HERE = re.compile(r"(embedded|unix):|\w+://([^@/]*@)?(localhost|127\.|\[::1\])")
_EVERY = re.compile(r"(\d{1,4})([hm])")


@dataclass(frozen=True, slots=True)
class Occasion:
    """When the batch runs: at one moment of each day, or again after so many minutes."""

    every_minutes: int = _DAY_MINUTES
    at_hour: int = 0
    at_minute: int = 0

    @classmethod
    def daily(cls, moment: str) -> Occasion:
        """Each day at this moment.

        >>> Occasion.daily("18:05").as_cron()
        '5 18 * * *'
        """
        found = _AT.fullmatch(moment)
        if not found:
            raise UsageError(f"--at {shown(moment)} is no time of day; write it like 18:00")
        return cls(at_hour=int(found[1]), at_minute=int(found[2]))

    @classmethod
    def every(cls, span: str) -> Occasion:
        """Again and again.

        >>> Occasion.every("6h").as_cron(), Occasion.every("20m").as_cron()
        ('0 */6 * * *', '*/20 * * * *')
        """
        found = _EVERY.fullmatch(span)
        minutes = int(found[1]) * (60 if found[2] == "h" else 1) if found else 0
        if not 1 <= minutes <= 31 * _DAY_MINUTES:
            raise UsageError(f"--every {shown(span)} is no span; write it like 6h or 90m")
        return cls(every_minutes=minutes)

    @property
    def fits_the_clock(self) -> bool:
        """Whether it can be said as times of a day that are the same every day."""
        minutes = self.every_minutes
        return 60 % minutes == 0 or (minutes % 60 == 0 and _DAY_MINUTES % minutes == 0)

    def as_cron(self) -> str:
        """Five fields.

        Raises:
            UsageError: cron cannot say it.
        """
        hours = self.every_minutes // 60
        if not self.fits_the_clock:
            raise UsageError(
                f"cron cannot say every {self.every_minutes} minutes; take a span that divides"
                " an hour or a day (20m, 6h), or --systemd"
            )
        if hours == 0:
            return f"*/{self.every_minutes} * * * *"
        hour = str(self.at_hour) if hours == 24 else "*" if hours == 1 else f"*/{hours}"
        return f"{self.at_minute} {hour} * * *"

    def as_timer(self) -> str:
        """Lines of a systemd timer."""
        if not self.fits_the_clock:
            return f"OnBootSec=5min\nOnUnitActiveSec={self.every_minutes}min"
        hours = self.every_minutes // 60
        if hours == 0:
            moment = f"*:00/{self.every_minutes}:00"
        elif hours == 24:
            moment = f"{self.at_hour:02}:{self.at_minute:02}:00"
        else:
            moment = f"00/{hours}:00:00"
        return f"OnCalendar=*-*-* {moment}\nPersistent=true"


@dataclass(frozen=True, slots=True)
class Batch:
    """What is to be run.

    Args:
        interpreter: of the environment that Synapse is installed in.
        arguments: of ``synapse consolidate``.
        limit_s: after which a host may end it the hard way.
        ping: address of a health check.
        variables: what names the server and the graph there, with ``PASSWORD`` for the password.
        unknown: names of further variables that are set here and not there.
    """

    interpreter: str
    arguments: Sequence[str]
    limit_s: int
    ping: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    unknown: Sequence[str] = ()

    @property
    def command(self) -> list[str]:
        """Program and arguments, right in every folder."""
        return [self.interpreter, "-P", "-m", "synapse", "consolidate", *self.arguments]

    def as_crontab(self, occasion: Occasion) -> str:
        """Lines for a crontab."""
        command = shlex.join(self.command).replace("%", r"\%")  # cron ends the command at a %
        variables = "".join(f"{name}={value}\n" for name, value in self._all_variables().items())
        notes = self._notes("this crontab", self.variables)
        return f"""\
# {NAME}. Take it over with: (crontab -l; synapse schedule print --cron …) | crontab -
# Overlap: a run that finds another one at work writes nothing and ends with 0.
# Machine off: a missed run is not made up for; the next one does the work of both.
# Time zone: the machine's own. Exit code: cron ignores it, and mails what a failed run says.
{notes}{variables}{occasion.as_cron()} {command} >> "$HOME/synapse.jsonl"
"""

    def as_units(self, occasion: Occasion) -> dict[str, str]:
        """Contents of the two files for systemd, by name."""
        start = " ".join(_unit_word(word) for word in self.command)
        hidden = {name: v for name, v in self.variables.items() if PASSWORD in v or OPTIONS in v}
        variables = "".join(
            f"Environment={_unit_word(f'{name}={value}', '')}\n"
            for name, value in self._all_variables().items()
            if name not in hidden
        )
        secret = "".join(
            f"# {name}={value} goes into this file.\n" for name, value in hidden.items()
        )
        service = f"""\
# {NAME}.service: into ~/.config/systemd/user/
# Overlap: systemd never starts a unit twice, and a run that finds another one at work ends with 0.
# Exit code: anything but 0 makes the unit failed; OnFailure= in [Unit] can tell you.
[Unit]
Description=Synapse: consolidate the memory of an agent

[Service]
Type=oneshot
{variables}# Further settings: what stands in this file wins; chmod 600
{secret}{self._notes("this file", self.variables)}EnvironmentFile=-%h/.config/synapse.env
ExecStart={start}
TimeoutStartSec={self.limit_s + 60}
"""
        missed = "is made up for once" if occasion.fits_the_clock else "is not made up for"
        timer = f"""\
# {NAME}.timer: beside it, then
#   systemctl --user daemon-reload && systemctl --user enable --now {NAME}.timer
#   loginctl enable-linger    (it runs also while you are not logged in)
# Machine off: a missed run {missed}. Time zone: the machine's own.
[Unit]
Description=When Synapse consolidates

[Timer]
{occasion.as_timer()}

[Install]
WantedBy=timers.target
"""
        return {f"{NAME}.service": service, f"{NAME}.timer": timer}

    def as_manifest(self, occasion: Occasion) -> str:
        """A CronJob for Kubernetes; what else is set here belongs into its secret."""
        arguments = [word.replace("$", "$$") for word in self.arguments]  # $(NAME) is replaced
        words = json.dumps(["synapse", "consolidate", *arguments], ensure_ascii=False)
        ping = ""
        if self.ping:
            ping = f"""
              env:
                - name: SYNAPSE_HEALTH_CHECK_URL
                  value: {json.dumps(self.ping)}"""
        variables = self._variables_in_a_container()
        secrets = " ".join(
            f"--from-literal={shlex.quote(f'{name}={v}')}" for name, v in variables.items()
        )
        notes = self._notes("the secret", variables)
        return f"""\
# kubectl create secret generic synapse {secrets}
{notes}# Overlap: Forbid, and a run that finds another one at work writes nothing and ends with 0.
# Missed: made up for within ten minutes, otherwise the next run does the work of both.
# Exit code: 2 (wrong options, refused access) fails at once, anything else is tried once more.
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {NAME}
spec:
  schedule: {json.dumps(occasion.as_cron())}
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 600
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 3
  jobTemplate:
    spec:
      activeDeadlineSeconds: {2 * self.limit_s + 120}
      backoffLimit: 1
      podFailurePolicy:
        rules:
          - action: FailJob
            onExitCodes:
              containerName: synapse
              operator: In
              values: [2]
      template:
        spec:
          restartPolicy: Never
          automountServiceAccountToken: false
          containers:
            - name: synapse
              image: registry.example/synapse:0.1.0  # yours: see docs/how-to/kubernetes.md
              command: {words}
              envFrom:
                - secretRef:
                    name: synapse{ping}
              securityContext:
                runAsNonRoot: true
                runAsUser: 65532
                allowPrivilegeEscalation: false
                readOnlyRootFilesystem: true
                capabilities:
                  drop: [ALL]
"""

    def _all_variables(self) -> dict[str, str]:
        ping = {"SYNAPSE_HEALTH_CHECK_URL": self.ping} if self.ping else {}
        return {**self.variables, **ping}

    def _variables_in_a_container(self) -> dict[str, str]:
        """What a container is told, which has a machine of its own."""
        local = _HERE.match(self.variables.get("FALKORDB_URI", "redis://localhost"))
        address = {"FALKORDB_URI": "redis://…"} if local else {}
        return {**self.variables, **address}

    def _notes(self, place: str, variables: Mapping[str, str]) -> str:
        """What a person still has to write, and into what."""
        notes = []
        address = variables.get("FALKORDB_URI", "")
        if PASSWORD in address:
            notes.append(f"# In {place}, write the password for {PASSWORD}, percent-encoded.\n")
        if OPTIONS in address:
            notes.append(f"# In {place}, write for {OPTIONS} what your address has there.\n")
        if self.unknown:
            names = ", ".join(self.unknown)
            notes.append(f"# Set here and not there: {names}; write what matters into {place}.\n")
        return "".join(notes)


def _unit_word(word: str, dollar: str = "$") -> str:
    """A word as systemd reads it; ``dollar`` is doubled where variables are put in.

    >>> _unit_word("100% of 'it'"), _unit_word("plain")
    ('"100%% of \\'it\\'"', 'plain')
    """
    escaped = word.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    if dollar:
        escaped = escaped.replace("$", "$$")
    return escaped if re.fullmatch(r"[\w./:=@,+-]+", word) else f'"{escaped}"'
