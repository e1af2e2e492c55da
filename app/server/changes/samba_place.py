"""The place of a parameter of Samba on its server, and the scripts that change it there: in a file, or the registry."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from app.server import smbd
from app.server.changes import script as server
from app.server.changes.script import ChangeFailedError, ChangeRefusedError, ServerChange, read_there
from app.server.facts import ask_server, has_port
from app.server.shell import Answer, script_file, with_variables
from app.server.smbd import loadable_modules, running_log_level
from forms.tuning import smb_conf
from forms.tuning.smb_conf import parameter_key, read_conf
from forms.tuning.trial_rules import SambaKnows
from storage.changes import ChangeKind

RESTART_SECONDS = 90.0
"""The limit of a step that restarts smbd, in place of ``STEP_SECONDS``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    command: str
    """May return before the new smbd is ready."""
    stopped: str = "false"
    """Succeeds if smbd was stopped on purpose: then it is not started."""


def find_restart(conf: str, ssh: str | None) -> Restart:
    """Raises ChangeRefusedError if nothing would start smbd again."""
    answer = read_there(with_variables(script_file("app.server.changes", "restart.sh"), {"conf": conf}), ssh)
    if answer.problem or not answer.text("pid"):
        problem = answer.problem or f"no smbd with {conf} answers there"
        raise ChangeRefusedError(f"smbd cannot be restarted: {problem}; nothing was written")

    unit = answer.text("unit")
    service = answer.text("service")
    parent = answer.stripped("parent")
    if unit:
        name = quote(unit)
        return Restart(command=f"systemctl restart {name}", stopped=f'[ "$(systemctl is-active {name})" = inactive ]')
    if parent in {"runsv", "s6-supervise", "supervise", "supervisord"}:
        return Restart(command=f"smbcontrol -s {quote(conf)} smbd shutdown", stopped='[ -z "$old" ]')
    if service:
        return Restart(command=f"service {service} restart")
    raise ChangeRefusedError(
        f"nothing there would start smbd again (its process {answer.text('pid')} belongs to no unit of systemd, no"
        f" service script and no supervisor, but to {parent or 'nobody'}): restart it with commands of your own;"
        " nothing was written",
        options="--apply CMD --revert CMD",
    )


def restart_text(conf: str, restart: Restart) -> str:
    ping = f"smbcontrol -t 1 -s {quote(conf)} smbd ping 2>/dev/null | sed -n 's/^PONG from pid //p' | head -n 1"
    return (
        f"old=$({ping})\nnew=\n"
        f"if ! {restart.stopped}; then\n{restart.command} >/dev/null 2>&1\n"
        "tries=0\nwhile [ $tries -lt 150 ]; do\n"
        f'new=$({ping})\n[ -z "$new" ] || [ "$new" = "$old" ] || break\n'
        "tries=$((tries + 1))\nsleep 0.2\ndone\nfi\n"
        'if [ -n "$new" ] && [ "$new" != "$old" ]; then section reloaded; section restarted; echo "$new"; sleep 0.3\n'
        "else section not_reloaded; fi"
    )


DROP_IN = "sharebench.conf"
UNDO = "sharebench-undo.sh"
LOG_LEVEL = "log level"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfLine:
    section: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"[{self.section}]\n    {self.name} = {self.value}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SambaPlace:
    ssh: str | None
    conf: str
    name: str
    section: str
    kind: ChangeKind
    knows: SambaKnows
    state: server.ServerState
    complaints: frozenset[str]
    kept_lines: tuple[ConfLine, ...] = ()
    restart: Restart | None = None

    @property
    def folder(self) -> str:
        return self.conf.rpartition("/")[0]

    @property
    def drop_in(self) -> str:
        return f"{self.folder}/{DROP_IN}"


