"""Reads what testparm prints of an smb.conf: its sections, the scopes of all parameters, its warnings."""

from dataclasses import dataclass

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
    """The names of all parameters that a Samba knows, from ``testparm --show-all-parameters``; empty where unknown."""

    for_server: frozenset[str] = frozenset()
    """Those that hold for the whole server, and count in [global] alone."""
    for_share: frozenset[str] = frozenset()
    """Those that a share may set for itself."""


def parse_dump(text: str | None) -> dict[str, dict[str, str]]:
    """Sections of ``testparm -sv`` by name in lower case; a parameter never contains an equals sign, a value may."""
    sections: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in (text or "").splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]") and not line.startswith(("\t", " ")):
            current = sections.setdefault(stripped[1:-1].lower(), {})
        elif "=" in stripped and not stripped.startswith("#"):
            name, _, value = stripped.partition("=")
            current[name.strip()] = value.strip()
    return sections


def parse_scopes(text: str | None) -> Scopes | None:
    """From ``testparm --show-all-parameters``; None where either kind is missing."""
    names: dict[str, set[str]] = {"[local]": set(), "[global]": set()}
    current: set[str] = set()
    for line in (text or "").splitlines():
        if line in names:
            current = names[line]
        elif "=" in line:
            current.add(line.partition("=")[0].strip())

    if not all(names.values()):
        return None
    return Scopes(for_server=frozenset(names["[global]"]), for_share=frozenset(names["[local]"]))


def warnings(standard_error: str | None) -> list[str]:
    """The warnings in what testparm printed on stderr, each once."""
    lines = (" ".join(line.split()) for line in (standard_error or "").splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith(HARMLESS)))
