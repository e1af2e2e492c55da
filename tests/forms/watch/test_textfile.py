"""The Prometheus text of runs, loads and checks, read by a parser of the format and by a real node_exporter."""

import re
import subprocess
import urllib.request
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError

import pytest

from forms.comparison.judged_sides import Sides
from forms.comparison.verdict import compare_sides
from forms.stats.decision import Limits
from forms.watch.metrics import check_samples, labels_of, load_samples, prometheus_text, series_samples
from forms.watch.rule import Check, Outcome
from storage.records import Command, Target
from storage.watch.records import Watch, WatchState
from tests.builders import one
from tests.loads import full_load
from tests.servers.process import die_with_parent, free_port, program, require
from tests.waiting import wait_for

_SAMPLE = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (-?[0-9.e+-]+)')
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
Found = dict[tuple[str, frozenset[tuple[str, str]]], float]
LABELS = {"protocol": "smb", "host": "nas", "share": "data", "command": "get", "name": "nightly"}


def parsed(text: str) -> Found:
    """The samples by name and labels; each metric's lines stand together, after one HELP and one TYPE."""
    found: Found = {}
    described: list[str] = []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            described.append(line.split()[2])
            assert len(set(described)) == len(described)
        elif line.startswith("# TYPE "):
            assert line.split()[2:] == [described[-1], "gauge"]
        else:
            match = _SAMPLE.fullmatch(line)
            assert match, line
            assert match[1] == described[-1]
            key = match[1], frozenset(_LABEL.findall(match[2]))
            assert key not in found
            found[key] = float(match[3])
    return found


def by_name(found: Found, **labels: str) -> dict[str, float]:
    return {name: value for (name, given), value in found.items() if labels.items() <= dict(given).items()}


def a_check(outcome: Outcome = Outcome.SLOWER) -> Check:
    at = "2026-01-09T10:00:00.000Z"
    watch = Watch(
        id="w", created_at=at, subject="smb://nas/data/big.bin", baseline="nightly", command=Command.GET, since=at,
        attempted_at=at, succeeded_at=at, state=WatchState.SLOWER, standing=WatchState.SLOWER,
    )  # fmt: skip
    if outcome is Outcome.UNMEASURABLE:
        watch = replace(watch, state=WatchState.UNMEASURABLE, succeeded_at=None)
        return Check(watch=watch, before=watch, outcome=outcome)
    slow = one(9, (70e6, 70.5e6, 69.5e6, 70e6, 70e6))
    comparison = compare_sides(Sides(base=(one(1), one(2), one(3)), other=(slow,)), Limits())
    return Check(watch=watch, before=watch, outcome=outcome, comparison=comparison, series=slow)


def test_a_series_has_base_units_and_an_interval():
    found = by_name(parsed(prometheus_text(series_samples(one(3), LABELS)).decode()))
    assert found["sharebench_throughput_bytes_per_second"] == pytest.approx(100e6)
    low, high = (found[f"sharebench_throughput_{end}_bytes_per_second"] for end in ("low", "high"))
    assert low < 100e6 < high < 102e6
    assert found["sharebench_link_ratio"] == pytest.approx(0.8)
    assert found["sharebench_success"] == 1
    assert found["sharebench_last_success_timestamp_seconds"] == 1767434400


def test_what_was_not_measured_is_zero_and_never_left_out():
    measured = parsed(prometheus_text(series_samples(one(3), LABELS)).decode())
    nothing = parsed(prometheus_text(series_samples(None, LABELS, "2026-01-09T10:00:00.000Z")).decode())
    assert measured.keys() == nothing.keys()
    assert {name for name, value in by_name(nothing).items() if value} == {"sharebench_last_attempt_timestamp_seconds"}
    checked, failed = (
        parsed(prometheus_text(check_samples(each, each.series, LABELS)).decode())
        for each in (a_check(), a_check(Outcome.UNMEASURABLE))
    )
    assert checked.keys() == failed.keys()
    assert by_name(failed)["sharebench_last_success_timestamp_seconds"] == 0
    assert by_name(failed, state="unmeasurable") == {"sharebench_watch_state": 1}


