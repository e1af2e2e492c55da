"""A parameter of Samba that can be changed: its values are checked, and its risks told, before anything is written."""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.base.errors import UsageError
from app.base.units import parse_size
from app.server import smbd
from app.server.changes.samba_place import (
    LOG_LEVEL,
    UNDO,
    ConfLine,
    SambaPlace,
    drop_in_content,
    effective_value,
    find_place,
    find_restart,
    look_text,
    plan_registry,
    plan_samba,
    with_include,
)
from app.server.changes.script import (
    ChangeFailedError,
    ChangeRefusedError,
    ConsentNeededError,
    ServerChange,
    read_there,
)
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.shell import script_file, with_variables
from forms import wording
from forms.tuning import catalogue, smb_conf
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import opposite_value, same_value, spelling
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
    kept_lines: Sequence[ConfLine] = (),
    kept_by_restart: bool = False,
) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises UsageError, ChangeFailedError.

    ``kept_lines`` are present in every arm, ``kept_by_restart`` whether only a restart brings those into effect.
    """
    if not target.abilities.through_samba or not target.share:
        raise UsageError(f"{name} is a matter of Samba: name a target smb://HOST/SHARE/PATH")

    option = socket_option(name)
    spelled = spelling(SOCKET_OPTIONS if option else name)
    if spelled.opposite:
        values = [opposite_value(value) for value in values]
    place = find_place(spelled.name, target.share, ways.ssh, ways.smb_conf, target.port_number)
    place = replace(place, kept_lines=tuple(kept_lines))
    answer = read_there(look_text(place), place.ssh)
    previous = effective_value(answer)

    if option:
        values = [_with_socket_option(previous or "", option, parse_size(value)) for value in values]
    values = list(values) or _untried_values(name, previous)
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
        kept_names = [line.name for line in kept_lines]
        needs_restart = f"{wording.listed(kept_names)} stays changed meanwhile"
    writes = _writes(place, values)
    if needs_restart:
        restart = find_restart(place.conf, ways.ssh)
        place = replace(place, restart=restart)
        writes.append(f"smbd is restarted each time ({restart.command}), and all its sessions end: {needs_restart}")
    return _samba_setting_at(
        place, previous, values, writes, risks, answer.stripped("configuration"), target.port_number
    )


def _samba_setting_at(
    place: SambaPlace,
    previous: str,
    values: Sequence[str],
    writes: Sequence[str],
    risks: Sequence[str],
    configuration: str,
    port: int,
) -> ChangeableSetting:
    def plan(change_id: str, arm_values: Sequence[str]) -> ServerChange:
        plan_change = plan_registry if place.kind is ChangeKind.REGISTRY else plan_samba
        return plan_change(change_id, place, arm_values)

    def is_same(effective: str, value: str) -> bool:
        return same_value(place.name, effective, value)

    def live(value: str) -> str | None:
        return _live_buffers(place, value, port)

    return ChangeableSetting(
        kind=place.kind,
        name=place.name,
        section=f"[{place.section}]",
        previous=previous,
        configuration=configuration,
        machine=place.state.machine,
        ssh=place.ssh,
        values=tuple(values),
        managers=place.state.managers,
        writes=tuple(writes),
        undo_path=f"{place.folder}/{UNDO}",
        risks=tuple(risks),
        place=place,
        plan=plan,
        effective=effective_value,
        same=is_same,
        live=live if place.name == SOCKET_OPTIONS else None,
    )


def _with_socket_option(options: str, option: str, size_bytes: int) -> str:
    words = options.replace(",", " ").split()
    others = [word for word in words if word.partition("=")[0].upper() != option]
    return " ".join([*others, f"{option}={size_bytes}"])


def socket_option(name: str) -> str | None:
    word = name.strip().upper()
    return word if word in {*data()["socket_options"]["flags"], *data()["socket_options"]["numbers"]} else None


def _untried_values(name: str, previous: str | None) -> list[str]:
    """The catalogue's values but the one that is set. Raises UsageError where there is none."""
    canonical_name = spelling(name).name
    values: dict[str, None] = {}
    for entry in catalogue.about(name):
        if entry.kind is EntryKind.SMB_CONF:
            values |= dict.fromkeys(entry.values)

    untried = [value for value in values if previous is None or not same_value(canonical_name, previous, value)]
    if not untried:
        raise UsageError(f"the catalogue has no other value of {name} to try: name one, {name}=VALUE")
    return untried


