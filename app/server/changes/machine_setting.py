"""Finds a changeable setting; those of the machine: of the kernel (sysctl), a network card, and what commands change.

A change of a card can cut our own ssh connection, so a systemd timer restores it unless each step renews the timer.
Refused without systemd.
"""

import re
import shlex
from collections.abc import Sequence
from itertools import chain
from pathlib import PurePosixPath

from app.base.errors import UsageError
from app.server.changes import script
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
    state = script.look(ssh, undo=UNDO)

    partner = PAIRS.get(name)
    names = {"own": name, "partner": partner, "available": _AVAILABLE}
    commands = [f"section {part}\ncat {_path(setting)} 2>/dev/null" for part, setting in names.items() if setting]
    answer = script.read_there("\n".join(commands), ssh)
    previous = _tidy(answer.text("own") or "")
    if not previous:
        raise script.ChangeRefusedError(f"the kernel there has no {name} that could be read; nothing was written")

    entries = [entry for entry in catalogue.about(name) if entry.kind is EntryKind.SYSCTL]
    if not entries and partner is None and name not in accepted:
        raise script.ConsentNeededError(
            f"{name} is not in the catalogue, so what it risks is not known: accept that, or leave it",
            risk_of=name,
            options=f"--accept-risk {name}",
        )

    trial_values = [_tidy(value) for value in values]
    if not trial_values:
        in_catalogue = chain.from_iterable(entry.values for entry in entries)
        trial_values = [value for value in in_catalogue if _tidy(value) != previous]
    if not trial_values:
        raise UsageError(f"the catalogue has no other value of {name} to try: name one, {name}=VALUE")
    for value in trial_values:
        _check_sysctl(name, value, previous, (answer.text("available") or "").split())

    partner_value = _tidy(answer.text("partner") or "")

    def plan(change_id: str, arm_values: Sequence[str]) -> script.ServerChange:
        return _plan_sysctl(change_id, name, previous, arm_values, (partner, partner_value))

    return ChangeableSetting(
        kind=ChangeKind.SYSCTL,
        name=name,
        section="",
        previous=previous,
        values=tuple(trial_values),
        writes=tuple(f"{name} = {value}, into the running kernel (no file)" for value in trial_values),
        machine=state.machine,
        ssh=ssh,
        managers=state.managers,
        undo_path=UNDO,
        plan=plan,
        effective=effective_value,
        same=_is_same,
    )


def _is_same(effective: str, value: str) -> bool:
    return _tidy(effective) == _tidy(value)


def effective_value(answer: Answer) -> str | None:
    return _tidy(answer.sections.get("effective", "")) if answer.code("effective") == 0 else None


def _check_sysctl(name: str, value: str, previous: str, available: Sequence[str]) -> None:
    """``available`` are the kernel's kinds of congestion control. Raises ChangeRefusedError."""
    wrong = None
    if not _VALUE.fullmatch(value):
        wrong = "a value is words or whole numbers on one line"
    elif name == "net.ipv4.tcp_congestion_control":
        wrong = None if value in available else f"the kernel there has {', '.join(available)}: load its module first"
    elif re.fullmatch(r"[\d ]+", previous):
        wrong = _wrong_numbers(name, value.split(), previous)
    _refuse_if_wrong(name, value, wrong)


def _wrong_numbers(name: str, words: Sequence[str], previous: str) -> str | None:
    count = len(previous.split())
    if not all(word.isdecimal() for word in words) or len(words) != count:
        return f"it is {count} whole numbers, such as {previous}"

    numbers = [int(word) for word in words]
    if name.endswith("mem") and count == 3 and numbers != sorted(numbers):
        return "least, usual and most must not fall"
    if name.endswith("_ratio") and not 0 < numbers[0] <= 100:
        return "it is a percentage from 1 to 100"
    if name.endswith("_bytes") and numbers[0] < 2 * 4096:
        return "less than two pages is not taken"
    return None


def _refuse_if_wrong(name: str, value: str, wrong: str | None) -> None:
    if wrong:
        raise script.ChangeRefusedError(f"{name} = {value} is refused: {wrong}; nothing was written")


