"""Whether the one change that a series claims is the one that was made, judged from what was seen before and after."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from forms.comparison.differences import Difference, differences, effective
from forms.tuning import change_reasons, negotiated, smb_conf
from forms.tuning.client_settings import OwnSetting, own_setting
from forms.wording import plain
from storage.records import Change, Evidence, Series


class SettingState(StrEnum):
    """What a claimed change is worth, for a mark beside it: the evidence for it, and whether it was the only one."""

    PROVEN = "proven"
    UNPROVEN = "unproven"
    NOT_ALONE = "not alone"
    NOT_AS_CLAIMED = "not as claimed"


def standing(change: Change) -> SettingState:
    """What the change is worth. A change that is not alone explains no difference, proven or not."""
    if change.evidence is Evidence.CONTRADICTED:
        return SettingState.NOT_AS_CLAIMED
    if change.also_changed:
        return SettingState.NOT_ALONE
    return SettingState.PROVEN if change.evidence is Evidence.CONFIRMED else SettingState.UNPROVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judgement:
    """What was found of the named parameter itself."""

    evidence: Evidence
    remark: str
    previous: str | None = None


def judge_change(name: str, value: str, before: Series | None, after: Series) -> Change:
    """The change as claimed by ``--change NAME=VALUE``, with what the two series show of it.

    *Confirmed*: the named parameter had another value before and has the claimed one now, and the session does not
    deny it. *Contradicted*: it did not change, changed to something else, cannot act, or does not exist.
    *Unconfirmed*: what would tell was not to be seen. ``also_changed`` names every other setting or fact that
    differs, except those that follow from the change and those that vary by themselves. A synonym is taken as the
    canonical name, and the remark says so. ``before`` is None where there is no series to compare with.
    """
    own = own_setting(name)
    spelled = smb_conf.spelling(name)
    if own is not None:
        canonical, claimed = own.name, value
        finding = _judge_own(own, value, before or after, after)
    else:
        canonical = spelled.name
        claimed = smb_conf.opposite_value(value) if spelled.opposite else value
        finding = _judge_parameter(spelled, claimed, before, after)
    others = tuple(d for d in differences(before or after, after) if not _follows(d, canonical, own))
    remark = [finding.remark, *_on_name(spelled, own, value), *_on_others(finding, others)]
    return Change(
        name=plain(canonical),
        value=plain(claimed),
        previous=finding.previous,
        evidence=finding.evidence,
        also_changed=tuple(str(d) for d in others),
        remark=plain(" ".join(remark)),
    )


def _judge_parameter(spelled: smb_conf.Spelling, value: str, before: Series | None, after: Series) -> _Judgement:
    name = spelled.name
    old, new = (before.environment.get("server", {}) if before else {}), after.environment.get("server", {})
    if not after.target.abilities.through_samba:
        text = f"Unproven: {after.target.protocol} does not go through Samba, so smb.conf is not looked at."
        return _Judgement(evidence=Evidence.UNCONFIRMED, remark=text)
    previous, current = effective(old, name), effective(new, name)
    wrong = change_reasons.unknown_name(spelled, new) or change_reasons.refused_value(spelled, value, new)
    if wrong:
        known = change_reasons.configuration_is_known(new) or change_reasons.WARNINGS in new
        if known:
            return _Judgement(evidence=Evidence.CONTRADICTED, previous=previous, remark=wrong)
        return _Judgement(evidence=Evidence.UNCONFIRMED, remark=f"Unproven, and unlikely: {wrong}")
    if before is None or previous is None or current is None:
        return _judge_unseen(spelled, value, before, after)
    if not smb_conf.same_value(name, current, value):
        if smb_conf.same_value(name, previous, current):
            text = f"{name} did not change: it still is {_shown(current)}."
            text = f"{text} {change_reasons.why_unchanged(spelled, old, new)}"
        else:
            text = f"{name} changed, but from {_shown(previous)} to {_shown(current)}, not to {value}."
        return _Judgement(evidence=Evidence.CONTRADICTED, previous=previous, remark=text)
    if smb_conf.same_value(name, previous, current):
        text = f"{name} was {_shown(current)} before already: nothing changed."
        return _Judgement(evidence=Evidence.CONTRADICTED, previous=previous, remark=text)
    return _judge_changed(spelled, value, previous, current, before, after)


def _judge_changed(
    spelled: smb_conf.Spelling, value: str, previous: str, current: str, before: Series, after: Series
) -> _Judgement:
    """The finding for a parameter whose configured value did change as claimed: whether it acts."""
    name, new = spelled.name, after.environment["server"]
    text = f"{name} changed from {_shown(previous)} to {_shown(current)}"
    denied = negotiated.contradiction(name, value, after.client)
    if denied:
        text = f"{text} in smb.conf, but {denied}: smbd has not read it yet, or the session is an old one."
        return _Judgement(evidence=Evidence.CONTRADICTED, previous=previous, remark=text)
    missing = change_reasons.inert(name, value, new, after)
    if missing:
        text = f"{text}, but does nothing: {missing}."
        return _Judgement(evidence=Evidence.CONTRADICTED, previous=previous, remark=text)
    seen = negotiated.agreement(name, value, before.client, after.client)
    notes = (change_reasons.condition(name, value), change_reasons.warning(spelled, new))
    text = f"{text}, and the session shows it ({seen})." if seen else f"{text}."
    return _Judgement(evidence=Evidence.CONFIRMED, previous=previous, remark=" ".join(filter(None, (text, *notes))))


def _judge_unseen(spelled: smb_conf.Spelling, value: str, before: Series | None, after: Series) -> _Judgement:
    """The finding where the server's configuration was not to be seen, before or after."""
    name, new = spelled.name, after.environment.get("server", {})
    denied = negotiated.contradiction(name, value, after.client)
    if denied:
        return _Judgement(evidence=Evidence.CONTRADICTED, remark=f"{name} = {value} is not in effect: {denied}.")
    current = effective(new, name)
    if current is not None and not smb_conf.same_value(name, current, value):
        return _Judgement(evidence=Evidence.CONTRADICTED, remark=f"{name} is {_shown(current)}, not {value}.")
    if current is not None:
        text = f"Unproven: {name} is {_shown(current)} now, but what it was before is not known."
    elif new.get(change_reasons.STATE) == change_reasons.LOADS_NOT:
        reasons = change_reasons.complaints(new)
        text = f"Unproven: the server's smb.conf does not load{f' ({reasons[-1]})' if reasons else ''}."
    else:
        text = "Unproven: the server's configuration was not to be seen."
    seen = negotiated.agreement(name, value, before.client, after.client) if before else None
    return _Judgement(evidence=Evidence.UNCONFIRMED, remark=f"{text} The session fits it ({seen})." if seen else text)


