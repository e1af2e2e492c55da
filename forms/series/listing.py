"""Series and recordings as lines of a list, and several recordings of one kind side by side.

A *recording* is anything that was measured and stored: a series, a load, an isolation, …; its *head* is what the
notebook knows of it without its figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forms import link_share, wording
from forms.layout import Sign, Tone, Toned
from forms.stats import summary
from forms.stats.readings import without_hiccups
from storage.recordings import Recording
from storage.records import Evidence, Series, SeriesStatus, percent_of_link, to_minute


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """One series in a list: read without its runs, and their rates in bytes/s."""

    series: Series
    rates: Sequence[float]

    @property
    def label(self) -> str:
        """The label, or a title that somebody gave; empty without either."""
        series = self.series
        is_default = series.title == wording.default_title(series.command, series.target)
        return wording.plain(series.label or ("" if is_default else series.title))

    @property
    def what(self) -> str:
        """The target, without the protocol that nearly all of a list have."""
        return wording.place(self.series.target).removeprefix("smb://")

    @property
    def runs_text(self) -> str:
        """The valid runs: ``5``; of the planned ones ``3/5‖`` interrupted, ``3/5✗`` failed, ``3/5●`` running."""
        runs = len(self.rates)
        planned = self.series.plan.counts.runs if self.series.plan else 0
        of_planned = f"{runs}/{planned}" if planned and planned >= runs else str(runs)
        if self.series.running_by is not None:
            return f"{of_planned}{Sign.RUNNING}"
        if self.series.status is SeriesStatus.COMPLETE:
            return str(runs)
        return f"{of_planned}{wording.STATUS_SIGNS[self.series.status]}"

    @property
    def is_whole(self) -> bool:
        """Whether it came to its end."""
        return self.series.status is SeriesStatus.COMPLETE and self.series.running_by is None

    @property
    def counted_rates(self) -> list[float]:
        """Those without runs that stand out, as comparisons count them."""
        return without_hiccups(self.rates)

    @property
    def average_bytes_per_second(self) -> float | None:
        return summary.mean(self.rates)

    @property
    def deviation_percent(self) -> float | None:
        return summary.deviation_percent(self.rates)

    @property
    def percent_of_link(self) -> float | None:
        return percent_of_link(self.average_bytes_per_second, self.series.link_bits_per_second)

    @property
    def answer(self) -> Toned:
        """``get 118.3 MB/s ± 0.2 %, 95 % of link``, and how it ended where it is not complete.

        The average is that of comparisons, without runs that stand out; of random requests in operations a second.
        """
        series = self.series
        counted_rates = self.counted_rates
        average = summary.mean(counted_rates)
        if average is None:
            return Toned(f"{series.command}: {series.error or 'no valid run'}", Tone.CAUTION)

        text = f"{series.command} {wording.operations_text(series, average) or wording.rate(average)}"
        half = summary.half_width_percent(counted_rates)
        if half is not None:
            text += f" ± {wording.percent(half)}"
        share = percent_of_link(average, series.link_bits_per_second)
        is_link_refuted = share is not None and not link_share.is_possible_share(share)
        if is_link_refuted:
            text += ", link speed refuted"
        elif share is not None:
            text += f", {link_share.share_text(share, 'link')}"
        left_out_count = len(self.rates) - len(counted_rates)
        if left_out_count:
            stand_out = "stands out" if left_out_count == 1 else "stand out"
            text += f", without {wording.count(left_out_count, 'run')} that {stand_out}"
        if series.status is not SeriesStatus.COMPLETE and series.running_by is None:
            text += f"; {series.status}"

        varies = (self.deviation_percent or 0.0) > summary.VARIATION_PERCENT
        tone = Tone.CAUTION if varies or is_link_refuted else Tone.PLAIN
        if series.change is not None and series.change.evidence is Evidence.CONTRADICTED:
            return Toned(f"change not in effect: {text}", Tone.CAUTION)
        return Toned(text, tone)


def series_lines(heads: Iterable[Series], rates: Mapping[str, Sequence[float]]) -> list[SeriesLine]:
    return [SeriesLine(head, rates.get(head.id, ())) for head in heads]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingLine:
    """What a list shows of a recording of any kind."""

    id: str
    kind: str
    """The name of its kind."""
    created_at: str
    done: str
    """How much of it was measured, in what its kind counts."""
    done_tone: Tone
    answer: Toned
    what: str
    """What was measured: the name of a recording without a label."""
    label: str
    baselines: tuple[str, ...] = ()
    """The names by which it is one."""
    experiment: str = ""
    left_behind: bool = False
    """Whether own files may still be on a server."""
    machine: str = ""
    """The one that measured; empty where unknown."""
    state: str = ""
    """How far it is, where the answer does not say so itself."""
    names_its_kind: bool = True
    """Whether the kind is a part of its name in texts: series, which most recordings are, leave it out."""
    can_be_repeated: bool = False
    """Whether recordings of its kind can be measured once more."""

    @property
    def when(self) -> str:
        """The minute in which it began, in local time."""
        return to_minute(self.created_at)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.label or self.what.removeprefix(f"{self.kind} ")

    @property
    def baseline_text(self) -> str:
        return ", ".join(self.baselines)


def done_text(head: Recording, count: int) -> str:
    sign = Sign.RUNNING if head.running else wording.STATUS_SIGNS.get(head.status, "")
    return f"{count or ''}{sign}"


def done_tone(head: Recording) -> Tone:
    if head.running:
        return Tone.PLAIN
    sign = wording.STATUS_SIGNS.get(head.status)
    return sign.tone if sign else Tone.PLAIN
