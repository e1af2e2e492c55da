"""Logging in on any screen: the password is asked for where nobody has said it in this session."""

from collections.abc import Callable, Sequence

from app.clients.base import Secrets
from app.logins import same_login
from app.tui.frame.base import BaseScreen
from app.tui.frame.dialogs import AskDialog
from app.workflows.guide.state.backend import PasswordNeededError
from storage.records import Target


def ask_password(screen: BaseScreen, target: Target, answered: Callable[[Secrets], None], *, why: str = "") -> None:
    """Ask for the password of the target's user; nothing happens where it is not said.

    ``why`` says what became of the one that was known.
    """

    def said(password: str | None) -> None:
        if password is not None:
            answered(Secrets(password=password))

    text = f"Password of {target.user} on {target.host}, by {target.abilities.label}; Escape gives up."
    if why:
        text = f"{why}. Type the password again, or Escape."
    screen.app.push_screen(AskDialog("Log in", text, password=True), said)


def log_in(screen: BaseScreen, target: Target, then: Callable[[Secrets], None]) -> None:
    """Do ``then`` with what logs in to the target, which is kept for this session."""
    logins = screen.context.logins

    def said(secrets: Secrets) -> None:
        logins.keep(target, secrets)
        then(secrets)

    try:
        secrets = logins.find(target)
    except PasswordNeededError:
        ask_password(screen, target, said)
    else:
        then(secrets)


def log_in_again(screen: BaseScreen, refused: Sequence[Target], why: str, then: Callable[[Secrets], None]) -> bool:
    """Ask for another password for the first target, which refused one, then do ``then`` with it.

    It goes for those of the other targets that the same login goes for. Whether there is one to ask for: who was
    refused as a guest has none.
    """
    logins = screen.context.logins
    refused = [target for target in refused if same_login(target, refused[0])]
    for target in refused:
        logins.refuse(target)

    def said(secrets: Secrets) -> None:
        for target in refused:
            logins.keep(target, secrets)
        then(secrets)

    if not refused[0].user:
        return False
    ask_password(screen, refused[0], said, why=why)
    return True
