"""Findings of VFS modules: operations that full_audit does not know, options whose module no share loads, and which
modules a share's own list leaves out.
"""

from collections.abc import Collection, Iterator, Sequence

from forms import wording
from forms.audit.configuration import Configuration
from forms.audit.line_finding import line_finding
from forms.tuning import samba_parameters, smb_conf, smb_values, vfs_modules
from storage.looks import AuditedSetting, AuditFinding, Ruling

AUDITED_OPERATIONS = ("full_audit:success", "full_audit:failure")
_EVERY_OPERATION = "all"
_NO_OPERATION = "none"
"""Ends the list: smbd reads nothing behind it."""
_GUARDS = ("audit", "virus", "worm", "acl", "recycle", "snap", "shadow", "readonly", "scan")
"""Parts of the names of modules that record, protect or keep something: a person decides about them."""
_RIVALS = (
    ("streams_xattr", "streams_depot", "streams"),
    ("acl_xattr", "acl_tdb", "permissions"),
    ("shadow_copy2", "shadow_copy", "previous versions"),
)
"""Modules of which one alone can act, with what they keep or show."""
_NOT_FOR_MACS = frozenset({"print$", "printers", "netlogon", "sysvol", "profiles"})
_MOST_SHARES = 4
"""Named in a sentence; more are counted."""


def option_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """What is wrong with an option of a module, such as ``full_audit:success``."""
    prefix = setting.name.partition(":")[0].strip().lower()
    modules = vfs_modules.modules_with_options(prefix)
    if not modules:
        yield from _wrong_prefix_findings(setting, prefix)
        return

    loaded = {module for share in conf.sections_of(setting) for module in loaded_modules(conf, share)}
    if modules.isdisjoint(loaded) and not loaded <= vfs_modules.modules().keys():
        # A module that is not Samba's own may read the options of others.
        return

    shares = [share for share in conf.sections_of(setting) if modules & set(loaded_modules(conf, share))]
    if not shares:
        yield _option_without_module_finding(conf, setting, sorted(modules))
    elif smb_conf.squeeze(setting.name) in AUDITED_OPERATIONS:
        unknown = unknown_operations(setting.value, conf.version)
        if unknown:
            yield _unknown_operation_finding(conf, setting, unknown, shares)


def _wrong_prefix_findings(setting: AuditedSetting, prefix: str) -> Iterator[AuditFinding]:
    """That the options of that module begin with another word than its name."""
    module = vfs_modules.modules().get(prefix)
    if module is None:
        return
    option = setting.name.partition(":")[2].strip()
    reason = f"The options of {prefix} begin with {module.options[0]}, and nothing reads this one."
    instead = f"{module.options[0]}:{option} = {setting.value}"
    yield line_finding(setting, "wrong-prefix", Ruling.MISPLACED, 46, reason, instead=instead)


def module_findings(
    conf: Configuration, setting: AuditedSetting, server_modules: Collection[str]
) -> Iterator[AuditFinding]:
    """What is wrong with ``vfs objects``; ``server_modules`` are those that the server has, empty if unknown."""
    if smb_conf.spelling(setting.name).name != "vfs objects":
        return
    for entry in miswritten_modules(setting.value):
        yield _letter_case_finding(setting, entry)
    if _has_in_wrong_order(setting.value, "streams_xattr", "fruit"):
        yield _wrong_order_finding(setting)
    yield from _double_findings(setting)
    if setting.section != "global" and "fruit" in loaded_by(setting.value):
        yield from _mixture_findings(conf, setting)

    for module in loaded_by(setting.value):
        known = vfs_modules.modules().get(module)
        if module in server_modules:
            continue
        if server_modules:
            yield _missing_module_finding(setting, module)
        elif known is None:
            yield _unknown_module_finding(setting, module)
        elif not known.is_in(conf.version):
            yield _absent_module_finding(conf, setting, known)

    of_global = conf.last.get(("global", smb_conf.parameter_key("vfs objects")))
    if setting.section != "global" and of_global is not None and setting.value:
        left_out = [module for module in loaded_by(of_global.value) if module not in loaded_by(setting.value)]
        if left_out:
            yield _replacing_finding(setting, left_out)


def loaded_by(value: str) -> list[str]:
    """The modules that a value of ``vfs objects`` loads; a path is one of the admin's own, and left out."""
    return [name.lower() for name in _written_modules(value)]


def miswritten_modules(value: str) -> list[str]:
    """Modules of Samba in a value of ``vfs objects`` that are not written in small letters, as their files are."""
    return [
        entry for entry in _written_modules(value) if entry != entry.lower() and entry.lower() in vfs_modules.modules()
    ]


def _written_modules(value: str) -> list[str]:
    # Behind a colon stands the name of one instance.
    names = [entry.partition(":")[0] for entry in smb_values.entries_of_list(value)]
    return [name for name in names if name and "/" not in name]


