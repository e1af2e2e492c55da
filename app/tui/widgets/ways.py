"""The lines of a form that say how the server's settings are reached, filled from what the notebook knows of it."""

from collections.abc import Mapping
from contextlib import suppress

from app.base.errors import UsageError
from app.method import known_ways
from app.tui.widgets import form_lines
from storage.notebook import Notebook

KEYS = frozenset({form_lines.SSH.key, form_lines.CONF.key})
"""Of the lines that a form may have for them."""


def host_of(values: Mapping[str, object]) -> str:
    """The server of the target that stands in the lines, in small letters; empty where none can be understood."""
    with suppress(UsageError):
        return form_lines.typed_target(str(values.get(form_lines.TARGET.key) or "")).host.lower()
    return ""


def for_empty_lines(notebook: Notebook, values: Mapping[str, str]) -> dict[str, str]:
    """What the notebook knows for those lines of the form in which nothing stands."""
    kept = known_ways.read_ways(notebook, host_of(values))
    ways = {form_lines.SSH.key: kept.ssh, form_lines.CONF.key: kept.conf}
    return {key: way for key, way in ways.items() if way and values.get(key) == ""}


def keep(notebook: Notebook, values: Mapping[str, object], *, empty_forgets: bool) -> None:
    """Keep the ways that stand in the lines; with ``empty_forgets`` an empty line takes back what was kept."""
    told: dict[str, str | None] = {}
    for key in KEYS:
        text = str(values.get(key) or "")
        is_told = key in values and (bool(text) or empty_forgets)
        told[key] = text if is_told else None

    known_ways.keep_ways(notebook, host_of(values), ssh=told[form_lines.SSH.key], conf=told[form_lines.CONF.key])
