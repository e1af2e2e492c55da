"""Settings of a network card: MTU, offload or coalescing time, with a dead man's switch on the server.

A change can cut our own ssh connection, so a systemd timer restores it unless each step renews the timer. Refused
without systemd.
"""

import re
import shlex
from collections.abc import Sequence

from app.changes import sysctl
from app.changes.script import ServerChange
from app.changes.server import ChangeRefusedError, look, read_there
from app.changes.smb_conf import ChangeableSetting
from app.changes.sysctl import effective_value
from storage.changes import ChangeKind

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
_NAME = re.compile(r"([a-z-]+)@([A-Za-z0-9_.-]{1,15})")


def is_nic(name: str) -> bool:
    """Such as ``mtu@eth0``, ``tso@eth0``, ``rx-usecs@eth0``."""
    found = _NAME.fullmatch(name.strip())
    return found is not None and found[1] in {MTU, *OFFLOADS, *COALESCING}


def nic_setting(name: str, values: Sequence[str], *, ssh: str | None) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises ChangeRefusedError."""
    what, _, card = name.strip().partition("@")
    state = look(ssh, undo=sysctl.UNDO, tools=("ip",) if what == MTU else ("ethtool",))
    read = _read(what, card)
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
        _check(name, what, value)
    return ChangeableSetting(
        kind=ChangeKind.NIC,
        name=name,
        section=card,
        previous=previous,
        machine=state.machine,
        ssh=ssh,
        values=tuple(values),
        managers=state.managers,
        writes=(
            *(f"{what} {value} on {card}: {_set(what, card, value)}" for value in values),
            f"a timer of systemd that restores it {DEAD_MAN_SECONDS} s after the last message from here",
        ),
        undo_path=sysctl.UNDO,
        plan=lambda change_id, tried: _plan(change_id, what, card, previous, tried),
        effective=effective_value,
        same=lambda effective, value: effective == value,
    )


def _check(name: str, what: str, value: str) -> None:
    wrong = None
    if what == MTU and not (value.isdecimal() and 1280 <= int(value) <= 65535):
        wrong = "an MTU is a number from 1280 to 65535"
    elif what in OFFLOADS and value not in {"on", "off"}:
        wrong = "an offload is on or off"
    elif what in COALESCING and not (value.isdecimal() and int(value) <= 10_000):
        wrong = "it is a whole number up to 10000"
    if wrong:
        raise ChangeRefusedError(f"{name} = {value} is refused: {wrong}; nothing was written")


def _read(what: str, card: str) -> str:
    if what == MTU:
        return f"ip -o link show dev {shlex.quote(card)} | sed -n 's/.* mtu \\([0-9]*\\).*/\\1/p'"
    if what in OFFLOADS:
        return f"ethtool -k {shlex.quote(card)} | sed -n 's/^{OFFLOADS[what]}: \\([a-z]*\\).*/\\1/p'"
    return f"ethtool -c {shlex.quote(card)} | sed -n 's/^{what}: *\\([0-9]*\\).*/\\1/p'"


def _set(what: str, card: str, value: str) -> str:
    if what == MTU:
        return f"ip link set dev {shlex.quote(card)} mtu {value}"
    return f"ethtool {'-K' if what in OFFLOADS else '-C'} {shlex.quote(card)} {what} {value}"


def _plan(change_id: str, what: str, card: str, previous: str, values: Sequence[str]) -> ServerChange:
    read, wanted = _read(what, card), shlex.quote(previous)
    back = f'[ "$({read})" = {wanted} ] || {_set(what, card, previous)} >&2 || broken=yes'
    allowed = " ".join(shlex.quote(one) for one in (previous, *values))
    label = shlex.quote(f"{what} of {card}")
    return ServerChange(
        id=change_id,
        title=f"{what} {' or '.join(values)} on {card}, which was {previous}",
        undo_path=sysctl.UNDO,
        check=f'check_value {label} "$({read})" {allowed}',
        before=f'check_value {label} "$({read})" {wanted}',
        arms=(back, *(f"{_set(what, card, value)} >&2 || broken=yes" for value in values)),
        restore=back,
        settle="sleep 2",  # a card that resets its queues or its link is away for a moment
        look=f"section effective\n{read}\nsection effective.rc\necho 0\n",
        dead_man_seconds=DEAD_MAN_SECONDS,
        seconds=60,
    )
