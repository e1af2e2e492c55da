"""The check before a measurement: whether a target can be reached and moved to or from, and what would disturb it.

The command ``sharebench check`` shows each line as soon as it is known; nothing else calls it.
"""

from collections.abc import Generator, Iterator
from contextlib import closing

from app.base.child_process import Elsewhere
from app.base.errors import MeasurementError
from app.base.ssh_address import FROM_OPTION
from app.check import surroundings
from app.check.checked import Checked, CheckState
from app.check.elsewhere import check_elsewhere
from app.check.measuring_machine import check_target
from app.clients.base import Secrets
from app.recording.spec import SeriesSpec
from app.series.observer import ObserverElsewhere
from app.server.elsewhere.place import reach_place
from app.server.facts import Environment, collect
from storage.notebook import Notebook
from storage.records import Target

THE_WAY_THERE = "from"
"""What is looked at first of another machine that measures: whether it is reached, and has this program."""


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
            yield Checked(THE_WAY_THERE, str(error), CheckState.FAILED)
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
    yield Checked(THE_WAY_THERE, text)
    return place
