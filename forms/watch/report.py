"""A check of a watch on paper and as JSON.

The *outcome* is what this check's series says against the baseline (`Outcome`). The watch's *state* is what the check
found in all, by the outcome and what was before: it may be recovered or postponed. Its *standing* is what lasts, one of
steady, slower and unmeasurable: a check that is postponed, or undecided, leaves it as it was.
"""

from dataclasses import asdict
from functools import partial
from typing import Any

from forms import report, verdict_wording, wording
from forms.comparison.comparison import Comparison
from forms.comparison.document import comparison_document
from forms.comparison.wording import basis_sentence, comparison_headline
from forms.layout import Tone, Toned
from forms.stats.decision import Verdict
from forms.watch.rule import BASELINE_NIGHTS, Check, Outcome
from storage.records import with_zone
from storage.watch.records import Watch, WatchState

SCHEMA = "sharebench/watch/1"
TONES = {
    WatchState.STEADY: Tone.GOOD,
    WatchState.RECOVERED: Tone.GOOD,
    WatchState.SLOWER: Tone.BAD,
    WatchState.UNMEASURABLE: Tone.BAD,
    WatchState.POSTPONED: Tone.CAUTION,
}
# Of the states only these three can be a standing.
_STANDING_TEXTS = {
    WatchState.STEADY: "Not slower than its baseline",
    WatchState.SLOWER: "Slower than its baseline",
    WatchState.UNMEASURABLE: "Cannot be measured",
}


def watch_answer(watch: Watch) -> Toned:
    if watch.state is WatchState.POSTPONED and watch.standing is WatchState.STEADY:
        # While the baseline is being collected nothing is compared: a check that measured decides nothing either.
        text = "Still collecting the baseline" if watch.is_measured else "Postponed: busy at the last check"
        return Toned(text, TONES[watch.state])
    return Toned(_standing_text(watch), TONES[watch.standing])


def _standing_text(watch: Watch) -> str:
    return f"{_STANDING_TEXTS[watch.standing]} since {with_zone(watch.since)}"


def check_sentence(check: Check) -> str:
    watch = check.watch
    comparison = check.comparison
    if check.outcome is Outcome.UNMEASURABLE:
        return f"Cannot be measured: {wording.plain(watch.why)}."
    if check.outcome is Outcome.POSTPONED:
        return f"Postponed: {wording.plain(watch.why)}. The next check decides."
    if check.outcome is Outcome.COLLECTED:
        return _collecting_sentence(check)

    headline = comparison_headline(comparison) if comparison else ""
    if watch.state is WatchState.RECOVERED:
        if comparison and comparison.verdict is Verdict.UNKNOWN:
            return _recovered_sentence(comparison)
        return f"Recovered. {headline}"
    if check.outcome is Outcome.UNDECIDED and watch.standing is WatchState.SLOWER:
        return f"Still reported as slower. {headline}"
    return headline


def _collecting_sentence(check: Check) -> str:
    watch = check.watch
    nights = f"{check.nights} of {BASELINE_NIGHTS} nights"
    if watch.why:
        reason = f"{watch.why[:1].upper()}{watch.why[1:]}"
        return f"Baseline {watch.baseline}: {nights}. {reason}."
    if check.nights >= BASELINE_NIGHTS:
        return f"Baseline {watch.baseline} is complete: {BASELINE_NIGHTS} nights. The next check compares with it."
    return f"Collecting the baseline {watch.baseline}: {nights}. Nothing is compared until then."


def _recovered_sentence(comparison: Comparison) -> str:
    """For a series that is faster than those that were slower, while its comparison with the baseline is open."""
    interval = comparison.interval_percent
    reach = ""
    if interval is not None and not verdict_wording.is_too_wide(*interval):
        reach = verdict_wording.interval_text(*interval)
    return f"Recovered: faster again than when it was slow. Against the baseline the runs show no difference{reach}."


def check_document(check: Check) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        **asdict(check.watch),
        "recording": check.watch.series_id,
        "changed": check.changed,
        "sentence": check_sentence(check),
        "baseline_nights": check.nights,
        "baseline_nights_needed": BASELINE_NIGHTS,
        "smallest_slowdown_percent": check.smallest_percent,
        "comparison": comparison_document(check.comparison) if check.comparison else None,
    }


def watch_report(check: Check) -> report.Report:
    watch = check.watch
    path = f"{watch.command} {wording.plain(watch.subject)}"

    # The night that completes the baseline is part of it, so it is not compared either.
    is_compared = check.nights >= BASELINE_NIGHTS and check.outcome is not Outcome.COLLECTED
    has_state = is_compared or watch.standing is not WatchState.STEADY

    return report.Report(
        form="watch",
        title=f"Watch: {path}",
        name="Watch",
        fields=report.fields_of(
            report.answer_field(check_sentence(check), TONES[watch.state]),
            ("State", _standing_text(watch) if has_state else ""),
            ("Path", path),
            ("Baseline", f"{wording.plain(watch.baseline)}, {_nights_text(check)}"),
            ("Checked", with_zone(watch.attempted_at)),
            report.measured_field(with_zone(watch.succeeded_at) if watch.succeeded_at else ""),
            report.basis_field(basis_sentence(check.comparison) if check.comparison else ""),
            ("Reports", _smallest_text(check)),
        ),
        document=partial(check_document, check),
    )


def _nights_text(check: Check) -> str:
    if check.nights >= BASELINE_NIGHTS:
        return wording.count(check.nights, "night")
    if check.nights:
        return f"{check.nights} of {BASELINE_NIGHTS} nights collected"
    return "no night collected yet" if check.watch.series_id else "no series judged yet"


def _smallest_text(check: Check) -> str:
    if check.smallest_percent is None:
        return ""
    smallest = wording.percent(check.smallest_percent)
    return f"A slowdown of {smallest} or more is reported within two nights, 9 times in 10."