def loaded_modules(conf: Configuration, section: str) -> list[str]:
    """The modules of a share; in [global] those of all shares without a list of their own."""
    return loaded_by(conf.in_effect(section, "vfs objects"))


def unknown_operations(value: str, version: samba_parameters.Version | None) -> list[str]:
    """The operations in a list of full_audit that a version of Samba does not know; None is an unknown version."""
    unknown = []
    for entry in smb_values.entries_of_list(value):
        name = entry.removeprefix("!").lower()
        if name == _NO_OPERATION:
            break
        operation = vfs_modules.operations().get(name)
        is_known = operation is not None and operation.is_in(version)
        if name != _EVERY_OPERATION and not is_known:
            unknown.append(entry)
    return unknown


def _unknown_operation_finding(
    conf: Configuration, setting: AuditedSetting, unknown: Sequence[str], shares: Sequence[str]
) -> AuditFinding:
    where = _shares_text(setting, shares)
    reason = f"{_samba(conf)} knows no operation {wording.listed(list(unknown))}: every connection to {where} fails."
    if not all(_operations_now(conf, entry) for entry in unknown):
        return line_finding(setting, "unknown-operation", Ruling.HARMFUL, 1000, reason, instead=None)

    entries = []
    for entry in smb_values.entries_of_list(setting.value):
        entries += _operations_now(conf, entry) if entry in unknown else [entry]
    # Several may be one now, as unlink and rmdir are unlinkat.
    instead = f"{setting.name} = {' '.join(dict.fromkeys(entries))}"
    return line_finding(setting, "unknown-operation", Ruling.HARMFUL, 1000, reason, instead=instead)


def _operations_now(conf: Configuration, entry: str) -> list[str]:
    """What took the place of an operation; nothing where that is not known."""
    sign = "!" if entry.startswith("!") else ""
    operation = vfs_modules.operations().get(entry.removeprefix("!").lower())
    names = operation.now if operation else ()
    return [f"{sign}{name}" for name in names if vfs_modules.operations()[name].is_in(conf.version)]


def _option_without_module_finding(
    conf: Configuration, setting: AuditedSetting, modules: Sequence[str]
) -> AuditFinding:
    name = wording.listed(list(modules), "or")
    if setting.section == "global":
        reason = f"No share loads {name}: the option does nothing."
        return line_finding(setting, "option-without-module", Ruling.MISPLACED, 44, reason, instead=None)

    loaded_elsewhere = loaded_modules(conf, "global")
    if not set(modules) & set(loaded_elsewhere):
        reason = f"[{setting.section}] does not load {name}: the option does nothing."
        return line_finding(setting, "option-without-module", Ruling.MISPLACED, 44, reason, instead=None)

    reason = (
        f"[{setting.section}] does not load {name}, since its own vfs objects takes the place of that of [global]:"
        " the option does nothing."
    )
    advice = f"Write all modules into the share's vfs objects: {' '.join(_all_modules(conf, setting.section))}."
    return line_finding(setting, "option-without-module", Ruling.CONTRADICTORY, 54, reason, instead=None, advice=advice)


def _all_modules(conf: Configuration, section: str) -> list[str]:
    return list(dict.fromkeys([*loaded_modules(conf, "global"), *loaded_modules(conf, section)]))


def _replacing_finding(setting: AuditedSetting, left_out: Sequence[str]) -> AuditFinding:
    reason = f"It takes the place of the list in [global]: {wording.listed(list(left_out))} is not loaded here."
    advice = f"If both are meant, write `{setting.name} = {' '.join([*left_out, *loaded_by(setting.value)])}`."
    return line_finding(setting, "modules-left-out", Ruling.CONTRADICTORY, 38, reason, instead=None, advice=advice)


def _letter_case_finding(setting: AuditedSetting, entry: str) -> AuditFinding:
    reason = f"Samba looks for a file of that very name, and has {entry.lower()}: every connection to the share fails."
    entries = smb_values.entries_of_list(setting.value)
    corrected = [entry.lower() if other == entry else other for other in entries]
    instead = f"{setting.name} = {' '.join(corrected)}"
    return line_finding(setting, "module-letter-case", Ruling.HARMFUL, 98, reason, instead=instead)


def _double_findings(setting: AuditedSetting) -> Iterator[AuditFinding]:
    """Modules that are loaded twice, or beside another one for the same."""
    entries = [entry.lower() for entry in smb_values.entries_of_list(setting.value)]
    twice = next((entry for place, entry in enumerate(entries) if entry in entries[:place]), None)
    if twice is not None:
        reason = f"{twice} is loaded twice: each operation passes through it two times."
        instead = f"{setting.name} = {' '.join(dict.fromkeys(entries))}"
        yield line_finding(setting, "module-twice", Ruling.CONTRADICTORY, 28, reason, instead=instead)

    modules = loaded_by(setting.value)
    for module, rival, subject in _RIVALS:
        if module in modules and rival in modules:
            first, second = sorted((module, rival), key=modules.index)
            reason = (
                f"{first} and {second} are both for {subject}: the first one answers, and the other one is not asked."
            )
            advice = "Load the one that has what is there already."
            yield line_finding(setting, "rival-modules", Ruling.CONTRADICTORY, 43, reason, instead=None, advice=advice)


