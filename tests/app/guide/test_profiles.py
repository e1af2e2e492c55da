"""The servers of the settings file in the guide."""

import pytest

from app.base.config import Config, ConfigError, ServerProfile
from app.base.targets import parse_target, parse_typed_target
from app.guide.context import GuideContext
from app.guide.page import Connect
from app.guide.pages.target import target_page
from app.guide.picked import with_profile
from app.method.choices import GuideChoices
from app.server import named_servers as profiles
from tests.specs import choices_with

NAS = ServerProfile(
    address="nas1.example.com",
    share="public",
    path="big.iso",
    user="bench",
    ssh="root@nas1",
    smb_conf="/e/s",
    link="10G",
)


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Config(servers={"nas1": NAS, "odd": ServerProfile(address="nas2:99999")})
    monkeypatch.setattr(profiles, "config", lambda: found)
    monkeypatch.setattr("app.base.config.config", lambda: found)


def test_a_server_is_offered_by_its_name_and_understood_by_it():
    ((name, target),) = profiles.named_servers()
    assert name == "@nas1"
    assert target == parse_target("smb://bench@nas1.example.com/public/big.iso")
    page = target_page(GuideChoices(), GuideContext(servers=profiles.named_servers()))
    assert (page.options[0].title, page.options[0].act) == ("@nas1", Connect(target))
    assert parse_typed_target(" @nas1 ") == target
    assert parse_typed_target("@nas1/other/file").path == "other/file"


def test_what_is_written_of_a_server_is_taken_with_it_unless_something_else_was_said():
    target = parse_target("smb://bench@nas1.example.com/public/another")
    taken = with_profile(choices_with(target=target))
    assert (taken.spec.monitor.server_ssh, taken.spec.monitor.smb_conf, taken.spec.link_bits_per_second) == (
        "root@nas1",
        "/e/s",
        10_000_000_000,
    )
    said = with_profile(choices_with(target=target, server_ssh="admin@nas1", link_bits_per_second=10**9))
    assert (said.spec.monitor.server_ssh, said.spec.link_bits_per_second) == ("admin@nas1", 10**9)
    elsewhere = choices_with(target=parse_target("smb://bench@nas2/public/another"))
    assert with_profile(elsewhere) == elsewhere


def test_a_settings_file_that_cannot_be_read_offers_nothing(monkeypatch):
    def broken() -> Config:
        raise ConfigError("not TOML")

    monkeypatch.setattr(profiles, "config", broken)
    assert profiles.named_servers() == ()
