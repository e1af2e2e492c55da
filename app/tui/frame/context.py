"""What every screen of one TUI shares: the notebook's path, the practice targets and the passwords in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.clients.base import Secrets
from app.tui.guide.state.backend import Backend, Logins, SystemBackend
from storage.records import Target


@dataclass(slots=True)
class Context:
    """Given to the app when it opens; a database connection is never part of it, since it belongs to one thread."""

    notebook_path: Path
    practice: tuple[Target, ...] = ()
    """Targets of embedded servers that are ready, offered first."""
    practice_secrets: Mapping[str, Secrets] = field(default_factory=dict)
    """Their secrets, by protocol."""
    keys_file: Path | None = None
    """The keys file to read; None for the one in the settings folder."""
    world: Backend = field(default_factory=SystemBackend)
    """The outside, as the guide needs it."""
    logins: Logins = field(default_factory=Logins)
    """The secrets of this session."""

    def __post_init__(self) -> None:
        for target in self.practice:
            self.logins.keep(target, self.practice_secrets.get(target.protocol, Secrets()))
