"""Findings of options of VFS modules: names that a module does not have, values that close the share, lists that
something else than blanks separates, audits of what smbd does with every request.

What is said here was tried with each on Samba 4.17.12.
"""

import difflib
import re
from collections.abc import Iterator, Sequence

from forms import wording
from forms.audit import module_findings
from forms.audit.configuration import Configuration
from forms.audit.domain_findings import idmap_findings
from forms.audit.line_finding import line_finding
from forms.tuning import smb_conf, smb_values, vfs_modules
from storage.looks import AuditedSetting, AuditFinding, Ruling

_LISTS_OF_PATTERNS = frozenset({"recycle:exclude", "recycle:exclude_dir", "recycle:noversions"})
_OTHER_SEPARATORS = re.compile(r"[|:]")
_LIKE_VETO_FILES = re.compile(r"/[^/]+/.+/")
"""Patterns between slashes."""

_OF_EVERY_REQUEST = frozenset(
    {
        "fget_dos_attributes",
        "fgetxattr",
        "file_id_create",
        "fs_file_id",
        "fstat",
        "fstatat",
        "get_alloc_size",
        "getwd",
        "lstat",
        "pread_recv",
        "pread_send",
        "pwrite_recv",
        "pwrite_send",
        "readdir",
        "realpath",
        "stat",
        "strict_lock_check",
    }
)
"""Operations of full_audit that smbd calls for each request, or several times a file."""
_SYNCHRONOUS = {"pread": "aio read size", "pwrite": "aio write size"}
"""Operations that smbd calls in place of those in a thread, where that size is 0."""
_MOST_NAMED = 4


def option_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """What is wrong with an option of a module or of idmap."""
    yield from module_findings.option_findings(conf, setting)
    yield from idmap_findings(conf, setting)
    yield from _findings_by_option(conf, setting)


def _findings_by_option(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    prefix, _, name = (part.strip().lower() for part in setting.name.partition(":"))
    option = f"{prefix}:{name}"
    modules = vfs_modules.modules_with_options(prefix)
    if not any(modules & set(module_findings.loaded_modules(conf, share)) for share in conf.sections_of(setting)):
        # That no share loads the module is said elsewhere.
        return

    names = vfs_modules.known_options(prefix)
    if names and smb_conf.squeeze(name) not in map(smb_conf.squeeze, names):
        yield _unknown_option_finding(setting, prefix, name, names)
    values = vfs_modules.option_values(option)
    if values and setting.value.strip().lower() not in values:
        reason = f"{setting.value} is none of {', '.join(values)}: every connection to the share fails."
        yield line_finding(setting, "unknown-option-value", Ruling.HARMFUL, 98, reason, instead=None)
    if option in _LISTS_OF_PATTERNS:
        yield from _separator_findings(setting)
    if option == "full_audit:success":
        yield from _busy_audit_findings(setting)
        yield from _unrecorded_findings(conf, setting)
    if option == "fruit:encoding" and setting.value.strip().lower() == "native":
        yield from _encoding_findings(conf, setting)


def _unknown_option_finding(setting: AuditedSetting, prefix: str, name: str, names: Sequence[str]) -> AuditFinding:
    similar = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    hint = f" Did you mean {prefix}:{similar[0]}?" if similar else ""
    reason = f"Samba's module reads no such option, and nothing says so.{hint}"
    return line_finding(setting, "unknown-option", Ruling.MISPLACED, 46, reason, instead=None)


def _separator_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    entries = smb_values.entries_of_list(setting.value)
    joined = [entry for entry in entries if _OTHER_SEPARATORS.search(entry) or _LIKE_VETO_FILES.fullmatch(entry)]
    if not joined:
        return
    reason = f"Blanks and commas alone separate the patterns: `{joined[0]}` is one, of a name that no file has."
    parts = [part for entry in entries for part in _parts_of(entry, is_joined=entry in joined)]
    instead = f"{setting.name} = {' '.join(parts)}"
    yield line_finding(setting, "wrong-separator", Ruling.MISPLACED, 52, reason, instead=instead)


def _parts_of(entry: str, *, is_joined: bool) -> list[str]:
    if not is_joined:
        return [entry]
    separators = _OTHER_SEPARATORS if _OTHER_SEPARATORS.search(entry) else re.compile("/")
    return [part for part in separators.split(entry) if part]


def _busy_audit_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    """Of an audit that names some operations of every request; one of all of them is judged by itself."""
    audited = _audited_operations(setting.value)
    if smb_values.entries_of_list(setting.value.lower()) == ["all"]:
        return
    busy = sorted(_OF_EVERY_REQUEST & audited)
    if not busy:
        return

    more = f" and {len(busy) - _MOST_NAMED} more" if len(busy) > _MOST_NAMED else ""
    names = ", ".join(busy[:_MOST_NAMED]) if more else wording.listed(busy)
    reason = f"It logs {names}{more}, which smbd does with every request or several times a file."
    advice = "Name what an audit asks for: connect, disconnect, create_file, renameat, unlinkat, mkdirat."
    yield line_finding(setting, "busy-audit", Ruling.WORTH_TRYING, 56, reason, instead=None, advice=advice)


def _unrecorded_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That an audit of reads or writes names the operation by which smbd does none, since threads do them."""
    audited = _audited_operations(setting.value)
    for operation, size in _SYNCHRONOUS.items():
        in_thread = f"{operation}_send"
        if operation not in audited or in_thread in audited:
            continue
        sizes = [conf.in_effect(share, size) for share in conf.sections_of(setting)]
        if all(smb_conf.same_value(size, value, "0") for value in sizes):
            continue
        reason = f"{size} is not 0, so that smbd calls {in_thread} and not {operation}: next to nothing is recorded."
        advice = f"Write {in_thread} in its place, if each request is to be recorded."
        yield line_finding(
            setting, "unrecorded-requests", Ruling.CONTRADICTORY, 47, reason, instead=None, advice=advice
        )


def _audited_operations(value: str) -> frozenset[str]:
    operations: set[str] = set()
    for entry in smb_values.entries_of_list(value.lower()):
        if entry == "none":
            break
        if entry == "all":
            operations |= _OF_EVERY_REQUEST
        elif entry.startswith("!"):
            operations.discard(entry[1:])
        else:
            operations.add(entry)
    return frozenset(operations)


def _encoding_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    loading = [module_findings.loaded_modules(conf, share) for share in conf.sections_of(setting)]
    if not any("fruit" in modules and "catia" not in modules for modules in loading):
        return
    reason = "It needs catia before fruit: without it names with the letters of Macs are stored as they come."
    advice = "Write catia before fruit in vfs objects."
    yield line_finding(setting, "encoding-without-catia", Ruling.CONTRADICTORY, 33, reason, instead=None, advice=advice)
