"""What is misprinted in the method's sources, computed again from what they print."""

from statistics import mean, stdev

from forms.isolation.report import EXAMPLES
from forms.tuning import catalogue
from forms.tuning.catalogue import known_misprint, misprints, misprints_about
from forms.worksheets.reference import BOOK_TABLES, TABLES

B9 = (761_580, 767_820, 747_420, 760_020, 772_700)


def right(key: str) -> str:
    return next(one.right for one in misprints() if one.key == key)


def test_each_is_about_something_that_is_shown():
    shown = {name for entry in catalogue.entries() for name in (entry.name, entry.parameter)}
    shown |= {reference.name for table in TABLES.values() for reference in table} | {*BOOK_TABLES, *EXAMPLES}
    shown |= {"B-1", "B-6", "B-7", "B-9", "time-to-tune", "usual-ratio", "disk", "security", "veto files"}
    for one in misprints():
        assert set(one.about) <= shown, one.key
        assert one.source
        assert one.printed != one.right
    assert len({one.key for one in misprints()}) == len(misprints()) >= 30


def test_table_b9():
    size = 1_812_898
    assert f"average {mean(B9):,.0f} bytes/s, {8 * mean(B9):,.0f} bits/s and {100 * 8 * mean(B9) / 1e7:.0f} %" in right(
        "table-b9"
    )
    assert [
        n for n, rate in enumerate(B9, 1) if f"{size / rate:.1f}" != ("2.3", "2.3", "2.4", "2.3", "2.3")[n - 1]
    ] == [
        1,
        2,
        4,
    ]
    assert stdev(B9) < 10_000
    known = known_misprint("B-9", 777_310)
    assert known
    assert known.key == "table-b9"
    assert known_misprint("B-9", 761_908) is None


def test_what_can_be_computed_is():
    assert f"{100 * (645.3 - 622.2) / 645.3:.1f} %" in right("log-level")
    shares = [100 * tuned / ftp for tuned, ftp in ((866.7, 1014.5), (329.5, 379.8), (725, 973.27), (1100, 1014.5))]
    assert sum(68 <= share <= 80 for share in shares) == 1
    assert ", ".join(f"{share:.1f}" for share in shares[:3]) + f" and {shares[3]:.1f} %" in right("usual-share")
    assert f"{100 * (386.1 - 329.5) / 386.1:.1f} %" in right("tuned-put")
    assert f"{145_079_345 / 1_335_959:.1f} µs" in right("stat-2003")
    assert f"{36 * 2.3 * 12:.1f} KB/s" in right("office-clients")
    assert f"{960 // (2.3 * 12):.0f} fit" in right("office-clients")
    assert str(10 * 1460) in right("ibm-buffers")


def test_names_are_found_in_any_case():
    assert misprints_about("Veto Files") == misprints_about("veto files") != ()
    assert misprints_about("no such thing") == ()
