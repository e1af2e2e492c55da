"""Findings of how smbd reads a value: comments that belong to it, numbers that end early, words that it skips."""

import ipaddress
import itertools
import re
from collections.abc import Iterator

from forms.audit.line_finding import line_finding
from forms.tuning import log_levels, smb_conf, smb_values
from forms.tuning.trailing_comments import CommentEffect, comment_effect, without_comment
from storage.looks import AuditedSetting, AuditFinding, Ruling

_SLASHED_LISTS = frozenset({"veto files", "veto oplock files", "hide files"})
"""Parameters whose value is a list of patterns, which slashes alone separate."""

_OTHER_SEPARATORS = re.compile(r"[\s,;|\\]+")
_LOOKS_LIKE_PATTERN = re.compile(r"[*?.]")

_LEAST_SPEED = 10_000_000
"""Bits per second of the slowest card that is sold; a smaller number was meant in Mbit/s."""
_MEGABIT = 1_000_000

_COUNTED_IN = {"max log size": ("KiB", 1 << 10), "max disk size": ("MiB", 1 << 20)}
"""Sizes that smbd does not count in bytes, with what it counts them in."""
_LEAST_OCTAL = re.compile(r"[0-7]+")

_LOOKS_LIKE_ADDRESS = re.compile(r"[\d.\-]+(/[\d.]+)?|\[.*\](/\d+)?")

_PASSWORD_BACKENDS = frozenset({"smbpasswd", "tdbsam", "ldapsam", "nds_ldapsam", "samba_dsdb", "samba4", "ipasam"})

_INTERFACE_OPTIONS = frozenset({"speed", "capability", "if_index", "options"})
_CAPABILITIES = frozenset({"rss", "rdma"})


def comment_finding(setting: AuditedSetting) -> AuditFinding | None:
    """A comment at the end of the line; None where there is none, or it changes nothing."""
    effect = comment_effect(setting.name, setting.value)
    if effect is None:
        return None

    value = without_comment(setting.value)
    instead = f"{setting.name} = {value}" if value else ""
    if effect is CommentEffect.IS_ENTRY:
        reason = "In a list a semicolon separates entries: what follows it is no comment."
        return line_finding(setting, "semicolon-in-list", Ruling.MISPLACED, 50, reason, instead=None)

    reason = "smb.conf has no comments at the end of a line: what follows belongs to the value."
    verdict = Ruling.MISPLACED if effect is CommentEffect.IS_SHOWN else Ruling.HARMFUL
    return line_finding(setting, "trailing-comment", verdict, 92, reason, instead=instead)


def unreadable_name_finding(setting: AuditedSetting) -> AuditFinding | None:
    """An option of a module whose name has bytes that are no UTF-8; None where it is all right."""
    # Such bytes of a file are surrogates in its text.
    if not any("\ud800" <= letter <= "\udfff" for letter in setting.name):
        return None
    reason = "Its name is not UTF-8: Samba stops reading smb.conf at this line."
    return line_finding(setting, "refused", Ruling.HARMFUL, 93, reason, instead="")


def value_findings(setting: AuditedSetting, *, is_dump: bool = False) -> Iterator[AuditFinding]:
    """What smbd leaves out of a value that it takes, beside what the value is good for.

    ``is_dump`` says that testparm printed it, which leaves out quotes.
    """
    spelled = smb_conf.spelling(setting.name)
    kind = spelled.parameter.kind if spelled.parameter else ""
    if kind == "number" and not smb_values.is_whole_number(setting.value):
        yield _cut_number_finding(setting)
    if kind == "octal" and not _LEAST_OCTAL.fullmatch(setting.value):
        yield _cut_mode_finding(setting)
    if spelled.name in _COUNTED_IN and setting.value[-1:].isalpha():
        yield _unit_of_unit_finding(setting, *_COUNTED_IN[spelled.name])
    if spelled.name == "log level":
        yield from _log_level_findings(setting)
    if spelled.name == "passdb backend":
        yield from _backend_findings(setting)
    if spelled.name == "socket options":
        yield from _socket_option_findings(setting)
    if spelled.name in _SLASHED_LISTS:
        yield from _separator_findings(setting)
    if spelled.name == "interfaces":
        yield from _interface_findings(setting, is_dump=is_dump)


def _cut_number_finding(setting: AuditedSetting) -> AuditFinding:
    if not setting.value:
        reason = "smbd reads -1 from an empty value."
        return line_finding(setting, "cut-number", Ruling.MISPLACED, 55, reason, instead="")
    number = smb_values.read_by_strtol(setting.value)
    reason = f"smbd reads {number}, and leaves out what stands behind the digits: no unit is allowed here."
    return line_finding(setting, "cut-number", Ruling.MISPLACED, 55, reason, instead=None)


def _cut_mode_finding(setting: AuditedSetting) -> AuditFinding:
    digits = _LEAST_OCTAL.match(setting.value)
    mode = int(digits[0], 8) if digits else 0
    reason = f"smbd reads {mode:04o}, and leaves out what stands behind the digits 0 to 7."
    return line_finding(setting, "cut-number", Ruling.MISPLACED, 55, reason, instead=None)


def _unit_of_unit_finding(setting: AuditedSetting, unit: str, unit_bytes: int) -> AuditFinding:
    count = int(smb_conf.tidy_value(setting.name, setting.value))
    reason = f"It is counted in {unit}: smbd takes this for {count:,} {unit}."
    # Whether the unit was meant as well, nobody knows but who wrote it.
    in_bytes = count // unit_bytes
    choice = f"{in_bytes} if {setting.value} in all is meant, {count}" if in_bytes else str(count)
    advice = f"Write the number without a unit: {choice} if it is right as it is."
    return line_finding(setting, "unit-of-unit", Ruling.MISPLACED, 56, reason, instead=None, advice=advice)


