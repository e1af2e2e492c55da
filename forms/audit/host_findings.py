"""Findings of ``hosts allow`` and ``hosts deny``: entries that match no client, and lists that let nobody in.

How smbd matches is in lib/util/access.c. What is said here was tried with each form on Samba 4.17.12.
"""

import ipaddress
import re
from collections.abc import Iterator, Sequence

from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.tuning import smb_conf, smb_values
from storage.looks import AuditedSetting, AuditFinding, Ruling

HOST_LISTS = ("hosts allow", "hosts deny")
_KEYWORDS = frozenset({"all", "except", "local", "fail"})
_EVERYBODY = frozenset({"all", "*", "0.0.0.0/0"})
_ALWAYS_LET_IN = frozenset({"localhost"})
"""A name that an admin adds for the server itself, which smbd lets in by its address wherever it is not denied."""

_DIGITS_ONLY = re.compile(r"[\d.]+")
_RANGE = re.compile(r"[\d.]+-[\d.]+")
_BEGINNING = re.compile(r"(\d{1,3}\.){0,2}\d{1,3}")
"""Of an address, without the dot behind it that would make it one."""
_DOTTED_NETWORK = re.compile(r"(\d{1,3}\.){1,3}\d{1,3}/[\da-fx.]+", re.IGNORECASE)
_ADDRESS_PARTS = 4
_MOST_MASK_BITS = 32
_MOST_MASK_BITS_OF_IPV6 = 128


def host_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """What is wrong with the entries of a line of one of the two parameters."""
    entries = smb_values.entries_of_list(setting.value)
    is_allowing = smb_conf.spelling(setting.name).name == "hosts allow"
    for entry in entries:
        reason = _why_no_client(entry)
        if reason:
            yield _entry_finding(setting, entry, reason, is_allowing=is_allowing)

    looks_up = smb_conf.same_value("hostname lookups", conf.in_effect("global", "hostname lookups"), "yes")
    names = [] if looks_up else [entry for entry in entries if _is_name_to_look_up(entry)]
    if names:
        yield _name_finding(setting, names[0], is_allowing=is_allowing)
    if not is_allowing and _refuses_everybody(conf, setting, entries):
        yield _everybody_finding(setting)


def names_a_computer(entry: str) -> bool:
    """Whether an entry is a name to look up, and no address, network, netgroup or keyword."""
    if entry.lower() in _KEYWORDS or entry.startswith("@") or ":" in entry:
        return False
    return any(letter.isalpha() for letter in entry)


def _is_name_to_look_up(entry: str) -> bool:
    is_mask = "/" in entry or "*" in entry or "?" in entry
    return names_a_computer(entry) and not is_mask and entry.lower() not in _ALWAYS_LET_IN


def _why_no_client(entry: str) -> str:
    """Why an entry matches no client's address; empty where it may match one."""
    if "://" in entry:
        return "it is a URL"
    if _RANGE.fullmatch(entry):
        return "smbd knows no ranges with a hyphen"
    if entry.startswith("[") or _has_port(entry):
        return "an address stands here alone, without brackets or port"
    if _DIGITS_ONLY.fullmatch(entry):
        return _why_no_address(entry)
    return _why_no_network(entry) if "/" in entry else ""


def _has_port(entry: str) -> bool:
    address, colon, port = entry.partition(":")
    return bool(colon) and port.isdecimal() and _DIGITS_ONLY.fullmatch(address) is not None


def _why_no_address(entry: str) -> str:
    if entry.startswith(".") or entry.endswith("."):
        return ""
    if entry.count(".") + 1 < _ADDRESS_PARTS and _BEGINNING.fullmatch(entry):
        return f"the beginning of an address ends in a dot, as {entry}. does"
    return "" if _is_address(entry) else "it is no address"


def _why_no_network(entry: str) -> str:
    network, _, mask = entry.partition("/")
    if ":" in network:
        has_mask = mask.isdecimal() and int(mask) <= _MOST_MASK_BITS_OF_IPV6
        return "" if _is_address(network) and has_mask else "it is no network"
    if not _DOTTED_NETWORK.fullmatch(entry):
        return "it is no network, such as 192.0.2.0/24"
    if mask.isdecimal() and (int(mask) > _MOST_MASK_BITS or mask != str(int(mask))):
        return f"no mask has {mask} bits"
    return ""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _refuses_everybody(conf: Configuration, setting: AuditedSetting, entries: Sequence[str]) -> bool:
    """Whether it denies all addresses in a section that allows none."""
    return denies_everybody(entries) and any(
        not conf.in_effect(section, "hosts allow") for section in conf.sections_of(setting)
    )


def denies_everybody(entries: Sequence[str]) -> bool:
    """Whether the entries of ``hosts deny`` are of all addresses, without an exception."""
    words = [entry.lower() for entry in entries]
    return "except" not in words and not _EVERYBODY.isdisjoint(words)


def _entry_finding(setting: AuditedSetting, entry: str, cause: str, *, is_allowing: bool) -> AuditFinding:
    reason = f"{entry} matches no client: {cause}. {_outcome(is_allowing=is_allowing)}"
    verdict = Ruling.CONTRADICTORY if is_allowing else Ruling.RISKY
    return line_finding(setting, "host-of-nobody", verdict, 58, reason, instead=None)


def _name_finding(setting: AuditedSetting, name: str, *, is_allowing: bool) -> AuditFinding:
    reason = f"smbd looks up no names (hostname lookups = no): {name} matches no client. "
    reason += _outcome(is_allowing=is_allowing)
    verdict = Ruling.CONTRADICTORY if is_allowing else Ruling.RISKY
    advice = "Write the address or network, or set `hostname lookups = yes` in [global]."
    return line_finding(setting, "name-without-look-up", verdict, 57, reason, instead=None, advice=advice)


def _outcome(*, is_allowing: bool) -> str:
    return "Whom it is to let in is refused." if is_allowing else "Whom it is to keep out gets in."


def _everybody_finding(setting: AuditedSetting) -> AuditFinding:
    place = "the server" if setting.section == "global" else f"[{setting.section}]"
    reason = f"Nobody can use {place}, since hosts allow lets nobody in."
    verdict = Ruling.HARMFUL if setting.section == "global" else Ruling.CONTRADICTORY
    advice = "Name in hosts allow whom it is for, unless it is closed on purpose."
    return line_finding(setting, "everybody-denied", verdict, 95, reason, instead=None, advice=advice)
