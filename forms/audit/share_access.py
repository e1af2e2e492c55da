"""What a server's own settings say of a share that it does not open, or does not open to a user.

The status of such a refusal is the same whatever its cause. So a setting that may refuse is named as one that may, and
only what is certain, such as a folder that is not there, is called the cause.
"""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.audit.module_findings import AUDITED_OPERATIONS, loaded_by, unknown_operations
from forms.tuning import fact_names, smb_conf
from forms.tuning.differences import effective
from storage.records import Facts

_MAY_REFUSE = ("hosts allow", "hosts deny", "valid users", "invalid users")
"""Parameters that refuse whom they do not let in, wherever they have a value."""

_ENCRYPTION = "server smb encrypt"

_SCRIPTS = ("preexec", "root preexec")
"""Each refuses if it fails and its ``… close`` is set."""


def login_refusing_settings(server: Facts) -> list[str]:
    """The settings that may refuse a guest's login before any share is asked for; empty where none is known."""
    value = effective(server, _ENCRYPTION, in_share=False) or ""
    return [f"{_ENCRYPTION} = required"] if smb_conf.tidy_value(_ENCRYPTION, value) == "required" else []


def hang_up_settings(server: Facts) -> list[str]:
    """The settings by which a server may hang up before it answers; empty where none is known."""
    settings = []
    for parameter in ("hosts allow", "hosts deny"):
        value = effective(server, parameter, in_share=False) or effective(server, parameter)
        if value:
            settings.append(f"{parameter} = {value}")

    # 0, the default, means any number of them.
    most_processes = effective(server, "max smbd processes", in_share=False) or "0"
    if most_processes.strip() != "0":
        settings.append(f"max smbd processes = {most_processes}")
    return settings


def refusing_settings(server: Facts, *, is_guest: bool) -> list[str]:
    """The settings that may refuse the share to this user, as ``hosts deny = ALL``; empty where none is known."""
    settings = []
    if is_guest and _tidy_value(server, "guest ok") == "no":
        settings.append("guest ok = no")

    for parameter in _MAY_REFUSE:
        value = effective(server, parameter)
        if value:
            settings.append(f"{parameter} = {value}")

    for script in _SCRIPTS:
        command = effective(server, script)
        if command and _tidy_value(server, f"{script} close") == "yes":
            settings.append(f"{script} = {command}, with {script} close = yes")

    # A guest has no key, so that nothing of its session can be encrypted.
    if is_guest and _tidy_value(server, _ENCRYPTION) == "required":
        settings.append(f"{_ENCRYPTION} = required")
    return settings


def settings_against_writing(server: Facts) -> list[str]:
    """The settings of a share that may refuse a new file to this user; empty where none is known."""
    settings = []
    if _tidy_value(server, "read only") == "yes":
        settings.append("read only = yes")
    read_list = effective(server, "read list")
    if read_list:
        settings.append(f"read list = {read_list}")
    return settings


def possible_text(settings: Sequence[str]) -> str:
    """That each of these settings may be the cause."""
    count = "this" if len(settings) == 1 else "one of these"
    return f"possibly {count}, by the server's settings: {'; '.join(settings)}"


def reasons_not_opened(server: Facts) -> list[str]:
    """Why the server cannot open the share, a clause each: what is certain; empty where nothing is."""
    return [reason for _, _, reason in certain_causes(server)]


def certain_causes(server: Facts) -> Iterator[tuple[str, str, str]]:
    """(parameter, its value, what is wrong with it) of each setting by which nobody can open the share."""
    missing_folder = server.get(fact_names.FOLDER_MISSING)
    if missing_folder:
        yield "path", str(missing_folder), f"path = {missing_folder} does not exist on the server"

    if _tidy_value(server, "available") == "no":
        yield "available", "no", "available = no takes the share out of service"

    modules = effective(server, "vfs objects") or ""
    for warning in fact_names.lines_of_fact(server, fact_names.CONF_WARNINGS):
        module = _missing_module(warning)
        if module and module in loaded_by(modules):
            yield "vfs objects", module, f"vfs objects = {module}: the server has no such module"

    if "full_audit" in loaded_by(modules):
        for option in AUDITED_OPERATIONS:
            value = effective(server, option) or ""
            unknown = unknown_operations(value, fact_names.samba_version(server))
            if unknown:
                yield option, value, f"{option} names {wording.listed(unknown)}, which this Samba does not have"

    proxy = effective(server, "msdfs proxy")
    if proxy:
        yield "msdfs proxy", proxy, f"msdfs proxy = {proxy} sends clients to another server"


def _missing_module(warning: str) -> str:
    """The module of a warning that there is none of that name; empty for another warning."""
    setting, separator, text = warning.partition(": ")
    if not separator or not text.startswith("there is no such module"):
        return ""
    _, _, module = setting.partition(" = ")
    return module


def _tidy_value(server: Facts, parameter: str) -> str:
    return smb_conf.tidy_value(parameter, effective(server, parameter) or "")
