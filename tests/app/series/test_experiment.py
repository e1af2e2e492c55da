"""An experiment measured on a real smbd whose configuration is changed between the steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import run
from forms.experiments.summary import ExperimentSummary, experiment_summary
from forms.tuning.change_evidence import SettingState
from storage.notebook import Notebook
from storage.records import Series, format_target
from tests.servers.smbd import Smbd


class Bench:
    """A private smbd, a notebook, and the experiment that is measured on them."""

    def __init__(self, server: Smbd, folder: Path) -> None:
        self.server = server
        self.db = folder / "notebook.db"
        server.make_file("big.bin", b"\x5a" * (1 << 20))

    def run(self, *arguments: str, conf: Path | None = None) -> int:
        url = format_target(self.server.target("big.bin"))
        always = (
            "--db",
            str(self.db),
            "--smb-conf",
            str(conf or self.server.conf),
            "--quiet-time",
            "skip",
            "--ceiling",
            "skip",
        )
        short = ("--runs", "2", "--warmup", "0", "--link", "1G", "--experiment", "tuning")
        return run(["run", url, *always, *short, *arguments], lambda *_args, **_more: 0)

    def change(self, claim: str, conf: Path | None = None) -> Series:
        """Measure a step that claims a change; the series as stored."""
        self.run("--change", claim, conf=conf)
        with Notebook(self.db) as notebook:
            return notebook.series("last")

    def decide(self, verb: str) -> None:
        assert run(["experiment", verb, "last", "--db", str(self.db)], lambda *_args, **_more: 0) == 0

    def summary(self) -> ExperimentSummary:
        with Notebook(self.db) as notebook:
            return experiment_summary("tuning", notebook.experiment("tuning"))


@pytest.fixture
def bench(make_smbd: Callable[..., Smbd], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench(make_smbd(), tmp_path)
    monkeypatch.setenv("SHAREBENCH_PASSWORD", bench.server.password)
    assert bench.run() == 0
    return bench


def told(series: Series) -> tuple[Any, ...]:
    change = series.change
    assert change
    return change.name, change.value, change.previous, change.evidence, change.also_changed


@pytest.mark.long
def test_each_of_five_steps_names_exactly_its_change(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    steps: list[tuple[str, str, str, dict[str, dict[str, str]]]] = [
        ("debug level", "3", "0", {"global_options": {"log level": "3"}}),
        ("smb encrypt", "required", "default", {"global_options": {"smb encrypt": "required"}}),
        ("server signing", "mandatory", "default", {"global_options": {"server signing": "mandatory"}}),
        (
            "socket options",
            "TCP_NODELAY IPTOS_LOWDELAY",
            "TCP_NODELAY",
            {"global_options": {"socket options": "IPTOS_LOWDELAY TCP_NODELAY"}},
        ),
        ("strict sync", "no", "Yes", {"share_options": {"strict sync": "no"}}),
    ]
    names = ["log level", "server smb encrypt", "server signing", "socket options", "strict sync"]
    for (typed, value, previous, options), name in zip(steps, names, strict=True):
        bench.server.rewrite_conf(**options)
        series = bench.change(f"{typed}={value}")
        assert told(series) == (name, value, previous, "confirmed", ())
        if name == "server smb encrypt":  # put back, so that the next session is signed and not encrypted
            assert series.client.encryption == "aes-128-gcm"
            assert "the session shows it (encryption none -> aes-128-gcm" in remark(series)
            bench.decide("revert")
            del bench.server.global_options["smb encrypt"]
            bench.server.rewrite_conf()
        if name == "server signing":
            assert series.client.signing == "aes-gmac"
            assert "signing none -> aes-gmac" in remark(series)
    summary = bench.summary()
    assert [step.standing for step in summary.steps] == [None, *[SettingState.PROVEN] * 5]
    assert [step.base_number for step in summary.steps] == [None, 0, 1, 1, 3, 4]
    assert [step.on_kept_path for step in summary.steps] == [True, True, False, True, True, True]
    capsys.readouterr()
    assert run(["experiment", "show", "tuning", "--json", "--db", str(bench.db)], lambda *_args, **_more: 0) == 0
    document = json.loads(capsys.readouterr().out)
    assert [step["change"] and step["change"]["name"] for step in document["rungs"]] == [None, *names]


def remark(series: Series) -> str:
    assert series.change
    return series.change.remark or ""


@pytest.mark.long
def test_changes_that_are_not_what_they_claim(bench: Bench) -> None:
    def case(claim: str, **options: dict[str, str]) -> tuple[Series, SettingState | None]:
        before = dict(bench.server.global_options), dict(bench.server.share_options)
        bench.server.rewrite_conf(**options)
        series = bench.change(claim)
        step = bench.summary().step_of(series.id)
        assert step
        assert step.base_number == 0
        bench.decide("revert")
        bench.server.global_options, bench.server.share_options = before
        bench.server.rewrite_conf()
        return series, step.standing

    series, standing = case("strict sync=no")
    assert told(series) == ("strict sync", "no", "Yes", "contradicted", ())
    assert standing is SettingState.NOT_AS_CLAIMED

    series, standing = case("dead time=15", share_options={"deadtime": "15"})
    assert told(series) == ("deadtime", "15", "10080", "contradicted", ())
    assert "stands in [bench], but it holds for the whole server only" in remark(series)

    series, standing = case("strict sync=no", global_options={"deadtime": "15"}, share_options={"strict sync": "no"})
    assert told(series) == ("strict sync", "no", "Yes", "confirmed", ("deadtime 10080 -> 15",))
    assert standing is SettingState.NOT_ALONE

    series, standing = case("strict sync=no", share_options={"sync always": "yes"})
    assert told(series) == ("strict sync", "no", "Yes", "contradicted", ("sync always No -> Yes",))

    series, standing = case("read size=65536", global_options={"read size": "65536"})
    assert told(series) == ("read size", "65536", None, "contradicted", ())
    assert "was removed in Samba 3.0.2" in remark(series)

    series, standing = case("strickt sync=no", share_options={"strickt sync": "no"})
    assert told(series) == ("strickt sync", "no", None, "contradicted", ())
    assert "Did you mean strict sync?" in remark(series)

    series, standing = case("use sendfile=yes", share_options={"use sendfile": "yes"})
    assert told(series) == ("use sendfile", "yes", "No", "contradicted", ())
    assert "does nothing: it needs aio read size = 0" in remark(series)


@pytest.mark.long
@pytest.mark.parametrize(("name", "value"), [("strict sync", "maybe"), ("map to guest", "banana")])
def test_a_value_that_testparm_refuses(bench: Bench, tmp_path: Path, name: str, value: str) -> None:
    """In a file that smbd has not read: one that reads it on a new connection refuses every login."""
    refused = tmp_path / "refused.conf"
    text = bench.server.conf.read_text()
    refused.write_text(text.replace("[global]\n", f"[global]\n    {name} = {value}\n", 1))
    series = bench.change(f"{name}={value}", conf=refused)
    assert (told(series)[0], told(series)[3]) == (name, "contradicted")
    assert "testparm refuses the value" in remark(series)


@pytest.mark.long
def test_a_server_that_has_not_read_its_file_and_one_whose_file_cannot_be_seen(bench: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other.conf"
    text = bench.server.conf.read_text()
    other.write_text(text.replace("[global]\n", "[global]\n    smb encrypt = required\n", 1))
    series = bench.change("smb encrypt=required", conf=other)
    assert series.client.encryption == "none"
    assert told(series)[:4] == ("server smb encrypt", "required", "default", "contradicted")
    assert "the session is not encrypted: smbd has not read it yet" in remark(series)
    bench.decide("revert")

    nowhere = tmp_path / "not there.conf"
    bench.server.rewrite_conf(global_options={"server signing": "mandatory"})
    fits = bench.change("server signing=mandatory", conf=nowhere)
    assert told(fits) == ("server signing", "mandatory", None, "unconfirmed", ())
    assert "The session fits it (signing none -> aes-gmac)." in remark(fits)
    denied = bench.change("smb encrypt=required", conf=nowhere)
    assert told(denied)[3] == "contradicted"
    assert "not in effect: the session is not encrypted" in remark(denied)
