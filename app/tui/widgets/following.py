"""Screens that follow the notebook while another screen or program writes to it."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.tui.frame.base import BaseScreen

if TYPE_CHECKING:
    from storage.notebook import Notebook

_REREAD_SECONDS = 2.0


class FollowsNotebook(BaseScreen):
    """Calls ``look``, which the subclass writes, when the notebook has changed while the screen is in front.

    ``look`` reads the notebook, and keeps the state of its files in ``_seen_state``.
    """

    _seen_state: tuple[int, ...] = ()
    """The state of the notebook's files when it was read last."""

    def on_mount(self) -> None:
        self.set_interval(_REREAD_SECONDS, self._look_again)

    def _look_again(self) -> None:
        if self.is_active and file_state(self.context.notebook_path) != self._seen_state:
            self.look()

    def look(self) -> None:
        raise NotImplementedError


class FollowsRecording(FollowsNotebook):
    """A page that is drawn again where what it shows has changed.

    A subclass writes ``read_page``, called in a thread each time the notebook has changed, and ``show_page``, called
    with what that has returned if it differs from what is shown.
    """

    _shown_page: Any = None

    def read_page(self, notebook: "Notebook") -> Any:
        raise NotImplementedError

    def show_page(self, page: Any) -> None:
        raise NotImplementedError

    def look(self) -> None:
        self._seen_state = file_state(self.context.notebook_path)
        self.with_notebook(self._read_again, self._show_changed, group="page", exclusive=True)

    def _read_again(self, notebook: "Notebook") -> Any:
        from storage.recordings import UnknownReferenceError

        try:
            with notebook.snapshot():
                return self.read_page(notebook)
        except UnknownReferenceError:
            if self._shown_page is None:
                raise
            return self._shown_page  # it was deleted meanwhile

    def _show_changed(self, page: Any) -> None:
        if page != self._shown_page:
            self._shown_page = page
            self.show_page(page)


def file_state(path: Path) -> tuple[int, ...]:
    """Time and size of the notebook's file and of what was written beside it, which differ after each change."""
    state: list[int] = []
    for part in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            status = part.stat()
            if status.st_size:
                state += [status.st_mtime_ns, status.st_size]
    return tuple(state)
