"""A series of 10,000 runs exports in every format in bounded memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from forms.exporters import FORMATS

ROOT = Path(__file__).parents[3]
CODE = """
import sys
from pathlib import Path
from tests.builders import series
from forms.exporters import export
long = series([1e8 + (i * 7919) % 1000003 for i in range(10_000)])
least = min(len(export([long], name)) for name in sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(least, int(peak.split()[1]) // 1024)
"""


@pytest.mark.parametrize("names", [["pdf"], ["xlsx"], [name for name in FORMATS if name not in {"pdf", "xlsx"}]])
def test_ten_thousand_runs_take_less_than_300_mb(names):
    done = subprocess.run(
        [sys.executable, "-c", CODE, *names], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    size, megabytes = map(int, done.stdout.split())
    assert size > 100_000
    assert megabytes < 300
