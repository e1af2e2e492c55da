"""Each figure of a diagnosis with its judgement: as it should be, a complaint, or not judged, and why.

A judgement never contradicts the findings: a figure that a complaint names has the complaint's severity. One that keeps
to its reference is as it should be; one that is far off it is a warning, unless the client was too busy to tell. What
is a little off is not judged, and says so; so is a figure whose runs vary so much that some keep to it and some do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forms.diagnosis import rules, summary
from forms.diagnosis.figures import Figure, Unit, figures
from forms.diagnosis.path import GOOD_SHARE, link_limit
from forms.diagnosis.references import FigureReference, figure_references, without_reference_text
from forms.diagnosis.rules_long_run import FADES_KEY
from forms.findings.finding import Finding, Severity
from forms.findings.report import SIGNS
from forms.layout import Sign, Tone
from storage.looks import Diagnosis, StageName

_BEYOND_THE_LINK = 1.1
"""Times the link's rate: a shaper, a card or a cache let a burst pass, and the transfer was too short to see more.

Less than that is the framing, which is counted differently by different shapers.
"""

_LATE_LOGIN = "longer than it should be, but no part of it took most of that, as on a busy machine: measure again"
_BURST = "a burst, faster than the link for a moment: it says nothing of longer transfers"
_CLIENT_BUSY = "this client was too busy to tell"
_FAR_OFF = "far from it, and no reason was found"
_A_LITTLE_OFF = "a little off it"
_WORTH_KNOWING = "see what is worth knowing above"

_FAR_TIMES = 2.0
"""A figure that is this many times beyond what is usual is no chance: a usual server is known to a third."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFigure:
    """A figure, what it is held against, and what follows from that."""

    figure: Figure
    reference: FigureReference | None = None
    severity: Severity | None = None
    """GOOD, or that of the complaint that names the figure; None where it is not judged."""
    why: str = ""
    """What is to be said of it where neither a finding nor the reference does; a sentence without its end."""
    without_reference: str = ""
    """Why there is nothing to hold it against; empty where there is."""

    @property
    def sign(self) -> str:
        """✓ ! ✗; ? where it could not be judged; empty where there is nothing to hold it against."""
        if self.severity is not None:
            return str(SIGNS[self.severity])
        return str(Sign.UNKNOWN) if self.why else ""

    @property
    def tone(self) -> Tone:
        """That of a complaint; everything else is plain."""
        is_wrong = self.severity in {Severity.PROBLEM, Severity.WARNING}
        return SIGNS[self.severity].tone if self.severity is not None and is_wrong else Tone.PLAIN

    def to_json(self) -> dict[str, object]:
        return {
            **self.figure.to_json(),
            "judgement": self.severity.value if self.severity is not None else None,
            "reference": self.reference.to_json() if self.reference is not None else None,
            "why": self.why,
        }


def judged_figures(diagnosis: Diagnosis, findings: Sequence[Finding] | None = None) -> list[JudgedFigure]:
    """All figures of stages that were measured to their end.

    ``findings`` are those of the diagnosis beside one before; None for what it finds by itself.
    """
    references = figure_references(diagnosis)
    complaints = rules.complaints(diagnosis) if findings is None else findings
    complaint_by_figure = _first_by_figure([finding for finding in complaints if finding.is_wrong])
    note_by_figure = _first_by_figure([finding for finding in complaints if not finding.is_wrong])

    folder_stage = diagnosis.stage(StageName.FOLDERS)
    folder_findings = rules.folder_findings(folder_stage) if folder_stage is not None else []
    outweighed_by_figure = _first_by_figure([finding for finding in folder_findings if finding.is_wrong])

    judged: list[JudgedFigure] = []
    for figure in figures(diagnosis):
        reference = references.get(figure.key)
        complaint = complaint_by_figure.get(figure.key)
        outweighed = outweighed_by_figure.get(figure.key)
        if complaint is not None:
            why = _why_complained_of(complaint, figure, reference)
            judged.append(JudgedFigure(figure=figure, reference=reference, severity=complaint.severity, why=why))
        elif outweighed is not None:
            # Of large folders only the costliest complaint is among the findings.
            judged.append(
                JudgedFigure(
                    figure=figure,
                    reference=reference,
                    severity=outweighed.severity,
                    why=outweighed.title,
                )
            )
        elif _is_left_open(note_by_figure.get(figure.key), figure, reference):
            judged.append(JudgedFigure(figure=figure, reference=reference, why=_WORTH_KNOWING))
        else:
            judged.append(_judge_without_complaint(figure, reference, diagnosis))
    return list(map(_with_what_else_is_to_be_said, judged))


