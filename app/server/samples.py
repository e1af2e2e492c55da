"""Runs ``resources.sh``, here or through ssh, and keeps the samples that it prints each second.

A sample (`app.server.resources`) has the counters of one machine: processors, server processes, cards, disks.
"""

import os
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

from app.base.errors import UsageError
from app.server import running_program, shell
from app.server.processes import Ours, all_processes
from app.server.resources import ResourceSample, parse_resources

MEMORY_INTERVAL_SECONDS = 10
"""Adding up the memory of a thousand processes takes a third of a second."""
_FIRST_SAMPLE_SECONDS = 20.0
"""How long the first sample is waited for."""
_STOP_SECONDS = 5.0
"""How long the thread that reads is waited for at the end."""
_MOST_ENTRIES = 200_000
"""Entries of all samples, about 60 MB: eight hours of a server with six cards and disks."""
_NO_COUNTER = re.compile(r"\d{21}|\S{200}")
"""The kernel's counters have 64 bits, and names are short."""


class ResourceSampler:
    """Samples of one machine, here or through ssh, from `start` to `stop`. Never raises: ``problem`` says why not."""

    def __init__(
        self,
        ssh: str | None = None,
        *,
        names: Sequence[str] = ("smbd", "cleanupd"),
        roots: Iterable[int] = (),
        memory_interval_seconds: int = MEMORY_INTERVAL_SECONDS,
        interval_seconds: float = 1.0,
    ) -> None:
        """``names`` are prefixes of server process names; ``roots``, if given, limit them."""
        self.problem: str | None = None
        """Why there are no samples, in words."""

        self._ssh = ssh
        self._roots = frozenset(roots)
        self._mark = f"@sharebench-{secrets.token_hex(8)}@"
        """Begins the line of each section; random, so that no other line looks so."""
        self._variables = {
            "mark": self._mark,
            "names": "|".join(rf"\({name}" for name in names),
            "root": str(min(self._roots, default="")),
            "memory_every": str(max(1, round(memory_interval_seconds / interval_seconds))),
            "pause": f"{interval_seconds:g}",
        }

        self._samples: deque[ResourceSample] = deque()
        self._entries = 0
        """Those of all samples that are kept; beyond ``_MOST_ENTRIES`` the oldest are dropped."""
        self._began = threading.Event()
        """The first sample is there, or there will be none."""
        self._program: running_program.RunningProgram | None = None
        self._thread: threading.Thread | None = None

    def start(self, timeout_seconds: float = _FIRST_SAMPLE_SECONDS) -> None:
        """Wait for the first sample."""
        body = shell.with_variables(shell.script_file("app.server", "resources.sh"), self._variables)
        try:
            self._program = running_program.RunningProgram(shell.ServerShell(self._ssh).words(""), text=body)
        except UsageError as error:
            self.problem = f"the server's load is not seen: {error}"
            return
        except OSError as error:
            program = "ssh" if self._ssh else "sh"
            self.problem = f"the server's load is not seen: `{program}` cannot be run here ({error.strerror})"
            return

        self._thread = threading.Thread(target=self._read_samples, daemon=True)
        self._thread.start()
        if not self._began.wait(timeout_seconds) or not self._samples:
            hint = f"`ssh {self._ssh} true` must work without a question" if self._ssh else "this machine has no /proc"
            self.problem = f"the server's load is not seen: {hint}"

    def stop(self) -> list[ResourceSample]:
        """End the script; all samples that are kept."""
        program = self._program
        self._program = None
        if program is not None:
            program.end()
            if self._thread is not None:
                self._thread.join(_STOP_SECONDS)
        return self.samples()

    def samples(self, since: float = 0.0, until: float = float("inf")) -> list[ResourceSample]:
        """Those of that time, by the monotonic clock."""
        return [sample for sample in list(self._samples) if since <= sample.at_seconds <= until]

    def _read_samples(self) -> None:
        """Keep the samples that the script prints, until it ends."""
        program = self._program
        assert program is not None
        for sections in self._sections_of_samples(program):
            own_ticks = 0 if self._ssh else Ours(trees=frozenset({os.getpid()})).ticks(all_processes())
            self._keep(sections, own_ticks)
        self._began.set()

    def _sections_of_samples(self, program: running_program.RunningProgram) -> Iterator[dict[str, list[str]]]:
        """The lines of each sample by section; a section ``end`` closes it. A sample that is far too long ends all."""
        sections: dict[str, list[str]] = {}
        lines: list[str] = []
        sample_bytes = 0
        while True:
            line = program.line()
            sample_bytes += len(line)
            if not line or sample_bytes >= running_program.MOST_BYTES:
                return

            if not line.startswith(self._mark):
                if not _NO_COUNTER.search(line):
                    lines.append(line)
                continue

            name = line[len(self._mark) :].strip()
            lines = sections.setdefault(name, [])
            if name == "end":
                yield sections
                sections = {}
                sample_bytes = 0

    def _keep(self, sections: Mapping[str, Sequence[str]], own_ticks: int) -> None:
        """Keep the sample of these sections, and drop the oldest ones where they are too many."""
        try:
            sample = parse_resources(sections, self._roots, time.monotonic())
        except ValueError:  # no line of /proc
            return
        if sample is None:
            return

        self._samples.append(replace(sample, own_ticks=own_ticks))
        self._entries += sample.entries
        while self._entries > _MOST_ENTRIES:
            self._entries -= self._samples.popleft().entries
        self._began.set()


class SampledSides:
    """Samplers of the server and of this machine, which run inside ``with``.

    They may be one and the same, and either may be missing.
    """

    def __init__(self, server: ResourceSampler | None, own: ResourceSampler | None) -> None:
        self.server = server
        self.own = own

    def __enter__(self) -> Self:
        for sampler in self._samplers():
            sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        for sampler in self._samplers():
            sampler.stop()

    def _samplers(self) -> set[ResourceSampler]:
        return {sampler for sampler in (self.server, self.own) if sampler is not None}
