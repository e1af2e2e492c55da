"""A parameter of smb.conf, changed in a drop-in file included last, or in Samba's registry."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.changes.script import STEP_SECONDS, ServerChange, here, sha256
from app.changes.server import ChangeRefusedError, FileState, ServerState, look, read_there
from app.environment.collect import ask_server, has_port
from app.environment.samba import printed
from app.environment.samba.facts import loadable_modules, running_log_level
from app.server.shell import Answer, script_file, with_variables
from forms.tuning import smb_conf
from forms.tuning.smb_conf import parameter_key, read_conf
from forms.tuning.trial_rules import SambaKnows
from storage.changes import ChangeKind

RESTART_SECONDS = 90.0
SUPERVISORS = frozenset({"runsv", "s6-supervise", "supervise", "supervisord"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """How smbd is restarted on a server."""

    command: str
    """May return before the new smbd is ready."""
    stopped: str = "false"
    """Succeeds if smbd was stopped on purpose: then it is not started."""


def find_restart(conf: str, ssh: str | None) -> Restart:
    """Raises ChangeRefusedError if nothing would start smbd again."""
    answer = read_there(with_variables(script_file("app.changes", "restart.sh"), {"conf": conf}), ssh)
    if answer.problem or not answer.text("pid"):
        said = answer.problem or f"no smbd with {conf} answers there"
        raise ChangeRefusedError(f"smbd cannot be restarted: {said}; nothing was written")
    unit, service, parent = answer.text("unit"), answer.text("service"), (answer.text("parent") or "").strip()
    if unit:
        name = shlex.quote(unit)
        return Restart(command=f"systemctl restart {name}", stopped=f'[ "$(systemctl is-active {name})" = inactive ]')
    if parent in SUPERVISORS:
        return Restart(command=f"smbcontrol -s {shlex.quote(conf)} smbd shutdown", stopped='[ -z "$old" ]')
    if service:
        return Restart(command=f"service {service} restart")
    raise ChangeRefusedError(
        f"nothing there would start smbd again (its process {answer.text('pid')} belongs to no unit of systemd, no"
        f" service script and no supervisor, but to {parent or 'nobody'}): restart it with commands of your own;"
        " nothing was written",
        options="--apply CMD --revert CMD",
    )


def restart_text(conf: str, restart: Restart) -> str:
    """Restarts smbd and waits for it to answer."""
    ping = f"smbcontrol -t 1 -s {shlex.quote(conf)} smbd ping 2>/dev/null | sed -n 's/^PONG from pid //p' | head -n 1"
    return (
        f"old=$({ping})\nnew=\n"
        f"if ! {restart.stopped}; then\n{restart.command} >/dev/null 2>&1\n"
        "tries=0\nwhile [ $tries -lt 150 ]; do\n"
        f'new=$({ping})\n[ -z "$new" ] || [ "$new" = "$old" ] || break\n'
        "tries=$((tries + 1))\nsleep 0.2\ndone\nfi\n"
        'if [ -n "$new" ] && [ "$new" != "$old" ]; then section reloaded; section restarted; echo "$new"; sleep 0.3\n'
        "else section not_reloaded; fi"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """Access to the server, and what the admin consented to."""

    ssh: str | None = None
    smb_conf: str | None = None
    accepted: tuple[str, ...] = ()
    """Names whose risks are accepted."""
    apply: str | None = None
    revert: str | None = None
    restart: bool = False


DROP_IN = "sharebench.conf"
UNDO = "sharebench-undo.sh"
LOG_LEVEL = "log level"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfLine:
    """One line of smb.conf."""

    section: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"[{self.section}]\n    {self.name} = {self.value}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SambaPlace:
    """Where a parameter is set: Samba, configuration, section."""

    ssh: str | None
    conf: str
    name: str
    section: str
    kind: ChangeKind
    knows: SambaKnows
    state: ServerState
    complaints: frozenset[str]
    kept: tuple[ConfLine, ...] = ()
    restart: Restart | None = None
    """None if a reload suffices."""

    @property
    def folder(self) -> str:
        return self.conf.rpartition("/")[0]

    @property
    def drop_in(self) -> str:
        return f"{self.folder}/{DROP_IN}"


def find_place(name: str, share: str, ssh: str | None, smb_conf_path: str | None, port: int = 445) -> SambaPlace:
    """``port`` is the smbd's. Raises ChangeRefusedError."""
    answer = ask_server({"samba": "yes", "conf": smb_conf_path or "", "port": str(port), "share": share}, ssh)
    if answer.problem:
        raise ChangeRefusedError(answer.problem.replace("no facts of the server", "the server cannot be changed"))
    conf = (answer.text("conf") or "").strip()
    if not conf or f"conf:{conf}" not in answer.sections:
        raise ChangeRefusedError(
            "no smb.conf that can be read was found on the server: name it yourself", options="--smb-conf FILE"
        )
    folder = conf.rpartition("/")[0]
    tools = ("testparm", "smbcontrol", "mktemp")
    state = look(ssh, undo=f"{folder}/{UNDO}", conf=conf, dropin=f"{folder}/{DROP_IN}", tools=tools)
    if answer.code("testparm") != 0:
        said = printed.warnings(answer.text("testparm.err"))
        raise ChangeRefusedError(f"{conf} does not load as it stands ({'; '.join(said[-2:])}): mend that first")
    files = {key.removeprefix("conf:"): text for key, text in answer.sections.items() if key.startswith("conf:")}
    files["registry"] = answer.text("registry") or ""
    dump = printed.parse_dump(answer.text("testparm"))
    if not (ssh or smb_conf_path or has_port((dump.section("global") or {}).get("smb ports"), port)):
        raise ChangeRefusedError(
            f"which smb.conf the server on port {port} of this machine has is unknown: name the file",
            options="--smb-conf FILE",
        )
    scopes = printed.parse_scopes(answer.text("scopes")) or printed.Scopes()
    spelled = smb_conf.spelling(name)
    of_server = parameter_key(spelled.name) in {parameter_key(one) for one in scopes.for_server}
    section = "global" if of_server or spelled.parameter is None else share
    place = SambaPlace(
        ssh=ssh,
        conf=conf,
        name=spelled.name,
        section=section,
        kind=_kind(files, conf, section),
        knows=SambaKnows(
            for_server=scopes.for_server,
            for_share=scopes.for_share,
            modules=frozenset(loadable_modules(answer)),
            sections=frozenset(one.lower() for one in dump.sections),
        ),
        state=state,
        complaints=frozenset(printed.warnings(answer.text("testparm.err"))),
    )
    _check_files(place)
    if writable := (answer.text("writable") or "").splitlines():
        raise ChangeRefusedError(writable_text(writable[0]) + "; nothing was written")
    return place


