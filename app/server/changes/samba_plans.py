"""The shell text that changes a parameter of Samba on its server and restores it.

The parameter is changed in a file of its own, which smb.conf includes meanwhile (`plan_samba`), or in Samba's registry
(`plan_registry`). What each part of a `ServerChange` is for, and when it runs, says `script`. The parts call shell
functions of ``undo.sh``: ``check_file``, ``check_includer`` and ``check_value`` find what somebody else changed,
``write_file``, ``remove_file`` and ``sum_of`` handle files, ``eased`` says that our value is out, ``warn_open`` warns
of files that everybody may write to, and ``section`` begins a part of the answer.
"""

from collections.abc import Sequence
from shlex import quote

from app.server.changes import script
from app.server.changes.samba_place import LOG_LEVEL, UNDO, ConfLine, SambaPlace
from app.server.changes.script import ChangeRefusedError, ServerChange, read_there
from app.server.changes.smbd_restart import RESTART_SECONDS, restart_text
from app.server.samba import running_log_level
from app.server.shell import Answer

_OR_BROKEN = " || broken=yes"
"""Behind a command: where it fails, the script that runs it has failed."""
_AND_EASED = " && eased"
"""Behind a command: where it succeeds, the script says that our value is no longer in effect."""


def plan_samba(change_id: str, place: SambaPlace, values: Sequence[str]) -> ServerChange:
    """Our file holds the values, one after another; smb.conf includes it as long as the change stands."""
    conf = place.state.files[place.conf]
    drop_in = place.state.files[place.drop_in]
    including = with_include(place)

    # Of our file: without a value, for the first arm, then with each value, for the arms that set it.
    contents = [drop_in_content(place, change_id, ())]
    for value in values:
        line = ConfLine(section=place.section, name=place.name, value=value)
        contents.append(drop_in_content(place, change_id, [line]))

    # What our file and smb.conf may be found as: as they were, or as we write them.
    our_sums = " ".join(map(script.sha256, contents))
    conf_sums = f"{conf.sum} {script.sha256(including)}"

    # Where smb.conf cannot be restored, since somebody else changed it, our file still loses our values; an emptied one
    # is then taken for ours when it is restored again.
    if drop_in.content is None:
        ease = f"(: >{quote(drop_in.path)}) 2>/dev/null{_AND_EASED}\n"
        eased_sum = script.sha256(b"")
    else:
        ease = _write(drop_in, drop_in.content, _AND_EASED)
        eased_sum = ""

    check_drop_in = f"check_file {quote(drop_in.path)} {drop_in.sum} {our_sums}"
    check_undo = f"{check_drop_in} {eased_sum}\n"
    begin = _write(drop_in, contents[0])
    restore = _restore_drop_in(drop_in)
    # smb.conf is changed only where it does not include our file already.
    if including != conf.content:
        check_undo += f"check_includer {quote(conf.path)} {quote(place.drop_in)} {conf_sums}"
        begin += _write(conf, including)
        # The include goes before the file that it includes.
        restore = (
            f"rm -f {quote(conf.path)}.sharebench-new{_OR_BROKEN}\n"
            f'[ "$(sum_of {quote(conf.path)})" != {script.sha256(including)} ] || {_write(conf, conf.content or b"")}'
            + restore
        )

    # Only what we wrote is taken out of our file.
    ease_if_ours = f'case " {our_sums} " in *" $(sum_of {quote(drop_in.path)}) "*)\n{ease};;\nesac'
    values_to_try = " or ".join(f"{place.own_name} = {value}" for value in values)
    return ServerChange(
        id=change_id,
        title=f"{values_to_try} in [{place.section}] of {place.conf}, by way of {place.drop_in}",
        undo_path=f"{place.folder}/{UNDO}",
        check=f"{check_drop_in}\ncheck_file {quote(conf.path)} {conf_sums}",
        check_undo=check_undo,
        before=f"check_file {quote(drop_in.path)} {drop_in.sum}\ncheck_file {quote(conf.path)} {conf.sum}",
        begin=begin,
        arms=tuple(_write(drop_in, content) for content in contents),
        restore=restore,
        ease=ease_if_ours,
        settle=settle_text(place),
        look=look_text(place) + f"\nwarn_open {quote(conf.path)}\nwarn_open {quote(drop_in.path)}",
        seconds=RESTART_SECONDS if place.restart else script.STEP_SECONDS,
    )


