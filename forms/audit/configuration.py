"""The settings of an smb.conf as smbd acts on them: its own values, those of [global], and defaults."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from forms.tuning import catalogue, conf_file, smb_conf
from forms.tuning.catalogue import CatalogueEntry
from storage.looks import AuditedSetting

_DEFAULTS = {
    "smb2 leases": "yes",
    "read only": "yes",
    "clustering": "no",
    "allow insecure wide links": "no",
    "smb1 unix extensions": "yes",
}
"""Of settings on which a judgement depends and which the catalogue does not describe."""


class Configuration:
    def __init__(self, conf: conf_file.SmbConfFile) -> None:
        self.settings = conf.settings
        self.last = {(setting.section, smb_conf.parameter_key(setting.name)): setting for setting in conf.settings}
        """By section and parameter the line that counts: of several the last one."""
        self.shares = tuple(dict.fromkeys(setting.section for setting in conf.settings if setting.section != "global"))
        """The names of their sections."""

    def in_effect(self, section: str, name: str) -> str:
        """A parameter's value in a section: its own, [global]'s or the default; "" where unknown."""
        key = smb_conf.parameter_key(name)
        setting = self.last.get((section, key)) or self.last.get(("global", key))
        if setting is not None:
            return meant_value(setting)

        full_name = smb_conf.spelling(name).name
        entry = catalogue_entry(full_name)
        if entry is None:
            return _DEFAULTS.get(full_name, "")
        return entry.default or ""

    def sections_of(self, setting: AuditedSetting) -> Sequence[str]:
        """Where a line acts: its section; in [global] every share that does not set the parameter itself."""
        parameter = smb_conf.spelling(setting.name).parameter
        if setting.section != "global" or parameter is None or parameter.scope == "global":
            return [setting.section]
        key = smb_conf.parameter_key(setting.name)
        return [share for share in self.shares if (share, key) not in self.last] or ["global"]

    def has_all(self, section: str, conditions: Mapping[str, Sequence[str]]) -> bool:
        """Whether each parameter has one of the values that the conditions give for it."""
        return all(self._has(section, name, values) for name, values in conditions.items())

    def has_any(self, section: str, conditions: Mapping[str, Sequence[str]]) -> bool:
        return any(self._has(section, name, values) for name, values in conditions.items())

    def _has(self, section: str, name: str, values: Sequence[str]) -> bool:
        full_name = smb_conf.spelling(name).name
        in_effect = self.in_effect(section, name)
        return any(smb_conf.same_value(full_name, in_effect, value) for value in values)


def meant_value(setting: AuditedSetting) -> str:
    """The value for the parameter's own name: ``writeable = yes`` means ``read only = no``."""
    if smb_conf.spelling(setting.name).opposite:
        return smb_conf.opposite_value(setting.value)
    return setting.value


def is_default(name: str, value: str) -> bool:
    entry = catalogue_entry(name)
    return entry is not None and entry.default is not None and smb_conf.same_value(name, value, entry.default)


@cache
def catalogue_entry(name: str) -> CatalogueEntry | None:
    """What the catalogue says of just that parameter."""
    key = smb_conf.parameter_key(name)
    entries = catalogue.about(name)
    return next((entry for entry in entries if smb_conf.parameter_key(entry.parameter) == key), None)


def version_numbers(text: str) -> tuple[int, ...]:
    """The numbers that a version begins with, to compare; empty where it begins with none."""
    match = re.match(r"(\d+(?:\.\d+)*)", text)
    return tuple(int(part) for part in match[1].split(".")) if match else ()
