"""A setting of a network card that can be changed: its MTU, an offload, or how it groups its interrupts.

Such a change can cut our own ssh connection, so the server restores it by itself, by a timer of systemd that each step
of the trial starts anew. Without systemd the change is refused.
"""

import re
import shlex
from collections.abc import Sequence

from app.server.changes import machine, script
from app.server.changes.setting import ChangeableSetting
from storage.changes import ChangeKind

DEAD_MAN_SECONDS = 300
"""Time after the last message from here when the server restores the setting by itself."""
_LONGEST_COALESCING = 10_000
"""Microseconds, or frames: a limit of sharebench, not of the cards."""

OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "gro": "generic-receive-offload",
    "lro": "large-receive-offload",
    "sg": "scatter-gather",
}
"""As ``ethtool -K`` takes them, and as ``ethtool -k`` prints them."""
COALESCING = ("rx-usecs", "tx-usecs", "rx-frames", "tx-frames")
"""How long, or for how many frames, a card waits before it interrupts a processor (``ethtool -C``)."""
MTU = "mtu"
_CARD_SETTING = re.compile(r"([a-z-]+)@([A-Za-z0-9_.-]{1,15})")


def is_nic(name: str) -> bool:
    """Whether it is the name of such a setting: ``mtu@eth0``, ``tso@eth0``, ``rx-usecs@eth0``."""
    match = _CARD_SETTING.fullmatch(name.strip())
    return match is not None and match[1] in {MTU, *OFFLOADS, *COALESCING}


def nic_setting(name: str, values: Sequence[str], *, ssh: str | None) -> ChangeableSetting:
    """The setting ``PARAMETER@CARD`` and the values to try, which are all checked; nothing is written.

    Raises ChangeRefusedError, ChangeFailedError.
    """
    parameter, _, card = name.strip().partition("@")
    tool = "ip" if parameter == MTU else "ethtool"
    state = script.server_state(ssh, undo=machine.UNDO, tools=(tool,))

    read_command = _read_card(parameter, card)
    read_both = (
        f"section own\n{{ {read_command}; }} 2>/dev/null\n"
        "section systemd\nsystemctl show --property=Version 2>/dev/null"
    )
    answer = script.read_there(read_both, ssh)
    if not answer.text("systemd"):
        raise script.ChangeRefusedError(
            f"{name} can cut the connection to the server, and without systemd nothing on it could then restore the"
            " setting: refused; nothing was written"
        )

    previous = answer.stripped("own")
    if not previous:
        raise script.ChangeRefusedError(
            f"the server has no card {card}, or {parameter} cannot be read there; nothing was written"
        )
    for value in values:
        machine.refuse_if_wrong(name, value, _wrong_card_value(parameter, value))

    def plan(change_id: str, arm_values: Sequence[str]) -> script.ServerChange:
        return _plan_card(change_id, parameter, card, previous, arm_values)

    return ChangeableSetting(
        kind=ChangeKind.NIC,
        name=name,
        section=card,
        previous=previous,
        values=tuple(values),
        writes=(
            *(f"{parameter} {value} on {card}: {_set_card(parameter, card, value)}" for value in values),
            f"a timer of systemd that restores it {DEAD_MAN_SECONDS} s after the last message from here",
        ),
        machine=state.machine,
        ssh=ssh,
        managers=state.managers,
        undo_path=machine.UNDO,
        plan=plan,
        effective=machine.effective_value,
        same=machine.is_same,
    )


def _wrong_card_value(parameter: str, value: str) -> str | None:
    """What is wrong with the value; None for nothing."""
    # IPv6 needs 1280 (RFC 8200); a frame's length has 16 bits.
    if parameter == MTU and not (value.isdecimal() and 1280 <= int(value) <= 65535):
        return "an MTU is a number from 1280 to 65535"
    if parameter in OFFLOADS and value not in {"on", "off"}:
        return "an offload is on or off"
    if parameter in COALESCING and not (value.isdecimal() and int(value) <= _LONGEST_COALESCING):
        return "it is a whole number up to 10000"
    return None


def _read_card(parameter: str, card: str) -> str:
    """Shell text that prints the value alone, nothing where the card or the parameter is missing."""
    if parameter == MTU:
        return f"ip -o link show dev {shlex.quote(card)} | sed -n 's/.* mtu \\([0-9]*\\).*/\\1/p'"
    if parameter in OFFLOADS:
        return f"ethtool -k {shlex.quote(card)} | sed -n 's/^{OFFLOADS[parameter]}: \\([a-z]*\\).*/\\1/p'"
    return f"ethtool -c {shlex.quote(card)} | sed -n 's/^{parameter}: *\\([0-9]*\\).*/\\1/p'"


def _set_card(parameter: str, card: str, value: str) -> str:
    """The command that sets the value."""
    if parameter == MTU:
        return f"ip link set dev {shlex.quote(card)} mtu {value}"
    option = "-K" if parameter in OFFLOADS else "-C"
    return f"ethtool {option} {shlex.quote(card)} {parameter} {value}"


def _plan_card(change_id: str, parameter: str, card: str, previous: str, values: Sequence[str]) -> script.ServerChange:
    """The shell text of the change, in the parts that `script.ServerChange` describes.

    An arm sets one of the values, the first one the value that was there before. A command that fails sets
    ``broken=yes``.
    """
    read_command = _read_card(parameter, card)
    now = f'"$({read_command})"'
    label = f"{parameter} of {card}"

    restore = f"[ {now} = {shlex.quote(previous)} ] || {_set_card(parameter, card, previous)} >&2 || broken=yes"
    arms = [f"{_set_card(parameter, card, value)} >&2 || broken=yes" for value in values]

    return script.ServerChange(
        id=change_id,
        title=f"{parameter} {' or '.join(values)} on {card}, which was {previous}",
        undo_path=machine.UNDO,
        check=machine.check_value_call(label, now, (previous, *values)),
        before=machine.check_value_call(label, now, (previous,)),
        arms=(restore, *arms),
        restore=restore,
        settle="sleep 2",  # a card that resets its queues or its link is away for a moment
        look=f"section effective\n{read_command}\nsection effective.rc\necho 0\n",
        dead_man_seconds=DEAD_MAN_SECONDS,
        seconds=60,
    )
