from __future__ import annotations

import pytest

from forms.tuning import fact_names


@pytest.mark.parametrize(
    "name",
    ["load.1min", "link.errors_during", "link.drops_before", "memory.available_bytes", "server.sessions.others"],
)
def test_what_varies_by_itself_is_volatile(name: str) -> None:
    assert fact_names.is_volatile(name)


@pytest.mark.parametrize(
    "name", ["kernel", "link.rate_bits_per_second", "smb.conf/global/load printers", "memory_bytes"]
)
def test_settings_are_not_volatile(name: str) -> None:
    assert not fact_names.is_volatile(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("link.duplex", "duplex"),
        ("smb.conf/global/log level", "log level (smb.conf)"),
        ("smb.conf/share/strict sync", "strict sync (smb.conf, this share)"),
        ("tcp.window_scaling", "TCP window scaling"),
        ("link.rx_crc_errors_during", "link received CRC errors during"),
        ("filesystem.size_bytes", "filesystem size"),
    ],
)
def test_human_names(name: str, said: str) -> None:
    assert fact_names.human_name(name) == said
