"""Golden files: what an exporter wrote when somebody last looked at it and found it right.

Renew them with ``SHAREBENCH_RENEW_GOLDEN=1 python -m pytest tests/forms``, then look at the difference in git
before it is committed. The files are compared byte by byte, line ends included (.gitattributes keeps git off them).
"""

import os
from pathlib import Path

FOLDER = Path(__file__).with_name("golden")


def check(name: str, content: bytes) -> None:
    """Compare with the golden file of that name, or write it when they are being renewed."""
    path = FOLDER / name
    if os.environ.get("SHAREBENCH_RENEW_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert path.exists(), f"there is no golden file {path.name}: {__doc__}"
    assert content == path.read_bytes(), f"{path.name} is not as it was: {__doc__}"
