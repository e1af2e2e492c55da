"""How smbd is restarted on its server, where a parameter needs that."""

from dataclasses import dataclass
from shlex import quote

from app.server.changes.script import ChangeRefusedError, read_there
from app.server.shell import script_file, with_variables

RESTART_SECONDS = 90.0
"""The limit of a step that restarts smbd, in place of ``STEP_SECONDS``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Shell text that restarts smbd on its server."""

    command: str
    """May return before the new smbd is ready."""
    stopped: str = "false"
    """A command that succeeds if smbd was stopped on purpose: then it is not started."""


def find_restart(conf: str, ssh: str | None) -> Restart:
    """How the smbd that runs with ``conf`` is restarted. Raises ChangeRefusedError if nothing would start it again."""
    answer = read_there(with_variables(script_file("app.server.changes", "restart.sh"), {"conf": conf}), ssh)
    if answer.problem or not answer.text("pid"):
        problem = answer.problem or f"no smbd with {conf} answers there"
        raise ChangeRefusedError(f"smbd cannot be restarted: {problem}; nothing was written")

    unit = answer.text("unit")
    service = answer.text("service")
    parent = answer.stripped("parent")
    if unit:
        name = quote(unit)
        return Restart(command=f"systemctl restart {name}", stopped=f'[ "$(systemctl is-active {name})" = inactive ]')
    if parent in {"runsv", "s6-supervise", "supervise", "supervisord"}:
        return Restart(command=f"smbcontrol -s {quote(conf)} smbd shutdown", stopped='[ -z "$old" ]')
    if service:
        return Restart(command=f"service {service} restart")
    raise ChangeRefusedError(
        f"nothing there would start smbd again (its process {answer.text('pid')} belongs to no unit of systemd, no"
        f" service script and no supervisor, but to {parent or 'nobody'}): restart it with commands of your own;"
        " nothing was written",
        options="--apply CMD --revert CMD",
    )


def restart_text(conf: str, restart: Restart) -> str:
    """Shell text that restarts smbd and waits up to 30 s (150 times 0.2 s) until a new process answers.

    It prints the section ``restarted`` with the new process, or ``not_reloaded``.
    """
    ping = f"smbcontrol -t 1 -s {quote(conf)} smbd ping 2>/dev/null | sed -n 's/^PONG from pid //p' | head -n 1"
    return (
        f"old=$({ping})\nnew=\n"
        f"if ! {restart.stopped}; then\n{restart.command} >/dev/null 2>&1\n"
        "tries=0\nwhile [ $tries -lt 150 ]; do\n"
        f'new=$({ping})\n[ -z "$new" ] || [ "$new" = "$old" ] || break\n'
        "tries=$((tries + 1))\nsleep 0.2\ndone\nfi\n"
        'if [ -n "$new" ] && [ "$new" != "$old" ]; then section reloaded; section restarted; echo "$new"; sleep 0.3\n'
        "else section not_reloaded; fi"
    )
