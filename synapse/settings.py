"""Where each setting comes from: option, then environment, then ``synapse.toml``, then default.

This is the only module that reads the environment.

``FALKORDB_URI`` (``redis://``, ``rediss://``, ``unix://`` or ``embedded:<folder>``) names the
server; without it ``FALKORDB_HOST``, ``FALKORDB_PORT``, ``FALKORDB_USERNAME`` and
``FALKORDB_PASSWORD`` do. ``FALKORDB_DATABASE`` is the graph that a run without ``--graph`` uses.
Every constant of :class:`~synapse.hippocampus.config.HippocampusConfig` can be set as
``SYNAPSE_<SECTION>__<NAME>`` or in ``synapse.toml``; ``SYNAPSE_CONFIG`` names that file. How the
batch is run (:class:`Hosting`) is set by the same prefix and outside of any section.
"""

from __future__ import annotations

import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from synapse.addresses import public_address, web_address
from synapse.errors import ConfigurationError
from synapse.hippocampus.config import HippocampusConfig

DEFAULT_CONFIG_FILE = "synapse.toml"
INTERVAL_NAME = "SYNAPSE_CONSOLIDATION_INTERVAL_HOURS"
"""Asked for where a job is made; no run needs it."""
_PLAINLY = {
    "extra_forbidden": "there is no such setting",
    "tuple_type": "must be a list",
    "model_type": "must be a section of its own",
}
"""What a person is told, by pydantic's name of the mistake."""
_SERVER_NAMES = {"FALKORDB_" + part for part in ("URI", "HOST", "PORT", "USERNAME", "PASSWORD")}


class Connection(BaseModel):
    """Which server, and which graph on it when the caller names none."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    uri: SecretStr | None = None
    host: str = "localhost"
    port: int = Field(default=6379, ge=1, le=65_535)
    username: str = ""
    password: SecretStr = SecretStr("")
    database: str = "default_db"

    def address(self) -> str:
        """One URI that says it all. It may hold the password: never print it.

        >>> Connection(host="db", username="me", password="p@ss").address()
        'redis://me:p%40ss@db:6379'
        """
        if self.uri is not None and self.uri.get_secret_value():
            return self.uri.get_secret_value()
        password = self.password.get_secret_value()
        login = f"{quote(self.username, safe='')}:{quote(password, safe='')}@"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"redis://{login if password or self.username else ''}{host}:{self.port}"


class Hosting(BaseModel):
    """How the batch is run by others; nothing that is computed depends on it."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    consolidation_interval_hours: float = Field(default=6.0, ge=0.25, le=744.0, allow_inf_nan=False)
    health_check_url: SecretStr | None = None

    @field_validator("health_check_url")
    @classmethod
    def _leads_to_the_web(cls, url: SecretStr | None) -> SecretStr | None:
        if url and url.get_secret_value():
            web_address(url.get_secret_value())
        return url

    @property
    def interval_minutes(self) -> int:
        """Whole minutes between two runs."""
        return round(self.consolidation_interval_hours * 60)


class Settings(BaseModel):
    """Everything a command needs to know."""

    model_config = ConfigDict(frozen=True)

    connection: Connection
    hosting: Hosting = Hosting()
    hippocampus: HippocampusConfig


class _ConnectionEnvironment(BaseSettings, Connection):
    model_config = SettingsConfigDict(env_prefix="FALKORDB_", env_ignore_empty=True)


class _HippocampusEnvironment(BaseSettings, HippocampusConfig):
    model_config = SettingsConfigDict(
        env_prefix="SYNAPSE_", env_nested_delimiter="__", env_ignore_empty=True
    )


class _HostingEnvironment(BaseSettings, Hosting):
    model_config = SettingsConfigDict(env_prefix="SYNAPSE_", env_ignore_empty=True)


def load_settings(config_file: Path | None = None) -> Settings:
    """Read the environment and the configuration file.

    Args:
        config_file: ``--config``; else ``SYNAPSE_CONFIG``; else ``synapse.toml`` in the working
            directory if it is there.

    Raises:
        ConfigurationError: the file cannot be read, or values are out of bounds; the message
            names all of them.
    """
    file = config_file or configured_file()
    table = _read_toml(file) if file else {}
    connection = _merge(table.pop("falkordb", {}), _server_of_the_environment())
    hosting = {name: table.pop(name) for name in Hosting.model_fields if name in table}
    hosting |= _environment(_HostingEnvironment)
    constants = _merge(table, _environment(_HippocampusEnvironment))
    where = f"environment or {file}" if file else "environment"
    return _validated(
        {"connection": connection, "hosting": hosting, "hippocampus": constants}, where
    )


def hermes_home() -> Path | None:
    """The folder that ``HERMES_HOME`` names."""
    named = os.environ.get("HERMES_HOME")
    return Path(named) if named else None


