"""Logging in from a screen: a password that is not known yet is asked for."""

from collections.abc import Callable, Sequence

from app.clients.base import Secrets
from app.clients.logins import same_login
from app.clients.session_logins import PasswordNeededError
from app.tui.frame.base import BaseScreen
from app.tui.frame.dialogs import AskDialog
from storage.records import Target


def ask_password(screen: BaseScreen, target: Target, answered: Callable[[Secrets], None], *, why: str = "") -> None:
    """Ask for the password of the target's user; ``why`` says what became of the one that was known."""
    text = f"{target.abilities.label} password for {target.user} on {target.host} (Esc cancels)."
    if why:
        text = f"{why}. Type the password again (Esc cancels)."

    def take_password(password: str) -> None:
        answered(Secrets(password=password))

    screen.ask(AskDialog("Log in", text, password=True), take_password)


def log_in(screen: BaseScreen, target: Target, then: Callable[[Secrets], object]) -> None:
    """Log in to the target, and then do the rest; the password is asked for where none is known."""
    logins = screen.context.logins

    def keep_and_go_on(secrets: Secrets) -> None:
        logins.keep(target, secrets)
        then(secrets)

    try:
        secrets = logins.find(target)
    except PasswordNeededError as error:
        ask_password(screen, target, keep_and_go_on, why=str(error) if logins.is_refused(target) else "")
    else:
        then(secrets)


def log_in_again(screen: BaseScreen, refused: Sequence[Target], why: str, then: Callable[[Secrets], None]) -> bool:
    """Ask for another password for the first target, and those of the same login; False for a guest, who has none."""
    first = refused[0]
    logins = screen.context.logins
    targets = [target for target in refused if same_login(target, first)]
    for target in targets:
        logins.refuse(target)

    def keep_and_go_on(secrets: Secrets) -> None:
        for target in targets:
            logins.keep(target, secrets)
        then(secrets)

    if not first.user:
        return False
    ask_password(screen, first, keep_and_go_on, why=why)
    return True
