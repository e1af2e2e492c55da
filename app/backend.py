"""All that screens and the guide do outside of this program: they ask servers, measure, and record what they measured.

It is one object, so that tests can put another in its place. Every screen has it, so what a method needs is loaded when
the method is first called: the first paint does not wait for it.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.clients.base import Client, Secrets
    from app.clients.browsing import BrowsedFolder
    from app.load.measurement import LoadStep
    from app.load.spec import LoadRequest
    from app.recording.process import SeriesControl
    from app.recording.spec import SeriesRequest
    from app.series.events import RecorderEvent
    from app.series.resume import Resumption
    from app.server.machine_meter import MachineNow
    from app.trial.resume import StoredTrial
    from app.trial.spec import TrialEvent, TrialOrder
    from forms.series.file_size import FileSizeContext
    from storage.load.records import Load
    from storage.records import Command, Quiet, Target


class Backend:
    """Every method may take seconds and belongs in a thread; those that return an iterator measure while it is read."""

    def look(self, target: "Target", secrets: "Secrets", around: "FileSizeContext") -> "BrowsedFolder":
        """What is at the target: shares, or names in a folder; ``around`` is what file sizes are judged by."""
        from app.clients.browsing import look
        from app.clients.registry import make_client
        from storage.plan import Settings

        def client_of(place: "Target") -> "Client":
            return make_client(place, "", secrets, Settings(timeout_seconds=10.0))

        return look(target, client_of, around)

    def link(self, target: "Target") -> tuple[int | None, str]:
        """The nominal rate in bits per second of the interface that leads to the target, and where it is from."""
        from app.server.link_facts import detect_link

        return detect_link(target.host, target.port)

    def memory_bytes(self, target: "Target") -> int | None:
        """The memory of the server; None where it is another machine, which nobody asks."""
        from app.server.host_facts import host_facts
        from app.server.routes import is_this_machine

        if target.host and not is_this_machine(target.host):
            return None
        memory_bytes = host_facts().get("memory_bytes")
        return int(memory_bytes) if isinstance(memory_bytes, int | float) else None

    def quiet(self, target: "Target", command: "Command") -> "Quiet":
        """Whether other activity on this machine would bias a measurement now; watches for two seconds."""
        from app.server.link_facts import find_link
        from app.server.quiet_watch import QuietWatch

        link = find_link(target.host, target.port) if target.host else None
        with QuietWatch(target, command, link) as watch:
            return watch.look()

    def meter(self, target: "Target | None") -> "Callable[[], MachineNow | None]":
        """What this machine and its card on the way to the target do; of a path of this machine, the busiest card."""
        from app.server.machine_meter import MachineMeter
        from app.server.routes import find_route

        route = find_route(target.host, target.port) if target is not None and target.host else None
        return MachineMeter(route.interface if route else None).now

    def load(
        self, request: "LoadRequest", notebook_path: Path, control: "SeriesControl", resumed: "Load | None" = None
    ) -> "Iterator[LoadStep]":
        """Measure a load into the notebook, or the rest of an interrupted one."""
        from app.load.record import run_load

        return run_load(request, notebook_path, control, resumed)

    def order_trial(
        self,
        request: "SeriesRequest",
        setting: str,
        *,
        keeps_size: bool,
        accepted: tuple[str, ...],
        restart: bool,
    ) -> "TrialOrder":
        """A trial of ``setting`` (NAME = VALUE), checked on the server; nothing is written."""
        from app.trial.prepare import order_of

        return order_of(request, setting, keeps_size=keeps_size, accepted=accepted, restart=restart)

    def resume_trial(self, stored: "StoredTrial", secrets: "Secrets") -> "TrialOrder":
        """The rest of an interrupted trial, checked on the server; nothing is written."""
        from app.trial.resume import order_to_resume

        return order_to_resume(stored, secrets)

    def carry_out(self, order: "TrialOrder", notebook_path: Path, control: "SeriesControl") -> "Iterator[TrialEvent]":
        """Change the setting, measure it, and restore it."""
        from app.trial.record import run_trial

        return run_trial(order, notebook_path, control)

    def record(
        self, request: "SeriesRequest", notebook_path: Path, control: "SeriesControl"
    ) -> "Iterator[RecorderEvent]":
        """Measure a series into the notebook."""
        from app.series.record import record

        return record(request, notebook_path, control)

    def interleave(
        self, todo: "Sequence[SeriesRequest | Resumption]", notebook_path: Path, control: "SeriesControl"
    ) -> "Iterator[tuple[int, RecorderEvent]]":
        """Measure the series of a comparison into the notebook, or complete them, run by run in random order.

        Each event comes with the place of its series. Raises UnequalFilesError.
        """
        import random

        from app.series.interleaved import record_interleaved

        return record_interleaved(todo, notebook_path, control, chance=random.SystemRandom(), equal_files=True)

    def resume(
        self,
        series_id: str,
        secrets: "Secrets",
        notebook_path: Path,
        control: "SeriesControl",
        *,
        confirmed: bool,
    ) -> "Iterator[RecorderEvent]":
        """The rest of an interrupted series; ``confirmed``: the user has said where an imported one logs in."""
        from app.series.resume import resume

        return resume(series_id, secrets, notebook_path, control, confirmed=confirmed)
