"""The fixtures that all tests may use."""

import os

import pytest

from tests.servers.fixtures import (
    iperf3_server,
    make_link,
    make_smbd,
    make_vsftpd,
    small_disk,
    smbd,
    sshd,
    through,
    vsftpd,
)

__all__ = ["iperf3_server", "make_link", "make_smbd", "make_vsftpd", "small_disk", "smbd", "sshd", "through", "vsftpd"]


@pytest.fixture(scope="session", autouse=True)
def no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The settings files of whoever runs the tests do not count."""
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
