"""A setting of the running kernel (sysctl) that can be changed."""

import re
import shlex
from collections.abc import Sequence
from itertools import chain

from app.base.errors import UsageError
from app.server.changes import machine, script
from app.server.changes.setting import ChangeableSetting
from forms.tuning import catalogue
from forms.tuning.catalogue import EntryKind
from storage.changes import ChangeKind

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
_PAGE_BYTES = 4096


def is_sysctl(name: str) -> bool:
    """Whether it is the name of such a setting: ``vm.dirty_ratio``."""
    return _NAME.fullmatch(name.strip()) is not None


def sysctl_setting(name: str, values: Sequence[str], *, ssh: str | None, accepted: Sequence[str]) -> ChangeableSetting:
    """The setting and the values to try, which are all checked; nothing is written.

    Without ``values``, those of the catalogue that the kernel does not have already. ``accepted`` are the names whose
    risks the user accepts. Raises UsageError, ChangeFailedError.
    """
    name = name.strip()
    state = script.server_state(ssh, undo=machine.UNDO)

    partner = PAIRS.get(name)
    settings_by_section = {"own": name, "partner": partner, "available": _AVAILABLE}
    commands = [
        f"section {section}\ncat {_path(setting)} 2>/dev/null"
        for section, setting in settings_by_section.items()
        if setting
    ]
    answer = script.read_there("\n".join(commands), ssh)
    previous = machine.tidy(answer.text("own") or "")
    partner_value = machine.tidy(answer.text("partner") or "")
    congestion_controls = (answer.text("available") or "").split()
    if not previous:
        raise script.ChangeRefusedError(f"the kernel there has no {name} that could be read; nothing was written")

    trial_values = _values_to_try(name, values, previous, accepted)
    for value in trial_values:
        _check_sysctl(name, value, previous, congestion_controls)

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
        undo_path=machine.UNDO,
        plan=plan,
        effective=machine.effective_value,
        same=machine.is_same,
    )


def _values_to_try(name: str, values: Sequence[str], previous: str, accepted: Sequence[str]) -> list[str]:
    """The values that were named, or else the catalogue's but the one that is set. Raises UsageError."""
    entries = [entry for entry in catalogue.about(name) if entry.kind is EntryKind.SYSCTL]
    if not entries and name not in PAIRS and name not in accepted:
        raise script.ConsentNeededError(
            f"{name} is not in the catalogue, so what it risks is not known: accept that, or leave it",
            risk_of=name,
            options=f"--accept-risk {name}",
        )

    if values:
        return [machine.tidy(value) for value in values]
    in_catalogue = chain.from_iterable(entry.values for entry in entries)
    untried_values = [value for value in in_catalogue if machine.tidy(value) != previous]
    if not untried_values:
        raise UsageError(f"the catalogue has no other value of {name} to try: name one, {name}=VALUE")
    return untried_values


def _check_sysctl(name: str, value: str, previous: str, available: Sequence[str]) -> None:
    """``available`` are the kernel's congestion controls. Raises ChangeRefusedError for a value that is not taken."""
    wrong = None
    if not _VALUE.fullmatch(value):
        wrong = "a value is words or whole numbers on one line"
    elif name == "net.ipv4.tcp_congestion_control":
        wrong = None if value in available else f"the kernel there has {', '.join(available)}: load its module first"
    elif re.fullmatch(r"[\d ]+", previous):
        # What was numbers takes numbers, as many.
        wrong = _wrong_numbers(name, value.split(), previous)
    machine.refuse_if_wrong(name, value, wrong)


def _wrong_numbers(name: str, words: Sequence[str], previous: str) -> str | None:
    """What is wrong with the words for a setting of numbers; None for nothing."""
    count = len(previous.split())
    if not all(word.isdecimal() for word in words) or len(words) != count:
        return f"it is {count} whole numbers, such as {previous}"

    numbers = [int(word) for word in words]
    if name.endswith("mem") and count == 3 and numbers != sorted(numbers):
        return "least, usual and most must not fall"
    if name.endswith("_ratio") and not 0 < numbers[0] <= 100:
        return "it is a percentage from 1 to 100"
    # The kernel refuses a smaller one (vm.dirty_bytes in Documentation/admin-guide/sysctl/vm.rst).
    if name.endswith("_bytes") and numbers[0] < 2 * _PAGE_BYTES:
        return "less than two pages is not taken"
    return None


def _plan_sysctl(
    change_id: str, name: str, previous: str, values: Sequence[str], partner: tuple[str | None, str]
) -> script.ServerChange:
    """The shell text of the change, in the parts that `script.ServerChange` describes.

    An arm sets one of the values, the first one the value that was there before. A command that fails sets
    ``broken=yes``. ``partner`` is the other setting of its pair and that one's value: if that was in force, it is what
    is restored.
    """
    path = _path(name)
    partner_name, partner_value = partner
    now = f'"$(cat {path} 2>/dev/null)"'
    quoted = shlex.quote(previous)

    # echo puts one blank between the words, as the previous value has it.
    is_restored = f'[ "$(echo $(cat {path}))" = {quoted} ]'
    restore = f"{is_restored} || printf '%s\\n' {quoted} >{path} || broken=yes"
    if partner_name and previous == "0":  # the partner was in force
        restore = f"{is_restored} || printf '%s\\n' {shlex.quote(partner_value)} >{_path(partner_name)} || broken=yes"

    # What TCP learned of the path before would hide what the setting does.
    forget = "ip tcp_metrics flush all >/dev/null 2>&1\n" if name.startswith("net.ipv4.tcp") else ""
    arms = [f"printf '%s\\n' {shlex.quote(value)} >{path} || broken=yes" for value in values]
    return script.ServerChange(
        id=change_id,
        title=f"{name} = {' or '.join(values)}, which was {previous}",
        undo_path=machine.UNDO,
        check=machine.check_value_call(name, now, (previous, *values)),
        before=machine.check_value_call(name, now, (previous,)),
        arms=(restore, *arms),
        restore=restore,
        settle=f"{forget}sleep 0.1",
        look=f"section effective\ncat {path}\ncode=$?\nsection effective.rc\necho $code\n",
    )


def _path(name: str) -> str:
    """The setting's file, as the shell takes it."""
    return shlex.quote(f"/proc/sys/{name.replace('.', '/')}")
