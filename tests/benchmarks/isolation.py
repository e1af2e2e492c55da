"""``python -m tests.benchmarks.isolation WORDS``: ``isolate`` with these words against an smbd of its own, timed.

``--clients 4 --without find_first,query_path_information`` is the price of two operations, ``--clients 1,2,4`` the
whole table. It asserts nothing.
"""

import sys
import tempfile
import time
from pathlib import Path

from storage.records import format_target
from tests.command_line import Sharebench
from tests.servers.process import require
from tests.servers.smbd import Smbd

MOST_SECONDS = 900.0


def main() -> int:
    """Measure one isolation and print its form."""
    if "--help" in sys.argv:
        sys.stdout.write(f"{__doc__}\n")
        return 0
    require("smbd", "dbench", "tbench")
    smbd = Smbd()
    smbd.start()
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="sharebench-bench-") as folder:
            sharebench = Sharebench(Path(folder) / "notebook.db", smbd.password)
            words = ("isolate", format_target(smbd.target()), "--smb-conf", str(smbd.conf), *sys.argv[1:])
            process = sharebench.start(*words)
            printed, said = process.communicate(timeout=MOST_SECONDS)
    finally:
        smbd.stop()
    sys.stdout.write(f"{printed}{said}{time.monotonic() - began:.0f} s\n")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
