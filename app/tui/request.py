"""The screen of what to ask of who administers a server: a text to copy and send."""

from collections.abc import Mapping
from functools import partial

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Label

from app.tui.frame.key_bar import KeyBar
from app.tui.frame.parts import Pane
from app.tui.widgets.reading import Copies
from app.tui.widgets.views import AnsiView
from forms import layout

_ABOUT = (
    "Send this to somebody who has access to the server (y copies it). With the answer in a file, F7 opens"
    " Audit, where the cursor is in the line smb.conf: type the file's name there."
)


class RequestScreen(Copies):
    """Shows the text, which ``Copies`` copies."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with Pane("sharebench · Request"):
            yield Label(Content(_ABOUT), classes="answer")
            with VerticalScroll(id="request-box"):
                yield AnsiView(id="request")
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one("#request-box").focus()
        self.query_one("#request", AnsiView).show(partial(_wrap_lines, self._text))

    def arguments_for(self, name: str) -> Mapping[str, object]:
        """The audit is of the file that was sent, and of no server."""
        return {"cursor": "conf", "target": "", "ssh": "", "conf": ""} if name == "audit" else {}

    def text_to_copy(self) -> str:
        return self._text


def _wrap_lines(text: str, width: int, _height: int) -> str:
    """Each line wrapped by itself, under its own indent."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        lines += [f"{indent}{part}" for part in layout.wrap(line.strip(), width - len(indent))] or [""]
    return "\n".join(lines)