def _log_level_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    for word in smb_values.entries_of_list(setting.value):
        name, colon, level = word.partition(":")
        digits = (level if colon else name).partition("@")[0]
        if not digits.isdecimal():
            reason = (
                f"smbd reads {smb_values.read_by_atoi(digits)} from {digits}: only decimal digits are allowed here."
            )
            yield line_finding(setting, "cut-number", Ruling.MISPLACED, 55, reason, instead=None)
        elif colon and not log_levels.is_log_class(name):
            reason = f"No class {name} of log messages is known: unless this Samba has it, nothing more is logged."
            yield line_finding(setting, "unknown-log-class", Ruling.MISPLACED, 30, reason, instead=None)


def _backend_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    backend = setting.value.partition(":")[0].strip().lower()
    if backend and backend not in _PASSWORD_BACKENDS:
        reason = f"Samba has no backend {backend} of its own: unless somebody installed it, smbd does not start."
        yield line_finding(setting, "unknown-backend", Ruling.RISKY, 90, reason, instead=None)


def _socket_option_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    if smb_values.has_blank_at_equals(setting.value):
        reason = (
            "A blank ends the option: smbd reads 1 for one with a blank before its =, and takes what stands behind"
            " for other options, which there are not."
        )
        yield line_finding(setting, "blank-in-socket-option", Ruling.MISPLACED, 55, reason, instead=None)

    for name, number in smb_values.socket_options(setting.value):
        if number.isdecimal() or not name or not number:
            continue
        read = smb_values.read_by_atoi(number)
        reason = f"smbd reads {read} from {number}: only digits are allowed here, and no unit."
        yield line_finding(setting, "cut-number", Ruling.MISPLACED, 55, reason, instead=None, word=name)


def _separator_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    """Patterns that something else than slashes separates: smbd takes them for one, of a name that no file has."""
    patterns = smb_values.patterns_of(setting.value)
    joined = [pattern for pattern in patterns if len(parts_of_pattern(pattern)) > 1]
    padded = [pattern for pattern in patterns if pattern != pattern.strip()]
    if not joined and not padded:
        return

    if joined:
        reason = f"Slashes alone separate the patterns: smbd takes `{joined[0]}` for one, of a name that no file has."
    else:
        reason = f"A blank beside a slash belongs to the pattern: `{padded[0]}` is of names with that blank."
    parts = list(itertools.chain.from_iterable(map(parts_of_pattern, patterns)))
    instead = f"{setting.name} = /{'/'.join(parts)}/"
    yield line_finding(setting, "wrong-separator", Ruling.MISPLACED, 52, reason, instead=instead)


def parts_of_pattern(pattern: str) -> list[str]:
    """The patterns that somebody meant by one; itself where it may be the name of a file, such as ``My file.txt``."""
    parts = [part for part in _OTHER_SEPARATORS.split(pattern) if part]
    is_list = len(parts) > 1 and all(_LOOKS_LIKE_PATTERN.search(part) for part in parts)
    return parts if is_list else [pattern.strip()]


def _interface_findings(setting: AuditedSetting, *, is_dump: bool) -> Iterator[AuditFinding]:
    """Options behind the names of interfaces, such as ``"eth0;speed=10000000000"``."""
    # testparm prints them without their quotes.
    entries = setting.value.split() if is_dump else smb_values.entries_of_list(setting.value)
    for entry in entries:
        name, semicolon, options = entry.partition(";")
        if "=" in name:
            reason = f"{name} is taken for an interface: quotes must enclose each interface with its options."
            yield line_finding(setting, "unquoted-interface", Ruling.MISPLACED, 48, reason, instead=None)
        elif _LOOKS_LIKE_ADDRESS.fullmatch(name) and not _is_address_or_network(name):
            reason = (
                f"{name} is neither an address nor a network: smbd skips it, and where it is bound to these"
                " interfaces alone and has no other, it does not start."
            )
            yield line_finding(setting, "no-interface", Ruling.MISPLACED, 59, reason, instead=None)
        elif semicolon:
            yield from _interface_option_findings(setting, name, options)


def _is_address_or_network(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return True


def _interface_option_findings(setting: AuditedSetting, interface: str, options: str) -> Iterator[AuditFinding]:
    for option in options.split(","):
        key, _, value = (part.strip().lower() for part in option.partition("="))
        is_unknown = key not in _INTERFACE_OPTIONS or (key == "capability" and value not in _CAPABILITIES)
        if is_unknown:
            reason = f"smbd does not know {option.strip()}, and skips it."
            yield line_finding(setting, "unknown-interface-option", Ruling.MISPLACED, 30, reason, instead=None)
        elif key == "speed":
            speed = smb_values.read_by_strtol(value)
            if speed < _LEAST_SPEED:
                yield _slow_interface_finding(setting, interface, speed)


def _slow_interface_finding(setting: AuditedSetting, interface: str, speed: int) -> AuditFinding:
    reason = f"The speed is in bits per second: clients are told that {interface} has {speed} bit/s."
    if speed:
        reason += f" Did you mean {speed * _MEGABIT}?"
    advice = "Leave speed out: Linux tells smbd by itself. Else write it in bits per second."
    return line_finding(setting, "slow-interface", Ruling.CONTRADICTORY, 60, reason, instead=None, advice=advice)
