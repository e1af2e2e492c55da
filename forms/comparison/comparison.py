"""The result of a comparison: verdict, basis, and the cheapest step that would settle it, with its commands."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from forms import wording
from forms.comparison.differences import Difference, prose, session_difference, told
from forms.layout import Sign, Tone
from forms.series.summary import duration
from forms.stats import settle
from forms.stats.decision import ChangeDecision, Doubt, Limits, Verdict, in_pairs, percent_of
from forms.stats.settle import Settles, Way
from forms.trials.summary import TrialSummary
from forms.tuning.smb_conf import spelling
from forms.wording import VERDICT_SIGNS, VERDICT_WORDS, verdict_sentence
from storage.plan import Settings
from storage.records import Change, Command, Evidence, Series, format_target

_BY_HAND_SECONDS = 60.0
_OPENING_SECONDS = 3.0
"""About what a series takes beside its runs, on the loopback: to log in, and to look at other load and the server."""
_KERNEL = ("net.", "vm.")
_VERSUS = {"in-flight": "--in-flight", "block": "--block", "client": "--client"}
_VERSUS_DIFFERENCES = {"client.in_flight": "in-flight", "client.block_bytes": "block", "client.name": "client"}
_NEGOTIATED = ("client.dialect", "client.encryption", "client.signing")
_REQUIRED = {"settings.sign": "--sign", "settings.encrypt": "--encrypt"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlingStep(Settles):
    seconds: float
    commands: tuple[str, ...]
    """To type in this order; with ALTERNATING repeatedly."""

    setting: str | None = None
    series_a_side: int | None = None
    between: str = ""
    """For people: what this client was told otherwise, which interleaved runs then compare."""
    first_id: str = ""
    """The series to measure again first."""
    by_hand: bool = False
    """Whether the server's setting is changed by hand before it, or before each further series."""

    @property
    def sentence(self) -> str:
        by_hand = self.by_hand and self.way is Way.ALTERNATING
        cost = f"about {duration(self.seconds)}{' with the changes by hand' if by_hand else ''}"
        shown = f"a change of {wording.percent(self.shows_percent)} nine times in ten"
        match self.way:
            case Way.TRY:
                try_it = "Restore the base, then try it" if self.by_hand else "Try it"
                return f"{try_it}: {self.count} interleaved pairs, {cost}, find {shown}."
            case Way.INTERLEAVED:
                each = f"{self.count} runs each, {cost}"
                return f"Interleave them as they are ({self.between}): {each}, settle it nine times in ten."
            case Way.BASE_AGAIN:
                return f"Restore the base and measure it again: 1 more series, {cost}, finds {shown}."
            case Way.ALTERNATING:
                return f"Measure both again, alternating: {self.count} more series, {cost}, find {shown}."

    @property
    def command_text(self) -> str:
        first, *more = self.commands
        if not more:
            return first
        rest = "" if self.count == 2 else f", and so on: {self.count} series"
        between = ", change the server, " if self.by_hand else ", then "
        return f"{first}{between}{more[0]}{rest}"


def cheapest_step(
    base: Sequence[Series],
    other: Sequence[Series],
    change_percent: float,
    run_deviation: float,
    *,
    repeats: float,
    differing: Sequence[Difference],
    claimed: Change | None,
    limits: Limits,
    widened: float = 1.0,
) -> SettlingStep | None:
    """The cheapest possible step, or None; ``widened`` scales the interval for several steps."""
    one, two = base[0], other[0]
    counts = [len(each.measured()) for each in (*base, *other)]
    known = 2.0 * min(sum(counts[: len(base)]) - len(base), sum(counts[len(base) :]) - len(other))
    spread = run_deviation / (sum(counts) / len(counts)) ** 0.5
    unsure = (spread**2 + settle.UNKNOWN_SESSION**2) ** 0.5
    same_path = not any(found.name in {"command", "target"} for found in differing)
    order = [each.moment for each in (*base, *other)]
    have = len(order) if in_pairs(order, len(base)) else 0
    ways: list[tuple[Settles | None, tuple[str, ...]]] = []
    setting, versus = _setting(claimed, differing, two), _versus(claimed, differing, two)
    if setting and same_path:
        ssh = f" --server-ssh {shlex.quote(one.plan.server_ssh)}" if one.plan and one.plan.server_ssh else ""
        command = f"sharebench try {shlex.quote(setting)}{_of_target(one)}{ssh}"
        ways.append((settle.by_pairs(change_percent, run_deviation, limits), (command,)))
    if versus and same_path:
        runs = settle.by_interleaved_runs(change_percent, run_deviation, limits)
        ways.append((runs, (_versus_command(one, versus, runs.count if runs else 0),)))
    again = tuple(f"sharebench run --again {each.id}" for each in (one, two))
    if same_path:
        more = settle.by_base_again(
            change_percent / widened,
            run_deviation,
            known,
            base=len(base),
            other=len(other),
            repeats=repeats,
            spread=unsure,
        )
        ways.append((more, again[:1]))
    other_is_newest = max(order[len(base) :]) > max(order[: len(base)])
    other_is_next = bool(have % 2) and max(order) in order[: len(base)]
    turns = again[::-1] if other_is_next else again
    ways.append((settle.by_alternating(change_percent, unsure, limits, have=have), turns))
    changes_server = same_path and not versus and bool(claimed or any(found.parameter for found in differing))
    every = [*base, *other]
    timed = [[run.seconds for run in one.runs if run.seconds] for one in every]
    total = sum(map(sum, timed))
    transfer, series = total / max(1, sum(map(len, timed))), total / len(every)
    steps = [
        SettlingStep(
            way=way.way,
            count=way.count,
            seconds=_cost(way, transfer, series + (_BY_HAND_SECONDS if changes_server else _OPENING_SECONDS)),
            shows_percent=way.shows_percent * (widened if way.way is Way.BASE_AGAIN else 1.0),
            commands=commands,
            setting=setting if way.way is Way.TRY else None,
            series_a_side=(way.count + have) // 2 if way.way is Way.ALTERNATING else None,
            between=prose(found for found in differing if found.name in {*_VERSUS_DIFFERENCES, *_REQUIRED}),
            first_id=(two if way.way is Way.ALTERNATING and other_is_next else one).id,
            by_hand=changes_server and (way.way is Way.ALTERNATING or (way.way is Way.TRY and other_is_newest)),
        )
        for way, commands in ways
        if way is not None
    ]
    return min(steps, key=lambda step: step.seconds, default=None)


