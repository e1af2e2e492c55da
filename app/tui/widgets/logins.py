"""Logging in from a screen that is about to measure: a password that is not known yet is asked for in a dialog.

What was typed is kept until sharebench is left, in ``context.logins``; a password that a server has refused is
forgotten there (``refuse``) and asked for again.
"""

from collections.abc import Callable, Sequence

from app.clients.base import Secrets
from app.clients.logins import same_login
from app.clients.session_logins import PasswordNeededError
from app.tui.frame.base import BaseScreen
from app.tui.frame.dialogs import AskDialog
from storage.records import Target, host_and_port


def ask_password(screen: BaseScreen, target: Target, answered: Callable[[Secrets], None], *, why: str = "") -> None:
    """Ask for the password of the target's user; ``why`` says what became of the one that was known."""
    text = f"{target.abilities.label} password for {target.user} on {host_and_port(target)} (Esc cancels)."
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


def ask_missing_password(screen: BaseScreen, targets: Sequence[Target], then: Callable[[], None]) -> bool:
    """Ask for the first password that none of the targets' logins has yet; False where all are known.

    ``then`` is called when it was typed, and calls this again, since another user's may be missing too.
    """
    missing = _target_without_password(screen, targets)
    if missing is None:
        return False

    logins = screen.context.logins

    def keep_and_go_on(secrets: Secrets) -> None:
        for target in targets:
            if same_login(target, missing) and not logins.knows(target):
                logins.keep(target, secrets)
        then()

    ask_password(screen, missing, keep_and_go_on)
    return True


def _target_without_password(screen: BaseScreen, targets: Sequence[Target]) -> Target | None:
    """The first target whose user's password nobody has typed; one that is known for a login goes for all of it."""
    logins = screen.context.logins
    for target in targets:
        if logins.knows(target):
            continue

        same_login_targets = [other for other in targets if same_login(other, target) and logins.knows(other)]
        if not same_login_targets or logins.is_refused(target):
            return target
        logins.keep(target, logins.find(same_login_targets[0]))
    return None


def known_login(screen: BaseScreen) -> Callable[[Target], tuple[Target, Secrets]]:
    """Returns what logs in with the passwords that are known, in any thread; nothing is asked."""
    logins = screen.context.logins

    def log_in_to(target: Target) -> tuple[Target, Secrets]:
        return target, logins.find(target)

    return log_in_to


def log_in_again(screen: BaseScreen, refused: Sequence[Target], why: str, then: Callable[[Secrets], None]) -> bool:
    """Ask for another password where a server has refused the one known; False for a guest, who has none.

    It is kept for the first of the refused targets and those of the same login, and ``then`` is called with it.
    """
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
