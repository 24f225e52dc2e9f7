"""Addresses that people give: shown without their secrets, and checked before they are used."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from synapse.errors import ConfigurationError

PASSWORD = "PASSWORD"
"""What stands for a password where it is not shown."""
OPTIONS = "OPTIONS"
"""What stands for the options of an address that are not shown."""
UNREADABLE = (
    "the database URI cannot be read: the port is a number, and special characters are "
    "quoted (%40 for @); check FALKORDB_URI"
)

_SERVERS = ("redis", "rediss", "unix", "falkor", "falkors")
_PLACE = re.compile(r"([\w.-]+|\[[0-9A-Fa-f:.]+\])?(:\d{1,5})?", re.ASCII)
_USER = re.compile(r"[\w.~+-]*", re.ASCII)
_WEB = re.compile(r"https?://[!#-&(-[\]-~]+", re.IGNORECASE)


def public_address(address: str) -> str:
    """The address of a database as others may see it, right in every folder.

    Shown is what is known to be harmless: scheme, host, port, number of the database, and the name
    of a user who has a password as well. ``PASSWORD`` and ``OPTIONS`` stand for all else; a user
    without a password is most often a password without a user.

    Args:
        address: ``redis://``, ``rediss://``, ``unix://`` or ``embedded:<folder>``.

    Raises:
        ConfigurationError: it is no such address.

    >>> public_address("rediss://me:p@db:6379/0?password=p&x=1")
    'rediss://me:PASSWORD@db:6379/0?password=PASSWORD&OPTIONS'
    >>> public_address("redis://s3cret@db")
    'redis://PASSWORD@db'
    """
    scheme, _, folder = address.partition(":")
    if scheme == "embedded" and folder:
        return f"embedded:{Path(folder).expanduser().resolve()}"
    parts = _server(address)
    if (
        "@" in parts.path + parts.query + parts.fragment
    ):  # an unquoted password has cut the address in the wrong place
        return f"{parts.scheme}://{PASSWORD}"
    login, at, place = parts.netloc.rpartition("@")
    if not _PLACE.fullmatch(place):
        return f"{parts.scheme}://{PASSWORD}"
    path = parts.path if parts.scheme == "unix" or re.fullmatch(r"/\d*", parts.path) else ""
    options = [_option(one) for one in parts.query.split("&")] if parts.query else []
    if path != parts.path:
        options.append(OPTIONS)
    query = "&".join(dict.fromkeys(options))
    return f"{parts.scheme}://{_login(login)}{at}{place}{path}{'?' if query else ''}{query}"


def web_address(address: str) -> str:
    """The address itself, if a program can call it.

    Raises:
        ValueError: it cannot; the sentence never shows the address.

    >>> web_address("https://check.example/ping?create=1")
    'https://check.example/ping?create=1'
    """
    if not _WEB.fullmatch(address):
        raise ValueError("it must begin with https:// or http:// and hold no spaces or quotes")
    try:
        parts = urlsplit(address)
        has_place = bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_place = False
    if "@" in address.partition("://")[2].partition("/")[0]:
        raise ValueError("it must hold no user name and no password")
    if not has_place:
        raise ValueError("its host or its port cannot be one")
    return address


def _server(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
    except ValueError:
        # Without the cause, which may show a piece of the password.
        raise ConfigurationError(UNREADABLE) from None
    if parts.scheme not in _SERVERS or "://" not in address:
        raise ConfigurationError(
            "the database URI must begin with redis://, rediss:// or unix://; check FALKORDB_URI"
        )
    return parts


def _login(login: str) -> str:
    user, _, password = login.partition(":")
    if not login:
        return ""
    return f"{user}:{PASSWORD}" if password and _USER.fullmatch(user) else PASSWORD


def _option(option: str) -> str:
    if option.startswith("password="):
        return f"password={PASSWORD}"
    return option if re.fullmatch(r"db=\d+", option) else OPTIONS
