"""Asking and thinking at the same time, without a thread.

While the server works on a query, the client has nothing to do but to understand the answer to
the one before. So a query is sent first, and its answer is read after that. Where the next query
is known as well, it is sent along: then the server need not wait for the client either. It works
on two queries at the same time if they come over two connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import ResponseError

from synapse.store.connection import Connection

Command = tuple[Any, ...]

_PLENTY_COUNT = 32
"""Connections of a client that are more than its threads can need, two for each."""


class Ask(Protocol):
    """Send a command, do something else meanwhile, return the answer."""

    def __call__(
        self, command: Command, meanwhile: Callable[[], None], ahead: Command | None = None
    ) -> Any:
        """The answer to a command.

        Args:
            command: what to ask.
            meanwhile: what to do until the answer comes.
            ahead: what will most likely be asked next; it must only read.
        """


AskAll = Callable[[Iterable[Command], Callable[[], None]], list[Any]]
"""The same with several commands: their answers, in the order of the commands.

Each command is made up while the server works on the one before, and what to do meanwhile is done
before any answer is taken."""


@contextmanager
def held_wire(connection: Connection) -> Iterator[Ask]:
    """One connection of the client's pool, to be used by nobody else until the end.

    If a command is left without its answer, the connection is closed, so that no later command can
    mistake that answer for its own.
    """
    pool: Any = getattr(connection, "connection_pool", None)
    if pool is None:  # a cluster has a pool for each node, and finds the node by itself
        yield lambda command, meanwhile, ahead=None: _one_after_the_other(
            connection, [command], meanwhile
        )[0]
        return
    wire = pool.get_connection()
    asking = _Asking(wire)
    try:
        yield asking
    finally:
        asking.end()
        pool.release(wire)


@contextmanager
def held_wires(connection: Connection, count: int) -> Iterator[AskAll]:
    """The same with several connections, each with never more than one command under way.

    Where the client may have few, it is one, and commands wait for each other: a second one could
    be the one that another thread lacks.
    """
    pool: Any = getattr(connection, "connection_pool", None)
    if pool is None:
        yield lambda commands, meanwhile: _one_after_the_other(connection, commands, meanwhile)
        return
    wires = [pool.get_connection()]
    try:
        with suppress(NotConnected):
            while len(wires) < count and pool.max_connections >= _PLENTY_COUNT:
                wires.append(pool.get_connection())
        yield lambda commands, meanwhile: _overlapping(wires, commands, meanwhile)
    finally:
        for wire in wires:
            pool.release(wire)


class _Asking:
    """The command that is asked is under way, and the one after it."""

    def __init__(self, wire: Any) -> None:
        self._wire = wire
        self._sent: deque[Command] = deque()
        """Without an answer so far."""
        self._early: tuple[Command, Any] | None = None
        """The answer to a command that was sent ahead, where another was asked first."""

    def __call__(
        self, command: Command, meanwhile: Callable[[], None], ahead: Command | None = None
    ) -> Any:
        try:
            early, self._early = self._early, None
            if early is None or early[0] != command:
                early = None
                self._put_first(command)
            if ahead is not None:
                self._send(ahead)
            meanwhile()
            answer = self._answer() if early is None else early[1]
        except BaseException:
            self.end()
            raise
        if isinstance(answer, ResponseError):
            raise answer
        return answer

    def end(self) -> None:
        """Leave nothing behind that another command could read."""
        if self._sent:
            self._sent.clear()
            self._wire.disconnect()

    def _put_first(self, command: Command) -> None:
        """Let the next answer be the one to this command."""
        while self._sent and self._sent[0] != command:
            self._early = self._sent[0], self._answer()
        if not self._sent:
            self._send(command)

    def _send(self, command: Command) -> None:
        self._sent.append(command)  # first: an interrupt may fall between the two
        self._wire.send_command(*command)

    def _answer(self) -> Any:
        """The next answer, or what the server says in its place."""
        try:
            answer = self._wire.read_response()  # closes the connection by itself where this fails
        except ResponseError as error:
            answer = error
        self._sent.popleft()
        return answer


def _overlapping(
    wires: Sequence[Any], commands: Iterable[Command], meanwhile: Callable[[], None]
) -> list[Any]:
    answers: list[Any] = []
    free, under_way, to_do = deque(wires), deque[Any](), [meanwhile]

    def take_answer() -> None:
        while to_do:
            to_do.pop()()
        wire = under_way.popleft()
        answers.append(wire.read_response())  # closes the connection by itself where this fails
        free.append(wire)

    try:
        for command in commands:
            if not free:
                take_answer()
            under_way.append(free.popleft())
            under_way[-1].send_command(*command)
        while under_way:
            take_answer()
    except BaseException:
        for wire in under_way:
            wire.disconnect()
        raise
    return answers


def _one_after_the_other(
    connection: Connection, commands: Iterable[Command], meanwhile: Callable[[], None]
) -> list[Any]:
    meanwhile()
    return [connection.execute_command(*command) for command in commands]  # type: ignore[no-untyped-call]
