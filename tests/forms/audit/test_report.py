"""The answer of an audit."""

from dataclasses import replace

import pytest

from forms.audit.report import audit_answer, audit_line, audit_report, audit_sign
from forms.layout import Sign
from storage.looks import Audit, AuditFinding, AuditScope, Ruling


@pytest.mark.parametrize(
    ("scope", "answer", "sign"),
    [
        (AuditScope.SERVER, "No problems found.", Sign.GOOD),
        (AuditScope.FILE, "No problems found.", Sign.GOOD),
        (AuditScope.SESSION, "The server's settings were not read.", Sign.UNKNOWN),
    ],
)
def test_nothing_found_is_no_praise_where_the_settings_were_not_read(scope: AuditScope, answer: str, sign: Sign):
    audit = Audit(id="cc33cc33cc33", created_at="2026-01-07T10:00:00.000Z", subject="nas", scope=scope)
    assert (audit_answer(audit), audit_sign(audit)) == (answer, sign)


@pytest.mark.parametrize(
    ("sign", "sendfile", "shown"), [("default", "No", 8), ("default", "Yes", 9), ("mandatory", "No", 8)]
)
def test_what_the_server_has_is_shown_where_it_matters_most_or_is_no_default(sign: str, sendfile: str, shown: int):
    known = {"server signing": sign, "server smb encrypt": "default", "server multi channel support": "Yes"}
    of_share = {
        "aio read size": "1", "aio write size": "1", "strict sync": "Yes", "case sensitive": "Auto",
        "durable handles": "Yes", "use sendfile": sendfile, "oplocks": "Yes",
    }  # fmt: skip
    facts = {f"smb.conf/global/{name}": value for name, value in known.items()}
    facts |= {f"smb.conf/share/{name}": value for name, value in of_share.items()}
    audit = Audit(
        id="cc33cc33cc33", created_at="2026-01-07T10:00:00.000Z", subject="nas", scope=AuditScope.SERVER, facts=facts
    )
    (table,) = audit_report(audit).tables
    rows = {str(row.cells[0].value): str(row.cells[1].value) for row in table.rows}
    assert len(rows) == shown
    more = f" ({10 - shown} more are at their defaults)"
    assert table.caption == f"What the server has, of the settings that matter{more}"
    few = {"smb.conf/global/server signing": sign}
    (table,) = audit_report(replace(audit, facts=few)).tables
    assert table.caption == "What the server has, of the settings that matter"
    assert rows["server signing"] == sign
    assert rows.get("use sendfile") == ("Yes" if sendfile == "Yes" else None)
    assert "oplocks" not in rows
    assert not audit_report(replace(audit, facts={})).tables


@pytest.mark.parametrize(
    ("scope", "read"), [(AuditScope.SERVER, ["/srv/smb.conf"]), (AuditScope.SESSION, []), (AuditScope.FILE, [])]
)
def test_the_file_that_was_read_on_the_server_is_named(scope: AuditScope, read: list[str]):
    """Not one whose place is known and that could not be read, nor a second time where the audit is of that file."""
    facts = {"smb.conf.path": "/srv/smb.conf"}
    audit = Audit(id="cc33cc33cc33", created_at="2026-01-07T10:00:00.000Z", subject="nas", scope=scope, facts=facts)
    assert [field.text for field in audit_report(audit).fields if field.name == "Read"] == read


def finding_of(verdict: Ruling, setting: str, section: str = "") -> AuditFinding:
    return AuditFinding(
        key=setting, verdict=verdict, setting=setting, value="yes", line=3, section=section, why="", what_to_do=""
    )


@pytest.mark.parametrize(
    ("findings", "line"),
    [
        ((), "No problems found."),
        ((finding_of(Ruling.WORTH_TRYING, "sync always", "photos"),), "1 worth trying: [photos] sync always = yes."),
        (
            (finding_of(Ruling.WORTH_TRYING, "sync always", "photos"), finding_of(Ruling.HARMFUL, "strict locking")),
            "1 harmful, 1 worth trying: first strict locking = yes.",
        ),
    ],
)
def test_the_line_of_an_audit_names_the_gravest_setting(findings: tuple[AuditFinding, ...], line: str):
    audit = Audit(
        id="cc33cc33cc33",
        created_at="2026-01-07T10:00:00.000Z",
        subject="nas",
        scope=AuditScope.FILE,
        findings=findings,
    )
    assert audit_line(audit) == line


@pytest.mark.parametrize("problem", ["no session: smb://nas: access denied", "no session: smb://nas: wrong password"])
def test_nothing_found_is_no_praise_where_nobody_got_in(problem: str):
    audit = Audit(
        id="cc33cc33cc33",
        created_at="2026-01-07T10:00:00.000Z",
        subject="nas",
        scope=AuditScope.SERVER,
        problems=(problem,),
    )
    assert audit_sign(audit) is Sign.UNKNOWN
    assert "no problems" not in audit_answer(audit).lower()
    assert audit_sign(replace(audit, problems=("no way to its cards",))) is Sign.GOOD
