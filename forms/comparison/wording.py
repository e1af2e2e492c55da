"""A comparison in sentences: its verdict, what that rests on, and what to do next."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from forms import verdict_wording, wording
from forms.comparison import comparison as series_comparison
from forms.comparison import hiccups
from forms.comparison.doubts import busy_times
from forms.comparison.doubts.outstanding_series import OutstandingSeries
from forms.comparison.settling import SettlingStep, replaced_prose
from forms.findings.full_links import FullLinks
from forms.layout import Toned
from forms.recommended import spelled
from forms.stats.before_change import SPACING_SECONDS
from forms.stats.decision import Doubt, Verdict
from forms.stats.needed_runs import MOST_RUNS
from forms.stats.settle import MOST_OTHER_AGAIN, Way
from forms.tuning.differences import session_difference
from forms.verdict_wording import VERDICT_WORDS, verdict_sentence
from forms.wording import duration

if TYPE_CHECKING:
    from forms.trial.summary import TrialSummary

_DOUBT_TEXTS = {
    Doubt.NO_RUNS: "a side has no valid run",
    Doubt.FEW_RUNS: "a side has too few runs",
    Doubt.BASE_VARIED: "equal series may differ by as much",
    Doubt.TREND: "a steady trend would explain it as well",
    Doubt.VARYING: "the runs vary by too much",
    Doubt.CONTRADICTED: "the server's settings deny the change",
    Doubt.SAME_SETTINGS: "both sides have the same settings",
    Doubt.FEW_PAIRS: "there are too few pairs of runs",
    Doubt.DRIFT: "the machine itself became faster or slower",
}

_DOUBTS_OF_WORDS = (Doubt.NO_RUNS, Doubt.FEW_RUNS, Doubt.CONTRADICTED, Doubt.SAME_SETTINGS)
"""Doubts that say more than the change that is seen."""

_PLAIN_P = 0.01
"""Below this p the verdict needs no word of what chance does."""


_HALF = 0.5


def verdict_word(comparison: series_comparison.Comparison) -> str:
    """The verdict in one or two words, for a table."""
    if comparison.doubt is Doubt.CONTRADICTED:
        return "Contradicted"
    if comparison.doubt is Doubt.SAME_SETTINGS:
        return "Variation"
    if comparison.is_certain_by_link:
        return "Helped"
    if comparison.leaning:
        return f"{verdict_wording.PROBABLY} {VERDICT_WORDS[comparison.leaning].lower()}"
    return VERDICT_WORDS[comparison.verdict]


def doubt_text(comparison: series_comparison.Comparison) -> str | None:
    """Why it is inconclusive, as a clause; None where it is not."""
    return _DOUBT_TEXTS[comparison.doubt] if comparison.doubt else None


def change_figures(comparison: series_comparison.Comparison) -> str:
    """``+43.0 % (+29.0 % to +58.0 %)``."""
    if comparison.change_percent is None:
        return "no change can be computed"
    figures = wording.signed_percent(comparison.change_percent)
    interval = comparison.interval_percent
    if interval is None:
        return figures
    if verdict_wording.is_too_wide(*interval):
        return f"{figures} (the interval is too wide to tell anything)"
    return f"{figures}{verdict_wording.interval_text(*interval, 1)}"


def comparison_headline(comparison: series_comparison.Comparison) -> str:
    """The verdict as a sentence."""
    return f"{comparison_clause(comparison)}."


def answer_headline(comparison: series_comparison.Comparison) -> str:
    """The verdict as a sentence that stands alone: of different targets it says which is faster than which."""
    headline = comparison_headline(comparison)
    if not has_other_target(comparison):
        return headline
    return verdict_wording.verdict_on_two(headline, comparison.verdict, comparison.other_name, comparison.base_name)


def has_other_target(comparison: series_comparison.Comparison) -> bool:
    """Whether the sides were measured at different targets."""
    return any(difference.name == "target" for difference in comparison.differences)


def comparison_clause(comparison: series_comparison.Comparison) -> str:
    """The verdict, and how the session changed (dialect, signing, encryption) if it did, without a full stop."""
    clause = _verdict_clause(comparison)
    session = session_difference(comparison.differences)
    # A trial has restored the session since.
    if session is None or comparison.tried:
        return clause
    return f"{clause}; {session}"


def comparison_sentences(comparison: series_comparison.Comparison, *, names_sides: bool = False) -> str:
    """All of it: the verdict, what particular runs hide, what it rests on and what would settle it.

    ``names_sides``: whether nothing beside it says which sides are compared.
    """
    headline = answer_headline(comparison) if names_sides else comparison_headline(comparison)
    parts = (
        headline,
        *_more_verdict_sentences(comparison),
        full_links_sentence(comparison),
        basis_sentence(comparison),
        next_sentence(comparison),
    )
    return " ".join(part for part in parts if part)


def verdict_and_next_step(comparison: series_comparison.Comparison) -> str:
    """The same without what it rests on."""
    parts = (comparison_headline(comparison), *_more_verdict_sentences(comparison), next_sentence(comparison))
    return " ".join(part for part in parts if part)


def _more_verdict_sentences(comparison: series_comparison.Comparison) -> tuple[str | None, ...]:
    """What follows the verdict: how sure it is by the link, and without runs that stand out."""
    without = comparison.without if not comparison.old_link else None
    return (
        certain_sentence(comparison),
        alternative_sentence(without) if without else None,
        *map(partial(outstanding_sentence, comparison), comparison.outstanding),
    )


def next_sentence(comparison: series_comparison.Comparison) -> str | None:
    """What would settle it, or what to do instead."""
    return settling_sentence(comparison.settle) if comparison.settle else hint_sentence(comparison)


def comparison_title(comparison: series_comparison.Comparison) -> str:
    """``after against before (3 series)``."""
    other = _name_with_count(comparison.other_name, len(comparison.other_ids))
    base = _name_with_count(comparison.base_name, len(comparison.base_ids))
    return f"{other} against {base}"


def _name_with_count(name: str, series_count: int) -> str:
    return f"{name} ({series_count} series)" if series_count > 1 else name


def _verdict_clause(comparison: series_comparison.Comparison) -> str:
    change = comparison.change_percent
    if comparison.doubt is Doubt.CONTRADICTED and comparison.change:
        return _contradicted_clause(comparison)
    if comparison.doubt is Doubt.NO_RUNS or change is None:
        return "Inconclusive: a side has no valid run"
    if comparison.doubt is Doubt.SAME_SETTINGS:
        return _same_settings_clause(comparison, change)
    if comparison.doubt is Doubt.FEW_RUNS:
        return (
            f"Inconclusive: {wording.signed_percent(change)}, but a verdict needs at least {comparison.needed_runs}"
            f" runs a side, and there are {_run_counts(comparison)}"
        )
    if comparison.verdict is Verdict.UNKNOWN and comparison.decided is not Verdict.UNKNOWN:
        return f"These series alone cannot tell: {change_figures(comparison)}"

    if comparison.is_certain_by_link and comparison.old_link is not None:
        return _clause_by_link(comparison, comparison.old_link, change)
    if comparison.leaning:
        return _probably_clause(comparison, change)

    varies_by_percent = None
    if comparison.variation:
        varies_by_percent = 100 * comparison.variation.run_deviation
    return verdict_sentence(comparison.verdict, change, comparison.interval_percent, varies_by_percent)


def verdict_in_words(comparison: series_comparison.Comparison) -> str:
    """The verdict in the fewest words, for a sentence on several: ``about twice as fast``, ``no difference seen``."""
    if comparison.is_certain_by_link:
        return "certainly faster"
    change = comparison.change_percent
    if comparison.known and change is not None:
        return verdict_wording.verdict_in_words(comparison.verdict, change, comparison.interval_percent)

    if comparison.decided is not Verdict.UNKNOWN:
        return f"{VERDICT_WORDS[comparison.decided].lower()}, by a trial"
    if comparison.leaning:
        return verdict_word(comparison).lower()
    if comparison.doubt in _DOUBTS_OF_WORDS:
        return _DOUBT_TEXTS[comparison.doubt]
    return "inconclusive" if change is None or round(change) else "no difference seen"


def _probably_clause(comparison: series_comparison.Comparison, change_percent: float) -> str:
    """``Probably faster: 87.0 → 152 MB/s``, with the interval where it is narrow enough to tell something."""
    base_rate = comparison.counted_base_rate
    other_rate = comparison.counted_other_rate
    rates = ""
    if base_rate and other_rate:
        rates = f": {wording.rate_change(base_rate, other_rate)}"

    interval = comparison.interval_percent
    if interval is None or verdict_wording.is_too_wide(*interval):
        return f"{verdict_word(comparison)}{rates}"

    change = f"{wording.signed_percent(change_percent)}{verdict_wording.interval_text(*interval, 1)}"
    return f"{verdict_word(comparison)}{rates}, {change}"


def _clause_by_link(
    comparison: series_comparison.Comparison, old_link: series_comparison.OldLink, change_percent: float
) -> str:
    """What is certain comes first, then what the change was from one series to another, or from run to run."""
    base_rate = comparison.counted_base_rate or 0.0
    other_rate = comparison.counted_other_rate or 0.0
    low, high = (verdict_wording.signed_end(end) for end in old_link.spread_percent)
    unit = "series to series" if len(comparison.other_ids) > 1 else "run to run"
    return (
        f"It helped: {wording.rate_change(base_rate, other_rate)}"
        f" ({verdict_wording.signed_end(change_percent)}), {_more_than_it_carries(old_link)}."
        f" By how much varies from {unit}: {low} to {high}"
    )


def _more_than_it_carries(old_link: series_comparison.OldLink) -> str:
    link = wording.link_rate(old_link.bits_per_second)
    most = wording.byte_rate(old_link.bytes_per_second)
    if old_link.shaper:
        return f"more than the {old_link.shaper} let through at all when that was {link} ({most})"
    return f"more than the old link of {link} could carry at all ({most})"


def certain_sentence(comparison: series_comparison.Comparison) -> str | None:
    """Beside a verdict by statistics: that it is certain by the link, too. None where the headline says it."""
    if comparison.old_link is None or comparison.is_certain_by_link:
        return None
    more = _more_than_it_carries(comparison.old_link)
    return f"{more[0].upper()}{more[1:]}, so certainly faster."


def full_links_sentence(comparison: series_comparison.Comparison) -> str | None:
    """That the links explain the change, and that the server was not the limit; None where that is not known."""
    links = comparison.full_links
    if links is None:
        return None

    carried = _factor_text(links.rate_factor)
    if links.rate_factor < 1:
        carried += " of"
    did = "did" if comparison.is_other_newest else "does"
    return (
        f"{comparison.other_name} carries {carried} what {comparison.base_name} {did}, because"
        f" {_limits_clause(comparison, links)}, so the server was not the limit."
    )


def _limits_clause(comparison: series_comparison.Comparison, links: FullLinks) -> str:
    """What let so much through on either side: the link, or a traffic shaper of the machine that measured."""
    base_speed = wording.link_rate(links.base_bits_per_second)
    other_speed = wording.link_rate(links.other_bits_per_second)
    other_limit = links.other_shaper or "link"
    if links.base_shaper == links.other_shaper:
        speeds = f"{base_speed}, then {other_speed}"
        if not comparison.is_other_newest:
            speeds = f"{other_speed}, and {base_speed} of {comparison.base_name}"
        factor = _factor_text(links.link_factor)
        # One shaper at two speeds is one thing that was full twice; links of two speeds are two links.
        were_full = "it was full each time" if links.other_shaper else "each was full"
        return f"the {other_limit} lets {factor} as much through ({speeds}); {were_full}"

    base_limit = links.base_shaper or "link"
    lets = "let" if comparison.is_other_newest else "lets"
    return (
        f"the {other_limit} lets {other_speed} through, and the {base_limit} of {comparison.base_name} {lets}"
        f" {base_speed}; each was full"
    )


def _factor_text(factor: float) -> str:
    """``twice``, ``2.5 times``; of less than one ``half`` or ``40 %``."""
    if round(factor, 2) == _HALF:
        return "half"
    if factor < 1:
        return wording.percent(100 * factor)
    times = f"{factor:.1f}".removesuffix(".0")
    return "twice" if times == "2" else f"{times} times"


def _contradicted_clause(comparison: series_comparison.Comparison) -> str:
    assert comparison.change is not None, "a contradicted comparison has the change that was claimed"
    name = wording.plain(comparison.change.name)
    value = wording.plain(comparison.change.value)
    interval = comparison.interval_percent
    excludes_zero = interval is not None and not interval[0] <= 0 <= interval[1]
    reason = "has another reason" if excludes_zero else "may be chance"
    return f"Not the change that was claimed ({name} = {value} is contradicted): {change_figures(comparison)} {reason}"


def _same_settings_clause(comparison: series_comparison.Comparison, change_percent: float) -> str:
    direction = "faster" if change_percent > 0 else "slower"
    change = f"{wording.percent(abs(change_percent))} {direction}"
    low, high = comparison.interval_percent or (0.0, 0.0)
    if low > 0 or high < 0:
        return f"Same settings, but {change}: more than equal series differ, so look for what else has changed"

    settings = "Same settings"
    unread = ""
    if not comparison.server_seen:
        settings = "No setting is known to differ"
        unread = "; the server's settings were not read"
    if not round(change_percent, 1):
        return f"{settings}, and no difference is seen{unread}"
    return f"{settings}: {change} is no more than series vary by themselves{unread}"


def basis_sentence(comparison: series_comparison.Comparison) -> str | None:
    """What the verdict was judged by, and which runs it leaves out."""
    if comparison.interleaved:
        return _basis_of_interleaved(comparison)
    if comparison.apart_percent is None:
        return None
    if comparison.is_certain_by_link:
        return _basis_by_link(comparison)
    basis = _basis_of_series(comparison)
    if not comparison.left_out:
        return basis
    return f"{basis} {_left_out_sentence(comparison)}"


def _left_out_sentence(comparison: series_comparison.Comparison) -> str:
    return f"Not counted: {outstanding_runs_text(comparison.left_out)}."


def _basis_by_link(comparison: series_comparison.Comparison) -> str:
    """Why the size of the change stays open where the link tells its direction, and what would tell it."""
    sentences = []
    gone = _cannot_be_measured_again(replaced_prose(comparison.replaced))
    if len(comparison.other_ids) == 1:
        sentences.append(f"{gone}; how much it is shows when the new side is measured again.")
    else:
        sentences.append(f"{gone}, and the new side varies from series to series.")
    if comparison.left_out:
        sentences.append(_left_out_sentence(comparison))
    return " ".join(sentences)


def basis_without_runs(comparison: series_comparison.Comparison) -> str | None:
    """What the verdict was judged by, without the runs that it leaves out."""
    return basis_sentence(replace(comparison, left_out=()))


def _basis_of_interleaved(comparison: series_comparison.Comparison) -> str:
    sentences = []
    fewest_runs = min(comparison.base_runs, comparison.other_runs)
    if comparison.pair_count is not None and comparison.pair_count < fewest_runs:
        sentences.append(f"Only {comparison.pair_count} pairs of runs were measured beside each other, and count.")

    if comparison.verdict is Verdict.SAME:
        sentences.append(f"Less than {comparison.limits.margin_percent:g} % counts as none.")
    is_change = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    if is_change and comparison.p_value is not None and comparison.p_value > _PLAIN_P:
        times = int(1 / comparison.p_value)
        sentences.append(f"By chance alone equal sides differ as much in 1 of {times} such comparisons.")

    is_balanced = comparison.doubt is Doubt.VARYING and comparison.leaning is None
    if is_balanced and comparison.interval_percent is not None:
        sentences += _most_difference_sentences(*comparison.interval_percent)
    sentences.append(
        "The runs alternated, so that what slowed both sides down cancels out, and no earlier change shows."
    )
    return " ".join(sentences)


def _most_difference_sentences(low_percent: float, high_percent: float) -> list[str]:
    """How large the difference is at most, where the interval is narrow enough to tell."""
    if verdict_wording.is_too_wide(low_percent, high_percent):
        return []
    most_percent = max(-low_percent, high_percent)
    return [f"A difference larger than {wording.percent(most_percent)} would have shown."]


def _basis_of_series(comparison: series_comparison.Comparison) -> str:
    """The smallest change that is certain of such series, in the direction that is seen."""
    counts = counts_before_and_after(comparison)
    is_one_a_side = len(comparison.base_ids) + len(comparison.other_ids) == 2
    run_deviation = comparison.variation.run_deviation if comparison.variation else None
    if is_one_a_side and run_deviation is not None and comparison.leaning and not comparison.history_count:
        runs = wording.percent(100 * run_deviation)
        sentence = f"One series a side cannot rule out chance here (the runs vary by {runs})"
        certain_from = _least_certain_text(comparison)
        if certain_from:
            sentence += f": certain {certain_from}{_seen_beside_least(comparison)}"
        return f"{sentence}."

    is_change = comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
    interval = comparison.interval_percent
    least_text = _least_certain_text(comparison)
    if is_change and interval is not None and not verdict_wording.is_too_wide(*interval):
        # The range beside the verdict is the one measure of how sure it is.
        sentence = f"{counts}: {_how_often_range_holds(comparison)} the range holds the true change"
        if run_deviation is not None:
            varies_by = wording.percent(100 * run_deviation)
            sentence += f"; it is wider than the runs vary ({varies_by}), as the same measured twice differs by more"
        if not busy_times.is_in_doubt(comparison):
            sentence += f". Which side is faster is certain{_what_narrows(comparison)}"
        least_text = None
    elif least_text is None:
        return f"{counts}."
    else:
        sentence = f"{counts}: a change is certain {least_text}"
    if least_text:
        sentence += _seen_beside_least(comparison)
    if comparison.history_count:
        return f"{sentence}. {_history_sentence(comparison)}"
    if least_text and is_one_a_side and run_deviation is not None:
        return f"{sentence}; the runs vary by {wording.percent(100 * run_deviation)}, and series by more."
    return f"{sentence}."


def _what_narrows(comparison: series_comparison.Comparison) -> str:
    """``; measuring after-switch again would only narrow the range, to about 86 % to 113 %``; empty if not known."""
    if comparison.interval_after_repeat_percent is None:
        return ""
    again = f"; measuring {comparison.other_name} again would"
    narrower = range_after_repeat(comparison)
    return f"{again} only narrow the range, to about {narrower}" if narrower else f"{again} not narrow the range"


def range_after_repeat(comparison: series_comparison.Comparison) -> str:
    """``85 % to 113 %``: the range of the change after one more series of the other side; empty where no narrower."""
    interval = comparison.narrower_interval_percent
    if interval is None or comparison.change_percent is None:
        return ""
    return verdict_wording.range_of_verdict(comparison.verdict, comparison.change_percent, interval)


def _how_often_range_holds(comparison: series_comparison.Comparison) -> str:
    level_percent = round(100 * (1 - comparison.limits.alpha))
    return "19 times in 20" if level_percent == 95 else f"{level_percent} times in 100"


def certain_from_sentence(comparison: series_comparison.Comparison) -> str:
    """``One series a side: certain only from a factor of 2.7 on; this is 1.68.``; empty where nothing is open.

    For pages that have no basis beside the verdict.
    """
    if comparison.known or comparison.is_certain_by_link or comparison.interleaved or not comparison.is_open:
        return ""
    least_text = _least_certain_text(comparison)
    change = comparison.change_percent
    # Beside no difference the range says from where on one had shown.
    if least_text is None or change is None or not round(change):
        return ""
    return f"{counts_before_and_after(comparison)}: certain {least_text}{_seen_beside_least(comparison)}."


def _seen_beside_least(comparison: series_comparison.Comparison) -> str:
    """``; this is 1.68``: the change that is seen, in the form of the one that would be certain.

    Empty where the change is certain, or none is seen.
    """
    change = comparison.change_percent
    least = comparison.least_certain_percent
    if comparison.known or change is None or least is None or not round(change):
        return ""
    if change > 0 and least > verdict_wording.MOST_PLAIN_PERCENT:
        return f"; this is {1 + change / 100:.2f}"
    return f"; this is {wording.percent(abs(change))}"


def _history_sentence(comparison: series_comparison.Comparison) -> str:
    """``How much equal series differ is judged by 1 earlier series as well, measured 6 days before.``"""
    count = comparison.history_count
    age = _history_age(comparison)
    return f"How much equal series differ is judged by {count:,} earlier series as well{age}."


def counts_before_and_after(comparison: series_comparison.Comparison) -> str:
    """``One series a side``, or ``3 series before and 5 after``."""
    base_count = len(comparison.base_ids)
    other_count = len(comparison.other_ids)
    if base_count == other_count == 1:
        return "One series a side"
    if comparison.is_other_newest:
        return f"{base_count} series before and {other_count} after"
    return f"{base_count} series of the one side and {other_count} of the other"


def _least_certain_text(comparison: series_comparison.Comparison) -> str | None:
    """``only from 43 % faster on``: from which change on it would be certain; None where nobody knows."""
    percent = comparison.least_certain_percent
    change = comparison.change_percent
    if percent is None or change is None:
        return None

    only = "" if comparison.known else "only "
    if not round(change):
        return f"{only}beyond {verdict_wording.beyond(percent)}"
    if change < 0:
        return f"{only}from {wording.percent(percent)} slower on"
    # A factor above one is faster, which needs no word.
    faster = "" if percent > verdict_wording.MOST_PLAIN_PERCENT else " faster"
    return f"{only}from {verdict_wording.change_size(percent)}{faster} on"


def _history_age(comparison: series_comparison.Comparison) -> str:
    """``, the newest of them measured 4 days before 'april'``."""
    if comparison.history_days is None:
        return ""
    newest = ", the newest of them" if comparison.history_count > 1 else ","
    return f"{newest} measured {_age(comparison.history_days)} before '{comparison.other_name}'"


def _age(days: float) -> str:
    hours = 24 * days
    if hours < 1:
        return wording.count(max(1, round(60 * hours)), "minute")
    if hours < 48:
        return wording.count(round(hours), "hour")
    return wording.count(round(days), "day")


def hint_sentence(comparison: series_comparison.Comparison) -> str | None:
    """What to do where no step would settle it, or None."""
    if comparison.interleaved_since and not comparison.known:
        return "Their runs were interleaved later: compare these two with what repeats them (--repeats, key o)."
    if not comparison.is_open:
        return None

    if comparison.is_base_gone:
        return _hint_without_base(comparison)

    # What no further run can change comes before what more runs would.
    if comparison.is_alike:
        return "Nothing that was recorded differs: measured again, both show only how series vary."
    if comparison.margin_is_noise:
        return "Nothing can settle it while the noise threshold is as wide as the margin of no change."
    if comparison.needed_runs is not None and series_comparison.more_interleaved_runs_settle(comparison):
        return _needed_runs_sentence(comparison, comparison.needed_runs)
    if not series_comparison.needs_longer_runs(comparison):
        return None
    return f"{_too_many_runs_text(comparison)}: measure longer runs of a larger file, or at a quieter time."


def _too_many_runs_text(comparison: series_comparison.Comparison) -> str:
    """That runs like these would not settle it, and how many interleaved ones it would take."""
    vary = "The runs vary too much to show it"
    if comparison.doubt is not Doubt.VARYING:
        return vary
    if comparison.needed_runs is None:
        # As many as the change that is seen takes are no answer: the true one may be another.
        fewest, _ = comparison.needed_runs_range or (MOST_RUNS, None)
        at_least = f"at least {fewest:,} a side, perhaps" if fewest < MOST_RUNS else "perhaps"
        return f"{vary} soon ({at_least} over {MOST_RUNS:,})"
    duration_text = f" ({duration(comparison.needed_seconds)})" if comparison.needed_seconds else ""
    return f"{vary} in less than about {comparison.needed_runs} a side{duration_text}"


def _hint_without_base(comparison: series_comparison.Comparison) -> str | None:
    """What is left where nobody can measure the base again, and the other side alone would not settle it."""
    # The link has answered it.
    if comparison.is_certain_by_link:
        return None
    gone = _cannot_be_measured_again(replaced_prose(comparison.replaced))
    return (
        f"{gone}, and up to {MOST_OTHER_AGAIN} more series of the new side would hardly tell more: this is as sure as"
        " it gets."
    )


def _needed_runs_sentence(comparison: series_comparison.Comparison, needed_runs: int) -> str:
    low, high = comparison.needed_runs_range or (needed_runs, needed_runs)
    likely = ""
    if low != high:
        likely = f" (likely {low} to {high})" if high else f" (at least {low}, perhaps over {MOST_RUNS:,})"
    cost = f", in about {duration(comparison.needed_seconds)}" if comparison.needed_seconds else ""
    are_many = needed_runs > series_comparison.MANY_RUNS
    fewer = " Fewer would do of a larger file, or at a quieter time." if are_many else ""
    return (
        f"About {needed_runs} interleaved runs a side would settle it{likely}{cost};"
        f" there are {_run_counts(comparison)}.{fewer}"
    )


def interleaving(comparison: series_comparison.Comparison) -> str:
    """What would settle a comparison of interleaved runs, by name and with the time that it takes."""
    cost = f", about {duration(comparison.needed_seconds)}" if comparison.needed_seconds else ""
    return f"Measure both again, interleaved: {comparison.needed_runs} runs each{cost}"


def _run_counts(comparison: series_comparison.Comparison) -> str:
    if comparison.pair_count is not None:
        return str(comparison.pair_count)
    if comparison.base_runs == comparison.other_runs:
        return str(comparison.base_runs)
    return f"{comparison.base_runs} and {comparison.other_runs}"


def settling_sentence(step: SettlingStep) -> str:
    """What to measure so that it is settled, how long that takes, and what it finds."""
    cost = f"about {duration(step.seconds)}"
    if step.by_hand and step.way is Way.ALTERNATING:
        cost += " with the changes by hand"

    change = f"a change of {wording.percent(step.shows_percent)} nine times in ten"
    if step.may_be_impossible:
        return _sentence_on_past(step, cost, change)

    match step.way:
        case Way.TRY:
            try_it = "Restore the base, then try it" if step.by_hand else "Try it"
            return f"{try_it}: {step.count} interleaved pairs, {cost}, find {change}."
        case Way.INTERLEAVED:
            return (
                f"Interleave them as they are ({step.between}): {step.count} runs each, {cost},"
                " settle it nine times in ten."
            )
        case Way.BASE_AGAIN:
            return f"Restore the base and measure it again: 1 more series, {cost}, finds {change}."
        case Way.OTHER_AGAIN:
            verb = "finds" if step.count == 1 else "find"
            return f"{_other_again_text(step)}: {cost}, {verb} {change}."
        case Way.ALTERNATING:
            return f"Measure both again, alternating: {step.count} more series, {cost}, find {change}."


def _sentence_on_past(step: SettlingStep, cost: str, change: str) -> str:
    """What would settle it where that measures again what stood weeks before, or what nobody may bring back."""
    if step.way is Way.BASE_AGAIN:
        return f"Only if the base can still be restored: 1 more series of it, {cost}, finds {change}."
    return f"Only if both states can still be restored: {step.count} more series, alternating, {cost}, find {change}."


def _other_again_text(step: SettlingStep) -> str:
    """``The old side cannot be measured again (link 1 Gb/s → 2 Gb/s). Measure the new side 2 more times``"""
    if step.is_change_unseen:
        return other_again_title(step)
    return f"{_cannot_be_measured_again(step.replaced)}. {other_again_title(step)}"


def other_again_title(step: SettlingStep) -> str:
    """``Measure the new side 2 more times, 10 min apart``"""
    times = "once more" if step.count == 1 else f"{step.count} more times"
    apart = f", {duration(step.spacing_seconds)} apart" if step.spacing_seconds >= SPACING_SECONDS else ""
    return f"Measure the new side {times}{apart}"


def _cannot_be_measured_again(replaced: str) -> str:
    """``replaced`` is empty where nothing that was recorded says so, but the user did."""
    reason = f" ({replaced})" if replaced else ""
    return f"The old side cannot be measured again{reason}"


def settling_commands(step: SettlingStep) -> str:
    """The commands to type, in one line."""
    first, *more = step.commands
    if step.way is Way.OTHER_AGAIN and step.count > 1:
        return f"{first}, {step.count} times"
    if not more:
        return first
    between = ", change the server, " if step.by_hand else ", then "
    and_so_on = "" if step.count == 2 else f", and so on: {step.count} series"
    return f"{first}{between}{more[0]}{and_so_on}"


def alternative_sentence(alternative: hiccups.Alternative) -> str:
    """What the verdict would be without some runs."""
    decision = alternative.decision
    would_be = verdict_sentence(decision.verdict, decision.change_percent or 0.0, None)
    runs = outstanding_runs_text(alternative.runs)
    return f"Without {runs} this would be: {would_be[0].lower()}{would_be[1:]}."


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def outstanding_sentence(comparison: series_comparison.Comparison, outstanding: OutstandingSeries) -> str:
    """Which series is far from the others of its side, and what the verdict would be without it."""
    is_of_base = outstanding.side_id == comparison.base_id
    side_name = comparison.base_name if is_of_base else comparison.other_name
    count = spelled(outstanding.count)
    which = f"series {outstanding.number} of the {count}"
    if outstanding.number <= len(_ORDINALS):
        which = f"the {_ORDINALS[outstanding.number - 1]} of the {count} series"
    way = "slower" if outstanding.percent < 0 else "faster"
    how_far = f"{wording.percent(abs(outstanding.percent))} {way}"

    decision = outstanding.decision
    would_be = verdict_sentence(decision.verdict, decision.change_percent or 0.0, decision.interval_percent)
    others = f"the other {spelled(outstanding.count - 1)}"
    return f'{which.capitalize()} of "{side_name}" is {how_far} than {others}; without it: {would_be}.'


def judged_change_sentence(comparison: series_comparison.Comparison) -> str:
    """What the change is without the runs that are left out of the judged averages; empty where there are none."""
    if not comparison.left_out:
        return ""
    return f"Without {outstanding_runs_text(comparison.left_out)}: {wording.signed_percent(comparison.change_percent)}."


def outstanding_runs_text(runs: tuple[hiccups.OutstandingRun, ...]) -> str:
    """Such as: run 1 of 'before' (67 % slower than the others)."""
    parts = []
    for name, series_runs in hiccups.runs_by_series(runs):
        noun = "run" if len(series_runs) == 1 else "runs"
        numbers = wording.listed([str(run.number) for run in series_runs])
        how_far = wording.listed([wording.faster_or_slower(run.percent) for run in series_runs])
        parts.append(f"{noun} {numbers} of '{name}' ({how_far} than the others)")
    return wording.listed(parts)


def trial_lines(trial: "TrialSummary | None", lead: str) -> list[Toned]:
    """What the form of a comparison says of a trial of the same change; nothing without one."""
    if trial is None:
        return []

    from forms.trial.report import tried_lines

    return tried_lines(trial, lead)
