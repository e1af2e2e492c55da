"""The result of a comparison: verdict, basis, and what would settle it."""

from dataclasses import dataclass

from forms import wording
from forms.comparison.hiccups import Alternative, OutstandingRun, runs_text
from forms.comparison.settling import REQUIRED, VERSUS_DIFFERENCES, SettlingStep, typed_value
from forms.layout import Sign, Tone
from forms.series.summary import duration
from forms.stats.changes import percent_of
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict
from forms.trial.summary import TrialSummary
from forms.tuning.differences import Difference, session_difference, told
from forms.wording import VERDICT_SIGNS, VERDICT_WORDS, verdict_sentence
from storage.records import Change

_OTHER_PATH = ("command", "target", "client.name")
OWN_SIGNS = {Doubt.CONTRADICTED: Sign.WARNING, Doubt.SAME_SETTINGS: Sign.SAME}
MANY_RUNS = 30
_PLAIN_P = 0.01
"""Below this p the verdict needs no word of what chance does."""
_REVERSE = {Verdict.FASTER: Verdict.SLOWER, Verdict.SLOWER: Verdict.FASTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(ChangeDecision):
    base_id: str
    other_id: str
    base_name: str
    other_name: str
    base_ids: tuple[str, ...]
    other_ids: tuple[str, ...]
    base_runs: int
    other_runs: int
    base_bytes_per_second: float | None
    other_bytes_per_second: float | None
    base_deviation_bytes_per_second: float | None = None
    """The standard deviation of the runs, pooled over the side's series."""
    other_deviation_bytes_per_second: float | None = None
    left_out: tuple[OutstandingRun, ...] = ()
    """The runs that the judged averages leave out, because they stand out."""
    judged_base_bytes_per_second: float | None = None
    """The average without them; None where every run counts, or nothing is judged."""
    judged_other_bytes_per_second: float | None = None
    without: Alternative | None = None
    """Where it is inconclusive because of particular runs: what it would be without them."""
    needed_runs: int | None = None
    needed_runs_range: tuple[int, int | None] | None = None
    """(fewest, most) that a first look leaves open; None for most: no number may be enough."""
    needed_seconds: float | None = None
    """That they take on both sides."""
    needed_series: int | None = None
    apart_percent: float | None = None
    """The most by which equal series differ, 19 times in 20."""
    history_count: int = 0
    history_days: float | None = None
    settle: SettlingStep | None = None
    base_wander_percent: float | None = None
    limits: Limits
    """Its level is above 0.95 for several comparisons at once (Holm)."""
    differences: tuple[Difference, ...] = ()
    busy_ids: tuple[str, ...] = ()
    """The series of a side of which none was measured at a quiet or typical time."""
    has_short_runs: bool = False
    """Where the settings are the same: whether the newer series has, as its own warnings say."""
    server_seen: bool = True
    is_alike: bool = False
    """Whether nothing differs, in the server's settings either, or was changed: again, both would be the same."""
    change: Change | None = None
    tried: TrialSummary | None = None
    """A whole trial of the change, newer than it."""
    tried_back: bool = False
    interleaved_since: bool = False
    stands_in: bool = False
    """Whether these two, whose runs were interleaved, stand for series that were named."""

    @property
    def known(self) -> bool:
        return self.verdict is not Verdict.UNKNOWN

    @property
    def the_change(self) -> Change | None:
        """The change that was claimed, or else the one setting of this client that differs."""
        differing = told(self.differences)
        one = differing[0] if len(differing) == 1 else None
        if self.change or one is None or None in (one.base, one.other):
            return self.change
        if name := VERSUS_DIFFERENCES.get(one.name):
            return Change(name=name, value=typed_value(name, one.other), previous=typed_value(name, one.base))
        asked = next((each for each in self.differences if each.name in REQUIRED), None)
        name = f"client {asked.name.removeprefix('settings.')}" if asked else ""
        return Change(name=name, value="yes" if asked.other else "no") if asked else None

    @property
    def decided(self) -> Verdict:
        """The trial's verdict where it has one, else its own."""
        if self.tried is None or self.tried.verdict is Verdict.UNKNOWN:
            return self.verdict
        return _REVERSE.get(self.tried.verdict, Verdict.SAME) if self.tried_back else self.tried.verdict

    @property
    def sign(self) -> Sign:
        """The verdict's, but ``!`` where contradicted and ``=`` for mere variation."""
        return OWN_SIGNS.get(self.doubt, VERDICT_SIGNS[self.verdict]) if self.doubt else VERDICT_SIGNS[self.verdict]

    @property
    def word(self) -> str:
        if self.doubt is Doubt.CONTRADICTED:
            return "Contradicted"
        return "Variation" if self.doubt is Doubt.SAME_SETTINGS else VERDICT_WORDS[self.verdict]

    @property
    def tone(self) -> Tone:
        return VERDICT_SIGNS[self.verdict].tone

    @property
    def figures(self) -> str:
        if self.change_percent is None:
            return "no change can be computed"
        ends = self.interval_percent
        return f"{wording.signed_percent(self.change_percent)}{wording.interval_text(*ends, 1) if ends else ''}"

    @property
    def headline(self) -> str:
        session = None if self.tried else session_difference(self.differences)  # a trial has restored it since
        return f"{_verdict(self)}{f'; {session}' if session else ''}."

    @property
    def sentence(self) -> str:
        to_do = self.settle.sentence if self.settle else hint_sentence(self)
        without = self.without.sentence if self.without else None
        return " ".join(filter(None, (self.headline, without, basis_sentence(self), to_do)))

    @property
    def title(self) -> str:
        sides = (self.other_name, self.other_ids), (self.base_name, self.base_ids)
        more = (f" and {wording.count(len(ids) - 1, 'repeat')}" if len(ids) > 1 else "" for _, ids in sides)
        return " against ".join(f"{name}{repeats}" for (name, _), repeats in zip(sides, more, strict=True))


def _verdict(found: Comparison) -> str:
    change = found.change_percent
    if found.doubt is Doubt.CONTRADICTED and found.change:
        ends = found.interval_percent
        reason = "has another reason" if ends and not ends[0] <= 0 <= ends[1] else "may be chance"
        return (
            f"Not the change that was claimed ({wording.plain(found.change.name)} = {wording.plain(found.change.value)}"
            f" is contradicted): {found.figures} {reason}"
        )
    if found.doubt is Doubt.NO_RUNS or change is None:
        return "Inconclusive: a side has no valid run"
    if found.doubt is Doubt.SAME_SETTINGS:
        else_ = "" if found.server_seen else "; the server's settings were not read"
        way = "faster" if change > 0 else "slower"
        low, high = found.interval_percent or (0.0, 0.0)
        if low > 0 or high < 0:
            seen = f"Same settings, but {wording.percent(abs(change))} {way}"
            return f"{seen}: more than equal series differ, so look for what else has changed"
        same = "Same settings" if found.server_seen else "No setting is known to differ"
        if not round(change, 1):
            return f"{same}, and no difference is seen{else_}"
        return f"{same}: {wording.percent(abs(change))} {way} is no more than series vary by themselves{else_}"
    if found.doubt is Doubt.FEW_RUNS:
        needed = f"a verdict needs at least {found.needed_runs} runs a side, and there are {_have(found)}"
        return f"Inconclusive: {wording.signed_percent(change)}, but {needed}"
    if found.verdict is Verdict.UNKNOWN and found.decided is not Verdict.UNKNOWN:
        return f"These series alone cannot tell: {found.figures}"
    return verdict_sentence(found.verdict, change, found.interval_percent, _varies_by_percent(found))


def _varies_by_percent(found: Comparison) -> float | None:
    """What the runs vary by, or the pairs' differences by the interval of their mean."""
    return 100 * found.variation.run_deviation if found.variation else None


def basis_sentence(found: Comparison) -> str | None:
    """What the verdict was judged by, and which runs it leaves out."""
    if found.interleaved:
        return _basis_of_interleaved(found)
    if found.apart_percent is None:
        return None
    left_out = f"{_left_out_sentence(found)} " if found.left_out else ""
    return f"{left_out}{_basis_of_series(found, found.apart_percent)}"


def _basis_of_interleaved(found: Comparison) -> str:
    same = f"Less than {found.limits.margin_percent:g} % counts as none. " * (found.verdict is Verdict.SAME)
    chance = ""
    is_change = found.verdict in (Verdict.FASTER, Verdict.SLOWER)
    if is_change and found.p_value is not None and found.p_value > _PLAIN_P:
        times = int(1 / found.p_value)
        chance = f"By chance alone equal sides differ as much in 1 of {times} such comparisons. "
    return f"{same}{chance}The runs were interleaved: what slows both down cancels out, and no earlier change shows."


def _left_out_sentence(found: Comparison) -> str:
    verb = "is" if len(found.left_out) == 1 else "are"
    return f"Judged without {runs_text(found.left_out)}, which {verb} left out of the average."


def _basis_of_series(found: Comparison, apart_percent: float) -> str:
    base_count = len(found.base_ids)
    other_count = len(found.other_ids)
    if found.history_count:
        newest = ", the newest" if found.history_count > 1 else ","
        age = f"{newest} {_age(found.history_days)} before" if found.history_days is not None else ""
        judged = f" (judged with {found.history_count:,} earlier series{age})"
        return f"Series here show only changes beyond {wording.beyond(apart_percent)}{judged}."
    if base_count + other_count == 2 or found.variation is None or found.critical is None:
        runs = wording.percent(100 * found.variation.run_deviation) if found.variation else ""
        why = f": the runs vary by {runs}, and series by more" if runs else ""
        return f"One series a side shows only changes beyond {wording.beyond(apart_percent)}{why}."
    least = found.critical * found.variation.error(base_count, other_count)
    beyond = wording.beyond(percent_of(least))
    return f"Averages of {base_count} and {other_count} series show only changes beyond {beyond}."


def _age(days: float | None) -> str:
    hours = 24 * (days or 0.0)
    if hours < 1:
        return wording.count(max(1, round(60 * hours)), "minute")
    return wording.count(round(hours), "hour") if hours < 48 else wording.count(round(days or 0), "day")


def hint_sentence(found: Comparison) -> str | None:
    """What to do where no step would settle it, or None."""
    if found.interleaved_since and not found.known:
        return "Their runs were interleaved later: compare just these two."
    if not _is_open(found):
        return None
    if found.is_alike:
        return "Nothing that was recorded differs: measured again, both show only how series vary."
    if found.limits.noise_percent >= found.limits.margin_percent:
        return "Nothing can settle it while the noise threshold is as wide as the margin of no change."
    if found.needed_runs is not None and can_interleave(found):
        low, high = found.needed_runs_range or (found.needed_runs, found.needed_runs)
        most = f"likely {low} to {high}" if high and high <= MANY_RUNS else "perhaps more"
        likely = "" if low == high else f" ({most})"
        cost = f", in about {duration(found.needed_seconds)}" if found.needed_seconds else ""
        said = f"About {found.needed_runs} interleaved runs a side would settle it{likely}{cost}"
        return f"{said}; there are {_have(found)}."
    if not needs_longer_runs(found):
        return None
    return "The runs vary too much to show it: measure longer runs of a larger file, or at a quieter time."


def interleaving(found: Comparison) -> str:
    """What would settle a comparison of interleaved runs, by name and with the time that it takes."""
    cost = f", about {duration(found.needed_seconds)}" if found.needed_seconds else ""
    return f"Measure both again, interleaved: {found.needed_runs} runs each{cost}"


def needs_longer_runs(found: Comparison) -> bool:
    """Whether no number of runs or series like these would settle it."""
    other_path = any(difference.name in _OTHER_PATH for difference in found.differences)
    within = found.limits.noise_percent < found.limits.margin_percent and not found.is_alike
    return _is_open(found) and found.settle is None and within and not (can_interleave(found) or other_path)


def _is_open(found: Comparison) -> bool:
    return not (found.known or found.tried or found.doubt in (*OWN_SIGNS, Doubt.NO_RUNS, Doubt.FEW_RUNS))


def can_interleave(found: Comparison) -> bool:
    return found.doubt is Doubt.VARYING and found.needed_runs is not None and found.needed_runs <= MANY_RUNS


def _have(found: Comparison) -> str:
    return f"{found.base_runs} and {found.other_runs}" if found.base_runs != found.other_runs else f"{found.base_runs}"
