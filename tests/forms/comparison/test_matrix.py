"""Table B-1 from the book's own figures, and from series that fill it badly."""

from dataclasses import replace

import pytest

from forms.comparison.matrix import ProtocolMatrix, protocol_matrix
from forms.comparison.matrix_report import matrix_table
from forms.comparison.report import comparison_report
from forms.comparison.summary import comparisons, sides_of
from forms.exporters.text import report_text
from forms.exporters.text_tables import table_lines
from forms.report import cell_text
from forms.stats.summary import half_width
from storage.records import Change, Command, Series, Target
from tests.builders import series

FTP = Target(protocol="ftp", host="sparc", path="/file")
SMB = Target(protocol="smb", host="sparc", share="data", path="file")


def at_rate(kilobytes: float, command: Command, target: Target, label: str = "", name: str = "") -> Series:
    rates = (kilobytes * 0.99e3, kilobytes * 1e3, kilobytes * 1.01e3)
    return series(rates, command=command, target=target, label=label, id=name or f"{label}{command}{kilobytes}")


def book() -> list[Series]:
    """Table B-1's SPARC rows and the Pentium's, in KB/s."""
    pentium_ftp, pentium_smb = replace(FTP, host="pentium"), replace(SMB, host="pentium")
    get, put = Command.GET, Command.PUT
    return [
        at_rate(1014.5, get, FTP),
        at_rate(645.3, get, SMB, "untuned"),
        at_rate(866.7, get, SMB, "tuned"),
        at_rate(379.8, put, FTP),
        at_rate(386.1, put, SMB, "untuned"),
        at_rate(329.5, put, SMB, "tuned"),
        at_rate(973.27, get, pentium_ftp),
        at_rate(725, get, pentium_smb, "tuned"),
        at_rate(1014.5, put, pentium_ftp),
        at_rate(1100, put, pentium_smb, "tuned"),
    ]


def column_names(matrix: ProtocolMatrix) -> tuple[str, ...]:
    return tuple(column.name for column in matrix.columns)


def test_the_books_table_with_the_ratios_it_does_not_print():
    table = protocol_matrix(book())
    assert column_names(table) == ("FTP", "untuned", "tuned")
    assert [row.name for row in table.rows] == ["sparc get", "sparc put", "pentium get", "pentium put"]
    ratios = [[None if c is None else c.percent_of_ftp for c in row.cells] for row in table.rows]
    assert [r[0] for r in ratios] == [None] * 4
    cells = [cell for row in table.rows for cell in row.cells if cell]
    rates = [[run.bytes_per_second or 0.0 for run in cell.series.measured()] for cell in cells]
    assert [c.half_width_bytes_per_second for c in cells] == [half_width(one) for one in rates]
    assert half_width(rates[0]) == pytest.approx(1014.5e3 * 0.01 * 4.30265 / 3**0.5), "t of 2 degrees of freedom"
    assert [round(r[2] or 0, 1) for r in ratios] == [85.4, 86.8, 74.5, 108.4]
    assert [round(r[1], 1) if r[1] else None for r in ratios] == [63.6, 101.7, None, None]


def test_labels_that_repeat_their_row_make_the_same_table():
    def labelled(form: str) -> list[Series]:
        return [
            replace(one, label=form.format(host=one.target.host, command=one.command, label=one.label))
            if one.label
            else one
            for one in book()
        ]

    for form in ("{host} {command} {label}", "{label} {command}", "{command} {label}"):
        assert column_names(protocol_matrix(labelled(form))) == ("FTP", "untuned", "tuned"), form
    one_row = [at_rate(645, Command.GET, SMB, "cut through on"), at_rate(700, Command.GET, SMB, "cut through off")]
    assert column_names(protocol_matrix(one_row)) == ("cut through on", "cut through off")
    same = [*one_row, at_rate(645, Command.PUT, SMB, "cut through on"), at_rate(7, Command.PUT, SMB, "cut through off")]
    assert column_names(protocol_matrix(same)) == ("cut through on", "cut through off")


def test_one_host_needs_no_name_and_no_label_needs_no_invention():
    changed = replace(at_rate(900, Command.GET, SMB), change=Change(name="log level", value="0"))
    table = protocol_matrix([at_rate(645, Command.GET, SMB), changed, at_rate(700, Command.GET, SMB, name="again")])
    assert column_names(table) == ("SMB (get645)", "log level = 0", "SMB (again)")
    assert [row.name for row in table.rows] == ["get"]
    assert not table.has_ftp
    assert all(c is not None and c.percent_of_ftp is None for c in table.rows[0].cells)


def test_a_baseline_names_its_column_and_the_cell_has_the_mean_of_its_series():
    march = [at_rate(rate, Command.GET, SMB, "first", name=f"march{rate}") for rate in (600, 700)]
    april = at_rate(800, Command.GET, SMB, "april get")
    table = protocol_matrix([march[0], april], baselines={march[0].id: "march"}, repeats={march[0].id: march})
    assert column_names(table) == ("march", "april get")
    cell, other = table.rows[0].cells
    assert cell is not None
    assert other is not None
    assert cell.bytes_per_second == pytest.approx(650e3)
    assert other.bytes_per_second == pytest.approx(800e3)
    # Student's t of 2 x 2 degrees of freedom, s pooled over both series, of three runs each.
    pooled = ((6e3**2 + 7e3**2) / 2) ** 0.5
    assert cell.half_width_bytes_per_second == pytest.approx(2.77645 * pooled * (2 / 3) ** 0.5 / 2, rel=1e-4)


