"""Findings of the masks of permissions: those that nothing heeds, and those that lock out who makes a file or folder.

What is said here was tried with each on Samba 4.17.12.
"""

import re
from collections.abc import Iterator

from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.audit.module_findings import loaded_modules
from forms.tuning import smb_conf
from storage.looks import AuditedSetting, AuditFinding, Ruling

_MASKS = {"create mask": ("force create mode", 0o600), "directory mask": ("force directory mode", 0o700)}
"""Each with the mode that is added to it, and the bits that the owner of what is new cannot do without."""
_MODES = frozenset({*_MASKS, "force create mode", "force directory mode"})

_PERMISSION_MODULES = frozenset({"acl_xattr", "acl_tdb", "nfs4acl_xattr", "zfsacl", "gpfs"})
"""They give what is new the permissions of Windows, whatever the mask is."""


def mask_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    name = smb_conf.spelling(setting.name).name
    if name not in _MODES:
        return

    sections = conf.sections_of(setting)
    if all(is_inherited(conf, section) for section in sections):
        yield _unheeded_finding(setting)
    elif name in _MASKS and any(_locks_out(conf, section, name) for section in sections):
        yield _locking_finding(setting, name)


def is_inherited(conf: Configuration, section: str) -> bool:
    """Whether what is new in a section has the permissions of its folder, in place of those of the masks."""
    return smb_conf.same_value("inherit permissions", conf.in_effect(section, "inherit permissions"), "yes")


def _locks_out(conf: Configuration, section: str, mask: str) -> bool:
    if is_inherited(conf, section) or _PERMISSION_MODULES & set(loaded_modules(conf, section)):
        return False
    if smb_conf.same_value("read only", conf.in_effect(section, "read only"), "yes"):
        return False

    # To root no mode matters.
    if conf.in_effect(section, "force user").lower() == "root":
        return False

    forced, needed = _MASKS[mask]
    mode = _mode(conf.in_effect(section, mask)) | _mode(conf.in_effect(section, forced))
    # That the owner may write into a folder, smbd adds by itself, but the mask takes it away again.
    return mode & needed != needed


def _mode(value: str) -> int:
    """The mode as smbd reads it: as many octal digits as it begins with."""
    digits = re.match("[0-7]*", value)
    return int(digits[0], 8) if digits and digits[0] else 0


def _unheeded_finding(setting: AuditedSetting) -> AuditFinding:
    reason = "inherit permissions = yes takes its place: what is new has the permissions of its folder."
    advice = "Delete one of the two lines."
    return line_finding(setting, "mask-unheeded", Ruling.CONTRADICTORY, 26, reason, instead=None, advice=advice)


def _locking_finding(setting: AuditedSetting, mask: str) -> AuditFinding:
    if mask == "create mask":
        reason = "It leaves new files without what their owner needs to read and change them."
        advice = "Write `create mask = 0664`, or the mode that new files are to have."
    else:
        reason = "It leaves new folders without what their owner needs to list and fill them."
        advice = "Write `directory mask = 0775`, or the mode that new folders are to have."
    return line_finding(setting, "mask-locks-out", Ruling.CONTRADICTORY, 74, reason, instead=None, advice=advice)
