"""Other SMB libraries as contenders: the programs that use them, built where their toolchains are."""

import shutil
import subprocess
from pathlib import Path

from tests.servers.process import program

_SOURCES = Path(__file__).parent
_BUILT = _SOURCES.parents[2] / ".bench" / "peers"
BUILD_SECONDS = 1800.0


def go_smb2_program() -> str:
    """The program with github.com/cloudsoda/go-smb2, built if its source is newer."""
    built = _BUILT / "go-smb2"
    _run([program("go"), "build", "-o", str(built), "."], _SOURCES / "go_smb2")
    return str(built)


def rust_smb_program() -> str:
    """The program with the crate ``smb``, likewise."""
    folder = _BUILT / "rust-smb"
    # cargo writes the versions that it chose beside the source.
    shutil.copytree(_SOURCES / "rust_smb", folder, dirs_exist_ok=True)
    _run([program("cargo"), "build", "--release"], folder)
    return str(folder / "target" / "release" / "sharebench-bench-peer")


def _run(command: list[str], folder: Path) -> None:
    _BUILT.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
