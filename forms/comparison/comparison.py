"""The result of a comparison in figures and words: verdict, basis, next step."""

from dataclasses import dataclass

from forms import wording
from forms.comparison.differences import Difference, session_difference
from forms.comparison.settle import SettlingStep
from forms.layout import Tone
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict
from forms.wording import VERDICT_SIGNS, VERDICT_TONES, VERDICT_WORDS, signed_end, verdict_sentence
from storage.records import Change

_OTHER_PATH = ("command", "target", "client.name")
OWN_SIGNS = {Doubt.CONTRADICTED: "!", Doubt.SAME_SETTINGS: "~"}
MANY_RUNS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(ChangeDecision):
    """The result of comparing two sides; absent figures mean too few runs or series."""

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
    needed_runs: int | None = None
    needed_runs_range: tuple[int, int | None] | None = None
    """(fewest, most) that a first look leaves open; None for most: no number may be enough."""
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
    server_seen: bool = True
    change: Change | None = None

    @property
    def known(self) -> bool:
        return self.verdict is not Verdict.UNKNOWN

    @property
    def sign(self) -> str:
        """``+``, ``-``, ``=``, ``?`` inconclusive, ``!`` contradicted, ``~`` mere variation."""
        if self.doubt in OWN_SIGNS:
            return OWN_SIGNS[self.doubt]
        return VERDICT_SIGNS[self.verdict]

    @property
    def word(self) -> str:
        if self.doubt is Doubt.CONTRADICTED:
            return "Contradicted"
        return "Variation" if self.doubt is Doubt.SAME_SETTINGS else VERDICT_WORDS[self.verdict]

    @property
    def tone(self) -> Tone:
        return VERDICT_TONES[self.verdict]

    @property
    def base_again_tells(self) -> bool:
        return all(difference.name not in _OTHER_PATH for difference in self.differences)

    @property
    def figures(self) -> str:
        if self.change_percent is None:
            return "no change can be computed"
        ends = self.interval_percent
        reach = f" ({signed_end(ends[0], 1)} to {signed_end(ends[1], 1)})" if ends else ""
        return f"{wording.signed_percent(self.change_percent)}{reach}"

    @property
    def headline(self) -> str:
        session = session_difference(self.differences)
        return f"{_verdict(self)}{f'; {session}' if session else ''}."

    @property
    def sentence(self) -> str:
        step = self.settle.sentence if self.settle else hint_sentence(self)
        return " ".join(filter(None, (self.headline, basis_sentence(self), step)))


def _verdict(found: Comparison) -> str:
    change = found.change_percent
    if found.doubt is Doubt.CONTRADICTED and found.change:
        return (
            f"Not the change that was claimed ({wording.plain(found.change.name)} = {wording.plain(found.change.value)}"
            f" is contradicted): {found.figures} has another reason"
        )
    if found.doubt is Doubt.NO_RUNS or change is None:
        return "Inconclusive: a side has no valid run"
    if found.doubt is Doubt.SAME_SETTINGS:
        else_ = "" if found.server_seen else ", or a change of the server that was not recorded"
        way = "faster" if change > 0 else "slower"
        return f"Same settings: {wording.percent(abs(change))} {way} is normal variation{else_}"
    if found.doubt is Doubt.FEW_RUNS:
        return (
            f"Inconclusive: {wording.signed_percent(change)}, but a verdict needs at least {found.needed_runs} runs a"
            f" side, and there are {_have(found)}"
        )
    return verdict_sentence(found.verdict, change, found.interval_percent)


def basis_sentence(found: Comparison) -> str | None:
    """What the verdict is based on, or None."""
    if found.interleaved:
        return "The runs were interleaved: what moved both is taken out."
    if found.apart_percent is None:
        return None
    counted = ""
    if found.history_count:
        age = f", the newest {_age(found.history_days)} old" if found.history_days is not None else ""
        counted = f" (judged with {found.history_count} earlier ones{age})"
    return f"Equal series on this path differ by up to {wording.percent(found.apart_percent)} on their own{counted}."


def _age(days: float | None) -> str:
    hours = 24 * (days or 0.0)
    if hours < 1:
        return wording.count(max(1, round(60 * hours)), "minute")
    return wording.count(round(hours), "hour") if hours < 48 else wording.count(round(days or 0), "day")


def hint_sentence(found: Comparison) -> str | None:
    """What to do where no step would settle it, or None."""
    if found.known or found.doubt in (*OWN_SIGNS, Doubt.NO_RUNS, Doubt.FEW_RUNS):
        return None
    if found.limits.noise_percent >= found.limits.margin_percent:
        return "Nothing can settle it while the noise threshold is as wide as the margin of no change."
    if found.doubt is Doubt.VARYING and found.needed_runs is not None and found.needed_runs <= MANY_RUNS:
        low, high = found.needed_runs_range or (found.needed_runs, found.needed_runs)
        likely = "" if low == high else f" (likely {low} to {high if high is not None else 'many more'})"
        return f"About {found.needed_runs} interleaved runs a side would settle it{likely}; there are {_have(found)}."
    if not found.base_again_tells:
        return None
    return "A change this small cannot be shown here: measure longer runs of a larger file, or at a quieter time."


def _have(found: Comparison) -> str:
    return f"{found.base_runs} and {found.other_runs}" if found.base_runs != found.other_runs else f"{found.base_runs}"
