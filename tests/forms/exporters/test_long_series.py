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
content = export([series([1e8 + (i * 7919) % 1000003 for i in range(10_000)])], sys.argv[1])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(len(content), int(peak.split()[1]) // 1024)
"""


@pytest.mark.parametrize("name", FORMATS)
def test_ten_thousand_runs_take_less_than_300_mb(name):
    done = subprocess.run(
        [sys.executable, "-c", CODE, name], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    size, megabytes = map(int, done.stdout.split())
    assert size > 100_000
    assert megabytes < 300