def test_verdict_and_state_are_series_of_zero_and_one():
    check = a_check()
    found = parsed(prometheus_text(check_samples(check, check.series, LABELS)).decode())
    verdicts = {
        v: by_name(found, verdict=v)["sharebench_verdict"] for v in ("faster", "slower", "same", "inconclusive")
    }
    assert verdicts == {"faster": 0, "slower": 1, "same": 0, "inconclusive": 0}
    states = {state: by_name(found, state=state.value)["sharebench_watch_state"] for state in WatchState}
    assert [state for state, value in states.items() if value] == [WatchState.SLOWER]
    assert by_name(found)["sharebench_change_ratio"] == pytest.approx(-0.3, abs=0.001)


def test_labels_have_no_user_and_no_file():
    target = Target(protocol="smb", user="alice", host="nas", share="Alice", path="secret/plan.doc")
    labels = labels_of(target, "get", 'a "b" \\ c\nd')
    assert labels["share"] == "~"
    assert labels_of(replace(target, share="data"), "get", "")["share"] == "data"
    text = prometheus_text(series_samples(one(3), labels)).decode()
    assert "lice" not in text
    assert "plan" not in text
    assert dict(next(iter(parsed(text)))[1])["name"] == r"a \"b\" \\ c\nd"


def test_a_load_has_its_points():
    load = full_load()
    found = parsed(prometheus_text(load_samples(load, LABELS)).decode())
    for point in load.valid_points():
        of_point = by_name(found, users=str(point.users))
        assert of_point["sharebench_load_requests_per_second"] == pytest.approx(point.requests_per_second)
        assert of_point["sharebench_load_errors"] == sum(point.errors.values())
    assert by_name(found)["sharebench_load_users_carried"] == (load.capacity.carried if load.capacity else 0)


def test_users_without_a_valid_point_are_zero():
    zeros = parsed(prometheus_text(load_samples(None, LABELS, (5, 10), "2026-01-09T10:00:00.000Z")).decode())
    assert by_name(zeros, users="10")["sharebench_load_requests_per_second"] == 0
    assert by_name(zeros)["sharebench_last_attempt_timestamp_seconds"] == 1767952800
    load = full_load()
    some = replace(load, points=load.points[:1])
    found = parsed(prometheus_text(load_samples(some, LABELS)).decode())
    users = {dict(labels)["users"]: value for (name, labels), value in found.items() if name.endswith("per_second")}
    assert {int(count) for count in users} == {*load.choices.users, *(point.users for point in some.points)}
    assert [int(count) for count, value in users.items() if value] == [point.users for point in some.valid_points()]


def test_a_real_node_exporter_reads_it(tmp_path: Path):
    require("prometheus-node-exporter", root=False)
    check, port = a_check(), free_port()
    of_load = {**LABELS, "command": "load"}
    text = prometheus_text([*check_samples(check, check.series, LABELS), *load_samples(full_load(), of_load)])
    (tmp_path / "sharebench.prom").write_bytes(text)
    exporter = subprocess.Popen(
        [
            program("prometheus-node-exporter"), "--collector.disable-defaults", "--collector.textfile",
            f"--collector.textfile.directory={tmp_path}", f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent,  # noqa: PLW1509  # no threads matter before exec
    )  # fmt: skip

    def metrics() -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
                read: bytes = answer.read()
                return read.decode()
        except URLError:
            return ""

    try:
        said = wait_for(metrics)
    finally:
        exporter.kill()
        exporter.wait()
    assert "node_textfile_scrape_error 0" in said
    ours = "".join(f"{line}\n" for line in said.splitlines() if re.match(r"(# \w+ )?sharebench_", line))
    assert parsed(ours) == parsed(text.decode())
