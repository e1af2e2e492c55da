"""The form of a diagnosis on the screen: the lines that say what is to be looked for."""

from collections.abc import Mapping

from app.base.errors import UsageError
from app.diagnosis import spec
from app.diagnosis.run_screen import DiagnosisRunScreen
from app.diagnosis.stage_times import StageTimes
from app.server.named_servers import server_ways
from app.tui.frame.dialogs import ConfirmDialog
from app.tui.widgets import form_lines
from app.tui.widgets.lines_screen import LinesScreen
from forms import wording
from forms.diagnosis.chosen_complaint import COMPLAINTS
from forms.diagnosis.stage_names import STAGE_NAMES
from storage import looks

_USUAL_TIMES = StageTimes(looks.Effort.USUAL)


def _stage_text(name: looks.StageName) -> str:
    """The word to type, what it means where that says more, and how long it usually takes."""
    seconds = wording.duration(_USUAL_TIMES.seconds((name,)))
    return f"{_with_meaning(name, STAGE_NAMES[name])} {seconds}"


def _with_meaning(name: looks.StageName, meaning: str) -> str:
    words_beyond = set(meaning.split()) - {"the", "a", "many", *name.value.split("-")}
    return f"{name} ({meaning})" if words_beyond else name.value


_ABOUT_STAGES = (
    "Stages: leave it empty to measure all, which is usual: what users complain of is often not what is slow. Or name"
    " some, with commas between; on a local network they take about:"
    f" {', '.join(map(_stage_text, looks.StageName))}."
)

_ABOUT_EFFORT = (
    "Effort: how much is measured of each stage. quick: about a tenth of the files and bytes; usual; thorough:"
    f" {spec.THOROUGH_TEXT[:1].lower()}{spec.THOROUGH_TEXT[1:]}"
)

_COMPLAINTS_TEXT = ", ".join(_with_meaning(name, STAGE_NAMES[name]) for name in COMPLAINTS)


def _is_begun(word: str) -> bool:
    """Whether it is the beginning of a complaint's name: no mistake while it is typed."""
    beginning = word.strip().casefold()
    return any(name.startswith(beginning) and name != beginning for name in COMPLAINTS)


_ABOUT_COMPLAINT = (
    f"Complaint: what users say is slow: {_COMPLAINTS_TEXT}. It is answered first, as soon as its own stage is"
    " measured; the other stages follow, and s stops them."
)


class DiagnosisScreen(LinesScreen):
    """The form of a diagnosis; `LinesScreen` says which class attribute is for what, and when a method is called."""

    NAME = "diagnosis"
    HEADING = "Diagnosis"
    BUTTON = "Diagnose"
    STORED = "diagnoses"
    LINES = (
        form_lines.TARGET,
        form_lines.FormLine(
            "complaint", "Complaint", "such as small-files: answered first; empty: none", about=_ABOUT_COMPLAINT
        ),
        form_lines.FormLine("only", "Stages", "empty: all that users wait for, which is usual", about=_ABOUT_STAGES),
        form_lines.FormLine(
            "effort", "Effort", "quick, usual or thorough", looks.Effort.USUAL.value, about=_ABOUT_EFFORT
        ),
        form_lines.LINK,
        form_lines.FormLine("folder", "Large folder", "an existing one on the share, read only; empty: new ones"),
        form_lines.SSH,
        form_lines.CONF,
    )
    RUN = DiagnosisRunScreen

    @classmethod
    def plan_of(cls, typed: Mapping[str, str]) -> str:
        effort = looks.Effort(typed["effort"]) if typed["effort"] in tuple(looks.Effort) else looks.Effort.USUAL
        complaint = None if _is_begun(typed["complaint"]) else spec.parse_complaint(typed["complaint"])
        return spec.time_text(effort, spec.parse_stages(typed["only"]) or looks.stages_of(()), complaint)

    @classmethod
    def parse(cls, typed: Mapping[str, str]) -> spec.DiagnosisRequest:
        values = form_lines.typed_values(cls.LINES, typed)
        target = form_lines.typed_target(values["target"])
        if values["effort"] not in {"", *looks.Effort}:
            raise UsageError(f"effort is {', '.join(looks.Effort)}; not {values['effort']!r}")

        stages = spec.parse_stages(values["only"])
        ways = server_ways(target, values["ssh"], values["conf"])
        request = spec.DiagnosisRequest(
            target=target,
            effort=looks.Effort(values["effort"] or looks.Effort.USUAL),
            only=stages,
            complaint=spec.parse_complaint(values["complaint"]),
            folder=values["folder"] or None,
            link_bits_per_second=form_lines.typed_link(values["link"]),
            server_ssh=ways.server_ssh,
            smb_conf=ways.smb_conf,
        )
        spec.check_request(request)
        return request

    def begin(self, request: spec.DiagnosisRequest) -> None:
        amount = spec.amount_text(request)
        if not amount:
            super().begin(request)
            return

        def begin_after_yes(_answer: bool) -> None:
            super(DiagnosisScreen, self).begin(request)

        # `ask` calls it only after the answer yes.
        self.ask(
            ConfirmDialog("Begin the diagnosis?", amount, yes="Begin", no="Back", prefer_yes=True), begin_after_yes
        )
