"""A parameter of smb.conf as a changeable setting: names, candidates, risks, and what a session shows."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.changes import smb_conf as samba
from app.changes.registry import plan_registry
from app.changes.restart import find_restart
from app.changes.samba_check import check_value
from app.changes.script import ServerChange
from app.changes.server import ChangeFailedError, ChangeRefusedError, ConsentNeededError, read_there
from app.changes.setting import ChangeableSetting
from app.changes.smb_conf import ConfLine, SambaPlace
from app.errors import UsageError
from app.units import parse_size
from forms import wording
from forms.tuning import catalogue
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import same_value, spelling
from forms.tuning.trial_rules import data, risk_of, undo_needs_restart
from storage.changes import ChangeKind
from storage.records import Target

SOCKET_OPTIONS = "socket options"


def samba_setting(
    name: str,
    values: Sequence[str],
    target: Target,
    *,
    ssh: str | None,
    smb_conf: str | None,
    accepted: Sequence[str] = (),
    kept: Sequence[ConfLine] = (),
    restart: bool = False,
    kept_by_restart: bool = False,
) -> ChangeableSetting:
    """All values are checked, nothing is written; default values are the catalogue's.

    ``kept`` are lines present in every arm, ``kept_by_restart`` whether only a restart brings those into effect;
    ``restart`` allows restarts of smbd for the values. Raises ChangeRefusedError, UsageError.
    """
    if not target.abilities.through_samba or not target.share:
        raise UsageError(f"{name} is a matter of Samba: name a target smb://HOST/SHARE/PATH")
    option = socket_option(name)
    typed = spelling(SOCKET_OPTIONS if option else name)
    place = replace(samba.find_place(typed.name, target.share, ssh, smb_conf), kept=tuple(kept))
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
    risks = _risks(place.name, previous, values, accepted, typed=name)
    needs_restart = undo_needs_restart(place.name, previous, tuple(values))
    if needs_restart and not restart:
        raise ConsentNeededError(
            f"{needs_restart}, so only a restart of smbd brings it into effect or takes it back, and ends all sessions:"
            " allow that first; nothing was written",
            risk_of=None,
            options="--allow-restart",
        )
    if kept_by_restart and not needs_restart:
        needs_restart = f"{wording.listed([line.name for line in kept])} stays changed meanwhile"
    if needs_restart:
        place = replace(place, restart=find_restart(place.conf, ssh))
    return ChangeableSetting(
        kind=place.kind,
        name=place.name,
        section=f"[{place.section}]",
        previous=previous,
        configuration=(now.text("configuration") or "").strip(),
        machine=place.state.machine,
        ssh=ssh,
        values=tuple(values),
        managers=place.state.managers,
        writes=(*_writes(place, values), *_restarts(place, needs_restart)),
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


def _restarts(place: SambaPlace, why: str | None) -> Iterator[str]:
    if place.restart:
        yield f"smbd is restarted each time ({place.restart.command}), and all its sessions end: {why}"


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
