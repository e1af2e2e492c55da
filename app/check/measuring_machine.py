"""The checks that the machine that measures makes itself: this one, or one that ssh reaches."""

from collections.abc import Generator
from contextlib import closing

from app.base.advised_commands import audit_command
from app.base.errors import MeasurementError
from app.check import file_checks, packet_check, surroundings, target_checks
from app.check.checked import Checked
from app.clients import refusals
from app.clients.base import Secrets
from app.clients.registry import make_client
from app.recording.spec import SeriesSpec
from app.server.facts import Environment
from storage.notebook import Notebook
from storage.records import ClientFacts, Target

_TCP_BYTES = 1024**2
"""For a target without files, of which nothing is sent here."""


def check_target(
    target: Target, secrets: Secrets, spec: SeriesSpec, environment: Environment, notebook: Notebook | None
) -> Generator[Checked, None, ClientFacts | None]:
    """The checks on the machine that measures, without its ceiling; returns the session if it can be measured.

    ``notebook`` knows earlier rates; None for another machine's, where it is not.
    """
    with closing(make_client(target, spec.client, secrets, spec.settings, _TCP_BYTES)) as client:
        facts: ClientFacts | None = None
        can_be_measured = True
        is_share_open = True
        try:
            client.connect()
            facts = client.facts()
        except MeasurementError as error:
            is_share_open = not refusals.may_be_of_settings(error)
            yield from target_checks.check_refusal(target, error, environment.server)

        if facts is not None:
            yield from target_checks.check_login(target, facts, client.facts_of_path())
            yield from target_checks.check_share(target, client)
            for checked in file_checks.check_file(target, spec, client, environment, notebook):
                can_be_measured = not checked.is_failure
                yield checked

        crosses_network = environment.link is not None and not environment.link.loopback
        if facts is not None and can_be_measured and crosses_network:
            for checked in packet_check.check_packets(target, spec, secrets):
                can_be_measured = False
                yield checked

    yield from surroundings.check_server(
        environment,
        audit_command(target, spec.monitor),
        missing_options=surroundings.missing_server_options(target, spec),
        is_share_open=is_share_open,
    )
    yield surroundings.check_link(target, spec, environment)
    yield surroundings.check_quiet_time(target, spec.command, environment)
    return facts if can_be_measured else None
