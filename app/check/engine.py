"""The check before a measurement: whether a target can be reached and moved to or from, and what would disturb it.

The command ``sharebench check`` shows each line as soon as it is known; nothing else calls it.
"""

from collections.abc import Generator, Iterator
from contextlib import closing

from app.base.advised_commands import audit_command
from app.base.child_process import Elsewhere
from app.base.errors import MeasurementError
from app.base.ssh_address import FROM_OPTION
from app.check import packet_check, surroundings, target_checks
from app.check.checked import Checked, CheckState
from app.check.elsewhere import check_elsewhere
from app.clients import refusals
from app.clients.base import Secrets
from app.clients.registry import make_client
from app.recording.spec import SeriesSpec
from app.series.observer import ObserverElsewhere
from app.server.elsewhere.place import reach_place
from app.server.facts import Environment, collect
from storage.notebook import Notebook
from storage.records import ClientFacts, Target

_TCP_BYTES = 1024**2
"""For a target without files, of which nothing is sent here."""


def check(target: Target, secrets: Secrets, spec: SeriesSpec, notebook: Notebook) -> Iterator[Checked]:
    """Run the checks one after the other; nothing is measured or left behind."""
    monitor = spec.monitor
    elsewhere: Elsewhere | None = None
    environment = Environment()
    if monitor.from_host is None:
        environment = collect(target, ssh=monitor.server_ssh, smb_conf=monitor.smb_conf)
        facts = yield from check_target(target, secrets, spec, environment, notebook)
    else:
        try:
            elsewhere = yield from _reach(monitor.from_host)
            with closing(ObserverElsewhere(elsewhere, target, spec.command)) as observer:
                environment = observer.environment(target, spec.monitor)
            facts = yield from check_elsewhere(elsewhere, target, secrets, spec, environment)
        except MeasurementError as error:
            yield Checked("from", str(error), CheckState.FAILED)
            return

    # It takes seconds, and says nothing of what cannot be measured.
    if facts is not None:
        yield surroundings.check_ceiling(target, spec, facts, environment, notebook, elsewhere)


def _reach(host: str) -> Generator[Checked, None, Elsewhere]:
    """The machine that is to measure, with this program. Raises MeasurementError."""
    place = reach_place(host)
    text = f"{host} has sharebench"
    if place.carried_bytes:
        text = f"{place.carried_text}; `sharebench clean {FROM_OPTION} {host}` removes it"
    yield Checked("from", text)
    return place


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
            for checked in target_checks.check_file(target, spec, client, environment, notebook):
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
