"""What signing costs on the way to a server, as far as the notebook knows it, and how the form of a series says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.series.signing_price import price_of_signing
from forms.series.imitation import imitation_fields, unsigned_hint
from forms.tuning.fact_names import SIGNING_PRICE, SIGNING_PRICE_MEASURED_AT
from storage.errors import DamagedNotebookError
from storage.looks import recording_of
from storage.notebook import Notebook
from storage.plan import Imitated, Plan, Settings
from storage.records import Facts, Series, Target
from tests.builders import CLIENT, series
from tests.diagnoses import healthy_but, protection_stage

SERVER = Target(protocol="smb", host="nas", port=445, share="data", path="f")


def unsigned(**fields: Any) -> Series:
    return series([100e6], target=SERVER, **fields)


@pytest.fixture
def notebook(tmp_path: Path):
    with Notebook(tmp_path / "notebook.db") as opened:
        yield opened


def diagnose(notebook: Notebook, target: Target, diagnosis_id: str = "0123456789ab") -> None:
    notebook.add_recording(recording_of(healthy_but(protection_stage(100e6), target=target, id=diagnosis_id)))


def price_of(series: Series, notebook: Notebook) -> Facts:
    return price_of_signing(series.client, series.target, notebook)


def test_the_price_is_that_of_a_diagnosis_of_this_server(notebook):
    diagnose(notebook, replace(SERVER, share="other"))
    facts = price_of(unsigned(), notebook)
    assert facts[SIGNING_PRICE] == pytest.approx(3.0)
    assert SIGNING_PRICE_MEASURED_AT in facts


def test_another_server_says_nothing_of_this_one(notebook):
    diagnose(notebook, replace(SERVER, host="other"))
    diagnose(notebook, replace(SERVER, port=4455), "0123456789ac")
    assert price_of(unsigned(), notebook) == {}


@pytest.mark.parametrize("protection", [{"signing": "aes-gmac"}, {"encryption": "aes-128-gcm"}, {"dialect": None}])
def test_a_protected_session_or_another_protocol_has_no_price(notebook, protection):
    diagnose(notebook, SERVER)
    series = unsigned()
    assert price_of(replace(series, client=replace(CLIENT, **protection)), notebook) == {}


def test_an_unsigned_session_says_what_todays_windows_does_and_what_that_costs():
    text = unsigned_hint(unsigned())
    assert "--like windows-11-24h2" in text
    assert "%" not in text

    facts = {"path": {SIGNING_PRICE: 23.4, SIGNING_PRICE_MEASURED_AT: "2026-11-29T10:00:00.000Z"}}
    assert "23 % here on 2026-11-29" in unsigned_hint(unsigned(environment=facts))


@pytest.mark.parametrize("protection", [{"signing": "aes-gmac"}, {"encryption": "aes-128-gcm"}])
def test_a_protected_session_says_nothing_of_it(protection):
    assert unsigned_hint(replace(unsigned(), client=replace(CLIENT, **protection))) == ""


def test_the_form_names_the_client_that_was_imitated():
    (field,) = imitation_fields(Imitated.WINDOWS_11_24H2, replace(CLIENT, signing="aes-gmac"))
    assert field.text.startswith("Windows 11 24H2: signed by aes-gmac")
    assert ("like", "windows-11-24h2") in field.facts

    not_signed = unsigned(plan=Plan(settings=Settings(like=Imitated.MACOS_15)))
    assert unsigned_hint(not_signed) == ""
    assert list(imitation_fields(None, CLIENT)) == []


def test_a_diagnosis_that_cannot_be_read_says_nothing(notebook, monkeypatch):
    diagnose(notebook, SERVER)

    def damaged(_recording: object) -> None:
        raise DamagedNotebookError("damaged")

    monkeypatch.setattr("storage.looks.diagnosis_of", damaged)
    assert price_of(unsigned(), notebook) == {}