def _risks(name: str, previous: str, values: Sequence[str], accepted: Sequence[str], *, typed: str) -> list[str]:
    """Raises ConsentNeededError for a risk that was not accepted, by the parameter's name or as it was typed."""
    accepted_names = {spelling(parameter).name for parameter in accepted}
    accepted_names |= {parameter.strip().lower() for parameter in accepted}
    is_accepted = name in accepted_names or typed.strip().lower() in accepted_names

    risks = []
    for value in values:
        risk = None if same_value(name, previous, value) else risk_of(name, value)
        if risk is None:
            continue
        if not is_accepted:
            raise ConsentNeededError(
                f"{name} = {value} has a risk: {risk}; accept it, or leave it",
                risk_of=name,
                options=f"--accept-risk '{name}'",
            )
        risks.append(f"{name} = {value}: {risk}")
    return risks


def _writes(place: SambaPlace, values: Sequence[str]) -> list[str]:
    lines = [f"{place.name} = {value}" for value in values]
    if place.kind is ChangeKind.REGISTRY:
        destination = (
            f"in [{place.section}] of Samba's registry (net conf setparm), as its last parameter, also when restored"
        )
        return [f"{line}, {destination}" for line in lines]

    writes = [f"{line}, in [{place.section}] of {place.drop_in}" for line in lines]
    if place.state.files[place.conf].content != with_include(place):
        writes.append(f"[global] include = {place.drop_in}, as the last lines of {place.conf}")
    return writes


def _live_buffers(place: SambaPlace, value: str, port: int) -> str | None:
    """Socket buffers of open sessions, if socket options set them. Raises ChangeFailedError where they are others."""
    options = re.findall(r"(SO_(?:SND|RCV)BUF)=(\d+)", value, re.IGNORECASE)
    size_by_option = {option.upper(): int(size) for option, size in options}
    if not size_by_option:
        return None

    answer = read_there(f"section sockets\nss -tmnH state established '( sport = :{port} )' 2>/dev/null", place.ssh)
    memories = re.findall(r"skmem:\(([^)]*)\)", answer.text("sockets") or "")
    sockets = [dict(re.findall(r"([tr]b)(\d+)", memory)) for memory in memories]
    if not sockets:
        return None

    evidence = []
    for option, size in size_by_option.items():
        key = "tb" if option == "SO_SNDBUF" else "rb"
        buffers = {int(socket[key]) for socket in sockets if key in socket}
        # The kernel doubles what is asked for; a buffer that is far larger is none that was asked for.
        is_too_small = all(buffer < size for buffer in buffers)
        is_too_large = all(buffer > 4 * size + 8192 for buffer in buffers)
        if is_too_small or is_too_large:
            raise ChangeFailedError(
                f"{option}={size} is in the configuration, but the buffers of new sessions are {sorted(buffers)} bytes:"
                " it does not act (net.core.wmem_max and rmem_max limit it)"
            )
        evidence.append(f"{option} of a new session {min(buffers)} bytes (the kernel doubles it)")
    return ", ".join(evidence)


def check_value(place: SambaPlace, value: str) -> None:
    """Raises ChangeRefusedError."""
    proposal = Proposal(name=place.name, value=value, section=place.section, conf=place.conf)
    reasons = list(refusals(proposal, place.knows))
    if not reasons and place.kind is ChangeKind.SMB_CONF:
        reasons = list(_testparm_reasons(place, value))
    if reasons:
        raise ChangeRefusedError(f"{place.name} = {value} is refused, and nothing was written: {'; '.join(reasons)}")


def _testparm_reasons(place: SambaPlace, value: str) -> Iterator[str]:
    """Why testparm does not take the value, in a copy of the configuration."""
    line = ConfLine(section=place.section, name=place.name, value=value)
    variables = {
        "dropin": base64.b64encode(drop_in_content(place, "check", [line])).decode(),
        "old": base64.b64encode(place.state.files[place.conf].content or b"").decode(),
        "name": place.name,
        "share": "" if place.section == "global" else place.section,
    }
    answer = read_there(with_variables(script_file("app.server.changes", "check.sh"), variables), place.ssh)
    if answer.problem:
        yield answer.problem
        return

    warnings = smbd.warnings(answer.text("testparm.err"))
    new_complaints = [line for line in warnings if line not in place.complaints and _is_complaint(line)]
    if answer.code("testparm") != 0 or new_complaints:
        yield f"testparm says: {'; '.join(new_complaints or warnings[-2:]) or 'it does not load'}"
        return

    effective = answer.stripped("effective")
    if answer.code("effective") != 0:
        yield "testparm does not know it"
    elif place.name != LOG_LEVEL and not smb_conf.same_value(place.name, effective, value):
        yield f"Samba would take it as {effective or 'nothing'}"


def _is_complaint(line: str) -> bool:
    return any(words in line for words in _COMPLAINTS)


_COMPLAINTS = ("Unknown parameter", "Ignoring", "nvalid value", "not boolean", "not a valid", "badly formed")
