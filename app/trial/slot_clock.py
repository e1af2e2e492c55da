"""How long a trial on the screen takes at most, by the slots that are done (values that were set and measured)."""

from dataclasses import dataclass

from app.trial.spec import TrialOrder
from forms.stats.settle import slot_seconds
from forms.wording import duration


@dataclass(slots=True)
class SlotClock:
    """Counts the slots of a trial, which has two for each pair. All times are by the monotonic clock."""

    slots: int = 0
    """Values that were set: those that are done, and the one that is measured now."""
    pairs_to_come: int = 0
    """At most, after the pair that is measured."""
    began_at: float = 0.0
    """When the first value was set."""

    def begin_slot(self, pairs_to_come: int, now: float) -> None:
        """A value was set, in a pair after which that many come at most."""
        if not self.slots:
            self.began_at = now
        self.slots += 1
        self.pairs_to_come = pairs_to_come

    def time_left(self, order: TrialOrder, now: float) -> str:
        """How long it takes at most, in words behind a sentence; empty where that is not known.

        By the slots that are done; before the first of them, by what a run was expected to take.
        """
        passed = now - self.began_at
        if passed > order.within_seconds:
            return "; the time is over, this pair is the last"

        # Where the number of slots that are done is odd, the first slot of this pair is one of them.
        done_slots = self.slots - 1
        slots_to_come = 2 * self.pairs_to_come + 2 - done_slots % 2
        if done_slots > 0:
            most_left = passed / done_slots * slots_to_come
        elif order.run_seconds:
            most_left = slot_seconds(order.run_seconds) * slots_to_come - passed
        else:
            return ""

        left = max(0.0, min(most_left, order.within_seconds - passed))
        return f"; up to about {duration(left)} left" if left else ""
