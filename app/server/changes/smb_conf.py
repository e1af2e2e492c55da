"""A parameter of smb.conf, changed in a drop-in file included last, or in Samba's registry."""

import base64
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.base.errors import UsageError
from app.base.units import parse_size
from app.server import smbd
from app.server.changes import script as server
from app.server.changes.script import (
    ChangeFailedError,
    ChangeRefusedError,
    ConsentNeededError,
    ServerChange,
    read_there,
)
from app.server.facts import ask_server, has_port
from app.server.shell import Answer, script_file, with_variables
from app.server.smbd import loadable_modules, running_log_level
from forms import wording
from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import opposite_value, parameter_key, read_conf, same_value, spelling
from forms.tuning.trial_rules import Proposal, SambaKnows, data, refusals, risk_of, undo_needs_restart
from storage.changes import ChangeKind, GridAxis
from storage.json_reader import named
from storage.records import Target

_q = shlex.quote
RESTART_SECONDS = 90.0


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
        said = answer.problem or f"no smbd with {conf} answers there"
        raise ChangeRefusedError(f"smbd cannot be restarted: {said}; nothing was written")
    unit, service, parent = answer.text("unit"), answer.text("service"), (answer.text("parent") or "").strip()
    if unit:
        name = shlex.quote(unit)
        return Restart(command=f"systemctl restart {name}", stopped=f'[ "$(systemctl is-active {name})" = inactive ]')
    if parent in {"runsv", "s6-supervise", "supervise", "supervisord"}:
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
    ssh: str | None = None
    smb_conf: str | None = None
    accepted: tuple[str, ...] = ()
    apply: str | None = None
    revert: str | None = None
    restart: bool = False


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
    kept: tuple[ConfLine, ...] = ()
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
    conf = (answer.text("conf") or "").strip()
    if not conf or f"conf:{conf}" not in answer.sections:
        raise ChangeRefusedError(
            "no smb.conf that can be read was found on the server: name it yourself", options="--smb-conf FILE"
        )
    folder = conf.rpartition("/")[0]
    tools = ("testparm", "smbcontrol", "mktemp")
    state = server.look(ssh, undo=f"{folder}/{UNDO}", conf=conf, dropin=f"{folder}/{DROP_IN}", tools=tools)
    if answer.code("testparm") != 0:
        said = smbd.warnings(answer.text("testparm.err"))
        raise ChangeRefusedError(f"{conf} does not load as it stands ({'; '.join(said[-2:])}): mend that first")
    files = {key.removeprefix("conf:"): text for key, text in answer.sections.items() if key.startswith("conf:")}
    files["registry"] = answer.text("registry") or ""
    dump = smbd.parse_dump(answer.text("testparm"))
    if not (ssh or smb_conf_path or has_port(dump.get("global", {}).get("smb ports"), port)):
        unknown = f"which smb.conf the server on port {port} of this machine has is unknown: name the file"
        raise ChangeRefusedError(unknown, options="--smb-conf FILE")
    scopes = smbd.parse_scopes(answer.text("scopes")) or smbd.Scopes()
    spelled = smb_conf.spelling(name)
    of_server = parameter_key(spelled.name) in {parameter_key(one) for one in scopes.for_server}
    section = "global" if of_server or spelled.parameter is None else share
    lists = named(scopes, "for_server", "for_share")
    knows = SambaKnows(modules=frozenset(loadable_modules(answer)), sections=frozenset(dump), **lists)
    place = SambaPlace(
        ssh=ssh, conf=conf, name=spelled.name, section=section, kind=_kind(files, conf, section),
        knows=knows, state=state, complaints=frozenset(smbd.warnings(answer.text("testparm.err"))),
    )  # fmt: skip
    _check_files(place)
    if writable := (answer.text("writable") or "").splitlines():
        raise ChangeRefusedError(writable_text(writable[0]) + "; nothing was written")
    return place