def writable_text(path: str) -> str:
    """The problem of a configuration file or parent folder that every user may write to."""
    return (
        f"every user of the server may write to {path}, and so become root by what smbd reads there: remove that right"
        f" (chmod o-w {path}) and look at what it says"
    )


def _kind(files: dict[str, str], conf: str, section: str) -> ChangeKind:
    """The registry if smb.conf delegates to it, or if only it has the share."""
    without = read_conf(conf, {path: text for path, text in files.items() if path != "registry"})
    backend = any(
        parameter_key(line.partition("=")[0]) == "configbackend"
        and line.partition("=")[2].strip().lower() == "registry"
        for line in files[conf].splitlines()
    )
    in_files = any(one.section == section.lower() for one in without.settings)
    if backend or (without.uses_registry and section != "global" and not in_files):
        return ChangeKind.REGISTRY
    return ChangeKind.SMB_CONF


def _check_files(place: SambaPlace) -> None:
    conf = place.state.files[place.conf]
    if conf.content is None:
        raise ChangeRefusedError(f"{place.conf} is no file: name the server's smb.conf", options="--smb-conf FILE")
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
    """Scripts of a trial; the first arm has the previous value."""
    conf, drop_in = place.state.files[place.conf], place.state.files[place.drop_in]
    lines = [ConfLine(section=place.section, name=place.name, value=value) for value in values]
    contents = [drop_in_content(place, change_id, arm) for arm in ((), *((line,) for line in lines))]
    included = with_include(place)
    ours = " ".join(map(sha256, contents))
    conf_sums = f"{conf.sum} {sha256(included)}"
    if drop_in.content is None:
        ease, eased = f"(: >{_q(drop_in.path)}) 2>/dev/null && eased\n", sha256(b"")
    else:
        ease, eased = _write(drop_in, drop_in.content, " && eased"), ""
    check = f"check_file {_q(drop_in.path)} {drop_in.sum} {ours}"
    steps: dict[str, Any] = {
        "check": f"{check}\ncheck_file {_q(conf.path)} {conf_sums}",
        "check_undo": f"{check} {eased}\n",
        "before": f"check_file {_q(drop_in.path)} {drop_in.sum}\ncheck_file {_q(conf.path)} {conf.sum}",
        "begin": _write(drop_in, contents[0]),
        "restore": _back_to(drop_in),
        "ease": f'case " {ours} " in *" $(sum_of {_q(drop_in.path)}) "*)\n{ease};;\nesac',
    }
    if included != conf.content:
        steps["check_undo"] += f"check_includer {_q(conf.path)} {_q(place.drop_in)} {conf_sums}"
        steps["begin"] += _write(conf, included)
        steps["restore"] = _back(conf, included) + steps["restore"]
    what = " or ".join(f"{place.name} = {value}" for value in values)
    return ServerChange(
        id=change_id,
        title=f"{what} in [{place.section}] of {place.conf}, by way of {place.drop_in}",
        undo_path=f"{place.folder}/{UNDO}",
        arms=tuple(_write(drop_in, content) for content in contents),
        settle=settle_text(place),
        look=look_text(place) + "".join(f"\nwarn_open {_q(file.path)}" for file in (conf, drop_in)),
        seconds=RESTART_SECONDS if place.restart else STEP_SECONDS,
        **steps,
    )


