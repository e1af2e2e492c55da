"""A server that speaks an older SMB dialect than the notebook saw of it: told while measuring, and by the findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.recording.process import SeriesControl, Warned
from app.series.dialect_history import dialect_before, lowered_text
from app.series.record import record
from forms.findings.finding import Severity
from forms.findings.rules_series import old_dialect
from storage.notebook import Notebook
from storage.plan import CeilingPolicy, QuietTime
from storage.records import Command
from tests.builders import CLIENT, last_series, one
from tests.specs import order_with, request_with


def warnings(server, book):
    plan = order_with(command=Command.GET, target=server.target("file"), secrets=server.secrets(), warmups=0, runs=2)
    request = request_with(
        order=plan, quiet_time=QuietTime.SKIP, ceiling=CeilingPolicy.SKIP, link_bits_per_second=10**9
    )
    return [event.text for event in record(request, book, SeriesControl()) if isinstance(event, Warned)]


@pytest.mark.long
def test_a_server_that_speaks_an_older_dialect_than_before_is_told(make_smbd, tmp_path):
    server, book = make_smbd(), tmp_path / "notebook.db"
    server.make_file("file", b"x" * 100_000)
    assert warnings(server, book) == []
    assert "smb.dialect_before" not in last_series(book).environment["path"]
    server.rewrite_conf({"server max protocol": "SMB2_10"})
    (told,) = warnings(server, book)
    assert "speaks SMB 2.1 now, and spoke 3.1.1 before" in told
    lowered = last_series(book)
    assert lowered.environment["path"]["smb.dialect_before"] == "3.1.1"
    (finding,) = old_dialect(lowered)
    assert finding.severity is Severity.WARNING
    assert "the same server spoke 3.1.1" in finding.evidence
    server.rewrite_conf({"server max protocol": "SMB3_11"})
    assert warnings(server, book) == []


def test_only_what_this_client_saw_here_of_this_server_counts(tmp_path):
    seen, now = one(1), one(2, client=replace(CLIENT, dialect="2.1"))
    others = [
        replace(one(3), target=replace(seen.target, host="other")),
        replace(one(4), target=replace(seen.target, port=4450)),
        replace(one(5), client=replace(CLIENT, name="smbclient")),
    ]
    with Notebook(tmp_path / "notebook.db") as notebook:
        notebook.add_all([one(6)])  # imported
        for series in others:
            notebook.add(series)
        assert dialect_before(now, notebook) == ""
        notebook.add(seen)
        capitals = replace(now, target=replace(now.target, host="NAS"))
        assert dialect_before(capitals, notebook) == "3.1.1"
        assert dialect_before(replace(now, target=replace(now.target, protocol="ftp")), notebook) == ""


def test_the_same_or_a_dialect_that_is_not_known_is_no_downgrade():
    for dialect in ("3.1.1", "4.0", None):
        assert not lowered_text("3.1.1", one(1, client=replace(CLIENT, dialect=dialect)))
    assert not lowered_text("2.1", one(1))
