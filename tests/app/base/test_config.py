"""The settings file: what it gives, and how each mistake in it is told."""

from pathlib import Path

import pytest

from app.base.config import Config, ConfigError, Measurer, config, profile, read_config
from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli.main import run

WHOLE = """
[who]
name = "Jo Miller"
ticket = "OPS-4711"

[defaults]
runs = 7
link = "1G"

[servers.nas1]
address = "nas1.example.com:4455"
share = "public files"
path = "bench/big.iso"
user = "bench"
domain = "CORP"
ssh = "root@nas1.example.com"
link = "10G"

[tui]
theme = "nord"

[keys]
"run.pause" = "p,f8"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_that_the_file_says_is_read(tmp_path: Path):
    found = read_config(written(tmp_path, WHOLE))
    assert found.who == Measurer(name="Jo Miller", ticket="OPS-4711")
    assert found.defaults == {"runs": 7, "link": "1G"}
    assert found.theme == "nord"
    assert found.keys == {"run.pause": "p,f8"}
    assert found.servers["nas1"].ssh == "root@nas1.example.com"


def test_no_file_gives_no_settings(tmp_path: Path):
    assert read_config(tmp_path / "config.toml") == Config()
    (tmp_path / "home").touch()
    assert read_config(tmp_path / "home" / ".config" / "config.toml") == Config()


def test_a_server_by_name_is_a_target(tmp_path: Path):
    server = profile("nas1", read_config(written(tmp_path, WHOLE)))
    target = parse_target(server.url())
    assert (target.host, target.port, target.share, target.path) == (
        "nas1.example.com", 4455, "public files", "bench/big.iso",
    )  # fmt: skip
    assert (target.user, target.domain) == ("bench", "CORP")
    assert parse_target(server.url("other/50 %.bin")).path == "other/50 %.bin"


def test_a_server_that_is_not_there_is_told_with_the_nearest_name(tmp_path: Path):
    found = read_config(written(tmp_path, WHOLE))
    with pytest.raises(UsageError, match="did you mean @nas1"):
        profile("nas", found)
    with pytest.raises(UsageError, match="known are: nas1"):
        profile("zebra", found)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[servers", "is not TOML"),
        ("a = " + "[" * 100_000, "nested too deep"),
        ("a = " + "9" * 10_000, "is not TOML"),
        ("servers = 1", r"servers must be a table, written \[servers\]"),
        ("[serves.nas1]\naddress = 'x'", "serves is not a setting; did you mean servers"),
        ("[servers.nas1]\nshare = 'x'", "servers.nas1.address is missing"),
        ("[servers.nas1]\naddress = 'x'\nadress = 'y'", "servers.nas1.adress is not a setting; did you mean address"),
        ("[servers.nas1]\naddress = 7", "servers.nas1.address must be a text in quotes"),
        ("[servers.nas1]\naddress = 'x'\nprotocol = 'nfs'", "protocol is none of smb, ftp, ftps"),
        ("[servers.nas1]\naddress = 'x'\npassword = 'y'", "a password is never stored"),
        ("[servers.nas1]\naddress = 'x'\nport = 445", 'the port stands in the address: address = "HOST:PORT"'),
        ("[servers.nas1]\naddress = 'smb://x'", "address has a user, a password or a path"),
        ("[who]\nnick = 'x'", "who.nick is not a setting"),
        ("[tui]\ncolour = 'x'", "tui.colour is not a setting"),
    ],
)
def test_a_mistake_is_told_with_its_place_in_one_line(tmp_path: Path, text: str, why: str):
    with pytest.raises(ConfigError, match=why) as raised:
        read_config(written(tmp_path, text))
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


def test_a_password_in_the_name_for_ssh_is_refused_and_not_repeated(tmp_path):
    (tmp_path / "config.toml").write_text('[servers.nas]\naddress = "nas"\nssh = "u:Marker7@nas"\n')
    with pytest.raises(ConfigError) as refused:
        read_config(tmp_path / "config.toml")
    assert "servers.nas.ssh" in str(refused.value)
    assert "Marker7" not in str(refused.value)


SECRET = "Geheim5"


@pytest.mark.parametrize(
    "text",
    [
        f'[servers.n]\naddress = "bench:{SECRET}@127.0.0.1"',
        f'[servers.n]\naddress = "ftp://bench:{SECRET}@nas/x"',
        f'[servers.n]\naddress = "nas"\nprotocol = "{SECRET}"',
        f'[servers.n]\naddress = "nas"\nssh = "root:{SECRET}@nas"',
        f'[servers.n]\naddress = "nas"\nssh = "{SECRET} nas"',
        f'[servers.n]\naddress = "nas"\nuser = ["{SECRET}"]',
        f'[servers.n]\naddress = "nas"\npassword = "{SECRET}"',
        f'[servers.n]\naddress = "nas:{SECRET}"',
        f'[servers.n]\naddress = "nas"\nlink = "{SECRET}"',
        f'[defaults]\nruns = "{SECRET}"\n[servers.n]\naddress = "nas"',
        f'[defaults]\nlink = "{SECRET}"\n[servers.n]\naddress = "nas"',
        f'[servers.n]\naddress = "nas"\n[servers]\nn = "{SECRET}"',
        f'[servers]\nn = "{SECRET}"',
        f'[servers.n]\naddress = "nas\n{SECRET}"',
    ],
)
def test_no_value_is_repeated_since_it_may_be_a_password(text: str, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr("app.base.config.config_file", lambda: written(tmp_path, text))
    monkeypatch.setattr("app.cli.targets.config_file", lambda: tmp_path / "config.toml")
    config.cache_clear()
    monkeypatch.setenv("SHAREBENCH_DB", str(tmp_path / "n.db"))
    try:
        assert run(["run", "@n/share/file"], lambda *_: 0) in {2, 4}
    finally:
        config.cache_clear()
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert SECRET not in said.out + said.err
