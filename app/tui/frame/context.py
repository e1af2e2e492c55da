"""What every screen of one TUI shares: the application as they know it, and the context that it was opened with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.workflows.guide.state.backend import Backend, Logins, SystemBackend

if TYPE_CHECKING:
    from app.clients.base import Secrets
    from storage.records import Target


@dataclass(slots=True)
class Context:
    """Given to the app when it opens; a database connection is never part of it, since it belongs to one thread."""

    notebook_path: Path
    practice: "tuple[Target, ...]" = ()
    """Targets of embedded servers that are ready, offered first."""
    practice_secrets: "Mapping[str, Secrets]" = field(default_factory=dict)
    """Their secrets, by protocol."""
    keys_file: Path | None = None
    """The keys file to read; None for the one in the settings folder."""
    theme_file: Path | None = None
    """Where the theme chosen last is kept; None keeps none."""
    backend: Backend = field(default_factory=SystemBackend)
    """The outside, as the guide needs it."""
    logins: Logins = field(default_factory=Logins)
    """The secrets of this session."""
    typed: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was typed into the lines of a form in this session, by the key under which the notebook keeps it."""

    def __post_init__(self) -> None:
        if self.practice:
            from app.clients.base import Secrets  # noqa: PLC0415  the first paint does not wait for what logs in

            for target in self.practice:
                self.logins.keep(target, self.practice_secrets.get(target.protocol, Secrets()))


class ContextApp(Protocol):
    """The application as its screens know it, besides what Textual gives: what they share, the ways between them."""

    context: Context
    chosen_keys: dict[str, str]
    """The user's own keys, by the commands' names."""
    keys_path: Path

    def visit(self, name: str, **arguments: object) -> None:
        """Go to a screen by its name: back to it where it is open and nothing is asked of it, else to a new one."""

    def go_back(self) -> None:
        """Leave the screen for the one under it; from the last one to the first."""

    def tell_error(self, error: Exception) -> None:
        """The one dialog in which an error is told."""

    def tell_text(self, heading: str, text: str) -> None:
        """A dialog with a message."""