def _mixture_findings(conf: Configuration, setting: AuditedSetting) -> Iterator[AuditFinding]:
    """That Macs find fruit in this share and not in others: they agree on its extensions with the first of them."""
    first = next(share for share in conf.shares if "fruit" in loaded_modules(conf, share))
    if setting.section != first:
        # Told once.
        return

    others = [
        share for share in conf.shares if _is_for_people(conf, share) and "fruit" not in loaded_modules(conf, share)
    ]
    if not others:
        return
    where = f"[{others[0]}]" if len(others) == 1 else f"{len(others)} other shares"
    reason = f"{where} without fruit: a Mac that opens such a share first gets none of its extensions in this one."
    advice = "Load fruit and streams_xattr in all shares that Macs open, or in none."
    yield line_finding(setting, "fruit-in-some-shares", Ruling.WORTH_TRYING, 23, reason, instead=None, advice=advice)


def _is_for_people(conf: Configuration, share: str) -> bool:
    is_printer = smb_conf.same_value("printable", conf.in_effect(share, "printable"), "yes")
    return share not in _NOT_FOR_MACS and not is_printer


def _has_in_wrong_order(value: str, early: str, late: str) -> bool:
    modules = loaded_by(value)
    return early in modules and late in modules and modules.index(early) < modules.index(late)


def _wrong_order_finding(setting: AuditedSetting) -> AuditFinding:
    reason = "streams_xattr before fruit takes the streams of Macs, so that fruit does not see their metadata."
    entries = smb_values.entries_of_list(setting.value)
    streams = next(entry for entry in entries if entry.partition(":")[0].lower() == "streams_xattr")
    entries.remove(streams)
    place = [entry.partition(":")[0].lower() for entry in entries].index("fruit") + 1
    instead = f"{setting.name} = {' '.join([*entries[:place], streams, *entries[place:]])}"
    return line_finding(setting, "streams-before-fruit", Ruling.CONTRADICTORY, 44, reason, instead=instead)


def _missing_module_finding(setting: AuditedSetting, module: str) -> AuditFinding:
    reason = f"There is no module {module}: every connection to the share fails."
    return _dead_module_finding(setting, module, reason)


def _dead_module_finding(setting: AuditedSetting, module: str, reason: str) -> AuditFinding:
    """A module that closes the share, which `--fix` takes out unless it was there to record or protect something."""
    instead: str | None = _without(setting, module)
    advice = ""
    if any(guard in module for guard in _GUARDS):
        instead = None
        advice = (
            f"Install the module or correct its name; without {module} the share opens, and nothing takes its place."
        )
    return line_finding(
        setting, "missing-module", Ruling.HARMFUL, 98, reason, instead=instead, word=module, advice=advice
    )


def _without(setting: AuditedSetting, module: str) -> str:
    """The line without that module; empty where no other is in it."""
    others = [entry for entry in smb_values.entries_of_list(setting.value) if entry.partition(":")[0].lower() != module]
    return f"{setting.name} = {' '.join(others)}" if others else ""


def _unknown_module_finding(setting: AuditedSetting, module: str) -> AuditFinding:
    reason = f"Samba has no module {module} of its own: unless somebody installed it, every connection fails."
    return line_finding(setting, "unknown-module", Ruling.RISKY, 60, reason, instead=None, word=module)


def _absent_module_finding(
    conf: Configuration, setting: AuditedSetting, module: vfs_modules.VersionedName
) -> AuditFinding:
    if module.until is not None:
        version = samba_parameters.short_version(module.until)
        reason = f"{_samba(conf)} has no module {module.name}, which {version} had: every connection fails."
    else:
        version = samba_parameters.short_version(module.since or ())
        reason = f"{_samba(conf)} has no module {module.name}, which came with {version}: every connection fails."
    return _dead_module_finding(setting, module.name, reason)


def _samba(conf: Configuration) -> str:
    version = conf.version or samba_parameters.MEASURED
    return f"Samba {samba_parameters.short_version(version)}"


def _shares_text(setting: AuditedSetting, shares: Sequence[str]) -> str:
    if shares == ["global"]:
        return "every share"
    if shares == [setting.section]:
        return "the share"
    if len(shares) > _MOST_SHARES:
        return f"{len(shares)} shares"
    return wording.listed([f"[{share}]" for share in shares])
