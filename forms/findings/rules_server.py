"""Settings of the server that harm what was measured."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from forms import wording
from forms.findings.finding import Finding, NextAct, Severity
from forms.tuning import fact_names
from storage import records

if TYPE_CHECKING:
    from storage.looks import AuditFinding


def harmful_server_settings(series: records.Series) -> Iterator[Finding]:
    for harmful in harmful_in(series.environment):
        evidence = f"{harmful.why} {harmful.price}" if harmful.price else harmful.why
        setting = wording.plain(f"{harmful.setting} = {harmful.value}")
        yield Finding(
            key=f"harmful-{harmful.key}",
            severity=Severity.PROBLEM,
            title=f"Harmful on the server: {setting}",
            evidence=wording.plain(evidence),
            what_to_do=f"{harmful.what_to_do} sharebench audit names the line, and tests it with --try.",
            next_act=NextAct.AUDIT,
        )


def harmful_in(environment: Mapping[str, records.Facts]) -> "tuple[AuditFinding, ...]":
    """The settings of the server that harm whatever is measured; none where its parameters were not read."""
    facts = environment.get("server", {})
    if not any(name.startswith(fact_names.PARAMETER_PREFIX) for name in facts):
        return ()
    # Most programs need no audit: its catalogue is read only where settings are there to judge.
    from forms.audit.harmful_settings import harmful_settings

    return harmful_settings(facts)
