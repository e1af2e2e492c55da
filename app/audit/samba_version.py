"""The version of Samba that an audit judges for, where no server tells it: what somebody told, or what a dump shows."""

from app.base.errors import UsageError
from forms.audit import testparm_dump
from forms.tuning import fact_names
from forms.tuning.conf_file import SmbConfFile
from forms.tuning.samba_parameters import short_version, version_numbers
from storage.records import Facts, FactValue


def told_facts(server_facts: Facts, told_version: str) -> dict[str, FactValue]:
    """The version that somebody told, as a fact. Raises UsageError if the server says another one."""
    if not told_version:
        return {}
    read_version = str(server_facts.get(fact_names.SAMBA_VERSION, ""))
    read_numbers = version_numbers(read_version)[:2]
    if read_numbers and read_numbers != version_numbers(told_version)[:2]:
        raise UsageError(
            f"the server has Samba {read_version}, not {told_version}; to judge its smb.conf for another version, copy"
            " it and audit the copy with --smb-conf FILE, without a target"
        )
    return {fact_names.SAMBA_VERSION: told_version}


def facts_of_file(conf: SmbConfFile, told_version: str) -> dict[str, FactValue]:
    """The version that somebody told, else that of a dump of all parameters, as a fact; none where neither is there."""
    version = told_version
    if not version and testparm_dump.is_dump(conf.settings):
        version = short_version(testparm_dump.version_of_dump(conf.settings))
    return {fact_names.SAMBA_VERSION: version} if version else {}
