"""The ways to a server: the ssh host and the smb.conf by which its settings are read, kept in the notebook.

They are kept for each server. Every form with a line for them shares them, and so does the guide.
"""

from collections.abc import Mapping
from contextlib import suppress

from app.base.errors import UsageError
from app.server.named_servers import key_of_ways
from app.tui.widgets import form_lines
from storage.notebook import Notebook
from storage.records import JSONValue

_LINES = (form_lines.SSH, form_lines.CONF)
_KEY_WITHOUT_SERVER = "ways"
"""Of what is typed while no target can be understood."""


def key_of(values: Mapping[str, JSONValue]) -> str:
    """The key under which the notebook keeps the ways to the server of the target that stands in the lines."""
    with suppress(UsageError):
        target = form_lines.typed_target(str(values.get(form_lines.TARGET.key) or ""))
        return key_of_ways(target.host)
    return _KEY_WITHOUT_SERVER


def for_empty_lines(notebook: Notebook, values: Mapping[str, str]) -> dict[str, str]:
    """What the notebook keeps for those lines of the form in which nothing stands."""
    kept = notebook.remembered(key_of(values)) or {}
    return {key: str(way) for key, way in kept.items() if values.get(key) == ""}


def keep(notebook: Notebook, values: Mapping[str, JSONValue], *, empty_forgets: bool) -> None:
    """Keep the ways that stand in the lines; with ``empty_forgets`` an empty line takes back what was kept."""
    key = key_of(values)
    kept = dict(notebook.remembered(key) or {})
    for line in _LINES:
        if line.key in values and (empty_forgets or values[line.key]):
            kept[line.key] = values[line.key]
    notebook.remember(key, kept)
