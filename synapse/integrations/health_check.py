"""Telling a health-check service that a run began and how it ended.

The convention of such services: ``<url>/start``, then ``<url>/<exit code>``; a query stays behind
the path. A run that never ends is noticed by them, not by us. Whatever becomes of a call, the run
does not hear of it, and waits at its end for a moment that is bounded as a whole: a service that
sends its answer byte by byte holds nobody up.
"""

from __future__ import annotations

from threading import Thread
from time import monotonic
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from synapse.errors import SynapseError

_ANSWER_WITHIN_S = 10.0
_PARTING_S = 1.0
_PARTING_RATIO = 0.1
_FAILED = 1
_INTERRUPTED = 130


class HealthCheck:
    """Calls at the beginning and at the end of a block.

    The first call goes out beside the block. The second waits until the first is done, so that
    they arrive in order, but for half of ``parting_s`` at most.

    Args:
        url: of the check; none: no call.
        limit_s: seconds that block and calls may take together; none: no limit.
    """

    def __init__(self, url: str | None, limit_s: float | None = None) -> None:
        self._url = url
        self.parting_s = parting_s(limit_s) if url else 0.0
        """Seconds that leaving the block may take."""

    def __enter__(self) -> Self:
        self._first = self._call("start")
        return self

    def __exit__(
        self, _kind: object, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._first is None:
            return
        until_s = monotonic() + self.parting_s
        self._first.join(self.parting_s / 2)
        last = self._call(str(exit_code(error)))
        if last is not None:
            last.join(max(0.0, until_s - monotonic()))

    def _call(self, word: str) -> Thread | None:
        if not self._url:
            return None
        call = Thread(target=_fetch, args=(address(self._url, word),), daemon=True)
        call.start()
        return call


def parting_s(limit_s: float | None) -> float:
    """Seconds to wait for the last call: one, or a tenth of what the whole may take.

    >>> parting_s(None), parting_s(600), parting_s(5)
    (1.0, 1.0, 0.5)
    """
    return _PARTING_S if limit_s is None else min(_PARTING_S, _PARTING_RATIO * limit_s)


def address(url: str, word: str) -> str:
    """Where to say this word.

    >>> address("https://check.example/ping/?create=1", "start")
    'https://check.example/ping/start?create=1'
    """
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}/{word}", fragment="").geturl()


def exit_code(error: BaseException | None) -> int:
    """The code that a command ends with.

    >>> exit_code(None), exit_code(KeyboardInterrupt()), exit_code(ValueError())
    (0, 130, 1)
    """
    if error is None:
        return 0
    if isinstance(error, KeyboardInterrupt):
        return _INTERRUPTED
    return error.exit_code if isinstance(error, SynapseError) else _FAILED


def _fetch(url: str) -> None:
    import http.client  # slow to load, and most runs call nobody
    import urllib.request

    try:
        urllib.request.urlopen(url, timeout=_ANSWER_WITHIN_S).close()
    except (OSError, ValueError, http.client.HTTPException):
        return  # a check that cannot be reached is no business of the run
