"""Parses the output of testparm, smbstatus and smbcontrol."""

import json
import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

from storage.isolations import ProfileCounter

HARMLESS = (
    "Load smb config files from",
    "Loaded services file OK",
    "Weak crypto is ",
    "Server role:",
    "rlimit_max:",
    "Registered MSG_",
    "Ignoring unknown parameter",
    "Ignoring badly formed line",
    "params.c:",
    "Processing section",
    "Error loading services.",
)
"""Prefixes of lines on stderr that are not warnings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """Global and share parameters of smb.conf, from ``--show-all-parameters``."""

    for_server: frozenset[str] = frozenset()
    for_share: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """Sections of ``testparm -sv``; names in original case, values as printed."""

    sections: dict[str, dict[str, str]] = field(default_factory=dict)

    def section(self, name: str) -> dict[str, str] | None:
        wanted = name.strip().lower()
        return next((values for key, values in self.sections.items() if key.lower() == wanted), None)


def parse_dump(text: str | None) -> Dump:
    """A name never contains an equals sign, a value may."""
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in (text or "").splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]") and not line.startswith(("\t", " ")):
            current = sections.setdefault(stripped[1:-1], {})
        elif "=" in stripped and not stripped.startswith("#"):
            name, _, value = stripped.partition("=")
            current[name.strip()] = value.strip()
    return Dump(sections=sections)


def parse_scopes(text: str | None) -> Scopes | None:
    """None if testparm printed no list."""
    found: dict[str, set[str]] = {"[local]": set(), "[global]": set()}
    current: set[str] = set()
    for line in (text or "").splitlines():
        if line in found:
            current = found[line]
        elif "=" in line:
            current.add(line.partition("=")[0].strip())
    if not all(found.values()):
        return None
    return Scopes(for_server=frozenset(found["[global]"]), for_share=frozenset(found["[local]"]))


def warnings(standard_error: str | None) -> list[str]:
    """Warnings of testparm without noise and duplicates."""
    lines = (" ".join(line.split()) for line in (standard_error or "").splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith(HARMLESS)))


Profile = Mapping[str, ProfileCounter]
"""Counters by name: ``smb2_read``, ``syscall_openat``, ``statcache_hits``, ``cpu_user`` …"""

LATENESS_SECONDS = 1.3
"""All smbd processes have written their counters this long after the last request."""
_FIELDS = {
    "count": "calls",
    "time": "microseconds",
    "idle": "idle_microseconds",
    "bytes": "moved_bytes",
    "inbytes": "in_bytes",
    "outbytes": "out_bytes",
}
_LINE = re.compile(rf"(\w+?)_({'|'.join(_FIELDS)}):\s+(\d+)\s*$")
_LEVEL = re.compile(r"Profiling (off|count only|count and time) on pid (\d+)", re.IGNORECASE)
_WORDS = {"off": "off", "count only": "count", "count and time": "on"}


def parse_profile(printed: str) -> dict[str, ProfileCounter]:
    """From ``smbstatus -P``, with or without ``--json``; empty without counters."""
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
    """Increases, without zeros; None if smbd was restarted in between."""
    found: dict[str, ProfileCounter] = {}
    for name, now in after.items():
        then = before.get(name, ProfileCounter())
        grown = [later - earlier for later, earlier in zip(astuple(now), astuple(then), strict=True)]
        if min(grown) < 0:
            return None
        if any(grown):
            found[name] = ProfileCounter(*grown)
    return found


def parse_profile_level(printed: str) -> tuple[str, int] | None:
    """From ``smbcontrol smbd profilelevel``: off, count or on; and the process that starts all others."""
    match = _LEVEL.search(printed)
    return (_WORDS[match[1].lower()], int(match[2])) if match else None
