"""A load of the notebook, to be read, labelled, exported, or gone on with where it stopped."""

from textual.content import Content

from app.clients.base import Secrets
from app.logins import same_login
from app.tui.frame.dialogs import MessageDialog
from app.tui.load.fields import MEMORY_KEY, request_to_resume
from app.tui.load.run_screen import LoadRunScreen
from app.tui.widgets.stored import StoredScreen, line_of
from app.tui.widgets.toned import joined
from app.workflows.load_forms import load_form
from forms import wording
from forms.load.headline import load_headline
from forms.report import Report
from forms.series.summary import GAP
from storage.loads.records import Load
from storage.notebook import Notebook
from storage.records import JSONValue, SeriesStatus, Target


def load_line(load: Load) -> str:
    """What tells a load from the others of a list."""
    users = ",".join(str(point.users) for point in load.points)
    what = f"{f'{users} users' if users else 'no point'}  {wording.short_place(load.targets[0])}"
    return line_of(load.created_at, what, load.label, load.status, running=load.running)


class StoredLoadScreen(StoredScreen[Load]):
    """The form of one load."""

    ABOUT = "A load from the notebook. Up and down scroll; one that stopped early can be gone on with."

    def __init__(self, load_id: str) -> None:
        super().__init__("Load", load_id)
        self._typed: dict[str, JSONValue] = {}
        """The lines of the last load, for the way to the server."""

    def find(self, notebook: Notebook) -> Load:
        self._typed = notebook.remembered(MEMORY_KEY) or {}
        return notebook.load(self.reference)

    def lay_out(self, notebook: Notebook, found: Load) -> Report:
        return load_form(notebook, found)

    def headline(self, found: Load) -> Content:
        return joined(load_headline(found), GAP)

    def label_of(self, found: Load) -> str:
        return found.label

    def set_label(self, notebook: Notebook, found: Load, label: str) -> None:
        notebook.describe(found.id, label=label)

    def target_to_go_on(self, found: Load) -> Target | None:
        over = found.status is SeriesStatus.COMPLETE or found.imported_at is not None or found.running
        return None if over else found.targets[0]

    def action_go_on(self) -> None:
        found = self.found
        if found is not None and not all(same_login(target, found.targets[0]) for target in found.targets):
            why = "Its targets have several users or protocols, and a password typed here would go to all of them."
            how = f"Go on with load {found.id} on the command line, as it was begun there."
            self.app.push_screen(MessageDialog("Several logins", f"{why} {how}"))
            return
        super().action_go_on()

    def go_on(self, found: Load, secrets: Secrets) -> None:
        typed = self._typed | self.context.typed.get(MEMORY_KEY, {})
        self.app.push_screen(LoadRunScreen(request_to_resume(found, secrets, typed), found))
