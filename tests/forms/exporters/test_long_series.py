"""A long series exports in every format in bounded memory; the scale campaign has ten and a hundred times its runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from forms.exporters import FORMATS
from tests.waiting import HANG_SECONDS

ROOT = Path(__file__).parents[3]
CODE = """
import sys
from pathlib import Path
from tests.builders import series
from tests.builders import export
long = series([1e8 + (i * 7919) % 1000003 for i in range(1_000)])
least = min(len(export([long], name)) for name in sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(least, int(peak.split()[1]) // 1024)
"""


@pytest.mark.long
def test_a_thousand_runs_take_less_than_200_mb():
    done = subprocess.run(
        [sys.executable, "-c", CODE, *FORMATS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    size, megabytes = map(int, done.stdout.split())
    assert size > 10_000
    assert megabytes < 200
