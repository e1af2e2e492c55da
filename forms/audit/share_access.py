"""What a server's own settings say of a share that it does not open, or does not open to a user.

The status of such a refusal is the same whatever its cause. So a setting that may refuse is named as one that may, and
only what is certain, such as a folder that is not there, is called the cause.
"""

from collections.abc import Iterator, Sequence

from forms import wording
from forms.audit.host_findings import denies_everybody
from forms.audit.module_findings import AUDITED_OPERATIONS, loaded_by, miswritten_modules, unknown_operations
from forms.audit.start_findings import is_character_set
from forms.tuning import fact_names, smb_conf, smb_values
from forms.tuning.differences import effective
from storage.records import Facts

_MAY_REFUSE = ("hosts allow", "hosts deny", "valid users", "invalid users")
"""Parameters that refuse whom they do not let in, wherever they have a value."""

_ENCRYPTION = "server smb encrypt"

_SCRIPTS = ("preexec", "root preexec")
"""Each refuses if it fails and its ``… close`` is set."""


_DIALECTS_BEFORE_SMB_2 = frozenset({"NT1", "LANMAN1", "LANMAN2", "CORE", "COREPLUS"})
"""As ``server max protocol`` names them."""
_DIALECTS_WITHOUT_ENCRYPTION = _DIALECTS_BEFORE_SMB_2 | {"SMB2", "SMB2_02", "SMB2_10"}
"""Encryption came with SMB 3."""

_AGAINST_WRITING = frozenset({"readonly", "worm"})
"""Modules that refuse what changes a file."""

_YES = frozenset({"yes", "true", "1", "on"})
"""As Samba reads the option of a module."""

_RIGHTS_OF_OTHERS = slice(7, 10)
"""In ``drwxr-x--x``."""

_BOUND = "bind interfaces only"

_OF_A_DOMAIN = frozenset({"ads", "domain"})

_NO_LIMIT = "0"
"""The default of ``max connections``."""


def login_refusing_settings(server: Facts) -> list[str]:
    """The settings that may refuse a login before any share is asked for; empty where none is known."""
    settings = []
    value = effective(server, _ENCRYPTION, in_share=False) or ""
    if smb_conf.tidy_value(_ENCRYPTION, value) == "required":
        settings.append(f"{_ENCRYPTION} = required, which no guest can do")

    settings += settings_about_users(server)
    charset = effective(server, "unix charset", in_share=False) or ""
    if charset and not is_character_set(charset):
        settings.append(f"unix charset = {charset}, which is no known character set")
    return settings


def settings_about_users(server: Facts) -> list[str]:
    """The settings by which a server may not know a user that it should; empty where none is known."""
    settings = []
    for line in fact_names.lines_of_fact(server, fact_names.ACCOUNTS_MISSING):
        if line.startswith(("username map", "passdb backend")):
            settings.append(f"{line}, which is not there")

    security = (effective(server, "security", in_share=False) or "").lower()
    if security in _OF_A_DOMAIN:
        settings.append(f"security = {security}, for which the server must have joined a domain")
    return settings


def settings_against_listening(server: Facts) -> list[str]:
    """The settings by which smbd may not listen at the address, or not start; empty where none is known."""
    settings = []
    interfaces = effective(server, "interfaces", in_share=False) or ""
    is_bound = smb_conf.tidy_value(_BOUND, effective(server, _BOUND, in_share=False) or "") == "yes"
    if interfaces and is_bound:
        missing = fact_names.lines_of_fact(server, fact_names.INTERFACES_MISSING)
        absence = f", and the server has no {wording.listed(missing, 'or')}" if missing else ""
        settings.append(f"interfaces = {interfaces}, on which alone smbd listens{absence}")
    for line in fact_names.lines_of_fact(server, fact_names.ACCOUNTS_MISSING):
        if line.startswith("guest account"):
            settings.append(f"{line}, which the server does not know, so that smbd does not start")
    return settings


