"""A parameter of smb.conf as a changeable setting: names, candidates, risks, and what a session shows."""

import base64
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.changes import smb_conf as samba
from app.changes.script import STEP_SECONDS, ServerChange, failed
from app.changes.server import ChangeFailedError, ChangeRefusedError, ConsentNeededError, read_there
from app.changes.smb_conf import (
    LOG_LEVEL,
    RESTART_SECONDS,
    UNDO,
    ChangeableSetting,
    ConfLine,
    SambaPlace,
    Ways,
    drop_in_content,
    find_restart,
    look_text,
    settle_text,
)
from app.environment.samba import printed
from app.errors import UsageError
from app.server.shell import script_file, with_variables
from app.units import parse_size
from forms import wording
from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import same_value, spelling
from forms.tuning.trial_rules import Proposal, data, refusals, risk_of, undo_needs_restart
from storage.changes import ChangeKind
from storage.records import Target

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
    """All values are checked, nothing is written; default values are the catalogue's.

    ``kept`` are lines present in every arm, ``kept_by_restart`` whether only a restart brings those into effect.
    Raises ChangeRefusedError, UsageError.
    """
    if not target.abilities.through_samba or not target.share:
        raise UsageError(f"{name} is a matter of Samba: name a target smb://HOST/SHARE/PATH")
    option = socket_option(name)
    typed = spelling(SOCKET_OPTIONS if option else name)
    place = samba.find_place(typed.name, target.share, ways.ssh, ways.smb_conf, target.port_number)
    place = replace(place, kept=tuple(kept))
    now = samba.current(place)
    previous = samba.effective_value(place, now)
    if option:
        values = [_with_option(previous or "", option, value) for value in values]
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
    return ChangeableSetting(
        kind=place.kind,
        name=place.name,
        section=f"[{place.section}]",
        previous=previous,
        configuration=(now.text("configuration") or "").strip(),
        machine=place.state.machine,
        ssh=ways.ssh,
        values=tuple(values),
        managers=place.state.managers,
        writes=tuple(writes),
        undo_path=f"{place.folder}/{samba.UNDO}",
        risks=tuple(risks),
        place=place,
        plan=lambda change_id, chosen: _plan(place, change_id, chosen),
        effective=lambda answer: samba.effective_value(place, answer),
        same=lambda effective, value: same_value(place.name, effective, value),
        live=(lambda value: _live(place, value, target.port_number)) if place.name == SOCKET_OPTIONS else None,
    )


def socket_option(name: str) -> str | None:
    """The option of `socket options`, such as SO_SNDBUF; None for another name."""
    word = name.strip().upper()
    return word if word in {*data()["socket_options"]["flags"], *data()["socket_options"]["numbers"]} else None


def _with_option(present: str, option: str, value: str) -> str:
    kept = [word for word in present.replace(",", " ").split() if word.partition("=")[0].upper() != option]
    return " ".join([*kept, f"{option}={parse_size(value)}"])


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
    included = place.state.files[place.conf].content != samba.with_include(place)
    drop_in = [f"{line}, in [{place.section}] of {place.drop_in}" for line in lines]
    return [*drop_in, *([f"include = {place.drop_in}, as the last line of {place.conf}"] if included else [])]


def _plan(place: SambaPlace, change_id: str, values: Sequence[str]) -> ServerChange:
    if place.kind is ChangeKind.REGISTRY:
        return plan_registry(change_id, place, values)
    return samba.plan_samba(change_id, place, values)


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
    there = {name.strip().lower() for name in answer.sections["sections"].splitlines()}
    has_section = place.section.lower() in there
    if not has_section and place.section != "global":
        raise ChangeRefusedError(f"the registry has no share [{place.section}]")
    now = f'"$({net} getparm {where} 2>/dev/null)"'
    unread = failed("the registry of Samba cannot be opened: is its disk full or read-only?")
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
        seconds=RESTART_SECONDS if place.restart else STEP_SECONDS,
    )


def check_value(place: SambaPlace, value: str) -> None:
    """Raises ChangeRefusedError."""
    proposal = Proposal(name=place.name, value=value, section=place.section, conf=place.conf)
    reasons = list(refusals(proposal, place.knows))
    if not reasons and place.kind is ChangeKind.SMB_CONF:
        reasons = list(_testparm_says(place, value))
    if reasons:
        raise ChangeRefusedError(f"{place.name} = {value} is refused: {'; '.join(reasons)}; nothing was written")


def _testparm_says(place: SambaPlace, value: str) -> Iterator[str]:
    line = ConfLine(section=place.section, name=place.name, value=value)
    given = {
        "dropin": base64.b64encode(drop_in_content(place, "check", [line])).decode(),
        "old": base64.b64encode(place.state.files[place.conf].content or b"").decode(),
        "name": place.name,
        "share": "" if place.section == "global" else place.section,
    }
    answer = read_there(with_variables(script_file("app.changes", "check.sh"), given), place.ssh)
    if answer.problem:
        yield answer.problem
        return
    said = printed.warnings(answer.text("testparm.err"))
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
