"""Telling a health-check service that a run began and how it ended.

The convention of such services: ``<url>/start``, then ``<url>/<exit code>``. A run that never ends
is noticed by them, not by us. Whatever becomes of a call, the run does not wait for it or hear of
it.
"""

from __future__ import annotations

from threading import Thread
from types import TracebackType
from typing import Self

from synapse.errors import SynapseError

_ANSWER_WITHIN_S = 10.0
_LAST_WORD_WITHIN_S = 5.0
_FAILED = 1
_INTERRUPTED = 130


class HealthCheck:
    """Calls at the beginning and at the end of a block.

    Args:
        url: of the check; none: no call.
    """

    def __init__(self, url: str | None) -> None:
        self._url = url

    def __enter__(self) -> Self:
        self._call("start")
        return self

    def __exit__(
        self, _kind: object, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        call = self._call(str(exit_code(error)))
        if call is not None:
            call.join(_LAST_WORD_WITHIN_S)

    def _call(self, word: str) -> Thread | None:
        if not self._url:
            return None
        call = Thread(target=_fetch, args=(f"{self._url.rstrip('/')}/{word}",), daemon=True)
        call.start()
        return call


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
