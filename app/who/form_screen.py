"""The form that asks for the server whose sessions are to be looked at."""

from collections.abc import Mapping

from app.server.named_servers import server_ways
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from app.who import spec
from app.who.screen import WhoLookScreen


class WhoScreen(LinesScreen):
    """The form: `parse` makes the request of its lines, and `begin` opens the screen that looks; nobody logs in."""

    NAME = "who"
    HEADING = "Who"
    BUTTON = "Look"
    START = "Look at the sessions of the server that the lines name."
    STORED = "looks"
    LINES = (
        form_lines.FormLine(
            "target",
            "Server",
            "HOST, smb://HOST:PORT, or @NAME",
            about="Server: HOST, smb://HOST:PORT, @NAME; Right completes.",
        ),
        form_lines.FormLine("seconds", "Seconds", "length of each look", f"{spec.USUAL_SECONDS:g}"),
        form_lines.SSH,
        form_lines.CONF,
    )

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> spec.WhoRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        target = form_lines.typed_target(values["target"], "which server? type HOST, or smb://HOST")
        ways = server_ways(target, values["ssh"], values["conf"])
        request = spec.WhoRequest(
            target=target,
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
            seconds=form_lines.typed_number("seconds", values["seconds"], spec.LEAST_SECONDS, spec.MOST_SECONDS),
        )
        spec.check_request(request)
        return request

    def begin(self, request: spec.WhoRequest) -> None:
        self.app.push_screen(WhoLookScreen(request))
