"""A tuning: try the safe smb.conf candidates in sequence, each on top of the gains before it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.changes.find import Ways
from app.changes.samba_setting import samba_setting
from app.changes.server import ChangeRefusedError
from app.changes.setting import ChangeableSetting
from app.changes.smb_conf import ConfLine
from app.errors import UsageError
from app.measure.control import SeriesControl
from app.recorder.request import SeriesRequest
from app.workflows.trial import run_trial
from app.workflows.trial_order import Judged, TrialEvent, new_order
from forms.stats.decision import Verdict
from forms.trials.summary import TrialSummary
from forms.trials.tune import NotTried, TuneSummary
from forms.tuning import catalogue
from forms.tuning.catalogue import Effect, EntryKind, Status
from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import data, risk_of
from storage.changes import LoadWindow, TrialPlan
from storage.records import ExperimentKind

STOP_AFTER = 12
"""Candidates in a row without a gain that end the tuning."""


@dataclass(frozen=True, slots=True)
class Trying:
    """The next candidate; the following events are of its trial."""

    setting: ChangeableSetting
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Tuned:
    """The tuning is over."""

    summary: TuneSummary


@dataclass(slots=True, kw_only=True)
class Tuning:
    """A tuning and its results so far."""

    request: SeriesRequest
    ways: Ways
    looks: tuple[int, ...]
    load: LoadWindow | None = None
    """None to measure a transfer."""
    stop_after: int = STOP_AFTER
    only: tuple[str, ...] = ()
    """Parameters to try; empty for the whole catalogue."""
    first: tuple[tuple[str, str], ...] = ()
    """Parameters and values that an audit proposes, tried first."""
    trials: list[TrialSummary] = field(default_factory=list)
    not_tried: list[NotTried] = field(default_factory=list)
    kept: list[ConfLine] = field(default_factory=list)

    def run(self, path: Path, control: SeriesControl) -> Generator[TrialEvent | Trying | Tuned, None, None]:
        """Try the candidates; the last event is Tuned. Raises as a trial does, with everything restored."""
        found = list(dict.fromkeys([*self.first, *candidates(self.only)]))
        in_vain = 0
        for number, (name, value) in enumerate(found, start=1):
            if in_vain >= self.stop_after:
                break
            setting = self._setting(name, value)
            if setting is None:
                continue
            yield Trying(setting, number, len(found))
            plan = TrialPlan(
                kind=setting.kind, name=setting.name, values=setting.values, looks=self.looks, load=self.load
            )
            order = new_order(self.request, setting, kind=ExperimentKind.TRIAL, plan=plan)
            summary = None
            for event in run_trial(order, path, control):
                summary = event.summary if isinstance(event, Judged) else summary
                yield event
            if isinstance(summary, TrialSummary):
                self.trials.append(summary)
                in_vain += 1
                if is_gain(summary):
                    in_vain = 0
                    self.kept.append(ConfLine(section=setting.section.strip("[]"), name=setting.name, value=value))
        yield Tuned(self.summary(stopped=in_vain >= self.stop_after))

    def summary(self, *, stopped: bool = False) -> TuneSummary:
        base = self.trials[0].base if self.trials else None
        return TuneSummary(base=base, trials=tuple(self.trials), not_tried=tuple(self.not_tried), stopped=stopped)

    def _setting(self, name: str, value: str) -> ChangeableSetting | None:
        """None, with the reason noted, if it is not to be tried."""
        if any(line.name == spelling(name).name for line in self.kept):
            return None
        why = risk_of(spelling(name).name, value)
        try:
            if why is None:
                target, ways = self.request.plan.target, self.ways
                setting = samba_setting(name, [value], target, ssh=ways.ssh, smb_conf=ways.smb_conf, kept=self.kept)
                if not setting.same(setting.previous or "", value):
                    return setting
                return None  # it is that already
        except (ChangeRefusedError, UsageError) as error:
            why = str(error)
        self.not_tried.append(NotTried(name=spelling(name).name, value=value, why=why or ""))
        return None


def is_gain(summary: TrialSummary) -> bool:
    """Whether the value is kept for the next trials."""
    return summary.verdict is Verdict.FASTER


def candidates(only: Sequence[str] = ()) -> list[tuple[str, str]]:
    """smb.conf parameters and values in order of impact, without those that need a restart."""
    wanted = {spelling(name).name for name in only}
    never = {spelling(name).name for name in data()["never"]}
    found = [
        (entry.parameter, value)
        for entry in catalogue.entries()
        if _is_useful(entry) and spelling(entry.parameter).name not in never
        if not wanted or spelling(entry.parameter).name in wanted
        for value in entry.values
        if value not in data()["no_gain"].get(spelling(entry.parameter).name, ())
    ]
    return list(dict.fromkeys(found))


def _is_useful(entry: catalogue.CatalogueEntry) -> bool:
    acts = entry.takes_effect not in {Effect.NEVER, Effect.RESTART}
    return entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and acts and not entry.warning
