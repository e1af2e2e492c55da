"""The busiest session as facts, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

from forms.who.busiest import busiest_facts, busiest_text
from forms.who.summary import sessions_summary, who_summary
from storage.records import BUSIEST_USER
from tests.recordings import WHO


def test_it_is_named_with_its_client_and_what_it_does():
    facts = busiest_facts(who_summary(WHO), WHO.seconds)
    assert facts == {
        BUSIEST_USER: r"NT\alice",
        "server.sessions.busiest_client": "ws-alice",
        "server.sessions.busiest_cpu_percent": 8.0,
        "server.sessions.busiest_bytes_per_second": 4_000_000,
    }
    assert busiest_text(facts) == r"NT\alice on ws-alice (8.0 % of a processor, 4 MB/s)"


def test_what_is_not_known_is_left_out():
    nameless = replace(WHO.sessions[0], users=(), sent_bytes=None, received_bytes=None)
    facts = busiest_facts(sessions_summary(WHO.machine, (nameless,), 10.0), 10.0)
    assert facts.keys() == {"server.sessions.busiest_client", "server.sessions.busiest_cpu_percent"}
    assert busiest_text(facts) == "nobody on ws-alice (8.0 % of a processor)"


def test_a_session_that_does_nothing_is_not_named():
    idle = replace(WHO.sessions[0], cpu_percent=0.0, sent_bytes=0, received_bytes=0)
    assert busiest_facts(sessions_summary(WHO.machine, (idle,), 10.0), 10.0) == {}
    assert busiest_text({}) == ""
    assert busiest_text({"server.sessions": 3}) == ""


def test_a_number_that_is_none_is_left_out():
    text = busiest_text({"server.sessions.busiest_client": "pc7", "server.sessions.busiest_cpu_percent": "x"})
    assert "pc7" in text