def hang_up_settings(server: Facts) -> list[str]:
    """The settings by which a server may hang up before it answers; empty where none is known."""
    settings = []
    for parameter in ("hosts allow", "hosts deny"):
        value = effective(server, parameter, in_share=False) or effective(server, parameter)
        if value:
            settings.append(f"{parameter} = {value}")

    root = effective(server, "root directory", in_share=False) or ""
    if root.strip("/"):
        settings.append(f"root directory = {root}")

    dialect = effective(server, "server max protocol", in_share=False) or ""
    if dialect.upper() in _DIALECTS_BEFORE_SMB_2:
        settings.append(f"server max protocol = {dialect}")

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


def settings_that_may_close(server: Facts) -> list[str]:
    """The settings by which a share may not open to anybody, or not just now; empty where none is known."""
    settings = []
    path = effective(server, "path") or ""
    if "%" in path:
        settings.append(f"path = {path}, which is another folder for each user or client")

    for parameter in ("force user", "force group", "vfs objects"):
        value = effective(server, parameter)
        if value:
            settings.append(f"{parameter} = {value}")

    most_sessions = effective(server, "max connections") or _NO_LIMIT
    if most_sessions.strip() != _NO_LIMIT:
        settings.append(f"max connections = {most_sessions}")
    return settings


def settings_that_may_stall(server: Facts) -> list[str]:
    """The settings with something that smbd waits for before it opens the share; empty where none is known."""
    settings = []
    for script in _SCRIPTS:
        command = effective(server, script)
        if command:
            settings.append(f"{script} = {command}, which each connection waits for")
    if _tidy_value(server, "hostname lookups") == "yes":
        settings.append("hostname lookups = yes, which waits for a name server")
    return settings


def settings_against_writing(server: Facts, path: str) -> list[str]:
    """The settings of a share that may refuse a new file at that path to this user; empty where none is known."""
    settings = []
    if _tidy_value(server, "read only") == "yes":
        settings.append("read only = yes")

    read_list = effective(server, "read list")
    if read_list:
        settings.append(f"read list = {read_list}")

    modules = [module for module in loaded_by(effective(server, "vfs objects") or "") if module in _AGAINST_WRITING]
    if modules:
        settings.append(f"vfs objects = {' '.join(modules)}")
    hidden = effective(server, "veto files")
    if hidden and smb_conf.hiding_pattern(hidden, path):
        settings.append(f"veto files = {hidden}")
    return settings


def rights_that_may_refuse(server: Facts, *, writing: bool) -> list[str]:
    """The rights of the share's folder, and of those above it, that may refuse a user; empty where none is known."""
    rights = []
    above = server.get(fact_names.FOLDER_CLOSED_ABOVE)
    if above:
        mode, _, path = str(above).partition(" ")
        rights.append(f"the rights of {path} ({mode}), through which not every user gets")

    mode_of_folder = str(server.get(fact_names.FOLDER_RIGHTS, ""))
    of_others = mode_of_folder[_RIGHTS_OF_OTHERS].replace("t", "x")
    may_do_it = of_others[1:] == "wx" if writing else of_others[::2] == "rx"
    if mode_of_folder and not may_do_it:
        rights.append(f"the rights of the share's folder ({mode_of_folder})")
    return rights


def recycle_folder(server: Facts, path: str) -> str | None:
    """The folder of the share into which what is removed from the folder ``path`` goes; None where it is gone at once.

    Source: vfs_recycle(8).
    """
    if "recycle" not in loaded_by(effective(server, "vfs objects") or ""):
        return None
    repository = (effective(server, "recycle:repository") or ".recycle").strip("/")
    keeps_tree = (effective(server, "recycle:keeptree") or "").strip().lower() in _YES
    return f"{repository}/{path.strip('/')}".rstrip("/") if keeps_tree else repository


def possible_text(settings: Sequence[str]) -> str:
    """That each of these settings may be the cause."""
    count = "this" if len(settings) == 1 else "one of these"
    return f"possibly {count}, by what is set on the server: {'; '.join(settings)}"


