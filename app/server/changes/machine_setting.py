"""Finds a changeable setting; those of the machine: of the kernel (sysctl), a network card, and what commands change.

A change of a card can cut our own ssh connection, so a systemd timer restores it unless each step renews the timer.
Refused without systemd.
"""

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from app.base.errors import UsageError
from app.server.changes.script import (
    ChangeRefusedError,
    ConsentNeededError,
    ServerChange,
    ServerState,
    look,
    read_there,
)
from app.server.changes.smb_conf import ChangeableSetting, Ways, samba_setting, socket_option
from app.server.link_facts import is_this_machine
from app.server.shell import Answer
from forms.tuning import catalogue
from forms.tuning.catalogue import EntryKind
from forms.tuning.smb_conf import spelling, suggestions
from storage.changes import ChangeKind
from storage.records import Target

UNDO = "/var/lib/sharebench/sharebench-undo.sh"
PAIRS = {
    "vm.dirty_ratio": "vm.dirty_bytes",
    "vm.dirty_bytes": "vm.dirty_ratio",
    "vm.dirty_background_ratio": "vm.dirty_background_bytes",
    "vm.dirty_background_bytes": "vm.dirty_background_ratio",
}
"""Setting one of a pair sets the other to 0, which cannot be written back: restore by setting the other."""
_NAME = re.compile(r"(net|vm|fs|kernel)(\.[A-Za-z0-9_-]+)+")
_VALUE = re.compile(r"[A-Za-z0-9_-]+([ \t]+[A-Za-z0-9_-]+)*")
_AVAILABLE = "net.ipv4.tcp_available_congestion_control"


def is_sysctl(name: str) -> bool:
    return _NAME.fullmatch(name.strip()) is not None


def sysctl_setting(name: str, values: Sequence[str], *, ssh: str | None, accepted: Sequence[str]) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises UsageError, ChangeFailedError."""
    name = name.strip()
    state = look(ssh, undo=UNDO)
    partner = PAIRS.get(name)
    read = {"own": name, "partner": partner, "available": _AVAILABLE}
    script = "\n".join(f"section {part}\ncat {_path(one)} 2>/dev/null" for part, one in read.items() if one)
    found = read_there(script, ssh)
    previous = _tidy(found.text("own") or "")
    if not previous:
        raise ChangeRefusedError(f"the kernel there has no {name} that could be read; nothing was written")
    entries = [entry for entry in catalogue.about(name) if entry.kind is EntryKind.SYSCTL]
    if not entries and partner is None and name not in accepted:
        raise ConsentNeededError(
            f"{name} is not in the catalogue, so what it risks is not known: accept that, or leave it",
            risk_of=name,
            options=f"--accept-risk {name}",
        )
    candidates = [value for entry in entries for value in entry.values if _tidy(value) != previous]
    chosen = [_tidy(value) for value in values] or candidates
    if not chosen:
        raise UsageError(f"the catalogue has no other value of {name} to try: name one, {name}=VALUE")
    for value in chosen:
        _check(name, value, previous, (found.text("available") or "").split())
    old_partner = _tidy(found.text("partner") or "")
    return _setting(
        state, ssh, kind=ChangeKind.SYSCTL, name=name, previous=previous, values=tuple(chosen),
        writes=tuple(f"{name} = {value}, into the running kernel (no file)" for value in chosen),
        plan=lambda change_id, tried: _plan(change_id, name, previous, tried, (partner, old_partner)),
    )  # fmt: skip


def _setting(state: ServerState, ssh: str | None, **fields: Any) -> ChangeableSetting:
    return ChangeableSetting(
        machine=state.machine, ssh=ssh, managers=state.managers, undo_path=UNDO, effective=effective_value,
        same=lambda effective, value: _tidy(effective) == _tidy(value), **{"section": "", **fields},
    )  # fmt: skip


def effective_value(answer: Answer) -> str | None:
    return _tidy(answer.sections.get("effective", "")) if answer.code("effective") == 0 else None


def _check(name: str, value: str, previous: str, available: Sequence[str]) -> None:
    wrong = None
    if not _VALUE.fullmatch(value):
        wrong = "a value is words or whole numbers on one line"
    elif name == "net.ipv4.tcp_congestion_control":
        wrong = None if value in available else f"the kernel there has {', '.join(available)}: load its module first"
    elif re.fullmatch(r"[\d ]+", previous):
        numbers = value.split()
        if not all(number.isdecimal() for number in numbers) or len(numbers) != len(previous.split()):
            wrong = f"it is {len(previous.split())} whole numbers, such as {previous}"
        elif name.endswith("mem") and len(numbers) == 3 and [int(n) for n in numbers] != sorted(map(int, numbers)):
            wrong = "least, usual and most must not fall"
        elif name.endswith("_ratio") and not 0 < int(value) <= 100:
            wrong = "it is a percentage from 1 to 100"
        elif name.endswith("_bytes") and int(value) < 2 * 4096:
            wrong = "less than two pages is not taken"
    _refuse(name, value, wrong)


def _refuse(name: str, value: str, wrong: str | None) -> None:
    if wrong:
        raise ChangeRefusedError(f"{name} = {value} is refused: {wrong}; nothing was written")


def _plan(
    change_id: str, name: str, previous: str, values: Sequence[str], partner: tuple[str | None, str]
) -> ServerChange:
    """If the pair's other setting was in force, that one is restored."""
    path, other = _path(name), partner[0]
    now = f'"$(cat {path} 2>/dev/null)"'
    wanted = shlex.quote(previous)
    equal = f'[ "$(echo $(cat {path}))" = {wanted} ]'
    back = f"{equal} || printf '%s\\n' {wanted} >{path} || broken=yes"
    if other and previous == "0":
        back = f"{equal} || printf '%s\\n' {shlex.quote(partner[1])} >{_path(other)} || broken=yes"
    forget = "ip tcp_metrics flush all >/dev/null 2>&1\n" if name.startswith("net.ipv4.tcp") else ""
    sets = [f"printf '%s\\n' {shlex.quote(value)} >{path} || broken=yes" for value in values]
    return ServerChange(
        id=change_id, title=f"{name} = {' or '.join(values)}, which was {previous}", settle=f"{forget}sleep 0.1",
        look=f"section effective\ncat {path}\ncode=$?\nsection effective.rc\necho $code\n",
        **_steps(name, now, previous, values, (back, *sets)),
    )  # fmt: skip