def environment_of_hermes(root: Path) -> dict[str, str]:
    """This environment for a ``hermes`` that is started in another folder.

    Args:
        root: the folder that ``HERMES_HOME`` means here, if it names one.
    """
    named = {"HERMES_HOME": str(root)} if os.environ.get("HERMES_HOME") else {}
    return {**os.environ, **named}


def names_set_here() -> list[str]:
    """Variables of this environment that Synapse reads, sorted; never their values."""
    single = {"SYNAPSE_CONFIG", *(f"SYNAPSE_{name.upper()}" for name in Hosting.model_fields)}
    sections = tuple(f"SYNAPSE_{name.upper()}__" for name in HippocampusConfig.model_fields)
    return sorted(
        name for name, value in os.environ.items()
        if value and (name.upper() in single or name.upper().startswith(("FALKORDB_", *sections)))
    )  # fmt: skip


def variables_elsewhere(settings: Settings, file: Path | None) -> dict[str, str]:
    """What to set elsewhere so that a run there finds the same server and graph.

    Args:
        settings: what holds here.
        file: the configuration file that is known there as well.
    """
    here, wanted = set(names_set_here()), {}
    if file is None or here & _SERVER_NAMES:
        wanted["FALKORDB_URI"] = public_address(settings.connection.address())
    if "FALKORDB_DATABASE" in here:
        wanted["FALKORDB_DATABASE"] = settings.connection.database
    return wanted


def names_unknown_elsewhere() -> list[str]:
    """Variables of this environment that a run elsewhere would have to be told."""
    told = {*_SERVER_NAMES, "FALKORDB_DATABASE", "SYNAPSE_CONFIG"}
    return sorted(set(names_set_here()) - told - {INTERVAL_NAME})


def model_key() -> str:
    """The key for a model endpoint, ``OPENAI_API_KEY``; local endpoints need none."""
    return os.environ.get("OPENAI_API_KEY") or "none"


def configured_file() -> Path | None:
    """The file that ``SYNAPSE_CONFIG`` names, else the one of the working directory."""
    named = os.environ.get("SYNAPSE_CONFIG")
    default = Path(DEFAULT_CONFIG_FILE)
    if named:
        return Path(named)
    return default if default.is_file() else None


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"cannot read the configuration file {file}: {error.strerror}; check name and rights"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8 text; save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file} is not valid TOML: {error}; correct that line") from error


def _server_of_the_environment() -> dict[str, Any]:
    """What ``FALKORDB_…`` say.

    Where a service is called ``falkordb``, Kubernetes sets ``FALKORDB_PORT`` in every container, to
    an address such as ``tcp://10.96.0.7:6379``: that is nobody's choice.
    """
    named = _environment(_ConnectionEnvironment)
    if str(named.get("port", "")).startswith("tcp://"):
        del named["port"]
    return named


def _environment(kind: type[BaseSettings]) -> dict[str, Any]:
    try:
        return EnvSettingsSource(kind)()
    except ValueError as error:
        # It names the section alone.
        section = re.search(r'field "(\w+)"', str(error))
        beginning = f"{kind.model_config.get('env_prefix')}{section[1] if section else ''}".upper()
        names = sorted(name for name in os.environ if name.upper().startswith(beginning))
        raise ConfigurationError(
            f'{" or ".join(names)} cannot be understood; write a list as JSON, like ["LIVES_IN"]'
        ) from None


def _merge(low: Any, high: dict[str, Any]) -> Any:
    if not isinstance(low, dict):
        return low
    merged = dict(low)
    for name, value in high.items():
        merged[name] = _merge(merged.get(name, {}), value) if isinstance(value, dict) else value
    return merged


def _validated(values: dict[str, Any], where: str) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        complaints = "; ".join(
            f"{_setting_name(one['loc'])}: {in_words(one)}{_meant(one)}"
            for one in error.errors(include_url=False)
        )
        # The cause would show the values, and one of them may be a password.
        raise ConfigurationError(f"wrong settings ({where}): {complaints}") from None


def in_words(mistake: ErrorDetails) -> str:
    """What is wrong with a value, which is not shown itself.

    >>> in_words({"type": "float_parsing", "msg": "Input should be a valid number, unable to …",
    ...           "loc": ("a",), "input": "x"})
    'must be a valid number'
    """
    said = mistake["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    return _PLAINLY.get(mistake["type"], said.partition(", unable to")[0])


def _meant(mistake: ErrorDetails) -> str:
    if mistake["type"] != "extra_forbidden":
        return ""
    *sections, name = mistake["loc"]
    known: Any = Settings
    for section in sections:
        known = known.model_fields[section].annotation
    names = [*known.model_fields]
    if known is HippocampusConfig:
        names += ["falkordb", *Hosting.model_fields]
    close = get_close_matches(str(name), names, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _setting_name(location: tuple[int | str, ...]) -> str:
    section, *rest = (str(part) for part in location)
    return ".".join(["falkordb", *rest] if section == "connection" else rest or [section])
