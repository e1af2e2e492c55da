"""A tuning: try the safe smb.conf candidates in sequence, each on top of the gains before it."""

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import UsageError
from app.recording.process import SeriesControl
from app.recording.spec import SeriesRequest
from app.server.changes.samba_place import ConfLine
from app.server.changes.script import ConsentNeededError
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.changes.smb_conf import samba_setting
from app.trial.fitting import FittedRequest, fitting_bytes, with_file_of
from app.trial.record import run_trial
from app.trial.spec import Judged, TrialEvent, TrialOrder, new_order
from forms.audit.remedies import Remedy
from forms.stats.decision import Verdict
from forms.trial.summary import TrialSummary
from forms.trial.tuning import NotTried, TuneSummary
from forms.tuning import catalogue
from forms.tuning.catalogue import Effect, EntryKind, Status
from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import data, risk_of
from storage.changes import LoadWindow, TrialPlan
from storage.looks import Ruling
from storage.plan import DEFAULT_SIZE_BYTES
from storage.records import ExperimentKind

STOP_AFTER = 12


@dataclass(frozen=True, slots=True)
class Trying:
    setting: ChangeableSetting
    number: int
    of: int
    reason: str = ""
    """What the audit says against the value that is there; empty for a candidate of the catalogue."""


@dataclass(frozen=True, slots=True)
class Tried:
    summary: TrialSummary


@dataclass(frozen=True, slots=True)
class Tuned:
    summary: TuneSummary


@dataclass(slots=True, kw_only=True)
class Tuning:
    """A tuning under way: what is tried, what helped so far and stands in all later trials, and what was skipped."""

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
    kept_lines: list[ConfLine] = field(default_factory=list)
    kept_by_restart: bool = False
    left: tuple[str, ...] = ()
    """The settings of the catalogue that were not tried with each value."""

    def check(self) -> None:
        """Raises UsageError where the remedy of the costliest harmful finding needs a restart that nobody allowed."""
        harmful = next((remedy for remedy in self.first if remedy.finding.verdict is Ruling.HARMFUL), None)
        if harmful is None:
            return

        try:
            self._check_setting(harmful.name, harmful.value)
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
        reasons = {(remedy.name, remedy.value): remedy.finding.why for remedy in self.first}
        in_catalogue = candidates(self.only)
        all_candidates = list(dict.fromkeys([*reasons, *in_catalogue]))
        tried_in_vain = 0
        ends_at = time.monotonic() + self.within_seconds

        for number, (name, value) in enumerate(all_candidates, start=1):
            to_come = [candidate for candidate in all_candidates[number - 1 :] if candidate in in_catalogue]
            self.left = self._names_not_kept(to_come)
            if tried_in_vain >= self.stop_after or time.monotonic() >= ends_at:
                break

            setting = self._setting_to_try(name, value)
            if setting is None:
                if (name, value) in reasons and self.not_tried and self.not_tried[-1].name == name:
                    yield self.not_tried[-1]
                continue

            yield Trying(setting, number, len(all_candidates), reasons.get((name, value), ""))
            order = replace(self._order_for(setting), within_seconds=ends_at - time.monotonic())
            summary = None
            for event in run_trial(order, path, control):
                if isinstance(event, Judged):
                    summary = event.summary
                yield event

            if isinstance(summary, TrialSummary):
                self.trials.append(summary)
                yield Tried(summary)
                tried_in_vain += 1
                if summary.verdict is Verdict.FASTER:
                    tried_in_vain = 0
                    self._keep(setting, summary)
        else:
            self.left = ()
        yield Tuned(self.summary(stopped=tried_in_vain >= self.stop_after or time.monotonic() >= ends_at))

    def _names_not_kept(self, to_come: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        kept_names = {line.name for line in self.kept_lines}
        names = dict.fromkeys(spelling(name).name for name, _ in to_come)
        return tuple(name for name in names if name not in kept_names)

    def _order_for(self, setting: ChangeableSetting) -> TrialOrder:
        plan = TrialPlan(kind=setting.kind, name=setting.name, values=setting.values, looks=self.looks, load=self.load)
        return new_order(self.request, setting, kind=ExperimentKind.TRIAL, plan=plan)

    def summary(self, *, stopped: bool = False) -> TuneSummary:
        base = self.trials[0].base if self.trials else None
        return TuneSummary(base=base, trials=tuple(self.trials), not_tried=tuple(self.not_tried), stopped=stopped)

    def _keep(self, setting: ChangeableSetting, summary: TrialSummary) -> None:
        """Let the value stand in all later trials, and measure the usual file again if that is short enough now."""
        self.kept_lines.append(ConfLine(section=setting.section.strip("[]"), name=setting.name, value=summary.value))
        self.kept_by_restart |= bool(setting.place and setting.place.restart)
        if self.usual and summary.pairs:
            usual = self.usual
            fitting = fitting_bytes(usual.usual_bytes, summary.pairs[-1].other_rate)
            size_bytes = fitting and min(fitting, DEFAULT_SIZE_BYTES)
            self.request = with_file_of(usual.request, size_bytes) if size_bytes else usual.request

    def _check_setting(self, name: str, value: str) -> ChangeableSetting:
        """The setting as it can be changed there; only what the audit proposes may restart smbd. Raises UsageError."""
        is_proposed = any((remedy.name, remedy.value) == (name, value) for remedy in self.first)
        ways = replace(self.ways, restart=self.ways.restart and is_proposed)
        return samba_setting(
            name, [value], self.request.target, ways, kept_lines=self.kept_lines, kept_by_restart=self.kept_by_restart
        )

    def _setting_to_try(self, name: str, value: str) -> ChangeableSetting | None:
        """None for what is kept, what the server has already, and what is skipped, whose reason is noted."""
        smb_name = spelling(name).name
        if any(line.name == smb_name for line in self.kept_lines):
            return None

        obstacle = risk_of(smb_name, value)
        if obstacle is None:
            try:
                setting = self._check_setting(name, value)
            except UsageError as error:
                obstacle = str(error)
            else:
                is_set_already = setting.same(setting.previous or "", value)
                return None if is_set_already else setting
        self.not_tried.append(NotTried(name=smb_name, value=value, why=obstacle))
        return None


def candidates(only: Sequence[str] = ()) -> list[tuple[str, str]]:
    """smb.conf parameters and values in order of impact, without those that need a restart."""
    wanted_names = {spelling(name).name for name in only}
    pairs: dict[tuple[str, str], None] = {}
    for entry in catalogue.entries():
        name = spelling(entry.parameter).name
        if not _is_candidate(entry, name) or (wanted_names and name not in wanted_names):
            continue
        values_without_gain = data()["no_gain"].get(name, ())
        for value in entry.values:
            if value not in values_without_gain:
                pairs[entry.parameter, value] = None
    return list(pairs)


def _is_candidate(entry: catalogue.CatalogueEntry, name: str) -> bool:
    never = {spelling(never_tried).name for never_tried in data()["never"]}
    is_usable = entry.kind is EntryKind.SMB_CONF and entry.status is Status.EXISTS and not entry.warning
    acts_at_once = entry.takes_effect not in {Effect.NEVER, Effect.RESTART}
    return is_usable and acts_at_once and name not in never