def interleaved_seconds(runs: int, transfer: float) -> float:
    """How long ``runs`` a side take, each of ``transfer`` seconds, with their warm-up runs."""
    return 2 * ((runs + 2) * transfer + _OPENING_SECONDS)


def _cost(way: Settles, transfer: float, series: float) -> float:
    if way.way is Way.TRY:
        return way.count * 2 * settle.slot_seconds(transfer)
    return interleaved_seconds(way.count, transfer) if way.way is Way.INTERLEAVED else way.count * series


def _setting(claimed: Change | None, differing: Sequence[Difference], other: Series) -> str | None:
    if not other.target.abilities.through_samba:
        return None
    if claimed is not None and claimed.evidence is not Evidence.CONTRADICTED:
        made = spelling(claimed.name).parameter is not None or claimed.name.startswith(_KERNEL) or "@" in claimed.name
        return f"{claimed.name}={claimed.value}" if made else None
    parameters = [found for found in differing if found.parameter]
    if len(parameters) != 1 or any(found.name in _VERSUS_DIFFERENCES for found in differing):
        return None
    return f"{parameters[0].parameter}={parameters[0].other}" if parameters[0].other is not None else None


def _versus(claimed: Change | None, differing: Sequence[Difference], other: Series) -> str | None:
    found = [
        f"{_VERSUS[name]} {_typed(name, getattr(other.client, place.removeprefix('client.')))}"
        for place, name in _VERSUS_DIFFERENCES.items()
        if any(difference.name == place for difference in differing)
    ]
    found += [option for name, option in _REQUIRED.items() if any(one.name == name and one.other for one in differing)]
    negotiated = any(one.name in _NEGOTIATED for one in differing) and not any(o in _REQUIRED.values() for o in found)
    known = (claimed is None or claimed.name in {*_VERSUS, "client sign", "client encrypt"}) and not negotiated
    return " ".join(found) if found and known and not any(one.parameter for one in differing) else None


def _typed(name: str, value: object) -> str:
    return wording.typed_size(value) if name == "block" and isinstance(value, int) else str(value)


def _versus_command(base: Series, options: str, runs: int) -> str:
    settings = base.plan.settings if base.plan else Settings()
    own = f" --in-flight {settings.in_flight}" if settings.in_flight else ""
    own += f" --block {wording.typed_size(settings.block_bytes)}" if settings.block_bytes else ""
    return f"sharebench run --runs {runs} --versus {shlex.quote(options)}{own}{_of_target(base)}"


def _of_target(base: Series) -> str:
    put = " --put" if base.command is Command.PUT else ""
    size = base.plan.size_bytes if base.plan else None
    made = f" --size {wording.typed_size(size)}" if size and (put or (base.plan and base.plan.make_file)) else ""
    make = " --make-file" if base.plan and base.plan.make_file else ""
    made += f" --files {base.plan.files}" if base.plan and base.plan.files else ""
    return f"{put}{make}{made} {shlex.quote(wording.plain(format_target(base.target)))}"


_OTHER_PATH = ("command", "target", "client.name")
OWN_SIGNS = {Doubt.CONTRADICTED: Sign.WARNING, Doubt.SAME_SETTINGS: Sign.SAME}
MANY_RUNS = 30
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
        if name := _VERSUS_DIFFERENCES.get(one.name):
            return Change(name=name, value=_typed(name, one.other), previous=_typed(name, one.base))
        asked = next((each for each in self.differences if each.name in _REQUIRED), None)
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
        return " ".join(filter(None, (self.headline, basis_sentence(self), to_do)))

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
    return verdict_sentence(found.verdict, change, found.interval_percent)


def basis_sentence(found: Comparison) -> str | None:
    if found.interleaved:
        same = f"Less than {found.limits.margin_percent:g} % counts as none. " * (found.verdict is Verdict.SAME)
        return f"{same}The runs were interleaved: what slows both down cancels out, and no earlier change shows."
    if found.apart_percent is None:
        return None
    sides = len(found.base_ids), len(found.other_ids)
    if found.history_count:
        newest = ", the newest" if found.history_count > 1 else ","
        age = f"{newest} {_age(found.history_days)} before" if found.history_days is not None else ""
        judged = f" (judged with {found.history_count:,} earlier series{age})"
        return f"Series here show only changes beyond {wording.beyond(found.apart_percent)}{judged}."
    if sum(sides) == 2 or found.variation is None or found.critical is None:
        runs = wording.percent(100 * found.variation.run_deviation) if found.variation else ""
        why = f": the runs vary by {runs}, and series by more" if runs else ""
        return f"One series a side shows only changes beyond {wording.beyond(found.apart_percent)}{why}."
    error = found.variation.deviation_percent / 100 * sum(1 / count for count in sides) ** 0.5
    beyond = wording.beyond(percent_of(found.critical * error))
    return f"Averages of {sides[0]} and {sides[1]} series show only changes beyond {beyond}."


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
