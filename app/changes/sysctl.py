"""Kernel settings (sysctl), including pairs that exclude each other."""

import re
import shlex
from collections.abc import Sequence

from app.changes.script import ServerChange
from app.changes.server import ChangeRefusedError, ConsentNeededError, look, read_there
from app.changes.smb_conf import ChangeableSetting
from app.errors import UsageError
from app.server.shell import Answer
from forms.tuning import catalogue
from forms.tuning.catalogue import EntryKind
from storage.changes import ChangeKind

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
    """Whether the name is a kernel setting."""
    return _NAME.fullmatch(name.strip()) is not None


def sysctl_setting(
    name: str, values: Sequence[str], *, ssh: str | None, accepted: Sequence[str] = ()
) -> ChangeableSetting:
    """All values are checked, nothing is written; default values are the catalogue's. Raises ChangeRefusedError,
    UsageError.
    """
    name = name.strip()
    state = look(ssh, undo=UNDO)
    partner = PAIRS.get(name)
    found = read_there(_read({"own": name, "partner": partner, "available": _AVAILABLE}), ssh)
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
    return ChangeableSetting(
        kind=ChangeKind.SYSCTL,
        name=name,
        section="",
        previous=previous,
        machine=state.machine,
        ssh=ssh,
        values=tuple(chosen),
        managers=state.managers,
        writes=tuple(f"{name} = {value}, into the running kernel (no file)" for value in chosen),
        undo_path=UNDO,
        plan=lambda change_id, tried: _plan(change_id, name, previous, tried, (partner, old_partner)),
        effective=effective_value,
        same=lambda effective, value: _tidy(effective) == _tidy(value),
    )


def effective_value(answer: Answer) -> str | None:
    """The effective value in a script's output."""
    return _tidy(answer.sections.get("effective", "")) if answer.code("effective") == 0 else None


def _check(name: str, value: str, previous: str, available: Sequence[str]) -> None:
    """Raises ChangeRefusedError for values that the kernel refuses or suffers from."""
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
    allowed = " ".join(shlex.quote(one) for one in (previous, *values))
    forget = "ip tcp_metrics flush all >/dev/null 2>&1\n" if name.startswith("net.ipv4.tcp") else ""
    return ServerChange(
        id=change_id,
        title=f"{name} = {' or '.join(values)}, which was {previous}",
        undo_path=UNDO,
        check=f"check_value {shlex.quote(name)} {now} {allowed}",
        before=f"check_value {shlex.quote(name)} {now} {wanted}",
        arms=(back, *(f"printf '%s\\n' {shlex.quote(value)} >{path} || broken=yes" for value in values)),
        restore=back,
        settle=f"{forget}sleep 0.1",
        look=f"section effective\ncat {path}\ncode=$?\nsection effective.rc\necho $code\n",
    )


def _read(names: dict[str, str | None]) -> str:
    return "\n".join(f"section {part}\ncat {_path(name)} 2>/dev/null" for part, name in names.items() if name)


def _path(name: str) -> str:
    return shlex.quote(f"/proc/sys/{name.replace('.', '/')}")


def _tidy(value: str) -> str:
    return " ".join(value.split())
