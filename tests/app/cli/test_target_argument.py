"""Targets by the names of the settings file, and the defaults that it gives to options."""

from pathlib import Path

import pytest

from app.base import config as settings
from app.base.errors import UsageError
from app.check.clean_command import clean_command
from app.cli.targets import settled_url
from app.load.command import load_command
from app.survey.command import survey_command
from tests.command_line import QUICK, Inside
from tests.servers.smbd import Smbd

TEXT = """
[who]
name = "Jo Miller"
ticket = "OPS-4711"
[defaults]
runs = 3
warmup = 1
[servers.here]
address = "127.0.0.1:{port}"
share = "{share}"
path = "{path}"
user = "{user}"
link = "100M"
"""


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings.config.cache_clear()
    yield tmp_path / "sharebench" / "config.toml"
    settings.config.cache_clear()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_name_becomes_the_url_of_its_server_and_what_it_sets(settings_file: Path):
    write(settings_file, TEXT.format(port=4455, share="public", path="big.iso", user="bench"))
    assert settled_url("@here") == ("smb://bench@127.0.0.1:4455/public/big.iso", {"link_bits_per_second": "100M"})
    assert settled_url("@here/a b.bin")[0] == "smb://bench@127.0.0.1:4455/public/a%20b.bin"
    assert settled_url("@here/")[0] == "smb://bench@127.0.0.1:4455/public", "the share itself"
    assert settled_url("smb://nas/s/f") == ("smb://nas/s/f", {})
    with pytest.raises(UsageError, match="did you mean @here"):
        settled_url("@her")


def test_a_series_by_a_servers_name_has_its_link_the_defaults_and_who_measured(
    settings_file: Path, inside: Inside, smbd: Smbd
):
    (smbd.folder / "named.bin").write_bytes(bytes(100_000))
    write(settings_file, TEXT.format(port=smbd.port, share=smbd.share, path="named.bin", user=smbd.user))
    done = inside.json("run", "@here", *QUICK, "--json")
    assert done["link_bits_per_second"] == 10**8
    assert [run["phase"] for run in done["runs"]].count("measured") == 3
    assert [run["phase"] for run in done["runs"]].count("warm-up") == 1
    assert done["environment"]["client"]["measured.by"] == "Jo Miller"
    form = inside("show", "last").stdout
    assert "Measured by" in form
    assert "Jo Miller, OPS-4711" in form


def test_a_default_that_is_no_option_is_told(settings_file: Path, inside: Inside):
    write(settings_file, "[defaults]\nrunz = 3\n")
    assert "defaults.runz is no option of run; did you mean runs?" in inside.fails(2, "run", "file:///nothing")


@pytest.mark.parametrize(
    ("settings_text", "told"),
    [
        ("[defaults]\nruns = 'many'\n", "config.toml: runs: '…' is not a valid whole number"),
        ("[defaults]\nsign = 5\n", "config.toml: sign: '…' is not a valid boolean"),
        ("[defaults]\nlink = 'fast'\n", "config.toml: link: not a link rate: '…'"),
    ],
)
def test_a_default_that_its_option_does_not_take_is_told_with_the_file(
    settings_file: Path, inside: Inside, settings_text: str, told: str
):
    write(settings_file, settings_text)
    assert told in inside.fails(2, "run", "file:///nothing")


def test_each_command_knows_a_server_by_its_name(settings_file: Path, inside: Inside):
    write(settings_file, TEXT.format(port=4455, share="public", path="big.iso", user="bench"))
    for command in (load_command, clean_command, survey_command):
        assert "did you mean @here" in inside.fails(2, str(command.name), "@her")
    loaded = load_command.make_context("load", ["@here/a", "smb://other/b"], obj={}).params
    assert loaded["targets"] == ("smb://bench@127.0.0.1:4455/public/a", "smb://other/b")
    assert loaded["link_bits_per_second"] == 10**8
    assert clean_command.make_context("clean", ["@here"], obj={}).params["target"].endswith("/public/big.iso")


def test_a_survey_of_a_server_by_its_name_measures_its_folder(settings_file: Path, tmp_path: Path):
    write(settings_file, TEXT.format(port=4455, share="public", path="bench/big.iso", user="bench"))
    context = survey_command.make_context("survey", ["@here", "other", "--runs", "7"], obj={"db": str(tmp_path / "n")})
    given = context.params
    assert given["hosts"] == ("127.0.0.1", "other")
    assert (given["smb"], given["smb_port"], given["user"]) == ("public/bench", 4455, "bench")
    assert (given["link_bits_per_second"], given["runs"], given["warmups"]) == (10**8, 7, 1)
