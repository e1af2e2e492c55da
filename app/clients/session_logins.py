"""The logins of a session of the TUI: a password that was typed once is known until the program ends.

Every screen has them, so what they need is imported inside the functions: the first paint does not wait for it.
"""

from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.errors import LoginError

if TYPE_CHECKING:
    from app.clients.base import Secrets
    from storage.records import Target


class PasswordNeededError(LoginError):
    """A password is needed that was neither typed nor is in the environment."""


class Logins:
    """The secrets of this session, by server and user: in memory only."""

    def __init__(self) -> None:
        self._secrets: dict[tuple[object, ...], Secrets] = {}
        self._refused: set[tuple[object, ...]] = set()
        """Logins that a server refused: for these, the password of the environment is not sent again."""

    def keep(self, target: "Target", secrets: "Secrets") -> None:
        self._secrets[_login_of(target)] = secrets

    def refuse(self, target: "Target") -> None:
        """Forget the secrets that did not log in to the target: one try too many locks an account."""
        self._secrets.pop(_login_of(target), None)
        self._refused.add(_login_of(target))

    def is_refused(self, target: "Target") -> bool:
        """Whether the target refused a password, and none was typed since."""
        login = _login_of(target)
        return login in self._refused and login not in self._secrets

    def is_kept(self, target: "Target") -> bool:
        """Whether secrets for the target were typed, or read from a file, in this session."""
        return _login_of(target) in self._secrets

    def knows(self, target: "Target") -> bool:
        try:
            self.find(target)
        except PasswordNeededError:
            return False
        return True

    def find(self, target: "Target", *, kerberos: bool = False) -> "Secrets":
        """The secrets for the target: typed before, or from the environment. Raises PasswordNeededError."""
        from app.clients.base import Secrets
        from app.clients.logins import log_in_as
        from storage.records import host_and_port

        if kerberos:
            return Secrets(kerberos=True)
        if self.is_kept(target):
            return self._secrets[_login_of(target)]
        if target.user and self.is_refused(target):
            raise PasswordNeededError(f"the password of {target.user} on {host_and_port(target)} was refused")

        try:
            _, secrets = log_in_as(target)
        except LoginError as error:
            raise PasswordNeededError(str(error)) from error
        return secrets

    def from_file(self, target: "Target", path: Path) -> "Target":
        """The target with the user of a credentials file, its secrets kept where it has some. Raises UsageError."""
        from app.clients.logins import log_in_as, read_credentials, with_user_of

        credentials = read_credentials(path)
        if credentials.user:
            user_of_file = with_user_of(credentials, replace(target, domain=None))
            target = replace(user_of_file, domain=user_of_file.domain or target.domain)
        if credentials.password is not None or credentials.nt_hash:
            _, secrets = log_in_as(target, credentials=path)
            self.keep(target, secrets)
        return target


_login_of = attrgetter("protocol", "host", "port", "user", "domain")
