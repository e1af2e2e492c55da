"""The short form of the spreadsheets campaign, and a fault that it finds."""

import pytest

from forms.importers.numerals import DecimalSign
from tests.reliability import spreadsheets


@pytest.mark.long
def test_forms_of_many_countries_are_read_or_refused(capsys: pytest.CaptureFixture[str]):
    figures = spreadsheets.campaign(60, most=60)
    assert figures.losses == []
    assert figures.counts["right"] > 15
    assert figures.counts["refused"] > 10
    assert "separator ';'" in capsys.readouterr().out


def test_a_sign_that_is_guessed_is_a_loss(monkeypatch: pytest.MonkeyPatch):
    def guess(forms: list[object], *_: object) -> None:
        for form in forms:
            vars(form)["decimal_sign"] = DecimalSign.POINT

    monkeypatch.setattr("forms.importers.filled_form.settle_decimal_sign", guess)
    losses = spreadsheets.campaign(60, most=60).losses
    assert any("took" in loss or "can be read" in loss for loss in losses)