def _plan_sysctl(
    change_id: str, name: str, previous: str, values: Sequence[str], partner: tuple[str | None, str]
) -> script.ServerChange:
    """``partner`` is the pair's other setting and its value: if that was in force, it is restored."""
    path = _path(name)
    partner_name, partner_value = partner
    now = f'"$(cat {path} 2>/dev/null)"'
    quoted = shlex.quote(previous)
    equal = f'[ "$(echo $(cat {path}))" = {quoted} ]'
    restore = f"{equal} || printf '%s\\n' {quoted} >{path} || broken=yes"
    if partner_name and previous == "0":
        restore = f"{equal} || printf '%s\\n' {shlex.quote(partner_value)} >{_path(partner_name)} || broken=yes"

    # What TCP learned of the path before would hide what the setting does.
    forget = "ip tcp_metrics flush all >/dev/null 2>&1\n" if name.startswith("net.ipv4.tcp") else ""
    arms = [f"printf '%s\\n' {shlex.quote(value)} >{path} || broken=yes" for value in values]
    return script.ServerChange(
        id=change_id,
        title=f"{name} = {' or '.join(values)}, which was {previous}",
        undo_path=UNDO,
        check=_check_value(name, now, (previous, *values)),
        before=_check_value(name, now, (previous,)),
        arms=(restore, *arms),
        restore=restore,
        settle=f"{forget}sleep 0.1",
        look=f"section effective\ncat {path}\ncode=$?\nsection effective.rc\necho $code\n",
    )


def _check_value(label: str, now: str, allowed: Sequence[str]) -> str:
    """The call that sees whether the value that the shell text ``now`` reads is one of those."""
    words = " ".join(shlex.quote(value) for value in allowed)
    return f"check_value {shlex.quote(label)} {now} {words}"


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
    match = _CARD_SETTING.fullmatch(name.strip())
    return match is not None and match[1] in {MTU, *OFFLOADS, *COALESCING}


