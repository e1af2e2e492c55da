"""What the engine of a load learns of the path to its server, from the machine that makes the load."""

from collections.abc import Callable
from contextlib import closing

from app.base import errors
from app.clients import base, registry
from app.load.events import LoadPlan
from app.recording.process import PathFacts, PathSeen
from app.server.network_counters import LinkCounters, counter_facts


class PathLook:
    """Tells what a connection knows of the path, such as its round trip, and what is counted from then on."""

    def __init__(self, plan: LoadPlan, emit: Callable[[PathSeen], None]) -> None:
        self._plan = plan
        self._emit = emit
        self._counters_before: LinkCounters | None = None
        """None where no network card is looked at."""

    def begin(self) -> None:
        """Connect once, before anything counts."""
        self._emit(PathSeen(path_facts=self._connection_facts()))
        if self._plan.interface:
            self._counters_before = LinkCounters.snapshot(self._plan.interface)

    def tell_counters(self) -> None:
        """What came to the counters of TCP and of the card since the beginning: they tell of losses."""
        if self._counters_before is not None:
            counters = LinkCounters.snapshot(self._plan.interface)
            self._emit(PathSeen(path_facts=counter_facts(self._counters_before, counters)))

    def _connection_facts(self) -> PathFacts:
        """Empty where none can be made: the load is measured all the same."""
        target = self._plan.targets[0]
        if target.abilities.is_local:
            return {}

        try:
            with closing(registry.make_client(target, base.OWN, self._plan.secrets, self._plan.settings)) as client:
                client.connect()
                return client.facts_of_path()
        except errors.SharebenchError:
            return {}
