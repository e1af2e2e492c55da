"""The fixtures that all tests may use."""

from tests.servers.fixtures import (
    iperf3_server,
    make_link,
    make_smbd,
    make_vsftpd,
    small_disk,
    smbd,
    vsftpd,
)

__all__ = ["iperf3_server", "make_link", "make_smbd", "make_vsftpd", "small_disk", "smbd", "vsftpd"]