def nic_setting(name: str, values: Sequence[str], *, ssh: str | None) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises ChangeRefusedError, ChangeFailedError."""
    parameter, _, card = name.strip().partition("@")
    state = script.look(ssh, undo=UNDO, tools=("ip",) if parameter == MTU else ("ethtool",))
    read_command = _read_card(parameter, card)
    answer = script.read_there(
        f"section own\n{read_command} 2>/dev/null\nsection systemd\nsystemctl show --property=Version 2>/dev/null", ssh
    )
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
        _refuse_if_wrong(name, value, _wrong_card_value(parameter, value))

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
        undo_path=UNDO,
        plan=plan,
        effective=effective_value,
        same=_is_same,
    )


def _wrong_card_value(parameter: str, value: str) -> str | None:
    if parameter == MTU and not (value.isdecimal() and 1280 <= int(value) <= 65535):
        return "an MTU is a number from 1280 to 65535"
    if parameter in OFFLOADS and value not in {"on", "off"}:
        return "an offload is on or off"
    if parameter in COALESCING and not (value.isdecimal() and int(value) <= 10_000):
        return "it is a whole number up to 10000"
    return None


def _read_card(parameter: str, card: str) -> str:
    if parameter == MTU:
        return f"ip -o link show dev {shlex.quote(card)} | sed -n 's/.* mtu \\([0-9]*\\).*/\\1/p'"
    if parameter in OFFLOADS:
        return f"ethtool -k {shlex.quote(card)} | sed -n 's/^{OFFLOADS[parameter]}: \\([a-z]*\\).*/\\1/p'"
    return f"ethtool -c {shlex.quote(card)} | sed -n 's/^{parameter}: *\\([0-9]*\\).*/\\1/p'"


def _set_card(parameter: str, card: str, value: str) -> str:
    if parameter == MTU:
        return f"ip link set dev {shlex.quote(card)} mtu {value}"
    option = "-K" if parameter in OFFLOADS else "-C"
    return f"ethtool {option} {shlex.quote(card)} {parameter} {value}"


def _plan_card(change_id: str, parameter: str, card: str, previous: str, values: Sequence[str]) -> script.ServerChange:
    read_command = _read_card(parameter, card)
    now = f'"$({read_command})"'
    label = f"{parameter} of {card}"

    restore = f"[ {now} = {shlex.quote(previous)} ] || {_set_card(parameter, card, previous)} >&2 || broken=yes"
    arms = [f"{_set_card(parameter, card, value)} >&2 || broken=yes" for value in values]

    return script.ServerChange(
        id=change_id,
        title=f"{parameter} {' or '.join(values)} on {card}, which was {previous}",
        undo_path=UNDO,
        check=_check_value(label, now, (previous, *values)),
        before=_check_value(label, now, (previous,)),
        arms=(restore, *arms),
        restore=restore,
        settle="sleep 2",  # a card that resets its queues or its link is away for a moment
        look=f"section effective\n{read_command}\nsection effective.rc\necho 0\n",
        dead_man_seconds=DEAD_MAN_SECONDS,
        seconds=60,
    )


APPLIED = "applied"
AS_IT_WAS = "as it was"
_RUN = "</dev/null >&2"


def hook_setting(name: str, apply: str, revert: str, *, ssh: str | None) -> ChangeableSetting:
    """The server's shell runs both as root. Raises ChangeRefusedError."""

    def plan(change_id: str, _values: Sequence[str]) -> script.ServerChange:
        """Recorded before it is made, so that an interrupted one is reverted too. Both arms write equally to disk."""
        note = PurePosixPath(UNDO).with_name(f"applied-{change_id}")
        flush = f"flush {note.parent}"
        run_apply = f"sh -c {shlex.quote(apply)} {_RUN}"
        run_revert = f"sh -c {shlex.quote(revert)} {_RUN}"
        restore = f"if [ -e {note} ]; then\nif {run_revert}; then rm -f {note}; else broken=yes; fi\nfi"
        return script.ServerChange(
            id=change_id,
            title=f"{name} by a command",
            undo_path=UNDO,
            check=":",
            before=":",
            begin=f"mkdir -p {note.parent}",
            arms=(
                f"{restore}\n{flush}",
                f"if [ ! -e {note} ]; then\n{{ (: >{note}) && {flush} && {run_apply}; }} || broken=yes\nfi\n{flush}",
            ),
            restore=restore,
            look=(
                f"section effective\nif [ -e {note} ]; then echo {APPLIED}; else echo {shlex.quote(AS_IT_WAS)}; fi\n"
                "section effective.rc\necho 0\n"
            ),
            seconds=600,
        )

    state = script.look(ssh, undo=UNDO)
    return ChangeableSetting(
        kind=ChangeKind.HOOK,
        name=name,
        section="",
        previous=AS_IT_WAS,
        values=(APPLIED,),
        writes=(f"run: {apply}", f"to revert it: {revert}"),
        machine=state.machine,
        ssh=ssh,
        managers=state.managers,
        undo_path=UNDO,
        plan=plan,
        effective=effective_value,
        same=_is_same,
    )


def find_setting(name: str, values: Sequence[str], target: Target, ways: Ways) -> ChangeableSetting:
    """All values are checked, nothing is written. Raises UsageError, ChangeFailedError."""
    has_commands = bool(ways.apply or ways.revert)
    is_parameter = spelling(name).parameter is not None
    if not has_commands and not is_parameter:
        kinds = {entry.kind for entry in catalogue.about(name)}
        if kinds and not kinds & {EntryKind.SMB_CONF, EntryKind.SYSCTL, EntryKind.NIC}:
            raise UsageError(
                f"sharebench does not change {name} on a server: the catalogue says how to by hand; or name the"
                " commands",
                options="--apply and --revert",
            )

    if ways.ssh is None and target.host and not is_this_machine(target.host):
        is_for_samba = not (has_commands or is_nic(name) or is_sysctl(name) or socket_option(name))
        similar_names = suggestions(name) if is_for_samba and not is_parameter else []
        if similar_names:
            raise UsageError(f"Samba has no parameter {name!r}; did you mean {' or '.join(similar_names)}?")
        raise UsageError(
            f"{target.host} is another machine: name the way there by ssh, root@{target.host}", options="--server-ssh"
        )

    if has_commands:
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
