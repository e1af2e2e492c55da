"""What all screens of the TUI share: the paths, logins and marks of this session, and the ways between screens."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.backend import Backend
from app.clients.session_logins import Logins

if TYPE_CHECKING:
    from storage.recordings import Removed
    from storage.records import Target


@dataclass(slots=True)
class Context:
    """Given to the app when it opens; a database connection is never part of it, since it belongs to one thread."""

    # Where sharebench was started
    notebook_path: Path
    practice: "tuple[Target, ...]" = ()
    """What the practice servers serve; empty where none run."""
    theme_file: Path | None = None
    """Where the chosen theme is kept; None where it is not kept."""
    backend: Backend = field(default_factory=Backend)
    """What the screens measure and look around with."""

    # What is kept until sharebench is left
    logins: Logins = field(default_factory=Logins)
    pointed: str = ""
    """The id of the recording that the notebook's cursor points at; empty where there is none."""
    marked: dict[str, None] = field(default_factory=dict)
    """The ids of the recordings that are marked in the notebook, in the order in which they were marked."""
    removed: "list[tuple[str, list[Removed]]]" = field(default_factory=list)
    """What was deleted in the notebook and can be restored: (name to tell, what was deleted)."""
    listed_shares: "dict[Target, None]" = field(default_factory=dict)
    """The shares that servers have listed since sharebench began, to complete a target from."""
    typed: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was typed into the lines of a form, by the key under which the notebook keeps it."""

    # ``marked`` and ``removed`` are kept here, since the notebook can be open twice: over a screen that measures, too.


class ContextApp(Protocol):
    """The application as its screens know it, besides what Textual gives: what they share, the ways between them."""

    context: Context
    chosen_keys: dict[str, str]
    """The user's own keys, by the name of the command."""

    def visit(self, name: str, **arguments: object) -> None:
        """Go to a screen by its name: back to it where it is open and nothing is asked of it, else to a new one."""

    def filter_notebook(self, words: str) -> None:
        """Go to the notebook, and list the recordings that have these words."""

    def returned_to_measurement(self) -> bool:
        """Go back to the screen that measures now, which another measurement would disturb; False where none does."""
        return False

    def go_back(self) -> None:
        """Leave the screen for the one under it; from the last one to the first."""

    def tell_error(self, error: Exception) -> None:
        """The one dialog in which an error is told."""

    def tell_text(self, heading: str, text: str) -> None:
        """A dialog with a message."""
