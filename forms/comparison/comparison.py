"""What two sides say about each other, in figures and in words: the verdict, or what would tell."""

import math
from dataclasses import dataclass

from forms import numbers, wording
from forms.comparison.differences import Difference
from forms.stats.decision import Doubt, Verdict
from forms.stats.summary import student_t
from forms.tone import Tone
from forms.verdict_signs import VERDICT_SIGNS, VERDICT_TONES
from storage.records import Change

_OTHER_PATH = ("command", "target", "client.name")
OWN_SIGNS = {Doubt.CONTRADICTED: "!", Doubt.SAME_SETTINGS: "~"}
"""The signs of what is no verdict for another reason than the figures."""
FARTHEST_PERCENT = 1000.0
"""An edge of an interval beyond it is not written out: one degree of freedom makes millions."""
MANY_RUNS = 30
"""A side: who is told to measure more is told nothing of use."""
JUST_FOUND_SHARE = 1 / 3
"""Of a change: where its interval begins nearer to zero than that, the change was only just found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two sides say about each other; absent figures mean too few runs or series for them."""

    base_id: str
    other_id: str
    """Of the first series of each side."""
    base_name: str
    other_name: str
    base_ids: tuple[str, ...]
    other_ids: tuple[str, ...]
    """All series of each side."""
    verdict: Verdict
    """The other against the base."""
    doubt: Doubt | None
    """Why there is no verdict; absent where there is one."""
    base_runs: int
    other_runs: int
    """Valid measured runs of each."""
    base_bytes_per_second: float | None
    other_bytes_per_second: float | None
    """The averages of each."""
    change_percent: float | None
    """The change of the average in percent of the base's."""
    interval_percent: tuple[float, float] | None
    """(low, high): the 95 % interval of the change, in percent; absent where only repeated series could give it."""
    runs_interval_percent: tuple[float, float] | None
    """(low, high) by the runs alone: how far these very series differ, whatever the reason."""
    p_value: float | None
    """The largest p of the tests that the verdict needs: Mann-Whitney's U and Student's t."""
    needed_runs: int | None
    """Runs a side that would likely tell; None where the verdict is known, or where no number of runs would."""
    needed_runs_range: tuple[int, int | None] | None = None
    """(fewest, most) by all that this first look leaves open; None for the most where no number may be enough."""
    smallest_percent: float | None = None
    """The change that as many runs as were measured find nine times in ten; None where runs are not what is missing."""
    needed_series: int | None = None
    """Series a side, measured in alternation, that would likely tell; None where runs are what is missing."""
    between_percent: float | None = None
    """The standard deviation between series of the same settings; absent where none was repeated."""
    between_freedom: int | None = None
    """Its degrees of freedom."""
    base_wander_percent: float | None = None
    """How far the base's own series lie apart, in percent; absent for one series."""
    in_turns: bool = False
    """Whether the runs of both took turns."""
    level: float = 0.95
    """Of the interval: more than 95 % where several comparisons are made at once (Holm)."""
    noise_percent: float
    margin_percent: float
    alpha: float
    differences: tuple[Difference, ...] = ()
    server_seen: bool = True
    """Whether both show the parameters of their server, so that one that was changed would be among the differences."""
    change: Change | None = None
    """What the other series claims to have changed since this base, with the evidence for it."""

    @property
    def known(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict is not Verdict.UNKNOWN

    @property
    def sign(self) -> str:
        """The verdict as one character.

        ``+``, ``-``, ``=``, ``?`` for unknown, ``!`` for what is not the claimed change, ``~`` for mere variation.
        """
        if self.doubt in OWN_SIGNS:
            return OWN_SIGNS[self.doubt]
        return VERDICT_SIGNS[self.verdict]

    @property
    def word(self) -> str:
        """The verdict as one word, and what it is where it is none for another reason than the figures."""
        if self.doubt is Doubt.CONTRADICTED:
            return "contradicted"
        return "variation" if self.doubt is Doubt.SAME_SETTINGS else self.verdict.value

    @property
    def tone(self) -> Tone:
        """How the verdict is meant."""
        return VERDICT_TONES[self.verdict]

    @property
    def base_again_tells(self) -> bool:
        """Whether the base measured once more, after the other, would tell: the two are of one path."""
        return all(difference.name not in _OTHER_PATH for difference in self.differences)

    @property
    def figures(self) -> str:
        """The change with its interval and p, such as ``+2.5 % (95 % interval +1.9 % to +3.1 %), p = 0.0002``."""
        return _figures(self)

    @property
    def sentence(self) -> str:
        """The verdict in words, for a user: with its figures, and what to do where it is not known."""
        return _sentence(self)


def _figures(found: Comparison) -> str:
    """The change with its interval and p, such as ``+2.5 % (95 % interval +1.9 % to +3.1 %), p = 0.0002``."""
    if found.change_percent is None:
        return "no change can be computed"
    known = found.interval_percent
    told = known or found.runs_interval_percent
    kind = f"{100 * found.level:.3g} % interval" if known else "their runs alone"
    edges = f" ({kind} {_signed(told[0])} to {_far_edge(told[1])})" if told else ""
    p = found.p_value
    chance = "" if p is None or not known else f", p {'< 0.0001' if p < 0.0001 else f'= {p:.4f}'}"
    return f"{_signed(found.change_percent)}{edges}{chance}"


def _sentence(found: Comparison) -> str:
    """The verdict for a person, with what to do where there is none."""
    if found.verdict is Verdict.SAME:
        return f"The same: {found.figures}, inside ±{found.margin_percent:g} %."
    if found.known:
        return f"{found.verdict.capitalize()}: {found.figures}."
    if found.doubt is Doubt.CONTRADICTED and found.change:
        return (
            f"Not the change that was claimed ({wording.plain(found.change.name)} = {wording.plain(found.change.value)}"
            f" is contradicted): the {found.figures} between the two have another reason."
        )
    if found.doubt is Doubt.SAME_SETTINGS:
        else_ = "no change made it" if found.server_seen else "or a change of the server that nobody saw"
        return f"The same settings: {found.figures} is variation, {else_}."
    if found.doubt is Doubt.NO_REPEATS:
        return (
            f"Not known: these two differ by {found.figures}; whether the change did it is not known:"
            f" {_measure_again(found)}."
        )
    return f"Not known yet: {found.figures}; {_what_would_tell(found)}."


def luck_sentence(found: Comparison) -> str | None:
    """That a change which was only just found may be told too large; None where it stands well clear of chance.

    Where few runs find a change every fifth time, those are the times that chance helped, and what they tell is nearly
    twice the truth.
    """
    edges, told = found.interval_percent, found.change_percent
    if found.verdict not in (Verdict.FASTER, Verdict.SLOWER) or edges is None or told is None:
        return None
    nearest, farthest = sorted(map(abs, edges))
    if nearest >= JUST_FOUND_SHARE * abs(told):
        return None
    return (
        "It was only just found, and a change that it takes luck to find is told too large: take the interval"
        f" ({wording.percent(nearest)} to {wording.percent(farthest)}) for the answer, or measure more."
    )


def basis_sentence(found: Comparison) -> str | None:
    """What an interval rests on: turns, or how far equal series lie apart; None where there is none."""
    if found.in_turns:
        return "Measured in turns, a run each: what moved both is taken out."
    if found.interval_percent is None or found.between_percent is None:
        return None
    freedom = wording.count(found.between_freedom or 0, "degree")
    return (
        "Measured one after the other; the interval allows for what equal series lie apart: a standard deviation of"
        f" {wording.percent(found.between_percent)} with {freedom} of freedom."
    )


def _far_edge(percent: float) -> str:
    """The upper edge of an interval; one that is out of all measure says no more than that."""
    return _signed(percent) if percent < FARTHEST_PERCENT else f"over +{FARTHEST_PERCENT:,.0f} %"


def _signed(value: float) -> str:
    return numbers.signed_percent(value)


def _measure_again(found: Comparison) -> str:
    """What one more base series, measured after the other, would have to show (A B A, one degree of freedom)."""
    if not found.base_again_tells:
        return "measure both again, in alternation"
    back = abs(found.change_percent or 0) / (student_t(0.95, 1) * math.sqrt(1.5 / 2))
    tells = f"; if it comes back within {wording.percent(back)}, that tells" if back >= 0.05 else ""
    return f"put it back and measure the baseline again{tells}"


def _what_would_tell(found: Comparison) -> str:
    if found.doubt is Doubt.NO_RUNS:
        return "a side has no valid run: measure it again"
    if found.noise_percent >= found.margin_percent and found.needed_runs is None:
        return "no number of runs would tell while the noise threshold is as wide as the margin of being the same"
    if found.doubt is Doubt.FEW_RUNS:
        return f"at least {found.needed_runs} runs a side for any verdict (now {_have(found)})"
    if found.doubt is Doubt.RANKS:
        more = f", or measure {found.needed_runs} a side" if found.needed_runs else ""
        return (
            "most runs went the other way than the average, which a few wild ones moved: look at the unusual runs"
            f"{more}"
        )
    if found.doubt in (Doubt.WANDERED, Doubt.TREND):
        return _more_series(found)
    return _more_runs(found)


def _more_series(found: Comparison) -> str:
    if found.doubt is Doubt.TREND:
        why = "a steady trend over the series explains it as well"
    elif found.base_wander_percent is not None:
        why = f"the base itself wandered by {wording.percent(found.base_wander_percent)} meanwhile"
    else:
        why = f"equal series lie {wording.percent(found.between_percent or 0.0)} apart"
    if found.needed_series is None:
        return f"{why}, and a change of this size is smaller than this set-up can show"
    return f"{why}: about {found.needed_series} series a side, base and other in alternation, would tell"


def _more_runs(found: Comparison) -> str:
    if found.needed_runs is None or found.needed_runs > MANY_RUNS:
        return _smaller_than_shown(found)
    low, high = found.needed_runs_range or (found.needed_runs, found.needed_runs)
    likely = "" if low == high else f"; likely {low} to {high if high is not None else 'many more'}"
    return f"about {found.needed_runs} runs a side would tell (now {_have(found)}{likely})"


def _smaller_than_shown(found: Comparison) -> str:
    """What to do about a change for which more runs are needed than anybody measures."""
    least = "" if found.smallest_percent is None else f" (±{wording.percent(found.smallest_percent)})"
    more = "" if found.needed_runs is None else f"; more runs alone would take about {found.needed_runs} a side"
    return (
        f"that is smaller than this set-up can show with {_have(found)} runs a side{least}: measure longer runs, of a"
        f" larger file, or at a quieter time{more}"
    )


def _have(found: Comparison) -> str:
    return f"{found.base_runs} and {found.other_runs}" if found.base_runs != found.other_runs else f"{found.base_runs}"