def test_several_ftp_keep_their_labels_beside_the_one_that_others_are_measured_by():
    ftp = [at_rate(1000, Command.GET, FTP, label) for label in ("old switch", "new switch")]
    assert column_names(protocol_matrix(ftp)) == ("old switch", "new switch")
    beside = protocol_matrix([*ftp, at_rate(500, Command.GET, SMB, "tuned")])
    assert column_names(beside) == ("FTP", "new switch", "tuned")
    assert [column.is_ftp for column in beside.columns] == [True, False, False]
    assert [cell and cell.percent_of_ftp for cell in beside.rows[0].cells] == [None, 100.0, 50.0]


def test_ftp_comes_first_wherever_it_was_given():
    assert column_names(protocol_matrix([at_rate(645, Command.GET, SMB), at_rate(1000, Command.GET, FTP)])) == (
        "FTP",
        "SMB",
    )


def test_what_somebody_calls_ftp_is_no_yardstick():
    table = protocol_matrix([at_rate(645, Command.GET, SMB, "FTP"), at_rate(700, Command.GET, SMB, "tuned")])
    assert not table.has_ftp
    assert all(cell is not None and cell.percent_of_ftp is None for cell in table.rows[0].cells)
    beside = protocol_matrix([at_rate(500, Command.GET, SMB, "FTP"), at_rate(1000, Command.GET, FTP)])
    assert [column.is_ftp for column in beside.columns] == [True, False]
    assert [cell and cell.percent_of_ftp for cell in beside.rows[0].cells] == [None, 50.0]


def test_text_stays_within_eighty_columns():
    lines = list(table_lines(matrix_table(protocol_matrix(book())), 80))
    assert max(map(len, lines)) <= 80
    assert next(x for x in lines if x.startswith("sparc get")).split()[4:] == [
        "645.3",
        "16.0",
        "63.6",
        "866.7",
        "21.5",
        "85.4",
    ]
    wide = [replace(s, label=f"{s.label} with a long label {i}") for i, s in enumerate(book())]
    listed = report_text(comparison_report(wide))
    assert max(map(len, listed.splitlines())) <= 80
    assert "108.4" in listed, "no number is broken where there is no room for the columns"
    assert "tuned with a long label 9, kB/s: 1,100.0" in " ".join(listed.split())


def test_one_unit_for_all_and_kilobytes_where_something_is_slow():
    slow, fast = at_rate(645, Command.GET, SMB, "slow"), at_rate(118_000, Command.GET, SMB, "fast")
    assert [c.heading for c in matrix_table(protocol_matrix([slow, fast])).columns][1::2] == [
        "slow, kB/s",
        "fast, kB/s",
    ]
    assert [c.heading for c in matrix_table(protocol_matrix([fast])).columns] == ["Command", "fast, MB/s", "±"]


def test_a_series_without_a_valid_run_is_not_available():
    empty = series(command=Command.GET, target=SMB, id="none")
    table = matrix_table(protocol_matrix([at_rate(1000, Command.GET, FTP), empty]))
    cells = zip(table.rows[0].cells, table.columns, strict=True)
    assert [cell_text(cell, column.kind) for cell, column in cells][3:] == ["n.a.", "", ""]


def test_each_is_compared_with_the_first_of_its_own_host_and_command():
    given = book()
    found = [(sides.base[0].id, sides.other[0].id) for sides in sides_of([(one,) for one in given])]
    ids = [one.id for one in given]
    assert found == [(ids[a], ids[b]) for a, b in ((0, 1), (0, 2), (3, 4), (3, 5), (6, 7), (8, 9))]


def test_two_series_are_compared_whatever_they_are():
    pair = [at_rate(1000, Command.GET, FTP), at_rate(900, Command.PUT, FTP)]
    (sides,) = sides_of([(one,) for one in pair])
    assert (sides.base, sides.other) == ((pair[0],), (pair[1],))


@pytest.mark.parametrize("runs", [1, 3])
def test_the_runs_needed_have_a_column_where_one_is_known(runs: int):
    rates = (1e8, 1.3e8, 0.8e8)[:runs]
    shown = [series(rates, id=name, target=replace(SMB, path=name)) for name in ("a", "b", "c")]
    found = comparisons(sides_of([(one,) for one in shown]))
    columns = [column.heading for column in comparison_report(shown, found).tables[1].columns]
    assert ("Runs needed" in columns) is any(form.comparison.needed_runs for form in found)
    assert any(form.comparison.needed_runs for form in found) is (runs == 1)


@pytest.mark.parametrize(("spread", "is_told"), [(0.02, True), (0.5, False)])
def test_an_interval_that_tells_nothing_is_left_out_and_the_table_says_why(spread: float, is_told: bool):
    rates = (1e8 * (1 + spread), 1e8, 1e8 / (1 + spread))
    shown = [series(rates, id=name, target=replace(SMB, path=name)) for name in ("a", "b", "c")]
    table = comparison_report(shown, comparisons(sides_of([(one,) for one in shown]))).tables[1]
    ends = [row.cells[place].value for row in table.rows for place in (4, 5)]
    assert all((end is not None) is is_told for end in ends)
    assert ("too wide" in table.caption) is not is_told
