"""Lines of an FTP folder listing: MLSD, which is standard, and LIST as Unix and Windows servers write it."""

import re

from app.clients.base import DirectoryEntry

_UNIX = re.compile(
    r"(?P<kind>[-dlbcps])[-rwxsStTl+.@]{9,10}\s+\d+\s+\S+\s+(?:\S+\s+)??(?P<size>[0-9]{1,18})\s+"
    r"(?P<date>[A-Z][a-z]{2}\s+\d{1,2}\s+(?:\d{4}|\d{1,2}:\d{2}))\s(?P<name>.+)"
)
_DOS = re.compile(
    r"\d{2}-\d{2}-\d{2,4}\s+\d{1,2}:\d{2}(?:[AP]M)?\s+(?:(?P<folder><DIR>)|(?P<size>[0-9]{1,18}))\s+(?P<name>.+)",
    re.IGNORECASE,
)
_SIZE = re.compile(r"[0-9]{1,18}")
_MODIFIED = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")


def parse_mlsd(line: str) -> DirectoryEntry | None:
    """The entry of one MLSD line (RFC 3659 7.2); None for the folder itself and its parent."""
    raw, _, name = line.partition(" ")
    facts = {key.lower(): value for key, _, value in (part.partition("=") for part in raw.split(";"))}
    kind = facts.get("type", "file").lower()
    if kind in {"cdir", "pdir"} or not name:
        return None
    modified = _MODIFIED.match(facts.get("modify", ""))
    size = facts.get("size", "")
    is_folder = kind == "dir"
    return DirectoryEntry(
        name=name,
        is_folder=is_folder,
        size_bytes=int(size) if _SIZE.fullmatch(size) and not is_folder else 0,
        modified_at="{}-{}-{}T{}:{}:{}Z".format(*modified.groups()) if modified else "",
    )


def parse_line(line: str) -> DirectoryEntry | None:
    """The entry of one LIST line; None for a line that is none (``total 12``).

    Its time is left out: LIST gives it in a time zone that the server does not tell.
    """
    if match := _UNIX.fullmatch(line):
        name = match["name"]
        if match["kind"] == "l":
            name = name.partition(" -> ")[0]
        is_folder = match["kind"] == "d"
        return DirectoryEntry(name=name, is_folder=is_folder, size_bytes=0 if is_folder else int(match["size"]))
    if match := _DOS.fullmatch(line):
        return DirectoryEntry(name=match["name"], is_folder=bool(match["folder"]), size_bytes=int(match["size"] or 0))
    return None
