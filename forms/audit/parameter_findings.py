"""Findings of lines that Samba passes over, does not know or refuses, and of SMB1."""

from dataclasses import replace
from functools import cache

from forms.audit import configuration, judgements, value_findings
from forms.audit.audited_server import AuditedServer
from forms.audit.configuration import Configuration
from forms.audit.judgement_findings import UNLESS_UNREAD
from forms.audit.line_finding import line_finding
from forms.tuning import samba_parameters, smb_conf
from forms.tuning.catalogue import CatalogueEntry, Status
from storage.looks import AuditedSetting, AuditFinding, Ruling

SMB1 = frozenset({"nt1", "lanman2", "lanman1", "core", "coreplus"})


def finding_by_rules(server: AuditedServer, conf: Configuration, setting: AuditedSetting) -> AuditFinding | None:
    """What Samba itself makes of the line, whatever the value is good for."""
    spelled = smb_conf.spelling(setting.name)
    entry = configuration.catalogue_entry(spelled.name)
    if not _is_known(server, conf, spelled):
        return _skipped_finding(conf, setting, spelled, entry) or _unknown_finding(server, conf, setting)
    # The first that applies: what follows would be wrong, or say the same again.
    return (
        value_findings.comment_finding(setting)
        or refused_finding(conf, setting, spelled)
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


def refused_finding(conf: Configuration, setting: AuditedSetting, spelled: smb_conf.Spelling) -> AuditFinding | None:
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
        return line_finding(setting, "smb1-only", Ruling.USELESS, 4, reason, instead=None, advice=UNLESS_UNREAD)
    return line_finding(setting, "smb1-only", Ruling.USELESS, 4, reason, instead="", advised_by=entry.sources)
