"""Times as people read them: in this machine's zone, by its summer time of that day, and in UTC for data."""

from collections.abc import Callable

import pytest

from forms import layout, wording
from forms.exporters import times_for
from storage.records import shows_utc, to_minute, utc_minute, with_zone

Zone = Callable[[str], None]


@pytest.mark.parametrize(
    ("name", "moment", "shown"),
    [
        ("UTC", "2026-03-04T15:10:59.999Z", "2026-03-04 15:10 UTC"),
        ("Asia/Kolkata", "2026-03-04T20:10:00.000Z", "2026-03-05 01:40 IST"),
        ("America/New_York", "2026-03-08T06:59:00.000Z", "2026-03-08 01:59 EST"),
        ("America/New_York", "2026-03-08T07:00:00.000Z", "2026-03-08 03:00 EDT"),
        ("America/New_York", "2026-11-01T05:59:00.000Z", "2026-11-01 01:59 EDT"),
        ("America/New_York", "2026-11-01T06:00:00.000Z", "2026-11-01 01:00 EST"),
        ("Asia/Kolkata", "0001-01-01T00:00:00.000Z", "0001-01-01"),
        ("America/New_York", "9999-12-31T23:59:00.000Z", "9999-12-31"),
        ("America/New_York", "2026-03-08T12:00:00+05:30", "2026-03-08 01:30 EST"),
    ],
)
def test_a_moment_is_shown_in_the_zone_of_its_day(zone: Zone, name: str, moment: str, shown: str):
    zone(name)
    assert with_zone(moment).startswith(shown)
    assert to_minute(moment) == with_zone(moment)[:16]


def test_what_is_read_back_has_utc(zone: Zone):
    zone("America/New_York")
    moment = "2026-07-01T02:30:00.000Z"
    assert wording.when_heading() == f"When ({layout.local_zones()})" == "When (EST/EDT)"
    for name, shown in (("csv", "2026-07-01 02:30 UTC"), ("html", "2026-06-30 22:30 EDT")):
        with times_for(name):
            assert with_zone(moment) == shown
            assert wording.when_heading() == ("When (UTC)" if name == "csv" else "When (EST/EDT)")
    assert not shows_utc.get()
    assert utc_minute(moment) == "2026-07-01 02:30", "notes that are merged are equal on every machine"


def test_what_is_no_moment_is_shown_as_it_is():
    assert with_zone("") == to_minute("") == ""
    assert with_zone("yesterday") == "yesterday"
