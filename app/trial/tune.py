"""A tuning: try the safe smb.conf candidates in sequence, each on top of the gains before it."""

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import UsageError
from app.recording.process import SeriesControl
from app.recording.spec import SeriesRequest
from app.server.changes.script import ConsentNeededError
from app.server.changes.smb_conf import ChangeableSetting, ConfLine, Ways, samba_setting
from app.trial.record import run_trial
from app.trial.spec import FittedRequest, Judged, TrialEvent, fitting_bytes, new_order, with_file_of
from forms.audit.report import Remedy
from forms.stats.decision import Verdict
from forms.trial.summary import TrialSummary
from forms.trial.tuning import NotTried, TuneSummary
from forms.tuning import catalogue
from forms.tuning.catalogue import Effect, EntryKind, Status
from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import data, risk_of
from storage.changes import LoadWindow, TrialPlan
from storage.json_reader import named
from storage.looks import Ruling
from storage.plan import DEFAULT_SIZE_BYTES
from storage.records import ExperimentKind

STOP_AFTER = 12


@dataclass(frozen=True, slots=True)
class Trying:
    setting: ChangeableSetting
    number: int
    of: int
    why: str = ""
    """What the audit says against the value that is there; empty for a candidate of the catalogue."""


@dataclass(frozen=True, slots=True)
class Tried:
    summary: TrialSummary


@dataclass(frozen=True, slots=True)
class Tuned:
    summary: TuneSummary


@dataclass(slots=True, kw_only=True)
class Tuning:
    request: SeriesRequest
    ways: Ways
    looks: tuple[int, ...]
    load: LoadWindow | None = None
    stop_after: int = STOP_AFTER
    within_seconds: float = math.inf
    only: tuple[str, ...] = ()
    first: tuple[Remedy, ...] = ()
    """What an audit of the server proposes, tried before all others; ``ways`` say whether smbd may restart."""
    usual: FittedRequest | None = None
    """What the request would measure, where its runs would take too long: measured once a gain has made them short."""
    trials: list[TrialSummary] = field(default_factory=list)
    not_tried: list[NotTried] = field(default_factory=list)
    kept: list[ConfLine] = field(default_factory=list)
    kept_by_restart: bool = False
    left: tuple[str, ...] = ()
    """The settings of the catalogue that were not tried with each value."""

    def check(self) -> None:
        """Raises UsageError where the remedy of the costliest harmful finding needs a restart that nobody allowed."""
        harmful = next((one for one in self.first if one.finding.verdict is Ruling.HARMFUL), None)
        if harmful is None:
            return
        try:
            self._checked(harmful.name, harmful.value)
        except ConsentNeededError as error:
            if error.risk_of is None:
                raise UsageError(
                    f"the audit proposes {harmful.name} = {harmful.value} first, which needs a restart of smbd: allow"
                    " that with --allow-restart, or try other settings on the server as it is with --only NAME;"
                    " nothing was measured"
                ) from error
        except UsageError:
            pass  # said when its turn comes

    def run(
        self, path: Path, control: SeriesControl
    ) -> Generator[TrialEvent | Trying | NotTried | Tried | Tuned, None, None]:
        """Try one after another; the last event is Tuned. Raises as a trial does, with everything restored."""
        reasons = {(one.name, one.value): one.finding.why for one in self.first}
        in_catalogue = candidates(self.only)
        found = list(dict.fromkeys([*reasons, *in_catalogue]))
        in_vain, ends_at = 0, time.monotonic() + self.within_seconds
        for number, (name, value) in enumerate(found, start=1):
            kept = {line.name for line in self.kept}
            to_come = (spelling(one[0]).name for one in found[number - 1 :] if one in in_catalogue)
            self.left = tuple(one for one in dict.fromkeys(to_come) if one not in kept)
            if in_vain >= self.stop_after or time.monotonic() >= ends_at:
                break
            setting = self._setting(name, value)
            if setting is None:
                if (name, value) in reasons and self.not_tried and self.not_tried[-1].name == name:
                    yield self.not_tried[-1]
                continue
            yield Trying(setting, number, len(found), reasons.get((name, value), ""))
            plan = TrialPlan(**named(setting, "kind", "name", "values"), **named(self, "looks", "load"))
            order = new_order(self.request, setting, kind=ExperimentKind.TRIAL, plan=plan)
            order = replace(order, within_seconds=ends_at - time.monotonic())
            summary = None
            for event in run_trial(order, path, control):
                summary = event.summary if isinstance(event, Judged) else summary
                yield event
            if isinstance(summary, TrialSummary):
                self.trials.append(summary)
                yield Tried(summary)
                in_vain += 1
                if summary.verdict is Verdict.FASTER:
                    in_vain = 0
                    self._keep(setting, summary)
        else:
            self.left = ()
        yield Tuned(self.summary(stopped=in_vain >= self.stop_after or time.monotonic() >= ends_at))

    def summary(self, *, stopped: bool = False) -> TuneSummary:
        base = self.trials[0].base if self.trials else None
        return TuneSummary(base=base, trials=tuple(self.trials), not_tried=tuple(self.not_tried), stopped=stopped)

    def _keep(self, setting: ChangeableSetting, summary: TrialSummary) -> None:
        """Let the value stand in all later trials, and measure the usual file again if that is short enough now."""
        self.kept.append(ConfLine(section=setting.section.strip("[]"), name=setting.name, value=summary.value))
        self.kept_by_restart |= bool(setting.place and setting.place.restart)
        if self.usual and summary.pairs:
            usual = self.usual
            fitting = fitting_bytes(usual.usual_bytes, summary.pairs[-1].other_rate)
            size_bytes = fitting and min(fitting, DEFAULT_SIZE_BYTES)
            self.request = with_file_of(usual.request, size_bytes) if size_bytes else usual.request

    def _checked(self, name: str, value: str) -> ChangeableSetting:
        proposed = any((one.name, one.value) == (name, value) for one in self.first)
        ways, target = replace(self.ways, restart=self.ways.restart and proposed), self.request.target
        return samba_setting(name, [value], target, ways, kept=self.kept, kept_by_restart=self.kept_by_restart)

    def _setting(self, name: str, value: str) -> ChangeableSetting | None:
        if any(line.name == spelling(name).name for line in self.kept):
            return None
        why = risk_of(spelling(name).name, value)
        try:
            if why is None:
                setting = self._checked(name, value)
                if not setting.same(setting.previous or "", value):
                    return setting
                return None  # it is that already
        except UsageError as error:
            why = str(error)
        self.not_tried.append(NotTried(name=spelling(name).name, value=value, why=why or ""))
        return None


def candidates(only: Sequence[str] = ()) -> list[tuple[str, str]]:
    """smb.conf parameters and values in order of impact, without those that need a restart."""
    wanted = {spelling(name).name for name in only}
    never = {spelling(name).name for name in data()["never"]}
    found = [
        (entry.parameter, value)
        for entry in catalogue.entries()
        if entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and not entry.warning
        if entry.takes_effect not in {Effect.NEVER, Effect.RESTART} and spelling(entry.parameter).name not in never
        if not wanted or spelling(entry.parameter).name in wanted
        for value in entry.values
        if value not in data()["no_gain"].get(spelling(entry.parameter).name, ())
    ]
    return list(dict.fromkeys(found))