def _is_left_open(note: Finding | None, figure: Figure, reference: FigureReference | None) -> bool:
    """Whether a note tells more of the figure than that it does or does not keep to its reference."""
    if note is None or reference is None:
        return False
    # A run that may become slow is not as it should be, however fast it is as a whole.
    return note.key == FADES_KEY or not reference.holds(figure.value)


def _with_what_else_is_to_be_said(judged: JudgedFigure) -> JudgedFigure:
    """With a word on runs that vary, which can leave the figure unjudged, and on a reference that is missing."""
    if judged.reference is None:
        judged = replace(judged, without_reference=without_reference_text(judged.figure))
    ends = judged.figure.variation
    if ends is None or judged.reference is None:
        return judged

    is_good = judged.severity is Severity.GOOD
    if is_good and all(map(judged.reference.holds, ends)):
        return judged

    # Runs that the interval does not show are told.
    told_ends = f" ({judged.figure.interval_text(ends)})" if ends == judged.figure.rounds else ""
    meaning = ", so that it is not always as it should be" if is_good else ""
    why = "; ".join(filter(None, (judged.why, f"its runs vary{told_ends}{meaning}")))
    return replace(judged, severity=None if is_good else judged.severity, why=why)


def _first_by_figure(findings: Sequence[Finding]) -> Mapping[str, Finding]:
    """The costliest finding that names each figure."""
    by_figure: dict[str, Finding] = {}
    for finding in findings:
        for key in finding.figures:
            by_figure.setdefault(key, finding)
    return by_figure


def is_burst(figure: Figure, diagnosis: Diagnosis) -> bool:
    """Whether it is a rate that the link lets through for a moment only."""
    if figure.unit is not Unit.RATE:
        return False
    link = link_limit(diagnosis)
    return link is not None and figure.value > _BEYOND_THE_LINK * link.bytes_per_second


def _why_complained_of(complaint: Finding, figure: Figure, reference: FigureReference | None) -> str:
    """Why a figure that keeps to its reference is not as it should be; empty where it does not keep to it."""
    if reference is None or not reference.holds(figure.value):
        return ""
    if not complaint.cause:
        return "that alone would be fine: see what is wrong above"
    return f"that alone would be fine, but {complaint.cause} is not: see what is wrong above"


def _judge_without_complaint(figure: Figure, reference: FigureReference | None, diagnosis: Diagnosis) -> JudgedFigure:
    """As it should be, or not judged."""
    if is_burst(figure, diagnosis):
        return JudgedFigure(figure=figure, reference=reference, why=_BURST)

    if reference is None:
        return JudgedFigure(figure=figure)
    if reference.holds(figure.value):
        return JudgedFigure(figure=figure, reference=reference, severity=Severity.GOOD)

    why, severity = _judge_off_reference(figure, reference, diagnosis)
    return JudgedFigure(figure=figure, reference=reference, severity=severity, why=why)


def _judge_off_reference(
    figure: Figure, reference: FigureReference, diagnosis: Diagnosis
) -> tuple[str, Severity | None]:
    """Why a figure that does not keep to its reference is not judged, or that it is far off; and its severity."""
    stage = diagnosis.stage(figure.stage)
    if stage is not None and summary.is_machine_busy(stage):
        return _CLIENT_BUSY, None
    if figure.key in {"first_connect", "later_connect"}:
        return _LATE_LOGIN, None
    if _is_far_off(figure.value, reference):
        return _FAR_OFF, Severity.WARNING
    return _A_LITTLE_OFF, None


def _is_far_off(value: float, reference: FigureReference) -> bool:
    """Whether it is worse than what is usual by more than twice."""
    if reference.allowed is None:
        return False
    if reference.most is not None:
        return value >= _FAR_TIMES * max(reference.allowed, GOOD_SHARE * reference.most)
    return value * _FAR_TIMES <= reference.allowed
