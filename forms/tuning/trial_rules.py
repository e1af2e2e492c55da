"""Whether sharebench may set a parameter of smb.conf itself, what that risks, and whether it needs a restart of smbd.

These rules check more than testparm, which exits with 0 for unknown names, numbers out of range, missing modules and
wrong sections; some of them make a running smbd turn new sessions away (measured on Samba 4.17.12). Their data are in
``data/trials.toml``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from forms.tuning import catalogue, smb_conf
from forms.tuning.samba_parameters import MEASURED, Parameter
from forms.tuning.smb_conf import same_value, spelling, squeeze, tidy_value
from forms.tuning.smb_values import is_whole_number

_COMMENT = re.compile(r"(^|\s)[#;]")
_NUMBER = re.compile(r"-?\d+")
data = partial(smb_conf.toml_data, "trials.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class SambaKnows:
    """What the server's Samba has; empty sets mean unknown."""

    for_server: frozenset[str] = frozenset()
    """The names of parameters that hold for the whole server."""
    for_share: frozenset[str] = frozenset()
    """The names of parameters that a share may set for itself."""
    modules: frozenset[str] = frozenset()
    """VFS modules."""
    sections: frozenset[str] = field(default_factory=frozenset)

    def own_name(self, name: str) -> str:
        """What this Samba calls a parameter: before it was renamed it had a name that is a synonym today."""
        own_keys = {squeeze(parameter) for parameter in self.for_server | self.for_share}
        names = (name, *smb_conf.former_names(name))
        return next((possible_name for possible_name in names if squeeze(possible_name) in own_keys), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A line that would be written."""

    name: str
    value: str
    section: str
    """Without brackets."""
    conf: str
    """The path of the smb.conf, for messages."""


def is_tried(entry: catalogue.CatalogueEntry) -> bool:
    """Whether `try` takes it by its name; a network card's setting needs the name of the card as well."""
    never = entry.takes_effect is catalogue.Effect.NEVER or is_never_changed(entry.parameter)
    return entry.kind is catalogue.EntryKind.SYSCTL or (entry.kind is catalogue.EntryKind.SMB_CONF and not never)


def is_never_changed(name: str) -> bool:
    """Whether a parameter, by any of its names, decides what is served and who gets in."""
    return smb_conf.spelling(name).name in _never_changed()


@cache
def _never_changed() -> frozenset[str]:
    """As Samba names them today: it renamed some, which keep their former names as synonyms."""
    return frozenset(smb_conf.spelling(name).name for name in data()["never"])


def refusals(proposal: Proposal, samba: SambaKnows) -> Iterator[str]:
    """Why sharebench does not set that; nothing where it may."""
    spelled = smb_conf.spelling(proposal.name)
    name = spelled.name
    parameter = spelled.parameter

    if any(map(_is_control, proposal.name + proposal.value)):
        yield "a value is one line, without control characters"
    if _COMMENT.search(proposal.value):
        yield f"{proposal.value!r}: smb.conf has no comments at the end of a line"
    if proposal.value.rstrip().endswith("\\"):
        yield "a backslash at the end would join the next line to it"
    if any(letter in proposal.name for letter in "=[]#;"):
        yield f"{proposal.name!r} is no name of a parameter"

    if ":" in name:
        module = name.partition(":")[0].strip()
        if samba.modules and module not in samba.modules:
            yield f"{name} belongs to the module {module}, which this Samba does not have"
        return
    if is_never_changed(name):
        yield f"{name} decides what is served and who gets in: sharebench never changes it"
        return
    if not _is_known(name, parameter, samba):
        yield _reason_for_unknown(name)
        return

    # Only where no other entry is about it: several are about different ways to use a parameter.
    kinds = [(entry.kind, entry.takes_effect) for entry in catalogue.about(name)]
    if kinds == [(catalogue.EntryKind.SMB_CONF, catalogue.Effect.NEVER)]:
        yield f"{name} has no effect in this Samba, so there is nothing to measure"
    yield from _section_refusals(name, parameter, proposal, samba)
    refused = smb_conf.refusal(name, proposal.value)
    if refused:
        yield f"{name}: {refused}"
    yield from _range_refusals(name, proposal.value)
    yield from _word_refusals(name, proposal.value, samba)


def _is_control(character: str) -> bool:
    return ord(character) < 32 or ord(character) == 127


def _is_known(name: str, parameter: Parameter | None, samba: SambaKnows) -> bool:
    """By the server's own list of parameters, or where it gave none by ours."""
    parameters = {squeeze(parameter_name) for parameter_name in samba.for_server | samba.for_share}
    if parameters:
        return squeeze(samba.own_name(name)) in parameters
    return parameter is not None and parameter.is_in(MEASURED)


def risk_of(name: str, value: str) -> str | None:
    """What a trial of the value risks; None for nothing."""
    if ":" in name or not catalogue.about(name):
        return "what it does is not known to sharebench"
    risk: Mapping[str, Any] | None = data()["risks"].get(name)
    if risk is None:
        return None
    risky_values = risk.get("values")
    is_risky = risky_values is None or any(same_value(name, value, risky_value) for risky_value in risky_values)
    return str(risk["why"]) if is_risky else None


def undo_needs_restart(name: str, present: str | None, values: tuple[str, ...]) -> str | None:
    """Why only a restart of smbd can bring a value into effect, or take it back; None where it need not be.

    Sockets keep the buffers and the type of service that they were given.
    """
    if any(entry.takes_effect is catalogue.Effect.RESTART for entry in catalogue.about(name)):
        return f"{name} is read when smbd starts"
    if name != "socket options":
        return None

    inherited = [option for option in _INHERITED_OPTIONS if option in (present or "").lower()]
    if not all(_names_all(value, inherited) for value in values):
        return f"smbd was started with {present}, and its listening socket hands that on to each session"
    return None


def _names_all(value: str, options: Sequence[str]) -> bool:
    return all(option in value.lower() for option in options)


_INHERITED_OPTIONS = ("so_sndbuf", "so_rcvbuf", "iptos")
"""What a session's socket has from the listening one, unless smbd sets it again."""


def _reason_for_unknown(name: str) -> str:
    """Why this Samba does not know the parameter, with what to do."""
    for entry in catalogue.about(name):
        if entry.status is catalogue.Status.REMOVED:
            return f"{name} was removed from Samba in {entry.removed_in or 'an earlier version'}: smbd ignores it"
        if entry.status is catalogue.Status.NEWER:
            return f"{name} needs a newer Samba than this one ({entry.since or 'see its release notes'})"
    similar_names = smb_conf.suggestions(name)
    hint = f"; did you mean {' or '.join(similar_names)}?" if similar_names else ""
    return f"this Samba has no parameter {name}, so smbd would ignore it{hint}"


def _section_refusals(name: str, parameter: Parameter | None, proposal: Proposal, samba: SambaKnows) -> Iterator[str]:
    if proposal.section.lower() == "global":
        return

    is_of_server = squeeze(samba.own_name(name)) in map(squeeze, samba.for_server)
    if not samba.for_server:
        is_of_server = parameter is not None and parameter.scope == "global"
    if is_of_server:
        yield f"{name} holds for the whole server: in [{proposal.section}] smbd would ignore it"
    if samba.sections and proposal.section.lower() not in samba.sections:
        yield (
            f"there is no share [{proposal.section}] in {proposal.conf}; if the server of the target reads another"
            " smb.conf, name that"
        )


def _range_refusals(name: str, value: str) -> Iterator[str]:
    ends = data()["ranges"].get(name)
    if ends is None:
        return

    least, most = ends
    number = tidy_value(name, value)
    parameter = spelling(name).parameter
    is_cut = parameter is not None and parameter.kind == "number" and not is_whole_number(value)
    if is_cut or not _NUMBER.fullmatch(number):
        # A log level may name classes of its own.
        if name != "log level":
            yield f"{name}: {value!r} is no whole number"
    elif not least <= int(number) <= most:
        yield f"{name}: {value} is out of range, {least} to {most}"


def _word_refusals(name: str, value: str, samba: SambaKnows) -> Iterator[str]:
    words = value.replace(",", " ").split()
    allowed = data()["words"].get(name)
    if allowed:
        allowed_words = {word.lower() for word in allowed}
        for word in words:
            if word.lower() not in allowed_words:
                yield f"{name}: {word} is none of {', '.join(allowed)}"

    if name == "socket options":
        for word in words:
            reason = _socket_option_refusal(word)
            if reason:
                yield f"{name}: {reason}"

    if name == "vfs objects" and samba.modules:
        for word in words:
            module = word.partition(":")[0]
            if module not in samba.modules:
                yield f"there is no VFS module {module} here: every connection to the share would fail"


def _socket_option_refusal(word: str) -> str | None:
    options = data()["socket_options"]
    option, equals, number = word.partition("=")
    if option.upper() in options["flags"]:
        return None if not equals or number in {"0", "1"} else f"{option} is 0 or 1"
    if option.upper() not in options["numbers"]:
        return f"smbd knows no socket option {option}"

    least, most = options["numbers"][option.upper()]
    if not number.isdecimal() or not least <= int(number) <= most:
        return f"{option} needs a number from {least} to {most}"
    return None
