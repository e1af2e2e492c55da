"""Whether what a setting needs in order to act is so on the server, as far as other settings tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from forms import wording
from forms.tuning import samba_parameters, smb_conf
from forms.tuning.catalogue import CatalogueEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInEffect:
    """What the server had of a setting when its settings were read last."""

    value: str
    origin: str
    """Where it comes from, in words: ``the default``."""


class Condition(StrEnum):
    """Whether a setting can act."""

    MET = "met"
    NOT_MET = "not met"
    UNKNOWN = "unknown"
    """It depends on more than settings, such as what the client asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededSettings:
    """What a setting needs, and whether that is so."""

    condition: Condition
    state: str
    """What the settings that are needed are, as a clause; empty where no setting is."""
    sentence: str
    """For somebody who is about to set the value."""


def needed_settings(entry: CatalogueEntry, value: str, read: Mapping[str, SettingInEffect]) -> NeededSettings | None:
    """What must hold for that value to act; None where nothing must, as for a default.

    ``read`` has what the server has of the settings that are needed, by their names; empty where that was not read.
    """
    if not entry.needs.text or is_default_of(entry, value):
        return None

    options = entry.needs.options
    unmet = [option for option, needed in options.items() if not _is_met(option, needed, read)]
    unless = f"Does nothing unless {entry.needs.text}"
    if unmet:
        state = _state_text(unmet, read)
        return NeededSettings(condition=Condition.NOT_MET, state=state, sentence=f"{unless}: {state}.")

    state = _state_text(list(options), read)
    if not options:
        return NeededSettings(condition=Condition.UNKNOWN, state="", sentence=f"{unless}.")
    if entry.needs.is_more_than_options:
        return NeededSettings(condition=Condition.UNKNOWN, state=state, sentence=f"{unless}; {state}.")
    return NeededSettings(condition=Condition.MET, state=state, sentence=f"It acts, as {state}.")


def is_default_of(entry: CatalogueEntry, value: str) -> bool:
    """Whether the value is what the setting has without a line: for that nothing must hold."""
    return entry.default is not None and smb_conf.same_value(entry.parameter, value, entry.default)


def needs_text(entry: CatalogueEntry, value: str, read: Mapping[str, SettingInEffect]) -> str:
    """What the entry needs, also where the value does not; empty where it needs nothing."""
    if not entry.needs.text:
        return ""

    needed = needed_settings(entry, value, read)
    if needed is None:
        options = list(entry.needs.options)
        state = f"; {_state_text(options, read)}" if options else ""
        return f"Nothing for {value or '(empty)'}. Another value does nothing unless {entry.needs.text}{state}."

    unless = f"Does nothing unless {entry.needs.text}"
    return f"{unless}; {needed.state}." if needed.state else f"{unless}."


def _is_met(option: str, needed: str, read: Mapping[str, SettingInEffect]) -> bool:
    """By what was read of the option; else by the default of the newest Samba."""
    setting = read.get(option)
    value = default_of(option) if setting is None else setting.value
    return value is not None and smb_conf.same_value(option, value, needed)


def default_of(option: str, version: samba_parameters.Version | None = None) -> str | None:
    """The default in that version of Samba, by default the newest; None where it is not known."""
    parameter = smb_conf.spelling(option).parameter
    return parameter.default_in(version or smb_conf.parameter_table().newest) if parameter is not None else None


def _state_text(options: list[str], read: Mapping[str, SettingInEffect]) -> str:
    """``strict sync is on here (the default)``; ``strict sync is on by default (the settings were not read)``."""
    states = []
    for option in options:
        setting = read.get(option)
        if setting is None:
            states.append(f"{option} is {_word_of(default_of(option) or '')} by default")
        else:
            states.append(f"{option} is {_word_of(setting.value)} here ({setting.origin})")
    is_all_read = all(option in read for option in options)
    return wording.listed(states) if is_all_read else f"{wording.listed(states)} (the settings were not read)"


def _word_of(value: str) -> str:
    """``on`` and ``off`` for yes and no."""
    if not smb_conf.is_switch_word(value) or value.strip() in ("0", "1"):
        return wording.plain(value) or "empty"
    return "off" if smb_conf.opposite_value(value) == "yes" else "on"
