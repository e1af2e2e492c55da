"""The tests that failed, asked once more with the machine to themselves: ``python -m tests.once_more``.

For `make test` on a busy machine. A few tests only: more have a common cause. What passes now is named all the same,
since a test that depends on what runs beside it is a fault too; what fails again has failed.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
AT_MOST = 3


def main(root: Path) -> int:
    """0 if each passes now."""
    kept = root / FAILED
    failed = [_without_group(name) for name in json.loads(kept.read_text())] if kept.is_file() else []
    if not 0 < len(failed) <= AT_MOST:
        return 1
    again = subprocess.run([sys.executable, "-m", "pytest", *failed], cwd=root, check=False).returncode
    if again == 0:
        sys.stdout.write("\n  ".join(["failed, and passed when asked once more:", *failed]) + "\n")
    return again


def _without_group(name: str) -> str:
    """A test's name by which pytest finds it: beside others it ends with ``@`` and its xdist_group."""
    return name.rpartition("@")[0] if name.rfind("@") > name.rfind("]") else name


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
