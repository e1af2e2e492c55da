"""The VFS modules of Samba, their options, and the operations that full_audit can name, by version of Samba.

They are in ``data/modules.toml``, which was read from Samba's source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from forms.tuning.samba_parameters import MEASURED, Version, version_numbers
from forms.tuning.smb_conf import toml_data


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedName:
    """The name of a module or of an operation."""

    name: str
    since: Version | None
    """The first version that has it; None where 4.0 had it."""
    until: Version | None
    """The last one; None where the newest that was read has it."""
    options: tuple[str, ...] = ()
    """Of a module: what the names of its options begin with, before the colon."""
    now: tuple[str, ...] = ()
    """Of an operation: what took its place."""

    @classmethod
    def from_row(cls, name: str, row: Mapping[str, Any]) -> "VersionedName":
        return cls(
            name=name,
            since=version_numbers(row.get("since", "")) or None,
            until=version_numbers(row.get("until", "")) or None,
            options=tuple(row.get("options", (name,))),
            now=tuple(row.get("now", ())),
        )

    def is_in(self, version: Version | None) -> bool:
        """Whether a version has it; of an unknown one, whether one may that is as new as `MEASURED`."""
        if version is None:
            return self.until is None or self.until >= MEASURED
        is_too_new = self.since is not None and version[:2] < self.since
        is_removed = self.until is not None and version[:2] > self.until
        return not is_too_new and not is_removed


@cache
def modules() -> Mapping[str, VersionedName]:
    return _by_name("modules")


@cache
def operations() -> Mapping[str, VersionedName]:
    return _by_name("operations")


def _by_name(table: str) -> Mapping[str, VersionedName]:
    rows = toml_data("modules.toml")[table]
    return {name: VersionedName.from_row(name, row) for name, row in rows.items()}


@cache
def modules_with_options(prefix: str) -> frozenset[str]:
    """The modules whose options begin with that word; empty where none of Samba's own does."""
    key = prefix.strip().lower()
    return frozenset(module.name for module in modules().values() if key in module.options)


def known_options(prefix: str) -> tuple[str, ...]:
    """The names that stand behind that word and a colon; empty where they are not known."""
    return tuple(toml_data("modules.toml")["names"].get(prefix.strip().lower(), ()))


def option_values(option: str) -> tuple[str, ...]:
    """The values of an option with a choice of some, which is written without blanks around its colon; else empty."""
    return tuple(toml_data("modules.toml")["values"].get(option, ()))
