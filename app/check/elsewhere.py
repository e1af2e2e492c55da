"""The check on another machine that measures: its order and its answers; `app.check.child` is the other side."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Self

from app.base.child_process import ChildProcess, Elsewhere
from app.base.errors import ChildDiedError
from app.check.checked import Checked
from app.clients.base import Secrets
from app.recording.process import Failed
from app.recording.spec import SeriesSpec
from app.server.facts import Environment
from app.server.link_facts import Link
from storage.records import ClientFacts, ReadFact, Target

_GRACE_SECONDS = 30.0
"""For a cancelled check to remove the file that it may have written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOrder:
    """What is to be checked, and what is known of the environment by now."""

    target: Target
    secrets: Secrets
    spec: SeriesSpec
    client: Mapping[str, ReadFact] = field(default_factory=dict)
    server: Mapping[str, ReadFact] = field(default_factory=dict)
    path: Mapping[str, ReadFact] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    link: Link | None = None

    @classmethod
    def in_environment(cls, target: Target, secrets: Secrets, spec: SeriesSpec, environment: Environment) -> Self:
        return cls(
            target=target,
            secrets=secrets,
            spec=spec,
            client=environment.client,
            server=environment.server,
            path=environment.path,
            problems=environment.problems,
            link=environment.link,
        )

    @property
    def environment(self) -> Environment:
        return Environment(
            client=self.client, server=self.server, path=self.path, problems=self.problems, link=self.link
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEnded:
    """All was checked; ``client`` is the session if it can be measured."""

    client: ClientFacts | None


def check_elsewhere(
    elsewhere: Elsewhere, target: Target, secrets: Secrets, spec: SeriesSpec, environment: Environment
) -> Generator[Checked, None, ClientFacts | None]:
    """As `app.check.engine.check_target`, on another machine. Raises SharebenchError where it could not be checked."""
    process = ChildProcess("app.check.child", grace_seconds=_GRACE_SECONDS, elsewhere=elsewhere)

    try:
        process.say(CheckOrder.in_environment(target, secrets, spec, environment))
        for event in process.events([Checked, CheckEnded, Failed]):
            if isinstance(event, Failed):
                raise event.error
            if isinstance(event, CheckEnded):
                return event.client
            yield event

        raise ChildDiedError(f"the check {process.how_it_ended()}")
    finally:
        process.close()
