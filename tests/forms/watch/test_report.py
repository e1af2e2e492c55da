"""A watch's form: what is said of its baseline before, while and after it is collected."""

from dataclasses import replace

import pytest

from forms.watch.report import watch_report
from forms.watch.rule import Check, Outcome
from storage.records import Command
from storage.watch.records import Watch, WatchState

AT = "2026-01-09T10:00:00.000Z"
WATCH = Watch(
    id="w", created_at=AT, subject="smb://nas/data/big.bin", baseline="nightly", command=Command.GET, since=AT,
    attempted_at=AT, state=WatchState.UNMEASURABLE, standing=WatchState.UNMEASURABLE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("series_id", "nights", "said"),
    [
        (None, 0, "nightly, no series judged yet"),
        ("aa", 0, "nightly, no night collected yet"),
        ("aa", 1, "nightly, 1 of 3 nights collected"),
        ("aa", 2, "nightly, 2 of 3 nights collected"),
        ("aa", 3, "nightly, 3 nights"),
    ],
)
def test_no_nights_are_counted_before_a_series_was_judged(series_id: str | None, nights: int, said: str):
    watch = replace(WATCH, series_id=series_id)
    report = watch_report(Check(watch=watch, before=watch, outcome=Outcome.UNMEASURABLE, nights=nights))
    assert next(field.text for field in report.fields if field.name == "Baseline") == said
