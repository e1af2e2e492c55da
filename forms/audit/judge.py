"""Judge a server: the settings of its smb.conf, its facts, and who may write its files.

Each line of smb.conf is judged by rules that hold for every parameter (is it known, does it stand where it acts), then
by the judgements of its values in ``forms/tuning/data/judgements.toml``. A *fact* is something else that was found out
of the server, such as a limit of its kernel; the judgements know some of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain

from forms.audit import (
    companion_findings,
    configuration,
    file_findings,
    judgements,
    module_findings,
    place_findings,
    value_findings,
)
from forms.audit.configuration import Configuration
from forms.audit.judgements import SettingJudgement
from forms.audit.line_finding import line_finding
from forms.tuning import conf_file, fact_names, samba_parameters, smb_conf, smb_values
from forms.tuning.catalogue import CatalogueEntry, Status
from storage.looks import AuditedSetting, AuditFinding, Ruling
from storage.records import FactValue

SMB1 = frozenset({"nt1", "lanman2", "lanman1", "core", "coreplus"})
OTHERS_MAY_WRITE = 0o002
"""The bit of a file's mode."""
SAMPLE_NAMES = ("report.docx", "photo.jpg", "archive.tar.gz", "notes.txt")
"""A pattern that hides all of these hides every file with a dot in its name."""
MOST_NAMES = 5
"""Of the files that a pattern hides."""
SOCKET_OPTIONS = (
    "SO_KEEPALIVE",
    "SO_REUSEADDR",
    "SO_BROADCAST",
    "TCP_NODELAY",
    "TCP_KEEPCNT",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "IPTOS_LOWDELAY",
    "IPTOS_THROUGHPUT",
    "SO_REUSEPORT",
    "SO_SNDBUF",
    "SO_RCVBUF",
    "SO_SNDLOWAT",
    "SO_RCVLOWAT",
    "SO_SNDTIMEO",
    "SO_RCVTIMEO",
    "TCP_FASTACK",
    "TCP_QUICKACK",
    "TCP_NODELAYACK",
    "TCP_KEEPALIVE_THRESHOLD",
    "TCP_KEEPALIVE_ABORT_THRESHOLD",
    "TCP_DEFER_ACCEPT",
    "TCP_USER_TIMEOUT",
)
"""The words that smbd knows (lib/util/util_net.c)."""
_UNLESS_UNREAD = "Delete the line, unless it is needed by a file that was not read."
_RANK = {ruling: rank for rank, ruling in enumerate(Ruling)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedServer:
    """What is known of a server; empty fields judge nothing."""

    conf: conf_file.SmbConfFile | None = None
    path: str = ""
    """Of its smb.conf."""
    is_copy: bool = False
    """Whether only a copy of the file is here: what it names and is not here may be there."""
    modes: Mapping[str, int] = field(default_factory=dict)
    """The modes of its configuration files, by path."""
    facts: Mapping[str, FactValue] = field(default_factory=dict)
    names_in_shares: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The names of files in a share, by its name in small letters."""
    missing_folders: frozenset[str] = frozenset()
    """Paths of shares that are not there."""

    # What its Samba knows
    global_names: frozenset[str] = frozenset()
    """Parameters for the whole server."""
    share_names: frozenset[str] = frozenset()
    """Parameters for a share."""
    modules: frozenset[str] = frozenset()
    """Modules that can be named in vfs objects."""

    @property
    def samba_version(self) -> samba_parameters.Version | None:
        """None if unknown."""
        return fact_names.samba_version(self.facts)

    def names_in(self, section: str) -> list[str]:
        """The files in the share of that section; for [global] in all shares."""
        if section != "global":
            return list(self.names_in_shares.get(section, ()))
        return list(chain.from_iterable(self.names_in_shares.values()))


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


def harmful_settings(facts: Mapping[str, FactValue]) -> tuple[AuditFinding, ...]:
    """The harmful ones of the settings that a recording keeps of its server, the costliest first."""
    settings = [*_settings_in_facts(facts, "global"), *_settings_in_facts(facts, "share")]
    server = AuditedServer(facts=facts)
    conf = Configuration(conf_file.SmbConfFile(settings=tuple(settings)), server.samba_version)

    harmful = []
    for setting in settings:
        findings = [*_findings_by_judgements(server, conf, setting, configuration.meant_value(setting))]
        findings += companion_findings.companion_findings(conf, setting)
        findings += module_findings.option_findings(conf, setting)
        hiding = _hiding_finding(server, setting)
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
    conf = Configuration(file, server.samba_version)
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
    conf: Configuration, setting: AuditedSetting, winner: AuditedSetting
) -> Iterator[AuditFinding]:
    """The findings of a line that another one sets again: smbd reads it all the same."""
    refused = _refused_finding(conf, setting, smb_conf.spelling(setting.name))
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


def _findings_of_setting(server: AuditedServer, conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """The findings of a line that counts: one by the rules, else all by the judgements, else that it is the default."""
    if ":" in setting.name:
        # An option of a module, such as `recycle:repository`: the rules know Samba's own parameters alone.
        finding = value_findings.unreadable_name_finding(setting) or value_findings.comment_finding(setting)
        if finding is not None:
            yield finding
        yield from module_findings.option_findings(conf, setting)
        yield from _findings_by_judgements(server, conf, setting, setting.value)
        return

    if conf.is_printed_default(setting):
        return

    finding = _finding_by_rules(server, conf, setting)
    if finding is not None:
        yield finding
        return

    value = configuration.meant_value(setting)
    findings: list[AuditFinding] = []
    # An empty value may be the default of a parameter of which every other is judged.
    if not value and smb_conf.is_default(smb_conf.spelling(setting.name).name, value, conf.version):
        return
    findings = [*_findings_by_judgements(server, conf, setting, value), *_findings_of_words(setting)]
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
    hiding = None if findings else _hiding_finding(server, setting)
    if findings:
        yield from findings
    elif hiding is not None:
        yield hiding
    elif conf.is_default(setting):
        yield line_finding(setting, "default", Ruling.USELESS, 0, "It is the default.", instead="")


# Rules for every parameter


def _finding_by_rules(server: AuditedServer, conf: Configuration, setting: AuditedSetting) -> AuditFinding | None:
    """What Samba itself makes of the line, whatever the value is good for."""
    spelled = smb_conf.spelling(setting.name)
    entry = configuration.catalogue_entry(spelled.name)
    if not _is_known(server, conf, spelled):
        return _skipped_finding(conf, setting, spelled, entry) or _unknown_finding(server, conf, setting)
    # The first that applies: what follows would be wrong, or say the same again.
    return (
        value_findings.comment_finding(setting)
        or _refused_finding(conf, setting, spelled)
        or _wrong_section_finding(setting, spelled)
        or _smb1_finding(conf, setting, entry)
    )


def _is_known(server: AuditedServer, conf: Configuration, spelled: smb_conf.Spelling) -> bool:
    """Whether that Samba knows the name: by its own list, else by ours; if its version is unknown, whether any does."""
    own_keys = _squeezed_names(server.global_names | server.share_names)
    if own_keys:
        is_former_name = spelled.is_synonym and smb_conf.squeeze(spelled.name) in own_keys
        return smb_conf.squeeze(spelled.typed) in own_keys or is_former_name

    if spelled.parameter is None:
        return False
    if conf.version is None:
        return True
    return not spelled.is_too_new_for(conf.version) and spelled.removed_after(conf.version) is None


@cache
def _squeezed_names(names: frozenset[str]) -> frozenset[str]:
    return frozenset(smb_conf.squeeze(name) for name in names)


def _skipped_finding(
    conf: Configuration,
    setting: AuditedSetting,
    spelled: smb_conf.Spelling,
    entry: CatalogueEntry | None,
) -> AuditFinding | None:
    """A line that other versions of Samba know; of one whose version is unknown, that older ones did."""
    version = conf.version
    reader = f"{samba_parameters.short_version(version)} skips" if version else "newer ones skip"
    if version is not None and spelled.parameter is not None and spelled.is_too_new_for(version):
        since = samba_parameters.short_version(spelled.parameter.since or ())
        former_names = smb_conf.former_names(spelled.name)
        if former_names:
            reason = f"It has this name since Samba {since}: {reader} the line."
            remedy = f"Call it {former_names[0]} there."
            return replace(
                line_finding(setting, "too-new", Ruling.MISPLACED, 50, reason, instead=None), what_to_do=remedy
            )
        reason = f"Samba knows it since {since}: {reader} the line."
        return line_finding(setting, "too-new", Ruling.USELESS, 5, reason, instead="")

    is_removed = entry is not None and entry.status is Status.REMOVED
    last = spelled.removed_after(version or smb_conf.parameter_table().newest)
    removed_in = ""
    if last is not None:
        removed_in = samba_parameters.short_version(smb_conf.release_after(last))
    elif entry is not None and is_removed and spelled.parameter is None:
        # Samba 3 and before, which the table of parameters does not tell.
        removed_in = entry.removed_in or ""
    if not removed_in:
        return None

    reason = f"Removed in Samba {removed_in}: {reader} the line."
    if entry is None or not is_removed:
        return line_finding(setting, "removed", Ruling.USELESS, 5, reason, instead="")
    if entry.replaced_by:
        reason += f" In its place: {', '.join(entry.replaced_by)}."
    return line_finding(setting, "removed", Ruling.USELESS, 5, reason, instead="", advised_by=entry.sources)


def _unknown_finding(server: AuditedServer, conf: Configuration, setting: AuditedSetting) -> AuditFinding:
    newest = smb_conf.parameter_table().newest
    suggestions = smb_conf.suggestions(setting.name)
    hint = f" Did you mean {' or '.join(suggestions)}?" if suggestions else ""
    samba = f"Samba {samba_parameters.short_version(conf.version)}" if conf.version else "Samba"
    if conf.version is not None and conf.version[:2] > newest and not server.global_names:
        reason = f"Not known to sharebench (up to Samba {samba_parameters.short_version(newest)}).{hint}"
        remedy = f"Look it up in smb.conf(5) of {samba}."
        return replace(
            line_finding(setting, "not-judged", Ruling.MISPLACED, 3, reason, instead=None), what_to_do=remedy
        )

    return line_finding(
        setting, "unknown", Ruling.MISPLACED, 50, f"{samba} knows no such parameter.{hint}", instead=None
    )


def _refused_finding(conf: Configuration, setting: AuditedSetting, spelled: smb_conf.Spelling) -> AuditFinding | None:
    refusal = smb_conf.refusal(spelled.name, setting.value, conf.version)
    if spelled.name == "copy" and setting.value and not conf.can_copy(setting):
        refusal = f"no share {setting.value} begins before this line"
    if not refusal:
        return None
    reason = f"{refusal}: Samba stops reading smb.conf at this line."
    instead = None if judgements.is_protection(setting.name) else ""
    return line_finding(setting, "refused", Ruling.HARMFUL, 93, reason, instead=instead)


def _wrong_section_finding(setting: AuditedSetting, spelled: smb_conf.Spelling) -> AuditFinding | None:
    if setting.section == "global" or spelled.parameter is None or spelled.parameter.scope != "global":
        return None
    reason = f"It holds for the whole server: in [{setting.section}] it does nothing."
    return line_finding(setting, "wrong-section", Ruling.MISPLACED, 45, reason, instead=None, move_to="[global]")


def _smb1_finding(conf: Configuration, setting: AuditedSetting, entry: CatalogueEntry | None) -> AuditFinding | None:
    if entry is None or entry.status is not Status.SMB1_ONLY:
        return None
    oldest = smb_conf.tidy_value("server min protocol", conf.in_effect("global", "server min protocol"))
    if oldest in SMB1:
        return None
    reason = "It is about SMB1 alone, which this server does not speak."
    if conf.is_partly_unread:
        return line_finding(setting, "smb1-only", Ruling.USELESS, 4, reason, instead=None, advice=_UNLESS_UNREAD)
    return line_finding(setting, "smb1-only", Ruling.USELESS, 4, reason, instead="", advised_by=entry.sources)


# Judgements of a parameter's values


def _findings_by_judgements(
    server: AuditedServer, conf: Configuration, setting: AuditedSetting, value: str
) -> Iterator[AuditFinding]:
    for judgement in judgements.judgements_of(setting.name):
        judged = judgement.judged_value(setting.name, value)
        if judged is None or not _holds_there(judgement, server, conf, setting):
            continue

        is_needed = conf.overrides_global(setting)
        if is_needed and judgement.verdict is Ruling.USELESS and _is_samba_default(conf, setting):
            # Without the line the share had what [global] sets.
            continue

        line_instead = _line_instead(judgement, conf, setting)
        if line_instead and _says_the_same(line_instead, setting):
            # All that is raised is kept on purpose.
            continue

        is_useless = judgement.verdict is Ruling.USELESS
        may_be_needed = is_useless and judgement.depends_on_other_lines and conf.is_partly_unread
        is_about_word = judgement.word and not judgement.instead and not judgement.added_word
        yield line_finding(
            setting,
            judgement.key,
            judgement.verdict,
            judgement.cost,
            judgement.reason_for(judged),
            instead=None if may_be_needed else line_instead,
            word=judgement.word if is_about_word else "",
            advice=_UNLESS_UNREAD if may_be_needed else judgement.advice,
            price=judgement.price,
            price_source=judgement.source_of_price,
            advised_by=judgement.advised_by,
        )


def _line_instead(judgement: SettingJudgement, conf: Configuration, setting: AuditedSetting) -> str | None:
    """The line to write: empty to delete it, None where a person has to decide."""
    if judgement.advice or judgement.instead:
        is_log_level = smb_conf.spelling(setting.name).name == "log level"
        kept = smb_values.levels_to_keep(setting.value) if is_log_level else []
        return " ".join([judgement.instead, *kept]) if judgement.instead else judgement.instead
    if judgement.added_word:
        return _with_word_after(setting, judgement.word, judgement.added_word)

    line = _without_word(setting, judgement.word) if judgement.word else ""
    if line or not conf.overrides_global(setting):
        return line
    # Without the line the share had what [global] sets, and not the default.
    return _line_of_default(conf, setting)


def _says_the_same(line: str, setting: AuditedSetting) -> bool:
    """Whether a line that is to be written is the one that is there."""
    name, _, value = line.partition("=")
    is_same_name = smb_conf.squeeze(name) == smb_conf.squeeze(setting.name)
    return is_same_name and smb_conf.same_value(smb_conf.spelling(setting.name).name, value.strip(), setting.value)


def _line_of_default(conf: Configuration, setting: AuditedSetting) -> str | None:
    """The line that gives a share the default; None where that is not known."""
    spelled = smb_conf.spelling(setting.name)
    default = spelled.parameter.default_in(conf.version or samba_parameters.MEASURED) if spelled.parameter else None
    return None if default is None else f"{spelled.name} = {default}".rstrip()


def _is_samba_default(conf: Configuration, setting: AuditedSetting) -> bool:
    name = smb_conf.spelling(setting.name).name
    return smb_conf.is_default(name, configuration.meant_value(setting), conf.version)


def _holds_there(
    judgement: SettingJudgement, server: AuditedServer, conf: Configuration, setting: AuditedSetting
) -> bool:
    """Whether the judgement's conditions are met in a section where the line acts; to be useless, in all of them."""
    first_version = samba_parameters.version_numbers(judgement.samba_from)
    if conf.version is not None and conf.version < first_version:
        return False
    sections = conf.sections_of(setting)
    holds = [_holds_in(judgement, conf, section) for section in sections]
    # What is useless in one share and acts in another is not useless.
    if not (all(holds) if judgement.verdict is Ruling.USELESS else any(holds)):
        return False
    if not conf.has_all("global", judgement.when_global):
        return False
    if judgement.unless_somewhere and conf.has_somewhere(judgement.unless_somewhere):
        return False
    if judgement.when_somewhere and not conf.has_somewhere(judgement.when_somewhere):
        return False
    return judgement.facts_hold(server.facts)


def _holds_in(judgement: SettingJudgement, conf: Configuration, section: str) -> bool:
    """Whether the conditions on other parameters of a section are met."""
    if not conf.has_all(section, judgement.when) or not conf.has_words(section, judgement.when_word):
        return False
    if conf.has_any(section, judgement.unless):
        return False
    limits = judgement.unless_above.items()
    return not any(_is_above(conf.in_effect(section, name), limit) for name, limit in limits)


def _is_above(value: str, limit: str) -> bool:
    number = judgements.number_of("", value)
    return number is not None and number > (judgements.number_of("", limit) or 0)


def _findings_of_words(setting: AuditedSetting) -> Iterator[AuditFinding]:
    """Of socket options: words that smbd does not know."""
    name = smb_conf.spelling(setting.name).name
    if name == "socket options":
        for word, _number in smb_values.socket_options(setting.value):
            # What a blank has cut off from its option is told of the whole line.
            is_cut_off = not word[:1].isalpha() and smb_values.has_blank_at_equals(setting.value)
            if not is_cut_off and word.upper() not in SOCKET_OPTIONS:
                yield _unknown_option_finding(setting, word)


def _unknown_option_finding(setting: AuditedSetting, word: str) -> AuditFinding:
    reason = f"{word.upper()} is no option."
    similar = [option for option in SOCKET_OPTIONS if option.endswith(word.upper())]
    if similar:
        reason += f" Did you mean {similar[0]}? Leave it out all the same."
    instead = _without_word(setting, word)
    return line_finding(setting, "unknown-socket-option", Ruling.MISPLACED, 50, reason, instead=instead, word=word)


def _with_word_after(setting: AuditedSetting, word: str, added_word: str) -> str:
    """The line with another word after the one."""
    words = smb_values.words_of_value(smb_conf.spelling(setting.name).name, setting.value)
    place = [other.lower() for other in words].index(word.lower()) + 1
    return f"{setting.name} = {' '.join([*words[:place], added_word, *words[place:]])}"


def _without_word(setting: AuditedSetting, word: str) -> str:
    """The line without that word; empty where no other is in it."""
    words = smb_values.words_of_value(smb_conf.spelling(setting.name).name, setting.value)
    others = [other for other in words if other.partition("=")[0].lower() != word.lower()]
    return f"{setting.name} = {' '.join(others)}" if others else ""


# Files that a pattern hides


def _hiding_finding(server: AuditedServer, setting: AuditedSetting) -> AuditFinding | None:
    if smb_conf.spelling(setting.name).name != "veto files":
        return None
    patterns = [pattern.lower() for pattern in setting.value.split("/") if pattern.strip()]
    sweeping = [pattern for pattern in patterns if _hides_all_files(pattern)]
    if sweeping:
        return _hides_all_finding(setting, sweeping)

    hidden = [name for name in server.names_in(setting.section) if _matches_any(name, patterns)]
    if not hidden:
        return None
    names = ", ".join(hidden[:MOST_NAMES])
    more = f" and {len(hidden) - MOST_NAMES} more" if len(hidden) > MOST_NAMES else ""
    reason = f"Hides {names}{more}: clients are told that there is no such file."
    return line_finding(setting, "veto-hides-files", Ruling.RISKY, 40, reason, instead=None)


def _hides_all_finding(setting: AuditedSetting, sweeping: Sequence[str]) -> AuditFinding:
    reason = f"The pattern {sweeping[0]} hides every file with a dot in its name, for reading and writing."
    others = "/".join(pattern for pattern in setting.value.split("/") if pattern.lower() not in sweeping)
    instead = f"{setting.name} = {others}" if others.strip("/") else ""
    advised_by = ("IBM Redpaper 2004",)
    return line_finding(setting, "veto-hides-all", Ruling.HARMFUL, 97, reason, instead=instead, advised_by=advised_by)


def _hides_all_files(pattern: str) -> bool:
    return all(fnmatchcase(name, pattern) for name in SAMPLE_NAMES)


def _matches_any(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)