def find_place(name: str, share: str, ssh: str | None, smb_conf_path: str | None, port: int = 445) -> SambaPlace:
    """``port`` is the smbd's. Raises ChangeRefusedError, ChangeFailedError."""
    answer = ask_server({"samba": "yes", "conf": smb_conf_path or "", "port": str(port), "share": share}, ssh)
    if answer.problem:
        raise ChangeFailedError(f"the server cannot be changed: {answer.problem}")
    conf = answer.stripped("conf")
    if not conf or f"conf:{conf}" not in answer.sections:
        raise ChangeRefusedError(
            "no smb.conf that can be read was found on the server: name it yourself", options="--smb-conf FILE"
        )

    folder = conf.rpartition("/")[0]
    tools = ("testparm", "smbcontrol", "mktemp")
    state = server.look(ssh, undo=f"{folder}/{UNDO}", conf=conf, dropin=f"{folder}/{DROP_IN}", tools=tools)
    if answer.code("testparm") != 0:
        warnings = smbd.warnings(answer.text("testparm.err"))
        raise ChangeRefusedError(f"{conf} does not load as it stands ({'; '.join(warnings[-2:])}): mend that first")

    files = {key.removeprefix("conf:"): text for key, text in answer.sections.items() if key.startswith("conf:")}
    files["registry"] = answer.text("registry") or ""
    dump = smbd.parse_dump(answer.text("testparm"))
    if not (ssh or smb_conf_path or has_port(dump.get("global", {}).get("smb ports"), port)):
        raise ChangeRefusedError(
            f"which smb.conf the server on port {port} of this machine has is unknown: name the file",
            options="--smb-conf FILE",
        )

    scopes = smbd.parse_scopes(answer.text("scopes")) or smbd.Scopes()
    spelled = smb_conf.spelling(name)
    server_keys = {parameter_key(parameter) for parameter in scopes.for_server}
    is_of_server = parameter_key(spelled.name) in server_keys
    section = "global" if is_of_server or spelled.parameter is None else share
    place = SambaPlace(
        ssh=ssh,
        conf=conf,
        name=spelled.name,
        section=section,
        kind=_kind(files, conf, section),
        knows=SambaKnows(
            modules=frozenset(loadable_modules(answer)),
            sections=frozenset(dump),
            for_server=scopes.for_server,
            for_share=scopes.for_share,
        ),
        state=state,
        complaints=frozenset(smbd.warnings(answer.text("testparm.err"))),
    )
    _check_files(place)

    writable_paths = (answer.text("writable") or "").splitlines()
    if writable_paths:
        raise ChangeRefusedError(writable_text(writable_paths[0]) + "; nothing was written")
    return place


def writable_text(path: str) -> str:
    return (
        f"every user of the server may write to {path}, and so become root by what smbd reads there: remove that right"
        f" (chmod o-w {path}) and look at what it says"
    )


def _kind(files: dict[str, str], conf: str, section: str) -> ChangeKind:
    """The registry if smb.conf delegates to it, or if only it has the share."""
    without_registry = read_conf(conf, {path: text for path, text in files.items() if path != "registry"})
    is_delegated = any(map(_delegates_to_registry, files[conf].splitlines()))
    is_in_files = any(setting.section == section.lower() for setting in without_registry.settings)
    if is_delegated or (without_registry.uses_registry and section != "global" and not is_in_files):
        return ChangeKind.REGISTRY
    return ChangeKind.SMB_CONF


def _delegates_to_registry(line: str) -> bool:
    name, _, value = line.partition("=")
    return parameter_key(name) == "configbackend" and value.strip().lower() == "registry"


def _check_files(place: SambaPlace) -> None:
    """Raises ChangeRefusedError."""
    conf = place.state.files[place.conf]
    if conf.content is None:
        raise ChangeRefusedError(f"{place.conf} is no file: name the server's smb.conf", options="--smb-conf FILE")
    if re.search(r"\s\s", place.drop_in):
        raise ChangeRefusedError(
            f"{place.conf}: Samba includes no file whose path has several blanks in a row: rename the folder; nothing"
            " was written"
        )

    drop_in = place.state.files[place.drop_in]
    if drop_in.owner not in {0, conf.owner}:
        raise ChangeRefusedError(
            f"{drop_in.path} belongs to another user than {conf.path}, which would include it: remove it;"
            " nothing was written"
        )
    for state in place.state.files.values():
        if state.links > 1:
            raise ChangeRefusedError(
                f"{state.path} has {state.links} hard links, so replacing it would part them: make it a file of its"
                " own; nothing was written"
            )


