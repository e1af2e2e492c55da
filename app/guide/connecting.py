"""Reach a target for the guide: log in, look around on the server, and have a file or a folder picked there."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.backend import Backend
from app.base import errors, targets
from app.clients import browsing
from app.clients.base import Secrets
from app.clients.session_logins import Logins, PasswordNeededError
from app.guide import context as guide_context
from app.guide import needs
from app.guide.picked import with_picked
from app.method.choices import GuideChoices
from forms import wording
from storage.records import Target, format_target


@dataclass(frozen=True, slots=True, kw_only=True)
class PickedPlace:
    """What was picked on a server."""

    target: Target
    """The folder."""
    file: browsing.Item | None
    """A file in it; None where one is to be made there."""
    context: guide_context.GuideContext
    """With what was found out of the link on the way."""

    def add_to(self, choices: GuideChoices, *, kerberos: bool, credentials: str) -> GuideChoices:
        """The choices with this place, and how one logs in there."""
        picked = with_picked(choices, self.target, self.file, kerberos=kerberos)
        return replace(picked, credentials=credentials)


class Connector:
    """Its methods are steps of the session, see ``app.guide.needs``: they yield what they need, and return what they
    found. Whoever drives them sends the answers in, or throws the error of a job in at its ``yield``.
    """

    def __init__(self, backend: Backend, logins: Logins) -> None:
        self._backend = backend
        self._logins = logins

    def secrets(
        self, target: Target, *, kerberos: bool = False, credentials: str = "", why: str = ""
    ) -> Generator[needs.Password, Secrets, Secrets]:
        """The secrets that log in to the target; asked for where they are not known, ``why`` says the reason.

        ``credentials`` is the path of a file that may have them. Raises UsageError where it cannot be read.
        """
        if credentials and not (self._logins.is_kept(target) or self._logins.is_refused(target)):
            self._logins.from_file(target, Path(credentials).expanduser())
        try:
            return self._logins.find(target, kerberos=kerberos)
        except PasswordNeededError as error:
            refusal = str(error) if self._logins.is_refused(target) else ""
            secrets = yield needs.Password(target, why or refusal)
            self._logins.keep(target, secrets)
            return secrets

    def pick_place(
        self,
        target: Target,
        choices: GuideChoices,
        context: guide_context.GuideContext,
        *,
        kerberos: bool = False,
        has_fixed_login: bool = False,
    ) -> Generator[needs.Need, browsing.Item, PickedPlace]:
        """Walk from folder to folder until a file is picked, or a folder that one is to be made in.

        ``choices`` and ``context`` are those of the round so far: they say which sizes of files would do. Raises
        MeasurementError where already the first folder cannot be seen; LoginError where a login is refused that
        ``has_fixed_login`` says to be of a file: that is to be named again.
        """
        choices, context = guide_context.towards(target, choices, context)
        folder: browsing.BrowsedFolder | None = None
        while True:
            try:
                context, folder = yield from self._look_with_login(
                    target, choices, context, kerberos=kerberos, asks=not (kerberos or has_fixed_login)
                )
            except errors.LoginError:
                # No other folder helps where the login of Kerberos, or of a file, is refused.
                raise
            except errors.MeasurementError as error:
                if folder is None:
                    raise
                # Back to the folder that was seen last, which is yielded once more below.
                yield needs.Tell(text=str(error), heading="That did not work")

            assert folder is not None
            if folder.is_chosen:
                # The target names a file by itself, or has none to choose from.
                return PickedPlace(target=folder.target, file=folder.file, context=context)

            item = yield folder
            if item.kind is browsing.ItemKind.FILE:
                return PickedPlace(target=folder.target, file=item, context=context)
            if item.kind is browsing.ItemKind.MADE:
                return PickedPlace(target=folder.target, file=None, context=context)
            target = browsing.inside(folder.target, item)

    def _look_with_login(
        self,
        target: Target,
        choices: GuideChoices,
        context: guide_context.GuideContext,
        *,
        kerberos: bool,
        asks: bool,
    ) -> needs.Steps:
        """What is at the target, and the context with its link; asks anew for as long as the login is refused.

        Without ``asks`` it raises LoginError instead: there is no password that could be typed.
        """
        refusal = ""
        while True:
            secrets = yield from self.secrets(target, kerberos=kerberos, why=refusal)
            look = partial(self._look, target, secrets, choices, context)
            doing = f"connecting to {wording.plain(format_target(target))}"
            try:
                return (yield needs.Work(look, doing, "look"))
            except errors.LoginError as error:
                if kerberos:
                    raise
                self._logins.refuse(target)
                if not asks:
                    raise
                # Another password is asked for, with the reason; a guest is asked who they are instead.
                refusal = str(error) if target.user else ""
                if not target.user:
                    target = yield from _ask_user(target, error)

    def _look(
        self, target: Target, secrets: Secrets, choices: GuideChoices, context: guide_context.GuideContext
    ) -> tuple[guide_context.GuideContext, browsing.BrowsedFolder]:
        """In a thread: look at the folder, and once at the link; the context is given back with it."""
        if not context.link.source:
            context = replace(context, link=guide_context.link_to(target, self._backend))
        return context, self._backend.look(target, secrets, guide_context.file_size_context(choices, context))


def _ask_user(target: Target, error: errors.LoginError) -> Generator[needs.Words, str, Target]:
    """The target with the user that is typed, since it takes no guests."""
    why = str(error)
    while True:
        text = yield needs.Words(heading="Which user?", text=f"{why}: USER or DOMAIN;USER.", needed=True)
        if not target.abilities.has_share:
            return replace(target, user=text.strip())

        try:
            domain, user = targets.typed_user(text)
        except errors.UsageError as refused:
            why = str(refused)
            continue
        return replace(target, user=user, domain=domain or target.domain)
