"""Improvements: how a series is measured again and better, where its warnings say that it was not good enough."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from app.method.choices import GuideChoices, MethodStep, QuietChoice, with_counts
from forms.findings.series_warnings import MANY_RUNS, advice
from storage.recommended import DEFAULT_RUNS
from storage.records import Series


class Improvement(NamedTuple):
    name: str
    """The line that offers it."""
    apply: Callable[[GuideChoices], GuideChoices]
    """Makes the improved choices of a round's."""


def _with_more_runs(choices: GuideChoices) -> GuideChoices:
    counts = choices.spec.counts
    return with_counts(choices, replace(counts, runs=max(MANY_RUNS, 2 * counts.runs)))


def _with_more_warmups(choices: GuideChoices) -> GuideChoices:
    counts = choices.spec.counts
    return with_counts(choices, replace(counts, warmups=counts.warmups + 3))


def _with_larger_file(choices: GuideChoices) -> GuideChoices:
    """Back to the choice of a file; a larger one needs no more runs than usual."""
    counts = choices.spec.counts
    fewer = replace(counts, runs=min(counts.runs, DEFAULT_RUNS))
    return replace(with_counts(choices, fewer), step=MethodStep.FILE)


def _at_quiet_time(choices: GuideChoices) -> GuideChoices:
    return replace(choices, quiet=QuietChoice.WAIT)


def _with_larger_file_at_quiet_time(choices: GuideChoices) -> GuideChoices:
    return _with_larger_file(_at_quiet_time(choices))


WAIT = Improvement("Measure again, and wait for a quiet time first", _at_quiet_time)
MORE_RUNS = Improvement("Measure again with more runs", _with_more_runs)
MORE_WARMUPS = Improvement("Measure again with more warm-up runs", _with_more_warmups)
LARGER_FILE = Improvement("Measure again with a larger file", _with_larger_file)
QUIET_FILE = Improvement("Measure again with a larger file, at a quiet time", _with_larger_file_at_quiet_time)

BUSY_TIME = "busy"
"""The key of the warning that others were at work."""
SHORT_RUNS = "short"
"""The key of the warning that the runs are too short to tell anything but their beginning."""
BETTER: Mapping[str, Improvement] = {
    BUSY_TIME: WAIT,
    SHORT_RUNS: LARGER_FILE,
    "scatter": MORE_RUNS,
    "single": MORE_RUNS,
    "until": MORE_RUNS,
    "warm-up": MORE_WARMUPS,
    "drift": MORE_WARMUPS,
}
"""By the key of a series' warning (``forms/findings/series_warnings.py``)."""


def improvements_of(series: Series) -> list[Improvement]:
    """What the warnings of a series lead to, each once, a larger file first, then the gravest."""
    keys = [warning.key for warning in advice(series) if warning.key in BETTER]
    improvements = list(dict.fromkeys(BETTER[key] for key in keys))
    if LARGER_FILE in improvements and WAIT in improvements:
        others = [improvement for improvement in improvements if improvement not in {LARGER_FILE, WAIT}]
        improvements = [QUIET_FILE, *others]
    return sorted(improvements, key=lambda improvement: improvement not in {LARGER_FILE, QUIET_FILE})