def plan_samba(change_id: str, place: SambaPlace, values: Sequence[str]) -> ServerChange:
    """The values stand in our file, one after another; smb.conf includes it as long as the change stands."""
    conf = place.state.files[place.conf]
    drop_in = place.state.files[place.drop_in]
    including = with_include(place)
    contents = [drop_in_content(place, change_id, ())]
    for value in values:
        line = ConfLine(section=place.section, name=place.name, value=value)
        contents.append(drop_in_content(place, change_id, [line]))

    our_sums = " ".join(map(server.sha256, contents))
    conf_sums = f"{conf.sum} {server.sha256(including)}"

    # Where smb.conf cannot be restored, since somebody else changed it, our file still loses our values; an emptied one
    # is then taken for ours when it is restored again.
    if drop_in.content is None:
        ease = f"(: >{quote(drop_in.path)}) 2>/dev/null && eased\n"
        eased_sum = server.sha256(b"")
    else:
        ease = _write(drop_in, drop_in.content, " && eased")
        eased_sum = ""

    check_drop_in = f"check_file {quote(drop_in.path)} {drop_in.sum} {our_sums}"
    check_undo = f"{check_drop_in} {eased_sum}\n"
    begin = _write(drop_in, contents[0])
    restore = _back_to(drop_in)
    if including != conf.content:
        check_undo += f"check_includer {quote(conf.path)} {quote(place.drop_in)} {conf_sums}"
        begin += _write(conf, including)
        # The include goes before the file that it includes.
        restore = (
            f"rm -f {quote(conf.path)}.sharebench-new || broken=yes\n"
            f'[ "$(sum_of {quote(conf.path)})" != {server.sha256(including)} ] || {_write(conf, conf.content or b"")}'
            + restore
        )

    values_to_try = " or ".join(f"{place.name} = {value}" for value in values)
    return ServerChange(
        id=change_id,
        title=f"{values_to_try} in [{place.section}] of {place.conf}, by way of {place.drop_in}",
        undo_path=f"{place.folder}/{UNDO}",
        check=f"{check_drop_in}\ncheck_file {quote(conf.path)} {conf_sums}",
        check_undo=check_undo,
        before=f"check_file {quote(drop_in.path)} {drop_in.sum}\ncheck_file {quote(conf.path)} {conf.sum}",
        begin=begin,
        arms=tuple(_write(drop_in, content) for content in contents),
        restore=restore,
        ease=f'case " {our_sums} " in *" $(sum_of {quote(drop_in.path)}) "*)\n{ease};;\nesac',
        settle=settle_text(place),
        look=look_text(place) + f"\nwarn_open {quote(conf.path)}\nwarn_open {quote(drop_in.path)}",
        seconds=RESTART_SECONDS if place.restart else server.STEP_SECONDS,
    )


def effective_value(answer: Answer) -> str | None:
    """What is in effect; testparm tells its own log level, so smbd is asked for its."""
    if "debuglevel" in answer.sections:
        return running_log_level(answer.text("debuglevel"))
    return answer.stripped("effective") if answer.code("effective") == 0 else None


def drop_in_content(place: SambaPlace, change_id: str, lines: Sequence[ConfLine]) -> bytes:
    content_before = _with_line_end(place.state.files[place.drop_in].content or b"")
    undo = server.undo_command(f"{place.folder}/{UNDO}")
    note = f"# sharebench trial {change_id}: to restore everything, as root: {undo}\n"
    our_text = note + "".join(map(str, (*place.kept_lines, *lines)))
    return content_before + our_text.encode("utf-8", "surrogateescape")


def _with_line_end(content: bytes) -> bytes:
    """A trailing backslash would continue the last line."""
    end = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + end + (b"\n" if content.rstrip().endswith(b"\\") else b"")


def with_include(place: SambaPlace) -> bytes:
    """With our file included last; unchanged if it already is."""
    conf = place.state.files[place.conf].content or b""
    lines = [line.strip() for line in conf.decode("utf-8", "replace").splitlines()]
    statements = [line for line in lines if line and line[0] not in "#;"]
    sections = [line for line in statements if line.startswith("[")]
    last_section = sections[-1] if sections else "[global]"

    name, _, value = statements[-1].partition("=") if statements else ("", "", "")
    is_ours = name.strip().lower() == "include" and value.strip() == place.drop_in
    if is_ours and last_section.lower() == "[global]":
        return conf
    return _with_line_end(conf) + f"[global]\n    include = {place.drop_in}\n".encode("utf-8", "surrogateescape")


