"""The form of a quick test on the screen: the folder to measure, and what else may be asked for."""

from collections.abc import Mapping

from app.base import units
from app.base.errors import UsageError
from app.quick import spec
from app.quick.run_screen import QuickRunScreen
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from forms.wording import typed_size
from storage.plan import Imitated, Settings
from storage.quick import records as quick_records

_ABOUT_LIKE = f"Speak SMB as this client: {', '.join(Imitated)}; empty: in sharebench's own ways."
_ABOUT_SIZE = "The largest size of the file; on a slow path it ends after 15 s, with 64 MiB at least. It is removed."


class QuickScreen(LinesScreen):
    """The form of a quick test; `LinesScreen` says which class attribute is for what, and when a method is called."""

    NAME = "quick"
    HEADING = "Quick test"
    BUTTON = "Measure"
    STORED = "quick tests"
    LINES = (
        form_lines.FormLine(
            "target",
            "Target",
            "[USER@]HOST/SHARE, smb://USER@HOST/SHARE, or file:///FOLDER",
            about="A folder to make the file in: [USER@]HOST/SHARE, smb://…, file:///FOLDER, @NAME; Right completes.",
        ),
        form_lines.FormLine(
            "size", "File size", "1G is usual; 64M at least", typed_size(quick_records.USUAL_FILE_BYTES), _ABOUT_SIZE
        ),
        form_lines.LINK,
        form_lines.FormLine("like", "As client", "empty: as it is; else such as windows-11-24h2", about=_ABOUT_LIKE),
        form_lines.FormLine("label", "Label", "may stay empty; what it is called in the notebook"),
    )
    RUN = QuickRunScreen

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> spec.QuickRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        target = form_lines.typed_target(values["target"])
        if values["like"] not in {"", *Imitated}:
            raise UsageError(f"there is no client {values['like']!r} to imitate: {', '.join(Imitated)}")

        like = Imitated(values["like"]) if values["like"] else None
        size = values["size"]
        request = spec.QuickRequest(
            target=target,
            settings=Settings(like=like),
            size_bytes=units.parse_size(size) if size else quick_records.USUAL_FILE_BYTES,
            link_bits_per_second=form_lines.typed_link(values["link"]),
            label=values["label"],
        )
        spec.check_request(request)
        return request
