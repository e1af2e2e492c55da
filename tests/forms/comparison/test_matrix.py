"""Table B-1 from the book's own figures, and from series that fill it badly."""

from dataclasses import replace

from forms.comparison.matrix import protocol_matrix, sides_of
from forms.comparison.matrix_text import table_b1_text
from storage.records import Change, Command, Series, Target
from tests.forms.samples import series

FTP = Target(protocol="ftp", host="sparc", path="/file")
SMB = Target(protocol="smb", host="sparc", share="data", path="file")


def one(kilobytes: float, command: Command, target: Target, label: str = "", name: str = "") -> Series:
    rates = (kilobytes * 0.99e3, kilobytes * 1e3, kilobytes * 1.01e3)
    return series(rates, command=command, target=target, label=label, id=name or f"{label}{command}{kilobytes}")


def book() -> list[Series]:
    """Table B-1's SPARC rows and the Pentium's, in KB/s."""
    pentium_ftp, pentium_smb = replace(FTP, host="pentium"), replace(SMB, host="pentium")
    get, put = Command.GET, Command.PUT
    return [
        one(1014.5, get, FTP),
        one(645.3, get, SMB, "untuned"),
        one(866.7, get, SMB, "tuned"),
        one(379.8, put, FTP),
        one(386.1, put, SMB, "untuned"),
        one(329.5, put, SMB, "tuned"),
        one(973.27, get, pentium_ftp),
        one(725, get, pentium_smb, "tuned"),
        one(1014.5, put, pentium_ftp),
        one(1100, put, pentium_smb, "tuned"),
    ]


def test_the_books_table_with_the_ratios_it_does_not_print():
    table = protocol_matrix(book())
    assert table.columns == ("FTP", "untuned", "tuned")
    assert [row.name for row in table.rows] == ["sparc get", "sparc put", "pentium get", "pentium put"]
    ratios = [[None if c is None else c.percent_of_ftp for c in row.cells] for row in table.rows]
    assert [r[0] for r in ratios] == [None] * 4
    assert [round(r[2] or 0, 1) for r in ratios] == [85.4, 86.8, 74.5, 108.4]
    assert [round(r[1], 1) if r[1] else None for r in ratios] == [63.6, 101.7, None, None]


def test_one_host_needs_no_name_and_no_label_needs_no_invention():
    changed = replace(one(900, Command.GET, SMB), change=Change(name="log level", value="0"))
    table = protocol_matrix([one(645, Command.GET, SMB), changed, one(700, Command.GET, SMB, name="again")])
    assert table.columns == ("SMB", "log level = 0", "SMB (2)")
    assert [row.name for row in table.rows] == ["get"]
    assert not table.has_ftp
    assert all(c is not None and c.percent_of_ftp is None for c in table.rows[0].cells)


def test_ftp_comes_first_wherever_it_was_given():
    assert protocol_matrix([one(645, Command.GET, SMB), one(1000, Command.GET, FTP)]).columns == ("FTP", "SMB")


def test_text_stays_within_eighty_columns():
    text = table_b1_text(protocol_matrix(book()))
    assert max(map(len, text.splitlines())) <= 80
    assert "645.3 ±  6.5     63.6     866.7 ±  8.7     85.4" in text
    wide = protocol_matrix([replace(s, label=f"{s.label} with a long label {i}") for i, s in enumerate(book())])
    listed = table_b1_text(wide)
    assert max(map(len, listed.splitlines())) <= 80
    assert "108.4" in listed


def test_a_series_without_a_valid_run_is_not_available():
    empty = series(command=Command.GET, target=SMB, id="none")
    text = table_b1_text(protocol_matrix([one(1000, Command.GET, FTP), empty]))
    assert "n.a." in text


def test_each_is_compared_with_the_first_of_its_own_host_and_command():
    given = book()
    found = [(sides.base[0].id, sides.other[0].id) for sides in sides_of([(one,) for one in given])]
    ids = [one.id for one in given]
    assert found == [(ids[a], ids[b]) for a, b in ((0, 1), (0, 2), (3, 4), (3, 5), (6, 7), (8, 9))]


def test_two_series_are_compared_whatever_they_are():
    pair = [one(1000, Command.GET, FTP), one(900, Command.PUT, FTP)]
    (sides,) = sides_of([(one,) for one in pair])
    assert (sides.base, sides.other) == ((pair[0],), (pair[1],))