def _write(file: server.FileState, content: bytes, then: str = " || broken=yes") -> str:
    # What is as it was has its time again too.
    time = f" {file.modified}" if content == file.content else ""
    return f"write_file {quote(file.path)}{time} {server.here(content, then)}\n"


def _back_to(drop_in: server.FileState) -> str:
    clear = f"rm -f {quote(drop_in.path)}.sharebench-new || broken=yes\n"
    if drop_in.content is None:
        return f"{clear}remove_file {quote(drop_in.path)} || broken=yes\n"
    return f'{clear}[ "$(sum_of {quote(drop_in.path)})" = {drop_in.sum} ] || {_write(drop_in, drop_in.content)}'


def settle_text(place: SambaPlace) -> str:
    if place.restart:
        return restart_text(place.conf, place.restart)
    return (
        f"if smbcontrol -s {quote(place.conf)} smbd reload-config >/dev/null 2>&1; then section reloaded; sleep 0.2;"
        " else section not_reloaded; fi"
    )


def look_text(place: SambaPlace) -> str:
    conf = quote(place.conf)
    section = "" if place.section == "global" else f" --section-name={quote(place.section)}"
    level = ""
    if place.name == LOG_LEVEL:
        level = f"section debuglevel\nsmbcontrol -t 1 -s {conf} smbd debuglevel 2>/dev/null\n"
    return (
        f"section effective\ntestparm -s --parameter-name={quote(place.name)}{section} {conf} 2>/dev/null\n"
        "code=$?\nsection effective.rc\necho $code\n"
        f"section configuration\ntestparm -sv {conf} 2>/dev/null | sha256sum | cut -d' ' -f1\n{level}"
    )


def plan_registry(change_id: str, place: SambaPlace, values: Sequence[str]) -> ServerChange:
    """The parameter moves behind the section's others, which changes nothing."""
    net = f"net -s {quote(place.conf)} conf"
    parameter = f"{quote(place.section)} {quote(place.name)}"
    answer = read_there(
        f"section old\n{net} getparm {parameter} 2>/dev/null\ncode=$?\nsection old.rc\necho $code\n"
        f"section sections\n{net} listshares",
        place.ssh,
    )
    if answer.problem or "sections" not in answer.sections:
        raise ChangeRefusedError("the registry of Samba cannot be read there (net conf): is registry.tdb in order?")

    old = answer.sections.get("old", "") if answer.code("old") == 0 else None
    sections = {name.strip().lower() for name in answer.sections["sections"].splitlines()}
    has_section = place.section.lower() in sections
    if not has_section and place.section != "global":
        raise ChangeRefusedError(f"the registry has no share [{place.section}]")

    now = f'"$({net} getparm {parameter} 2>/dev/null)"'
    unread = server.failed("the registry of Samba cannot be opened: is its disk full or read-only?")
    readable = f"{net} listshares >/dev/null 2>&1 || {{ {unread} }}\n"
    set_old = f"{net} delparm {parameter} 2>/dev/null"
    if old is not None:
        set_old = f"{net} setparm {parameter} {quote(old)}"
    restore = f"[ {now} = {quote(old or '')} ] || {set_old} || broken=yes\n"
    if not has_section:
        # It goes with what was written, unless somebody has put more there meanwhile.
        section = quote(place.section)
        restore += f"{net} showshare {section} 2>/dev/null | grep -q = || {net} delshare {section} 2>/dev/null\n"

    arms = [f"{net} setparm {parameter} {quote(value)} || broken=yes" for value in values]
    values_to_try = " or ".join(f"{place.name} = {value}" for value in values)
    allowed = " ".join(quote(value) for value in (old or "", *values))
    return ServerChange(
        id=change_id,
        title=f"{values_to_try} in [{place.section}] of Samba's registry",
        undo_path=f"{place.folder}/{UNDO}",
        check=f"{readable}check_value {quote(place.name)} {now} {allowed}",
        before=f"{readable}check_value {quote(place.name)} {now} {quote(old or '')}",
        arms=(restore if old is None else f"{set_old} || broken=yes", *arms),
        restore=restore,
        settle=settle_text(place),
        look=look_text(place),
        seconds=RESTART_SECONDS if place.restart else server.STEP_SECONDS,
    )
