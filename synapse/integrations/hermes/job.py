"""Jobs as Hermes lists them, and the one that Synapse wants."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from synapse.errors import SynapseError
from synapse.integrations.hermes.home import HermesHome
from synapse.integrations.hermes.launcher import NAME as LAUNCHER

NAME = "synapse-consolidate"


@dataclass(frozen=True, slots=True)
class Job:
    """What Hermes knows about one job."""

    id: str
    script: str | None
    prompt: str
    without_agent: bool
    interval_minutes: int | None
    schedule: str
    deliver: str
    enabled: bool
    next_run_at: str | None
    last_run_at: str | None
    last_status: str | None
    last_error: str | None
    last_delivery_error: str | None

    def as_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class WantedJob:
    """The job as it should be.

    Args:
        interval_minutes: between two runs.
        deliver: where Hermes tells about runs; ``local`` is a file only.
        prompt: for the agent that is woken when findings need judgement; none: no agent.
    """

    interval_minutes: int
    deliver: str = "local"
    prompt: str | None = None

    @property
    def schedule(self) -> str:
        """In words that every version of Hermes understands.

        >>> WantedJob(360).schedule, WantedJob(90).schedule
        ('every 6h', 'every 90m')
        """
        return _every(self.interval_minutes)

    def differences(self, job: Job) -> Iterator[str]:
        """What is not as it should be, in words."""
        if job.interval_minutes != self.interval_minutes:
            yield f"it ran {job.schedule or 'never'} instead of {self.schedule}"
        if job.script != LAUNCHER:
            yield f"it ran {job.script or 'no script'} instead of {LAUNCHER}"
        if job.without_agent != (self.prompt is None):
            yield "it woke an agent" if self.prompt is None else "it woke no agent"
        if self.prompt is not None and job.prompt != self.prompt:
            yield "it asked the agent something else"
        if job.deliver != self.deliver:
            yield f"it told {job.deliver or 'nobody'} instead of {self.deliver}"


def synapse_jobs(home: HermesHome) -> list[Job]:
    """Hermes' jobs of Synapse's name; more than one only if somebody else made them.

    Raises:
        SynapseError: the list of jobs cannot be read or is none.
    """
    try:
        whole = json.loads(home.jobs_file.read_text(encoding="utf-8"))
        listed = whole if isinstance(whole, list) else whole["jobs"]
        return [_job(entry) for entry in listed if entry.get("name") == NAME]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SynapseError(f"cannot read Hermes' list of jobs: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SynapseError(
            f"Hermes' list of jobs is not as expected: see {str(home.jobs_file)[-60:]}"
        ) from error


def _every(interval_minutes: int) -> str:
    hours, minutes = divmod(interval_minutes, 60)
    return f"every {interval_minutes}m" if minutes else f"every {hours}h"


def _job(entry: dict[str, Any]) -> Job:
    schedule = entry.get("schedule")
    schedule = schedule if isinstance(schedule, dict) else {}
    minutes = schedule.get("minutes") if schedule.get("kind") == "interval" else None
    deliver = entry.get("deliver") or ""
    return Job(
        id=str(entry["id"]),
        script=entry.get("script"),
        prompt=entry.get("prompt") or "",
        without_agent=bool(entry.get("no_agent")),
        interval_minutes=minutes,
        schedule=_every(minutes)
        if isinstance(minutes, int)
        else str(entry.get("schedule_display") or schedule.get("display") or ""),
        deliver=deliver if isinstance(deliver, str) else ",".join(deliver),
        enabled=bool(entry.get("enabled", True)) and entry.get("state") != "paused",
        **{name: entry.get(name) for name in _TOLD},
    )


_TOLD = ("next_run_at", "last_run_at", "last_status", "last_error", "last_delivery_error")
