"""Tells what ``testparm -v`` prints from what an admin wrote: a dump has every parameter, most with its default."""

from collections.abc import Iterable, Iterator, Mapping

from forms.tuning import smb_conf
from forms.tuning.samba_parameters import Parameter, Version
from storage.looks import AuditedSetting

_LEAST_SHARE = 0.5
"""Of all parameters, that a dump has in [global]; it has all of its version, and nobody writes that many."""


def is_dump(settings: Iterable[AuditedSetting]) -> bool:
    return len(_values_by_key(settings)) >= _LEAST_SHARE * len(smb_conf.parameters())


def version_of_dump(settings: Iterable[AuditedSetting]) -> Version:
    """The version of Samba whose parameters and defaults fit best to a dump; of several that fit, the newest."""
    values = _values_by_key(settings)

    def fit(version: Version) -> tuple[int, int, Version]:
        parameters = [parameter for parameter in smb_conf.parameters() if parameter.is_in(version)]
        present = [parameter for parameter in parameters if smb_conf.squeeze(parameter.name) in values]
        # What the version has and the dump does not counts against it, as what only the dump has.
        strangers = len(parameters) + len(values) - 2 * len(present)
        defaults = sum(_has_default(parameter, values, version) for parameter in present)
        return -strangers, defaults, version

    return max(_versions(), key=fit)


def _versions() -> Iterator[Version]:
    """All versions from the oldest that was read to the newest."""
    table = smb_conf.parameter_table()
    major, oldest = table.oldest
    for minor in range(oldest, table.newest[1] + 1):
        yield major, minor


def _values_by_key(settings: Iterable[AuditedSetting]) -> dict[str, str]:
    """The values of Samba's own parameters in [global], by squeezed name as it is written."""
    return {
        smb_conf.squeeze(setting.name): setting.value
        for setting in settings
        if setting.section == "global" and ":" not in setting.name
    }


def _has_default(parameter: Parameter, values: Mapping[str, str], version: Version) -> bool:
    value = values[smb_conf.squeeze(parameter.name)]
    return smb_conf.same_value(parameter.name, value, parameter.default_in(version) or "")
