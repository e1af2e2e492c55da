"""Builds what a release has: wheel and sdist, checked, and all in one file that runs with the same Python.

``python -m tests.release.build`` fills ``dist``; with ``app`` as well ``dist/sharebench.pyz``.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.release import manual

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
_BIN = Path(sys.executable).parent


def distributions(folder: Path = DIST) -> list[Path]:
    """Build wheel and sdist with today's manual pages and have twine check them; their paths."""
    manual.write()
    for old in (*folder.glob("*.whl"), *folder.glob("*.tar.gz")):
        old.unlink()
    words = ("build", "--quiet", "--no-build-isolation", "--python", sys.executable, "--out-dir", folder)
    _run(_BIN / "uv", *words, "--wheel", "--sdist", ROOT)
    built = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    _run(_BIN / "twine", "check", "--strict", *built)
    return built


def application(wheel: Path, file: Path = DIST / "sharebench.pyz") -> Path:
    """Put the wheel and all that it needs, in the locked versions, into one file that unpacks itself at first use."""
    with tempfile.TemporaryDirectory() as folder:
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", folder)
        _run(*pip, "--require-hashes", "-r", ROOT / "requirements.lock")
        _run(*pip, "--no-deps", wheel)
        shutil.rmtree(Path(folder) / "bin", ignore_errors=True)
        words = ("--python", "/usr/bin/env python3", "--entry-point", "app.__main__:main", "--site-packages", folder)
        _run(_BIN / "shiv", "--compressed", "--output-file", file, *words)
    choose_own_cache(file)
    return file


def choose_own_cache(file: Path) -> None:
    """Have an application of shiv run ``own_cache`` before it unpacks itself."""
    with zipfile.ZipFile(file) as before:
        entries = [(entry, before.read(entry)) for entry in before.infolist()]
    shebang, _, _ = file.read_bytes().partition(b"\n")
    own_cache = Path(__file__).with_name("own_cache.py").read_bytes()

    with file.open("wb") as written:
        written.write(shebang + b"\n")
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as after:
            for entry, content in entries:
                is_start = entry.filename == "__main__.py"
                after.writestr(entry, own_cache + b"\n" + content if is_start else content)


def _run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    found = distributions()
    if "app" in sys.argv[1:]:
        found.append(application(next(one for one in found if one.suffix == ".whl")))
    for path in found:
        sys.stdout.write(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.1f} MB\n")
