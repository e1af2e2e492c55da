"""The lines of a folder's list, as FTP servers write them."""

import re
from datetime import UTC, datetime

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
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")


def parse_mlsd(line: str) -> DirectoryEntry | None:
    """One MLSD line (RFC 3659 7.2); None for the folder itself and its parent."""
    facts_text, _, name = line.partition(" ")
    facts = _parse_facts(facts_text)
    kind = facts.get("type", "file").lower()
    if kind in {"cdir", "pdir"} or not name:
        return None

    size = facts.get("size", "")
    is_folder = kind == "dir"
    size_bytes = int(size) if _SIZE.fullmatch(size) and not is_folder else 0

    modified_seconds = _unix_seconds(facts.get("modify", ""))
    return DirectoryEntry(name, is_folder, size_bytes, modified_seconds)


def _unix_seconds(text: str) -> int | None:
    """Of a time such as 20260131101112.500, in UTC (RFC 3659 2.3); None for what is none."""
    match = _TIME.match(text)
    if match is None:
        return None

    year, month, day, hour, minute, second = (int(digits) for digits in match.groups())
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp())


def _parse_facts(text: str) -> dict[str, str]:
    facts = {}
    for fact in text.split(";"):
        key, _, value = fact.partition("=")
        facts[key.lower()] = value
    return facts


def parse_line(line: str) -> DirectoryEntry | None:
    """One LIST line; None for a line such as ``total 12``. Its time is dropped: LIST does not tell the time zone."""
    if match := _UNIX.fullmatch(line):
        name = match["name"].partition(" -> ")[0] if match["kind"] == "l" else match["name"]
        is_folder = match["kind"] == "d"
        return DirectoryEntry(name=name, is_folder=is_folder, size_bytes=0 if is_folder else int(match["size"]))

    if match := _DOS.fullmatch(line):
        return DirectoryEntry(name=match["name"], is_folder=bool(match["folder"]), size_bytes=int(match["size"] or 0))
    return None