def _steps(label: str, now: str, previous: str, values: Sequence[str], arms: tuple[str, ...]) -> dict[str, Any]:
    check = f"check_value {shlex.quote(label)} {now}"
    allowed = " ".join(shlex.quote(one) for one in (previous, *values))
    return {
        "undo_path": UNDO,
        "check": f"{check} {allowed}",
        "before": f"{check} {shlex.quote(previous)}",
        "arms": arms,
        "restore": arms[0],
    }


def _path(name: str) -> str:
    return shlex.quote(f"/proc/sys/{name.replace('.', '/')}")


def _tidy(value: str) -> str:
    return " ".join(value.split())


DEAD_MAN_SECONDS = 300
OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
    "lro": "large-receive-offload",
    "sg": "scatter-gather",
}
COALESCING = ("rx-usecs", "tx-usecs", "rx-frames", "tx-frames")
MTU = "mtu"
_CARD_SETTING = re.compile(r"([a-z-]+)@([A-Za-z0-9_.-]{1,15})")


def is_nic(name: str) -> bool:
    """Such as ``mtu@eth0``, ``tso@eth0``, ``rx-usecs@eth0``."""
    found = _CARD_SETTING.fullmatch(name.strip())
    return found is not None and found[1] in {MTU, *OFFLOADS, *COALESCING}


