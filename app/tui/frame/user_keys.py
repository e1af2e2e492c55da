"""The user's own keys: a table of the settings file, and of ``keys.toml``, where they were before."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from app.base.user_files import config_file, read_toml

_KEY = re.compile(
    r"(ctrl\+[a-z]|f([1-9]|10)|[a-z]|[A-Z]|[0-9]|up|down|left|right|enter|escape|space|delete|slash|question_mark)"
)
"""Keys that every terminal, tmux and ssh hand on."""

_RENAMED_COMMANDS = {  # of earlier versions
    "survey.anew": "survey.restart",
    "ladder.revert": "experiment.restore",
    "run.go-on": "run.resume",
    "run.back": "recording.cancel",
    "trial.back": "recording.cancel",
    "stored.go-on": "stored.resume",
}
_RENAMED_GROUPS = {"ladder": "experiment", "room": "screen"}


class KeysError(ValueError):
    """The user's own keys cannot be used; ``str()`` of it is one line that says why."""


def are_allowed(keys: str) -> bool:
    return all(_KEY.fullmatch(key.strip()) for key in keys.split(","))


def check_keys(table: Mapping[str, object], path: Path, command_names: Callable[[], set[str]]) -> dict[str, str]:
    """The keys of the settings file's table, by command name; F1 help shows the names. Raises KeysError."""
    if not table:
        return {}

    names = command_names()
    chosen_keys: dict[str, str] = {}
    for written_name, keys in table.items():
        name = _current_name(written_name)
        if name not in names:
            raise KeysError(f"{path}: there is no command {name!r}; F1 shows the names of the commands")
        if not isinstance(keys, str) or not are_allowed(keys):
            raise KeysError(
                f"{path}: {name} is no key that every terminal hands on: use a letter, a digit, f1 to f10,"
                " an arrow, enter, escape or ctrl+letter"
            )
        chosen_keys[name] = keys
    return chosen_keys


def _current_name(name: str) -> str:
    if name in _RENAMED_COMMANDS:
        return _RENAMED_COMMANDS[name]

    group, dot, command = name.partition(".")
    return f"{_RENAMED_GROUPS.get(group, group)}{dot}{command}" if dot else name


def read_user_keys(command_names: Callable[[], set[str]]) -> dict[str, str]:
    """The keys that the user chose, by command name. Raises KeysError, UsageError."""
    chosen_keys: dict[str, str] = {}

    settings_path = config_file()
    if settings_path.exists():
        from app.base.config import config

        chosen_keys = check_keys(config().keys, settings_path, command_names)

    keys_path = settings_path.with_name("keys.toml")
    if keys_path.exists():
        chosen_keys |= check_keys(_read_keys_table(keys_path), keys_path, command_names)
    return chosen_keys


def _read_keys_table(path: Path) -> Mapping[str, object]:
    try:
        table = read_toml(path.read_text(encoding="utf-8")).get("keys", {})
    except (OSError, ValueError) as error:
        raise KeysError(f"cannot read {path}: {error}; the usual keys are in use") from error

    if not isinstance(table, dict):
        raise KeysError(f'{path}: [keys] must be a table of lines such as "run.pause" = "p"')
    return table