def writable_text(path: str) -> str:
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
    if re.search(r"\s\s", place.drop_in):
        why = "Samba includes no file whose path has several blanks in a row: rename the folder"
        raise ChangeRefusedError(f"{place.conf}: {why}; nothing was written")
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
    conf, drop_in = place.state.files[place.conf], place.state.files[place.drop_in]
    lines = [ConfLine(section=place.section, name=place.name, value=value) for value in values]
    contents = [drop_in_content(place, change_id, arm) for arm in ((), *((line,) for line in lines))]
    included = with_include(place)
    ours = " ".join(map(server.sha256, contents))
    conf_sums = f"{conf.sum} {server.sha256(included)}"
    if drop_in.content is None:
        ease, eased = f"(: >{_q(drop_in.path)}) 2>/dev/null && eased\n", server.sha256(b"")
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
        steps["restore"] = (
            f"rm -f {_q(conf.path)}.sharebench-new || broken=yes\n"
            f'[ "$(sum_of {_q(conf.path)})" != {server.sha256(included)} ] || {_write(conf, conf.content or b"")}'
            + steps["restore"]
        )
    what = " or ".join(f"{place.name} = {value}" for value in values)
    return ServerChange(
        id=change_id,
        title=f"{what} in [{place.section}] of {place.conf}, by way of {place.drop_in}",
        undo_path=f"{place.folder}/{UNDO}",
        arms=tuple(_write(drop_in, content) for content in contents),
        settle=settle_text(place),
        look=look_text(place) + "".join(f"\nwarn_open {_q(file.path)}" for file in (conf, drop_in)),
        seconds=RESTART_SECONDS if place.restart else server.STEP_SECONDS,
        **steps,
    )


def effective_value(answer: Answer) -> str | None:
    """What is in effect; testparm tells its own log level, so smbd is asked for its."""
    if "debuglevel" in answer.sections:
        return running_log_level(answer.text("debuglevel"))
    return answer.sections.get("effective", "").strip() if answer.code("effective") == 0 else None


def drop_in_content(place: SambaPlace, change_id: str, lines: Sequence[ConfLine]) -> bytes:
    old = _ended(place.state.files[place.drop_in].content or b"")
    undo = server.undo_command(f"{place.folder}/{UNDO}")
    note = f"# sharebench trial {change_id}: to restore everything, as root: {undo}\n"
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


def _write(file: server.FileState, content: bytes, then: str = " || broken=yes") -> str:
    time = f" {file.modified}" if content == file.content else ""
    return f"write_file {_q(file.path)}{time} {server.here(content, then)}\n"


def _back_to(drop_in: server.FileState) -> str:
    clear = f"rm -f {_q(drop_in.path)}.sharebench-new || broken=yes\n"
    if drop_in.content is None:
        return f"{clear}remove_file {_q(drop_in.path)} || broken=yes\n"
    return f'{clear}[ "$(sum_of {_q(drop_in.path)})" = {drop_in.sum} ] || {_write(drop_in, drop_in.content)}'


def settle_text(place: SambaPlace) -> str:
    if place.restart:
        return restart_text(place.conf, place.restart)
    return (
        f"if smbcontrol -s {_q(place.conf)} smbd reload-config >/dev/null 2>&1; then section reloaded; sleep 0.2;"
        " else section not_reloaded; fi"
    )


