"""The one change of the next round: whether it can be made here, and what it sets.

Most changes are settings of the server, which the user makes by hand or a trial makes. sharebench's own settings, such
as the size of a block, it changes by itself, since its client measures: they become options of the series.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from app.base.errors import UsageError
from app.base.units import parse_size
from app.clients.base import OWN
from app.method.choices import GuideChoices, next_round
from app.recording.spec import with_values
from forms import wording
from forms.tuning.smb_conf import tidy_value
from storage.records import Command, Series, to_minute


class _OwnSetting(NamedTuple):
    """A setting of sharebench's own client that can be changed."""

    option: str
    """The field of the series' spec that it sets."""
    parse: Callable[[str], object]
    """Makes that field's value of the text typed. Raises UsageError."""
    ability: str = ""
    """The attribute of a protocol that must be true for it; empty where every protocol has it."""


def _parse_count(value: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise UsageError(f"in-flight = {value}: a whole number from 1 on is needed")
    return int(value)


def _parse_switch(value: str) -> bool:
    words = {"required": "yes", "mandatory": "yes", "default": "no"}
    word = words.get(value.lower(), tidy_value("", value))
    if word not in ("yes", "no"):
        raise UsageError(f"{value!r} is neither yes nor no")
    return word == "yes"


_OWN_SETTINGS: Mapping[str, _OwnSetting] = {
    "in-flight": _OwnSetting("in_flight", _parse_count, "has_depth"),
    "block": _OwnSetting("block_bytes", parse_size),
    "client encrypt": _OwnSetting("encrypt", _parse_switch, "has_dialect"),
    "client sign": _OwnSetting("sign", _parse_switch, "has_dialect"),
    "flush": _OwnSetting("flush", _parse_switch, "can_flush"),
}
OWN_CHANGES = tuple(_OWN_SETTINGS)
"""The names of the settings that sharebench changes by itself."""


def change_one_thing(choices: GuideChoices, series: Series, name: str, value: str) -> GuideChoices:
    """The next round with that one change, ``series`` being its base. Raises UsageError where it cannot be made."""
    if name in _OWN_SETTINGS:
        _check_client(choices, series, name)
    options = _options_of(name, value)
    _check_session(series, name, options)

    # However it was typed (required, true, …), a switch is recorded as yes or no.
    switch = next((option for option in options.values() if isinstance(option, bool)), None)
    if switch is not None:
        value = "yes" if switch else "no"

    experiment = choices.spec.lineage.experiment or series.experiment or _new_experiment_name(series)
    round_with_change = next_round(choices, name, value, experiment)
    return replace(round_with_change, spec=with_values(round_with_change.spec, options))


def option_of(name: str) -> str:
    """The field of the series' spec that a change of that name sets; empty for a setting of the server."""
    return _OWN_SETTINGS[name].option if name in _OWN_SETTINGS else ""


def _options_of(name: str, value: str) -> dict[str, Any]:
    """The values of the spec's fields for a change of an own setting; none for another name. Raises UsageError."""
    if name not in _OWN_SETTINGS:
        return {}
    setting = _OWN_SETTINGS[name]
    return {setting.option: setting.parse(value)}


def _check_client(choices: GuideChoices, series: Series, name: str) -> None:
    """Raises UsageError where the protocol or the client that measures has no such setting."""
    ability = _OWN_SETTINGS[name].ability
    abilities = series.target.abilities
    if ability and not getattr(abilities, ability):
        raise UsageError(f"{abilities.label} has no such thing as {name}: leave it as it is")
    client = choices.spec.client or series.client.name
    if client != OWN:
        raise UsageError(f"{name} is a setting of sharebench's own client, and {client} measures here")


def _check_session(series: Series, name: str, options: Mapping[str, Any]) -> None:
    """Raises UsageError for what a session like that of the series cannot do."""
    if options.get("flush") and series.command is Command.GET:
        raise UsageError("a get writes nothing that could be flushed: measure a put first")

    is_guest = series.environment.get("path", {}).get("smb.guest") == "yes"
    if (options.get("encrypt") or options.get("sign")) and is_guest:
        raise UsageError(f"{name} needs a login: a guest session can be neither signed nor encrypted")
    if not options.get("encrypt"):
        return
    if series.environment.get("server", {}).get("smb.conf/global/server smb encrypt") == "off":
        raise UsageError(f"{name} cannot work here: the server has smb encrypt = off")
    if (series.client.dialect or "3") < "3":
        raise UsageError(f"{name} needs SMB 3: the server spoke SMB {wording.plain(series.client.dialect or '')}")


def _new_experiment_name(series: Series) -> str:
    place = wording.plain(series.target.host or series.target.path)
    return f"{series.target.protocol} {series.command} {place} {to_minute(series.created_at)}"
