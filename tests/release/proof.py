"""Proves that a release installs and runs from nothing: ``python -m tests.release.proof [pip,pipx,…]``.

Each way gets an empty home and an empty environment, runs ``sharebench demo </dev/null`` and shows the manual page. The
commands of the Containerfile run in a root made by debootstrap, since no registry of images is needed for that.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.release.build import DIST, ROOT

MOST_MEGABYTES = 250
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_MIRROR = re.compile(r"^(?:URIs:|deb)\s+(?:\[[^]]*\]\s*)?(https?://\S+)", re.MULTILINE)


class FailedError(Exception):
    """A step did not do what it must."""


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


def _run(home: Path, *words: str | Path, **more: str) -> str:
    """What a program says that knows nothing of this checkout. Raises FailedError."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_", "LANG"))}
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", **kept, "HOME": str(home), **more}
    done = subprocess.run(
        [str(word) for word in words],
        check=False,
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise FailedError(f"{shlex.join(map(str, words))[:200]}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def _works(home: Path, *command: str | Path, tree: Path | None = None) -> str:
    """See that the command runs the demo, that it is not too large, and that its manual page is found."""
    printed = _run(home, *command, "demo")
    if printed.count("Run No") != 1 or printed.count("Verdict:") != 1:
        raise FailedError(f"the demo printed {printed[:2000]}")
    if tree is None:
        return "a form and a comparison"
    megabytes = sum(path.lstat().st_size for path in tree.rglob("*") if not path.is_symlink()) / 1e6
    if megabytes > MOST_MEGABYTES:
        raise FailedError(f"{megabytes:.0f} MB installed, more than {MOST_MEGABYTES}")
    page = next(iter(tree.rglob("share/man/man1/sharebench.1")), None)
    if page is None or "sharebench" not in _run(home, "man", "--local-file", page):
        raise FailedError("no manual page")
    return f"4 forms, {megabytes:.0f} MB, manual page"


def _venv(folder: Path) -> Path:
    _run(folder, sys.executable, "-m", "venv", folder / "venv")
    return folder / "venv"


def _by_pip(folder: Path, what: Path | None = None) -> str:
    venv = _venv(folder)
    _run(folder, venv / "bin/python", "-m", "pip", "install", "--quiet", what or _wheel())
    return _works(folder, venv / "bin/sharebench", tree=venv)


def _by_pipx(folder: Path) -> str:
    venv = _venv(folder)
    _run(folder, venv / "bin/python", "-m", "pip", "install", "--quiet", "pipx")
    places = {
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
    }
    _run(folder, venv / "bin/pipx", "install", "--python", sys.executable, _wheel(), **places)
    if not (folder / "man/man1/sharebench.1").exists():
        raise FailedError("pipx shows no manual page")
    return _works(folder, folder / "bin/sharebench", tree=folder / "pipx")


def _by_uv(folder: Path) -> str:
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin"), "UV_NO_CACHE": "1"}
    uv = Path(sys.executable).parent / "uv"
    _run(folder, uv, "tool", "install", "--quiet", "--python", sys.executable, _wheel(), **places)
    return _works(folder, folder / "bin/sharebench", tree=folder / "tools")


def _one_file(folder: Path) -> str:
    file = shutil.copy(DIST / "sharebench.pyz", folder)
    return f"{_works(folder, sys.executable, file)}, {Path(file).stat().st_size / 1e6:.0f} MB"


def _container(folder: Path) -> str:
    """Carry out the Containerfile in a root of its own; what it cannot do there is what only a container has."""
    mirror = next((found[1] for path in _sources() if (found := _MIRROR.search(path.read_text()))), None)
    root = folder / "root"
    text = re.sub(r"(?m)^#.*\n", "", (ROOT / "Containerfile").read_text()).replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    release = re.fullmatch(r"docker\.io/library/debian:(\w+)-slim", dict(steps)["FROM"])
    assert release
    _run(
        folder,
        "debootstrap",
        "--variant=minbase",
        release[1],
        root,
        *([mirror] if mirror else ()),
        PATH=os.environ["PATH"],
    )
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    if mirror:
        (root / "etc/apt/sources.list").write_text(f"deb {mirror} {release[1]} main\n")
    _run(folder, "mount", "-t", "proc", "proc", root / "proc")
    try:
        return _carried_out(folder, root, steps)
    finally:
        _run(folder, "umount", root / "proc")


def _carried_out(folder: Path, root: Path, steps: list[list[str]]) -> str:
    user, environment = "root", {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    if _CERTIFICATES.exists():  # the machine's own, where it reaches the registry through a proxy
        shutil.copy(_CERTIFICATES, root / "proof-certificates.crt")
        environment["PIP_CERT"] = "/proof-certificates.crt"
    entry: list[str] = []
    for word, rest in steps:
        if word == "RUN":
            words = [f"{name}={value}" for name, value in environment.items()]
            _run(folder, "chroot", f"--userspec={user}", root, "env", "-i", *words, "sh", "-c", rest)
        elif word == "COPY":
            *sources, place = rest.split()
            (root / place.lstrip("/")).mkdir(parents=True)
            for source in sources:
                for path in ROOT.glob(source):
                    shutil.copy(path, root / place.lstrip("/"))
        elif word == "USER":
            user = rest
        elif word == "ENV":
            name, _, value = rest.partition("=")
            environment[name] = value
        elif word == "ENTRYPOINT":
            entry = [part.strip(' "') for part in rest.strip("[]").split(",")]
    words = [f"{name}={value}" for name, value in {**environment, "HOME": f"/home/{user}"}.items()]
    return f"{_works(folder, 'chroot', f'--userspec={user}', root, 'env', '-i', *words, *entry)} as {user}"


def _sources() -> list[Path]:
    return [*Path("/etc/apt").glob("sources.list"), *Path("/etc/apt/sources.list.d").glob("debian.sources")]


PROOFS: dict[str, Callable[[Path], str]] = {
    "pip": _by_pip,
    "pipx": _by_pipx,
    "uv": _by_uv,
    "pyz": _one_file,
    "sdist": lambda folder: _by_pip(folder, next(DIST.glob("*.tar.gz"))),
    "container": _container,
}

if __name__ == "__main__":
    sys.exit(main([name for word in sys.argv[1:] for name in word.split(",") if name]))
