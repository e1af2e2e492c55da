"""How a file is called on its server, where the target's name is only written otherwise."""

from contextlib import suppress
from dataclasses import replace
from unicodedata import combining
from urllib.parse import quote

from app.base.errors import MeasurementError
from app.base.names_alike import name_alike
from app.clients.base import Connection
from storage.records import Target, format_target


def as_it_is_written(connection: Connection, target: Target) -> str:
    """A sentence with the target as its folders and its file are written there; empty where none is alike."""
    is_absolute = target.path.startswith("/")
    folder = "/" if is_absolute else ""
    for name in target.path.strip("/").split("/"):
        names: list[str] = []
        with suppress(MeasurementError):
            names = [entry.name for entry in connection.list(folder)]
        written_name = name if name in names else name_alike(name, names)
        if not written_name:
            return ""
        folder = f"{folder.rstrip('/')}/{written_name}" if folder else written_name

    if folder == target.path.rstrip("/"):
        return ""
    url = with_marks_escaped(format_target(replace(target, path=folder)))
    return f"its folder has that name written otherwise: {url}"


def with_marks_escaped(url: str) -> str:
    """A URL with its accents apart (Unicode NFD) as escapes, since it would look like the one with them composed."""
    return "".join(quote(character) if combining(character) else character for character in url)
