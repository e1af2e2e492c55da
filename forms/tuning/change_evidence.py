"""Judge whether the one claimed change was made, and why not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from forms.layout import cut
from forms.tuning import catalogue, smb_conf
from forms.tuning.differences import GLOBAL, SHARE, Difference, differences, effective
from forms.wording import plain, value_of
from storage.records import Change, Evidence, Facts, FactValue, Series

_HOSTS = ("server", "client")
_SYSCTL_FACTS = {"net.ipv4.tcp_": "tcp.", "net.core.": "net.", "vm.": "vm."}
_FACTS = {
    "MTU": ("link.mtu_bytes",),
    "read_ahead_kb": ("disk.read_ahead_kb",),
    "I/O scheduler": ("disk.scheduler",),
    "file system and journal": ("filesystem.type", "filesystem.options"),
    "number of network cards": ("link.cards_up",),
}
_FLUSHED = "flushed"
_OF_CLIENT = {
    "block": ("client.block_bytes", "path.smb.put_block_bytes"),
    "in-flight": ("client.in_flight", "client.block_bytes", "path.smb.put_block_bytes"),
    "client encrypt": ("client.encryption", "settings.encrypt", "client.signing"),
    "client sign": ("client.signing", "settings.sign"),
    "flush": (_FLUSHED,),
    "client": ("client.name", "client.version", "client.block_bytes", "client.in_flight"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSetting:
    """A setting outside smb.conf, and where series show it."""

    name: str
    places: tuple[str, ...] = ()
    """Its differences: ``client.block_bytes``, ``server.tcp.rmem``."""
    follows: tuple[str, ...] = ()
    mount_option: str | None = None

    def read(self, before: Series, after: Series) -> tuple[FactValue | None, FactValue | None]:
        seen = [(self._value(before, place), self._value(after, place)) for place in self.places]
        changed = [pair for pair in seen if None not in pair and pair[0] != pair[1]]
        return next(iter([*changed, *(pair for pair in seen if pair[1] is not None)]), (None, None))

    def _value(self, series: Series, place: str) -> FactValue | None:
        side, _, name = place.partition(".")
        if place == _FLUSHED:
            return "yes" if series.flushed else "no"
        if side == "client" and name in ("name", "version", "block_bytes", "in_flight"):
            value: FactValue | None = getattr(series.client, name)
            return value
        if side == "client" and name in ("encryption", "signing"):
            seen = getattr(series.client, name)
            return seen and ("no" if seen == "none" else "yes")
        facts = series.environment.get(side, {})
        if name == "disk.read_ahead_kb":
            found = facts.get("disk.read_ahead_bytes")
            return found // 1024 if isinstance(found, int) else None
        return _of_options(facts, name, self.mount_option) if self.mount_option else facts.get(name)


def own_setting(name: str) -> OwnSetting | None:
    entry = next(iter(catalogue.about(name)), None)
    if entry is None:
        key = _key(name)
        own = next((n for n in _OF_CLIENT if _key(n) == key), None)
        return _of_client(own) if own else None
    if entry.kind is catalogue.EntryKind.SMB_CONF:
        return None
    if entry.name in _OF_CLIENT:
        return _of_client(entry.name)
    if entry.kind is catalogue.EntryKind.MOUNT:
        places = tuple(_on_hosts(("filesystem.options",)))
        return OwnSetting(name=entry.name, places=places, mount_option=entry.parameter)
    known = _SYSCTL_FACTS.items()
    of_kernel = (short + entry.name.removeprefix(prefix) for prefix, short in known if entry.name.startswith(prefix))
    facts = _FACTS.get(entry.name, tuple(of_kernel))
    paths = tuple(f"path.{fact}" for fact in facts if fact.startswith("link."))
    follows = tuple(_on_hosts(("disk.read_ahead_bytes",))) if entry.name == "read_ahead_kb" else ()
    return OwnSetting(name=entry.name, places=(*_on_hosts(facts), *paths), follows=follows)


def _of_client(name: str) -> OwnSetting:
    place, *follows = _OF_CLIENT[name]
    return OwnSetting(name=name, places=(place,), follows=tuple(follows))


def _key(name: str) -> str:
    return smb_conf.squeeze(name).replace("-", "").replace("_", "")


def _on_hosts(facts: Iterable[str]) -> Iterable[str]:
    return [f"{host}.{fact}" for fact in facts for host in _HOSTS]


def _of_options(facts: Facts, name: str, option: str) -> FactValue | None:
    options = facts.get(name)
    if options is None:
        return None
    for word in str(options).split(","):
        key, _, value = word.partition("=")
        if key == option:
            return value or key
    return ""


class SettingState(StrEnum):
    PROVEN = "proven"
    UNPROVEN = "unproven"
    NOT_ALONE = "not alone"
    NOT_AS_CLAIMED = "not as claimed"


def standing(change: Change) -> SettingState:
    """The mark of a change; one that is not alone explains no difference, proven or not."""
    if change.evidence is Evidence.CONTRADICTED:
        return SettingState.NOT_AS_CLAIMED
    if change.also_changed:
        return SettingState.NOT_ALONE
    return SettingState.PROVEN if change.evidence is Evidence.CONFIRMED else SettingState.UNPROVEN


@dataclass(frozen=True, slots=True)
class _Judgement:
    evidence: Evidence
    remark: str
    previous: str | None = None


def judge_change(name: str, value: str, before: Series | None, after: Series) -> Change:
    """Judge ``--change NAME=VALUE`` by two series; ``before`` is None without one to compare with.
    *Confirmed*: seen to change to the value. *Contradicted*: unchanged, other value, inert or unknown. *Unconfirmed*:
    not seen. ``also_changed`` leaves out what follows from the change and what varies by itself.
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
    remark = [finding.remark, *_on_name(spelled, own, value)]
    if others and finding.evidence is Evidence.CONFIRMED:
        remark.append(f"{len(others) + 1} things changed at once.")
    elif others:
        contradicted = finding.evidence is Evidence.CONTRADICTED
        remark.append("Something else did change." if contradicted else "Something that was not claimed changed.")
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
        return _unconfirmed(f"{after.target.protocol} does not go through Samba, so smb.conf is not looked at.")
    previous, current = effective(old, name), effective(new, name)
    if wrong := unknown_name(spelled, new) or _refused_value(spelled, value, new):
        known = _configuration_is_known(new) or smb_conf.CONF_WARNINGS in new
        return _contradicted(wrong, previous) if known else _unconfirmed(f"Unlikely: {wrong}")
    if before is None or previous is None or current is None:
        return _judge_unseen(spelled, value, before, after)
    unchanged = smb_conf.same_value(name, previous, current)
    if not smb_conf.same_value(name, current, value):
        text = f"{name} changed, but from {value_of(name, previous)} to {value_of(name, current)}, not to {value}."
        if unchanged:
            text = f"{name} did not change: it still is {value_of(name, current)}. {_why_unchanged(spelled, old, new)}"
        return _contradicted(text, previous)
    if unchanged:
        return _contradicted(f"{name} was {value_of(name, current)} before already: nothing changed.", previous)
    text = f"{name} changed from {value_of(name, previous)} to {value_of(name, current)}"
    if denied := smb_conf.contradiction(name, value, after.client):
        why = f"{denied}: smbd has not read it yet, or the session is an old one."
        return _contradicted(f"{text} in smb.conf, but {why}", previous)
    if missing := inert(name, value, new, after):
        return _contradicted(f"{text}, but does nothing: {missing}.", previous)
    seen = smb_conf.agreement(name, value, before.client, after.client)
    notes = (condition(name, value), warning(spelled, new))
    text = f"{text}, and the session shows it ({seen})." if seen else f"{text}."
    return _Judgement(Evidence.CONFIRMED, " ".join(filter(None, (text, *notes))), previous)


