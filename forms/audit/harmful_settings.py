"""The harmful settings among the facts that a series has of its server, judged without the server's files."""

from collections.abc import Iterator, Mapping

from forms.audit import companion_findings, configuration, module_findings
from forms.audit.audited_server import AuditedServer
from forms.audit.configuration import Configuration
from forms.audit.hiding_findings import hiding_finding
from forms.audit.judgement_findings import findings_by_judgements
from forms.tuning import conf_file, fact_names
from storage.looks import AuditedSetting, AuditFinding, Ruling
from storage.records import FactValue


def harmful_settings(facts: Mapping[str, FactValue]) -> tuple[AuditFinding, ...]:
    """The harmful ones of the settings that a recording keeps of its server, the costliest first."""
    settings = [*_settings_in_facts(facts, "global"), *_settings_in_facts(facts, "share")]
    server = AuditedServer(facts=facts)
    conf = Configuration(conf_file.SmbConfFile(settings=tuple(settings)), server.samba_version)

    harmful = []
    for setting in settings:
        findings = [*findings_by_judgements(server, conf, setting, configuration.meant_value(setting))]
        findings += companion_findings.companion_findings(conf, setting)
        findings += module_findings.option_findings(conf, setting)
        hiding = hiding_finding(server, setting)
        if hiding is not None:
            findings.append(hiding)
        harmful += [finding for finding in findings if finding.verdict is Ruling.HARMFUL]
    return tuple(sorted(harmful, key=lambda finding: -finding.cost))


def _settings_in_facts(facts: Mapping[str, FactValue], scope: str) -> Iterator[AuditedSetting]:
    prefix = f"{fact_names.PARAMETER_PREFIX}{scope}/"
    for name, value in facts.items():
        # An empty one is a default that testparm lists.
        if name.startswith(prefix) and value != "":
            yield AuditedSetting(section=scope, name=name.removeprefix(prefix), value=str(value))
