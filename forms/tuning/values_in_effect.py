"""What a server has of the settings that are worth trying."""

from dataclasses import dataclass

from forms.tuning import catalogue, fact_names, samba_parameters
from forms.tuning.differences import effective
from forms.tuning.smb_conf import same_value, spelling
from storage.records import Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueInEffect:
    """What a server has of a setting."""

    entry: catalogue.CatalogueEntry
    value: str
    default: str
    """That of its Samba."""

    @property
    def is_default(self) -> bool:
        return same_value(self.entry.parameter, self.value, self.default)


def values_that_matter(facts: Facts) -> list[ValueInEffect]:
    """What was read of the settings worth trying, in the catalogue's order."""
    version = fact_names.samba_version(facts) or samba_parameters.MEASURED
    matter = []
    parameters: set[str] = set()
    for entry in catalogue.entries():
        # Of several entries for a parameter the first one is about its value in general.
        if not entry.worth_trying or entry.parameter in parameters:
            continue
        parameters.add(entry.parameter)
        value = effective(facts, entry.parameter, in_share=entry.scope != "global")
        if value is not None:
            matter.append(ValueInEffect(entry=entry, value=value, default=_default_in(entry, version)))
    return matter


def _default_in(entry: catalogue.CatalogueEntry, version: samba_parameters.Version) -> str:
    """The default of that version, or where it is not known the catalogue's."""
    parameter = spelling(entry.parameter).parameter
    default = parameter.default_in(version) if parameter else None
    return (entry.default or "") if default is None else default