def reasons_not_opened(server: Facts) -> list[str]:
    """Why the server cannot open the share, a clause each: what is certain; empty where nothing is."""
    return [reason for _, _, reason in certain_causes(server)]


def certain_causes(server: Facts) -> Iterator[tuple[str, str, str]]:
    """(parameter, its value, what is wrong with it) of each setting by which nobody can open the share."""
    missing_folder = server.get(fact_names.FOLDER_MISSING)
    if missing_folder:
        in_its_place = server.get(fact_names.FOLDER_IS)
        state = f"is {in_its_place}" if in_its_place else "does not exist on the server"
        yield "path", str(missing_folder), f"path = {missing_folder} {state}"

    yield from _missing_accounts(server)

    if _tidy_value(server, "available") == "no":
        # testparm prints so of a share without a path, too, whatever its line says.
        if effective(server, "path") == "" and not effective(server, "msdfs proxy"):
            yield "no path", "", "it has no path, so that Samba takes it out of service"
        else:
            yield "available", "no", "available = no takes the share out of service"

    modules = effective(server, "vfs objects") or ""
    for entry in miswritten_modules(modules):
        yield "module", entry, f"vfs objects = {entry}: the server has {entry.lower()}, in small letters"
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

    yield from _closed_to_everybody(server)
    yield from _impossible_encryption(server)

    proxy = effective(server, "msdfs proxy")
    if proxy and _tidy_value(server, "host msdfs") != "no":
        yield "msdfs proxy", proxy, f"msdfs proxy = {proxy} sends clients to another server"


def _missing_accounts(server: Facts) -> Iterator[tuple[str, str, str]]:
    """The users and groups that the server does not know and that all are to act as in the share."""
    missing = fact_names.lines_of_fact(server, fact_names.ACCOUNTS_MISSING)
    for parameter, kind in (("force user", "user"), ("force group", "group")):
        name = effective(server, parameter)
        if name and f"{parameter} = {name}" in missing:
            yield parameter, name, f"{parameter} = {name}, and the server knows no such {kind}"


def _closed_to_everybody(server: Facts) -> Iterator[tuple[str, str, str]]:
    """That all addresses are denied and none is allowed, in [global] or in the share."""
    for in_share in (False, True):
        denied = effective(server, "hosts deny", in_share=in_share) or ""
        allowed = effective(server, "hosts allow", in_share=in_share) or ""
        if denies_everybody(smb_values.entries_of_list(denied)) and not allowed.strip():
            yield "hosts deny", denied, f"hosts deny = {denied} keeps everybody out, and hosts allow lets nobody in"
            return


def _impossible_encryption(server: Facts) -> Iterator[tuple[str, str, str]]:
    """That the share wants encryption, which the server has switched off, or cannot do by its newest dialect."""
    if _tidy_value(server, _ENCRYPTION) != "required":
        return

    of_server = smb_conf.tidy_value(_ENCRYPTION, effective(server, _ENCRYPTION, in_share=False) or "")
    dialect = (effective(server, "server max protocol", in_share=False) or "").upper()
    demand = f"{_ENCRYPTION} = required"
    if of_server == "no":
        yield _ENCRYPTION, "required", f"{demand} in the share, and {_ENCRYPTION} = off in [global]"
    elif dialect in _DIALECTS_WITHOUT_ENCRYPTION:
        yield _ENCRYPTION, "required", f"{demand}, which server max protocol = {dialect} cannot do"


def _missing_module(warning: str) -> str:
    """The module of a warning that there is none of that name; empty for another warning."""
    setting, separator, text = warning.partition(": ")
    if not separator or not text.startswith("there is no such module"):
        return ""
    _, _, module = setting.partition(" = ")
    return module


def _tidy_value(server: Facts, parameter: str) -> str:
    return smb_conf.tidy_value(parameter, effective(server, parameter) or "")
