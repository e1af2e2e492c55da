"""The way into the program."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTERRUPTED_WHILE_LOADING = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "app.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from app.__main__ import main
main()
"""


def test_ctrl_c_while_the_program_loads_is_a_cancel():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_LOADING], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
