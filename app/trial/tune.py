"""A tuning: tries the safe settings of Samba one after another, each on top of the gains before it.

``sharebench tune`` makes a `Tuning` and runs it. Each setting is tried by a trial of its own (`run_trial`). The events
of the tuning are: Trying, then those of that trial, then Tried; or NotTried for a setting that an audit proposed and
that is skipped; Tuned comes last.
"""

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.errors import UsageError
from app.recording.process import SeriesControl
from app.recording.spec import SeriesRequest
from app.server.changes.samba_place import ConfLine
from app.server.changes.samba_setting import samba_setting
from app.server.changes.script import ConsentNeededError
from app.server.changes.setting import ChangeableSetting, Ways
from app.trial import fitting, tune_candidates
from app.trial.prepare import new_order
from app.trial.record import run_trial
from app.trial.spec import Judged, TrialEvent, TrialOrder
from forms.audit.remedies import Remedy
from forms.stats.decision import Verdict
from forms.stats.paired import LOOKS
from forms.trial.summary import TrialSummary
from forms.trial.tuning import NotTried, TuneSummary
from forms.tuning.smb_conf import spelling
from forms.tuning.trial_rules import risk_of
from storage.changes import LoadWindow, TrialPlan
from storage.looks import Ruling
from storage.plan import DEFAULT_SIZE_BYTES
from storage.records import ExperimentKind

STOP_AFTER = 12
"""Settings in a row without a gain, after which a tuning ends unless the user says otherwise."""


@dataclass(frozen=True, slots=True)
class Trying:
    """A trial of the setting begins."""

    setting: ChangeableSetting
    number: int
    of: int
    """How many settings and values there are to try."""
    reason: str = ""
    """What the audit says against the value that is there; empty for a candidate of the catalogue."""


@dataclass(frozen=True, slots=True)
class Tried:
    """That trial has its result."""

    summary: TrialSummary


@dataclass(frozen=True, slots=True)
class Tuned:
    """The tuning is over, and all is restored."""

    summary: TuneSummary


TuningEvent = TrialEvent | Trying | NotTried | Tried | Tuned


