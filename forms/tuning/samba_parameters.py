"""A parameter of smb.conf: which versions of Samba have it, and with which default.

`smb_conf` has all of them. They are in ``data/parameters.toml``, which ``tests/release/samba_parameters.py`` makes of
what testparm of some versions prints and of the lists in Samba's source, which has all versions.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Version = tuple[int, ...]
"""The numbers of a version of Samba, such as (4, 22, 11); parameters come and go with the first two of them."""

MEASURED: Version = (4, 17)
"""What the catalogue's settings were measured on; its defaults are assumed where the version is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of smb.conf."""

    name: str
    """As the newest Samba spells it."""
    scope: str
    """``global`` or ``share``, which may stand in [global] as the default of all shares."""
    kind: str
    """``yes_no``, ``choice``, ``number``, ``octal``, ``size`` (bytes, K, M, G), ``list`` or ``text``."""
    since: Version | None = None
    """The first version that knows it by this name; None where 4.0 did."""
    until: Version | None = None
    """The last one; None where the newest that was read still knows it."""
    defaults: Mapping[Version, str]
    """By the versions that were read and have one; empty where it is the machine's, such as its name."""

    @classmethod
    def from_row(cls, name: str, row: Mapping[str, Any], versions: Sequence[Version]) -> "Parameter":
        """From its row in the file; ``versions`` are those that were read, the oldest first."""
        return cls(
            name=name,
            scope=row["scope"],
            kind=row["kind"],
            since=version_numbers(row.get("since", "")) or None,
            until=version_numbers(row.get("until", "")) or None,
            defaults=_defaults_by_version(row.get("default", {}), versions),
        )

    def is_in(self, version: Version) -> bool:
        return not self.is_too_new_for(version) and not self.is_removed_in(version)

    def is_too_new_for(self, version: Version) -> bool:
        return self.since is not None and version[:2] < self.since

    def is_removed_in(self, version: Version) -> bool:
        return self.until is not None and version[:2] > self.until

    def default_in(self, version: Version) -> str | None:
        """The default in a version; None where it is not known."""
        defaults = self.possible_defaults(version)
        return defaults[0] if len(defaults) == 1 else None

    def possible_defaults(self, version: Version) -> tuple[str, ...]:
        """The default in a version, or both that it may be: between two versions that were read it may have changed.

        Before the first and after the last of them it is taken for that of the nearest.
        """
        older = [default for read, default in self.defaults.items() if read <= version[:2]]
        newer = [default for read, default in self.defaults.items() if read >= version[:2]]
        return tuple(dict.fromkeys((*older[-1:], *newer[:1])))


def _defaults_by_version(default: str | Mapping[str, str], versions: Sequence[Version]) -> dict[Version, str]:
    """One text is that of all versions; a table names the versions with which it changed."""
    if isinstance(default, str):
        return dict.fromkeys(versions, default)

    changes = {version_numbers(version): text for version, text in default.items()}
    by_version: dict[Version, str] = {}
    current: str | None = None
    for version in versions:
        current = changes.get(version, current)
        if current is not None:
            by_version[version] = current
    return by_version


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterTable:
    """All parameters, and what else is known of names; the keys are names without blanks and in small letters."""

    versions: tuple[Version, ...]
    """Those that were read, the oldest first."""
    parameters: Mapping[str, Parameter]
    synonyms: Mapping[str, str]
    """Other names, with the name of the parameter."""
    opposites: Mapping[str, str]
    """Names that mean the inverse, with the name of the parameter."""
    removed: Mapping[str, Version]
    """Parameters that none of the versions has that were read, with the last that had them."""

    @property
    def oldest(self) -> Version:
        return self.versions[0]

    @property
    def newest(self) -> Version:
        return self.versions[-1]


def version_numbers(text: str) -> Version:
    """The numbers that a version begins with, to compare; empty where it begins with none."""
    match = re.match(r"(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def short_version(version: Version) -> str:
    """Its first two numbers, ``4.22``."""
    return ".".join(map(str, version[:2]))
