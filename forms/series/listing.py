"""One-line entries for lists of series and recordings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forms import wording
from forms.findings.series_warnings import VARIATION_PERCENT
from forms.layout import Sign, Tone, Toned
from forms.report import Report, Table, columns_of, row_of
from forms.stats import summary
from storage.recordings import Recording
from storage.records import Evidence, Series, SeriesStatus, to_minute


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """One series in a list: read without its runs, and their rates in bytes/s."""

    series: Series
    rates: Sequence[float]

    @property
    def label(self) -> str:
        one = self.series
        own_title = one.title if one.title != wording.default_title(one.command, one.target) else ""
        return wording.plain(one.label or own_title)

    @property
    def what(self) -> str:
        return wording.place(self.series.target).removeprefix("smb://")

    @property
    def runs_text(self) -> str:
        """``5``; ``3/5‖`` interrupted, ``3/5✗`` failed, ``3/5●`` running."""
        status, runs = self.series.status, len(self.rates)
        planned = self.series.plan.runs if self.series.plan else 0
        of_planned = f"{runs}/{planned}" if planned and planned >= runs else str(runs)
        if self.series.running_by is not None:
            return f"{of_planned}{Sign.RUNNING}"
        return str(runs) if status is SeriesStatus.COMPLETE else f"{of_planned}{wording.STATUS_SIGNS[status]}"

    @property
    def average_bytes_per_second(self) -> float | None:
        return summary.mean(self.rates)

    @property
    def deviation_percent(self) -> float | None:
        return summary.deviation_percent(self.rates)

    @property
    def percent_of_link(self) -> float | None:
        average, link = self.average_bytes_per_second, self.series.link_bits_per_second
        return 100 * 8 * average / link if average is not None and link else None

    @property
    def answer(self) -> Toned:
        """``get 118.3 MB/s ± 0.2 %, 95 % of link``, and how it ended where it is not complete."""
        average, share = self.average_bytes_per_second, self.percent_of_link
        half = summary.half_width_percent(self.rates)
        if average is None:
            return Toned(f"{self.series.command}: {self.series.error or 'no valid run'}", Tone.CAUTION)
        spread = "" if half is None else f" ± {wording.percent(half)}"
        link = "" if share is None else f", {wording.percent(share)} of link"
        status = self.series.status
        ended = "" if status is SeriesStatus.COMPLETE or self.series.running_by is not None else f"; {status}"
        denied = self.series.change is not None and self.series.change.evidence is Evidence.CONTRADICTED
        claim = "change not in effect: " if denied else ""
        tone = Tone.CAUTION if denied or (self.deviation_percent or 0.0) > VARIATION_PERCENT else Tone.PLAIN
        return Toned(f"{claim}{self.series.command} {wording.rate(average)}{spread}{link}{ended}", tone)


def series_lines(heads: Iterable[Series], rates: Mapping[str, Sequence[float]]) -> list[SeriesLine]:
    return [SeriesLine(head, rates.get(head.id, ())) for head in heads]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingLine:
    id: str
    kind: str
    created_at: str
    done: str
    done_tone: Tone
    answer: Toned
    what: str
    label: str
    baselines: tuple[str, ...] = ()
    experiment: str = ""
    left_behind: bool = False
    machine: str = ""

    @property
    def when(self) -> str:
        return to_minute(self.created_at)

    @property
    def name(self) -> str:
        return self.label or self.what.removeprefix(f"{self.kind} ")

    @property
    def baseline_text(self) -> str:
        return ", ".join(self.baselines)


def done_text(head: Recording, count: int) -> str:
    return f"{count or ''}{Sign.RUNNING if head.running else wording.STATUS_SIGNS.get(head.status, '')}"


def done_tone(head: Recording) -> Tone:
    sign = None if head.running else wording.STATUS_SIGNS.get(head.status)
    return sign.tone if sign else Tone.PLAIN


def side_by_side(heads: Sequence[Recording], reports: Sequence[Report]) -> Report:
    names = list(dict.fromkeys(field.name for report in reports for field in (*report.fields, *report.results)))
    found = [{field.name: field.text for field in (*report.fields, *report.results)} for report in reports]
    rows = tuple(row_of(name, *(fields.get(name, "") for fields in found)) for name in names)
    return Report(
        form="comparison",
        title=f"Recordings of kind {heads[0].kind} side by side",
        name="Comparison",
        tables=(Table(columns=columns_of("", *(head.label or head.id for head in heads)), rows=rows),),
        document=lambda: {
            "schema": "sharebench/side-by-side/1",
            "kind": heads[0].kind,
            "recordings": [head.id for head in heads],
            "fields": [{"name": name, "values": [fields.get(name) for fields in found]} for name in names],
        },
    )
