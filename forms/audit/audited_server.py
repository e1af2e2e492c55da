"""What an audit knows of a server: its files, its facts, and what its Samba knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from forms.tuning import conf_file, fact_names, samba_parameters
from storage.records import FactValue


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedServer:
    """What is known of a server; empty fields judge nothing."""

    conf: conf_file.SmbConfFile | None = None
    path: str = ""
    """Of its smb.conf."""
    is_copy: bool = False
    """Whether only a copy of the file is here: what it names and is not here may be there."""
    modes: Mapping[str, int] = field(default_factory=dict)
    """The modes of its configuration files, by path."""
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    names_in_shares: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The names of files in a share, by its name in small letters."""
    missing_folders: frozenset[str] = frozenset()
    """Paths of shares that are not there."""

    # What its Samba knows
    global_names: frozenset[str] = frozenset()
    """Parameters for the whole server."""
    share_names: frozenset[str] = frozenset()
    """Parameters for a share."""
    modules: frozenset[str] = frozenset()
    """Modules that can be named in vfs objects."""

    @property
    def samba_version(self) -> samba_parameters.Version | None:
        """None if unknown."""
        return fact_names.samba_version(self.facts)

    def names_in(self, section: str) -> list[str]:
        """The files in the share of that section; for [global] in all shares."""
        if section != "global":
            return list(self.names_in_shares.get(section, ()))
        return list(chain.from_iterable(self.names_in_shares.values()))
