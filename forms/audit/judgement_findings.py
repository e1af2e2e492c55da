"""Findings of values that the judgements hold against a line, or against a word of it."""

from collections.abc import Iterator

from forms.audit import configuration, judgements
from forms.audit.audited_server import AuditedServer
from forms.audit.configuration import Configuration
from forms.audit.judgements import SettingJudgement
from forms.audit.line_finding import line_finding
from forms.tuning import log_levels, samba_parameters, smb_conf, smb_values
from storage.looks import AuditedSetting, AuditFinding, Ruling

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


UNLESS_UNREAD = "Delete the line, unless it is needed by a file that was not read."


def findings_by_judgements(
    server: AuditedServer, conf: Configuration, setting: AuditedSetting, value: str
) -> Iterator[AuditFinding]:
    for judgement in judgements.judgements_of(setting.name):
        judged = judgement.judged_value(setting.name, value)
        if judged is None or not _holds_there(judgement, server, conf, setting):
            continue

        is_needed = conf.overrides_another(setting)
        if is_needed and judgement.verdict is Ruling.USELESS and _is_samba_default(conf, setting):
            # Without the line the share had what it inherits.
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
            advice=UNLESS_UNREAD if may_be_needed else judgement.advice,
            price=judgement.price,
            price_source=judgement.source_of_price,
            advised_by=judgement.advised_by,
        )


def _line_instead(judgement: SettingJudgement, conf: Configuration, setting: AuditedSetting) -> str | None:
    """The line to write: empty to delete it, None where a person has to decide."""
    if judgement.advice or judgement.instead:
        is_log_level = smb_conf.spelling(setting.name).name == "log level"
        kept_levels = log_levels.levels_to_keep(setting.value) if is_log_level else []
        return " ".join([judgement.instead, *kept_levels]) if judgement.instead else judgement.instead
    if judgement.added_word:
        return _with_word_after(setting, judgement.word, judgement.added_word)

    line = _without_word(setting, judgement.word) if judgement.word else ""
    if line or not conf.overrides_another(setting):
        return line
    # Without the line the share had what it inherits, and not the default.
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
    if not all(conf.in_effect(section, name) for name in judgement.when_set):
        return False
    if any(conf.in_effect(section, name) for name in judgement.unless_set):
        return False
    limits = judgement.unless_above.items()
    return not any(_is_above(conf.in_effect(section, name), limit) for name, limit in limits)


def _is_above(value: str, limit: str) -> bool:
    number = judgements.number_of("", value)
    return number is not None and number > (judgements.number_of("", limit) or 0)


def findings_of_words(setting: AuditedSetting) -> Iterator[AuditFinding]:
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
