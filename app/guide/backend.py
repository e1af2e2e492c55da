"""What the guide does outside, as one object that tests replace; what it needs is loaded when it is first needed."""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from app.base.errors import LoginError

if TYPE_CHECKING:
    from app.clients.base import Secrets
    from app.guide.browsing import BrowsedFolder
    from app.server.host_activity import MachineNow
    from forms.series.file_size import FileSizeContext
    from storage.records import Command, Quiet, Target


class PasswordNeededError(LoginError):
    """Nobody has said the password yet."""


def _later(name: str) -> Callable[..., Any]:
    return lambda _self, *arguments, **more: resolve_name(name)(*arguments, **more)


class Backend:
    """The outside, as the guide needs it; every method may take seconds and belongs in a thread."""

    def look(self, target: "Target", secrets: "Secrets", around: "FileSizeContext") -> "BrowsedFolder":
        from app.clients.base import make_client  # noqa: PLC0415
        from app.guide.browsing import look  # noqa: PLC0415
        from storage.plan import Settings  # noqa: PLC0415  as the module says

        return look(target, lambda place: make_client(place, "", secrets, Settings(timeout_seconds=10.0)), around)

    def link(self, target: "Target") -> tuple[int | None, str]:
        """The nominal rate in bits per second of the interface that leads to the target, and where it is from."""
        from app.server.link_facts import detect_link  # noqa: PLC0415  as the module says

        return detect_link(target.host, target.port)

    def memory_bytes(self, target: "Target") -> int | None:
        from app.server.host_facts import host_facts  # noqa: PLC0415  as the module says
        from app.server.link_facts import is_this_machine  # noqa: PLC0415

        if target.host and not is_this_machine(target.host):
            return None
        found = host_facts().get("memory_bytes")
        return int(found) if isinstance(found, int | float) else None

    def quiet(self, target: "Target", command: "Command") -> "Quiet":
        from app.server.link_facts import find_link  # noqa: PLC0415
        from app.server.quiet_time import QuietWatch  # noqa: PLC0415  as the module says

        link = find_link(target.host, target.port) if target.host else None
        with QuietWatch(target, command, link) as watch:
            return watch.look()

    def meter(self, target: "Target | None") -> "Callable[[], MachineNow | None]":
        """What this machine and its card on the way to the target do; of a path of this machine, the busiest card."""
        from app.server.host_activity import MachineMeter  # noqa: PLC0415  as the module says
        from app.server.link_facts import find_route  # noqa: PLC0415

        route = find_route(target.host, target.port) if target is not None and target.host else None
        return MachineMeter(route.interface if route else None).now

    load = _later("app.load.record:run_load")
    order_trial = _later("app.trial.spec:order_of")
    resume_trial = _later("app.trial.spec:order_to_resume")
    carry_out = _later("app.trial.record:run_trial")
    record = _later("app.series.record:record")
    resume = _later("app.series.record:resume")


class Logins:
    """The secrets of this session, by server and user: in memory only."""

    def __init__(self) -> None:
        self._found: dict[tuple[object, ...], Secrets] = {}
        self._refused: set[tuple[object, ...]] = set()
        """Whose password of the environment is not sent again."""

    def keep(self, target: "Target", secrets: "Secrets") -> None:
        self._found[_who(target)] = secrets

    def refuse(self, target: "Target") -> None:
        """Never find again what did not log in to the target: one try too many locks an account."""
        self._found.pop(_who(target), None)
        self._refused.add(_who(target))

    def is_refused(self, target: "Target") -> bool:
        return _who(target) in self._refused and _who(target) not in self._found

    def knows(self, target: "Target") -> bool:
        try:
            self.find(target)
        except PasswordNeededError:
            return False
        return True

    def find(self, target: "Target", *, kerberos: bool = False) -> "Secrets":
        """The secrets for the target: said before, or from the environment. Raises PasswordNeededError."""
        from app.clients.base import Secrets  # noqa: PLC0415  as the module says
        from app.clients.logins import log_in_as  # noqa: PLC0415

        if kerberos:
            return Secrets(kerberos=True)
        if _who(target) in self._found:
            return self._found[_who(target)]
        if target.user and self.is_refused(target):
            raise PasswordNeededError(f"the password of {target.user} on {target.host} was refused")
        try:
            return log_in_as(target)[1]
        except LoginError as error:
            raise PasswordNeededError(str(error)) from error

    def from_file(self, target: "Target", path: Path) -> "Target":
        """The target with the user of a credentials file, its secrets kept where it has some. Raises UsageError."""
        from app.clients.logins import log_in_as, read_credentials  # noqa: PLC0415  as the module says

        given = read_credentials(path)
        if given.user:
            target = replace(target, user=given.user, domain=given.domain or target.domain)
        if given.password is not None or given.nt_hash:
            self.keep(target, log_in_as(target, credentials=path)[1])
        return target


_who = attrgetter("protocol", "host", "port", "user", "domain")
