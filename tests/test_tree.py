"""Rules that no linter knows: what is in the wheel, what start-up loads, which packages stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from app import __version__
from tests.builders import book, one
from tests.conftest import part_of, unit_of

ROOT = Path(__file__).resolve().parents[1]
LOADED_BY_NAME = {"uharfbuzz"}
"""Imported by another library where it is installed: fpdf2 shapes Arabic and Devanagari with it."""
HEAVY = ("textual", "rich", "impacket", "smbclientng", "plotext", "xlsxwriter", "pyftpdlib")


def loaded_by(code: str) -> set[str]:
    """The modules in a fresh process after it ran the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.stderr)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stderr.split())


def test_the_first_screen_is_painted_before_what_reads_a_notebook_is_loaded():
    modules = loaded_by("import app.cli.main, app.tui.frame.app, app.tui.notebook.screen")
    assert "textual.app" in modules
    assert modules.isdisjoint(
        {
            "sqlite_utils",
            "plotext",
            "impacket",
            "smbclientng",
            "importlib.metadata",
            "tomllib",
            "storage.records",
            "app.clients.base",
            "app.base.config",
            "forms.series.listing",
            "app.method.next_steps",
        }
    )


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_load_no_heavy_library(option: str):
    modules = loaded_by(f"from app.cli.main import run\nassert run(['{option}'], None) == 0")
    assert "app.cli.main" in modules
    assert modules.isdisjoint(HEAVY)


MEASURING = {
    "app.recording.process", "app.recording.writer", "app.recording.child", "app.series.record", "app.server.facts",
    "app.clients.base", "app.load.locust_engine", "locust", "gevent", "zmq", "ssl", "asyncio", "cryptography",
}  # fmt: skip
DOCUMENTS = {"fpdf", "jinja2", "xlsxwriter", "forms.importers", "app.exchange.importing", "app.evidence.file"}
COMPARISONS = {"forms.comparison.report", "forms.trial.report"}
REPORTS = {"forms.report", "forms.exporters.text", "forms.series.report"} | COMPARISONS
WARNINGS = {"forms.findings.series_warnings", "forms.findings.finding", "forms.tuning.smb_conf", "tomllib"}
STATISTICS = {"forms.stats.decision", "forms.stats.variation", "forms.stats.changes"}
CHARTS = {"plotext", "PIL", "app.charts.canvas"}
RARE_RECORDS = {"storage.load.records", "storage.isolation", "storage.changes"}
TRIALS = {"forms.trial.summary", "forms.trial.report"}
WRITING = {"sqlite_utils", "storage.sqlite_library", "dateutil", "hashlib", "secrets"}
STARTING = {"app.base.child_process", "storage.programs", "subprocess", "socket"}
MISTYPED = {"difflib"}
FOR_READERS = WRITING | STARTING | MISTYPED | {"importlib.resources"}
"""What a command that only reads the notebook does without: writing, starting programs, words that nobody knows."""
NEVER = {"textual", "rich", "numpy", "pandas", "importlib.metadata"}
LIGHT_COMMANDS: dict[tuple[str, ...], set[str]] = {
    ("list",): MEASURING | DOCUMENTS | REPORTS | WARNINGS | STATISTICS | CHARTS | RARE_RECORDS | FOR_READERS,
    ("baseline", "list"): MEASURING | DOCUMENTS | REPORTS | WARNINGS | CHARTS | RARE_RECORDS | FOR_READERS,
    ("label", "last", "x"): MEASURING | DOCUMENTS | REPORTS | WARNINGS | CHARTS | RARE_RECORDS,
    ("note", "last", "x"): MEASURING | DOCUMENTS | REPORTS | WARNINGS | CHARTS | RARE_RECORDS,
    ("show", "last"): MEASURING | DOCUMENTS | CHARTS | COMPARISONS | RARE_RECORDS | FOR_READERS,
    ("export", "last", "--format", "csv"): MEASURING | DOCUMENTS | CHARTS,
    ("findings", "last"): MEASURING | DOCUMENTS | CHARTS | COMPARISONS | {"storage.isolation"},
    ("compare", f"{1:012x}", f"{2:012x}"): MEASURING
    | DOCUMENTS
    | CHARTS
    | TRIALS
    | RARE_RECORDS
    | {"forms.comparison.rules", "forms.comparison.blame_report", "forms.comparison.several.report"}
    | {"forms.tuning.catalogue", "storage.looks"}
    | FOR_READERS,
    ("history", "last"): MEASURING | DOCUMENTS | {"plotext._doc.tools", "forms.comparison.report"},
}
"""By command, what it does not need and thus must not load."""


