"""The form of a survey: what is typed there is checked, planned and handed to the screen that measures."""

from collections.abc import Mapping, Sequence
from functools import partial

from app.base.errors import UsageError
from app.base.targets import typed_user
from app.base.units import parse_size
from app.recording.spec import SeriesSpec
from app.survey import choices as survey_choices
from app.survey import planning, stations
from app.survey.run_screen import SurveyRunScreen
from app.tui.frame import commands, dialogs
from app.tui.widgets import form_lines, logins
from app.tui.widgets.lines_screen import LinesScreen
from storage import records
from storage.notebook import Notebook
from storage.plan import RunCounts
from storage.recommended import DEFAULT_RUNS

_MOST_RUNS = 1000


class SurveyScreen(LinesScreen):
    """The form; LinesScreen says which method is called when.

    F9 plans the survey (``_begin``), asks whether an interrupted one is resumed (``_take_plan``), and opens the screen
    that measures it (``_measure``). A password that is not known yet is asked for first; then it begins again.
    """

    KEYS = commands.keys("survey.restart")
    NAME = "survey"
    HEADING = BUTTON = "Survey"
    START = "Measure what the lines say, or resume an interrupted survey of the same."
    LINES = (
        form_lines.FormLine("hosts", "Hosts", "names or addresses; on the server, its loopback is measured too"),
        form_lines.FormLine("smb", "SMB share", "SHARE or SHARE/FOLDER that can be written; empty: no SMB"),
        form_lines.FormLine("ftp", "FTP folder", "such as / or /upload; empty: no FTP"),
        form_lines.FormLine("user", "User", "USER or DOMAIN;USER; empty: guest and anonymous"),
        form_lines.FormLine("ftp_user", "FTP user", "where it is another one; anonymous: no user"),
        form_lines.FormLine("runs", "Runs", "measured runs of each series", str(DEFAULT_RUNS)),
        form_lines.FormLine("size", "Size", "such as 512M or 1G; empty: some seconds at link speed"),
        form_lines.FormLine("ports", "Ports", "such as smb 4450, ftp 2121, iperf3 5301; empty: the usual ones"),
    )

    @classmethod
    def first_values(
        cls, remembered: Mapping[str, records.JSONValue] | None, practice: Sequence[records.Target]
    ) -> dict[str, str]:
        """What the lines hold at first: what was typed last, or the servers of ``sharebench demo``, if they run."""
        if not practice:
            return form_lines.remembered_values(cls.LINES, remembered)

        ports = {target.protocol: target.port for target in practice if target.abilities.in_survey}
        share_target = next((target for target in practice if target.abilities.has_share), None)
        return form_lines.remembered_values(cls.LINES) | {
            "hosts": practice[0].host,
            "smb": (share_target.share or "") if share_target else "",
            "ftp": "/" if "ftp" in ports else "",
            "user": next((target.user for target in practice if target.user), ""),
            "size": "64M",
            "ports": ", ".join(f"{protocol} {port}" for protocol, port in ports.items() if port),
        }

    @staticmethod
    def values_of(target: records.Target) -> dict[str, str]:
        """The lines that a target fills in."""
        share = "/".join(filter(None, (target.share, target.path)))
        port = f"smb {target.port}" if target.port else ""
        return {"hosts": target.host, "smb": share, "user": target.user or "", "ports": port}

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> survey_choices.SurveyChoices:
        """What the lines ask for. Raises UsageError."""
        values = form_lines.typed_values(cls.LINES, typed)
        hosts = tuple(values["hosts"].replace(",", " ").split())
        if not hosts:
            raise UsageError("which server? type its name or address, or 127.0.0.1 on the server itself")

        ports = survey_choices.parse_ports(values["ports"])
        domain, user = typed_user(values["user"])
        return survey_choices.SurveyChoices(
            hosts=hosts,
            smb=values["smb"] or None,
            ftp=values["ftp"] or None,
            ports=ports,
            user=user,
            domain=domain,
            ftp_user=values["ftp_user"] or None,
            spec=SeriesSpec(
                counts=RunCounts(
                    runs=form_lines.typed_count("Runs", values["runs"], _MOST_RUNS),
                    size_bytes=parse_size(values["size"]) if values["size"] else None,
                )
            ),
        )

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        """What is shown below the lines: what would be measured, and how long that takes. Raises UsageError."""
        time_needed = planning.usual_time_text(cls.parse(typed))
        return f"Measures SMB, FTP and bare TCP, both ways, interleaved: {time_needed}. Every file made is removed."

    def action_start(self) -> None:
        self._begin(is_new=False)

    def action_restart(self) -> None:
        self._begin(is_new=True)

    def _begin(self, *, is_new: bool) -> None:
        """Plan and measure the survey, once the password of each user is known.

        An incomplete one of the same is resumed, unless a new one is asked for.
        """
        try:
            choices = self.parse(self.typed_texts())
            targets = stations.survey_targets(choices)
        except UsageError as error:
            self.work_failed(error)
            return

        def begin_again() -> None:
            self._begin(is_new=is_new)

        # One password is asked for at a time; once it is known, all of this begins again.
        if logins.ask_missing_password(self, targets, begin_again):
            return
        log_in = logins.known_login(self)

        def plan(notebook: Notebook) -> planning.SurveyRound:
            return planning.plan_round(choices, notebook, log_in, again=is_new)

        self.remember()
        # Until the plan is there, or failed, so that it is not begun twice.
        self.query_one("#start").disabled = True
        self.with_notebook(plan, partial(self._take_plan, targets), group="plan", exclusive=True)

    def work_failed(self, error: Exception) -> None:
        self.query_one("#start").disabled = False
        super().work_failed(error)

    def _take_plan(self, targets: list[records.Target], planned: planning.SurveyRound) -> None:
        self.query_one("#start").disabled = False
        if not planned.continued:
            self._measure(planned, targets)
            return

        def resume(_answer: bool) -> None:
            # `ask` comes here only after yes.
            self._measure(planned, targets)

        to_do = f"{len(planned.todo)} of {len(planned.stations)} series are to do"
        text = f"{planned.experiment.name} is not complete: {to_do}. Ctrl+R begins a new one instead."
        self.ask(dialogs.ConfirmDialog("Resume it?", text, yes="Resume", prefer_yes=True), resume)

    def _measure(self, planned: planning.SurveyRound, targets: list[records.Target]) -> None:
        # Once refused passwords were typed again, the survey is not complete, so that to start is to resume it.
        measure_rest = self.action_start
        self.app.push_screen(SurveyRunScreen(planned, targets, measure_rest))
