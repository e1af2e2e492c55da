"""Warnings of a server's smb.conf that testparm does not give: lines without effect, missing files and modules."""

import re
from itertools import chain

from app.server.shell import Answer
from app.server.testparm import Scopes
from forms.tuning import conf_file, smb_conf
from forms.tuning.smb_values import entries_of_list
from forms.tuning.trailing_comments import comment_effect

_MOST_WORDS = 7
"""The name of a parameter has no more words."""


def own_warnings(answer: Answer, conf: conf_file.SmbConfFile, scopes: Scopes) -> list[str]:
    """Warnings that testparm lacks; lines that set no Samba parameter are not quoted."""
    server_keys = {smb_conf.parameter_key(name) for name in scopes.for_server}
    share_keys = {smb_conf.parameter_key(name) for name in scopes.for_share}
    known_keys = server_keys | share_keys

    lines = [
        f"{setting.name} = {setting.value} stands in [{setting.section}], but it holds for the whole server only: "
        "it does nothing there"
        for setting in conf.settings
        if setting.section != "global" and smb_conf.parameter_key(setting.name) in server_keys
    ]
    lines += [
        f"include = {part.setting.value}: there is no such file to read"
        for part in conf.unread_for(conf_file.UnreadReason.INCLUDE_MISSING)
    ]
    lines += [
        f"{part.setting.name} = {part.setting.value} depends on the client and was not read"
        for part in conf.unread_for(
            conf_file.UnreadReason.INCLUDE_PER_CLIENT, conf_file.UnreadReason.CONFIG_FILE_PER_CLIENT
        )
    ]
    lines += [
        f"{setting.name} = {setting.value}: smb.conf has no comments at the end of a line"
        for setting in conf.settings
        if comment_effect(setting.name, setting.value) and smb_conf.parameter_key(setting.name) in known_keys
    ]
    lines += [f"{_quoted(line.text, known_keys)} has no equals sign and says nothing" for line in conf.malformed]
    return lines + _missing_modules(answer, conf)


def _missing_modules(answer: Answer, conf: conf_file.SmbConfFile) -> list[str]:
    """Warnings of VFS modules that smb.conf names and the server does not have."""
    modules = loadable_modules(answer)
    if not modules:
        return []

    lines = []
    vfs_objects = smb_conf.parameter_key("vfs objects")
    for setting in conf.settings:
        if smb_conf.parameter_key(setting.name) != vfs_objects:
            continue
        # Behind a colon stands the name of one instance; a path is a module of the admin's own.
        loaded = {name.partition(":")[0] for name in entries_of_list(setting.value)}
        lines += [
            f"{setting.name} = {name}: there is no such module, and every connection to the share will fail"
            for name in sorted(loaded - modules)
            if "/" not in name
        ]
    return lines


def _quoted(line: str, known_keys: set[str]) -> str:
    """Quotes the line only if it begins with a parameter's name: a file named by mistake may hold secrets."""
    words = line.split()
    starts = (" ".join(words[:count]) for count in range(1, min(len(words), _MOST_WORDS) + 1))
    begins_with_name = any(smb_conf.parameter_key(start) in known_keys for start in starts)
    return f"the line {line!r}" if begins_with_name else "a line"


def loadable_modules(answer: Answer) -> set[str]:
    """VFS modules in smbd's folder and built in; empty if unknown."""
    built_in = (answer.text("build") or "").partition("Builtin modules:")[2].split()
    loadable = {name.removesuffix(".so") for name in (answer.text("modules") or "").split()}
    return loadable | {name.removeprefix("vfs_") for name in built_in if name.startswith("vfs_")}


def refused_settings(testparm_warnings: list[str], conf: conf_file.SmbConfFile) -> list[str]:
    """The settings whose values testparm refuses: it prints the value without the parameter's name."""
    text = "\n".join(testparm_warnings)
    pairs = re.findall(r"set_variable_helper\((.*)\)|conv_str_\w+\((.*?)\)", text)
    refused = set(chain.from_iterable(pairs)) - {""}
    return [f"{setting.name} = {setting.value} is refused" for setting in conf.settings if setting.value in refused]


def reason_for_not_loading(path: str, all_warnings: list[str]) -> str:
    if any("ACCESS_DENIED" in line for line in all_warnings):
        return f"{path} includes the registry, which only root may read; log in there by ssh as root"
    reason = all_warnings[-1] if all_warnings else "testparm does not say why"
    return f"{path} does not load on the server: {reason}; see `testparm -s {path}` there"
