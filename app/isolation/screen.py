"""The form of an isolation on the screen: the lines that say what is to be measured."""

from collections.abc import Mapping
from functools import partial

from app.base.errors import UsageError
from app.clients.base import Secrets
from app.isolation import script
from app.isolation import spec as isolation_spec
from app.isolation.run_screen import IsolationRunScreen
from app.server.named_servers import server_ways
from app.server.routes import is_own_address
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from forms import wording

_ABOUT_LEAVING_OUT = (
    "Leave out: what these operations cost, measured with and without them. Names with a comma between them, of"
    f" {', '.join(script.CAN_BE_LEFT_OUT)}."
)
_ABOUT_NETWORK_ALONE = (
    "Network alone: measures the network without Samba. For this tbench_srv runs on the server and answers anybody on"
    " port 7003 meanwhile, so you allow it by typing the server's name. On this machine it is measured anyway."
)


def _parse_rounds(typed: Mapping[str, str]) -> int:
    return form_lines.typed_count("Rounds", typed["rounds"], isolation_spec.MOST_ROUNDS)


def _parse_seconds(typed: Mapping[str, str]) -> int:
    text = typed.get("seconds", "")
    seconds = (
        form_lines.typed_count("Seconds", text, isolation_spec.MOST_SECONDS) if text else isolation_spec.DEFAULT_SECONDS
    )
    if seconds < isolation_spec.LEAST_SECONDS:
        raise UsageError(f"Seconds: a run of dbench takes {isolation_spec.LEAST_SECONDS} seconds or more")
    return seconds


class IsolationScreen(LinesScreen):
    """The form of an isolation; `LinesScreen` says which class attribute is for what, and when a method is called."""

    NAME = "isolation"
    HEADING = "Isolation"
    BUTTON = "Isolate"
    STORED = "isolations"
    LINES = (
        form_lines.TARGET,
        form_lines.FormLine(
            "clients",
            "Clients",
            "how many at once, such as 1,4,8",
            isolation_spec.clients_text(isolation_spec.DEFAULT_CLIENTS_ON_SCREEN),
        ),
        form_lines.FormLine("rounds", "Rounds", "how often each is measured", str(isolation_spec.DEFAULT_ROUNDS)),
        form_lines.FormLine("seconds", "Seconds", f"of each run; empty: {isolation_spec.DEFAULT_SECONDS}"),
        form_lines.FormLine(
            "without", "Leave out", "operations, such as find_first; empty: none", about=_ABOUT_LEAVING_OUT
        ),
        form_lines.SSH,
        form_lines.CONF,
        form_lines.FormLine(
            "expose",
            "Network alone",
            "empty: no; for a server elsewhere type its name to allow it",
            about=_ABOUT_NETWORK_ALONE,
        ),
    )
    RUN = IsolationRunScreen

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        clients = isolation_spec.parse_clients(typed["clients"])
        rounds = _parse_rounds(typed)
        run_seconds = _parse_seconds(typed)
        host = form_lines.typed_target(typed["target"]).host
        is_alone = not typed.get("ssh") and host != "localhost" and not is_own_address(host)
        seconds = isolation_spec.expected_seconds(clients, rounds, run_seconds, is_server_alone=is_alone)

        warnings = ""
        if rounds < isolation_spec.DEFAULT_ROUNDS:
            warnings += f" Fewer than {isolation_spec.DEFAULT_ROUNDS} rounds rarely give a verdict."
        if run_seconds < isolation_spec.DEFAULT_SECONDS:
            warnings += f" Runs under {isolation_spec.DEFAULT_SECONDS} s may fail."
        measured = "the server alone, as there is no ssh to it" if is_alone else "server, disk and network, interleaved"
        about = f"Measures {measured}: about {wording.duration(seconds)}."
        return f"{about} It leaves no file.{warnings}"

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> isolation_spec.IsolationRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        target = form_lines.typed_target(values["target"])
        if not target.abilities.has_share or not target.share:
            raise UsageError("isolate needs a share: smb://HOST/SHARE, or smb://HOST/SHARE/FOLDER")

        exposed_host = values["expose"]
        if exposed_host not in {"", target.host}:
            raise UsageError(
                f"Network alone: found {exposed_host!r}, the server is {target.host}: type that, or nothing"
            )

        left_out = script.operations_named(values["without"]) if values["without"] else ()
        whole_script = script.load_script()
        whole_script.without(left_out)  # refuses what the script does not have

        ways = server_ways(target, values["ssh"], values["conf"])
        return isolation_spec.IsolationRequest(
            target=target,
            secrets=Secrets(),
            whole_script=whole_script,
            without=tuple(operation.value for operation in left_out),
            clients=isolation_spec.parse_clients(values["clients"]),
            rounds=_parse_rounds(values),
            seconds=_parse_seconds(values),
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
            expose_tbench=bool(exposed_host),
        )

    def begin(self, request: isolation_spec.IsolationRequest) -> None:
        """Say what comes and ask, as every form does that works on a server for minutes."""

        def begin_after_yes(_answer: bool) -> None:
            super(IsolationScreen, self).begin(request)

        def ask(amount: str) -> None:
            self.ask(ConfirmDialog("Begin the isolation?", amount, yes="Begin", no="Back"), begin_after_yes)

        self.in_background(partial(isolation_spec.amount_text, request), ask)
