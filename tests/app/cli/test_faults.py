"""What no admin should ever see, and what comes from outside: one line, nothing that steers the terminal."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import LoginError
from app.cli import notebooks
from forms.layout import for_terminal
from storage.notebook import Notebook
from tests.builders import abandoned_change, example_isolation, hostile_series, name_as_an_older_version
from tests.command_line import Inside, Sharebench
from tests.loads import full_load

QUICK = ("--runs", "2", "--warmup", "0", "--quiet-time", "skip", "--ceiling", "skip")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "compare before",
            "missing argument 'OTHER...'; example: `sharebench compare before last`; see `sharebench com",
        ),
        ("prune", "missing option '--failed'; example: `sharebench prune --failed`; see `sharebench prune --help`"),
        ("run x --runs 0", "invalid value for '--runs': 0 is not in the range from 1 to 100,000; see"),
        ("run x --until 0", "0.0 is not in the range above 0 to 100; see"),
        ("load x --processes 257", "257 is not in the range from 1 to 256; see"),
        ("isolate x --seconds 1", "1 is not in the range from 2 to 3,600; see"),
        ("run x --label-text y", "no such option --label-text; did you mean --label? See `sharebench run --help`"),
        ("run x --warm-up 1", "no such option --warm-up; did you mean --warmup? See"),
        ("run x --run 1", "no such option --run; did you mean --runs? See"),
        ("run x --ssh nas", "no such option --ssh; did you mean --server-ssh? See"),
        ("run x --conf smb.conf", "no such option --conf; did you mean --smb-conf? See"),
        ("run x --lable y", "no such option --lable; did you mean --label? See"),
        ("run x --link-speed 1G", "no such option --link-speed; did you mean --link? See"),
        ("run x --passwd secret", "a password on the command line can be read by others: leave it out and type"),
        ("run x --steady 3", "no such option --steady; see `sharebench run --help`"),
        ("run x --no", "no such option --no; see `sharebench run --help`"),
        ("run x --jsxn", "no such option --jsxn; did you mean --json? See"),  # three letters of four
        ("run x --timxxut 3", "no such option --timxxut; see `sharebench run --help`"),  # five of seven
        ("lode", "no such command 'lode'; did you mean load? See `sharebench --help`"),
        ("run smb://alice@nas/public", "smb://alice@nas/public names no file; name one"),
        (
            "run --db /etc/hostname/no.db file:///etc/hostname",
            "cannot use /etc/hostname/no.db as a notebook: /etc/hostname is no folder;",
        ),
    ],
)
def test_a_slip_is_told_in_words_with_a_way_out(inside: Inside, line: str, said: str):
    assert said in inside(*line.split()).stderr


def test_the_host_of_ssh_can_be_copied_from_an_error(inside: Inside):
    words = ["try", "log level=1", "file:///", "--server-ssh", "root@127.0.0.1", "--yes"]
    assert "…@127.0.0.1" not in inside(*words).stderr


def test_a_fault_of_ours_is_one_line_and_is_not_taken_for_slower(inside: Inside, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(notebooks, "notebook_path", fail)
    said = inside.fails(4, "compare", "a", "b")
    assert "a fault in sharebench: ZeroDivisionError: division by zero" in said
    assert "--debug" in said
    assert "Traceback" in inside("compare", "a", "b", "--debug").stderr


@pytest.mark.parametrize("debug", [(), ("--debug",)])
def test_what_a_server_says_steers_no_terminal(inside: Inside, monkeypatch: pytest.MonkeyPatch, debug: tuple[str, ...]):
    def fail(*_: object) -> None:
        raise LoginError("the server said \x1b]0;mine\x07\x9b31m")

    monkeypatch.setattr(notebooks, "notebook_path", fail)
    said = inside("list", *debug).stderr
    assert "the server said ␛]0;mine␇" in said
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


def test_a_file_whose_name_is_no_utf_8_is_measured_shown_exported_and_imported(tmp_path: Path):
    sharebench = Sharebench(tmp_path / "notebook.db")
    file = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(file).write_bytes(b"x" * 100_000)
    done = sharebench("run", f"file://{file}", *QUICK, "--label", os.fsdecode(b"caf\xe9"))
    assert done.returncode == 0, done.stderr
    assert "caf" in done.stdout
    inside = Inside(sharebench.db)
    document = inside.json("show", "last", "--json")
    assert document["target"]["path"] == file
    for name in ("text", "csv", "html", "json"):
        exported = inside("export", "last", "--format", name, "-o", str(tmp_path / f"out.{name}"))
        assert exported.returncode == 0, exported.stderr
    other = Sharebench(tmp_path / "other.db")
    assert other("import", str(tmp_path / "out.json")).returncode == 0
    assert Inside(other.db).json("show", "last", "--json")["target"]["path"] == file


@pytest.mark.parametrize(
    "line",
    [
        "smb://u:PW@h/s", "run smb://u:my PW@h/s", "run --size smb://u:PW@h", "survey u:PW@h", "export smb://u:PW@h",
        "run --server-ssh u:PW@h file:///x", "run --link u:PW@h x", "run --pasword=u:PW@h smb://h/s", "check smb://u:PW",
        "compare smb://u:PW@h x", "import smb://u:PW@h", "import - --target smb:/u:PW@h",
        "load --server-ssh u:PW@h file:///x", "load --workers-on x,u:PW@h file:///x", "load --workers-on u:PW file:///x",
        "isolate --server-ssh u:PW@h smb://h/s", "survey --server-ssh ssh://u:PW@h h", "restore --server-ssh u:PW@h",
        "try --server-ssh u:PW@h x=1 smb://h/s", "tune --server-ssh u:PW@h smb://h/s", "check --server-ssh u:PW@h x",
    ],
)  # fmt: skip
def test_no_error_repeats_what_may_be_a_password(inside: Inside, line: str):
    for debug in ([], ["--debug"]):
        said = inside(*line.split(), *debug)
        assert said.returncode == 2, said
        assert "PW" not in said.stdout + said.stderr


STEERING = "\x1b]52;c;QQ==\x07\x9b31m\x7f\u202e\u2066\u061c\x85end"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(inside: Inside) -> Inside:
    """A notebook whose every text from outside, ids included, would steer a terminal."""
    one = replace(
        hostile_series(STEERING), id=f"a{STEERING}", base_id=f"a{STEERING}", created_at="2026-01-31T10:00:00Z"
    )
    host = replace(one.target, host=f"h{STEERING}", domain=STEERING)
    other = replace(one, id="b" * 12, target=host, scratch_path=STEERING, environment={"server": {STEERING: STEERING}})
    load = full_load(id=f"c{STEERING}", label=STEERING, note=STEERING, targets=(host,), scratch_folder=STEERING)
    isolation = example_isolation()
    with Notebook(inside.db) as notebook:
        for series in (one, other):
            notebook.add(series)
        notebook.add_load(load)
        notebook.add_isolation(replace(isolation, id=f"d{STEERING}", label=STEERING, target=host, problems=(STEERING,)))
        notebook.open_journal(replace(abandoned_change(), name=STEERING, undo_path=STEERING, ssh=STEERING))
    name_as_an_older_version(inside.db, STEERING, one.id, other.id)
    return inside


@pytest.mark.parametrize(
    "line",
    [
        "list", "list --all", "list --isolations", "list x", "list §", "show a", "show b", "show c", "show d",
        "show nothing", "show §", "compare a b", "findings a b", "baseline list", "baseline set § b",
        "experiment list", "experiment show §", "note b x", "note c §", "rename b §",
        "reject b 1 --reason x", "export a b c", "export b --format md", "export c --format markdown",
        "export b --format csv", "export c --format csv", "export d --form isolation", "worksheet list",
        "restore --list", "delete a", "delete b --yes", "delete c --yes", "delete d --yes", "run smb://h§/s",
        "check §", "import §", "nosuch§", "try §=1 file:///x", "export b -o /nosuch/§",
    ],
)  # fmt: skip
def test_no_command_writes_what_steers_a_terminal(hostile: Inside, line: str):
    for more in ([], ["--debug"]):
        done = hostile(*line.replace("§", STEERING).split(" "), *more)
        assert not STEERS.search(done.stdout.replace("\r\n", "\n")), done.stdout
        assert not STEERS.search(done.stderr), done.stderr
        assert "a fault in sharebench" not in done.stderr, done.stderr


@pytest.mark.parametrize(
    "line",
    ["list --json", "list --isolations --json", "show a --json", "show b --json", "show c --json", "show d --json",
     "compare a b --json", "findings a --json", "restore --list --json", "export a b --format json",
     "experiment show § --json"],
)  # fmt: skip
def test_json_is_the_same_text_and_steers_no_terminal(hostile: Inside, line: str):
    said = hostile(*line.replace("§", STEERING).split(" ")).stdout
    assert not STEERS.search(said)
    assert "\\u202e" in said
    assert STEERING[:5] in json.dumps(json.loads(said), ensure_ascii=False).replace("\\u001b", "\x1b")


def test_colours_on_a_terminal_are_ours_alone(hostile: Inside):
    assert for_terminal("\x1b[32mgood\x1b[0m \x1b]0;x\x07", styled=True) == "\x1b[32mgood\x1b[0m ␛]0;x␇"
    assert for_terminal("\x1b[32mgood") == "␛[32mgood"


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\x85", "\u202e", "\u2066", "\u2028", "\x7f"])
def test_a_host_with_a_character_that_steers_is_no_target(inside: Inside, character: str):
    said = inside.fails(2, "check", f"smb://na{character}s/share")
    assert "no host" in said