def _judge_own(setting: OwnSetting, value: str, before: Series, after: Series) -> _Judgement:
    """The finding for a setting of the client or of a host, read from what the series show."""
    previous, current = setting.read(before, after)
    shown = None if previous is None else str(previous)
    if current is None:
        text = f"Unproven: {setting.name} was not to be seen from here."
        return _Judgement(evidence=Evidence.UNCONFIRMED, remark=text)
    if not setting.same(current, value):
        text = f"{setting.name} is {_shown(str(current))}, not {value}."
        return _Judgement(evidence=Evidence.CONTRADICTED, previous=shown, remark=text)
    if previous is None or shown is None:
        text = f"Unproven: {setting.name} is {current} now, but what it was before is not known."
        return _Judgement(evidence=Evidence.UNCONFIRMED, remark=text)
    if setting.same(previous, current):
        text = f"{setting.name} was {_shown(str(current))} before already: nothing changed."
        return _Judgement(evidence=Evidence.CONTRADICTED, previous=shown, remark=text)
    text = f"{setting.name} changed from {_shown(shown)} to {_shown(str(current))}."
    return _Judgement(evidence=Evidence.CONFIRMED, previous=shown, remark=text)


def _on_name(spelled: smb_conf.Spelling, own: OwnSetting | None, value: str) -> Iterator[str]:
    if own is not None or not spelled.is_synonym:
        return
    if spelled.opposite:
        yield f"{spelled.typed} = {value} says the same as {spelled.name} = {smb_conf.opposite_value(value)}."
    else:
        yield f"{spelled.typed} is a synonym of {spelled.name}."


def _on_others(finding: _Judgement, others: tuple[Difference, ...]) -> Iterator[str]:
    if not others:
        return
    if finding.evidence is Evidence.CONTRADICTED:
        yield "Something else did change."
    elif finding.evidence is Evidence.CONFIRMED:
        yield f"{len(others) + 1} things changed at once."
    else:
        yield "Something that was not claimed changed."


def _follows(difference: Difference, name: str, own: OwnSetting | None) -> bool:
    """Whether a difference is the claimed change itself or comes with it."""
    if own is not None:
        return own.covers(difference.name)
    if difference.parameter == name or difference.name in (
        f"server.{change_reasons.STATE}",
        f"server.{change_reasons.WARNINGS}",
    ):
        return True
    return negotiated.follows(difference.name, name)


def _shown(value: str) -> str:
    return value or "empty"
