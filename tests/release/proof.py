"""Proves that a release installs and runs from nothing: ``python -m tests.release.proof [pip,pipx,…]``.

Each way gets an empty home and an empty environment, runs ``sharebench demo </dev/null`` and shows manual pages. The
commands of the Containerfile run in a root made by debootstrap, since no registry of images is needed for that. The
tests themselves run on machines made in the same way, which lack one thing or another (``bookworm-bare``, …).
"""

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.release import tested_machines
from tests.release.build import DIST, ROOT
from tests.release.debian import DebianRoot
from tests.release.running import FailedError, run

MOST_MEGABYTES = 250


def main(names: list[str]) -> int:
    """Carry out the proofs of these names, or all; 1 if one failed."""
    failed = 0
    for name in names or PROOFS:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="sharebench-proof-") as folder:
            try:
                said = PROOFS[name](Path(folder))
            except FailedError as error:
                said, failed = f"FAILED: {error}", 1
        print(f"{name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201  its answer
    return failed


def _wheel() -> Path:
    return next(DIST.glob("*.whl"))


def _works(home: Path, *command: str | Path, tree: Path | None = None) -> str:
    """See that the command runs the demo, that it is not too large, and that its manual pages are found."""
    printed = run(home, *command, "demo")
    if printed.count("Run No") != 1 or printed.count("Verdict:") != 1:
        raise FailedError(f"the demo printed {printed[:2000]}")
    if tree is None:
        return "a form and a comparison"
    megabytes = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_symlink()) / 1e6
    if megabytes > MOST_MEGABYTES:
        raise FailedError(f"{megabytes:.0f} MB installed, more than {MOST_MEGABYTES}")

    for name in ("sharebench", "sharebench-run"):
        page = next(iter(tree.rglob(f"share/man/man1/{name}.1")), None)
        if page is None or name not in run(home, "man", "--local-file", page):
            raise FailedError(f"no manual page {name}(1)")
    return f"4 forms, {megabytes:.0f} MB, manual pages"


def _venv(folder: Path) -> Path:
    run(folder, sys.executable, "-m", "venv", folder / "venv")
    return folder / "venv"


def _by_pip(folder: Path, what: Path | None = None) -> str:
    venv = _venv(folder)
    run(folder, venv / "bin/python", "-m", "pip", "install", "--quiet", what or _wheel())
    return _works(folder, venv / "bin/sharebench", tree=venv)


def _by_pipx(folder: Path) -> str:
    venv = _venv(folder)
    run(folder, venv / "bin/python", "-m", "pip", "install", "--quiet", "pipx")
    places = {
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
    }
    run(folder, venv / "bin/pipx", "install", "--python", sys.executable, _wheel(), **places)
    for name in ("sharebench.1", "sharebench-run.1"):
        if not (folder / "man/man1" / name).exists():
            raise FailedError(f"pipx shows no manual page {name}")
    return _works(folder, folder / "bin/sharebench", tree=folder / "pipx")


def _by_uv(folder: Path) -> str:
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin"), "UV_NO_CACHE": "1"}
    uv = Path(sys.executable).parent / "uv"
    run(folder, uv, "tool", "install", "--quiet", "--python", sys.executable, _wheel(), **places)
    return _works(folder, folder / "bin/sharebench", tree=folder / "tools")


def _one_file(folder: Path) -> str:
    file = shutil.copy(DIST / "sharebench.pyz", folder)
    return f"{_works(folder, sys.executable, file)}, {Path(file).stat().st_size / 1e6:.0f} MB"


def _container(folder: Path) -> str:
    """Carry out the Containerfile in a root of its own; what it cannot do there is what only a container has."""
    text = re.sub(r"(?m)^#.*\n", "", (ROOT / "Containerfile").read_text()).replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    release = re.fullmatch(r"docker\.io/library/debian:(\w+)-slim", dict(steps)["FROM"])
    assert release
    root = DebianRoot(folder, release[1])

    user = "root"
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    entry: list[str] = []
    for word, rest in steps:
        if word == "RUN":
            root.run(user, environment, "sh", "-c", rest)
        elif word == "COPY":
            *sources, place = rest.split()
            target = root.path / place.lstrip("/")
            target.mkdir(parents=True)
            for path in (path for source in sources for path in ROOT.glob(source)):
                shutil.copy(path, target)
        elif word == "USER":
            user = rest
        elif word == "ENV":
            name, _, value = rest.partition("=")
            environment[name] = value
        elif word == "ENTRYPOINT":
            entry = [part.strip(' "') for part in rest.strip("[]").split(",")]

    answer = _works(folder, *root.command(user, environment | {"HOME": f"/home/{user}"}, *entry))
    return f"{answer} as {user}"


PROOFS: dict[str, Callable[[Path], str]] = {
    "pip": _by_pip,
    "pipx": _by_pipx,
    "uv": _by_uv,
    "pyz": _one_file,
    "sdist": lambda folder: _by_pip(folder, next(DIST.glob("*.tar.gz"))),
    "container": _container,
    **tested_machines.PROOFS,
}

if __name__ == "__main__":
    sys.exit(main([name for word in sys.argv[1:] for name in word.split(",") if name]))
