"""What a form begins with, from the notebook and the practice servers, and what the notebook keeps of its lines."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from app.base.targets import may_hold_password
from app.method.listed_shares import read_listed_shares
from app.recording.several import used_targets
from app.server.named_servers import named_servers
from app.tui.widgets import completion
from storage import records
from storage.errors import DamagedNotebookError
from storage.notebook import Notebook


def read_used_folders(notebook: Notebook, pointed: str) -> list[records.Target]:
    """The folders that were measured in, the newest first, before them that of the recording pointed at.

    Empty where a recording cannot be read.
    """
    with suppress(DamagedNotebookError):
        return used_targets(notebook, pointed)
    return []


def first_share(folders: Iterable[records.Target]) -> records.Target | None:
    return next((target for target in folders if target.abilities.has_share), None)


def places_to_complete_from(notebook: Notebook, targets: Iterable[records.Target]) -> tuple[str, ...]:
    """What a target is completed from: the names of the settings file, these targets, and shares listed before."""
    names = [name for name, _ in named_servers()]
    return completion.known_places(names, [*targets, *read_listed_shares(notebook)])


def practice_target(typed_target: str, practice_share: records.Target) -> str:
    """The target typed before, or the practice share: that has another port each day, so an older one is replaced."""
    ready_target = records.format_target(replace(practice_share, path=""))
    if not typed_target:
        return ready_target

    server = ready_target.partition(f":{practice_share.port}/")[0]
    is_of_another_day = typed_target.startswith(server) and not typed_target.startswith(ready_target)
    return ready_target if is_of_another_day else typed_target


def values_to_keep(typed: Mapping[str, str]) -> dict[str, records.JSONValue]:
    """The lines that the notebook may keep: what is half typed was refused by nobody yet."""
    return {key: value for key, value in typed.items() if not may_hold_password(value)}