@dataclass(slots=True, kw_only=True)
class Tuning:
    """A tuning under way: what is tried, what helped so far and stands in all later trials, and what was skipped."""

    # What is to be done
    request: SeriesRequest
    """What each run measures; of a smaller file than was asked for as long as there is a ``usual``."""
    ways: Ways
    """How the server is reached, and whether smbd may be restarted for what the audit proposes."""
    looks: tuple[int, ...] = LOOKS
    """After how many pairs each trial is judged."""
    load: LoadWindow | None = None
    """The window of a load to measure in place of a transfer; None for transfers."""
    stop_after: int = STOP_AFTER
    """Settings in a row without a gain, after which it ends."""
    within_seconds: float = math.inf
    only: tuple[str, ...] = ()
    """The names of the settings to try; empty for all."""
    first: tuple[Remedy, ...] = ()
    """What an audit of the server proposes, tried before all others."""
    usual: fitting.FittedRequest | None = None
    """What the request would measure, where its runs would take too long: measured once a gain has made them short."""

    # What came of it so far
    trials: list[TrialSummary] = field(default_factory=list)
    not_tried: list[NotTried] = field(default_factory=list)
    kept_lines: list[ConfLine] = field(default_factory=list)
    """What was found faster: written beside the value of each later trial."""
    kept_by_restart: bool = False
    """Whether only a restart of smbd brings one of those lines into effect."""
    untried: tuple[str, ...] = ()
    """The settings of the catalogue of which a value is still to be tried; empty once it came to the end."""

    def measure_fitted(self, fitted: fitting.FittedRequest) -> None:
        """Measure the smaller file of the fitted request, if it has one; what was asked for is kept as ``usual``."""
        if fitted.request is not self.request:
            self.usual = replace(fitted, request=self.request)
            self.request = fitted.request

    def check(self) -> None:
        """Raises UsageError where the remedy of the costliest harmful finding needs a restart that nobody allowed."""
        harmful = next((remedy for remedy in self.first if remedy.finding.verdict is Ruling.HARMFUL), None)
        if harmful is None:
            return

        try:
            self._check_setting(harmful.name, harmful.value)
        except ConsentNeededError as error:
            if error.risk_of is None:  # a restart is what nobody allowed, not a risk of the setting
                raise UsageError(
                    f"the audit proposes {harmful.name} = {harmful.value} first, which needs a restart of smbd: allow"
                    " that with --allow-restart, or try other settings on the server as it is with --only NAME;"
                    " nothing was measured"
                ) from error
        except UsageError:
            pass  # said when its turn comes

    def run(self, path: Path, control: SeriesControl) -> Generator[TuningEvent, None, None]:
        """Try one after another; the last event is Tuned. Raises as a trial does, with everything restored."""
        proposed = [(remedy.name, remedy.value) for remedy in self.first]
        in_catalogue = tune_candidates.candidates(self.only)
        all_candidates = list(dict.fromkeys([*proposed, *in_catalogue]))
        ends_at = time.monotonic() + self.within_seconds
        is_ended_early = False

        # A candidate is a setting with one value; what the audit proposes is among the catalogue's only by chance.
        for number, (name, value) in enumerate(all_candidates, start=1):
            to_come = [candidate for candidate in all_candidates[number - 1 :] if candidate in in_catalogue]
            self.untried = self._names_not_kept(to_come)
            if self._is_over(ends_at):
                is_ended_early = True
                break

            setting = self._setting_to_try(name, value)
            if setting is None:
                continue  # the server has that value already, or an earlier trial kept another one
            if isinstance(setting, NotTried):
                self.not_tried.append(setting)
                # Of the catalogue's, which are many, only the summary tells that they were skipped.
                if (name, value) in proposed:
                    yield setting
                continue
            yield Trying(setting, number, len(all_candidates), self._reason_of_audit(name, value))
            yield from self._try_setting(setting, path, control, ends_at)
        else:
            # It came to the end of the candidates.
            self.untried = ()
        yield Tuned(self.summary(stopped=is_ended_early))

    def _is_over(self, ends_at: float) -> bool:
        """Whether enough settings in a row gave no gain, or the time is over."""
        return self._tried_in_vain() >= self.stop_after or time.monotonic() >= ends_at

    def _tried_in_vain(self) -> int:
        """The number of trials since the last gain."""
        count = 0
        for trial in reversed(self.trials):
            if trial.verdict is Verdict.FASTER:
                break
            count += 1
        return count

    def _reason_of_audit(self, name: str, value: str) -> str:
        """What the audit says against the value that is there; empty where the audit does not propose this one."""
        reasons = {(remedy.name, remedy.value): remedy.finding.why for remedy in self.first}
        return reasons.get((name, value), "")

    def _try_setting(
        self, setting: ChangeableSetting, path: Path, control: SeriesControl, ends_at: float
    ) -> Generator[TrialEvent | Tried, None, None]:
        """The events of a trial of the setting, and its result, if it came to one; a gain is kept.

        The trial may take what is left of the time; it has restored the server when its events end.
        """
        order = replace(self._order_for(setting), within_seconds=ends_at - time.monotonic())
        summary = None
        for event in run_trial(order, path, control):
            if isinstance(event, Judged):
                summary = event.summary
            yield event

        if isinstance(summary, TrialSummary):
            self.trials.append(summary)
            yield Tried(summary)
            if summary.verdict is Verdict.FASTER:
                self._keep(setting, summary)

    def _names_not_kept(self, to_come: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        """The settings of these names and values, each once, but for those that are kept already."""
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
        if not self.usual or not summary.pairs:
            return

        # At the rate that was reached last, a run of the usual file may be short enough; else the file at least grows.
        usual = self.usual
        smaller_bytes = fitting.fitting_bytes(usual.usual_bytes, summary.pairs[-1].other_rate)
        if smaller_bytes is None:
            self.request = usual.request
        else:
            self.request = fitting.with_file_of(usual.request, min(smaller_bytes, DEFAULT_SIZE_BYTES))

    def _check_setting(self, name: str, value: str) -> ChangeableSetting:
        """The setting as it can be changed there; only what the audit proposes may restart smbd. Raises UsageError."""
        is_proposed = any((remedy.name, remedy.value) == (name, value) for remedy in self.first)
        ways = replace(self.ways, restart=self.ways.restart and is_proposed)
        return samba_setting(
            name, [value], self.request.target, ways, kept_lines=self.kept_lines, kept_by_restart=self.kept_by_restart
        )

    def _setting_to_try(self, name: str, value: str) -> ChangeableSetting | NotTried | None:
        """The setting; or why it is skipped; or None for one that is kept, or whose value the server has already."""
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
        return NotTried(name=smb_name, value=value, why=obstacle)
