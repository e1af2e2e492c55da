"""smbd's own counters, as ``smbstatus -P`` prints them, and what they grew by between two looks.

They run since smbd started, differ by version, and are written by each process up to a second late. They are never
flushed: on Samba 4.17 a flush damages their file.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import astuple

from storage.isolations import ProfileCounter

Profile = Mapping[str, ProfileCounter]
"""Counters by name: ``smb2_read``, ``syscall_openat``, ``statcache_hits``, ``cpu_user`` …"""

LATENESS_SECONDS = 1.3
"""So long after the last request all processes have written their counters."""
_FIELDS = {
    "count": "calls",
    "time": "microseconds",
    "idle": "idle_microseconds",
    "bytes": "moved_bytes",
    "inbytes": "in_bytes",
    "outbytes": "out_bytes",
}
"""smbd's words and ours."""
_LINE = re.compile(rf"(\w+?)_({'|'.join(_FIELDS)}):\s+(\d+)\s*$")
_LEVEL = re.compile(r"Profiling (off|count only|count and time) on pid", re.IGNORECASE)
_WORDS = {"off": "off", "count only": "count", "count and time": "on"}


def parse_profile(printed: str) -> dict[str, ProfileCounter]:
    """The counters that ``smbstatus -P`` or ``-P --json`` printed; empty where there are none."""
    try:
        document = json.loads(printed)
    except ValueError:
        return _from_text(printed)
    found: dict[str, ProfileCounter] = {}
    for section in document.values() if isinstance(document, dict) else ():
        for name, fields in section.items() if isinstance(section, dict) else ():
            if isinstance(fields, dict) and fields and fields.keys() <= _FIELDS.keys():
                found[name] = _counter(fields)
    return found


def _from_text(printed: str) -> dict[str, ProfileCounter]:
    fields: dict[str, dict[str, int]] = {}
    for line in printed.splitlines():
        match = _LINE.match(line)
        if match:
            fields.setdefault(match[1], {})[match[2]] = int(match[3])
    return {name: _counter(values) for name, values in fields.items()}


def _counter(fields: Mapping[str, object]) -> ProfileCounter:
    return ProfileCounter(**{_FIELDS[name]: value for name, value in fields.items() if isinstance(value, int)})


def profile_since(before: Profile, after: Profile) -> dict[str, ProfileCounter] | None:
    """What each counter grew by, without those that stood still; None where smbd was restarted in between."""
    found: dict[str, ProfileCounter] = {}
    for name, now in after.items():
        then = before.get(name, ProfileCounter())
        grown = [later - earlier for later, earlier in zip(astuple(now), astuple(then), strict=True)]
        if min(grown) < 0:
            return None
        if any(grown):
            found[name] = ProfileCounter(*grown)
    return found


def parse_profile_level(printed: str) -> str | None:
    """The level in what ``smbcontrol smbd profilelevel`` printed, in ``smbcontrol``'s words: off, count or on."""
    match = _LEVEL.search(printed)
    return _WORDS[match[1].lower()] if match else None
