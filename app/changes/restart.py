"""Restarts smbd for options that need it, by whatever supervises it."""

import shlex
from dataclasses import dataclass

from app.changes.server import ChangeRefusedError, read_there

RESTART_SECONDS = 90.0
SUPERVISORS = frozenset({"runsv", "s6-supervise", "supervise", "supervisord"})
_LOOK = """
pid=$(smbcontrol -s "$conf" smbd ping 2>/dev/null | sed -n 's/^PONG from pid //p' | head -n 1)
section pid
echo "$pid"
[ -n "$pid" ] || { section end; return; }
unit=$(sed -n 's#^.*/\\([^/]*\\.service\\)$#\\1#p' "/proc/$pid/cgroup" | head -n 1)
if [ -n "$unit" ] && [ "$(systemctl show --property=MainPID "$unit" 2>/dev/null)" = "MainPID=$pid" ]; then
    section unit
    echo "$unit"
fi
section parent
cat "/proc/$(sed 's/^.*) . //; s/ .*//' "/proc/$pid/stat")/comm"
for name in smbd samba smb; do
    [ -x "/etc/init.d/$name" ] && service "$name" status >/dev/null 2>&1 || continue
    [ "$(smbd -b | sed -n 's/^ *CONFIGFILE: //p')" = "$conf" ] || continue
    section service
    echo "$name"
    break
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """How smbd is restarted on a server."""

    command: str
    """May return before the new smbd is ready."""
    stopped: str = "false"
    """Succeeds if smbd was stopped on purpose: then it is not started."""


def find_restart(conf: str, ssh: str | None) -> Restart:
    """Raises ChangeRefusedError if nothing would start smbd again."""
    answer = read_there(f"conf={shlex.quote(conf)}\n{_LOOK}", ssh)
    if answer.problem or not answer.text("pid"):
        said = answer.problem or f"no smbd with {conf} answers there"
        raise ChangeRefusedError(f"smbd cannot be restarted: {said}; nothing was written")
    unit, service, parent = answer.text("unit"), answer.text("service"), (answer.text("parent") or "").strip()
    if unit:
        name = shlex.quote(unit)
        return Restart(command=f"systemctl restart {name}", stopped=f'[ "$(systemctl is-active {name})" = inactive ]')
    if parent in SUPERVISORS:
        return Restart(command=f"smbcontrol -s {shlex.quote(conf)} smbd shutdown", stopped='[ -z "$old" ]')
    if service:
        return Restart(command=f"service {service} restart")
    raise ChangeRefusedError(
        f"nothing there would start smbd again (its process {answer.text('pid')} belongs to no unit of systemd, no"
        f" service script and no supervisor, but to {parent or 'nobody'}): restart it with commands of your own;"
        " nothing was written",
        options="--apply CMD --revert CMD",
    )


def restart_text(conf: str, restart: Restart) -> str:
    """Restarts smbd and waits for it to answer."""
    ping = f"smbcontrol -t 1 -s {shlex.quote(conf)} smbd ping 2>/dev/null | sed -n 's/^PONG from pid //p' | head -n 1"
    return (
        f"old=$({ping})\nnew=\n"
        f"if ! {restart.stopped}; then\n{restart.command} >/dev/null 2>&1\n"
        "tries=0\nwhile [ $tries -lt 150 ]; do\n"
        f'new=$({ping})\n[ -z "$new" ] || [ "$new" = "$old" ] || break\n'
        "tries=$((tries + 1))\nsleep 0.2\ndone\nfi\n"
        'if [ -n "$new" ] && [ "$new" != "$old" ]; then section reloaded; section restarted; echo "$new"; sleep 0.3\n'
        "else section not_reloaded; fi"
    )
