"""What we start sees no password, and looks for none of our modules in the current folder."""

import ast
from pathlib import Path

import psutil
import pytest

from app.children import PASSWORD_VARIABLE, clean_environment
from app.clients.subprocesses import Subprocess
from app.environment.host.procfs import run_text
from app.environment.remote import _run
from app.practice.servers import PracticeServers

ROOT = Path(__file__).resolve().parents[2]
MARKER = "MARKERpw"


@pytest.fixture(autouse=True)
def password(monkeypatch):
    monkeypatch.setenv(PASSWORD_VARIABLE, MARKER)


def test_no_helper_program_inherits_the_password():
    assert MARKER not in str(clean_environment())
    assert MARKER not in (run_text("env") or MARKER)
    assert MARKER not in Subprocess().run(["env"], "here").output
    answer = _run(("sh",), "echo; echo mark env; env; echo; echo mark end; echo", "mark", 10.0, where="sh")
    assert "PATH=" in answer.sections["env"]
    assert MARKER not in answer.sections["env"]


def test_no_process_of_ours_inherits_the_password_or_looks_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    before = {child.pid for child in psutil.Process().children()}
    with PracticeServers(report_bytes=1000):
        servers = [child for child in psutil.Process().children() if child.pid not in before]
        assert len(servers) >= 2
        for server in servers:
            assert MARKER not in str(server.environ())
            assert "-P" in server.cmdline()
    assert not (tmp_path / "executed").exists()


def test_every_place_that_starts_a_process_names_its_environment():
    places = {}
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"subprocess.run", "subprocess.Popen"}:
                given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                places[f"{path.relative_to(ROOT)}:{node.lineno}"] = given.get("env", "inherited")
        if path.name != "children.py":
            assert "sys.executable" not in path.read_text(), path
    assert len(places) > 5
    assert {place: env for place, env in places.items() if "os.environ" in env or env == "inherited"} == {}
