"""The answer of an audit."""

import pytest

from forms.audit.report import audit_answer, audit_sign
from forms.layout import Sign
from storage.looks import Audit, AuditScope


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
