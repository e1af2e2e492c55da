"""The admin's own settings, one TOML file: servers by name, defaults of `run`, who measures, theme and keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from app.base.errors import UsageError
from app.base.user_files import config_file, read_toml

_ADVICE_FOR_WRONG_NAMES = {
    "password": "a password is never stored; take it out, and type it at the prompt, set SHAREBENCH_PASSWORD, or name"
    " a file of credentials",
    "port": 'the port stands in the address: address = "HOST:PORT"',
}


class ConfigError(UsageError):
    """The settings file is invalid; the message names file, place and what is expected, and repeats no value.

    A value may be a password that was put in the wrong place, and messages reach cron's mail and journals.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProfile:
    """A server of the settings file, which is typed as ``@NAME``; empty is what it does not say."""

    address: str
    """``HOST`` or ``HOST:PORT``."""
    protocol: str = "smb"
    share: str = ""
    path: str = ""
    """Of the usual file, below the share."""
    user: str = ""
    domain: str = ""

    ssh: str = ""
    """``[USER@]HOST`` by which its settings and load are read."""
    smb_conf: str = ""
    """The path of its smb.conf, where it is not the usual one."""
    link: str = ""
    """The rate of its network link, such as ``1G``."""

    def url(self, path: str | None = None) -> str:
        """The URL of ``path`` below the share, by default of the usual file."""
        from urllib.parse import quote

        user = f"{quote(self.user, safe='')}@" if self.user else ""
        domain = f"{quote(self.domain, safe='')};" if self.domain and user else ""

        below_share = self.path if path is None else path
        parts = [self.share.strip("/"), below_share.lstrip("/")]
        url_path = "/".join(quote(part, safe="/") for part in parts if part)
        return f"{self.protocol}://{domain}{user}{self.address}/{url_path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurer:
    """Who measures, printed on every form."""

    name: str = ""
    ticket: str = ""
    site: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the settings file says; empty where there is none."""

    servers: Mapping[str, ServerProfile] = field(default_factory=dict)
    """By name."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Of the options of ``run``, by their names."""
    who: Measurer = field(default_factory=Measurer)
    theme: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    """By command of a screen, the key that calls it."""


def read_config(path: Path) -> Config:
    """An empty :class:`Config` without a file. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot read {path}: {error}") from error

    try:
        tables = read_toml(text)
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error

    _check_names(path, "", tables, ("servers", "defaults", "who", "tui", "keys"))
    servers = _table(path, "servers", tables)
    tui = _table(path, "tui", tables)
    _check_names(path, "tui.", tui, ("theme",))
    return Config(
        servers={name: _server(path, name, entry) for name, entry in servers.items()},
        defaults=_table(path, "defaults", tables),
        who=_measurer(path, _table(path, "who", tables)),
        theme=str(tui.get("theme", "")),
        keys=_table(path, "keys", tables),
    )


@cache
def config() -> Config:
    """This user's settings, read once. Raises ConfigError."""
    return read_config(config_file())


def profile(name: str, settings: Config | None = None) -> ServerProfile:
    """The server of that name. Raises UsageError with the known names."""
    from difflib import get_close_matches

    servers = (settings or config()).servers
    if name in servers:
        return servers[name]

    similar_names = get_close_matches(name, servers, n=1)
    if similar_names:
        advice = f"did you mean @{similar_names[0]}?"
    else:
        advice = f"known are: {', '.join(sorted(servers)) or 'none yet'}"
    raise UsageError(f"there is no server {name!r} in {config_file()}; {advice}")


def _measurer(path: Path, table: Mapping[str, Any]) -> Measurer:
    texts = _texts(path, "who.", table, Measurer)
    return Measurer(name=texts.get("name", ""), ticket=texts.get("ticket", ""), site=texts.get("site", ""))


def _server(path: Path, name: str, table: object) -> ServerProfile:
    place = f"servers.{name}."
    if not isinstance(table, dict):
        raise ConfigError(f'{path}: servers.{name} must be a table with at least address = "HOST"')
    texts = _texts(path, place, table, ServerProfile)
    if not texts.get("address"):
        raise ConfigError(f'{path}: {place}address is missing; write address = "HOST"')

    server = ServerProfile(
        address=texts["address"],
        protocol=texts.get("protocol", "smb"),
        share=texts.get("share", ""),
        path=texts.get("path", ""),
        user=texts.get("user", ""),
        domain=texts.get("domain", ""),
        ssh=texts.get("ssh", ""),
        smb_conf=texts.get("smb_conf", ""),
        link=texts.get("link", ""),
    )
    _check_server(path, place, server)
    return server


def _check_server(path: Path, place: str, server: ServerProfile) -> None:
    """Raises ConfigError."""
    from storage.protocols import PROTOCOLS

    if server.ssh:
        from app.base.ssh_address import check_ssh_host

        try:
            check_ssh_host(server.ssh)
        except UsageError as error:
            raise ConfigError(f"{path}: {place}ssh: {error}") from None

    if "/" in server.address or "@" in server.address:
        raise ConfigError(f'{path}: {place}address has a user, a password or a path; write "HOST" or "HOST:PORT" alone')
    if server.protocol not in PROTOCOLS or not PROTOCOLS[server.protocol].has_login:
        raise ConfigError(f"{path}: {place}protocol is none of smb, ftp, ftps")


def _table(path: Path, name: str, tables: Mapping[str, Any]) -> dict[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {name} must be a table, written [{name}]")
    return table


def _texts(path: Path, place: str, table: Mapping[str, Any], kind: type[Any]) -> dict[str, str]:
    """The table's texts, whose names are fields of ``kind``. Raises ConfigError."""
    _check_names(path, place, table, tuple(setting.name for setting in fields(kind)))
    for name, value in table.items():
        if not isinstance(value, str):
            raise ConfigError(f'{path}: {place}{name} must be a text in quotes: {name} = "…"')
    return dict(table)


def _check_names(path: Path, place: str, table: Mapping[str, Any], known_names: tuple[str, ...]) -> None:
    """Raises ConfigError for a name that no setting has."""
    for name in table:
        if name in _ADVICE_FOR_WRONG_NAMES:
            raise ConfigError(f"{path}: {place}{name}: {_ADVICE_FOR_WRONG_NAMES[name]}")
        if name not in known_names:
            from storage.errors import did_you_mean

            advice = did_you_mean(name, known_names).rstrip() or f"known are: {', '.join(known_names)}"
            raise ConfigError(f"{path}: {place}{name} is not a setting; {advice}")
