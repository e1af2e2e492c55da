"""Why a change of smb.conf did not come to anything: names, sections, refused values, missing conditions."""

from collections.abc import Iterator

from forms.comparison.differences import GLOBAL, SHARE, effective
from forms.tuning import catalogue, smb_conf
from storage.records import Facts, Series

WARNINGS = "smb.conf.warnings"
"""The fact of the server that holds what testparm complained of, joined by semicolons."""
STATE = "smb.conf.state"
LOADS_NOT = "does not load"


def unknown_name(spelled: smb_conf.Spelling, facts: Facts) -> str | None:
    """Why there is no such parameter, in words for the admin; None where there is one, or the server knows it."""
    if effective(facts, spelled.name) is not None or ":" in spelled.name:
        return None
    known = configuration_is_known(facts)
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


def refused_value(spelled: smb_conf.Spelling, value: str, facts: Facts) -> str | None:
    """Why testparm refuses the value, in words for the admin; None where it does not."""
    current = effective(facts, spelled.name)
    if current is not None and smb_conf.same_value(spelled.name, current, value):
        return None
    why = smb_conf.refusal(spelled.name, value)
    if why is None and facts.get(STATE) == LOADS_NOT:
        wanted = smb_conf.squeeze(value)
        named = [line for line in _about(facts, spelled) if wanted in smb_conf.squeeze(line)]
        why = f"{spelled.typed} = {value}" if named else None
    return None if why is None else f"testparm refuses the value ({why}): smbd stops reading smb.conf at that line."


def why_unchanged(spelled: smb_conf.Spelling, old: Facts, new: Facts) -> str:
    """The likeliest reason why a parameter stayed as it was, in words for the admin."""
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
    """Which condition for the parameter to act is known not to hold, in words; None where all may hold."""
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
    """What the parameter needs besides to act, where nobody can see whether it holds, as a sentence; or None."""
    if name == "socket options" and "tcp_nodelay=" not in smb_conf.tidy_value(name, value):
        return "TCP_NODELAY stays on, for new sockets inherit it; TCP_NODELAY=0 switches it off."
    entry = _entry(name, value)
    if entry is None or not entry.needs.text or entry.needs.options or entry.needs.session:
        return None
    return f"It acts only if {entry.needs.text}."


def warning(spelled: smb_conf.Spelling, facts: Facts) -> str | None:
    """What testparm warns of about the parameter, as a sentence; None where it does not."""
    complaints = _about(facts, spelled)
    return f"testparm warns: {_short(complaints[0])}" if complaints else None


def configuration_is_known(facts: Facts) -> bool:
    """Whether the server's effective parameters were seen."""
    return any(name.startswith((GLOBAL, SHARE)) for name in facts)


def complaints(facts: Facts) -> list[str]:
    """What testparm complained of, a line each."""
    return [line for line in str(facts.get(WARNINGS, "")).split("; ") if line]


def _about(facts: Facts, spelled: smb_conf.Spelling) -> list[str]:
    """The complaints in which the parameter is named under either name."""
    names = {smb_conf.squeeze(spelled.typed), smb_conf.squeeze(spelled.name)}
    return [line for line in complaints(facts) if any(name in smb_conf.squeeze(line) for name in names)]


def _entry(name: str, value: str) -> catalogue.CatalogueEntry | None:
    """The catalogue's entry about the parameter, if it has one and the value is not the default."""
    entry = next((e for e in catalogue.about(name) if e.parameter == name), None)
    if entry is None or (entry.default is not None and smb_conf.same_value(name, value, entry.default)):
        return None
    return entry


def _unmet(conditions: tuple[str, ...], after: Series) -> Iterator[str]:
    client = after.client
    if not client.dialect:
        return
    signed, encrypted = client.signing not in (None, "none"), client.encryption not in (None, "none")
    if "unsigned" in conditions and signed:
        yield f"it needs an unsigned session, and this one is signed ({client.signing})"
    if "unencrypted" in conditions and encrypted:
        yield f"it needs an unencrypted session, and this one is encrypted ({client.encryption})"
    if "signed" in conditions and not signed:
        yield "it needs a signed session, and this one is not"
    if "encrypted" in conditions and not encrypted:
        yield "it needs an encrypted session, and this one is not"
    if "smb1" in conditions:
        yield f"it is for SMB1 alone, and the session speaks SMB {client.dialect}"


def _short(line: str) -> str:
    return line if len(line) <= 160 else f"{line[:159].rstrip()}…"
