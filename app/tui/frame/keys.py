"""The keys file: the user's own keys for commands, read from the settings folder."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from app.user_files import read_toml

_KEY = re.compile(
    r"(ctrl\+[a-z]|f([1-9]|10)|[a-z]|[A-Z]|[0-9]|up|down|left|right|enter|escape|space|delete|question_mark)"
)
"""Keys that every terminal, tmux and ssh hand on."""


class KeysFileError(ValueError):
    """The keys file cannot be used; ``str()`` of it is one line that says why."""


def allowed(keys: str) -> bool:
    """Whether each of the comma-separated keys is one that every terminal hands on."""
    return all(_KEY.fullmatch(key.strip()) for key in keys.split(","))


def read_keys(path: Path, known: Callable[[], set[str]]) -> dict[str, str]:
    """The keys of a keys file by command name; empty where there is no file. Raises KeysFileError.

    The file has a table ``[keys]`` of lines such as ``"run.pause" = "p,f8"``; F1 help shows the names.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise KeysFileError(f"cannot read {path}: {error}; the usual keys are in use") from error
    try:
        table = read_toml(text).get("keys", {})
    except ValueError as error:
        raise KeysFileError(f"{path} is not TOML: {error}; the usual keys are in use") from error
    if not isinstance(table, dict):
        raise KeysFileError(f'{path}: [keys] must be a table of lines such as "run.pause" = "p"')
    return checked_keys(table, path, known)


def checked_keys(table: Mapping[str, object], path: Path, known: Callable[[], set[str]]) -> dict[str, str]:
    """The keys of a table by command name, from the keys file or the settings file. Raises KeysFileError."""
    names = known() if table else set()
    found: dict[str, str] = {}
    for given, keys in table.items():
        name = _renamed(given)
        if name not in names:
            raise KeysFileError(f"{path}: there is no command {name!r}; F1 shows the names of the commands")
        if not isinstance(keys, str) or not allowed(keys):
            raise KeysFileError(
                f"{path}: {name} = {keys!r} is no key that every terminal hands on: use a letter, a digit, f1 to f10,"
                " an arrow, enter, escape or ctrl+letter"
            )
        found[name] = keys
    return found


def _renamed(name: str) -> str:
    """A command's name now, for the one that it had in version 0.1."""
    return "survey.restart" if name == "survey.anew" else re.sub(r"^room\.", "screen.", name)