def _judge_unseen(spelled: smb_conf.Spelling, value: str, before: Series | None, after: Series) -> _Judgement:
    name, new = spelled.name, after.environment.get("server", {})
    if denied := smb_conf.contradiction(name, value, after.client):
        return _contradicted(f"{name} = {value} is not in effect: {denied}.")
    current = effective(new, name)
    if current is not None and not smb_conf.same_value(name, current, value):
        return _contradicted(f"{name} is {value_of(name, current)}, not {value}.")
    if current is not None:
        text = f"{name} is {value_of(name, current)} now, but what it was before is not known."
    elif new.get(smb_conf.CONF_STATE) == smb_conf.ConfState.LOADS_NOT:
        reasons = smb_conf.lines_of_fact(new, smb_conf.CONF_WARNINGS)
        text = f"The server's smb.conf does not load{f' ({reasons[-1]})' if reasons else ''}."
    else:
        why = new.get(smb_conf.FACTS_UNKNOWN)
        text = f"The server's configuration could not be read{f' ({why})' if why else ''}."
    seen = smb_conf.agreement(name, value, before.client, after.client) if before else None
    return _unconfirmed(f"{text} The session fits it ({seen})." if seen else text)


def _judge_own(setting: OwnSetting, value: str, before: Series, after: Series) -> _Judgement:
    name, (old, new) = setting.name, setting.read(before, after)
    if new is None:
        return _unconfirmed(f"{name} cannot be seen from here.")
    previous, current = None if old is None else str(old), str(new)
    if not smb_conf.same_value("", current, value):
        return _contradicted(f"{name} is {value_of(name, current)}, not {value}.", previous)
    if previous is None:
        return _unconfirmed(f"{name} is {value_of(name, current)} now, but what it was before is not known.")
    if smb_conf.same_value("", previous, current):
        return _contradicted(f"{name} was {value_of(name, current)} before already: nothing changed.", previous)
    return _Judgement(
        Evidence.CONFIRMED, f"{name} changed from {value_of(name, previous)} to {value_of(name, current)}.", previous
    )


