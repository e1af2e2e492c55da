"""The settings of an smb.conf as smbd acts on them: its own values, those of [global], and defaults."""

from collections.abc import Mapping, Sequence
from functools import cache

from forms.audit import testparm_dump
from forms.tuning import catalogue, conf_file, log_levels, smb_conf, smb_values
from forms.tuning.catalogue import CatalogueEntry
from forms.tuning.samba_parameters import MEASURED, Version
from storage.looks import AuditedSetting


class Configuration:
    """An smb.conf; ``version`` is the Samba that reads it: if unknown, a dump tells it, else it is None."""

    def __init__(self, conf: conf_file.SmbConfFile, version: Version | None) -> None:
        self.settings = conf.settings
        self.is_dump = testparm_dump.is_dump(conf.settings)
        self.is_partly_unread = bool(conf.unread)
        if version is None and self.is_dump:
            version = testparm_dump.version_of_dump(conf.settings)
        self.version = version
        self.last = {(setting.section, smb_conf.parameter_key(setting.name)): setting for setting in conf.settings}
        """By section and parameter the line that counts: of several the last one."""
        self.shares = tuple(dict.fromkeys(setting.section for setting in conf.settings if setting.section != "global"))
        """The names of their sections."""
        self._places = {id(setting): place for place, setting in enumerate(conf.settings)}
        self._beginnings: dict[str, int] = {}
        self._global_lines: dict[str, list[AuditedSetting]] = {}
        for place, setting in enumerate(conf.settings):
            self._beginnings.setdefault(setting.section, place)
            if setting.section == "global":
                self._global_lines.setdefault(smb_conf.parameter_key(setting.name), []).append(setting)

    def in_effect(self, section: str, name: str) -> str:
        """A parameter's value in a section: its own, that of the share that it copies, [global]'s or the default; ""
        where unknown.
        """
        setting = self._setting_in_effect(section, name)
        if setting is not None:
            return meant_value(setting)

        parameter = smb_conf.spelling(name).parameter
        default = parameter.default_in(self.version or MEASURED) if parameter else None
        return default or ""

    def _setting_in_effect(self, section: str, name: str) -> AuditedSetting | None:
        own = self.last.get((section, smb_conf.parameter_key(name)))
        return own if own is not None else self._inherited_setting(section, name)

    def _inherited_setting(self, section: str, name: str) -> AuditedSetting | None:
        """What a section has of a parameter without a line of its own: of the share that it copies, or of [global]."""
        key = smb_conf.parameter_key(name)
        seen_sections = {section}
        copied = self._copied_section(section)
        while copied is not None and copied not in seen_sections:
            line = self.last.get((copied, key))
            if line is not None:
                return line
            seen_sections.add(copied)
            copied = self._copied_section(copied)

        of_global = self._global_lines.get(key, ())
        # Each share begins with what [global] has set by then; only options of modules are looked up later.
        in_time = [line for line in of_global if ":" in name or self.holds_for(line, section)]
        return in_time[-1] if in_time else None

    def _copied_section(self, section: str) -> str | None:
        copy = self.last.get((section, "copy"))
        return copy.value.lower() if copy else None

    def holds_for(self, setting: AuditedSetting, share: str) -> bool:
        """Whether a line of [global] stands before the share's section, which takes what is set by then."""
        return share == "global" or self._places[id(setting)] < self._beginnings.get(share, len(self.settings))

    def can_copy(self, setting: AuditedSetting) -> bool:
        """Whether a ``copy`` line stands in a share and names another one that begins before it."""
        copied = setting.value.lower()
        if "global" in (setting.section, copied) or setting.section == copied:
            return False
        return self._beginnings.get(copied, len(self.settings)) < self._places[id(setting)]

    def sections_of(self, setting: AuditedSetting) -> Sequence[str]:
        """Where a line acts: its section; in [global] every share that does not set the parameter itself."""
        parameter = smb_conf.spelling(setting.name).parameter
        is_option = ":" in setting.name
        is_for_shares = is_option or (parameter is not None and parameter.scope != "global")
        if setting.section != "global" or not is_for_shares:
            return [setting.section]
        key = smb_conf.parameter_key(setting.name)
        return [
            share
            for share in self.shares
            if (share, key) not in self.last and (is_option or self.holds_for(setting, share))
        ] or ["global"]

    def overrides_another(self, setting: AuditedSetting) -> bool:
        """Whether a share's line brings back what [global], or the share that it copies, sets otherwise."""
        if setting.section == "global":
            return False
        other = self._inherited_setting(setting.section, setting.name)
        if other is None:
            return False
        name = smb_conf.spelling(setting.name).name
        return not smb_conf.same_value(name, meant_value(setting), meant_value(other))

    def is_default(self, setting: AuditedSetting) -> bool:
        """Whether the server is the same without the line, as far as the catalogue tells of its parameter."""
        name = smb_conf.spelling(setting.name).name
        entry = catalogue_entry(name)
        if entry is None or entry.default is None or self.overrides_another(setting):
            return False
        return smb_conf.is_default(name, meant_value(setting), self.version)

    def is_printed_default(self, setting: AuditedSetting) -> bool:
        """Whether it is a line of a dump that nobody wrote: a default, or what only its newer Samba knows."""
        parameter = smb_conf.spelling(setting.name).parameter
        if not self.is_dump or ":" in setting.name:
            return False
        if parameter is None or not parameter.defaults:
            return True
        defaults = parameter.possible_defaults(self.version or MEASURED)
        return any(smb_conf.same_value(parameter.name, meant_value(setting), default) for default in defaults)

    def has_all(self, section: str, conditions: Mapping[str, Sequence[str]]) -> bool:
        """Whether each parameter has one of the values that the conditions give for it."""
        return all(self._has(section, name, values) for name, values in conditions.items())

    def has_any(self, section: str, conditions: Mapping[str, Sequence[str]]) -> bool:
        return any(self._has(section, name, values) for name, values in conditions.items())

    def has_somewhere(self, conditions: Mapping[str, Sequence[str]]) -> bool:
        """Whether any section has one of the values that the conditions give for a parameter."""
        if self.has_any("global", conditions):
            return True
        wanted = {smb_conf.parameter_key(name): values for name, values in conditions.items()}
        return any(_is_one_of(setting, wanted[key]) for (_section, key), setting in self.last.items() if key in wanted)

    def has_words(self, section: str, words: Mapping[str, str]) -> bool:
        """Whether each parameter has, as a list of words, the one that is given for it."""
        return all(
            word in smb_values.entries_of_list(self.in_effect(section, name).lower()) for name, word in words.items()
        )

    def _has(self, section: str, name: str, values: Sequence[str]) -> bool:
        full_name = smb_conf.spelling(name).name
        in_effect = self.in_effect(section, name)
        if full_name == "log level":
            # No message of Samba is of a higher level than 10.
            in_effect = str(min(log_levels.highest_log_level(in_effect), 10))
        return any(smb_conf.same_value(full_name, in_effect, value) for value in values)


def _is_one_of(setting: AuditedSetting, values: Sequence[str]) -> bool:
    name = smb_conf.spelling(setting.name).name
    return any(smb_conf.same_value(name, meant_value(setting), value) for value in values)


def meant_value(setting: AuditedSetting) -> str:
    """The value for the parameter's own name: ``writeable = yes`` means ``read only = no``."""
    if smb_conf.spelling(setting.name).opposite:
        return smb_conf.opposite_value(setting.value)
    return setting.value


@cache
def catalogue_entry(name: str) -> CatalogueEntry | None:
    """What the catalogue says of just that parameter."""
    key = smb_conf.parameter_key(name)
    entries = catalogue.about(name)
    return next((entry for entry in entries if smb_conf.parameter_key(entry.parameter) == key), None)
