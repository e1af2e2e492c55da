"""Judges the claim of a series that one setting was changed (``run --change NAME=VALUE``): whether it was, or why not.

The evidence is what two series show of the setting: the facts of the server's smb.conf, the session that was agreed on,
or what a series keeps of settings outside smb.conf (`own_setting`). It is *confirmed* where the setting was seen to
change to the value, *contradicted* where it did not or cannot act, *unconfirmed* where it was not seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from forms.layout import cut
from forms.tuning import catalogue, fact_names, session_evidence, smb_conf
from forms.tuning.differences import GLOBAL, SHARE, Difference, differences, effective
from forms.tuning.own_setting import OwnSetting, own_setting
from forms.wording import plain, quoted, value_of
from storage import records


class SettingState(StrEnum):
    """How well a change explains a difference between two series."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    NOT_ALONE = "not alone"
    NOT_AS_CLAIMED = "not as claimed"


def setting_state(change: records.Change) -> SettingState:
    """How well a change is founded; one that was not made alone explains no difference, proven or not."""
    if change.evidence is records.Evidence.CONTRADICTED:
        return SettingState.NOT_AS_CLAIMED
    if change.also_changed:
        return SettingState.NOT_ALONE
    return SettingState.PROVEN if change.evidence is records.Evidence.CONFIRMED else SettingState.UNPROVEN


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What is judged of one claim."""

    evidence: records.Evidence
    remark: str
    """Why, in sentences."""
    previous: str | None = None
    """The value before; None where it is not known."""


def judge_change(name: str, value: str, before: records.Series | None, after: records.Series) -> records.Change:
    """Judge the claim by two series; ``before`` is None without one to compare with.

    What else differs between the two becomes ``also_changed``, without what follows from the change and what varies by
    itself.
    """
    client_setting = own_setting(name)
    spelled = smb_conf.spelling(name)
    if client_setting is not None:
        canonical_name = client_setting.name
        claimed_value = value
        judgement = _judge_own(client_setting, value, before or after, after)
    else:
        canonical_name = spelled.name
        claimed_value = smb_conf.opposite_value(value) if spelled.opposite else value
        judgement = _judge_parameter(spelled, claimed_value, before, after)

    all_differences = differences(before or after, after)
    others = [difference for difference in all_differences if not _follows(difference, canonical_name, client_setting)]
    remarks = [judgement.remark, *_name_remarks(spelled, client_setting, value)]
    if others and judgement.evidence is records.Evidence.CONFIRMED:
        remarks.append(f"{len(others) + 1} things changed at once.")
    elif others and judgement.evidence is records.Evidence.CONTRADICTED:
        remarks.append("Something else did change.")
    elif others:
        remarks.append("Something that was not claimed changed.")

    return records.Change(
        name=plain(canonical_name),
        value=plain(claimed_value),
        previous=judgement.previous,
        evidence=judgement.evidence,
        also_changed=tuple(map(str, others)),
        remark=plain(" ".join(remarks)),
    )


def _judge_parameter(
    spelled: smb_conf.Spelling, value: str, before: records.Series | None, after: records.Series
) -> _Judgement:
    """Judge a parameter of Samba, by its value in effect before and after."""
    name = spelled.name
    facts_before = before.environment.get("server", {}) if before else {}
    facts = after.environment.get("server", {})
    if not after.target.abilities.through_samba:
        return _unconfirmed(f"{after.target.protocol} does not go through Samba, so smb.conf is not looked at.")

    previous = effective(facts_before, name)
    current = effective(facts, name)
    wrong = unknown_name(spelled, facts) or _refused_value(spelled, value, facts)
    if wrong:
        is_certain = _configuration_is_known(facts) or fact_names.CONF_WARNINGS in facts
        return _contradicted(wrong, previous) if is_certain else _unconfirmed(f"Unlikely: {wrong}")
    if before is None or previous is None or current is None:
        return _judge_unseen(spelled, value, before, after)

    has_value = smb_conf.same_value(name, current, value)
    is_unchanged = smb_conf.same_value(name, previous, current)
    if is_unchanged and not has_value:
        reason = _why_unchanged(spelled, facts_before, facts)
        return _contradicted(f"{name} did not change: it still is {quoted(name, current)}. {reason}", previous)
    if is_unchanged:
        return _contradicted(f"{name} was {value_of(name, current)} before already: nothing changed.", previous)
    if not has_value:
        seen_change = f"from {quoted(name, previous)} to {quoted(name, current)}"
        return _contradicted(f"{name} changed, but {seen_change}, not to {quoted(name, value)}.", previous)
    return _judge_acting(spelled, value, before, after, previous, current)


def _judge_acting(
    spelled: smb_conf.Spelling, value: str, before: records.Series, after: records.Series, previous: str, current: str
) -> _Judgement:
    """Judge a parameter that changed to the value in smb.conf: whether the session has it, and whether it can act."""
    name = spelled.name
    facts = after.environment.get("server", {})
    text = f"{name} changed from {quoted(name, previous)} to {quoted(name, current)}"
    contradiction = session_evidence.contradiction(name, value, after.client)
    if contradiction:
        reason = f"{contradiction}: smbd has not read it yet, or the session is an old one."
        return _contradicted(f"{text} in smb.conf, but {reason}", previous)
    unmet_condition = inert(name, value, facts, after)
    if unmet_condition:
        return _contradicted(f"{text}, but does nothing: {unmet_condition}.", previous)

    agreement = session_evidence.agreement(name, value, before.client, after.client)
    text = f"{text}, and the session shows it ({agreement})." if agreement else f"{text}."
    notes = (condition(name, value), warning(spelled, facts))
    return _Judgement(records.Evidence.CONFIRMED, " ".join(filter(None, (text, *notes))), previous)


def _judge_unseen(
    spelled: smb_conf.Spelling, value: str, before: records.Series | None, after: records.Series
) -> _Judgement:
    """Judge a parameter whose value is not known before or after, by the session and what is known."""
    name = spelled.name
    facts = after.environment.get("server", {})
    contradiction = session_evidence.contradiction(name, value, after.client)
    if contradiction:
        return _contradicted(f"{name} = {value} is not in effect: {contradiction}.")
    current = effective(facts, name)
    if current is not None and not smb_conf.same_value(name, current, value):
        return _contradicted(f"{name} is {quoted(name, current)}, not {quoted(name, value)}.")

    if current is not None:
        text = f"{name} is {value_of(name, current)} now, but what it was before is not known."
    elif facts.get(fact_names.CONF_STATE) == fact_names.ConfState.LOADS_NOT:
        warnings = fact_names.lines_of_fact(facts, fact_names.CONF_WARNINGS)
        reason = f" ({warnings[-1]})" if warnings else ""
        text = f"The server's smb.conf does not load{reason}."
    else:
        unknown = facts.get(fact_names.FACTS_UNKNOWN)
        reason = f" ({unknown})" if unknown else ""
        text = f"The server's configuration could not be read{reason}."

    agreement = session_evidence.agreement(name, value, before.client, after.client) if before else None
    return _unconfirmed(f"{text} The session fits it ({agreement})." if agreement else text)


def _judge_own(setting: OwnSetting, value: str, before: records.Series, after: records.Series) -> _Judgement:
    """Judge a setting outside smb.conf, by the values that the series show."""
    name = setting.name
    value_before, value_after = setting.values_in(before, after)
    if value_after is None:
        return _unconfirmed(f"{name} cannot be seen from here.")

    previous = None if value_before is None else str(value_before)
    current = str(value_after)
    if not smb_conf.same_value("", current, value):
        return _contradicted(f"{name} is {quoted(name, current)}, not {quoted(name, value)}.", previous)
    if previous is None:
        return _unconfirmed(f"{name} is {value_of(name, current)} now, but what it was before is not known.")
    if smb_conf.same_value("", previous, current):
        return _contradicted(f"{name} was {value_of(name, current)} before already: nothing changed.", previous)
    return _Judgement(
        records.Evidence.CONFIRMED,
        f"{name} changed from {quoted(name, previous)} to {quoted(name, current)}.",
        previous,
    )


def _contradicted(remark: str, previous: str | None = None) -> _Judgement:
    return _Judgement(records.Evidence.CONTRADICTED, remark, previous)


def _unconfirmed(remark: str) -> _Judgement:
    return _Judgement(records.Evidence.UNCONFIRMED, remark)


def _name_remarks(spelled: smb_conf.Spelling, client_setting: OwnSetting | None, value: str) -> Iterator[str]:
    if client_setting is not None or not spelled.is_synonym:
        return
    if spelled.opposite:
        yield f"{spelled.typed} = {value} says the same as {spelled.name} = {smb_conf.opposite_value(value)}."
    else:
        yield f"{spelled.typed} is a synonym of {spelled.name}."


def _follows(difference: Difference, name: str, client_setting: OwnSetting | None) -> bool:
    """Whether the difference is that of the setting itself, or follows from it."""
    if client_setting is not None:
        return difference.name in (*client_setting.places, *client_setting.follows)
    if difference.parameter == name:
        return True
    if difference.name in (f"server.{fact_names.CONF_STATE}", f"server.{fact_names.CONF_WARNINGS}"):
        return True
    return session_evidence.follows(difference.name, name)


def unknown_name(spelled: smb_conf.Spelling, facts: records.Facts) -> str | None:
    """Why there is no such parameter; None where there is, or the server knows it."""
    if effective(facts, spelled.name) is not None or ":" in spelled.name:
        return None

    is_known = _configuration_is_known(facts)
    entries = [entry for entry in catalogue.about(spelled.typed) if entry.kind is catalogue.EntryKind.SMB_CONF]
    entry = entries[0] if entries else None
    if entry is not None and entry.status is catalogue.Status.REMOVED:
        instead = f", and {' or '.join(entry.replaced_by)} took its place" if entry.replaced_by else ""
        return f"{spelled.name} was removed in Samba {entry.removed_in}{instead}: smbd ignores the line."
    if entry is not None and entry.status is catalogue.Status.NEWER and is_known:
        return f"{spelled.name} needs Samba {entry.since}: this server does not know it and ignores the line."
    if spelled.parameter is None:
        similar_names = smb_conf.suggestions(spelled.typed)
        hint = f" Did you mean {' or '.join(similar_names)}?" if similar_names else ""
        return f"Samba has no parameter called {spelled.name}: smbd ignores the line.{hint}"
    return f"This server's Samba does not know {spelled.name}: it ignores the line." if is_known else None


def _refused_value(spelled: smb_conf.Spelling, value: str, facts: records.Facts) -> str | None:
    """That testparm refuses the value, as a sentence; None where it does not, or the value is in effect."""
    current = effective(facts, spelled.name)
    if current is not None and smb_conf.same_value(spelled.name, current, value):
        return None

    reason = smb_conf.refusal(spelled.name, value)
    if reason is None and facts.get(fact_names.CONF_STATE) == fact_names.ConfState.LOADS_NOT:
        key = smb_conf.squeeze(value)
        if any(key in smb_conf.squeeze(line) for line in _complaints(facts, spelled)):
            reason = f"{spelled.typed} = {value}"
    if reason is None:
        return None
    return f"testparm refuses the value ({reason}): smbd stops reading smb.conf at that line."


def _why_unchanged(spelled: smb_conf.Spelling, facts_before: records.Facts, facts: records.Facts) -> str:
    """Why a parameter may not have changed although somebody meant to, as a sentence."""
    complaints = _complaints(facts, spelled)
    if complaints:
        # The last are our own, which say more than testparm's.
        return f"testparm says: {complaints[-1].rstrip('.!')}."
    parameter = spelled.parameter
    if parameter is not None and parameter.scope == "global":
        return "It counts in [global] alone: smbd ignores it in a share's section without a word."

    global_before = effective(facts_before, spelled.name, in_share=False)
    global_now = effective(facts, spelled.name, in_share=False)
    if global_before is None or global_now is None:
        return _LOOK_THERE
    if not smb_conf.same_value(spelled.name, global_before, global_now):
        return f"Only [global] has it now as {global_now}; the share's own line wins."
    return _LOOK_THERE


_LOOK_THERE = "Look at section and spelling in the file that smbd reads: testparm -s shows it."


def inert(name: str, value: str, facts: records.Facts, after: records.Series) -> str | None:
    """Which condition for the parameter to act is not met; None where all may be."""
    if name == "server signing" and smb_conf.tidy_value(name, value) == "no" and after.client.dialect:
        return "SMB2 and later sign whenever either side asks, and cannot be told not to"
    entry = _entry(name, value)
    if entry is None:
        return None
    for option, needed in entry.needs.options.items():
        current = effective(facts, option)
        if current is not None and not smb_conf.same_value(option, current, needed):
            return f"it needs {option} = {needed}, and that is {current or 'empty'}"
    return next(_unmet(entry.needs.session, after), None)


def condition(name: str, value: str) -> str | None:
    """The parameter's condition that nobody can check, as a sentence, or None."""
    if name == "socket options" and "tcp_nodelay=" not in smb_conf.tidy_value(name, value):
        return "TCP_NODELAY stays on, for new sockets inherit it; TCP_NODELAY=0 switches it off."
    entry = _entry(name, value)
    if entry is None or not entry.needs.text or entry.needs.options or entry.needs.session:
        return None
    return f"It acts only if {entry.needs.text}."


