"""Without Linux's /proc and fcntl the notebook works, and what cannot work is refused by name.

A process in a mount namespace of its own sees an empty /proc, our modules cannot import what only POSIX systems have,
and ``os`` and ``signal`` are without what only these have.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from storage.notebook import Notebook
from tests.builders import one
from tests.command_line import ROOT
from tests.recordings import MAKERS
from tests.servers.process import require

ELSEWHERE = """
import builtins, os, signal, sys
hidden = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp"}
usual = builtins.__import__
def without(name, globals=None, *rest, **named):
    ours = str((globals or {}).get("__name__", "")).partition(".")[0] in {"app", "forms", "storage"}
    if ours and name.partition(".")[0] in hidden:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return usual(name, globals, *rest, **named)
builtins.__import__ = without
for name in ("sched_getaffinity", "O_TMPFILE", "geteuid", "fchmod", "memfd_create"):
    delattr(os, name)
del signal.SIGHUP
assert not os.path.exists("/proc/self")
"""
MAIN = """
from app.__main__ import main
sys.argv[0] = "sharebench"
main()
"""
SCREENS = """
import asyncio
from pathlib import Path
from app.tui.frame.app import SharebenchApp
from app.tui.frame.context import Context

async def look():
    app = SharebenchApp(Context(notebook_path=Path(sys.argv[1]), practice=(), theme_file=None))
    async with app.run_test(size=(120, 40)) as pilot:
        for key in ("", "enter", "c", "escape", "n"):
            if key:
                await pilot.press(key)
            for _ in range(20):
                await pilot.pause(0.1)
            strips = app.screen._compositor.render_strips()
            text = "\\n".join("".join(segment.text for segment in strip) for strip in strips)
            print(f"== {key} {type(app.screen).__name__}\\n{text}")
asyncio.run(look())
"""


@pytest.fixture(scope="module")
def namespace() -> tuple[str, ...]:
    words = ("unshare", "--mount", "--map-root-user", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no mount namespaces here")
    return words


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    with Notebook(tmp_path / "a.db") as found:
        for kind in ("series", "load", "isolation", "audit", "trial"):
            MAKERS[kind](found)
        found.add(one(2))
        found.set_baseline("before", one(1).id)
    return tmp_path / "a.db"


def elsewhere(namespace: tuple[str, ...], code: str, *words: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*namespace, sys.executable, "-c", ELSEWHERE + code, *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def codes(command: object) -> tuple[int, ...]:
    """The exit codes of a command that answered."""
    return (0, 1, 3) if command == "compare" else (0,)


@pytest.mark.long
def test_notebook_forms_comparison_import_export_and_verify_work_elsewhere(namespace, notebook: Path, tmp_path: Path):
    require("ssh-keygen", root=False)
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True, stdin=subprocess.DEVNULL)
    script = "\n".join(
        f"assert run({list(map(str, words))!r}, None) in {codes(words[0])!r}"
        for words in (
            ("list",), ("list", "--json"), ("show", "before"), ("show", "before", "--json"), ("note", "before", "x"),
            ("rename", "before", "y"), ("reject", "before", "1", "--reason", "z"), ("accept", "before", "1"),
            ("compare", "before", one(2).id), ("findings", "before"), ("baseline", "list"), ("experiment", "list"),
            ("export", "before", "-o", tmp_path / "a.pdf"), ("export", "before", "--format", "text", "--anonymous"),
            ("export", "before", "--sign", key, "-o", tmp_path / "e.json"), ("verify", tmp_path / "e.json"),
            ("export", "before", "-o", tmp_path / "b.json"),
            ("import", tmp_path / "b.json", "--as-new"), ("delete", "last", "--yes"), ("catalogue",),
            ("share-worker", "state"), ("worksheet", "list"),
        )
    )  # fmt: skip
    code = (
        f"from app.cli.main import run\nsys.argv[1:] = []\nimport os\nos.environ['SHAREBENCH_DB'] = {str(notebook)!r}\n"
    )
    done = elsewhere(namespace, code + script)
    assert done.returncode == 0, done.stderr
    for name in ("a.pdf", "e.json", "b.json"):
        assert (tmp_path / name).stat().st_size > 1000
    assert not list(tmp_path.glob(".sharebench-*"))


@pytest.mark.parametrize("command", ["run", "load", "isolate", "survey", "try", "demo", "check"])
def test_what_measures_is_refused_by_name_in_one_line(namespace, command: str, notebook: Path):
    done = elsewhere(namespace, MAIN, command, "smb://nas/share/file", "--db", notebook)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (4, "", 1)
    assert (
        f"`sharebench {command}` needs Linux, and this machine lacks the modules fcntl and resource and /proc"
        in done.stderr
    )


def test_here_nothing_is_refused():
    from app.base.this_process import need_linux

    need_linux("measuring")


@pytest.mark.long
def test_the_screens_of_the_notebook_open_elsewhere_and_measuring_is_refused(namespace, notebook: Path):
    done = elsewhere(namespace, SCREENS, notebook)
    assert done.returncode == 0, done.stderr
    first, opened, *_, refused = done.stdout.split("== ")[1:]
    assert "NotebookScreen" in first
    assert "series 1" in first
    assert "100.0 MB/s" in first
    assert opened != first
    assert "Measure needs Linux" in refused
