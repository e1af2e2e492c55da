"""A link of known speed that loses nine tenths of it between two series."""

import json
from pathlib import Path

import pytest

from app.cli.main import run
from storage.records import format_target


def ran(*arguments: str) -> int:
    return run(arguments, lambda *_args, **_more: 0)


@pytest.mark.alone
def test_a_link_that_became_slower_is_seen_and_named(make_link, make_smbd, tmp_path: Path, monkeypatch, capsys):
    link = make_link("100mbit")
    server = make_smbd(link=link)
    monkeypatch.setenv("SHAREBENCH_PASSWORD", server.password)
    server.make_file("file", bytes(2 << 20))
    db = str(tmp_path / "notebook.db")
    measure = ["run", format_target(server.target("file")), "--db", db, "--runs", "4", "--warmup", "1", "--json"]
    ids = []
    for rate in ("100mbit", "10mbit"):
        link.change_rate(rate)
        assert ran(*measure, "--quiet-time", "skip", "--ceiling", "skip") == 0
        ids.append(json.loads(capsys.readouterr().out)["id"])
    assert ran("compare", *ids, "--db", db, "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "slower"
    links = [d for d in document["differences"] if d["name"] == "link_bits_per_second"]
    assert links == [{"name": "link_bits_per_second", "base": 100_000_000, "other": 10_000_000}]
    assert ran("compare", *ids, "--db", db) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "Slower by" in text
    assert "100 Mb/s" in text
    assert "10 Mb/s" in text
