"""CUPS with a configuration, a spool folder and a printer of its own, which takes its time for each job."""

import subprocess
from pathlib import Path

from tests.servers.process import LOOPBACK, ServerProcess, program, require

PRINTER = "laser"
_BACKEND = """#!/bin/sh
[ $# -eq 0 ] && echo 'direct slow:/ "Unknown" "Takes its time"' && exit
cat "${{6:--}}" >/dev/null
sleep {seconds}
cut -d ' ' -f 1 /proc/uptime >> {root}/temporary/printed
"""
_ALL = "Order allow,deny\n  Allow localhost"
_CONFIGURATION = """Listen {host}:{port}
WebInterface No
Browsing No
DefaultAuthType None
MaxJobs {jobs}
<Location />
  {all_}
</Location>
<Location /admin>
  {all_}
</Location>
<Policy default>
  <Limit All>
    Order allow,deny
  </Limit>
</Policy>
"""
_FILES = """SystemGroup root
User lp
Group lp
ServerRoot {root}/etc
ServerBin {root}/bin
StateDir {root}/state
CacheDir {root}/cache
RequestRoot {root}/spool
TempDir {root}/temporary
DataDir /usr/share/cups
AccessLog {root}/access_log
ErrorLog {root}/error_log
PageLog {root}/page_log
Sandboxing relaxed
"""


class Cups(ServerProcess):
    """A running cupsd with the printer ``laser``, which needs ``job_seconds`` for each job; nothing of the system's."""

    name = "cupsd"

    def __init__(self, job_seconds: float, most_jobs: int = 500) -> None:
        require("cupsd", "lpadmin", "lpstat")
        super().__init__()
        self._job_seconds = job_seconds
        self._most_jobs = most_jobs

    @property
    def address(self) -> str:
        """What ``cups server`` of smb.conf and ``-h`` of its programs take."""
        return f"{LOOPBACK}:{self.port}"

    def configure(self) -> None:
        for name in ("etc", "bin/backend", "bin/daemon", "state", "cache", "spool", "temporary"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        (self.root / "temporary").chmod(0o1777)
        executor = self.root / "bin/daemon/cups-exec"
        executor.write_bytes(Path("/usr/lib/cups/daemon/cups-exec").read_bytes())
        backend = self.root / "bin/backend/slow"
        backend.write_text(_BACKEND.format(seconds=self._job_seconds, root=self.root))
        for each in (executor, backend):
            each.chmod(0o755)
        (self.root / "cupsd.conf").write_text(
            _CONFIGURATION.format(host=LOOPBACK, port=self.port, jobs=self._most_jobs, all_=_ALL)
        )
        (self.root / "cups-files.conf").write_text(_FILES.format(root=self.root))

    def command(self) -> list[str]:
        return [program("cupsd"), "-f", "-c", str(self.root / "cupsd.conf"), "-s", str(self.root / "cups-files.conf")]

    def start(self) -> None:
        super().start()
        self.tell("lpadmin", "-p", PRINTER, "-E", "-v", "slow:/")

    def tell(self, name: str, *words: str) -> str:
        """What one of its programs says."""
        done = subprocess.run([program(name), "-h", self.address, *words], check=True, capture_output=True, text=True)
        return done.stdout

    def printed(self) -> list[float]:
        """When each job was done, in seconds of the monotonic clock, to hundredths."""
        log = self.root / "temporary/printed"
        return [float(line) for line in log.read_text().split()] if log.exists() else []