def plan_registry(change_id: str, place: SambaPlace, values: Sequence[str]) -> ServerChange:
    """The registry holds the values, one after another.

    The parameter moves behind the others of its section, also when it is restored; that changes nothing. Raises
    ChangeRefusedError where the registry cannot be read, or has no such share.
    """
    net = f"net -s {quote(place.conf)} conf"
    parameter = f"{quote(place.section)} {quote(place.own_name)}"
    answer = read_there(
        f"section old\n{net} getparm {parameter} 2>/dev/null\ncode=$?\nsection old.rc\necho $code\n"
        f"section sections\n{net} listshares",
        place.ssh,
    )
    if answer.problem or "sections" not in answer.sections:
        raise ChangeRefusedError("the registry of Samba cannot be read there (net conf): is registry.tdb in order?")

    old = answer.sections.get("old", "") if answer.code("old") == 0 else None
    sections = {name.strip().lower() for name in answer.sections["sections"].splitlines()}
    has_section = place.section.lower() in sections
    if not has_section and place.section != "global":
        raise ChangeRefusedError(f"the registry has no share [{place.section}]")

    now = f'"$({net} getparm {parameter} 2>/dev/null)"'
    unread = script.failure_text("the registry of Samba cannot be opened: is its disk full or read-only?")
    readable = f"{net} listshares >/dev/null 2>&1 || {{ {unread} }}\n"
    set_old = f"{net} delparm {parameter} 2>/dev/null"
    if old is not None:
        set_old = f"{net} setparm {parameter} {quote(old)}"
    restore = f"[ {now} = {quote(old or '')} ] || {set_old}{_OR_BROKEN}\n"
    if not has_section:
        # The first value that is set makes the section; it is removed again unless somebody has put more there.
        section = quote(place.section)
        restore += f"{net} showshare {section} 2>/dev/null | grep -q = || {net} delshare {section} 2>/dev/null\n"

    arms = [f"{net} setparm {parameter} {quote(value)}{_OR_BROKEN}" for value in values]
    values_to_try = " or ".join(f"{place.own_name} = {value}" for value in values)
    allowed = " ".join(quote(value) for value in (old or "", *values))
    return ServerChange(
        id=change_id,
        title=f"{values_to_try} in [{place.section}] of Samba's registry",
        undo_path=f"{place.folder}/{UNDO}",
        check=f"{readable}check_value {quote(place.own_name)} {now} {allowed}",
        before=f"{readable}check_value {quote(place.own_name)} {now} {quote(old or '')}",
        arms=(restore if old is None else f"{set_old}{_OR_BROKEN}", *arms),
        restore=restore,
        settle=settle_text(place),
        look=look_text(place),
        seconds=RESTART_SECONDS if place.restart else script.STEP_SECONDS,
    )


def drop_in_content(place: SambaPlace, change_id: str, lines: Sequence[ConfLine]) -> bytes:
    """Our file with those lines: what it held before, a comment that says how to restore it, kept lines, and those."""
    content_before = _with_line_end(place.state.files[place.drop_in].content or b"")
    undo = script.undo_command(f"{place.folder}/{UNDO}")
    note = f"# sharebench trial {change_id}: to restore everything, as root: {undo}\n"
    our_text = note + "".join(line.text(place.knows) for line in (*place.kept_lines, *lines))
    return content_before + our_text.encode("utf-8", "surrogateescape")


def with_include(place: SambaPlace) -> bytes:
    """smb.conf with our file included as the last line of [global]; unchanged if it already is."""
    conf = place.state.files[place.conf].content or b""
    lines = [line.strip() for line in conf.decode("utf-8", "replace").splitlines()]
    statements = [line for line in lines if line and line[0] not in "#;"]
    sections = [line for line in statements if line.startswith("[")]
    last_section = sections[-1] if sections else "[global]"

    name, _, value = statements[-1].partition("=") if statements else ("", "", "")
    is_ours = name.strip().lower() == "include" and value.strip() == place.drop_in
    if is_ours and last_section.lower() == "[global]":
        return conf
    return _with_line_end(conf) + f"[global]\n    include = {place.drop_in}\n".encode("utf-8", "surrogateescape")


def _with_line_end(content: bytes) -> bytes:
    """A trailing backslash would continue the last line."""
    end = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + end + (b"\n" if content.rstrip().endswith(b"\\") else b"")


def _write(file: script.FileState, content: bytes, then: str = _OR_BROKEN) -> str:
    """Shell text that replaces the file; ``then`` follows the command."""
    # What is as it was has its time again too.
    time = f" {file.modified}" if content == file.content else ""
    return f"write_file {quote(file.path)}{time} {script.here_document(content, then)}\n"


def _restore_drop_in(drop_in: script.FileState) -> str:
    """Shell text that makes our file as it was, or removes it if it was not there."""
    clear = f"rm -f {quote(drop_in.path)}.sharebench-new{_OR_BROKEN}\n"
    if drop_in.content is None:
        return f"{clear}remove_file {quote(drop_in.path)}{_OR_BROKEN}\n"
    return f'{clear}[ "$(sum_of {quote(drop_in.path)})" = {drop_in.sum} ] || {_write(drop_in, drop_in.content)}'


def settle_text(place: SambaPlace) -> str:
    """Shell text that brings into effect what was written: smbd reads its file again, or is restarted."""
    if place.restart:
        return restart_text(place.conf, place.restart)
    return (
        f"if smbcontrol -s {quote(place.conf)} smbd reload-config >/dev/null 2>&1; then section reloaded; sleep 0.2;"
        " else section not_reloaded; fi"
    )


def look_text(place: SambaPlace) -> str:
    """Shell text that prints the parameter's value in effect, and the SHA-256 of the whole configuration."""
    conf = quote(place.conf)
    section = "" if place.section == "global" else f" --section-name={quote(place.section)}"
    level = ""
    if place.name == LOG_LEVEL:
        level = f"section debuglevel\nsmbcontrol -t 1 -s {conf} smbd debuglevel 2>/dev/null\n"
    return (
        f"section effective\ntestparm -s --parameter-name={quote(place.own_name)}{section} {conf} 2>/dev/null\n"
        "code=$?\nsection effective.rc\necho $code\n"
        f"section configuration\ntestparm -sv {conf} 2>/dev/null | sha256sum | cut -d' ' -f1\n{level}"
    )


def effective_value(answer: Answer) -> str | None:
    """The value in effect, from the answer to `look_text`; None where it could not be read."""
    if "debuglevel" in answer.sections:
        return running_log_level(answer.text("debuglevel"))
    return answer.stripped("effective") if answer.code("effective") == 0 else None
