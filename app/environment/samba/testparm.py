"""What testparm prints, read with its traps in mind: it exits with 0 on unknown names and lies about the log level."""

from dataclasses import dataclass, field

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
"""Beginnings of lines on standard error that say nothing, or nothing that another line does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """Which smb.conf parameters hold for the server and which for a share, as ``--show-all-parameters`` has it."""

    for_server: frozenset[str] = frozenset()
    for_share: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    """The sections of ``testparm -sv``: names in the case that they are written in, values as printed."""

    sections: dict[str, dict[str, str]] = field(default_factory=dict)

    def section(self, name: str) -> dict[str, str] | None:
        """One section by its name in any case; None where there is none."""
        wanted = name.strip().lower()
        return next((values for key, values in self.sections.items() if key.lower() == wanted), None)


def parse_dump(text: str | None) -> Dump:
    """The sections of a dump; a name never has an equals sign, a value may."""
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
    """The two lists of names in ``testparm --show-all-parameters``; None where it printed none."""
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
    """What testparm warned about, a line each, without its small talk and without repetitions."""
    lines = (" ".join(line.split()) for line in (standard_error or "").splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith(HARMLESS)))