def look_text(place: SambaPlace) -> str:
    conf, name = _q(place.conf), _q(place.name)
    of_share = "" if place.section == "global" else f" --section-name={_q(place.section)}"
    asked = f"section debuglevel\nsmbcontrol -t 1 -s {conf} smbd debuglevel 2>/dev/null\n"
    level = asked if place.name == LOG_LEVEL else ""
    return (
        f"section effective\ntestparm -s --parameter-name={name}{of_share} {conf} 2>/dev/null\n"
        "code=$?\nsection effective.rc\necho $code\n"
        f"section configuration\ntestparm -sv {conf} 2>/dev/null | sha256sum | cut -d' ' -f1\n{level}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeableSetting(GridAxis):
    """One setting of one server, found and checked; nothing is written yet."""

    configuration: str = ""
    """SHA-256 of the effective configuration, or empty."""
    machine: str
    ssh: str | None
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


SOCKET_OPTIONS = "socket options"


def samba_setting(
    name: str,
    values: Sequence[str],
    target: Target,
    ways: Ways,
    *,
    kept: Sequence[ConfLine] = (),
    kept_by_restart: bool = False,
) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises UsageError, ChangeFailedError.

    ``kept`` are lines present in every arm, ``kept_by_restart`` whether only a restart brings those into effect.
    """
    if not target.abilities.through_samba or not target.share:
        raise UsageError(f"{name} is a matter of Samba: name a target smb://HOST/SHARE/PATH")
    option = socket_option(name)
    typed = spelling(SOCKET_OPTIONS if option else name)
    values = [opposite_value(value) for value in values] if typed.opposite else values
    place = find_place(typed.name, target.share, ways.ssh, ways.smb_conf, target.port_number)
    place = replace(place, kept=tuple(kept))
    now = read_there(look_text(place), place.ssh)
    previous = effective_value(now)
    if option:
        words = (previous or "").replace(",", " ").split()
        others = [word for word in words if word.partition("=")[0].upper() != option]
        values = [" ".join([*others, f"{option}={parse_size(value)}"]) for value in values]
    values = list(values) or list(_candidates(name, previous))
    for value in values:
        check_value(place, value)
    if previous is None:
        raise ChangeRefusedError(
            f"the effective value of {place.name} cannot be read on the server, so nothing could be proven: is smbd"
            f" running there with {place.conf}?"
        )
    risks = _risks(place.name, previous, values, ways.accepted, typed=name)
    needs_restart = undo_needs_restart(place.name, previous, tuple(values))
    if needs_restart and not ways.restart:
        raise ConsentNeededError(
            f"{needs_restart}, so only a restart of smbd brings it into effect or takes it back, and ends all sessions:"
            " allow that first; nothing was written",
            risk_of=None,
            options="--allow-restart",
        )
    if kept_by_restart and not needs_restart:
        needs_restart = f"{wording.listed([line.name for line in kept])} stays changed meanwhile"
    writes = _writes(place, values)
    if needs_restart:
        restart = find_restart(place.conf, ways.ssh)
        place = replace(place, restart=restart)
        writes.append(f"smbd is restarted each time ({restart.command}), and all its sessions end: {needs_restart}")
    plan = plan_registry if place.kind is ChangeKind.REGISTRY else plan_samba
    return ChangeableSetting(
        kind=place.kind, name=place.name, section=f"[{place.section}]", previous=previous,
        configuration=(now.text("configuration") or "").strip(), machine=place.state.machine, ssh=ways.ssh,
        values=tuple(values), managers=place.state.managers, writes=tuple(writes), undo_path=f"{place.folder}/{UNDO}",
        risks=tuple(risks), place=place, plan=lambda change_id, chosen: plan(change_id, place, chosen),
        effective=effective_value, same=lambda effective, value: same_value(place.name, effective, value),
        live=(lambda value: _live(place, value, target.port_number)) if place.name == SOCKET_OPTIONS else None,
    )  # fmt: skip


def socket_option(name: str) -> str | None:
    word = name.strip().upper()
    return word if word in {*data()["socket_options"]["flags"], *data()["socket_options"]["numbers"]} else None


def _candidates(name: str, previous: str | None) -> list[str]:
    found = [entry for entry in catalogue.about(name) if entry.kind is EntryKind.SMB_CONF]
    canonical = spelling(name).name
    values = [value for entry in found for value in entry.values]
    fresh = [value for value in dict.fromkeys(values) if previous is None or not same_value(canonical, previous, value)]
    if not fresh:
        raise UsageError(f"the catalogue has no other value of {name} to try: name one, {name}=VALUE")
    return fresh


def _risks(name: str, previous: str, values: Sequence[str], accepted: Sequence[str], *, typed: str) -> list[str]:
    yes = {spelling(one).name for one in accepted} | {one.strip().lower() for one in accepted}
    found = []
    for value in values:
        why = None if same_value(name, previous, value) else risk_of(name, value)
        if why is None:
            continue
        if name not in yes and typed.strip().lower() not in yes:
            raise ConsentNeededError(
                f"{name} = {value} has a risk: {why}; accept it, or leave it",
                risk_of=name,
                options=f"--accept-risk '{name}'",
            )
        found.append(f"{name} = {value}: {why}")
    return found


def _writes(place: SambaPlace, values: Sequence[str]) -> list[str]:
    lines = [f"{place.name} = {value}" for value in values]
    if place.kind is ChangeKind.REGISTRY:
        where = (
            f"in [{place.section}] of Samba's registry (net conf setparm), as its last parameter, also when restored"
        )
        return [f"{line}, {where}" for line in lines]
    included = place.state.files[place.conf].content != with_include(place)
    drop_in = [f"{line}, in [{place.section}] of {place.drop_in}" for line in lines]
    return [*drop_in, *([f"[global] include = {place.drop_in}, as the last lines of {place.conf}"] if included else [])]


def _live(place: SambaPlace, value: str, port: int) -> str | None:
    """Socket buffers of open sessions, if socket options set them."""
    wanted = {word.upper(): int(size) for word, size in re.findall(r"(SO_(?:SND|RCV)BUF)=(\d+)", value, re.IGNORECASE)}
    if not wanted:
        return None
    answer = read_there(f"section sockets\nss -tmnH state established '( sport = :{port} )' 2>/dev/null", place.ssh)
    seen = [
        dict(re.findall(r"([tr]b)(\d+)", line))
        for line in re.findall(r"skmem:\(([^)]*)\)", answer.text("sockets") or "")
    ]
    if not seen:
        return None
    shown = []
    for word, size in wanted.items():
        key = "tb" if word == "SO_SNDBUF" else "rb"
        least = {int(one[key]) for one in seen if key in one}
        if not any(found >= size for found in least) or all(found > 4 * size + 8192 for found in least):
            raise ChangeFailedError(
                f"{word}={size} is in the configuration, but the buffers of new sessions are {sorted(least)} bytes: it"
                " does not act (net.core.wmem_max and rmem_max limit it)"
            )
        shown.append(f"{word} of a new session {min(least)} bytes (the kernel doubles it)")
    return ", ".join(shown)


def plan_registry(change_id: str, place: SambaPlace, values: Sequence[str]) -> ServerChange:
    """The parameter moves behind the section's others, which changes nothing."""
    net, where = f"net -s {shlex.quote(place.conf)} conf", f"{shlex.quote(place.section)} {shlex.quote(place.name)}"
    answer = read_there(
        f"section old\n{net} getparm {where} 2>/dev/null\ncode=$?\nsection old.rc\necho $code\n"
        f"section sections\n{net} listshares",
        place.ssh,
    )
    if answer.problem or "sections" not in answer.sections:
        raise ChangeRefusedError("the registry of Samba cannot be read there (net conf): is registry.tdb in order?")
    old = answer.sections.get("old", "") if answer.code("old") == 0 else None
    has_section = place.section.lower() in {name.strip().lower() for name in answer.sections["sections"].splitlines()}
    if not has_section and place.section != "global":
        raise ChangeRefusedError(f"the registry has no share [{place.section}]")
    now = f'"$({net} getparm {where} 2>/dev/null)"'
    unread = server.failed("the registry of Samba cannot be opened: is its disk full or read-only?")
    readable = f"{net} listshares >/dev/null 2>&1 || {{ {unread} }}\n"
    keep = f"{net} delparm {where} 2>/dev/null" if old is None else f"{net} setparm {where} {shlex.quote(old)}"
    back = f"[ {now} = {shlex.quote(old or '')} ] || {keep} || broken=yes\n"
    if not has_section:  # it goes with what was written, unless somebody has put more there meanwhile
        section = shlex.quote(place.section)
        back += f"{net} showshare {section} 2>/dev/null | grep -q = || {net} delshare {section} 2>/dev/null\n"
    sets = [f"{net} setparm {where} {shlex.quote(value)} || broken=yes" for value in values]
    what = " or ".join(f"{place.name} = {value}" for value in values)
    allowed = " ".join(shlex.quote(one) for one in (old or "", *values))
    return ServerChange(
        id=change_id,
        title=f"{what} in [{place.section}] of Samba's registry",
        undo_path=f"{place.folder}/{UNDO}",
        check=f"{readable}check_value {shlex.quote(place.name)} {now} {allowed}",
        before=f"{readable}check_value {shlex.quote(place.name)} {now} {shlex.quote(old or '')}",
        arms=(back if old is None else f"{keep} || broken=yes", *sets),
        restore=back,
        settle=settle_text(place),
        look=look_text(place),
        seconds=RESTART_SECONDS if place.restart else server.STEP_SECONDS,
    )


def check_value(place: SambaPlace, value: str) -> None:
    """Raises ChangeRefusedError."""
    proposal = Proposal(name=place.name, value=value, section=place.section, conf=place.conf)
    reasons = list(refusals(proposal, place.knows))
    if not reasons and place.kind is ChangeKind.SMB_CONF:
        reasons = list(_testparm_says(place, value))
    if reasons:
        raise ChangeRefusedError(f"{place.name} = {value} is refused, and nothing was written: {'; '.join(reasons)}")


def _testparm_says(place: SambaPlace, value: str) -> Iterator[str]:
    line = ConfLine(section=place.section, name=place.name, value=value)
    given = {
        "dropin": base64.b64encode(drop_in_content(place, "check", [line])).decode(),
        "old": base64.b64encode(place.state.files[place.conf].content or b"").decode(),
        "name": place.name,
        "share": "" if place.section == "global" else place.section,
    }
    answer = read_there(with_variables(script_file("app.server.changes", "check.sh"), given), place.ssh)
    if answer.problem:
        yield answer.problem
        return
    said = smbd.warnings(answer.text("testparm.err"))
    bad = [line for line in said if line not in place.complaints and any(word in line for word in _COMPLAINTS)]
    if answer.code("testparm") != 0 or bad:
        yield f"testparm says: {'; '.join(bad or said[-2:]) or 'it does not load'}"
        return
    taken = answer.sections.get("effective", "").strip()
    if answer.code("effective") != 0:
        yield "testparm does not know it"
    elif place.name != LOG_LEVEL and not smb_conf.same_value(place.name, taken, value):
        yield f"Samba would take it as {taken or 'nothing'}"


_COMPLAINTS = ("Unknown parameter", "Ignoring", "nvalid value", "not boolean", "not a valid", "badly formed")