@pytest.mark.parametrize("words", LIGHT_COMMANDS, ids=" ".join)
def test_a_look_into_the_notebook_loads_only_what_it_needs(tmp_path: Path, words: tuple[str, ...]):
    file = book(tmp_path / "notebook.db", one(1), one(2))
    modules = loaded_by(f"from app.cli.main import run\nassert run(['--db', {str(file)!r}, *{words}], None) in (0, 3)")
    assert "storage.notebook" in modules
    assert modules & (LIGHT_COMMANDS[words] | NEVER) == set()


def test_the_help_of_run_loads_nothing_that_measures_or_keeps():
    modules = loaded_by("from app.cli.main import run\nassert run(['run', '--help'], None) == 0")
    assert "app.series.command" in modules
    unneeded = {"app.recording.process", "app.series.record", "app.server.facts", "sqlite_utils", "storage.notebook"}
    assert modules & (unneeded | REPORTS | STATISTICS | CHARTS | NEVER | set(HEAVY)) == set()


def test_numpy_can_still_be_loaded_after_the_library_of_a_notebook():
    modules = loaded_by("import storage.sqlite_library, numpy")
    assert {"numpy", "sqlite_utils"} <= modules


@pytest.mark.parametrize(
    "module",
    [
        "storage.notebook", "forms.series.summary", "forms.comparison.verdict", "app.clients.base",
        "app.recording.child", "app.server", "app.practice", "app.series.record",
    ],
)  # fmt: skip
def test_lower_packages_load_no_screen_library(module: str):
    modules = loaded_by(f"import {module}")
    assert module in modules
    assert modules.isdisjoint({"textual", "rich", "impacket", "plotext"})


def test_the_package_itself_is_a_docstring_and_a_version():
    body = ast.parse((ROOT / "app/__init__.py").read_text()).body
    assert [type(node).__name__ for node in body] == ["Expr", "Assign"]


def test_the_wheel_holds_the_three_packages_and_nothing_else(tmp_path: Path):
    subprocess.run(
        [sys.executable, "-m", "uv", "build", "--quiet", "--offline", "--no-build-isolation", "--wheel", "--python",
         sys.executable, "--out-dir", tmp_path],
        cwd=ROOT, check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"app", "storage", "forms"}
    for page in ("sharebench.1", "sharebench-run.1"):
        assert f"sharebench-{__version__}.data/data/share/man/man1/{page}" in names
    source = {
        str(path.relative_to(ROOT))
        for package in ("app", "storage", "forms")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert source <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.endswith((".pyc", ".db"))]


def test_lock_files_pin_every_package_with_hashes_and_name_no_index():
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        packages = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
        assert packages
        assert all("==" in line and line.endswith("\\") for line in packages)


