"""A parameter of smb.conf in Samba's registry, changed by ``net conf``."""

import shlex
from collections.abc import Sequence

from app.changes.restart import RESTART_SECONDS
from app.changes.script import STEP_SECONDS, ServerChange, failed
from app.changes.server import ChangeRefusedError, read_there
from app.changes.smb_conf import UNDO, SambaPlace, look_text, settle_text


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
        put_back=back,
        settle=settle_text(place),
        look=look_text(place),
        seconds=RESTART_SECONDS if place.restart else STEP_SECONDS,
    )
