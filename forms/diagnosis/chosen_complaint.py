"""The answer to the complaint that the user named first: one sentence with its verdict, also where nothing is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from forms import wording
from forms.diagnosis import figures, rules, rules_long_run, summary
from forms.diagnosis.judgement import JudgedFigure, judged_figures
from forms.diagnosis.references import FigureReference
from forms.findings.finding import Finding, Severity
from forms.findings.report import SIGNS
from forms.layout import Sign, Toned
from storage.looks import Diagnosis, Stage, StageName
from storage.records import SeriesStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedComplaint:
    """What users complain of, and how it is answered.

    ``{name}``, ``{value}`` and ``{limit}`` are of the figure that decides: the first of ``figures`` that is not as it
    should be, else the first. ``{doing}`` is what it is a rate of, and ``{end}`` up to where it is as it should be: a
    text that tells it is told without ``limit``.
    """

    subject: str
    """What it is about, as the subject of "could not be judged"."""
    figures: tuple[str, ...]
    """The keys of the figures that decide."""
    fine: str
    """The answer where they are as they should be."""
    limit: str = ", of {limit}"
    """What follows ``fine`` and ``unclear`` where there is a limit."""
    slow: str
    """The beginning of the answer where a finding says what is wrong; the finding follows."""
    unclear: str = ""
    """The answer where they are not as they should be, and no finding says why; empty where the figure always does."""
    unsteady: str = "{name} is fine on the whole: {value}"
    """The answer where they are as they should be, but not in all of their runs."""
    is_told_as_rate: bool = False
    """Whether seconds are told as how many in a second."""


COMPLAINTS: Mapping[StageName, NamedComplaint] = {
    StageName.CONNECT: NamedComplaint(
        subject="The first connect",
        figures=("first_connect", "later_connect"),
        fine="Connecting takes no longer than it should: {value}",
        limit=", of {limit} at most",
        slow="Connecting is slow",
    ),
    StageName.DISTANCE: NamedComplaint(
        subject="The distance",
        figures=("round_trip",),
        fine="The server is near: a round trip takes {value}",
        limit=", of {limit} at most",
        slow="The distance slows down what waits for each request",
        unclear="Some requests are answered late, but not each: half of the round trips take at least {value}",
        unsteady="Some requests are answered late, but not each: half of the round trips take at least {value}",
    ),
    StageName.SMALL_FILES: NamedComplaint(
        subject="Small files",
        figures=("put_file", "get_file"),
        fine="Small files are as fast as is usual on this path: {doing} {value}",
        limit=", usual {limit}",
        slow="Small files are slow",
        unclear="{name} is slower than it should be: {value}, fine from {end}",
        unsteady="{name} is fine on the whole: {value}, fine from {end}",
        is_told_as_rate=True,
    ),
    StageName.WINDOW: NamedComplaint(
        subject="Opening a window",
        figures=tuple(figures.WINDOW_QUESTIONS),
        fine="What Explorer asks with every window is answered at once: {name} takes {value}",
        limit=", of {limit} at most",
        slow="Opening a window is slow",
        unclear="What Explorer asks with every window is answered late now and then: {name} takes {value}",
        unsteady="What Explorer asks with every window is answered late now and then: {name} takes {value}",
    ),
    StageName.FOLDERS: NamedComplaint(
        subject="Large folders",
        figures=("ask", "missing", "growth"),
        fine="Large folders are as fast as this path allows: {name} {value}",
        limit=", expected {limit}",
        slow="Large folders are slow",
        unclear="Large folders are slower than usual on this path: {name} {value}",
    ),
    StageName.PROTECTION: NamedComplaint(
        subject="Signing and encryption",
        figures=("as_it_is",),
        fine="Transfers are as fast as this path allows with the protection that the server asks for: {value}",
        slow="Signing or encryption slows transfers down",
        unclear="Transfers are slower than this path allows: {value}",
    ),
    StageName.LONG_RUN: NamedComplaint(
        subject="A long transfer",
        figures=("whole",),
        fine="A long transfer keeps its speed: {value}",
        slow="A long transfer becomes slow",
        unclear="A long transfer keeps its speed, but is slower than this path allows: {value}",
    ),
    StageName.CARDS: NamedComplaint(
        subject="Several connections",
        figures=("connections",),
        fine="Several connections share this path as they should: together {value} what one carries",
        limit="",
        slow="Connections are the limit",
        unclear="Several connections together carry {value} what one does",
    ),
}
"""By the stage that measures it; settings are no complaint of users."""


@dataclass(frozen=True, slots=True)
class ComplaintAnswer:
    """The verdict on a complaint."""

    sign: Sign
    """UNKNOWN where no finding and no reference decides."""
    sentence: str
    """Without its end."""
    has_unknown_reason: bool = False
    """Whether it is worse than it should be, and nothing that was measured says why."""
    certainty: str = ""
    """How sure that is, in whole sentences; empty where the sentence says it."""

    @property
    def toned(self) -> Toned:
        certainty = f" {self.certainty}" if self.certainty else ""
        return Toned(f"{self.sign} {self.sentence}.{certainty}", self.sign.tone)


_TOLD_BY_THEIR_END = frozenset({"first_connect", "later_connect"})
"""Figures whose limit is that of a complaint, and not the best that the path allows."""


_DOING = {"put_file": "saving", "get_file": "reading"}
"""What a figure is a rate of."""


def chosen_complaint(diagnosis: Diagnosis) -> StageName | None:
    """The complaint that is answered first: the one that was named, or the only stage that was asked for."""
    if diagnosis.complaint is not None:
        return diagnosis.complaint if diagnosis.complaint in COMPLAINTS else None

    stages = [name for name in diagnosis.only if name in COMPLAINTS]
    return stages[0] if len(stages) == 1 else None


def finding_of_complaint(diagnosis: Diagnosis, name: StageName) -> Finding | None:
    """The costliest finding that says what is wrong in the stage of the complaint; None where none does."""
    stage = diagnosis.stage(name)
    if stage is None:
        return None

    findings = [rule(stage, diagnosis) for rule_stage, rule in rules.RULES if rule_stage is name]
    wrong = [finding for finding in findings if finding is not None and finding.is_wrong]
    return max(wrong, key=_cost_of, default=None)


def _cost_of(finding: Finding) -> float:
    return finding.cost or 0.0


def complaint_answer(diagnosis: Diagnosis, name: StageName, *, is_repeat_advised: bool = True) -> ComplaintAnswer:
    """One sentence with its verdict; then how certain that is, and what runs that vary mean for it.

    ``is_repeat_advised``: where that would tell more; not where another sentence says so already.
    """
    complaint = COMPLAINTS[name]
    stage = diagnosis.stage(name)
    if stage is None:
        return ComplaintAnswer(
            Sign.UNKNOWN, f"{complaint.subject} could not be judged: {_reason_unmeasured(diagnosis, name)}"
        )

    by_key = {judged.figure.key: judged for judged in judged_figures(diagnosis)}
    deciding = [by_key[key] for key in complaint.figures if key in by_key]
    answer = _judged_answer(diagnosis, stage, complaint, deciding)
    finding = finding_of_complaint(diagnosis, name)
    cause = finding.cause if finding is not None else ""
    when = "when this client is quieter" if summary.is_machine_busy(stage) else "at another time"
    advice = f": measure again {when} to see which is usual" if is_repeat_advised else ""
    variation = _variation_text(complaint, answer, deciding, cause, advice)
    return replace(answer, certainty=" ".join(filter(None, (answer.certainty, variation))))


def _judged_answer(
    diagnosis: Diagnosis, stage: Stage, complaint: NamedComplaint, deciding: Sequence[JudgedFigure]
) -> ComplaintAnswer:
    finding = finding_of_complaint(diagnosis, stage.name)
    if finding is not None and finding.is_answer:
        certainty = _certainty_text(diagnosis, stage, finding)
        return ComplaintAnswer(SIGNS[finding.severity], finding.title, certainty=certainty)
    if finding is not None:
        beside_path = _beside_path_text(complaint, finding, deciding)
        sentence = f"{complaint.slow}{beside_path}: {_with_small_letter(finding.title)}"
        certainty = _certainty_text(diagnosis, stage, finding)
        return ComplaintAnswer(SIGNS[finding.severity], sentence, certainty=certainty)

    doubt = rules_long_run.doubtful_fading(stage, diagnosis) if stage.name is StageName.LONG_RUN else None
    if doubt is not None:
        return ComplaintAnswer(Sign.UNKNOWN, f"A long transfer may become slow: {_with_small_letter(doubt.title)}")

    compared = [judged for judged in deciding if judged.reference is not None]
    if not compared:
        return ComplaintAnswer(Sign.UNKNOWN, _uncompared_text(complaint, deciding))

    not_good = [judged for judged in compared if judged.severity is not Severity.GOOD]
    if not_good:
        told = _told_figure(not_good, complaint)
        good = [judged for judged in compared if judged.severity is Severity.GOOD]
        return _unexplained_answer(diagnosis, complaint, told, good)
    return ComplaintAnswer(Sign.GOOD, _fill(complaint.fine, complaint, _told_figure(compared, complaint)))


def _variation_text(
    complaint: NamedComplaint, answer: ComplaintAnswer, deciding: Sequence[JudgedFigure], cause: str, advice: str
) -> str:
    """That the runs of a figure that decides vary, and what that means for the answer; empty where none does.

    ``advice`` ends the sentence where to measure again would tell more: where the cause is certain, nobody has to do so
    before doing something about it.
    """
    varying = [judged for judged in deciding if judged.figure.variation is not None]
    if not varying:
        return ""

    judged = _told_figure(varying, complaint)
    figure = judged.figure
    ends = figure.variation
    assert ends is not None
    first, last = (_value_text(figure, end, complaint) for end in sorted(ends, reverse=complaint.is_told_as_rate))
    varied = f"{figure.name} varied from {first} to {last} while it was measured"

    is_ever_good = judged.reference is not None and any(map(judged.reference.holds, ends))
    if answer.sign is Sign.GOOD:
        return f"{varied}, and was as it should be all the time."
    if answer.sign is not Sign.UNKNOWN and not is_ever_good:
        return f"{varied}, and was slow all the time."
    is_fine_on_the_whole = judged.reference is not None and judged.reference.holds(figure.value)
    if is_fine_on_the_whole and answer.sign is Sign.UNKNOWN:
        return f"{varied}, so that it is not fine all the time{advice}."
    if is_ever_good and cause:
        return f"{varied}, so that it is not slow all the time; that changes nothing of what takes the time."
    if is_ever_good:
        return f"{varied}, so that it is not slow all the time{advice}."
    return f"{varied}{advice}."


def _certainty_text(diagnosis: Diagnosis, stage: Stage, finding: Finding) -> str:
    """What is certain of a finding, and what is not, where this client was busy."""
    is_busy = summary.is_machine_busy(stage)
    sentences = []
    if finding.cause:
        also_now = ", also on a busy client" if is_busy else ""
        sentences.append(f"It is certain that {finding.cause} takes the time{also_now}.")
    if is_busy:
        busiest = summary.busiest_program_text(diagnosis)
        by_whom = f" with {busiest}" if busiest else ""
        sentences.append(f"How much is not certain: this client was busy{by_whom}, and all is faster on a quiet one.")
    return " ".join(sentences)


def _unexplained_answer(
    diagnosis: Diagnosis, complaint: NamedComplaint, told: JudgedFigure, good: Sequence[JudgedFigure]
) -> ComplaintAnswer:
    """What is fine, then what is not as it should be, and what is known of the reason: in this order."""
    stage = diagnosis.stage(told.figure.stage)
    is_client_busy = stage is not None and summary.is_machine_busy(stage)
    if not is_client_busy and told.figure.key in _TOLD_BY_THEIR_END:
        value = _value_text(told.figure, told.figure.value, complaint)
        return ComplaintAnswer(Sign.UNKNOWN, f"{complaint.subject} could not be judged: {value}, {told.why}")

    is_unsteady = told.reference is not None and told.reference.holds(told.figure.value)
    template = complaint.unsteady if is_unsteady else complaint.unclear
    sentence = _with_capital_letter(_fill(template, complaint, told)) if template else complaint.subject
    if good and complaint.is_told_as_rate:
        fine = good[0]
        fine_text = _value_text(fine.figure, fine.figure.value, complaint)
        sentence = f"{fine.figure.name} is fine ({fine_text}); {_with_small_letter(sentence)}"

    if is_client_busy:
        busiest = summary.busiest_program_text(diagnosis)
        by_whom = f" with {busiest}" if busiest else ""
        reason = "why it varies" if is_unsteady else "the reason"
        return ComplaintAnswer(Sign.UNKNOWN, f"{sentence}; this client was too busy{by_whom} to tell {reason}")

    sign = SIGNS[told.severity] if told.severity is not None else Sign.UNKNOWN
    what = "why it varies" if is_unsteady else "why"
    return ComplaintAnswer(sign, f"{sentence}; nothing that was measured says {what}", has_unknown_reason=True)


def _reason_unmeasured(diagnosis: Diagnosis, name: StageName) -> str:
    for stage in diagnosis.stages:
        if stage.name is name and stage.status is not SeriesStatus.COMPLETE:
            return wording.plain(stage.error or stage.status.value)
    return "not measured yet"


def _with_small_letter(title: str) -> str:
    """A title or a name within a sentence."""
    return title[:1].lower() + title[1:]


def _with_capital_letter(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _uncompared_text(complaint: NamedComplaint, deciding: Sequence[JudgedFigure]) -> str:
    """That there is nothing to hold the figure against."""
    if not deciding:
        return f"{complaint.subject} could not be judged: nothing was measured of it"
    value = _value_text(deciding[0].figure, deciding[0].figure.value, complaint)
    return f"{complaint.subject} could not be judged: {value}, and nothing is known to compare it with"


def _beside_path_text(complaint: NamedComplaint, finding: Finding, deciding: Sequence[JudgedFigure]) -> str:
    """The figure of the finding beside what the path allows, in brackets; empty where that is not known."""
    named = [judged for judged in deciding if judged.figure.key in finding.figures]
    if not named:
        return ""

    judged = _told_figure(named, complaint)
    allowed = judged.reference.allowed if judged.reference is not None else None
    if allowed is None or judged.figure.key in _TOLD_BY_THEIR_END:
        return ""
    value_text = _value_text(judged.figure, judged.figure.value, complaint)
    return f" ({value_text}; this path allows {_value_text(judged.figure, allowed, complaint)})"


def _told_figure(judged: Sequence[JudgedFigure], complaint: NamedComplaint) -> JudgedFigure:
    """The slower direction of small files, else the first."""
    if complaint.is_told_as_rate:
        return max(judged, key=attrgetter("figure.value"))
    return judged[0]


def _fill(template: str, complaint: NamedComplaint, judged: JudgedFigure) -> str:
    figure = judged.figure
    sentence = template.format(
        name=_with_small_letter(figure.name),
        doing=_DOING.get(figure.key, ""),
        value=_value_text(figure, figure.value, complaint),
        end=_end_text(judged, complaint),
    )

    limit = _limit_of(judged)
    if limit is None or not complaint.limit or "{end}" in template:
        return sentence

    limit_text = _value_text(figure, limit, complaint)
    is_told_by_its_end = figure.key in _TOLD_BY_THEIR_END
    if not is_told_by_its_end and _is_better(judged.reference, figure.value):
        return f"{sentence}; {limit_text} is usual on such a path"
    return sentence + complaint.limit.format(limit=limit_text)


def _limit_of(judged: JudgedFigure) -> float | None:
    """The number that a figure is told beside; None where its reference has none."""
    reference = judged.reference
    if reference is None:
        return None
    if reference.allowed is not None and judged.figure.key not in _TOLD_BY_THEIR_END:
        return reference.allowed
    return reference.most if reference.most is not None else reference.least


def _end_text(judged: JudgedFigure, complaint: NamedComplaint) -> str:
    """Up to where the figure is as it should be; empty where its reference has no such end."""
    reference = judged.reference
    if reference is None:
        return ""
    end = reference.most if reference.most is not None else reference.least
    return _value_text(judged.figure, end, complaint) if end is not None else ""


def _is_better(reference: FigureReference | None, value: float) -> bool:
    """Whether the figure is even better than what its path is taken to allow."""
    if reference is None or reference.allowed is None:
        return False
    return value > reference.allowed if reference.most is None else value < reference.allowed


def _value_text(figure: figures.Figure, value: float, complaint: NamedComplaint) -> str:
    if complaint.is_told_as_rate and figure.unit is figures.Unit.SECONDS and value > 0:
        return figures.value_text(1 / value, figures.Unit.PER_SECOND)
    return figures.value_text(value, figure.unit)
