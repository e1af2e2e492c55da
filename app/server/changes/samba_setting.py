"""Finds and checks a parameter of Samba that a trial is to change; nothing is written.

`samba_setting` asks the server for the place of the parameter and its value in effect, checks each value that is to be
tried, and returns the `ChangeableSetting` by which the trial changes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.base.errors import UsageError
from app.base.units import parse_size
from app.server.changes import samba_place, samba_plans, samba_values, script
from app.server.changes.setting import ChangeableSetting, Ways
from app.server.changes.smbd_restart import find_restart
from app.server.changes.socket_buffers import buffers_in_effect
from forms import wording
from forms.tuning import smb_conf
from forms.tuning.trial_rules import undo_needs_restart
from storage.changes import ChangeKind
from storage.records import Target


def samba_setting(
    name: str,
    values: Sequence[str],
    target: Target,
    ways: Ways,
    *,
    kept_lines: Sequence[samba_place.ConfLine] = (),
    kept_by_restart: bool = False,
) -> ChangeableSetting:
    """The parameter ``name``, or a socket option of that name, and the values to try, which are all checked.

    Without ``values``, those of the catalogue that the server does not have already. ``kept_lines`` are written beside
    each value, because an earlier trial of a tuning found them faster; ``kept_by_restart`` tells that only a restart
    brings those into effect. Raises UsageError, ChangeFailedError.
    """
    if not target.abilities.through_samba or not target.share:
        raise UsageError(f"{name} is a matter of Samba: name a target smb://HOST/SHARE/PATH")

    option = samba_values.socket_option(name)
    spelled = smb_conf.spelling(samba_values.parameter_of(name))
    if spelled.opposite:  # as ``writable`` says the opposite of ``read only``, under which Samba keeps it
        values = [smb_conf.opposite_value(value) for value in values]

    place = samba_place.find_place(spelled.name, target.share, ways.ssh, ways.smb_conf, target.port_number)
    place = replace(place, kept_lines=tuple(kept_lines))
    answer = script.read_there(samba_plans.look_text(place), place.ssh)
    previous = samba_plans.effective_value(answer)

    if option:
        values = [samba_values.with_socket_option(previous or "", option, parse_size(value)) for value in values]
    values = list(values) or samba_values.untried_values(name, previous)
    for value in values:
        samba_values.check_value(place, value)
    if previous is None:
        raise script.ChangeRefusedError(
            f"the effective value of {place.name} cannot be read on the server, so nothing could be proven: is smbd"
            f" running there with {place.conf}?"
        )
    risks = samba_values.accepted_risks(place.name, previous, values, ways.accepted, typed=name)

    reason_to_restart = _reason_to_restart(place, previous, values, ways, kept_by_restart=kept_by_restart)
    writes = _writes(place, values)
    if reason_to_restart:
        restart = find_restart(place.conf, ways.ssh)
        place = replace(place, restart=restart)
        writes.append(f"smbd is restarted each time ({restart.command}), and all its sessions end: {reason_to_restart}")

    change_of_samba = _SambaChange(place=place, port=target.port_number)
    return ChangeableSetting(
        kind=place.kind,
        name=place.name,
        section=f"[{place.section}]",
        previous=previous,
        configuration=answer.stripped("configuration"),
        machine=place.state.machine,
        ssh=place.ssh,
        values=tuple(values),
        managers=place.state.managers,
        writes=tuple(writes),
        undo_path=f"{place.folder}/{samba_place.UNDO}",
        risks=tuple(risks),
        place=place,
        plan=change_of_samba.plan,
        effective=samba_plans.effective_value,
        same=change_of_samba.is_same,
        live=change_of_samba.buffers_of_session if place.name == samba_values.SOCKET_OPTIONS else None,
    )


def _reason_to_restart(
    place: samba_place.SambaPlace, previous: str, values: Sequence[str], ways: Ways, *, kept_by_restart: bool
) -> str | None:
    """Why smbd must be restarted after each value; None where it need not.

    Raises ConsentNeededError where the parameter needs it and the user has not allowed it.
    """
    reason = undo_needs_restart(place.name, previous, tuple(values))
    if reason and not ways.restart:
        raise script.ConsentNeededError(
            f"{reason}, so only a restart of smbd changes it, which ends all sessions: allow that first;"
            " nothing was written",
            risk_of=None,
            options="--allow-restart",
        )
    if kept_by_restart and not reason:
        kept_names = [line.name for line in place.kept_lines]
        reason = f"{wording.listed(kept_names)} stays changed meanwhile"
    return reason


def _writes(place: samba_place.SambaPlace, values: Sequence[str]) -> list[str]:
    """What will be written and where, a line each, for the user's consent."""
    lines = [f"{place.own_name} = {value}" for value in values]
    if place.kind is ChangeKind.REGISTRY:
        destination = (
            f"in [{place.section}] of Samba's registry (net conf setparm), as its last parameter, also when restored"
        )
        return [f"{line}, {destination}" for line in lines]

    writes = [f"{line}, in [{place.section}] of {place.drop_in}" for line in lines]
    if place.state.files[place.conf].content != samba_plans.with_include(place):
        writes.append(f"[global] include = {place.drop_in}, as the last lines of {place.conf}")
    return writes


@dataclass(frozen=True, slots=True, kw_only=True)
class _SambaChange:
    """What a trial does with the setting: the functions of its `ChangeableSetting`."""

    place: samba_place.SambaPlace
    port: int
    """That smbd serves the trial's sessions at."""

    def plan(self, change_id: str, values: Sequence[str]) -> script.ServerChange:
        if self.place.kind is ChangeKind.REGISTRY:
            return samba_plans.plan_registry(change_id, self.place, values)
        return samba_plans.plan_samba(change_id, self.place, values)

    def is_same(self, effective: str, value: str) -> bool:
        return smb_conf.same_value(self.place.name, effective, value)

    def buffers_of_session(self, value: str) -> str | None:
        return buffers_in_effect(value, self.port, self.place.ssh)
