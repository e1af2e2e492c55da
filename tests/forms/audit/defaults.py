"""The untouched smb.conf of Debian's releases, and what their testparm prints of it; made with the table of parameters.

``tests/release/samba_parameters.py`` says how.
"""

import gzip
from pathlib import Path

VERSIONS = ("4.13", "4.17", "4.22", "4.25")
_FOLDER = Path(__file__).with_name("dumps")


def untouched_conf(version: str) -> str:
    return _text(f"{version}.smb.conf.gz")


def testparm_dump(version: str) -> str:
    """What ``testparm -sv`` prints."""
    return _text(f"{version}.testparm.gz")


testparm_dump.__test__ = False  # type: ignore[attr-defined]


def _text(name: str) -> str:
    return gzip.decompress((_FOLDER / name).read_bytes()).decode()