def _contradicted(remark: str, previous: str | None = None) -> _Judgement:
    return _Judgement(Evidence.CONTRADICTED, remark, previous)


def _unconfirmed(remark: str) -> _Judgement:
    return _Judgement(Evidence.UNCONFIRMED, remark)


def _on_name(spelled: smb_conf.Spelling, own: OwnSetting | None, value: str) -> Iterator[str]:
    if own is not None or not spelled.is_synonym:
        return
    if spelled.opposite:
        yield f"{spelled.typed} = {value} says the same as {spelled.name} = {smb_conf.opposite_value(value)}."
    else:
        yield f"{spelled.typed} is a synonym of {spelled.name}."


def _follows(difference: Difference, name: str, own: OwnSetting | None) -> bool:
    if own is not None:
        return difference.name in (*own.places, *own.follows)
    own_names = (f"server.{smb_conf.CONF_STATE}", f"server.{smb_conf.CONF_WARNINGS}")
    return difference.parameter == name or difference.name in own_names or smb_conf.follows(difference.name, name)


def unknown_name(spelled: smb_conf.Spelling, facts: Facts) -> str | None:
    """Why there is no such parameter; None where there is, or the server knows it."""
    if effective(facts, spelled.name) is not None or ":" in spelled.name:
        return None
    known = _configuration_is_known(facts)
    entry = next((e for e in catalogue.about(spelled.typed) if e.kind is catalogue.EntryKind.SMB_CONF), None)
    if entry is not None and entry.status is catalogue.Status.REMOVED:
        instead = f", and {' or '.join(entry.replaced_by)} took its place" if entry.replaced_by else ""
        return f"{spelled.name} was removed in Samba {entry.removed_in}{instead}: smbd ignores the line."
    if entry is not None and entry.status is catalogue.Status.NEWER and known:
        return f"{spelled.name} needs Samba {entry.since}: this server does not know it and ignores the line."
    if spelled.parameter is None:
        close = smb_conf.suggestions(spelled.typed)
        hint = f" Did you mean {' or '.join(close)}?" if close else ""
        return f"Samba has no parameter called {spelled.name}: smbd ignores the line.{hint}"
    return f"This server's Samba does not know {spelled.name}: it ignores the line." if known else None