def effective_value(place: SambaPlace, answer: Answer) -> str | None:
    """The effective value in a script's output; None if missing."""
    if place.name == LOG_LEVEL:
        return running_log_level(answer.text("debuglevel"))
    return answer.sections.get("effective", "").strip() if answer.code("effective") == 0 else None


def current(place: SambaPlace) -> Answer:
    """The effective configuration now."""
    return read_there(look_text(place), place.ssh)


def drop_in_content(place: SambaPlace, change_id: str, lines: Sequence[ConfLine]) -> bytes:
    """Our file: previous content, kept lines, and those of an arm."""
    old = _ended(place.state.files[place.drop_in].content or b"")
    note = f"# sharebench trial {change_id}: to restore everything, as root: sh {place.folder}/{UNDO}\n"
    return old + (note + "".join(map(str, (*place.kept, *lines)))).encode("utf-8", "surrogateescape")


def _ended(content: bytes) -> bytes:
    """A trailing backslash would continue the last line."""
    end = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + end + (b"\n" if content.rstrip().endswith(b"\\") else b"")


def with_include(place: SambaPlace) -> bytes:
    """With our file included last; unchanged if it already is."""
    old = place.state.files[place.conf].content or b""
    lines = [line.strip() for line in old.decode("utf-8", "replace").splitlines()]
    said = [line for line in lines if line and line[0] not in "#;"]
    last_section = next((line for line in reversed(said) if line.startswith("[")), "[global]")
    name, _, value = said[-1].partition("=") if said else ("", "", "")
    if name.strip().lower() == "include" and value.strip() == place.drop_in and last_section.lower() == "[global]":
        return old
    return _ended(old) + f"[global]\n    include = {place.drop_in}\n".encode("utf-8", "surrogateescape")


def _write(file: FileState, content: bytes, then: str = " || broken=yes") -> str:
    time = f" {file.modified}" if content == file.content else ""
    return f"write_file {_q(file.path)}{time} {here(content, then)}\n"


def _back(conf: FileState, written: bytes) -> str:
    return (
        f"rm -f {_q(conf.path)}.sharebench-new || broken=yes\n"
        f'[ "$(sum_of {_q(conf.path)})" != {sha256(written)} ] || {_write(conf, conf.content or b"")}'
    )


def _back_to(drop_in: FileState) -> str:
    clear = f"rm -f {_q(drop_in.path)}.sharebench-new || broken=yes\n"
    if drop_in.content is None:
        return f"{clear}remove_file {_q(drop_in.path)} || broken=yes\n"
    return f'{clear}[ "$(sum_of {_q(drop_in.path)})" = {drop_in.sum} ] || {_write(drop_in, drop_in.content)}'


def settle_text(place: SambaPlace) -> str:
    """Has smbd reload its configuration, or restarts it if needed."""
    if place.restart:
        return restart_text(place.conf, place.restart)
    return (
        f"if smbcontrol -s {_q(place.conf)} smbd reload-config >/dev/null 2>&1; then section reloaded; sleep 0.2;"
        " else section not_reloaded; fi"
    )


def look_text(place: SambaPlace) -> str:
    """Prints what is in effect."""
    conf, name = _q(place.conf), _q(place.name)
    of_share = "" if place.section == "global" else f" --section-name={_q(place.section)}"
    level = (
        f"section debuglevel\nsmbcontrol -t 1 -s {conf} smbd debuglevel 2>/dev/null\n"
        if place.name == LOG_LEVEL
        else ""
    )
    return (
        f"section effective\ntestparm -s --parameter-name={name}{of_share} {conf} 2>/dev/null\n"
        "code=$?\nsection effective.rc\necho $code\n"
        f"section configuration\ntestparm -sv {conf} 2>/dev/null | sha256sum | cut -d' ' -f1\n{level}"
    )


def _q(text: str) -> str:
    return shlex.quote(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeableSetting:
    """One setting of one server, found and checked; nothing is written yet."""

    kind: ChangeKind
    name: str
    section: str
    """``[global]`` or ``[SHARE]`` of smb.conf, or a network card; else empty."""
    previous: str | None
    configuration: str = ""
    """SHA-256 of the effective configuration, or empty."""
    machine: str
    ssh: str | None
    values: tuple[str, ...]
    managers: tuple[str, ...] = ()
    writes: tuple[str, ...]
    """What will be written and where, a line each, for consent."""
    undo_path: str
    risks: tuple[str, ...] = ()
    place: SambaPlace | None = None
    plan: Callable[[str, Sequence[str]], ServerChange]
    effective: Callable[[Answer], str | None]
    same: Callable[[str, str], bool]
    live: Callable[[str], str | None] | None = None
    """Called while a new session is open: evidence that the value acts, or None. Raises ChangeFailedError."""
