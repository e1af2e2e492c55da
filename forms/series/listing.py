"""One-line entries for lists of series and recordings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forms import wording
from forms.findings.series_warnings import VARIATION_PERCENT
from forms.layout import Tone, Toned
from forms.report import Report, Table, columns_of, row_of
from forms.stats import summary
from storage.recordings import Recording
from storage.records import Baseline, Series, SeriesStatus, to_minute


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesLine:
    """One series in a list: figures and their text."""

    series_id: str
    created_at: str
    """UTC, ISO 8601."""
    label: str
    target: str
    short_target: str
    command: str
    status: SeriesStatus
    runs: int
    planned_runs: int | None
    average_bytes_per_second: float | None
    deviation_percent: float | None
    half_width_percent: float | None = None
    percent_of_link: float | None
    baselines: tuple[str, ...]
    experiment: str
    running: bool
    left_behind: bool

    @property
    def when(self) -> str:
        return to_minute(self.created_at)

    @property
    def name(self) -> str:
        return self.label or self.what

    @property
    def what(self) -> str:
        return f"{self.command} {self.short_target}"

    @property
    def runs_text(self) -> str:
        """``5``; ``3/5`` incomplete, ``!`` failed, ``▸`` running."""
        if self.running:
            return f"{self.runs}/{self.planned_runs}▸" if self.planned_runs else f"{self.runs}▸"
        if self.status is SeriesStatus.COMPLETE:
            return str(self.runs)
        planned = f"/{self.planned_runs}" if self.planned_runs else ""
        return f"{self.runs}{planned}{'!' if self.status is SeriesStatus.FAILED else '…'}"

    @property
    def runs_tone(self) -> Tone:
        return _TONES.get(self.status, Tone.PLAIN)

    @property
    def average_text(self) -> str:
        return wording.rate(self.average_bytes_per_second)

    @property
    def varies(self) -> bool:
        return (self.deviation_percent or 0.0) > VARIATION_PERCENT

    @property
    def deviation_tone(self) -> Tone:
        return Tone.CAUTION if self.varies else Tone.PLAIN

    @property
    def percent_text(self) -> str:
        return wording.ABSENT if self.percent_of_link is None else wording.percent(self.percent_of_link)

    @property
    def baseline_text(self) -> str:
        return ", ".join(self.baselines)


def series_lines(
    heads: Iterable[Series], rates: Mapping[str, Sequence[float]], baselines: Iterable[Baseline]
) -> list[SeriesLine]:
    """Lines of series read without runs, in the same order; ``rates`` in bytes/s."""
    names: dict[str, list[str]] = {}
    for baseline in baselines:
        names.setdefault(baseline.recording_id, []).append(baseline.name)
    return [_line(head, rates.get(head.id, ()), names.get(head.id, ())) for head in heads]


def _line(series: Series, rates: Sequence[float], baselines: Sequence[str]) -> SeriesLine:
    own_title = series.title if series.title != wording.default_title(series.command, series.target) else ""
    link = series.link_bits_per_second
    return SeriesLine(
        series_id=series.id,
        created_at=series.created_at,
        label=wording.plain(series.label or own_title),
        target=wording.place(series.target),
        short_target=wording.short_place(series.target),
        command=series.command.value,
        status=series.status,
        runs=len(rates),
        planned_runs=series.plan.runs if series.plan and series.plan.runs >= len(rates) else None,
        average_bytes_per_second=summary.mean(rates),
        deviation_percent=summary.deviation_percent(rates),
        half_width_percent=summary.half_width_percent(rates),
        percent_of_link=summary.mean([100 * 8 * rate / link for rate in rates]) if link else None,
        baselines=tuple(wording.plain(name) for name in baselines),
        experiment=wording.plain(series.experiment or ""),
        running=series.running_by is not None,
        left_behind=series.scratch_path is not None and series.running_by is None,
    )


_STOPPED = {SeriesStatus.COMPLETE: "", SeriesStatus.INTERRUPTED: "…", SeriesStatus.FAILED: "!"}
_TONES = {SeriesStatus.FAILED: Tone.BAD, SeriesStatus.INTERRUPTED: Tone.CAUTION}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingLine:
    """One recording in a list."""

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
    def baseline_text(self) -> str:
        return ", ".join(self.baselines)


def done_text(head: Recording, count: int) -> str:
    """``5``; ``3…`` interrupted, ``3!`` failed, ``3▸`` running."""
    return f"{count or ''}{'▸' if head.running else _STOPPED[head.status]}"


def done_tone(head: Recording) -> Tone:
    """The tone of :func:`done_text`."""
    return Tone.PLAIN if head.running else _TONES.get(head.status, Tone.PLAIN)


def side_by_side(heads: Sequence[Recording], reports: Sequence[Report]) -> Report:
    """Results of recordings of one kind side by side, without a verdict."""
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
