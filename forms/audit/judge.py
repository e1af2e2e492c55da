"""Judge a server: the settings of its smb.conf, its facts, and who may write its files.

Each line of smb.conf is judged by rules that hold for every parameter (is it known, does it stand where it acts), then
by the judgements of its values in ``forms/tuning/data/judgements.toml``. A *fact* is something else that was found out
of the server, such as a limit of its kernel; the judgements know some of them.
"""

from collections.abc import Iterator, Sequence

from forms.audit import (
    companion_findings,
    configuration,
    file_findings,
    judgement_findings,
    judgements,
    module_findings,
    option_findings,
    parameter_findings,
    place_findings,
    value_findings,
)
from forms.audit.audited_server import AuditedServer
from forms.audit.hiding_findings import hiding_finding
from forms.audit.line_finding import line_finding
from forms.tuning import conf_file, smb_conf
from storage.looks import AuditedSetting, AuditFinding, Ruling

OTHERS_MAY_WRITE = 0o002
"""The bit of a file's mode."""
_RANK = {ruling: rank for rank, ruling in enumerate(Ruling)}


def judge(server: AuditedServer) -> tuple[AuditFinding, ...]:
    """The findings, the gravest first."""
    findings = [*_findings_of_facts(server), *_findings_of_files(server)]
    if server.conf is not None:
        findings += _findings_of_conf(server, server.conf)
    return gravest_first(findings)


def gravest_first(findings: Sequence[AuditFinding]) -> tuple[AuditFinding, ...]:
    """By verdict; of one verdict the costliest first, then in the order of the lines."""
    return tuple(sorted(findings, key=_place_by_gravity))


def _place_by_gravity(finding: AuditFinding) -> tuple[int, int, str, int]:
    return _RANK[finding.verdict], -finding.cost, finding.file, finding.line


# Facts and files


def _findings_of_facts(server: AuditedServer) -> Iterator[AuditFinding]:
    for judgement in judgements.judgements():
        if not judgement.fact or judgement.fact not in server.facts:
            continue
        value = str(server.facts[judgement.fact])
        judged = judgement.judged_value("", judgements.without_commas(value))
        if judged is None or not judgement.facts_hold(server.facts):
            continue

        yield AuditFinding(
            key=judgement.key,
            verdict=judgement.verdict,
            cost=judgement.cost,
            setting=judgement.fact,
            value=value,
            why=judgement.reason_for(judged),
            what_to_do=judgement.advice or f"Set or use: {judgement.instead}.",
            price=judgement.price,
            price_source=judgement.source_of_price,
            advised_by=judgement.advised_by,
        )


def _findings_of_files(server: AuditedServer) -> Iterator[AuditFinding]:
    for path, mode in server.modes.items():
        if mode & OTHERS_MAY_WRITE:
            yield AuditFinding(
                key="writable-configuration",
                verdict=Ruling.HARMFUL,
                cost=1000,
                setting=path,
                value=f"{mode:04o}",
                why="Any local user can change it, and with it what smbd does as root.",
                what_to_do=f"Run: chmod o-w {path}; then look for lines that you did not write.",
                file=path,
            )


# The lines of an smb.conf


def _findings_of_conf(server: AuditedServer, file: conf_file.SmbConfFile) -> Iterator[AuditFinding]:
    conf = configuration.Configuration(file, server.samba_version)
    for setting in conf.settings:
        winner = conf.last[setting.section, smb_conf.parameter_key(setting.name)]
        if winner is setting:
            yield from _findings_of_setting(server, conf, setting)
        else:
            yield from _findings_of_overruled(conf, setting, winner)

    yield from file_findings.file_findings(file, is_dump=conf.is_dump, is_copy=server.is_copy)
    if not conf.is_dump:
        yield from place_findings.place_findings(conf)


def _findings_of_overruled(
    conf: configuration.Configuration, setting: AuditedSetting, winner: AuditedSetting
) -> Iterator[AuditFinding]:
    """The findings of a line that another one sets again: smbd reads it all the same."""
    refused = parameter_findings.refused_finding(conf, setting, smb_conf.spelling(setting.name))
    if refused is not None:
        yield refused
    elif not _is_same_setting(setting, winner):
        yield _set_twice_finding(setting, winner)


def _is_same_setting(setting: AuditedSetting, winner: AuditedSetting) -> bool:
    name = smb_conf.spelling(setting.name).name
    return smb_conf.same_value(name, configuration.meant_value(setting), configuration.meant_value(winner))


def _set_twice_finding(setting: AuditedSetting, winner: AuditedSetting) -> AuditFinding:
    where = f"{winner.file}:{winner.line}"
    if winner.file == setting.file:
        where = f"Line {winner.line}"
    reason = f"{where} sets it again, to {winner.value}: this line does nothing."
    if judgements.is_protection(setting.name):
        advice = "Write into one line what is meant, and delete the other."
        return line_finding(setting, "set-twice", Ruling.CONTRADICTORY, 30, reason, instead=None, advice=advice)
    return line_finding(setting, "set-twice", Ruling.CONTRADICTORY, 30, reason, instead="")


def _findings_of_setting(
    server: AuditedServer, conf: configuration.Configuration, setting: AuditedSetting
) -> Iterator[AuditFinding]:
    """The findings of a line that counts: one by the rules, else all by the judgements, else that it is the default."""
    if ":" in setting.name:
        # An option of a module, such as `recycle:repository`: the rules know Samba's own parameters alone.
        finding = value_findings.unreadable_name_finding(setting) or value_findings.comment_finding(setting)
        if finding is not None:
            yield finding
        yield from option_findings.option_findings(conf, setting)
        yield from judgement_findings.findings_by_judgements(server, conf, setting, setting.value)
        return

    if conf.is_printed_default(setting):
        return

    finding = parameter_findings.finding_by_rules(server, conf, setting)
    if finding is not None:
        yield finding
        return

    value = configuration.meant_value(setting)
    findings: list[AuditFinding] = []
    # An empty value may be the default of a parameter of which every other is judged.
    if not value and smb_conf.is_default(smb_conf.spelling(setting.name).name, value, conf.version):
        return
    findings = [
        *judgement_findings.findings_by_judgements(server, conf, setting, value),
        *judgement_findings.findings_of_words(setting),
    ]
    # What smbd reads of a word is said with the judgement of it.
    judged_words = {finding.word for finding in findings if finding.word}
    findings += [
        finding
        for finding in value_findings.value_findings(setting, is_dump=conf.is_dump)
        if finding.word not in judged_words
    ]
    findings += companion_findings.companion_findings(conf, setting)
    findings += module_findings.module_findings(conf, setting, server.modules)
    findings += place_findings.folder_findings(setting, server.missing_folders, server.facts)
    findings += place_findings.account_findings(setting, server.facts)
    findings += place_findings.interface_findings(setting, server.facts)
    hiding = None if findings else hiding_finding(server, setting)
    if findings:
        yield from findings
    elif hiding is not None:
        yield hiding
    elif conf.is_default(setting):
        yield line_finding(setting, "default", Ruling.USELESS, 0, "It is the default.", instead="")


# Rules for every parameter


# Judgements of a parameter's values


# Files that a pattern hides