def nic_setting(name: str, values: Sequence[str], *, ssh: str | None) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises ChangeRefusedError, ChangeFailedError."""
    what, _, card = name.strip().partition("@")
    state = look(ssh, undo=UNDO, tools=("ip",) if what == MTU else ("ethtool",))
    read = _read_card(what, card)
    found = read_there(
        f"section own\n{read} 2>/dev/null\nsection systemd\nsystemctl show --property=Version 2>/dev/null", ssh
    )
    if not found.text("systemd"):
        raise ChangeRefusedError(
            f"{name} can cut the connection to the server, and without systemd nothing on it could then restore the"
            " setting: refused; nothing was written"
        )
    previous = (found.text("own") or "").strip()
    if not previous:
        raise ChangeRefusedError(f"the server has no card {card}, or {what} cannot be read there; nothing was written")
    for value in values:
        wrong = None
        if what == MTU and not (value.isdecimal() and 1280 <= int(value) <= 65535):
            wrong = "an MTU is a number from 1280 to 65535"
        elif what in OFFLOADS and value not in {"on", "off"}:
            wrong = "an offload is on or off"
        elif what in COALESCING and not (value.isdecimal() and int(value) <= 10_000):
            wrong = "it is a whole number up to 10000"
        _refuse(name, value, wrong)
    return _setting(
        state, ssh, kind=ChangeKind.NIC, name=name, section=card, previous=previous, values=tuple(values),
        writes=(
            *(f"{what} {value} on {card}: {_set(what, card, value)}" for value in values),
            f"a timer of systemd that restores it {DEAD_MAN_SECONDS} s after the last message from here",
        ),
        plan=lambda change_id, tried: _plan_card(change_id, what, card, previous, tried),
    )  # fmt: skip


def _read_card(what: str, card: str) -> str:
    if what == MTU:
        return f"ip -o link show dev {shlex.quote(card)} | sed -n 's/.* mtu \\([0-9]*\\).*/\\1/p'"
    if what in OFFLOADS:
        return f"ethtool -k {shlex.quote(card)} | sed -n 's/^{OFFLOADS[what]}: \\([a-z]*\\).*/\\1/p'"
    return f"ethtool -c {shlex.quote(card)} | sed -n 's/^{what}: *\\([0-9]*\\).*/\\1/p'"


def _set(what: str, card: str, value: str) -> str:
    if what == MTU:
        return f"ip link set dev {shlex.quote(card)} mtu {value}"
    return f"ethtool {'-K' if what in OFFLOADS else '-C'} {shlex.quote(card)} {what} {value}"


def _plan_card(change_id: str, what: str, card: str, previous: str, values: Sequence[str]) -> ServerChange:
    read, wanted = _read_card(what, card), shlex.quote(previous)
    back = f'[ "$({read})" = {wanted} ] || {_set(what, card, previous)} >&2 || broken=yes'
    sets = [f"{_set(what, card, value)} >&2 || broken=yes" for value in values]
    return ServerChange(
        id=change_id,
        title=f"{what} {' or '.join(values)} on {card}, which was {previous}",
        settle="sleep 2",  # a card that resets its queues or its link is away for a moment
        look=f"section effective\n{read}\nsection effective.rc\necho 0\n",
        dead_man_seconds=DEAD_MAN_SECONDS,
        seconds=60,
        **_steps(f"{what} of {card}", f'"$({read})"', previous, values, (back, *sets)),
    )


APPLIED = "applied"
AS_IT_WAS = "as it was"
_RUN = "</dev/null >&2"


def hook_setting(name: str, apply: str, revert: str, *, ssh: str | None) -> ChangeableSetting:
    """The server's shell runs both as root. Raises ChangeRefusedError."""

    def plan(change_id: str, _values: Sequence[str]) -> ServerChange:
        """Recorded before it is made, so that an interrupted one is reverted too. Both arms write equally to disk."""
        note = PurePosixPath(UNDO).with_name(f"applied-{change_id}")
        flush, do, undo = f"flush {note.parent}", *(f"sh -c {shlex.quote(one)} {_RUN}" for one in (apply, revert))
        back = f"if [ -e {note} ]; then\nif {undo}; then rm -f {note}; else broken=yes; fi\nfi"
        return ServerChange(
            id=change_id,
            title=f"{name} by a command",
            undo_path=UNDO,
            check=":",
            before=":",
            begin=f"mkdir -p {note.parent}",
            arms=(
                f"{back}\n{flush}",
                f"if [ ! -e {note} ]; then\n{{ (: >{note}) && {flush} && {do}; }} || broken=yes\nfi\n{flush}",
            ),
            restore=back,
            look=(
                f"section effective\nif [ -e {note} ]; then echo {APPLIED}; else echo {shlex.quote(AS_IT_WAS)}; fi\n"
                "section effective.rc\necho 0\n"
            ),
            seconds=600,
        )

    writes = (f"run: {apply}", f"to revert it: {revert}")
    fields = {"kind": ChangeKind.HOOK, "previous": AS_IT_WAS, "values": (APPLIED,), "writes": writes, "plan": plan}
    return _setting(look(ssh, undo=UNDO), ssh, name=name, **fields)


def find_setting(name: str, values: Sequence[str], target: Target, ways: Ways) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises UsageError, ChangeFailedError."""
    of_others = not (ways.apply or ways.revert) and spelling(name).parameter is None
    kinds = {entry.kind for entry in catalogue.about(name)} if of_others else set()
    if kinds and not kinds & {EntryKind.SMB_CONF, EntryKind.SYSCTL, EntryKind.NIC}:
        how = f"sharebench does not change {name} on a server: the catalogue says how to by hand; or name the commands"
        raise UsageError(how, options="--apply and --revert")
    if ways.ssh is None and target.host and not is_this_machine(target.host):
        of_samba = not (ways.apply or ways.revert or is_nic(name) or is_sysctl(name) or socket_option(name))
        if of_samba and spelling(name).parameter is None and (close := suggestions(name)):
            raise UsageError(f"Samba has no parameter {name!r}; did you mean {' or '.join(close)}?")
        raise UsageError(
            f"{target.host} is another machine: name the way there by ssh, root@{target.host}", options="--server-ssh"
        )
    if ways.apply or ways.revert:
        if not (ways.apply and ways.revert):
            raise UsageError("--apply and --revert go together: nothing is changed without a way back")
        if values:
            raise UsageError("with --apply the command says what is changed: name it without =VALUE")
        return hook_setting(name, ways.apply, ways.revert, ssh=ways.ssh)
    if is_nic(name):
        if not values:
            raise UsageError(f"name a value: {name}=VALUE")
        return nic_setting(name, values, ssh=ways.ssh)
    if is_sysctl(name):
        return sysctl_setting(name, values, ssh=ways.ssh, accepted=ways.accepted)
    return samba_setting(name, values, target, ways)
