"""What a tuning came to, on one page: what to write into smb.conf, what it is worth, and what was tried for nothing."""

from dataclasses import dataclass

from forms.stats.decision import Verdict
from forms.trials.summary import TrialSummary
from storage.records import Series


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTried:
    """A candidate that was passed over."""

    name: str
    value: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneSummary:
    """The trials of a tuning in the order they were made, each on top of what was found before it."""

    base: Series | None
    trials: tuple[TrialSummary, ...]
    not_tried: tuple[NotTried, ...] = ()
    stopped: bool = False
    """Whether it ended before the list did, since nothing more was found."""

    @property
    def found(self) -> tuple[TrialSummary, ...]:
        """What was faster."""
        return tuple(one for one in self.trials if one.verdict is Verdict.FASTER)

    @property
    def worth_percent(self) -> float:
        """What all that was found is worth together, each measured on top of those before it."""
        factor = 1.0
        for one in self.found:
            factor *= 1 + (one.effect.change_percent if one.effect else 0.0) / 100
        return 100 * (factor - 1)
