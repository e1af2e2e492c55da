"""The busiest programs of this machine, beside our own."""

import subprocess
import sys

from tests.waiting import HANG_SECONDS


def test_a_program_beside_this_one_counts_though_one_shell_started_both():
    watcher = (
        "import time; from app.server.busiest_program import BusiestProgram; watch = BusiestProgram(); time.sleep(1.5);"
        " print([program.name for program in watch.programs(50)])"
    )
    command = f"sh -c 'while :; do :; done' & loop=$!; {sys.executable} -c '{watcher}'; kill $loop"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=HANG_SECONDS, check=True)
    assert "'sh'" in result.stdout
