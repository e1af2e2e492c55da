from collections.abc import Iterator

import pytest

from tests.servers.process import require
from tests.servers.smbd import Smbd


@pytest.fixture(scope="module")
def smbd() -> Iterator[Smbd]:
    """An smbd of this module's own: its profile is switched on and off."""
    require("smbd", "dbench", "tbench", "smbstatus", "smbcontrol")
    server = Smbd()
    server.start()
    yield server
    server.stop()
