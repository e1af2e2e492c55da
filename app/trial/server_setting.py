"""The setting on its server during a trial: set to one value after another, each proven to be in effect, and restored.

The values are known by their *arm*: 0 is the setting as it was found, 1 and above are the values that are tried.
"""

import time
from dataclasses import dataclass, field

from app.recording.spec import SeriesRequest
from app.server.changes import script
from app.server.changes.script import ChangeFailedError
from app.server.changes.setting import ChangeableSetting
from app.server.shell import Answer
from app.trial.change_journal import undo_entry
from app.trial.target import open_client
from forms.tuning.session_evidence import agreement, contradiction
from storage.changes import JournalEntry
from storage.records import ClientFacts


@dataclass(slots=True, kw_only=True)
class ServerSetting:
    """What is set on the server, and what was proven of it."""

    setting: ChangeableSetting
    change: script.ServerChange
    """The scripts that set the values there, and restore."""
    entry: JournalEntry
    """The notebook's entry of the change, by whose undo script all is restored."""
    values: tuple[str | None, ...]
    """By arm; None for the setting as it was found."""
    request: SeriesRequest
    """What the trial measures, to open a session of the same kind."""

    proofs: dict[int, list[str]] = field(init=False, default_factory=dict)
    """By arm: how it is known that the value was in effect."""
    sessions: dict[int, str] = field(init=False, default_factory=dict)
    """By arm: what a new session shows of the value, which is proof too."""
    is_undone: bool = field(init=False, default=False)
    """Whether the undo script has run to its end on the server."""

    def set_value(self, arm: int) -> None:
        """Set the value, and prove that it is in effect. Raises ChangeFailedError."""
        setting = self.setting
        answer = script.set_arm(self.change, arm, setting.ssh)
        if "not_reloaded" in answer.sections:
            raise ChangeFailedError("smbd does not take in what was written (smbcontrol): is it running there?")

        value = self.values[arm]
        effective = setting.effective(answer)
        expected = setting.previous if value is None else value
        if effective is None or expected is None or not setting.same(effective, expected):
            raise ChangeFailedError(
                f"{setting.name} = {expected} was written, but {effective or 'nothing'} is in effect: something later"
                " in the configuration sets it as well; it was restored"
            )
        if arm in self.proofs:
            return

        other_spelling = f" (smbd says {effective})" if effective != expected else ""
        proofs = [f"{setting.name} = {expected} in effect{other_spelling}"]
        if process := answer.text("restarted"):
            proofs.append(f"smbd was restarted (process {process})")
        self.proofs[arm] = proofs

        if setting.live and value is not None:
            # What is seen of a connection that began after the change.
            with open_client(self.request) as client:
                client.connect()
                if live_proof := setting.live(value):
                    self.proofs[arm].append(live_proof)

    def keep_alive(self, heard_at: float) -> float:
        """Tell the server that we are still there, before it restores the setting by itself.

        ``heard_at`` is when it last heard of us, by the monotonic clock; returns that moment from now on.
        """
        limit_seconds = self.change.dead_man_seconds
        now = time.monotonic()
        if not limit_seconds or now - heard_at < limit_seconds / 3:
            return heard_at
        script.give_word(self.change, self.setting.ssh)
        return now

    def check_session(self, client: ClientFacts, arm: int, base_client: ClientFacts) -> None:
        """Note what a run's session shows of the value; ``base_client`` is the client of the setting as it was.

        Raises ChangeFailedError where the session shows that the value is not in effect.
        """
        value = self.values[arm]
        if value is None:
            return

        name = self.setting.name
        if denial := contradiction(name, value, client):
            raise ChangeFailedError(f"{name} = {value} is not in effect: {denial}; it was restored")
        if client.dialect:
            sight = base_client.dialect and agreement(name, value, base_client, client)
            if not sight:
                sight = f"SMB {client.dialect}"
            self.sessions[arm] = f"new session: {sight}"

    def proof(self, arm: int) -> str:
        return "; ".join([*self.proofs[arm], *filter(None, [self.sessions.get(arm)])])

    def restore(self) -> str:
        """Restore all that was written, and verify that it is as it was, in words.

        Raises ChangeFailedError and its kinds, as `undo_entry`.
        """
        answer = undo_entry(self.entry)
        self.is_undone = True
        return self._verify_restored(answer)

    def _verify_restored(self, answer: Answer) -> str:
        setting = self.setting
        effective = setting.effective(answer)
        # Where the value before was not known, there is only the whole configuration to compare with, below.
        if setting.previous is not None and (effective is None or not setting.same(effective, setting.previous)):
            raise ChangeFailedError(
                f"everything that was written is gone, but {setting.name} is {effective}, not {setting.previous} as"
                " before: look at the server's configuration"
            )

        if setting.configuration and (answer.text("configuration") or "").strip() != setting.configuration:
            raise ChangeFailedError(
                "everything that was written is gone, but the effective configuration is not what it was before:"
                " somebody changed it meanwhile"
            )
        return f"Restored: {setting.name} is {effective} again"
