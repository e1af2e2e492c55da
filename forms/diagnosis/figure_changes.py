"""The figures of two diagnoses side by side: those of the complaint first, each with how it changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from forms import report
from forms.diagnosis.change_since import FigureChange, is_busy
from forms.diagnosis.chosen_complaint import chosen_complaint
from forms.diagnosis.figures import Figure, Unit, figures
from forms.diagnosis.judgement import is_burst
from forms.diagnosis.rules import complaints
from forms.diagnosis.stage_names import stage_title
from forms.layout import Sign, Tone
from storage.looks import Diagnosis, StageName

_UNITS_COMPARED = frozenset({Unit.SECONDS, Unit.RATE, Unit.PER_SECOND})
"""Others are about 0 or about 1, or of the path."""

_CAPTION = (
    "Measured (▲ better and ▼ worse by more than it varied, ? can be chance or a busy client, blank: as before or not"
    " compared)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigurePair:
    """A figure of both diagnoses, or of one of them."""

    base: Figure | None
    other: Figure | None
    was_client_busy_before: bool = False
    """Whether this client was too busy for its times to be right when the base was measured."""
    was_client_busy: bool = False
    """The same of the other."""
    is_complained_of: bool = False
    """Whether the base found it to be wrong: the change of that is judged beside its control, in the answer."""
    is_burst: bool = False
    """Whether one of both is faster than the link can be for longer than a moment: nothing follows from that."""

    @property
    def known_figure(self) -> Figure:
        figure = self.base or self.other
        assert figure is not None
        return figure

    @property
    def change(self) -> FigureChange | None:
        """None where it is not measured in both, is no time and no rate, or says nothing of longer transfers."""
        if self.base is None or self.other is None or self.known_figure.unit not in _UNITS_COMPARED:
            return None
        if self.is_burst or min(self.base.value, self.other.value) <= 0:
            return None
        return FigureChange(before=self.base, after=self.other)

    @property
    def sign(self) -> Sign | None:
        """None where it is as before, or is not compared."""
        change = self.change
        if change is None or change.is_same:
            return None
        if not change.is_certain:
            return Sign.UNKNOWN
        if self._may_be_the_client:
            return Sign.UNKNOWN
        return Sign.FASTER if change.times > 1 else Sign.SLOWER

    @property
    def _may_be_the_client(self) -> bool:
        """Whether this client was busy on the side that is worse; not of what was complained of and is better."""
        assert self.change is not None
        if self.change.times < 1:
            return self.was_client_busy
        return self.was_client_busy_before and not self.is_complained_of

    @property
    def change_text(self) -> str:
        """``6.5 times as fast (2.4 to 13 times)``; what can be chance says why."""
        if self.is_burst:
            return "not compared: a burst, faster than the link for a moment"
        change = self.change
        if change is None:
            return ""
        if change.is_same:
            return "as before" if change.is_surely_same else f"no change seen ({change.ends_text})"

        text = change.times_text
        if self.sign is not Sign.UNKNOWN:
            return text
        if change.is_certain is None:
            return f"{text}; measured once"
        if change.is_certain:
            return f"{text}; the client was busy"
        return f"{text}; hardly more than it varies" if change.is_surely_one_way else f"{text}; varies as much"

    @property
    def name_with_values(self) -> str:
        """``Long run of 5.17 s (103.4 MB/s → 71.81 MB/s)``."""
        assert self.change is not None
        return f"{self.known_figure.name} ({self.change.values_text})"


def figure_pairs(base: Diagnosis, other: Diagnosis) -> list[FigurePair]:
    """Those of the complaint first."""
    found_before: set[str] = set()
    for finding in complaints(base):
        if finding.is_wrong:
            found_before.update(finding.figures)

    of_base = {figure.key: figure for figure in figures(base)}
    of_other = {figure.key: figure for figure in figures(other)}
    pairs = []
    for key in dict.fromkeys([*of_base, *of_other]):
        pair = FigurePair(base=of_base.get(key), other=of_other.get(key))
        stage = pair.known_figure.stage
        pairs.append(
            replace(
                pair,
                was_client_busy_before=is_busy(base, stage),
                was_client_busy=is_busy(other, stage),
                is_complained_of=key in found_before,
                is_burst=_is_burst(pair.base, base) or _is_burst(pair.other, other),
            )
        )

    complaint = chosen_complaint(other)
    of_complaint = [pair for pair in pairs if pair.known_figure.stage is complaint]
    others = [pair for pair in pairs if pair.known_figure.stage is not complaint]
    return [*of_complaint, *others]


def _is_burst(figure: Figure | None, diagnosis: Diagnosis) -> bool:
    return figure is not None and is_burst(figure, diagnosis)


def figure_changes_table(pairs: Sequence[FigurePair]) -> Iterator[report.Table]:
    rows: list[report.Row] = []
    stage_above: StageName | None = None
    for pair in pairs:
        stage = pair.known_figure.stage
        if stage is not stage_above:
            stage_above = stage
            rows.append(report.heading_row(stage_title(stage)))

        sign = pair.sign
        rows.append(
            report.row_of(
                str(sign) if sign is not None else "",
                pair.known_figure.name,
                pair.base.text if pair.base is not None else "",
                pair.other.text if pair.other is not None else "",
                pair.change_text,
                tone=Tone.PLAIN if sign is None or sign is Sign.UNKNOWN else sign.tone,
            )
        )
    if rows:
        columns = report.columns_of("Sign", "Measured", "Base", "Other", "Change")
        yield report.Table(columns=columns, rows=tuple(rows), caption=_CAPTION)