def test_what_tests_share_lies_in_modules_without_tests():
    pattern = re.compile(r"^\s*(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)
    shared = {str(path.relative_to(ROOT)) for path in ROOT.glob("tests/**/*.py") if pattern.search(path.read_text())}
    assert shared == set()


WAITING = {"communicate", "run", "wait", "wait_procs"}
"""Functions of other libraries that wait for a process, by ``timeout=`` no longer than that."""


def bounds_in_numbers(text: str) -> list[int]:
    """The lines of calls that wait for a process by a number of seconds of their own."""
    if not re.search(r"timeout=\d", text):
        return []
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [
        call.lineno
        for call in calls
        for word in call.keywords
        if word.arg == "timeout" and isinstance(word.value, ast.Constant)
        if ast.unparse(call.func).rpartition(".")[2] in WAITING
    ]


def test_how_long_a_process_is_waited_for_is_said_in_one_place():
    """What is enough on one machine is not on a slower one: `HANG_SECONDS` of tests/waiting.py is, wherever it is."""
    assert bounds_in_numbers("process.communicate(timeout=60)") == [1]
    assert bounds_in_numbers("process.communicate(timeout=HANG_SECONDS)\nask(timeout=60)") == []
    own = {str(path.relative_to(ROOT)): bounds_in_numbers(path.read_text()) for path in ROOT.glob("tests/**/*.py")}
    assert {path: lines for path, lines in own.items() if lines} == {}


MODULES = {
    path.relative_to(ROOT): path.read_text()
    for package in ("app", "forms", "storage")
    for path in sorted((ROOT / package).rglob("*.py"))
}
"""The program's modules and their texts."""


def test_a_class_name_has_one_meaning():
    places: dict[str, list[str]] = {}
    for path, text in MODULES.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_folder_can_be_taken_in_at_a_glance():
    modules = Counter(str(path.parent) for path in MODULES if path.name != "__init__.py")
    assert {folder: count for folder, count in modules.items() if count > 30} == {}


def imported_libraries(text: str) -> set[str]:
    """The first part of each name that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


_MANY_NAMES = 20
"""A module that imports more names does several things, or is a screen or a kind as a whole."""
_MOST_OF_MANY_NAMES = 40


def names_imported_by(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def test_few_modules_take_many_names_of_others():
    files = [path for package in ("app", "forms", "storage") for path in (ROOT / package).rglob("*.py")]
    taking_many = [str(path.relative_to(ROOT)) for path in files if len(names_imported_by(path)) > _MANY_NAMES]
    assert len(taking_many) <= _MOST_OF_MANY_NAMES, taking_many


def test_each_library_that_is_imported_is_declared_and_each_declared_one_is_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]}
    imported = set[str]().union(*map(imported_libraries, MODULES.values()))
    distributions = packages_distributions()
    libraries = imported - sys.stdlib_module_names - {"app", "forms", "storage"}
    known = {name for library in libraries for name in distributions[library]}
    assert {name.lower() for name in known} == declared - LOADED_BY_NAME


def imports_between_our_modules() -> dict[str, set[str]]:
    """Which module imports which, at its top, in a function or for its types alone."""
    files = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): text for path, text in MODULES.items()}
    imports: dict[str, set[str]] = {name: set() for name in files}
    for name, text in files.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imports[name].update(each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name} imports by dots"
                imports[name].update({str(node.module)}, {f"{node.module}.{each.name}" for each in node.names})
        imports[name] = imports[name] & files.keys() - {name}
    return imports


def test_no_modules_import_one_another_in_a_circle_not_even_for_their_types():
    imports = imports_between_our_modules()
    assert "app.recording.spec" in imports["app.series.requests"]
    assert "app.guide.run_screen" in imports["app.guide.driven_screen"], "imports in functions count"
    left = set(imports)
    while free := {name for name in left if not imports[name] & left}:
        left -= free
    while ends := {name for name in left if not any(name in imports[other] for other in left)}:
        left -= ends
    assert left == set()


def test_only_screens_load_the_libraries_that_draw_them():
    """So what measures has none of them in its process, and a form looks the same wherever it is shown."""
    drawing = [path for path, text in MODULES.items() if imported_libraries(text) & {"textual", "rich"}]
    elsewhere = [
        path
        for path in drawing
        if path.parts[:2] not in {("app", "tui"), ("app", "guide")} and path.name not in {"screen.py", "run_screen.py"}
    ]
    assert drawing
    assert elsewhere == []


def test_each_long_test_is_in_one_of_the_parts_that_ci_runs_in_turn(request: pytest.FixtureRequest):
    items = request.session.items
    parts = [[item.nodeid for item in part_of(items, f"{number}/16")[0]] for number in range(1, 17)]
    assert sorted(name for part in parts for name in part) == sorted(item.nodeid for item in items)
    units = [{unit_of(item) for item in part_of(items, f"{number}/16")[0]} for number in range(1, 17)]
    assert sum(map(len, units)) == len(set().union(*units)), "what is not divided is in one part"
    assert max(map(len, units)) - min(map(len, units)) <= 1
    assert all(len(part_of(items, f"{number}/16")[1]) == len(items) - len(parts[number - 1]) for number in (1, 16))
    for wrong in ("0/16", "17/16"):
        with pytest.raises(pytest.UsageError):
            part_of(items, wrong)