def _refused_value(spelled: smb_conf.Spelling, value: str, facts: Facts) -> str | None:
    current = effective(facts, spelled.name)
    if current is not None and smb_conf.same_value(spelled.name, current, value):
        return None
    why = smb_conf.refusal(spelled.name, value)
    if why is None and facts.get(smb_conf.CONF_STATE) == smb_conf.ConfState.LOADS_NOT:
        wanted = smb_conf.squeeze(value)
        named = [line for line in _about(facts, spelled) if wanted in smb_conf.squeeze(line)]
        why = f"{spelled.typed} = {value}" if named else None
    return None if why is None else f"testparm refuses the value ({why}): smbd stops reading smb.conf at that line."


def _why_unchanged(spelled: smb_conf.Spelling, old: Facts, new: Facts) -> str:
    complaints = _about(new, spelled)
    if complaints:  # the last are our own, which say more than testparm's
        return f"testparm says: {complaints[-1].rstrip('.!')}."
    parameter = spelled.parameter
    if parameter is not None and parameter.scope == "global":
        return "It counts in [global] alone: smbd ignores it in a share's section without a word."
    mine, theirs = effective(old, spelled.name, in_share=False), effective(new, spelled.name, in_share=False)
    if mine is not None and theirs is not None and not smb_conf.same_value(spelled.name, mine, theirs):
        return f"Only [global] has it now as {theirs}; the share's own line wins."
    return "Look at section and spelling in the file that smbd reads: testparm -s shows it."


def inert(name: str, value: str, facts: Facts, after: Series) -> str | None:
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


def warning(spelled: smb_conf.Spelling, facts: Facts) -> str | None:
    complaints = _about(facts, spelled)
    return f"testparm warns: {cut(complaints[0], 160)}" if complaints else None


def _configuration_is_known(facts: Facts) -> bool:
    return any(name.startswith((GLOBAL, SHARE)) for name in facts)


def _about(facts: Facts, spelled: smb_conf.Spelling) -> list[str]:
    names = {smb_conf.squeeze(spelled.typed), smb_conf.squeeze(spelled.name)}
    return [
        line
        for line in smb_conf.lines_of_fact(facts, smb_conf.CONF_WARNINGS)
        if any(name in smb_conf.squeeze(line) for name in names)
    ]


def _entry(name: str, value: str) -> catalogue.CatalogueEntry | None:
    entry = next((e for e in catalogue.about(name) if e.parameter == name), None)
    if entry is None or (entry.default is not None and smb_conf.same_value(name, value, entry.default)):
        return None
    return entry


def _unmet(conditions: tuple[str, ...], after: Series) -> Iterator[str]:
    client = after.client
    if not client.dialect:
        return
    unmet = {
        "unsigned": client.is_signed and f"an unsigned session, and this one is signed ({client.signing})",
        "unencrypted": client.is_encrypted
        and f"an unencrypted session, and this one is encrypted ({client.encryption})",
        "signed": not client.is_signed and "a signed session, and this one is not",
        "encrypted": not client.is_encrypted and "an encrypted session, and this one is not",
    }
    yield from (f"it needs {why}" for needed, why in unmet.items() if why and needed in conditions)
    if "smb1" in conditions:
        yield f"it is for SMB1 alone, and the session speaks SMB {client.dialect}"
