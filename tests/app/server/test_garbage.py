"""Whatever a server answers, it costs facts and nothing else: real answers with pieces broken out of them."""

from __future__ import annotations

import json
import random

import pytest

from app.server.host_facts import HOST_FILES
from app.server.network_facts import network_facts
from app.server.probe import ask_server, counters_since, server_facts
from app.server.shell import Answer
from storage.json_reader import LARGEST
from storage.records import Target
from tests.broken_answers import broken


@pytest.fixture(scope="module")
def whole() -> Answer:
    """This machine's own answer."""
    files = "\n".join(HOST_FILES)
    return ask_server({"samba": "yes", "share": "homes", "client": "127.0.0.1", "files": files, "folder": "/"}, None)


def test_a_shaper_that_was_not_looked_at_is_not_called_none() -> None:
    seen = {"outward": "eth0", "shaper": "[]"}
    assert network_facts(Answer(sections=seen))["link.shaper"] == "none"
    assert "link.shaper" not in network_facts(Answer(sections={"outward": "eth0"}))


@pytest.mark.varied(seed=20)
@pytest.mark.parametrize("seed", range(80))
def test_a_broken_answer_costs_facts_alone(whole: Answer, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    answer = Answer(
        sections={
            name: broken(text, chance) if chance.random() < 0.7 else text
            for name, text in whole.sections.items()
            if chance.random() < 0.95
        }
    )
    target = Target(protocol="smb", host="127.0.0.1", port=445, share="homes", path="x")
    monkeypatch.setattr("app.server.probe.ask_server", lambda *_: answer)
    found = server_facts(target, "fileserver")
    facts = {**found.facts, **counters_since(found)}
    assert facts["os"]
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert all(abs(value) <= LARGEST for value in facts.values() if isinstance(value, int))
