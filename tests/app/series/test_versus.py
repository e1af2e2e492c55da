"""``run --versus OTHER``, where OTHER is another target: on local files, and with smbd beside vsftpd."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.base.errors import UsageError
from app.base.targets import parse_target
from app.cli import measuring, versus
from app.cli.main import run
from app.clients.base import Secrets
from app.recording.spec import Lineage, SeriesRequest, SeriesSpec
from app.series import versus as series_versus
from app.series.earlier_rate import variation_percent
from app.series.interleaved import _drawn_rounds
from forms.comparison.pairs import expected_power_sentence
from forms.comparison.verdict import compare
from forms.comparison.wording import answer_headline
from storage.notebook import Notebook
from storage.plan import MonitorChoices, RunCounts, Settings
from storage.records import Series
from tests.builders import book, interleaved, one

SIZE_BYTES = 4 << 20
EXIT_CODES = {"faster": 0, "same": 0, "slower": 1, "unknown": 3}
QUICK = ("--runs", "4", "--warmup", "1", "--quiet-time", "skip", "--ceiling", "skip")


def sharebench(db: Path, *words: str) -> int:
    return run([*words, "--db", str(db)], lambda *_args, **_more: 0)


@pytest.fixture
def urls(tmp_path: Path) -> list[str]:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_bytes(bytes(SIZE_BYTES))
    return [f"file://{tmp_path}/{folder}/file" for folder in ("old", "new")]


def all_series(db: Path) -> list[Series]:
    with Notebook(db) as notebook:
        return [notebook.series(head.id) for head in notebook.heads()]


def test_two_targets_are_measured_interleaved_and_compared(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    code = sharebench(db, "run", urls[0], *QUICK, "--versus", urls[1], "--json")
    comparison = json.loads(capsys.readouterr().out)
    assert code == EXIT_CODES[comparison["verdict"]]
    assert comparison["in_turns"]
    assert "target" in {difference["name"] for difference in comparison["differences"]}

    with Notebook(db) as notebook:
        base, other = (notebook.series(comparison[side]) for side in ("base", "other"))
    assert [base.target, other.target] == [parse_target(url) for url in urls]
    assert [base.label, other.label] == ["old/file", "new/file"]


def test_both_sides_get_a_file_of_the_same_content(tmp_path, urls, capsys):
    folders = [url.removesuffix("file") for url in urls]
    sums = tmp_path / "sums"
    hook = f"sha256sum {tmp_path}/old/.sharebench-* {tmp_path}/new/.sharebench-* >> {sums}"
    words = (*QUICK, "--make-file", "--size", "1M", "--prepare", hook)
    sharebench(tmp_path / "notebook.db", "run", folders[0], *words, "--versus", folders[1])
    capsys.readouterr()
    digests = [line.split()[0] for line in sums.read_text().splitlines()]
    assert len(digests) == 2 * 2 * 5
    assert len(set(digests)) == 1


@pytest.mark.parametrize("is_other_content", [True, False])
def test_files_of_the_same_size_and_another_content_are_told(tmp_path, urls, capsys, is_other_content):
    db = tmp_path / "notebook.db"
    if is_other_content:
        (tmp_path / "new" / "file").write_bytes(bytes(SIZE_BYTES - 1) + b"x")
    sharebench(db, "run", urls[0], *QUICK, "--versus", urls[1])
    words = " ".join(capsys.readouterr().out.split())
    assert ("not the same content" in words) == is_other_content

    base, other = (series.environment["path"]["file.content_sample"] for series in all_series(db))
    assert (base != other) == is_other_content


def test_a_file_that_is_measured_alone_is_not_looked_into(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    sharebench(db, "run", urls[0], *QUICK)
    capsys.readouterr()
    (series,) = all_series(db)
    assert "file.content_sample" not in series.environment["path"]


def test_another_target_may_have_other_options_and_a_label_stands_before_the_names(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    words = f"{urls[1]} --block 64K"
    sharebench(db, "run", urls[0], *QUICK, "--label", "move", "--versus", words, "--json")
    comparison = json.loads(capsys.readouterr().out)
    with Notebook(db) as notebook:
        base, other = (notebook.series(comparison[side]) for side in ("base", "other"))
    assert (base.client.block_bytes, other.client.block_bytes) == (1 << 20, 64 << 10)
    assert [base.label, other.label] == ["move old/file", "move new/file --block 64K"]


def test_several_are_measured_in_one_round_each_in_both_orders(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    words = ("--versus", urls[1], "--versus", "--block 64K")
    code = sharebench(db, "run", urls[0], *QUICK, *words, "--json")
    comparisons = json.loads(capsys.readouterr().out)
    verdicts = [comparison["verdict"] for comparison in comparisons]
    assert code in {EXIT_CODES[verdict] for verdict in verdicts}
    assert len(comparisons) == 2
    assert len({comparison["base"] for comparison in comparisons}) == 1
    assert all(comparison["in_turns"] for comparison in comparisons)

    with Notebook(db) as notebook:
        base = notebook.series(comparisons[0]["base"])
        others = [notebook.series(comparison["other"]) for comparison in comparisons]
    last_of_rounds = [max(series.runs[place].started_at for series in (base, *others)) for place in range(4)]
    first_of_rounds = [min(series.runs[place].started_at for series in (base, *others)) for place in range(4)]
    assert all(last < first for last, first in zip(last_of_rounds, first_of_rounds[1:], strict=False))


@pytest.mark.parametrize(
    ("percents", "code"), [((110.0, 110.0), 0), ((110.0, 90.0), 1), ((110.0, None), 3), ((None, 90.0), 1)]
)
def test_the_exit_code_of_several_is_that_of_the_worst_verdict(tmp_path, urls, capsys, monkeypatch, percents, code):
    rates = [(100.0 + number % 3 / 10) * 1e6 for number in range(8)]
    stored = [one(1, rates)]
    for number, percent in enumerate(percents, start=2):
        other_rates = [rate * percent / 100 for rate in rates] if percent else [60e6, 150e6] * 4
        target = replace(stored[0].target, host=f"server{number}")
        stored.append(interleaved(stored[0], one(number, other_rates, target=target))[1])
    base = interleaved(stored[0], stored[1])[0]
    together = [base, *stored[1:]]
    measured = measuring.Interleaved(series=together, error=None)
    monkeypatch.setattr(measuring, "measure_interleaved", lambda *_: measured)
    db = book(tmp_path / "notebook.db", *together)
    assert sharebench(db, "run", urls[0], "--versus", urls[1], "--versus", "--block 64K", "--json") == code
    capsys.readouterr()


@pytest.mark.parametrize("bigger", [0, 1])
def test_nothing_is_measured_of_files_of_different_sizes(tmp_path, urls, capsys, bigger):
    db = tmp_path / "notebook.db"
    (tmp_path / ("old", "new")[bigger] / "file").write_bytes(bytes(SIZE_BYTES + 1))
    assert sharebench(db, "run", urls[0], *QUICK, "--versus", urls[1]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "4,194,304 bytes" in said.err
    assert "4,194,305 bytes" in said.err
    assert all_series(db) == []


@pytest.mark.parametrize("missing", [0, 1])
def test_where_one_side_cannot_be_measured_the_other_is_not_either(tmp_path, urls, capsys, missing):
    db = tmp_path / "notebook.db"
    (tmp_path / ("old", "new")[missing] / "file").unlink()
    assert sharebench(db, "run", urls[0], *QUICK, "--versus", urls[1]) == 4
    assert ("old", "new")[missing] + "/file: there is no such file" in capsys.readouterr().err
    assert all_series(db) == []


@pytest.mark.parametrize(("words", "is_told"), [((), True), (("--runs", "5"), False)])
def test_what_its_pairs_show_is_told_where_nobody_chose_their_number(tmp_path, urls, capsys, words, is_told):
    quick = ("--quiet-time", "skip", "--ceiling", "skip")
    sharebench(tmp_path / "notebook.db", "run", urls[0], *quick, *words, "--versus", urls[1])
    error_text = capsys.readouterr().err
    lines = [line for line in error_text.splitlines() if "5 pairs find a change of" in line]
    assert len(lines) == (2 if is_told else 0), "before the first run, and after the last"
    assert error_text.startswith("sharebench: 5 pairs") == is_told
    assert ("--runs 20" in error_text) == is_told


def test_before_it_begins_earlier_runs_of_the_server_tell_what_its_pairs_show(tmp_path, urls, capsys):
    quick = ("--quiet-time", "skip", "--ceiling", "skip")
    db = tmp_path / "notebook.db"
    for earlier_runs, is_known in (("2", False), ("3", True)):
        sharebench(db, "run", urls[0], *quick, "--runs", earlier_runs)
        capsys.readouterr()
        with Notebook(db) as notebook:
            percent = variation_percent(notebook, parse_target(urls[0]), SeriesSpec())
            of_random = variation_percent(
                notebook, parse_target(urls[0]), SeriesSpec(counts=RunCounts(random=True, random_seconds=5.0))
            )
        assert (percent is not None) == is_known
        assert of_random is None

    sharebench(db, "run", urls[0], *quick, "--versus", urls[1])
    assert "if the runs vary as before" in capsys.readouterr().err.splitlines()[0]


@pytest.mark.parametrize(
    ("pairs", "others", "varies_by_percent", "told"),
    [
        (2, 1, None, "2 pairs of runs give no verdict"),
        (3, 1, None, "3 pairs find a change of 5.5 % if the runs vary by 1 %, of 28 % if by 5 %"),
        (5, 1, 5.0, "5 pairs find a change of 14 %"),
        (5, 2, 5.0, "5 pairs find a change of 17 %"),
        (20, 1, 5.0, "20 pairs find a change of 5.4 %"),
        (5, 1, 0.0, "5 pairs find a change of 1.0 %"),
    ],
)
def test_what_pairs_will_show_is_told_before_they_are_measured(pairs, others, varies_by_percent, told):
    assert expected_power_sentence(pairs, others, varies_by_percent).startswith(told)


def judged(tmp_path: Path, capsys, monkeypatch, others: int, words: tuple[str, ...] = ("--json",)) -> tuple[Any, str]:
    """The comparisons of a base with so many equally faster servers, as JSON, and what was said beside it."""
    rates = [(100.0 + number % 3) * 1e6 for number in range(8)]
    base = one(1, rates)
    faster = [interleaved(base, one(2, [rate * 1.05 for rate in reversed(rates)]))[1]]
    faster += [replace(faster[0], id=f"{number:012x}", label=f"series {number}") for number in range(3, 2 + others)]
    together = [interleaved(base, faster[0])[0], *faster]
    measured = measuring.Interleaved(series=together, error=None)
    monkeypatch.setattr(measuring, "measure_interleaved", lambda *_: measured)
    options = ("--block 64K", "--block 32K", "--block 16K")[:others]
    versus_words = [word for option in options for word in ("--versus", option)]
    sharebench(tmp_path / "notebook.db", "run", "smb://alice@nas/public/f", *versus_words, *words)
    answer = capsys.readouterr()
    comparisons = json.loads(answer.out)
    return (comparisons if others > 1 else [comparisons]), answer.err


def test_of_several_the_intervals_and_what_their_pairs_show_hold_together(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SHAREBENCH_PASSWORD", "x")
    (alone,), said_alone = judged(tmp_path, capsys, monkeypatch, 1)
    several, said_of_several = judged(tmp_path, capsys, monkeypatch, 3)
    width_alone = alone["interval_percent"][1] - alone["interval_percent"][0]
    widths = [comparison["interval_percent"][1] - comparison["interval_percent"][0] for comparison in several]
    assert max(widths) > 1.2 * width_alone
    assert min(widths) >= width_alone

    shown_alone, shown_of_several = (
        float(re.findall(r"change of ([\d.]+) %", said)[0]) for said in (said_alone, said_of_several)
    )
    assert shown_of_several > shown_alone


def test_made_files_have_one_size_and_are_removed(tmp_path, urls, capsys):
    db = tmp_path / "notebook.db"
    folders = [url.removesuffix("/file") for url in urls]
    words = ("--put", "--files", "3", "--size", "64K", "--versus", folders[1], "--json")
    sharebench(db, "run", folders[0], *QUICK, *words)
    assert json.loads(capsys.readouterr().out)["in_turns"]
    assert {run.size_bytes for series in all_series(db) for run in series.runs} == {3 * 64 << 10}
    assert [path.name for path in tmp_path.glob("*/*")] == ["file", "file"]


def test_smb_beside_ftp_each_with_its_own_login(tmp_path, smbd, vsftpd, capsys, monkeypatch):
    monkeypatch.delenv("SHAREBENCH_PASSWORD", raising=False)
    db = tmp_path / "notebook.db"
    smb_login = tmp_path / "smb login"
    smb_login.write_text(f"username = {smbd.user}\npassword = {smbd.password}\n")
    ftp_login = tmp_path / "ftp login"
    ftp_login.write_text(f"username = {vsftpd.user}\npassword = {vsftpd.password}\n")
    for path in (smb_login, ftp_login):
        path.chmod(0o600)

    ftp = f"ftp://127.0.0.1:{vsftpd.port}/ --credentials '{ftp_login}'"
    smb = f"smb://127.0.0.1:{smbd.port}/{smbd.share}/"
    words = ("--put", "--size", "1M", "--sign", "--versus", ftp, "--credentials", str(smb_login), "--json")
    code = sharebench(db, "run", smb, *QUICK, *words)
    answer = capsys.readouterr()
    comparison = json.loads(answer.out)
    assert code == EXIT_CODES[comparison["verdict"]]
    with Notebook(db) as notebook:
        base, other = (notebook.series(comparison[side]) for side in ("base", "other"))
    assert [base.label, other.label] == ["SMB", "FTP"]
    assert [base.target.user, other.target.user] == [smbd.user, vsftpd.user]


def test_two_servers_beside_each_other_serve_one_folder(tmp_path, make_smbd, capsys, monkeypatch):
    """As before an upgrade, and the settings that differ are named."""
    old = make_smbd()
    new = make_smbd({"smb encrypt": "required"}, {"path": str(old.folder)})
    monkeypatch.setenv("SHAREBENCH_PASSWORD", old.password)
    (old.folder / "big.iso").write_bytes(bytes(SIZE_BYTES))

    db = tmp_path / "notebook.db"
    urls = [f"smb://{server.user}@127.0.0.1:{server.port}/{server.share}/big.iso" for server in (old, new)]
    other = f"{urls[1]} --smb-conf {new.conf}"
    sharebench(db, "run", urls[0], *QUICK, "--smb-conf", str(old.conf), "--versus", other, "--json")
    comparison = json.loads(capsys.readouterr().out)
    assert comparison["in_turns"]
    assert any("encrypt" in difference["name"] for difference in comparison["differences"])
    with Notebook(db) as notebook:
        labels = [notebook.series(comparison[side]).label for side in ("base", "other")]
    assert labels == [f"port {old.port}", f"port {new.port}"]


def test_help_tells_how_to_compare_targets(capsys):
    assert run(["help", "versus"], lambda *_args, **_more: 0) == 0
    page = capsys.readouterr().out
    assert [line for line in page.splitlines() if len(line) > 80] == []
    assert "--versus smb://" in page


@pytest.mark.parametrize(
    "words",
    [
        "smb://alice:secret@new/public/big.iso",
        "--runs 4 smb://alice:secret@new/public/big.iso",
        "smb://new/public/big.iso --nonsense",
        "smb://new/a smb://new/b",
        "--server-ssh root@new",
        "--block 64K --smb-conf /etc/samba/smb.conf",
    ],
)
def test_what_cannot_be_the_other_side_is_a_usage_error_without_its_password(tmp_path, urls, capsys, words):
    assert sharebench(tmp_path / "notebook.db", "run", urls[0], *QUICK, "--versus", words) == 2
    assert "secret" not in capsys.readouterr().err


def test_the_same_target_without_options_is_no_comparison(tmp_path, urls):
    assert sharebench(tmp_path / "notebook.db", "run", urls[0], *QUICK, "--versus", urls[0]) == 2


@pytest.mark.parametrize(
    ("targets", "names"),
    [
        (("smb://old/public/f", "smb://new/public/f"), ["old", "new"]),
        (("smb://nas/public/f", "smb://nas/fast/f"), ["public", "fast"]),
        (("smb://nas/public/f", "ftp://nas/pub/f"), ["SMB", "FTP"]),
        (("smb://nas/public/f", "smb://nas:1445/public/f"), ["port 445", "port 1445"]),
        (("smb://nas/public/f", "smb://nas/public/g"), ["f", "g"]),
        (("smb://nas/public/a/f", "smb://nas/public/b/f"), ["a/f", "b/f"]),
        (("smb://old/a/f", "ftp://old/f", "smb://new/a/f"), ["old SMB", "old FTP", "new SMB"]),
        (("smb://nas/a/f", "smb://nas:1445/a/f", "smb://nas/a/g"), ["port 445 f", "port 1445 f", "port 445 g"]),
        (("smb://nas/a/f", "smb://bob@nas/a/f"), ["smb://nas/a/f", "smb://bob@nas/a/f"]),
    ],
)
def test_targets_are_called_by_the_least_that_tells_them_apart(targets, names):
    assert series_versus.target_names([parse_target(url) for url in targets]) == names


def base_side(url: str) -> series_versus.Side:
    spec = SeriesSpec(
        client="smbclient",
        counts=RunCounts(profile=True),
        settings=Settings(sign=True, encrypt=True),
        monitor=MonitorChoices(server_ssh="root@old", smb_conf="/etc/samba/smb.conf"),
        lineage=Lineage(base_id="x", repeats=True),
        link_bits_per_second=10**9,
    )
    return series_versus.Side(spec=spec, target=parse_target(url), secrets=Secrets())


def log_in(target, *, credentials=None):
    return target, Secrets(password=credentials)


def test_another_server_is_asked_for_its_own_facts():
    base = base_side("smb://old/public/f")
    other = versus.other_side(base, "smb://new/public/f", log_in)
    assert other.spec.monitor == replace(base.spec.monitor, server_ssh=None, smb_conf=None)
    assert other.spec.link_bits_per_second is None
    assert other.spec.lineage == Lineage()
    assert (other.spec.client, other.spec.settings, other.spec.counts.profile) == (
        "smbclient",
        base.spec.settings,
        True,
    )

    beside = versus.other_side(base, "smb://old:1445/public/f --smb-conf /etc/new.conf", log_in)
    assert beside.spec.monitor == replace(base.spec.monitor, smb_conf="/etc/new.conf")
    assert beside.spec.link_bits_per_second == 10**9


def test_another_protocol_is_not_asked_for_what_it_cannot():
    other = versus.other_side(base_side("smb://old/public/f"), "ftp://old/f --credentials own", log_in)
    assert (other.spec.client, other.spec.settings.sign, other.spec.settings.encrypt) == ("", False, False)
    assert not other.spec.counts.profile
    assert other.secrets == Secrets(password="own")


def test_only_options_may_differ_where_nobody_can_log_in_elsewhere():
    with pytest.raises(UsageError):
        versus.other_side(base_side("smb://old/public/f"), "smb://new/public/f")


@pytest.mark.parametrize("sides", [2, 3, 4])
def test_each_side_is_before_and_after_the_base_in_some_round(sides):
    target = parse_target("smb://nas/public/f")
    spec = SeriesSpec(counts=RunCounts(runs=3, warmups=2))
    requests = [SeriesRequest(spec=spec, target=target) for _ in range(sides)]
    for seed in range(20):
        orders = _drawn_rounds(requests, random.Random(seed))
        assert orders[:2] == [list(range(sides))] * 2
        assert [sorted(order) for order in orders] == [list(range(sides))] * 5
        for other in range(1, sides):
            places = {order.index(0) < order.index(other) for order in orders[2:]}
            assert places == {True, False}


@pytest.mark.parametrize(
    ("percent", "sentence"),
    [(110.0, "new is faster than old by"), (90.0, "new is slower than old by"), (100.0, "new is as fast as old")],
)
def test_the_verdict_on_two_targets_says_which_is_faster_than_which(percent, sentence):
    rates = [(100.0 + number % 3 / 10) * 1e6 for number in range(8)]
    other_rates = [rate * percent / 100 for rate in rates]
    old = one(1, rates, label="old")
    at_new_host = one(2, other_rates, label="new", target=replace(old.target, host="new"))
    assert answer_headline(compare(*interleaved(old, at_new_host))).startswith(sentence)

    # Of different targets an inconclusive answer, too, says which looked faster.
    varied = one(
        2, [rate * (0.7 if number % 2 else 1.5) for number, rate in enumerate(rates)], target=at_new_host.target
    )
    undecided = answer_headline(compare(*interleaved(old, replace(varied, label="new"))))
    assert undecided.startswith("Inconclusive: new is ")
    assert "than old (" in undecided

    same_host = one(2, other_rates, label="new", client=replace(old.client, block_bytes=64 << 10))
    assert not answer_headline(compare(*interleaved(old, same_host))).startswith("new")
