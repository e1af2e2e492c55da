"""A trial of a server's setting for the plain guide: it asks for consent, and shows what came of it."""

from collections.abc import Iterable

from app.base.errors import UsageError
from app.cli.moved import raise_at_once
from app.cli.trial_run import carry_out
from app.guide.needs import Drive
from app.guide.plain_terminal import PlainTerminal
from app.guide.session import GuideSession
from app.method import round_requests
from app.server.changes.script import ConsentNeededError
from app.trial import consent
from app.trial.spec import TrialOrder
from forms.exporters.text import report_text
from forms.trial.changes_report import change_report


class PlainTrial:
    """``drive`` carries out a step of the session, which may ask for a password; risks are asked about one by one."""

    def __init__(self, session: GuideSession, terminal: PlainTerminal, drive: Drive) -> None:
        self._session = session
        self._terminal = terminal
        self._drive = drive

    def try_setting(self, setting: str) -> None:
        order = self._order_trial(setting)
        self._consent(consent.consent_lines(order))
        self._terminal.say(report_text(change_report(carry_out(order, self._session.path, redraws=False))))
        raise_at_once()

    def _order_trial(self, setting: str) -> TrialOrder:
        """The order of the trial, once each risk that it has was consented to."""
        session = self._session
        choices = session.choices
        assert choices.target is not None
        secrets = self._drive(session.connector.secrets(choices.target, kerberos=choices.kerberos))
        request = round_requests.request_of(choices, secrets)

        accepted: tuple[str, ...] = ()
        restart = False
        while True:
            try:
                return session.backend.order_trial(
                    request, setting, accepted=accepted, restart=restart, keeps_size=choices.makes_file
                )
            except ConsentNeededError as needed:
                self._consent([str(needed)])
                if needed.risk_of is None:
                    restart = True
                else:
                    accepted += (needed.risk_of,)

    def _consent(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._terminal.say(line)
        if self._terminal.ask_words(consent.QUESTION_IN_GUIDE).lower() != "y":
            raise UsageError(consent.DECLINED)