def warning(spelled: smb_conf.Spelling, facts: records.Facts) -> str | None:
    """What testparm warns of the parameter, as a sentence; None where it does not."""
    complaints = _complaints(facts, spelled)
    return f"testparm warns: {cut(complaints[0], 160)}" if complaints else None


def _configuration_is_known(facts: records.Facts) -> bool:
    """Whether the facts have parameters in effect."""
    return any(name.startswith((GLOBAL, SHARE)) for name in facts)


def _complaints(facts: records.Facts, spelled: smb_conf.Spelling) -> list[str]:
    """The warnings that name the parameter."""
    keys = {smb_conf.squeeze(spelled.typed), smb_conf.squeeze(spelled.name)}
    complaints = []
    for line in fact_names.lines_of_fact(facts, fact_names.CONF_WARNINGS):
        squeezed = smb_conf.squeeze(line)
        if any(key in squeezed for key in keys):
            complaints.append(line)
    return complaints


def _entry(name: str, value: str) -> catalogue.CatalogueEntry | None:
    """The parameter's entry in the catalogue; None where the value is its default, for which nothing must hold."""
    entry = next((entry for entry in catalogue.about(name) if entry.parameter == name), None)
    if entry is None or entry.default is None:
        return entry
    return None if smb_conf.same_value(name, value, entry.default) else entry


def _unmet(conditions: tuple[str, ...], after: records.Series) -> Iterator[str]:
    """Which conditions on the session (`catalogue.Needs.session`) the series does not meet, in words."""
    client = after.client
    if not client.dialect:
        return

    if "unsigned" in conditions and client.is_signed:
        yield f"it needs an unsigned session, and this one is signed ({client.signing})"
    if "unencrypted" in conditions and client.is_encrypted:
        yield f"it needs an unencrypted session, and this one is encrypted ({client.encryption})"
    if "signed" in conditions and not client.is_signed:
        yield "it needs a signed session, and this one is not"
    if "encrypted" in conditions and not client.is_encrypted:
        yield "it needs an encrypted session, and this one is not"
    if "smb1" in conditions:
        yield f"it is for SMB1 alone, and the session speaks SMB {client.dialect}"
