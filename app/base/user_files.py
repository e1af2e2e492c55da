"""Paths of the user's files: settings, last theme."""

from pathlib import Path
from typing import Any

from platformdirs import user_config_path, user_state_path


def config_file() -> Path:
    return user_config_path("sharebench") / "config.toml"


def theme_file() -> Path:
    return user_state_path("sharebench") / "theme"


def read_toml(text: str) -> dict[str, Any]:
    """Raises ValueError with the place of the error."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
