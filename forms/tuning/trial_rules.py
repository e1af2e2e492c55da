"""Whether sharebench may set an smb.conf parameter itself: more than testparm checks.
testparm exits with 0 for unknown names, numbers out of range, missing modules and wrong sections; some of them make
a running smbd turn new sessions away (measured on Samba 4.17.12).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import Effect, EntryKind, Status
from forms.tuning.smb_conf import Parameter, squeeze, tidy_value

_COMMENT = re.compile(r"(^|\s)[#;]")
_NUMBER = re.compile(r"-?\d+")
data = partial(smb_conf.toml_data, "trials.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class SambaKnows:
    """What the server's Samba has; empty sets mean unknown."""

    for_server: frozenset[str] = frozenset()
    for_share: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    sections: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    name: str
    value: str
    section: str
    conf: str


def is_tried(entry: catalogue.CatalogueEntry) -> bool:
    """Whether `try` takes it by its name; a network card's setting needs the name of the card as well."""
    never = entry.takes_effect is Effect.NEVER or squeeze(entry.parameter) in map(squeeze, data()["never"])
    return entry.kind is EntryKind.SYSCTL or (entry.kind is EntryKind.SMB_CONF and not never)


def refusals(proposal: Proposal, samba: SambaKnows) -> Iterator[str]:
    spelled = smb_conf.spelling(proposal.name)
    name, parameter = spelled.name, spelled.parameter
    if any(ord(letter) < 32 or ord(letter) == 127 for text in (proposal.name, proposal.value) for letter in text):
        yield "a value is one line, without control characters"
    if _COMMENT.search(proposal.value):
        yield f"{proposal.value!r}: smb.conf has no comments at the end of a line"
    if proposal.value.rstrip().endswith("\\"):
        yield "a backslash at the end would join the next line to it"
    if any(letter in proposal.name for letter in "=[]#;"):
        yield f"{proposal.name!r} is no name of a parameter"
    if ":" in name:
        module = name.partition(":")[0].strip()
        if module not in samba.modules:
            yield f"{name} belongs to the module {module}, which this Samba does not have"
        return
    if squeeze(name) in map(squeeze, data()["never"]):
        yield f"{name} decides what is served and who gets in: sharebench never changes it"
        return
    there = {squeeze(one) for one in samba.for_server | samba.for_share}
    if not (squeeze(name) in there if there else parameter is not None and not parameter.newer):
        yield _unknown(name)
        return
    if [(one.kind, one.takes_effect) for one in catalogue.about(name)] == [(EntryKind.SMB_CONF, Effect.NEVER)]:
        yield f"{name} has no effect in this Samba, so there is nothing to measure"
    yield from _section_fits(name, parameter, proposal, samba)
    if refused := smb_conf.refusal(name, proposal.value):
        yield f"{name}: {refused}"
    yield from _range(name, proposal.value)
    yield from _listed(name, proposal.value, samba)


def risk_of(name: str, value: str) -> str | None:
    if ":" in name or not catalogue.about(name):
        return "what it does is not known to sharebench"
    found: Mapping[str, Any] | None = data()["risks"].get(name)
    if found is None:
        return None
    values = found.get("values")
    risky = values is None or any(tidy_value(name, value) == tidy_value(name, one) for one in values)
    return str(found["why"]) if risky else None


def undo_needs_restart(name: str, present: str | None, values: tuple[str, ...]) -> str | None:
    """Why only an smbd restart can apply or restore a value (sockets keep buffers and TOS); else None."""
    if any(entry.takes_effect is Effect.RESTART for entry in catalogue.about(name)):
        return f"{name} is read when smbd starts"
    if name != "socket options":
        return None
    pinned = [word for word in ("so_sndbuf", "so_rcvbuf", "iptos") if word in (present or "").lower()]
    if pinned and any(word not in value.lower() for value in values for word in pinned):
        return f"smbd was started with {present}, and its listening socket hands that on to each session"
    return None


def _unknown(name: str) -> str:
    for entry in catalogue.about(name):
        if entry.status is Status.REMOVED:
            return f"{name} was removed from Samba in {entry.removed_in or 'an earlier version'}: smbd ignores it"
        if entry.status is Status.NEWER:
            return f"{name} needs a newer Samba than this one ({entry.since or 'see its release notes'})"
    close = smb_conf.suggestions(name)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    return f"this Samba has no parameter {name}, so smbd would ignore it{hint}"


def _section_fits(name: str, parameter: Parameter | None, proposal: Proposal, samba: SambaKnows) -> Iterator[str]:
    in_share = proposal.section.lower() != "global"
    of_server = squeeze(name) in {squeeze(one) for one in samba.for_server} or (
        not samba.for_server and parameter is not None and parameter.scope == "global"
    )
    if in_share and of_server:
        yield f"{name} holds for the whole server: in [{proposal.section}] smbd would ignore it"
    if in_share and samba.sections and proposal.section.lower() not in samba.sections:
        yield (
            f"there is no share [{proposal.section}] in {proposal.conf}; if the server of the target reads another"
            " smb.conf, name that"
        )


def _range(name: str, value: str) -> Iterator[str]:
    found = data()["ranges"].get(name)
    if found is None:
        return
    number, (least, most) = tidy_value(name, value), found
    if not _NUMBER.fullmatch(number):
        if name != "log level":  # which may name classes of its own
            yield f"{name}: {value!r} is no whole number"
    elif not least <= int(number) <= most:
        yield f"{name}: {value} is out of range, {least} to {most}"


def _listed(name: str, value: str, samba: SambaKnows) -> Iterator[str]:
    words = value.replace(",", " ").split()
    allowed = data()["words"].get(name)
    if allowed:
        known = {word.lower() for word in allowed}
        yield from (f"{name}: {word} is none of {', '.join(allowed)}" for word in words if word.lower() not in known)
    if name == "socket options":
        yield from (f"{name}: {reason}" for word in words if (reason := _socket_option(word)))
    if name == "vfs objects" and samba.modules:
        for word in words:
            module = word.partition(":")[0]
            if module not in samba.modules:
                yield f"there is no VFS module {module} here: every connection to the share would fail"


def _socket_option(word: str) -> str | None:
    known = data()["socket_options"]
    option, equals, number = word.partition("=")
    if option.upper() in known["flags"]:
        return None if not equals or number in {"0", "1"} else f"{option} is 0 or 1"
    if option.upper() not in known["numbers"]:
        return f"smbd knows no socket option {option}"
    least, most = known["numbers"][option.upper()]
    if not number.isdecimal() or not least <= int(number) <= most:
        return f"{option} needs a number from {least} to {most}"
    return None
