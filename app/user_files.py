"""Where this user's own files are: the settings, the keys, what was chosen last."""

from pathlib import Path
from typing import Any

from platformdirs import user_config_path, user_state_path


def config_file() -> Path:
    """Where the settings are looked for."""
    return user_config_path("sharebench") / "config.toml"


def keys_file() -> Path:
    """Where the user's own keys are looked for."""
    return user_config_path("sharebench") / "keys.toml"


def theme_file() -> Path:
    """Where the theme chosen last is kept."""
    return user_state_path("sharebench") / "theme"


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML file. Raises ValueError, whose text says where it is wrong."""
    import tomllib  # noqa: PLC0415  the first paint does not wait for it

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
