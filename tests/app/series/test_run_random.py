"""``sharebench run --random``: a series like any other, on a server and a local path; only its own file is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forms.stats.decision import Verdict
from forms.stats.summary import values_needed
from storage.records import format_target
from tests.command_line import QUICK, Inside
from tests.servers.smbd import Smbd

SHORT = ("--runs", "3", "--warmup", "1", "--seconds", "0.2", "--in-flight", "8", *QUICK)
MADE = ("--size", "8M")


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A folder with a file of 8 MiB."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "big.bin").write_bytes(os.urandom(8 << 20))
    return folder


def check_requests(document: dict[str, Any], *, reads: bool, writes: bool) -> None:
    """Each run moved whole blocks, each of them timed, and by requests of the kinds that were asked for."""
    assert document["status"] == "complete"
    assert len(document["runs"]) == 4
    for run in document["runs"]:
        counts = {}
        for kind in ("reads", "writes"):
            counts[kind] = sum(count for _least, count in run["requests"][kind]["counts"])
        assert run["size_bytes"] == 4096 * sum(counts.values()) > 0
        assert (counts["reads"] > 0, counts["writes"] > 0) == (reads, writes)
        assert 0.2 <= run["seconds"] < 30
        figures = run["request_figures"]
        assert figures["operations_per_second"] == pytest.approx(run["bytes_per_second"] / 4096)
        check_quantiles(figures, requests=sum(counts.values()), seconds=run["seconds"])


def check_quantiles(figures: dict[str, Any], *, requests: int, seconds: float) -> None:
    """They are in order; that of a share has as many requests as tell it, which a busy machine may not get done."""
    in_order = [0.0]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        quantile = figures[f"{name}_seconds"]
        assert (quantile is not None) == (requests >= values_needed(share))
        in_order += [] if quantile is None else [quantile]
    in_order += [figures["max_seconds"], seconds]
    assert in_order == sorted(in_order)


@pytest.mark.varied(options=1)
@pytest.mark.parametrize(
    ("options", "reads", "writes"),
    [(["--make-file"], True, False), (["--put"], False, True), (["--mix", "70"], True, True)],
    ids=["reads", "writes", "mix"],
)
@pytest.mark.parametrize("protocol", ["smb", "file"])
def test_a_file_is_made_asked_and_removed(
    protocol: str, options: list[str], reads: bool, writes: bool, inside: Inside, smbd: Smbd, local: Path
):
    places = {"smb": (format_target(smbd.target()), smbd.folder), "file": (f"file://{local}", local)}
    target, folder = places[protocol]
    before = (local / "big.bin").read_bytes()
    document = inside.json("run", target, "--random", *options, *MADE, *SHORT, "--json")
    check_requests(document, reads=reads, writes=writes)
    assert document["environment"]["path"]["random.file_bytes"] == 8 << 20
    assert document["client"]["block_bytes"] == 4096
    assert document["client"]["in_flight"] == 8
    assert not list(folder.glob(".sharebench-*")), "everything that was made is removed"
    assert (local / "big.bin").read_bytes() == before

    again = inside.json("run", "--again", document["id"], "--json")
    assert again["plan"]["random_seconds"] == 0.2
    assert again["base_id"] == document["id"], "nothing of it differs but its figures"
    compared = inside("compare", document["id"], again["id"])
    assert compared.returncode in {0, 1, 3}, compared.stderr


@pytest.mark.varied
@pytest.mark.parametrize("options", [[], ["--drop-cache"]], ids=["through the page cache", "past it"])
def test_an_existing_file_is_only_read(inside: Inside, local: Path, options: list[str]):
    before = (local / "big.bin").read_bytes()
    document = inside.json("run", f"file://{local}/big.bin", "--random", *options, *SHORT, "--json")
    check_requests(document, reads=True, writes=False)
    assert (local / "big.bin").read_bytes() == before
    assert [path.name for path in local.iterdir()] == ["big.bin"]


@pytest.mark.varied
@pytest.mark.parametrize("options", [["--put"], ["--mix", "50"]])
def test_an_existing_file_is_never_written_to(inside: Inside, smbd: Smbd, local: Path, options: list[str]):
    path = smbd.folder / "precious.bin"
    path.write_bytes(b"precious" * 1000)
    path.chmod(0o666)
    inside.fails(4, "run", format_target(smbd.target("precious.bin")), "--random", *options, *MADE, *SHORT)
    assert path.read_bytes() == b"precious" * 1000
    path.unlink()

    before = (local / "big.bin").read_bytes()
    inside.fails(4, "run", f"file://{local}/big.bin", "--random", *options, *MADE, *SHORT)
    assert (local / "big.bin").read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [["--mix", "70"], ["--seconds", "3"], ["--random", "--mix", "0"], ["--random", "--mix", "100"],
     ["--random", "--seconds", "0"], ["--random", "--files", "3", "--put"], ["--random", "--verify"],
     ["--random", "--client", "smbclient"], ["--random", "--make-file", "--mix", "70"]],
)  # fmt: skip
def test_what_is_no_random_run_is_a_usage_error(options: list[str], inside: Inside, smbd: Smbd):
    inside.fails(2, "run", format_target(smbd.target()), *options, *QUICK)


@pytest.mark.long
def test_more_requests_at_a_time_are_compared_run_by_run(inside: Inside, smbd: Smbd):
    done = inside(
        "run", format_target(smbd.target()), "--random", "--make-file", *MADE, *SHORT, "--versus", "--in-flight 1"
    )
    assert done.returncode in {0, 1, 3}, done.stderr
    heads = inside.json("list", "--json")
    documents = [inside.json("show", head["id"], "--json") for head in heads][:2]
    assert sorted(document["client"]["in_flight"] for document in documents) == [1, 8]
    assert not list(smbd.folder.glob(".sharebench-*"))


@pytest.mark.long
def test_a_comparison_of_random_runs_is_by_operations(inside: Inside, local: Path):
    target = f"file://{local}/big.bin"
    base = inside.json("run", target, "--random", *SHORT, "--json")
    other = inside.json("run", target, "--random", *SHORT, "--block", "8K", "--json")
    done = inside("compare", base["id"], other["id"], "--json")
    assert done.returncode in {0, 1, 3}
    assert any(verdict.value in done.stdout for verdict in Verdict)


@pytest.mark.long
def test_a_self_test_and_a_watch_are_of_random_requests_too(inside: Inside, smbd: Smbd, local: Path):
    target = f"file://{local}/big.bin"
    options = ("--random", "--seconds", "0.3", "--in-flight", "4", "--runs", "3", "--warmup", "0", *QUICK)
    done = inside("selftest", target, *options)
    assert done.returncode == 0, done.stderr
    watched = inside("watch", target, "--baseline", "nightly", *options)
    assert watched.returncode in {0, 1, 3}, watched.stderr
    (watch_series,) = [head for head in inside.json("list", "--json") if head.get("label") == "watch nightly"]
    assert watch_series["plan"]["random"]


@pytest.mark.long
def test_history_and_metrics_are_in_operations(inside: Inside, local: Path):
    target = f"file://{local}/big.bin"
    inside.json("run", target, *QUICK, "--runs", "3", "--warmup", "0", "--json")
    textfile = local / "run.prom"
    documents = [
        inside.json("run", target, "--random", *SHORT, "--json", "--textfile", str(textfile)) for _ in range(2)
    ]
    history = inside.json("history", "last", "--json")
    assert history["unit"] == "operations/s"
    (line,) = history["lines"]
    assert [point["recording"] for point in line["points"]] == [document["id"] for document in documents]

    runs = [run for run in documents[1]["runs"] if run["phase"] == "measured"]
    average = sum(run["request_figures"]["operations_per_second"] for run in runs) / len(runs)
    assert line["points"][1]["average"] == pytest.approx(average)
    assert "Operations/s" in inside("history", "last").stdout

    values = {}
    for sample in textfile.read_text().splitlines():
        if not sample.startswith("#"):
            name, _labels_and_brace, value = sample.replace("{", " {", 1).split(" ", 2)
            values[name] = float(value)
    assert values["sharebench_operations_per_second"] == pytest.approx(average)
    assert values["sharebench_operations_low_per_second"] <= average <= values["sharebench_operations_high_per_second"]
    assert "sharebench_throughput_bytes_per_second" not in values


@pytest.mark.long
def test_the_history_of_transfers_has_no_random_requests_in_it(inside: Inside, local: Path):
    target = f"file://{local}/big.bin"
    inside.json("run", target, "--random", *SHORT, "--json")
    transfer = inside.json("run", target, *QUICK, "--runs", "3", "--warmup", "0", "--json")
    history = inside.json("history", "last", "--json")
    assert history["unit"] == "bytes/s"
    assert [point["recording"] for point in history["lines"][0]["points"]] == [transfer["id"]]
